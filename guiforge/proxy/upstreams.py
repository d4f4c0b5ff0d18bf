"""Upstreams: who answers a call in the end, an endpoint's replicas or an episode's own worker.

Invariant: what fails is UpstreamFailed, before a reply or in the middle of one; leaving an `ask` cancels it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from guiforge.proxy.bodies import dumps
from guiforge.proxy.book import Episode
from guiforge.proxy.metrics import Metrics


class UpstreamFailed(Exception):
    """No reply, or no more of it. status, type: as the harness is told.  tries: how often it was asked."""

    def __init__(self, status: int, type: str, text: str, *, upstream: str = "", tries: int = 1) -> None:
        super().__init__(text)
        self.status, self.type, self.text = status, type, text
        self.upstream, self.tries = upstream, tries


@dataclass
class Ask:
    """One call to an upstream. raw: the chat request's JSON, let go of once a reply began.

    deadline: of the reply.  retry_until: of asking anew. Both Unix seconds.
    """

    episode: Episode
    raw: bytes
    deadline: float
    retry_until: float


@dataclass(frozen=True)
class Answer:
    """A reply that has begun. stream: `pieces` are server-sent events; else the body of a completion."""

    upstream: str
    tries: int
    stream: bool
    pieces: AsyncIterator[bytes]


class Upstream(Protocol):
    """Whoever answers. `wants`: the fields that it adds to a request, whose answers no harness asked for."""

    async def open(self, metrics: Metrics) -> None:
        """Get ready, in the running event loop."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...

    def ask(self, ask: Ask) -> AbstractAsyncContextManager[Answer]:
        """Ask for a reply; leaving the context cancels it. Raises UpstreamFailed, also from `pieces`."""
        ...

    async def wants(self, chat: dict[str, Any], until: float) -> dict[str, Any]:
        """Fields to set in a request, so that its reply is recorded exactly.

        until: Unix seconds that the upstream may take to be there. Raises UpstreamFailed.
        """
        ...

    async def models(self) -> list[str]:
        """Names of models there."""
        ...

    async def count(self, chat: dict[str, Any]) -> int | None:
        """How many tokens a request's prompt has, or None where nobody can say."""
        ...


class _AtHand:
    """What upstreams have in common that need no connection and add nothing to a request."""

    async def open(self, metrics: Metrics) -> None:
        """See Upstream."""

    async def close(self) -> None:
        """See Upstream."""

    async def wants(self, chat: dict[str, Any], until: float) -> dict[str, Any]:
        """See Upstream: nothing."""
        return {}

    async def count(self, chat: dict[str, Any]) -> int | None:
        """See Upstream: nobody can say."""
        return None


class WorkerUpstream(_AtHand):
    """The episode's own worker, which answers with whole completions (an oracle, which sees its env).

    ask: from an episode's id to what it says next, whatever was asked, as a completion; raises UpstreamFailed.
    """

    def __init__(self, ask: Callable[[str], Awaitable[dict[str, Any]]], model: str = "oracle") -> None:
        self._ask, self._model = ask, model

    @asynccontextmanager
    async def ask(self, ask: Ask) -> AsyncIterator[Answer]:
        """See Upstream."""
        try:
            async with asyncio.timeout(max(ask.deadline - time.time(), 0.0)):
                completion = await self._ask(ask.episode.id)
        except TimeoutError:
            raise late("the worker") from None
        yield Answer("worker", 1, stream=False, pieces=_one(dumps(completion)))

    async def models(self) -> list[str]:
        """See Upstream."""
        return [self._model]


async def _one(piece: bytes) -> AsyncIterator[bytes]:
    yield piece


def late(upstream: str, tries: int = 1) -> UpstreamFailed:
    """The failure of one that took too long."""
    what = f"{upstream} did not answer before the episode's deadline"
    return UpstreamFailed(504, "deadline_passed", what, upstream=upstream, tries=tries)


class Replay(_AtHand):
    """A reply that was recorded, once more: for a harness that asks anew with the same idempotency key."""

    def __init__(self, raw: str, upstream: str, tries: int) -> None:
        self._raw, self._upstream, self._tries = raw, upstream, tries

    @asynccontextmanager
    async def ask(self, ask: Ask) -> AsyncIterator[Answer]:
        """See Upstream."""
        stream = not self._raw.lstrip().startswith("{")
        yield Answer(self._upstream, self._tries, stream, _one(self._raw.encode("utf-8", "surrogatepass")))

    async def models(self) -> list[str]:
        """See Upstream."""
        return []
