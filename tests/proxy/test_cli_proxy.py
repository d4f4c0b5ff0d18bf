from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from guiforge.proxy import URL_FILE
from guiforge.store import RunReader
from tests.commands import guiforge, started
from tests.proxy.world import HELLO, WAIT_S, Upstream, completion


def variables(text: str) -> dict[str, str]:
    """What the lines to paste set."""
    lines = [line.removeprefix("export ") for line in text.split("\n") if line.startswith("export ")]
    return dict(line.split("=", 1) for line in lines)


@contextmanager
def proxy(folder: Path, *arguments: object) -> Iterator[tuple[subprocess.Popen[str], dict[str, str], str]]:
    with started(folder, "proxy", *arguments, PYTHONUNBUFFERED="1") as process:
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            said += line
            if line.startswith("# its worker key"):
                break
        try:
            yield process, variables(said), said
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(WAIT_S)


def ask(env: dict[str, str]) -> httpx.Response:
    headers = {"Authorization": f"Bearer {env['OPENAI_API_KEY']}"}
    return httpx.post(f"{env['OPENAI_BASE_URL']}/chat/completions", json=HELLO, headers=headers, trust_env=False)


def test_what_it_prints_is_all_that_a_harness_needs_and_a_further_key_opens_a_further_episode(
    up: Upstream, tmp_path: Path
) -> None:
    with proxy(tmp_path, "--upstream", up.url, "--run", "run") as (process, env, said):
        assert "serves m; it gives no token ids" in said
        assert set(env) == {"OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"}
        assert env["OPENAI_BASE_URL"] == f"{env['ANTHROPIC_BASE_URL']}/v1"
        assert ask(env).json() == completion()
        made = guiforge(tmp_path, "key", "run", "--harness", "codex", "--hours", "0.5")
        assert made.returncode == 0, made.stderr
        other = variables(made.stdout)
        assert ask(other).status_code == ask(other).status_code == 200
        assert other["OPENAI_API_KEY"] != env["OPENAI_API_KEY"]
    assert process.returncode == 0
    with RunReader(tmp_path / "run") as reader:
        first, second = reader.episodes()
        assert (first.key.task, first.key.harness, first.key.policy) == ("proxy/session", "external", up.url)
        assert (second.key.harness, second.key.attempt) == ("codex", 0)
        assert [len(reader.calls(e.key)) for e in (first, second)] == [1, 2]
    assert not (tmp_path / "run" / URL_FILE).exists()
    gone = guiforge(tmp_path, "key", "run")
    assert gone.returncode == 2 and "no proxy is recording" in gone.stderr


def test_a_run_is_gone_on_with_by_a_new_attempt(up: Upstream, tmp_path: Path) -> None:
    for _ in range(2):
        with proxy(tmp_path, "--upstream", up.url, "--run", "run") as (_, env, _said):
            ask(env)
    with RunReader(tmp_path / "run") as reader:
        assert [e.key.attempt for e in reader.episodes()] == [0, 1]


@pytest.mark.parametrize(
    "arguments",
    [(), ("--upstream", "oracle"), ("--upstream", "ftp://x"), ("--upstream", "http://x/v1", "--key-env", "NOT_SET")],
)
def test_bad_input_is_said_before_anything_starts(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = guiforge(tmp_path, "proxy", *arguments)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
