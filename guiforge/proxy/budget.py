"""Budget: how many bytes of bodies are held at once, so that memory stays flat however many calls wait.

Invariant: the sum of what was taken and not given back never passes the total, but for a single body larger than it;
who waits is served in order.
"""

from __future__ import annotations

import asyncio
from collections import deque


class Budget:
    """A semaphore over bytes; of one event loop."""

    def __init__(self, total: int) -> None:
        self._total, self._free = total, total
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    async def take(self, size: int) -> None:
        """Wait until `size` bytes are free, and take them."""
        size = min(size, self._total)
        if not self._waiting and size <= self._free:
            self._free -= size
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((size, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._serve()
            else:  # it was its turn just before
                self.give(size)
            raise

    def give(self, size: int) -> None:
        """Give back what was taken."""
        self._free += min(size, self._total)
        self._serve()

    def _serve(self) -> None:
        while self._waiting:
            size, turn = self._waiting[0]
            if not turn.cancelled() and size > self._free:
                return
            self._waiting.popleft()
            if not turn.cancelled():
                self._free -= size
                turn.set_result(None)
