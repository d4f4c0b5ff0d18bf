"""An episode's session without a world, for harnesses that play against a scripted endpoint."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest
from PIL import Image

from guiforge.action import Action
from guiforge.env import Observation
from guiforge.frame import Frame
from guiforge.harness import EpisodeOver, Harness
from guiforge.task import Task
from tests.endpoint import Answer, Endpoint

TASK = Task(suite="s", id="f", seed=0, instruction="Save the file as “a.txt”.")
KEY = "sk-test"
SIZE = (64, 36)


def frame(number: int) -> Frame:
    """A frame that no other number has."""
    return Frame.from_image(Image.new("RGB", SIZE, (number, 0, 0)))


def url(shown: int | Frame) -> str:
    """The data URL under which a frame is sent as PNG."""
    shown = frame(shown) if isinstance(shown, int) else shown
    return "data:image/png;base64," + base64.b64encode(shown.encode("png").data).decode()


def refused(number: int) -> Observation:
    """The numbered frame, each but the first after an action that the world refused."""
    return Observation(frame(number), error="the world's error" if number else None)


class Session:
    """Each step shows what `show` gives for its number, from 1; 0 is what the episode starts with."""

    def __init__(
        self, base_url: str, timeout_s: float = 20, show: Callable[[int], Observation] = refused
    ) -> None:  # fmt: skip
        self.base_url, self.api_key, self.model, self.call_timeout_s = base_url, KEY, "m", timeout_s
        self._show, self.observation = show, show(0)
        self.steps: list[tuple[Action, ...]] = []
        self.problems: list[str] = []

    def step(self, *actions: Action) -> Observation:
        self.steps.append(actions)
        if actions[-1].is_end:
            raise EpisodeOver
        self.observation = self._show(len(self.steps))
        return self.observation

    def unread(self, problem: str) -> None:
        self.problems.append(problem)


def play(
    harness: Harness, *answers: Answer, timeout_s: float = 20, show: Callable[[int], Observation] = refused,
) -> tuple[Session, Endpoint]:  # fmt: skip
    """An episode to its EpisodeOver against the answers."""
    return failing(harness, EpisodeOver, None, *answers, timeout_s=timeout_s, show=show)


def failing(
    harness: Harness, kind: type[Exception], said: str | None, *answers: Answer, timeout_s: float = 20,
    show: Callable[[int], Observation] = refused,
) -> tuple[Session, Endpoint]:  # fmt: skip
    """An episode that ends by an exception of the harness."""
    with Endpoint(*answers).serve() as endpoint:
        session = Session(endpoint.url, timeout_s, show)
        with pytest.raises(kind, match=said):
            harness.run(TASK, session)
    return session, endpoint
