"""`guiforge model` and `guiforge serve`: from nothing to a served model, and what is said of bad input."""

from __future__ import annotations

import signal
from pathlib import Path

import httpx

from guiforge.harness.kimi import system_prompt
from guiforge.wire import message
from tests.commands import guiforge, started
from vlm.loading import load


def test_a_model_is_made_and_served(tmp_path: Path) -> None:
    made = guiforge(tmp_path, "model", "init", "tiny", "mine")
    assert made.returncode == 0 and "guiforge serve mine" in made.stdout, made.stderr
    text = system_prompt("password", thinking=False)
    assert len(load(tmp_path / "mine").processor.tokenizer.encode(text)) < len(text) / 3, "its words are tokens"
    with started(tmp_path, "serve", "mine", "--port", "0") as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        try:
            asked = {"model": "mine", "messages": [message("user", "go")], "max_tokens": 3}
            reply = httpx.post(f"{line.split()[-1]}/chat/completions", json=asked, timeout=30)
            assert reply.status_code == 200 and reply.json()["usage"]["completion_tokens"] <= 3
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=30) == 130


def test_what_can_not_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for arguments, told in [
        (("model", "init", "huge", "a"), "valid are: tiny"),
        (("model", "init", "tiny", "full"), "full exists and is not an empty folder"),
        (("serve", "full"), "full holds no model"),
    ]:
        done = guiforge(tmp_path, *arguments)
        assert done.returncode == 2 and told in done.stderr and "Traceback" not in done.stderr
