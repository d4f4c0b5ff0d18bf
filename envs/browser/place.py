"""Place: a browser's own directory and user on this machine.

Invariant: a place belongs to whoever holds the lock in it; once the lock is free, anyone may remove it. A killed
worker's places are removed by the next `claim`.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from guiforge.env import EnvError

FIRST_UID = 1_000_000  # and up by the worker's process id: no other live worker has it
_ENTER = 0o711


@dataclass
class Place:
    """A claimed place. uid: who its browser runs as.  homes: how many episodes had one here."""

    root: Path
    uid: int
    lock: int
    homes: int = 0

    @property
    def home(self) -> Path:
        """The HOME of the episode: the task's files and downloads."""
        return self.root / f"home{self.homes}"

    @property
    def profile(self) -> Path:
        """Chromium's user data directory."""
        return self.root / "profile"

    @property
    def log(self) -> Path:
        """What Chromium says on its standard error."""
        return self.root / "log"

    def own(self, path: Path | int) -> None:
        """Give a path, or an open file's descriptor, to the browser's user."""
        if self.uid != os.geteuid():
            os.chown(path, self.uid, self.uid)

    def fresh_home(self) -> Path:
        """An empty HOME with its Downloads. The one before goes, and nothing that is still written to it comes here."""
        shutil.rmtree(self.home, ignore_errors=True)
        self.homes += 1
        for path in (self.home, self.home / "Downloads"):
            path.mkdir(mode=0o700)
            self.own(path)
        return self.home

    def log_tail(self, lines: int = 5) -> str:
        """The last lines of the log."""
        with contextlib.suppress(OSError):
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
        return ""

    def remove(self) -> None:
        """Remove all of it. No process of the browser may be left."""
        remove_directory(self.root, self.lock)


def claim() -> Place:
    """A new place, those of dead workers removed. Raises EnvError."""
    root, lock = claim_directory("browser")
    place = Place(root, browser_uid(), lock)
    place.profile.mkdir(mode=0o700)
    place.own(place.profile)
    return place


def claim_directory(part: str) -> tuple[Path, int]:
    """A new directory for a part of the world, and the descriptor that holds its lock; those of dead workers go.

    Others may pass through it, and list nothing. Raises EnvError.
    """
    base = Path(tempfile.gettempdir(), f"guiforge-{part}-{os.geteuid()}")
    with contextlib.suppress(FileExistsError):
        base.mkdir(mode=_ENTER)
    info = base.lstat()
    if info.st_uid != os.geteuid() or not base.is_dir() or base.is_symlink() or info.st_mode & 0o022:
        raise EnvError(part, f"{base} must be a directory that only this user can write; remove it")
    with _locked(base / "lock"):  # so that no place is swept between its making and its lock
        _sweep(base)
        root = Path(tempfile.mkdtemp(prefix="b", dir=base))
        root.chmod(_ENTER)
        lock = os.open(root / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
    return root, lock


def browser_uid() -> int:
    """The user that this process's browsers run as."""
    return FIRST_UID + os.getpid() if os.geteuid() == 0 else os.geteuid()


@functools.cache
def sandbox_refused(uid: int) -> bool:
    """Whether this machine keeps that user from making namespaces, which Chromium's sandbox is made of."""
    changed: dict[str, object] = {"user": uid, "group": uid, "extra_groups": []} if uid != os.geteuid() else {}
    run: Callable[..., subprocess.CompletedProcess[bytes]] = subprocess.run
    return run(["unshare", "--user", "--pid", "--fork", "true"], capture_output=True, **changed).returncode != 0


def _sweep(base: Path) -> None:
    for root in base.glob("b*"):
        try:
            with _locked(root / "lock", wait=False):
                _remove(root)
        except (BlockingIOError, FileNotFoundError):
            pass  # in use, or just removed


def remove_directory(root: Path, lock: int) -> None:
    """Remove what `claim_directory` gave. No process that uses it may be left."""
    _remove(root)
    os.close(lock)


def _remove(root: Path) -> None:
    for _ in range(10):  # processes that are being killed may still write
        shutil.rmtree(root, ignore_errors=True)
        if not root.exists():
            return


@contextlib.contextmanager
def _locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    fd = os.open(path, os.O_RDWR | os.O_CREAT * wait | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(fd)
