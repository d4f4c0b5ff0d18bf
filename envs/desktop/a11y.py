"""Accessibility: the widgets of one desktop's applications, as AT-SPI tells of them.

Invariant: only widgets that show on the screen are given, each a value of the moment it was asked for. The questions
are answered by a resident agent inside the desktop's session (`a11y_agent.py`), started at the first one.
"""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envs.desktop.desktop import Desktop
from guiforge.env import EnvError, EnvTimeout

_PYTHON = "/usr/bin/python3"  # the system's own: it has python3-gi and the AT-SPI bindings
_SOURCE = Path(__file__).with_name("a11y_agent.py")
_SLACK_S = 10.0  # what an answer may take beyond the time that the agent allows itself: its start, one last call


@dataclass(frozen=True)
class Node:
    """A widget. role: its AT-SPI role name, e.g. `push button`.  value: the number of a slider, a spin button and such.

    states: AT-SPI state names, e.g. `focused`, `checked`, `selected`.  x, y, width, height: screen pixels.
    """

    role: str
    name: str
    text: str
    value: float | None
    states: frozenset[str]
    x: int
    y: int
    width: int
    height: int

    @property
    def center(self) -> tuple[int, int]:
        """(x, y) of its middle in screen pixels."""
        return self.x + self.width // 2, self.y + self.height // 2


class Accessibility:
    """The widgets of one desktop. `close` ends the agent, and so does the end of the desktop."""

    def __init__(self, desktop: Desktop) -> None:
        self._desktop = desktop
        self._ask: Any = None  # the two ends of the agent's pipes, once it runs
        self._answer = -1
        self._buffer = b""

    def find(
        self,
        role: str | None = None,
        name: str | None = None,
        *,
        app: str | None = None,
        seconds: float = 5.0,
    ) -> Sequence[Node]:
        """Showing widgets of a role whose name the regular expression matches whole, in the order of the tree.

        app: a regular expression found in the application's name; without it the active window's application is
        searched, and the others only where it has none. Gives what was found within the bounds; raises EnvError,
        EnvTimeout where the agent is gone or silent.
        """
        question = {"role": role, "name": name, "app": app, "seconds": seconds}
        answer = self._question(json.dumps(question).encode() + b"\n", seconds + _SLACK_S)
        return [
            Node(role, name, text, value, frozenset(states), *box)
            for role, name, text, value, states, *box in answer["nodes"]
        ]

    def close(self) -> None:
        """End the agent."""
        if self._answer >= 0:
            os.close(self._ask)
            os.close(self._answer)
            self._ask, self._answer, self._buffer = -1, -1, b""

    def _start(self) -> None:
        their_in, self._ask = os.pipe()
        self._answer, their_out = os.pipe()
        try:
            self._desktop.session.spawn(
                [_PYTHON, "-I", "-c", _SOURCE.read_text()], self._desktop.env, name="accessibility", cwd="/",
                uid=self._desktop.uid, fds={0: their_in, 1: their_out}, core=True,
            )  # fmt: skip
        finally:
            os.close(their_in)
            os.close(their_out)

    def _question(self, line: bytes, timeout_s: float) -> dict[str, Any]:
        if self._answer < 0:
            self._start()
        deadline = time.monotonic() + timeout_s
        try:
            os.write(self._ask, line)
        except BrokenPipeError:
            self._lost()
        while b"\n" not in self._buffer:
            if not select.select([self._answer], [], [], max(0.0, deadline - time.monotonic()))[0]:
                self.close()
                raise EnvTimeout("accessibility", f"no answer within {timeout_s:g} s")
            data = os.read(self._answer, 1 << 16)
            if not data:
                self._lost()
            self._buffer += data
        reply, _, self._buffer = self._buffer.partition(b"\n")
        answer: dict[str, Any] = json.loads(reply)
        if "error" in answer:
            raise EnvError("accessibility", answer["error"])
        return answer

    def _lost(self) -> None:
        self.close()
        self._desktop.session.check()
        raise EnvError("accessibility", "the agent ended")
