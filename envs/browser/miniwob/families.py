"""The task families of MiniWoB++: one a page, graded by what the page itself says of the episode.

Invariant: solved is a raw reward of exactly 1 (less is a part of it: find-greatest gives 0.1 for a wrong card), of an
episode that the page ended, on the page that it began on.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from envs.browser.miniwob.oracles import ORACLES
from envs.browser.miniwob.pages import NAMES, RESULT, SCREEN
from guiforge.env import Final, StateMissing
from guiforge.outcome import Verdict
from guiforge.task import Family, Limits, Task, Variant

SUITE = "miniwob"
STEPS = 30


def make(name: str, seed: int) -> Task:
    """The task of a page. Its words are the page's own to make (see `env`)."""
    return Task(
        suite=SUITE, id=name, seed=seed, instruction=f"Do what the upper part of the page asks for ({name}).",
        tags=(name.partition("-")[0],), writable=(RESULT,), limits=Limits(steps=STEPS), screen=SCREEN,
    )  # fmt: skip


def verify(task: Task, final: Final) -> Verdict:
    """Whether the page ended the episode with a raw reward of 1."""
    try:
        said = json.loads(final.state.read(RESULT))
    except StateMissing:
        return Verdict.of(("result", False, "the page said nothing"))
    return Verdict.of(
        ("stayed", not said["left"], "the page was left"),
        ("done", said["done"] is True, "the page did not end the episode"),
        ("reward", said["raw_reward"] == 1, f"the page's reward is {said['raw_reward']} {said['reason']}".rstrip()),
    )


def _said(**changed: object) -> Callable[[Task], Variant]:
    """The end where the page said something else."""

    def change(data: bytes) -> bytes:
        return json.dumps({**json.loads(data), **changed}).encode()

    return lambda task: Variant({RESULT: change})


def _family(name: str) -> Family:
    return Family(
        name,
        lambda seed: make(name, seed),
        verify,
        ORACLES.get(name),
        solutions={"rewarded": _said(done=True, raw_reward=1)},
        near_misses={
            "in part": _said(done=True, raw_reward=0.99),
            "wrong": _said(done=True, raw_reward=-1),
            "no number": _said(done=True, raw_reward=None),
            "not done": _said(done=False, raw_reward=1),
            "left": _said(done=True, raw_reward=1, left=True),
        },
    )


FAMILIES = {name: _family(name) for name in NAMES}
