"""A third party's package: a world small enough to break in every way, found by entry points alone.

The world is one button drawn on a 320x200 screen; clicking it marks a file. Each family but `press` breaks something.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from guiforge.action import Action, Click, Done, Wait
from guiforge.env import EnvError, Final, Observation, Snapshot, state_of_files
from guiforge.frame import Frame
from guiforge.harness import Session
from guiforge.outcome import Verdict
from guiforge.task import Edits, Family, Limits, OracleView, Suite, Task

SIZE = (320, 200)


def _forever() -> None:
    threading.Event().wait()


class FaultEnv:
    """The world of this package. `marks`: a folder in which `flaky` remembers that it failed before."""

    name = "faultworld"

    def __init__(self, marks: str = "") -> None:
        self._marks = marks
        self._task: Task | None = None
        self._pressed = False

    def reset(self, task: Task) -> Observation:
        self._task, self._pressed = task, False
        if task.id in ("reset-breaks", "close-breaks"):
            raise EnvError("button", "fell off")
        if task.id == "reset-hangs":
            _forever()
        if task.id == "flaky":
            mark = Path(self._marks) / f"flaky-{task.seed}" if self._marks else None
            if mark is None or not mark.exists():
                if mark is not None:
                    mark.touch()
                raise EnvError("button", "was stuck the first time")
        return self._observation()

    def step(self, *actions: Action) -> Observation:
        assert self._task is not None
        if self._task.id == "step-hangs":
            _forever()
        if self._task.id == "step-has-a-bug":
            raise AssertionError("the world's own bug")
        if self._task.id == "step-is-slow":
            threading.Event().wait(0.9)
        for action in actions:
            if isinstance(action, Wait):
                threading.Event().wait(action.seconds)
        if self._task.id == "worker-dies":
            os.kill(os.getpid(), signal.SIGKILL)
        for action in actions:
            if isinstance(action, Click):
                self._pressed = action.point == tuple(self._task.params["button"])
        return self._observation()

    def _observation(self) -> Observation:
        assert self._task is not None
        image = Image.new("RGB", SIZE, "white")
        x, y = self._task.params["button"]
        ImageDraw.Draw(image).rectangle((x - 9, y - 9, x + 9, y + 9), fill="green" if self._pressed else "red")
        return Observation(Frame.from_image(image))

    def snapshot(self) -> tuple[Snapshot, Mapping[str, bytes]]:
        return state_of_files({"~/pressed": b"1"} if self._pressed else {})

    def oracle_view(self) -> OracleView:
        return OracleView()

    def timings(self) -> dict[str, float]:
        return {}

    def close(self) -> None:
        if self._task is not None and self._task.id == "close-breaks":
            raise RuntimeError("the world's end has a bug")


def _make(name: str) -> Any:
    episode_s = {"step-is-slow": 2.5, "policy-waits-on": 2.5}.get(name, 20)

    called = "press" if name == "lies-about-itself" else name

    def make(seed: int) -> Task:
        return Task(
            suite="faultworld", id=called, seed=seed, instruction="Press the button.", screen=SIZE, tags=("button",),
            params={"button": [20 + seed * 13 % 280, 20 + seed * 7 % 160]}, writable=("~/pressed",),
            limits=Limits(steps=9, reset_s=1, step_s=1, policy_s=2, grade_s=1, episode_s=episode_s),
        )  # fmt: skip

    return make


def _verify(task: Task, final: Final) -> Verdict:
    if task.id == "grader-breaks":
        raise ZeroDivisionError("a verifier's bug")
    if task.id == "grader-hangs":
        try:  # as a reader of an agent's file does, for whatever is wrong with it
            _forever()
        except Exception:
            return Verdict.of(("readable", False, "the agent's file is broken"))
    return Verdict.of(("pressed", bool(final.state.files("~/pressed")), "the button is not pressed"))


def _oracle(task: Task, view: OracleView) -> Iterator[Sequence[Action]]:
    x, y = task.params["button"]
    while task.id in ("never-ends", "step-is-slow"):
        yield [Click(x=0, y=0)]
    while task.id == "policy-waits-on":
        yield [Wait(seconds=0.9)]
    if task.id == "policy-waits":
        yield [Wait(seconds=2.5)]
    yield [Click(x=x, y=y)]
    if task.id == "policy-hangs":
        _forever()
    if task.id == "policy-breaks":
        raise RuntimeError("the oracle's bug")
    yield [Done()]


def _nothing(task: Task) -> Edits:
    return {}


def _pressed(task: Task) -> Edits:
    return {"~/pressed": b"1"}


_NAMES = (
    "press", "flaky", "reset-breaks", "reset-hangs", "step-hangs", "worker-dies", "grader-breaks", "grader-hangs",
    "never-ends", "policy-hangs", "policy-breaks", "policy-waits", "policy-waits-on", "step-has-a-bug",
    "step-is-slow", "close-breaks", "lies-about-itself",
)  # fmt: skip

SUITE = Suite(
    "faultworld", "faultworld",
    {n: Family(n, _make(n), _verify, _oracle, {"pressed": _pressed}, {"nothing": _nothing}) for n in _NAMES},
)  # fmt: skip


class DeafHarness:
    """A harness that goes on whatever happens: after the end, after a fault, for ever."""

    name = "deaf"

    def run(self, task: Task, session: Session) -> None:
        while True:
            try:
                session.step(Click(x=0, y=0) if task.id != "press" else Done())
            except Exception:
                continue

    def render(self, actions: tuple[Action, ...], screen: tuple[int, int]) -> str:
        raise NotImplementedError("it never asks")


class StubbornHarness:
    """A harness that never asks its model, and never comes back."""

    name = "stubborn"

    def run(self, task: Task, session: Session) -> None:
        _forever()

    def render(self, actions: tuple[Action, ...], screen: tuple[int, int]) -> str:
        raise NotImplementedError("it never asks")
