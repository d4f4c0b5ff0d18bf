"""Clients: the programs that windows belong to, as the kernel sees them.

Invariant: nothing is asked of a client itself, so any answers, also one that takes no pings (Tk, xterm, Qt).
Source: the X-Resource extension 1.2 (the process behind a window); proc(5) (its state).
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from Xlib.display import Display
from Xlib.ext import res

_LOOKS, _LOOK_AGAIN_S = 3, 0.005
_PROC = Path("/proc")


class Clients:
    """The clients of one display."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._processes: dict[str, int | None] = {}  # a process id as the server has it -> as this process has it

    def wait_idle(self, window: int, timeout_s: float) -> bool:
        """Wait until a window's program is seen asleep several times on end; whether it came to that.

        Asleep it has read all that it was sent: an event makes it ready to run, and so it stays on a busy machine. One
        look is not enough, since it also sleeps while it waits for an answer. False at once where its process can't be
        told.
        """
        pid = self._process(window)
        deadline, looks = time.monotonic() + timeout_s, 0
        while pid is not None and time.monotonic() < deadline:
            try:
                state = (_PROC / f"{pid}/stat").read_text().rpartition(") ")[2][0]
            except OSError:
                return False
            looks = looks + 1 if state == "S" else 0
            if looks == _LOOKS:
                return True
            time.sleep(_LOOK_AGAIN_S)
        return False

    def _process(self, window: int) -> int | None:
        """The process that a window's client is, asked anew each time: the next program's window may have its id."""
        if not self._display.has_extension(res.extname):
            return None
        found = self._display.res_query_client_ids([{"client": window, "mask": res.LocalClientPIDMask}]).ids
        inside = next((str(id.value[0]) for id in found if id.value), None)
        if inside is None:
            return None
        if inside not in self._processes:
            self._processes[inside] = self._outside(inside)
        return self._processes[inside]

    def _outside(self, inside: str) -> int | None:
        """The process that has this id in the server's view, which may be a namespace of its own, in this one's."""
        wanted = f"DISPLAY={self._display.get_display_name()}".encode()
        for entry in _PROC.iterdir():
            with contextlib.suppress(OSError):  # gone meanwhile, or not ours to look at
                if not entry.name.isdigit() or _innermost_pid(entry) != inside:
                    continue
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    return int(entry.name)
        return None


def _innermost_pid(process: Path) -> str:
    """The id that a process has in its own PID namespace."""
    ids = next(line for line in (process / "status").read_text().splitlines() if line.startswith("NSpid:"))
    return ids.split()[-1]
