"""A harness around somebody else's command-line agent, made known to guiforge by an entry point.

Invariant: the agent runs unchanged in a process of its own, which ends with the episode; it sees the task's public
part, the screen, and its model's endpoint, and nothing else.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path

from pydantic import ValidationError

from guiforge.action import DESKTOP_KINDS, Action, ActionsAdapter, describe
from guiforge.harness import PolicyFailed, Session
from guiforge.task import Task

AGENT = Path(__file__).with_name("agent.py")


class LineAgentHarness:
    """One line in, one line out: the contract of agent.py."""

    name = "lineagent"

    def run(self, task: Task, session: Session) -> None:
        """See guiforge.harness.Harness."""
        environment = {
            "OPENAI_BASE_URL": session.base_url,
            "OPENAI_API_KEY": session.api_key,
            "OPENAI_MODEL": session.model,
        }
        with subprocess.Popen(
            [sys.executable, AGENT], env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as agent:
            try:
                self._play(task, session, agent)
            finally:
                agent.kill()

    def _play(self, task: Task, session: Session, agent: subprocess.Popen[str]) -> None:
        assert agent.stdin is not None and agent.stdout is not None
        problem: str | None = None
        while True:
            screen = session.observation.frame.encode("png")
            seen = {
                "instruction": task.instruction,
                "screenshot": f"data:{screen.media_type};base64,{base64.b64encode(screen.data).decode()}",
                "actions": describe(DESKTOP_KINDS),
                "error": problem or session.observation.error,
            }
            print(json.dumps(seen), file=agent.stdin, flush=True)
            line = agent.stdout.readline()
            if not line:
                raise PolicyFailed(f"the agent ended with status {agent.wait()}")
            actions, problem = _read(json.loads(line)["reply"])
            if problem is not None:
                session.unread(problem)
            session.step(*actions)

    def render(self, actions: tuple[Action, ...], session_screen: tuple[int, int]) -> str:
        """See guiforge.harness.Harness: how an oracle answers in this agent's format."""
        return ActionsAdapter.dump_json(actions).decode()


def _read(reply: str) -> tuple[tuple[Action, ...], str | None]:
    """The actions of a reply, or none and what is wrong with it: the agent is shown that with the next screen."""
    try:
        return ActionsAdapter.validate_json(reply), None
    except ValidationError as error:
        first = error.errors()[0]
        return (), f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
