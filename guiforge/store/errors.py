"""What can be wrong with a run folder; each text names the folder and what to do."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class StoreError(Exception):
    """Something is wrong with a run folder."""


class NotARun(StoreError):
    """The folder is no run, or not an empty place for one."""


class WrongFormat(StoreError):
    """The run was written in a format that this version can't read."""


class StoreLocked(StoreError):
    """Another process writes this run."""


class UnknownEpisode(StoreError, LookupError):
    """No episode, or more than one, goes by that id."""


class AlreadyFinished(StoreError):
    """The episode has its outcome; a run keeps what was finished."""


class Damaged(StoreError):
    """An image or blob is missing or its bytes are not what its name says."""


class StoreFull(StoreError):
    """The disk is full. What was acknowledged before is kept, and the database is intact.

    where: the run folder.  needed, free: bytes that this write took and that the disk has left.
    """

    def __init__(self, where: Path, what: str, needed: int) -> None:
        self.where, self.needed, self.free = where, needed, free_bytes(where)
        super().__init__(
            f"the disk of run folder {where} is full: {what} takes {needed:,} bytes and {self.free:,} are free. "
            "What was recorded before is kept: make room, then continue with --resume"
        )


_UNREADABLE = frozenset(
    {
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_READONLY,
    }
)
_NEARLY_FULL = 128 << 10  # bytes; SQLite's shared memory grows by 32 KiB at a time


def free_bytes(path: Path) -> int:
    """Bytes that this process may still write on the disk that holds `path` (or will, when it is made)."""
    path = next(p for p in (path, *path.parents) if p.exists())
    stat = os.statvfs(path)
    return stat.f_frsize * (stat.f_bavail if os.geteuid() else stat.f_bfree)


@contextmanager
def sound(database: Path) -> Iterator[None]:
    """Turns SQLite's ways of saying that a file is no whole database of a run into StoreError; other errors pass."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        primary = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
        full = primary == sqlite3.SQLITE_CANTOPEN and free_bytes(database) < _NEARLY_FULL
        if primary not in _UNREADABLE or full:
            raise
        advice = "it is damaged; put back a copy of it"
        if primary in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            advice = "let it be read, or copy the run to where it may be written"
        raise StoreError(f"the run's database {database} can't be read ({error}): {advice}") from None


@contextmanager
def needs_room(where: Path, what: str, size: int) -> Iterator[None]:
    """Turns the system's ways of saying that a disk is full into StoreFull; other errors pass."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreFull(where, what, size) from error
        raise
    except sqlite3.OperationalError as error:
        # SQLite says "disk I/O error" where it was the shared memory of its WAL that did not fit.
        primary = error.sqlite_errorcode & 0xFF
        no_room = primary in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN) and free_bytes(where) < _NEARLY_FULL
        if primary == sqlite3.SQLITE_FULL or no_room:
            raise StoreFull(where, what, size) from error
        raise
