"""Store: the Recorder that writes a run folder.

Invariant: one process writes a run (a lock says so), every call is one transaction, and the files that a row names
are in place before the row is.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from guiforge.env import Snapshot
from guiforge.outcome import Outcome
from guiforge.store.calls import CALL_COLUMNS, call_row
from guiforge.store.errors import (
    AlreadyFinished,
    NotARun,
    StoreError,
    StoreLocked,
    UnknownEpisode,
    needs_room,
    sound,
)
from guiforge.store.files import sync_path
from guiforge.store.reader import (
    DATABASE,
    FORMAT,
    IMAGE_SUFFIXES,
    JSON_COLUMNS,
    LOCK,
    MANIFEST,
    RunReader,
    is_run,
    read_manifest,
    to_json,
)
from guiforge.task import Task
from guiforge.trace import Call, EpisodeKey, Step

_SCHEMA = """
CREATE TABLE IF NOT EXISTS episodes (
    id TEXT PRIMARY KEY, task TEXT NOT NULL, seed INTEGER NOT NULL, attempt INTEGER NOT NULL, harness TEXT NOT NULL,
    policy TEXT NOT NULL, application TEXT NOT NULL, instruction TEXT NOT NULL, task_blob TEXT NOT NULL,
    started REAL NOT NULL, ended REAL, status TEXT, reward REAL, outcome JSON, timings JSON, last_frame TEXT
);
CREATE TABLE IF NOT EXISTS calls (
    episode TEXT NOT NULL REFERENCES episodes ON DELETE CASCADE, "index" INTEGER NOT NULL, step INTEGER NOT NULL,
    wire TEXT NOT NULL, request JSON NOT NULL, sampling JSON NOT NULL, message JSON, raw BLOB NOT NULL,
    prompt_ids BLOB, sampled_ids BLOB, logprobs BLOB, finish_reason TEXT, usage JSON NOT NULL, upstream TEXT NOT NULL,
    policy_version TEXT NOT NULL, idempotency_key TEXT, parent INTEGER, tries INTEGER NOT NULL, cut INTEGER NOT NULL,
    error TEXT, unread TEXT, queued REAL NOT NULL, first_byte REAL, last_byte REAL NOT NULL,
    PRIMARY KEY (episode, "index"), UNIQUE (episode, idempotency_key)
);
CREATE TABLE IF NOT EXISTS steps (
    episode TEXT NOT NULL REFERENCES episodes ON DELETE CASCADE, "index" INTEGER NOT NULL, frame TEXT NOT NULL,
    cursor JSON, settled INTEGER NOT NULL, text TEXT NOT NULL, actions JSON NOT NULL, error TEXT,
    started REAL NOT NULL, timings JSON NOT NULL, PRIMARY KEY (episode, "index")
);
CREATE TABLE IF NOT EXISTS states (
    episode TEXT PRIMARY KEY REFERENCES episodes ON DELETE CASCADE, snapshot_blob TEXT NOT NULL
);
"""
_END = ("ended", "status", "reward", "outcome", "timings", "last_frame")  # what `finish` adds to an episode
_OURS = {
    LOCK,
    "images",
    "blobs",
    DATABASE,
    f"{DATABASE}-wal",
    f"{DATABASE}-shm",
    f"{DATABASE}-journal",
    f".{MANIFEST}.tmp",
}


class Store(RunReader):
    """A run folder open for writing; implements `guiforge.trace.Recorder` and reads as RunReader does.

    create: make the run where there is none (in a new or empty folder). parameters: kept in a new run's manifest.
    Raises NotARun, WrongFormat, StoreLocked (another process writes it), StoreFull. Usable from any thread.
    """

    def __init__(self, path: str | Path, create: bool = True, parameters: Mapping[str, Any] | None = None) -> None:
        self._create, self._initial = create, dict(parameters or {})
        self._lock_fd: int | None = None
        try:
            super().__init__(path)
        except BaseException:
            self._unlock()
            raise

    def _prepare(self) -> None:
        if not self._create or is_run(self.path):
            read_manifest(self.path)
        elif self.path.exists() and not self.path.is_dir():
            raise NotARun(f"{self.path} is a file; a run is a folder")
        with needs_room(self.path.parent, "a new run folder", 4096):
            self.path.mkdir(parents=True, exist_ok=True)
        foreign = [] if is_run(self.path) else sorted({p.name for p in self.path.iterdir()} - _OURS)
        if foreign:
            raise NotARun(f"{self.path} is no run folder and not empty (it has {', '.join(foreign[:5])})")
        with needs_room(self.path, "opening the run", 128 << 10):
            self._take_lock()
            if not is_run(self.path):
                self._make()
        self.images.sweep()
        self.blobs.sweep()

    def _take_lock(self) -> None:
        fd = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(fd, 32).decode(errors="replace").strip() or "unknown"
            os.close(fd)
            raise StoreLocked(f"run {self.path} is being written by another process (pid {holder})") from None
        self._lock_fd = fd
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)

    def _unlock(self) -> None:
        if self._lock_fd is not None:
            os.close(self._lock_fd)
            self._lock_fd = None

    def _make(self) -> None:
        """Make database and manifest; the manifest comes last, so a folder with one is whole."""
        for files in (self.images, self.blobs):
            files.root.mkdir(exist_ok=True)
        db = sqlite3.connect(self.path / DATABASE)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(_SCHEMA)
        finally:
            db.close()
        manifest = {"format": FORMAT, "created": time.time(), "parameters": self._initial}
        temp = self.path / f".{MANIFEST}.tmp"
        temp.write_bytes(json.dumps(manifest, indent=2).encode())
        sync_path(temp)
        temp.rename(self.path / MANIFEST)
        sync_path(self.path)

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path / DATABASE, check_same_thread=False, timeout=30, isolation_level=None)
        with sound(self.path / DATABASE), needs_room(self.path, "opening the database", 64 << 10):
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA foreign_keys = ON")
            db.execute("PRAGMA synchronous = NORMAL")  # a commit outlives the process; see `finish` for power cuts
        return db

    @contextmanager
    def _transaction(self, what: str, size: int) -> Iterator[sqlite3.Connection]:
        """One atomic change of about `size` bytes. Raises StoreFull, after which the database is as before."""
        with self._mutex, sound(self.path / DATABASE), needs_room(self.path, what, size):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def begin(self, key: EpisodeKey, task: Task) -> None:
        """Open an episode; drops what an unfinished try left. Raises AlreadyFinished, StoreFull."""
        with self._mutex:
            blob = self.blobs.write(task.model_dump_json().encode())
            row = {
                **key.model_dump(),
                "id": key.id,
                "application": task.tags[0] if task.tags else "other",
                "instruction": task.instruction,
                "task_blob": blob,
                "started": time.time(),
            }
            with self._transaction(f"episode {key.id}", 4096) as db:
                found = db.execute("SELECT outcome FROM episodes WHERE id = ?", (key.id,)).fetchone()
                if found and found["outcome"] and Outcome.model_validate_json(found["outcome"]).final:
                    raise AlreadyFinished(f"episode {key} ({key.id}) of run {self.path} is finished already")
                db.execute("DELETE FROM episodes WHERE id = ?", (key.id,))
                _insert(db, "episodes", row, list(row.values()))

    def reopen(self, key: EpisodeKey) -> None:
        """Take back the end of an episode that carries no reward, in one transaction: it is unfinished again.

        What it recorded stays until `begin`. Raises UnknownEpisode, AlreadyFinished (it has a reward), StoreFull.
        """
        with self._transaction(f"reopening episode {key.id}", 4096) as db:
            self._check_unrewarded(db, key)
            db.execute(f"UPDATE episodes SET {', '.join(f'{name} = NULL' for name in _END)} WHERE id = ?", (key.id,))

    def judge(self, key: EpisodeKey, outcome: Outcome) -> None:
        """Give an episode that ended without a reward the outcome that a judge found, in one transaction.

        Raises UnknownEpisode, AlreadyFinished (it has a reward), StoreFull.
        """
        row = {"status": str(outcome.status), "reward": outcome.reward, "outcome": outcome.model_dump()}
        with self._transaction(f"the judgement of episode {key.id}", 4096) as db:
            self._check_unrewarded(db, key)
            columns = ", ".join(f"{name} = ?" for name in row)
            db.execute(f"UPDATE episodes SET {columns} WHERE id = ?", (*_encoded(row), key.id))

    def _check_unrewarded(self, db: sqlite3.Connection, key: EpisodeKey) -> None:
        found = db.execute("SELECT reward FROM episodes WHERE id = ?", (key.id,)).fetchone()
        if found is None:
            raise UnknownEpisode(f"episode {key} ({key.id}) of run {self.path} was not begun")
        if found["reward"] is not None:
            raise AlreadyFinished(f"episode {key} ({key.id}) of run {self.path} has its reward")

    def image(self, data: bytes, media_type: str) -> str:
        """Keep an encoded image; returns its content hash. Raises StoreFull, ValueError for another media type."""
        suffix = f".{media_type.removeprefix('image/')}"
        if suffix not in IMAGE_SUFFIXES:
            raise ValueError(f"images of type {media_type!r} are not kept; valid are image/png, image/jpeg, image/webp")
        with self._mutex:
            return self.images.write(data, suffix)

    def call(self, key: EpisodeKey, call: Call) -> None:
        """Keep a model call. Raises StoreError for an episode that is not open, StoreFull."""
        (problem,) = self.calls_at_once([(key, call)])
        if problem is not None:
            raise problem

    def calls_at_once(self, batch: Sequence[tuple[EpisodeKey, Call]]) -> list[StoreError | None]:
        """Keep calls of any episodes in one transaction; for each None, or why it was not kept. Raises StoreFull.

        A call that is not kept (its episode is not open, or has one of its index) keeps none of the others from it.
        """
        rows = [(key, _encoded({"episode": key.id, **call_row(call)})) for key, call in batch]
        size = sum(len(value) for _, row in rows for value in row if isinstance(value, str | bytes))
        problems: list[StoreError | None] = []
        with self._transaction(f"{len(rows)} model calls", size) as db:
            for key, row in rows:
                try:
                    self._check_open(db, key)
                    _insert(db, "calls", ("episode", *CALL_COLUMNS), row)
                except sqlite3.IntegrityError:
                    problems.append(StoreError(f"episode {key} ({key.id}) of run {self.path} has that call already"))
                except StoreError as problem:
                    problems.append(problem)
                else:
                    problems.append(None)
        return problems

    def unread(self, key: EpisodeKey, problem: str) -> None:
        """See Recorder. Raises StoreError for an episode that is not open, StoreFull."""
        with self._transaction(f"a note on a call of episode {key.id}", 4096) as db:
            self._check_open(db, key)
            latest = 'SELECT MAX("index") FROM calls WHERE episode = ?'
            db.execute(
                f'UPDATE calls SET unread = ? WHERE episode = ? AND "index" = ({latest})',
                (to_json(problem), key.id, key.id),
            )

    def step(self, key: EpisodeKey, step: Step) -> None:
        """Keep a step. Raises StoreError for an episode that is not open, StoreFull."""
        self._add("steps", key, step.model_dump())

    def state(self, key: EpisodeKey, snapshot: Snapshot, blobs: Mapping[str, bytes]) -> None:
        """Keep the final state, bytes by content hash. Raises StoreError for an episode that is not open, StoreFull."""
        with self._mutex:
            for name, data in blobs.items():
                self.blobs.write(data, name=name)
            self._add("states", key, {"snapshot_blob": self.blobs.write(to_json(snapshot.model_dump()).encode())})

    def finish(self, key: EpisodeKey, outcome: Outcome, last_frame: str | None, timings: Mapping[str, float]) -> None:
        """Close the episode with its outcome, in one transaction that is on the disk when this returns.

        Raises StoreError for an episode that is not open, StoreFull.
        """
        row = {
            "ended": time.time(),
            "status": str(outcome.status),
            "reward": outcome.reward,
            "outcome": outcome.model_dump(),
            "timings": dict(timings),
            "last_frame": last_frame,
        }
        with self._mutex:
            self.images.sync()
            self.blobs.sync()
            # The WAL is one file: syncing it at this commit syncs the episode's calls and steps with it.
            self._db.execute("PRAGMA synchronous = FULL")
            try:
                with self._transaction(f"the outcome of episode {key.id}", 4096) as db:
                    self._check_open(db, key)
                    columns = ", ".join(f"{name} = ?" for name in row)
                    db.execute(f"UPDATE episodes SET {columns} WHERE id = ?", (*_encoded(row), key.id))
            finally:
                self._db.execute("PRAGMA synchronous = NORMAL")

    def _add(self, table: str, key: EpisodeKey, row: dict[str, Any]) -> None:
        values = _encoded({"episode": key.id, **row})
        size = sum(len(v) for v in values if isinstance(v, str))
        with self._transaction(f"a record of episode {key.id} ({table})", size) as db:
            self._check_open(db, key)
            _insert(db, table, ["episode", *row], values)

    def _check_open(self, db: sqlite3.Connection, key: EpisodeKey) -> None:
        found = db.execute("SELECT status FROM episodes WHERE id = ?", (key.id,)).fetchone()
        if found is None:
            raise UnknownEpisode(f"episode {key} ({key.id}) of run {self.path} was not begun")
        if found["status"] is not None:
            raise AlreadyFinished(f"episode {key} ({key.id}) of run {self.path} has ended ({found['status']})")

    def close(self) -> None:
        """Close the database and let go of the run; safe to call twice."""
        super().close()
        self._unlock()


def _encoded(row: Mapping[str, Any]) -> list[Any]:
    return [to_json(v) if name in JSON_COLUMNS and v is not None else v for name, v in row.items()]


def _insert(db: sqlite3.Connection, table: str, names: Iterable[str], values: Sequence[Any]) -> None:
    columns = ", ".join(f'"{name}"' for name in names)
    db.execute(f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(values))})", values)
