"""A policy's endpoint that is down, refuses or can't be asked: said before anything starts, and never with the key."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from guiforge.harness import PolicyFailed
from guiforge.harness.chat import Chat
from guiforge.trace import EpisodeKey, EpisodeSpec
from tests.commands import guiforge
from tests.endpoint import Endpoint, fails, says

ROLLOUT = ("rollout", "--env", "faultworld", "--tasks", "press", "--harness-option", "temperature=0")


@contextmanager
def _answering(status: int) -> Iterator[tuple[str, list[str]]]:
    """The base URL of a server that answers every GET with a status, and the paths that it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(handler) -> None:
            asked.append(handler.path)
            handler.send_response(status)
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        def log_message(handler, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1", asked
        finally:
            server.shutdown()
            thread.join()


def _nobody() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


@pytest.mark.parametrize("command", ["rollout", "episode"])
def test_an_endpoint_that_is_down_is_said_with_its_url_before_anything_starts(tmp_path: Path, command: str) -> None:
    url = _nobody()
    if command == "episode":
        key = EpisodeKey(task="faultworld/press", seed=0, attempt=0, harness="kimi", policy=url)
        spec = EpisodeSpec(key=key, suite="faultworld", family="press")
        (tmp_path / "spec.json").write_text(spec.model_dump_json())
        done = guiforge(tmp_path, "episode", "spec.json", "--out", "run")
    else:
        done = guiforge(tmp_path, *ROLLOUT, "--policy", url, "--out", "run")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert f"endpoint {url}/models can't be reached: ConnectError" in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("status", [401, 403])
def test_an_endpoint_that_refuses_the_key_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    monkeypatch.setenv("MY_KEY", "sk-s3cret")
    with _answering(status) as (url, asked):
        done = guiforge(tmp_path, *ROLLOUT, "--policy", url, "--key-env", "MY_KEY", "--out", "run")
    assert asked == ["/v1/models"]
    assert done.returncode == 2 and f"endpoint {url}/models refuses the key: it answers {status}" in done.stderr
    assert "the key in MY_KEY" in done.stderr and "s3cret" not in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-s3cret\n")
    done = guiforge(tmp_path, *ROLLOUT, "--policy", "http://127.0.0.1:9/v1", "--out", "run")
    assert done.returncode == 2 and "line break" in done.stderr and "OPENAI_API_KEY" in done.stderr
    assert "s3cret" not in done.stderr and not (tmp_path / "run").exists()


@pytest.mark.parametrize("status", [200, 404, 500])
def test_any_other_answer_says_that_an_endpoint_is_up(status: int) -> None:
    with _answering(status) as (url, asked), Chat(url, "k") as chat:
        chat.reach()
    assert asked == ["/v1/models"]


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b"])
def test_a_host_that_is_none_cannot_be_reached(host: str) -> None:
    with Chat(f"http://{host}/v1", "") as chat, pytest.raises(PolicyFailed, match=f"endpoint http://{host}/v1/models"):
        chat.reach()


def test_a_finished_run_needs_no_endpoint(tmp_path: Path) -> None:
    with Endpoint(says("no action at all")).serve() as endpoint:
        assert guiforge(tmp_path, *ROLLOUT, "--policy", endpoint.url, "--out", "run").returncode == 0
    done = guiforge(tmp_path, "rollout", "--resume", "--out", "run")
    assert done.returncode == 0, done.stderr


def test_a_failure_names_the_url() -> None:
    with (
        Endpoint(fails(400, "no")).serve() as endpoint,
        Chat(endpoint.url, "k") as chat,
        pytest.raises(PolicyFailed, match=f"refused: 400 .*{endpoint.url}/chat/completions"),
    ):
        chat.complete({}, 5)


@pytest.mark.parametrize("key", ["sk-s3cret\n", "sk\r-s3cret", "sk-s3crét", "s3cret key"])
def test_a_key_that_cannot_be_sent_is_a_failure_at_once_and_not_in_its_text(key: str) -> None:
    with pytest.raises(PolicyFailed, match="can't be sent") as failed, Chat("http://127.0.0.1:9/v1", key):
        pass
    assert "s3cr" not in str(failed.value)
