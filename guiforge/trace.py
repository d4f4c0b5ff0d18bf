"""Trace: all that an episode recorded, its calls and its steps, and the identity they belong to.

Invariant: an episode is known by (task, seed, attempt, harness, policy); its group is the same without the attempt.
The Recorder is the only writer of a run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from guiforge.action import Action
from guiforge.env import Snapshot
from guiforge.outcome import Outcome
from guiforge.task import Task
from guiforge.wire import ChatMessage


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


Wire = Literal["chat", "responses", "messages"]
"""What a harness speaks: OpenAI chat completions, OpenAI responses, Anthropic messages."""


class Tokens(_Record):
    """What a policy read and sampled, exactly: never re-encoded.

    prompt_ids, sampled_ids: token ids.  logprobs: of each sampled token, natural logarithms under the distribution
    that was sampled from, None where the policy gave none.
    """

    prompt_ids: tuple[int, ...]
    sampled_ids: tuple[int, ...]
    logprobs: tuple[float, ...] | None = None


def sampled_count(tokens: Tokens | None, usage: Mapping[str, Any]) -> int:
    """How many tokens were sampled: by their ids, or else as the policy counted them in a chat `usage`."""
    if tokens is not None:
        return len(tokens.sampled_ids)
    count = usage.get("completion_tokens")
    return count if isinstance(count, int) else 0


class Call(_Record):
    """One model call, as it was sent and as it was answered.

    index: which of its episode's, in the order of their arrival.  step: how many steps had ended by then.
    request: the body in the words of `wire`, each image replaced by `image:<content hash>`.
    sampling: the parameters as they took effect (temperature, top_p, seed, ...).
    message: the assistant's message in the form of chat completions, None where none came.  raw: the reply's body as
    the policy sent it (a stream's events as they came).  cut: the reply broke off, or the harness hung up; what had
    been sampled is kept.  error: why there is no reply, for a person.  unread: what made the harness refuse the reply.
    parent: index of the call whose prompt and reply this prompt goes on from.  tries: how often the policy was asked.
    upstream, policy_version: which replica answered, with which weights.
    queued, first_byte, last_byte: Unix seconds; the reply's, and None where none came.
    """

    index: int
    step: int
    wire: Wire = "chat"
    request: dict[str, Any]
    sampling: dict[str, Any] = {}
    message: dict[str, Any] | None
    raw: str = ""
    tokens: Tokens | None = None
    finish_reason: str | None = None
    usage: dict[str, Any] = {}
    upstream: str = ""
    policy_version: str = ""
    idempotency_key: str | None = None
    parent: int | None = None
    tries: int = 1
    cut: bool = False
    error: str | None = None
    unread: str | None = None
    queued: float
    first_byte: float | None = None
    last_byte: float

    @property
    def reply(self) -> str | None:
        """What the message says: its text, or all of it as JSON where it calls tools; None where none came."""
        if self.message is None:
            return None
        said = ChatMessage.model_validate(self.message)
        return json.dumps(self.message, ensure_ascii=False) if said.tool_calls else said.text

    @property
    def sampled(self) -> int:
        """How many tokens were sampled."""
        return sampled_count(self.tokens, self.usage)

    @property
    def problem(self) -> str | None:
        """Why the call was of no use to its harness, if it was not."""
        return self.error or self.unread


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

    What a method is given is durable when it returns. `begin` of an unfinished episode drops what that try left. Model
    calls do not come this way: the proxy records them as they pass.
    """

    def begin(self, key: EpisodeKey, task: Task) -> None:
        """Open an episode."""
        ...

    def image(self, data: bytes, media_type: str) -> str:
        """Keep an encoded image; returns its content hash."""
        ...

    def unread(self, key: EpisodeKey, problem: str) -> None:
        """Note that the harness could not use the reply of the episode's latest call, and why."""
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
