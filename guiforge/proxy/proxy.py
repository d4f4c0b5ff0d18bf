"""Proxy: serves model calls of many episodes from one policy, and records each.

Invariant: one proxy writes to the Store that it was given, from the scheduler's process; when `serving` ends, its
port is closed, what was in flight is recorded as cut, and no thread or connection of its own remains.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from guiforge.proxy.admission import Admission
from guiforge.proxy.book import Book, Limits
from guiforge.proxy.budget import Budget
from guiforge.proxy.calls import Parts
from guiforge.proxy.gate import Gate
from guiforge.proxy.images import Images
from guiforge.proxy.keys import Keys
from guiforge.proxy.metrics import Metrics
from guiforge.proxy.recording import GroupCommit
from guiforge.proxy.upstreams import Upstream
from guiforge.store import Store
from guiforge.task import Task
from guiforge.trace import EpisodeKey

MAX_BODIES = 1 << 30  # bytes of requests that wait for their reply's first byte, in all
URL_FILE = "proxy.url"  # in the run folder, while it serves
_READ_BYTES = 1 << 18  # of a body at once
_CLOSE_S = 2.0  # for connections whose calls were cut to end
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Opened:
    """An episode's keys: one for its harness, one for its worker. deadline: Unix seconds."""

    episode: str
    completions_key: str = field(repr=False)
    worker_key: str = field(repr=False)
    deadline: float


class Proxy:
    """The recording proxy of one run.

    limits: of an episode that is opened without its own.  version: name of the weights that the policy has.
    max_bodies: bytes of requests held at once; more wait.
    """

    def __init__(
        self, store: Store, upstream: Upstream, *, limits: Limits | None = None, version: str = "",
        max_bodies: int = MAX_BODIES,
    ) -> None:  # fmt: skip
        self.store, self.upstream, self.limits = store, upstream, limits or Limits()
        self.keys = Keys(store.path)
        self.book = Book(store, self.limits, upstream)
        self.metrics = Metrics()
        self.base_url = ""
        self.gate = Gate(version)
        self._max_bodies = max_bodies
        self._upstreams = [upstream]
        self._tasks: set[asyncio.Task[None]] = set()

    def open(
        self, key: EpisodeKey, deadline_s: float, *, task: Task | None = None, limits: Limits | None = None,
        upstream: Upstream | None = None,
    ) -> Opened:  # fmt: skip
        """Open an episode for `deadline_s` seconds from now, and mint its keys; those of an earlier try are void.

        task: begins the episode in the store; None where its worker does that.  upstream: who answers it, one that was
        given to `add`; None: the proxy's own. Raises StoreError.
        """
        if task is not None:
            self.store.begin(key, task)
        deadline = round(time.time() + deadline_s, 3)
        episode = self.book.open(key, deadline, limits or self.limits, upstream)
        c, w = (self.keys.mint(kind, episode.id, deadline) for kind in ("c", "w"))
        return Opened(episode.id, c, w, deadline)

    async def seal(self, key: EpisodeKey | str) -> None:
        """End an episode's calls: new ones get 409, those in flight are cut; returns once all are in the store."""
        episode = self.book.get(key if isinstance(key, str) else key.id)
        if episode.sealed:
            return
        episode.sealed = True
        flights = list(episode.flights)
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)
        await asyncio.gather(*episode.unkept, return_exceptions=True)
        episode.seal()

    async def add(self, upstream: Upstream) -> None:
        """Get a further upstream ready, while serving; it is closed with the proxy's own."""
        await upstream.open(self.metrics)
        self._upstreams.append(upstream)

    def stepped(self, key: EpisodeKey, steps: int) -> None:
        """So many steps of an episode have ended: what its next call is recorded with."""
        self.book.get(key.id).steps = steps

    def forget(self, key: EpisodeKey) -> None:
        """Keep nothing of a sealed episode in memory."""
        self.book.forget(key.id)

    async def pause(self) -> None:
        """Let no call begin, and wait until none is in flight."""
        await self.gate.pause()

    def resume(self, version: str | None = None) -> None:
        """Let calls begin again, sampled from these weights."""
        self.gate.resume(version)

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Serve for as long as the context lasts, once; gives the base URL, with `/v1`. port 0: any free one."""
        from guiforge.proxy.server import application

        _allow_connections()
        commits, images = GroupCommit(self.store, self.metrics), Images(self.store.image)
        budget = Budget(self._max_bodies)
        parts = Parts(images, commits, self.metrics, self._background)
        self._watch(budget, images)
        admission = Admission(parts, self.keys, self.book, self.gate, budget, self.store)
        runner = web.AppRunner(
            application(self, admission, images), access_log=None, handler_cancellation=True, shutdown_timeout=_CLOSE_S,
            read_bufsize=_READ_BYTES, auto_decompress=False,
        )  # fmt: skip
        try:
            await self.upstream.open(self.metrics)
            await runner.setup()
            site = web.TCPSite(runner, host, port, backlog=4096)
            await site.start()
            where = runner.addresses[0]
            self.base_url = f"http://{'[' + host + ']' if ':' in host else host}:{where[1]}/v1"
            (self.store.path / URL_FILE).write_text(f"{self.base_url}\n")
            yield self.base_url
        finally:
            for episode in self.book.episodes():
                for flight in episode.flights:
                    flight.cancel()
            await runner.cleanup()
            await self._settled()
            for upstream in self._upstreams:
                await upstream.close()
            await asyncio.to_thread(images.close)
            await asyncio.to_thread(commits.close)
            (self.store.path / URL_FILE).unlink(missing_ok=True)

    def _watch(self, budget: Budget, images: Images) -> None:
        for name, text, value in (
            ("in_flight", "Calls in flight", lambda: self.gate.in_flight),
            ("queue", "Calls that wait for memory or for a weights update", lambda: self.gate.waiting + budget.waiting),
            ("episodes", "Episodes that are open", lambda: len(self.book)),
            ("weights_updates", "Weights updates so far", lambda: self.gate.updates),
            ("images_decoded", "Images that were not known", lambda: images.decoded),
        ):
            self.metrics.watch(name, text, value)

    def _background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _log.error("a call's background work failed", exc_info=task.exception())

    async def _settled(self) -> None:
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)


def _allow_connections() -> None:
    """Let this process hold as many sockets as it may: each call has two."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
