"""Judges: models that see an episode and say whether the task was done, for worlds that have no state to read.

Invariant: a judge either gives a Judgement or raises JudgeFailed; a reply that can't be read is asked for anew, and is
never a no. What an agent wrote stands in a judge's prompt as quoted data. A judge errs: measure how often (guiforge
judge) before you believe a score.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from guiforge.action import Action, Answer, Infeasible
from guiforge.wire import image_part

TRIES = 3  # of one reply

Message = dict[str, Any]
Ask = Callable[[Sequence[Message]], str]
"""One model call: from messages (guiforge.wire.message) to the text of the reply. Raises JudgeFailed."""

T = TypeVar("T")


class JudgeFailed(Exception):
    """The judge's endpoint failed, or its replies can't be read: a fault of the grader, never a failed task."""


@dataclass(frozen=True)
class Image:
    """An encoded screenshot."""

    data: bytes
    media_type: str

    def part(self) -> Message:
        """As it stands in a message."""
        return image_part(self.data, self.media_type)


@dataclass(frozen=True)
class Evidence:
    """What a judge may know of an episode. actions: as they were carried out, in order.  screens: one before each step,
    and the last.  errors: what the world said of each step's actions, or None."""

    instruction: str
    actions: tuple[tuple[Action, ...], ...]
    screens: tuple[Image, ...]
    errors: tuple[str | None, ...] = ()

    @property
    def answer(self) -> str | None:
        """What the agent answered with, or None."""
        ends = [a for step in self.actions for a in step if isinstance(a, Answer)]
        return ends[-1].text if ends else None


@dataclass(frozen=True)
class Judgement:
    """A judge's verdict, its own words for it, and how many calls it took."""

    passed: bool
    reason: str
    calls: int = 1


class Judge(Protocol):
    """A protocol: how a model is asked about an episode."""

    name: str

    def __call__(self, evidence: Evidence, ask: Ask) -> Judgement:
        """The judgement. Raises JudgeFailed."""
        ...


def asked(ask: Ask, messages: Sequence[Message], read: Callable[[str], T | None], what: str) -> tuple[T, str, int]:
    """What a reply says, its text, and how many calls it took: asked up to TRIES times. Raises JudgeFailed."""
    reply = ""
    for tries in range(1, TRIES + 1):
        reply = ask(messages)
        said = read(reply)
        if said is not None:
            return said, reply, tries
    raise JudgeFailed(f"no reply gave {what} in {TRIES} tries; the last: {reply[:300]!r}")


def action_facts(evidence: Evidence) -> str:
    """The actions as facts, a numbered line a step, with what the world refused; not what the agent told the user."""
    errors = evidence.errors or (None,) * len(evidence.actions)
    lines = []
    for number, (step, error) in enumerate(zip(evidence.actions, errors, strict=True), 1):
        facts = "; ".join(map(_fact, step)) or "nothing"
        lines.append(f"{number}. {facts}" + (f" (refused: {error})" if error else ""))
    return "\n".join(lines) or "(no action)"


def _fact(action: Action) -> str:
    if isinstance(action, Answer):
        return "ended by giving the user an answer"
    if isinstance(action, Infeasible):
        return "ended by calling the task infeasible"
    fields = action.model_dump(exclude={"kind"}, exclude_defaults=True, mode="json")
    return " ".join(
        [action.kind, *(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in fields.items())]
    )
