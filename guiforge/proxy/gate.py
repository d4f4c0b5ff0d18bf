"""Gate: calls pass one by one into flight; it closes for a weights update until those in flight have ended.

Invariant: no call is in flight while the weights change, so each was sampled from one version alone.
"""

from __future__ import annotations

import asyncio


class Gate:
    """Of one event loop. version: the name of the weights that calls are sampled from.  updates: how many so far."""

    def __init__(self, version: str = "") -> None:
        self.version, self.updates = version, 0
        self.in_flight = 0
        self.waiting = 0
        self._open, self._empty = asyncio.Event(), asyncio.Event()
        self._open.set()
        self._empty.set()

    @property
    def paused(self) -> bool:
        """Whether calls wait."""
        return not self._open.is_set()

    async def enter(self) -> None:
        """Wait while paused, then be in flight until `leave`."""
        if not self._open.is_set():
            self.waiting += 1
            try:
                await self._open.wait()
            finally:
                self.waiting -= 1
        self.in_flight += 1
        self._empty.clear()

    def leave(self) -> None:
        """The call has ended."""
        self.in_flight -= 1
        if not self.in_flight:
            self._empty.set()

    async def pause(self) -> None:
        """Let no call in, and wait until none is in flight."""
        self._open.clear()
        await self._empty.wait()

    def resume(self, version: str | None = None) -> None:
        """Let calls in again; another version than before is an update."""
        if version is not None and version != self.version:
            self.version = version
            self.updates += 1
        self._open.set()
