"""Trace: all that an episode recorded, its calls and its steps, and the identity they belong to.

Invariant: an episode is known by (task, seed, attempt, harness, policy); its group is the same without the attempt.
The Recorder is the only writer of a run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from guiforge.action import Action
from guiforge.env import Snapshot
from guiforge.outcome import Outcome
from guiforge.task import Task


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GroupKey(_Record):
    """What the episodes of one group share."""

    task: str  # `suite/family`
    seed: int
    harness: str
    policy: str


class EpisodeKey(_Record):
    """One try at one task by one harness and policy."""

    task: str  # `suite/family`
    seed: int
    attempt: int
    harness: str
    policy: str

    @property
    def group(self) -> GroupKey:
        """The episodes that this one is compared with."""
        return GroupKey(task=self.task, seed=self.seed, harness=self.harness, policy=self.policy)

    @property
    def id(self) -> str:
        """16 hex digits, equal for equal keys, in any process."""
        text = "\x1f".join((self.task, str(self.seed), str(self.attempt), self.harness, self.policy))
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def __str__(self) -> str:
        return f"{self.task} seed {self.seed} attempt {self.attempt}"


class EpisodeSpec(_Record):
    """All that a worker needs to run one episode, as JSON.

    policy: `oracle`, `null`, `random`, or a base URL of an OpenAI-compatible endpoint.
    policy_options: `model`, `api_key_env`, sampling parameters.  env_options: keyword arguments of the env.
    suite_options: of a benchmark that is read from a file: which one, and how.
    """

    key: EpisodeKey
    suite: str
    family: str
    harness_options: dict[str, Any] = {}
    policy_options: dict[str, Any] = {}
    env_options: dict[str, Any] = {}
    suite_options: dict[str, Any] = {}
    limits: dict[str, float] = {}  # overrides of the task's own


class Call(_Record):
    """One model call: the request with images by content hash, the raw reply, and what went wrong with it.

    error: why the reply could not be used (unparsable, endpoint failed), else None. Times are Unix seconds.
    """

    index: int
    step: int
    request: dict[str, Any]
    reply: str | None
    error: str | None = None
    usage: dict[str, Any] = {}
    started: float
    ended: float


class Step(_Record):
    """One step: the frame it started from, the reply's actions, and how the world took them.

    frame: content hash of the image (PNG) before the actions.  cursor: pointer before, in screen pixels.
    error: the observation's error after the actions.  timings: seconds by phase.
    """

    index: int
    frame: str
    cursor: tuple[int, int] | None = None
    settled: bool = True
    text: str = ""
    actions: tuple[Action, ...] = ()
    error: str | None = None
    started: float
    timings: dict[str, float] = {}


def end_action(steps: Sequence[Step]) -> Action | None:
    """The action that ended an episode of these steps, or None where a limit did."""
    return next((a for a in steps[-1].actions if a.is_end), None) if steps else None


class Recorder(Protocol):
    """The only way into a run. An image or blob is named by its content hash and stored once.

    What a call gives is durable when the call returns. `begin` of an unfinished episode drops what that try left.
    """

    def begin(self, key: EpisodeKey, task: Task) -> None:
        """Open an episode."""
        ...

    def image(self, data: bytes, media_type: str) -> str:
        """Keep an encoded image; returns its content hash."""
        ...

    def call(self, key: EpisodeKey, call: Call) -> None:
        """Keep a model call."""
        ...

    def step(self, key: EpisodeKey, step: Step) -> None:
        """Keep a step."""
        ...

    def state(self, key: EpisodeKey, snapshot: Snapshot, blobs: dict[str, bytes]) -> None:
        """Keep the final state, bytes by content hash."""
        ...

    def finish(self, key: EpisodeKey, outcome: Outcome, last_frame: str | None, timings: dict[str, float]) -> None:
        """Close the episode with its outcome, in one transaction."""
        ...
