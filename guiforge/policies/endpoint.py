"""Where a model is, and what a policy inside a worker is.

Invariant: no text of an Endpoint holds its key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from guiforge.wire import Reply

Answer = Callable[[], Reply]
"""A policy inside a worker: its next reply, whatever the request says. What it raises fails the call."""


class AnswerFailed(Exception):
    """The policy has no answer, and won't have one when asked again. `type` is that of the error body."""

    def __init__(self, type: str, message: str) -> None:
        super().__init__(message)
        self.type = type


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible endpoint: `{base_url}/chat/completions`, a bearer key (may be empty), a model's name."""

    base_url: str
    api_key: str = field(repr=False)
    model: str
