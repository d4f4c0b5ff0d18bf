"""What is left of a desktop on this machine: its processes, directories, links and memory files."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from envs.desktop.desktop import Desktop


class Traces:
    """The names and processes that one desktop has on this machine, noted while it runs."""

    def __init__(self, root: str, number: int) -> None:
        self.root, self.number = root, number
        self.noted = session(root)

    @classmethod
    def of(cls, desktop: Desktop) -> Traces:
        """Of a running desktop."""
        return cls(str(desktop.home.parent), int(desktop.display[1:]))

    def processes(self) -> list[str]:
        """Its processes, those noted and those that came since, that have not ended."""
        return [str(process) for process in {*self.noted, *session(self.root)} if lives(process)]

    def files(self) -> list[str]:
        """Its directory and the names outside of it."""
        root = Path(self.root)
        names = [root, Path("/dev/shm") / root.name]
        if self._has_number():
            names += [root.parent / f"X{self.number}", Path(f"/tmp/.X11-unix/X{self.number}")]
            names += [Path(f"/tmp/.X{self.number}-lock")]
        return [str(name) for name in names if name.is_symlink() or name.exists()]

    def _has_number(self) -> bool:
        """Whether its number, and with it the uids, is not another desktop's by now."""
        claim = Path(self.root).with_name(f"X{self.number}")
        return not claim.is_symlink() or str(claim.readlink()) == self.root

    def left(self) -> list[str]:
        """All that is left."""
        return self.processes() + self.files()


def eventually(condition: Callable[[], bool], timeout_s: float = 20) -> bool:
    """Whether the condition holds before the time is over."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.02)
    return True


def session(root: str) -> list[psutil.Process]:
    """The processes below those that have the desktop's directory in their command line, and these."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if any(root in word for word in process.cmdline()):
                found += [process, *process.children(recursive=True)]
    return found


def lives(process: psutil.Process) -> bool:
    """Whether a process has not ended; one that ended and is another's to collect has."""
    with contextlib.suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def host_pid(desktop: Desktop, name: str) -> int:
    """The process of a part of the desktop as this process numbers it."""
    return next(p.pid for p in session(str(desktop.home.parent)) if p.name() == name and lives(p))
