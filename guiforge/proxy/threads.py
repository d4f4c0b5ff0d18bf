"""A proxy for callers that are not asyncio: it serves on a thread of its own for as long as a context lasts.

Invariant: the proxy is touched by its own thread alone; when the context ends, thread and port are gone.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

from guiforge.proxy.book import Limits
from guiforge.proxy.proxy import Opened, Proxy
from guiforge.task import Task
from guiforge.trace import EpisodeKey

T = TypeVar("T")


class Running:
    """A proxy that serves on its own thread, at `base_url`."""

    def __init__(self, proxy: Proxy, base_url: str, loop: asyncio.AbstractEventLoop) -> None:
        self.proxy, self.base_url, self._loop = proxy, base_url, loop

    def open(
        self, key: EpisodeKey, deadline_s: float, *, task: Task | None = None, limits: Limits | None = None
    ) -> Opened:
        """See Proxy.open."""

        async def work() -> Opened:
            return self.proxy.open(key, deadline_s, task=task, limits=limits)

        return self._do(work())

    def seal(self, key: EpisodeKey) -> None:
        """See Proxy.seal."""
        self._do(self.proxy.seal(key))

    def pause(self) -> None:
        """See Proxy.pause."""
        self._do(self.proxy.pause())

    def resume(self, version: str | None = None) -> None:
        """See Proxy.resume."""
        self._loop.call_soon_threadsafe(self.proxy.resume, version)

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


@contextmanager
def in_thread(proxy: Proxy, host: str = "127.0.0.1", port: int = 0) -> Iterator[Running]:
    """Serve a proxy from a thread. Raises OSError where the port can't be had."""
    started: Future[tuple[str, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        async with proxy.serving(host, port) as base_url:
            stop = asyncio.Event()
            started.set_result((base_url, asyncio.get_running_loop(), stop))
            await stop.wait()

    def run() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)

    thread = threading.Thread(target=run, name="proxy")
    thread.start()
    try:
        base_url, loop, stop = started.result()
        try:
            yield Running(proxy, base_url, loop)
        finally:
            loop.call_soon_threadsafe(stop.set)
    finally:
        thread.join()
