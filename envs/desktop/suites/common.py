"""What the task families share: seeded randomness and the small words oracles are written in."""

from __future__ import annotations

import random
from typing import Any, Protocol

from guiforge.action import Click, Done, Press, TypeText
from guiforge.task import Task

SUITE = "osworld-like"


class Box(Protocol):
    """Anything on the screen that has a middle: a Window or an accessibility Node."""

    @property
    def center(self) -> tuple[int, int]:
        """(x, y) in screen pixels."""
        ...


def rng(family: str, seed: int) -> random.Random:
    """The family's random numbers for a seed: the same in any process."""
    return random.Random(f"{family}:{seed}")


def make_task(
    family: str, seed: int, instruction: str, *, tags: tuple[str, ...], suite: str = SUITE, **fields: Any
) -> Task:
    """A Task of this suite, or of another package's. `tags[0]` is the application that a summary groups by."""
    return Task(suite=suite, id=family, seed=seed, instruction=instruction, tags=tags, **fields)


def click(box: Box, button: Any = "left", count: int = 1) -> Click:
    """A click in the middle of something."""
    x, y = box.center
    return Click(x=x, y=y, button=button, count=count)


def press(chord: str) -> Press:
    """`press("ctrl+shift+s")`, `press("Return")`."""
    return Press(keys=tuple(chord.split("+")) if len(chord) > 1 else (chord,))


def typed(text: str) -> TypeText:
    """Type text."""
    return TypeText(text=text)


DONE = Done()
