"""Episodes against endpoints that are down, slow, refuse, or answer rubbish: the right status, and no hang."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from guiforge.outcome import Outcome, Status
from guiforge.store import Store
from tests.endpoint import Answer, Endpoint, says
from tests.fleet.conftest import MakeSpec
from tests.fleet.test_scheduler import outcome, run


def play(spec: MakeSpec, tmp_path: Path, url: str) -> tuple[Outcome, int]:
    """The outcome of one episode against the endpoint, and how many calls were recorded."""
    s = spec("press", policy=url)
    with Store(tmp_path / "run") as store:
        run(store, [s], retries=1)
        return outcome(store, s), len(store.calls(s.key))


def test_an_endpoint_that_is_down_is_a_policy_error(spec: MakeSpec, tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        found, calls = play(spec, tmp_path, f"http://127.0.0.1:{unused.getsockname()[1]}/v1")
    assert (found.status, found.reward, calls) == (Status.POLICY_ERROR, None, 1)


def test_an_endpoint_that_never_answers_is_a_timeout_of_the_policy(spec: MakeSpec, tmp_path: Path) -> None:
    with Endpoint(Answer("", delay_s=60)).serve() as endpoint:
        found, calls = play(spec, tmp_path, endpoint.url)
    assert (found.status, found.owner, found.reward, calls) == (Status.TIMEOUT, "policy", 0.0, 1)


@pytest.mark.parametrize(("text", "status"), [("<html>", 200), ("{}", 200), ('{"error": {"message": "no"}}', 401)])
def test_what_is_no_completion_is_a_policy_error(spec: MakeSpec, tmp_path: Path, text: str, status: int) -> None:
    with Endpoint(Answer(text, status)).serve() as endpoint:
        found, calls = play(spec, tmp_path, endpoint.url)
    assert (found.status, found.reward, calls) == (Status.POLICY_ERROR, None, 1)


@pytest.mark.parametrize("text", ["I would rather not.", "```python\n__import__('os').system('reboot')\n```", ""])
def test_replies_that_cannot_be_read_are_asked_anew_recorded_and_then_failed(
    spec: MakeSpec, tmp_path: Path, text: str
) -> None:
    with Endpoint(says(text)).serve() as endpoint:
        found, calls = play(spec, tmp_path, endpoint.url)
    assert (found.status, found.reward, calls) == (Status.FAILED, 0.0, 4)


def test_a_policy_that_clicks_beside_the_button_until_the_limit_is_truncated(spec: MakeSpec, tmp_path: Path) -> None:
    beside = says("## Action:\nClick.\n## Code:\n```python\npyautogui.click(x=0.9, y=0.9)\n```")
    with Endpoint(beside).serve() as endpoint:
        found, calls = play(spec, tmp_path, endpoint.url)
    assert (found.status, found.reward, calls) == (Status.TRUNCATED, 0.0, 9)
