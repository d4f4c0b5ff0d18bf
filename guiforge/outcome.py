"""Outcome: how an episode ended.

Invariant: a reward is present exactly where the status carries one. A fault of ours is never a zero.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

TimeoutOwner = Literal["policy", "env", "grader"]


class Status(StrEnum):
    """How an episode ended."""

    SOLVED = "solved"
    FAILED = "failed"
    INFEASIBLE_OK = "infeasible_ok"
    TRUNCATED = "truncated"
    TIMEOUT = "timeout"
    POLICY_ERROR = "policy_error"
    ENV_ERROR = "env_error"
    GRADER_ERROR = "grader_error"
    CANCELLED = "cancelled"


UNJUDGED = "not judged"  # how the cause of a grader_error begins where no state can be read and no judge has told

PASSED = (Status.SOLVED, Status.INFEASIBLE_OK)
REWARDED = (Status.SOLVED, Status.FAILED, Status.INFEASIBLE_OK, Status.TRUNCATED)  # and a policy's own timeout


class Verdict(BaseModel):
    """What a verifier says of a final state.

    score: 0..1, 1 is a pass and nothing less is.  components: named parts of the score, each 0..1.
    reasons: what was found, for a person.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    score: float = Field(ge=0, le=1)
    components: dict[str, float] = {}
    reasons: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the task is solved: score exactly 1."""
        return self.score == 1

    @classmethod
    def of(cls, *checks: tuple[str, bool, str]) -> Verdict:
        """All-or-nothing over (name, passed, reason) checks; reasons are kept of the failed ones.

        Raises ValueError without a check: an empty conjunction would pass anything.
        """
        if not checks:
            raise ValueError("a verdict needs at least one check")
        return cls(
            score=float(all(ok for _, ok, _ in checks)),
            components={name: float(ok) for name, ok, _ in checks},
            reasons=tuple(f"{name}: {reason}" for name, ok, reason in checks if not ok),
        )

    def also(self, other: Verdict) -> Verdict:
        """Both must hold: scores multiply, components and reasons join."""
        return Verdict(
            score=self.score * other.score,
            components={**self.components, **other.components},
            reasons=self.reasons + other.reasons,
        )


class Outcome(BaseModel):
    """An episode's end: status, a reward or none, and why.

    reward: 0..1 where the status carries one (solved, failed, infeasible_ok, truncated, a timeout of the policy).
    owner: whose a timeout was.  cause: for errors, which part failed and how.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    status: Status
    reward: float | None = None
    components: dict[str, float] = {}
    reasons: tuple[str, ...] = ()
    owner: TimeoutOwner | None = None
    cause: str | None = None

    @model_validator(mode="after")
    def _reward_iff_carried(self) -> Outcome:
        if (self.owner is not None) != (self.status is Status.TIMEOUT):
            raise ValueError("a timeout, and only a timeout, names its owner")
        carries = self.status in REWARDED or (self.status is Status.TIMEOUT and self.owner == "policy")
        if carries != (self.reward is not None):
            raise ValueError(f"status {self.status} {'needs' if carries else 'carries no'} reward")
        if self.reward is not None and not 0 <= self.reward <= 1:
            raise ValueError("a reward lies in 0..1")
        return self

    @property
    def passed(self) -> bool:
        """Whether the task was solved, or rightly called infeasible."""
        return self.status in PASSED

    @property
    def final(self) -> bool:
        """Whether a resumed run keeps this rather than running the episode again."""
        return self.status is not Status.CANCELLED

    @property
    def unjudged(self) -> bool:
        """Whether it waits for a judge: playing it again would change nothing."""
        return self.status is Status.GRADER_ERROR and (self.cause or "").startswith(UNJUDGED)

    @classmethod
    def fault(cls, status: Status, cause: str) -> Outcome:
        """An end without a reward: policy_error, env_error, grader_error or cancelled."""
        return cls(status=status, cause=cause)

    @classmethod
    def timed_out(cls, owner: TimeoutOwner, cause: str, verdict: Verdict | None = None) -> Outcome:
        """A passed deadline. A policy's own carries the verdict's score (0 without one), the others no reward."""
        if owner != "policy":
            return cls(status=Status.TIMEOUT, owner=owner, cause=cause)
        verdict = verdict or Verdict(score=0)
        return cls(
            status=Status.TIMEOUT,
            owner=owner,
            cause=cause,
            reward=verdict.score,
            components=verdict.components,
            reasons=verdict.reasons,
        )
