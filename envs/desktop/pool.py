"""Pool: desktops kept ready, so that an episode does not wait for one.

Invariant: every desktop that a pool started and that has not been retired ends with `close`: a spare, one that is
taken, and one whose taker was interrupted before it had it. A desktop is never given out twice.
"""

from __future__ import annotations

import contextlib
from concurrent.futures import Future, ThreadPoolExecutor

from envs.desktop import warming
from envs.desktop.desktop import Desktop
from envs.desktop.sandbox import sweep
from guiforge.env import EnvError
from guiforge.frame import Size

_THREADS = 4  # one starts while others end


class Pool:
    """Keeps one spare desktop of the size last asked for. Not for use by several threads.

    Making one removes what dead workers left, and makes the profiles that this machine lacks: minutes on its first use.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="desktop-pool")
        self._living: set[Desktop] = set()
        self._spare: tuple[Size, Future[Desktop]] | None = None
        self._retired: list[Future[None]] = []
        self._problem: EnvError | None = None
        try:
            sweep()
            warming.warm_all()
        except EnvError as problem:
            self._problem = problem

    def take(self, size: Size) -> Desktop:
        """A fresh desktop: the spare, where it has the size and is well, else a new one.

        Raises EnvError, that of an application whose profile could not be made included.
        """
        if self._problem is not None:
            raise self._problem
        if self._spare is not None:
            spare_size, starting = self._spare
            self._spare = None
            if spare_size == size:
                desktop = starting.result()
                try:
                    desktop.check()
                    return desktop
                except EnvError:
                    self.retire(desktop)
            else:
                self._retired.append(self._threads.submit(self._discard, starting))
        return self._threads.submit(self._start, size).result()

    def prepare(self, size: Size) -> None:
        """Begin to start a spare in the background, where there is none."""
        if self._spare is None:
            self._spare = (size, self._threads.submit(self._start, size))

    def retire(self, desktop: Desktop) -> None:
        """End a desktop in the background."""
        self._retired.append(self._threads.submit(self._end, desktop))
        for ended in [future for future in self._retired if future.done()]:
            self._retired.remove(ended)
            ended.result()

    def close(self) -> None:
        """End all desktops of the pool; returns when they are gone. Safe to call twice."""
        self._spare = None
        self._threads.shutdown(wait=True)
        for desktop in tuple(self._living):
            self._end(desktop)
        retired, self._retired = self._retired, []
        for future in retired:
            future.result()

    def _start(self, size: Size) -> Desktop:
        """Runs in a thread of the pool, where nothing interrupts it between the start and the taking down."""
        desktop = Desktop.start(size)
        self._living.add(desktop)
        return desktop

    def _end(self, desktop: Desktop) -> None:
        desktop.close()
        self._living.discard(desktop)

    def _discard(self, starting: Future[Desktop]) -> None:
        with contextlib.suppress(EnvError):  # one that could not start has ended
            self._end(starting.result())
