"""Real command-line agents from npm, headless and unchanged, against the proxy: they run, and their calls are kept.

The first run installs them (some 600 MB) into the cache; without npm and a Node that they run on there is nothing to
test. Their upstream is scripted: it asks for the agent's own shell, reads what came of it, and ends.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from guiforge.trace import Wire
from tests.proxy.world import World, chunk, event, upstream, world

AGENTS = ("@openai/codex@0.171.0", "@mariozechner/pi-coding-agent@0.73.1")
LEAST_NODE = 20
MADE = "made-by-the-agent"
_INSTALL_S, _RUN_S = 280, 120
_SHELLS: dict[str, str] = {"exec_command": "cmd", "bash": "command"}  # the tool of each agent: its parameter


def _node() -> int:
    """The major version of node; 0 where there is none."""
    if not shutil.which("npm") or not shutil.which("node"):
        return 0
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, timeout=30).stdout
    return int(said.strip().removeprefix("v").partition(".")[0])


pytestmark = pytest.mark.skipif(_node() < LEAST_NODE, reason=f"takes npm and node {LEAST_NODE} or newer")


@pytest.fixture(scope="module")
def installed() -> Path:
    """The folder of the agents' commands."""
    cache = Path(os.environ.get("GUIFORGE_CACHE") or Path.home() / ".cache" / "guiforge")
    home = cache / "agents" / "-".join(agent.rpartition("@")[2] for agent in AGENTS)
    home.mkdir(parents=True, exist_ok=True)
    with (home / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "done").exists():
            command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(home), *AGENTS]
            subprocess.run(command, check=True, timeout=_INSTALL_S, capture_output=True)
            (home / "done").touch()
    return home / "node_modules" / ".bin"


async def script(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
    """First the shell, then an end."""
    assert asked["stream"], "each of them streams"
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    if asked["messages"][-1]["role"] != "tool":
        offered = [tool["function"]["name"] for tool in asked["tools"]]
        shell = next(name for name in offered if name in _SHELLS)
        function = {"name": shell, "arguments": json.dumps({_SHELLS[shell]: f"echo made  > {MADE}; cat {MADE}"})}
        call = {"index": 0, "id": "call_1", "type": "function", "function": function}
        pieces = [chunk("I make it."), chunk(delta={"tool_calls": [call]}), chunk(finish_reason="tool_calls")]
    else:
        pieces = [chunk("It is "), chunk("made."), chunk(finish_reason="stop")]
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    for piece in (*pieces, {**chunk(), "choices": [], "usage": usage}):
        await response.write(event(piece))
    await response.write(event("[DONE]"))
    return response


def codex(w: World, home: Path) -> list[str]:
    """OpenAI's, which speaks responses."""
    provider = f'model_providers.here={{name="here", base_url="{w.url}", env_key="AGENT_KEY", wire_api="responses"}}'
    settings = ("-c", provider, "-c", 'model_provider="here"', "-m", "m")
    free = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")
    return ["codex", "exec", *free, *settings, "Make the file."]


def pi(api: str) -> Callable[[World, Path], list[str]]:
    """Pi, which speaks any of the three."""

    def command(w: World, home: Path) -> list[str]:
        model = {
            "id": "m", "name": "m", "reasoning": False, "input": ["text", "image"], "contextWindow": 100_000,
            "maxTokens": 1000, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        }  # fmt: skip
        url = w.root if api == "anthropic-messages" else w.url
        provider = {"baseUrl": url, "api": api, "apiKey": "AGENT_KEY", "models": [model]}
        (home / ".pi" / "agent").mkdir(parents=True)
        (home / ".pi" / "agent" / "models.json").write_text(json.dumps({"providers": {"here": provider}}))
        return ["pi", "-p", "--provider", "here", "--model", "m", "Make the file."]

    return command


@pytest.mark.parametrize(
    ("make", "wire"),
    [
        (codex, "responses"), (pi("openai-completions"), "chat"), (pi("openai-responses"), "responses"),
        (pi("anthropic-messages"), "messages"),
    ],
    ids=["codex", "pi-chat", "pi-responses", "pi-messages"],
)  # fmt: skip
def test_an_agent_runs_unchanged_and_its_calls_are_kept(
    installed: Path, tmp_path: Path, make: Callable[[World, Path], list[str]], wire: Wire
) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    with upstream(script) as up, world(tmp_path / "run", up.url) as w:
        name, *options = make(w, home)
        done = subprocess.run(
            [installed / name, *options], cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=_RUN_S, env={"PATH": os.environ["PATH"], "HOME": str(home), "AGENT_KEY": w.opened.completions_key},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "It is made." in done.stdout and (work / MADE).read_text() == "made\n"
        first, second = w.calls()
    assert (first.wire, first.finish_reason, second.wire, second.finish_reason) == (wire, "tool_calls", wire, "stop")
    assert first.usage["completion_tokens"] == 3 and not (first.cut or first.error or second.cut or second.error)
    came, went = (asked["messages"] for asked in up.asked)
    assert went[: len(came)] == came, "the next prompt goes on from the former"
    again, said = (
        message["tool_calls"][0]["function"]["arguments"] for message in (went[len(came)], first.message or {})
    )
    assert json.loads(again) == json.loads(said)
    if wire != "chat":  # where only the protocol had rewritten them; in chat it is the agent itself that did
        assert again == said
    assert went[-1]["role"] == "tool" and "made" in went[-1]["content"]
