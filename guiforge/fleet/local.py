"""Resident workers as local processes: started, spoken to, and ended by their own id.

Invariant: a worker is in a session of its own, and ends when this process does, however that ends: its standard input
is a pipe held here.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from pathlib import Path

from guiforge.fleet.channel import STOP_S, AsyncChannel

DYING_S = 3.0  # a process that closed its channel is given that long to be gone


class LocalWorker:
    """One resident worker process and its channel."""

    def __init__(self, process: asyncio.subprocess.Process, channel: AsyncChannel) -> None:
        self._process, self.channel = process, channel
        self.episodes = 0

    @classmethod
    async def start(cls, log: Path) -> LocalWorker:
        """Start a worker; what it prints is appended to `log`."""
        ours, theirs = socket.socketpair()
        with theirs, log.open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "guiforge.fleet.worker", str(theirs.fileno()),
                stdin=asyncio.subprocess.PIPE, stdout=output, stderr=output,
                pass_fds=(theirs.fileno(),), start_new_session=True,
            )  # fmt: skip
        reader, writer = await asyncio.open_connection(sock=ours, limit=1 << 20)
        return cls(process, AsyncChannel(reader, writer))

    @property
    def pid(self) -> int:
        """The worker's process id."""
        return self._process.pid

    @property
    def ended(self) -> str | None:
        """How the worker ended, for a person; None while it runs."""
        code = self._process.returncode
        if code is None:
            return None
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exited with {code}"

    def memory_mb(self) -> float:
        """Resident memory of the worker process in MB, 0 when it is gone."""
        with contextlib.suppress(OSError):
            pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
            return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
        return 0.0

    async def how_it_ended(self) -> str:
        """How a worker whose channel closed ended; it is given a moment to."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), DYING_S)
        return self.ended or "closed its channel and went on"

    async def stop(self, patience_s: float = STOP_S) -> None:
        """End the worker: SIGTERM, in which it closes its env, and SIGKILL after `patience_s`. Safe to call twice."""
        self.channel.close()
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
            try:
                await asyncio.wait_for(self._process.wait(), patience_s)
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    self._process.kill()
                await self._process.wait()
