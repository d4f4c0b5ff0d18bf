"""Harness: the program around the model; builds prompts, parses replies, keeps history.

Invariant: a harness owns its loop and reaches its model by HTTP alone. One step is one reply, any number of Actions,
one Observation. It is registered by name in entry-point group `guiforge.harnesses`.
"""

from __future__ import annotations

from typing import Protocol

from guiforge.action import Action
from guiforge.env import Observation
from guiforge.task import Task
from guiforge.wire import Reply


class EpisodeOver(Exception):
    """Raised by a session when the episode has ended (an end action, a limit, a cancellation); let it through."""


class ReplyRejected(Exception):
    """The policy's replies could not be used, however often it was asked: the episode is `failed`."""


class PolicyFailed(Exception):
    """The policy's endpoint failed (down, 5xx after retries, rubbish that is no completion): `policy_error`."""


class PolicyTimedOut(Exception):
    """The policy's endpoint did not answer within the deadline of one call: a `timeout` of the policy."""


class Session(Protocol):
    """What an episode lends to a harness.

    base_url, api_key, model: where its model is, OpenAI-compatible (`{base_url}/chat/completions`); every call that
    goes there is recorded as it passes.
    observation: the latest. call_timeout_s: seconds left for one model call.
    """

    base_url: str
    api_key: str
    model: str
    observation: Observation

    @property
    def call_timeout_s(self) -> float:
        """Seconds that the next model call may take, its retries included."""
        ...

    def step(self, *actions: Action) -> Observation:
        """Carry out one reply's actions. Raises EpisodeOver when that ends the episode."""
        ...

    def unread(self, problem: str) -> None:
        """Note that the latest reply could not be used, and why; the call itself is recorded on its way."""
        ...


class Harness(Protocol):
    """A program around a model. `dialect` names the vocabulary of its replies (an oracle answers in it)."""

    name: str

    def run(self, task: Task, session: Session) -> None:
        """Play one episode: returns, or raises EpisodeOver, when it ends. `task` is the public part."""
        ...

    def render(self, actions: tuple[Action, ...], session_screen: tuple[int, int]) -> Reply:
        """The reply that this harness parses to exactly these actions: how an oracle answers.

        Raises guiforge.dialects.OneAtATime for several where its format says one a reply, and DialectError for one
        that it has no words for.
        """
        ...
