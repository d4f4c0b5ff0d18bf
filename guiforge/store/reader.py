"""RunReader: what a run recorded, read-only, also while it goes on.

Invariant: reading never changes a run, and never waits for its writer.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from guiforge.env import Snapshot
from guiforge.outcome import Outcome
from guiforge.store.calls import call_of
from guiforge.store.errors import NotARun, StoreError, UnknownEpisode, WrongFormat, sound
from guiforge.store.files import Files
from guiforge.task import Task
from guiforge.trace import Call, EpisodeKey, Step

FORMAT = 2
MANIFEST, DATABASE, LOCK = "run.json", "run.db", "run.lock"
IMAGE_SUFFIXES = (".png", ".jpeg", ".webp")
# JSON also for what a model or a program wrote: it may hold lone surrogates, which SQLite's TEXT can't.
JSON_COLUMNS = frozenset(
    {
        "request", "sampling", "message", "error", "unread", "usage", "idempotency_key", "upstream", "policy_version",
        "finish_reason", "text", "cursor", "actions", "timings", "outcome",
    }
)  # fmt: skip


@dataclass(frozen=True)
class EpisodeRecord:
    """One episode of a run. `outcome`, `ended`: None while it runs, or when its run was killed.

    application: the task's first tag. started, ended: Unix seconds. timings: seconds by phase.
    """

    id: str
    key: EpisodeKey
    application: str
    instruction: str
    started: float
    ended: float | None
    outcome: Outcome | None
    timings: dict[str, float]
    last_frame: str | None

    @property
    def status(self) -> str:
        """The outcome's status, or `unfinished`."""
        return str(self.outcome.status) if self.outcome else "unfinished"


class Blobs(Mapping[str, bytes]):
    """The files of a final state, and what was kept of the first, by content hash; each read when it is asked for."""

    def __init__(self, files: Files, names: frozenset[str]) -> None:
        self._files, self._names = files, names

    def __getitem__(self, name: str) -> bytes:
        if name not in self._names:
            raise KeyError(name)
        return self._files.read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._names))

    def __len__(self) -> int:
        return len(self._names)


def is_run(path: Path) -> bool:
    """Whether the folder holds a run."""
    return (path / MANIFEST).is_file()


class RunReader:
    """A run's episodes, calls, steps, states and images. Usable from any thread.

    Raises NotARun for a folder that is no run, WrongFormat for one of another format version; it and all that is read
    raise StoreError for a database that is damaged.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).resolve()
        self._mutex = threading.RLock()
        self.images = Files(self.path / "images", suffixes=IMAGE_SUFFIXES)
        self.blobs = Files(self.path / "blobs", compress=True)
        self._prepare()
        self.manifest = read_manifest(self.path)
        self._db = self._connect()
        self._db.row_factory = sqlite3.Row

    def _prepare(self) -> None:
        """What a writer does before the folder is read."""

    def _connect(self) -> sqlite3.Connection:
        database = self.path / DATABASE
        # A finished run on a read-only disk can't get the shared memory that WAL readers use, nor does it need it.
        frozen = not os.access(self.path, os.W_OK) and not database.with_name(f"{DATABASE}-wal").exists()
        uri = f"file:{quote(str(database))}?mode=ro{'&immutable=1' if frozen else ''}"
        with sound(database):
            return sqlite3.connect(uri, uri=True, check_same_thread=False, timeout=30, isolation_level=None)

    @property
    def parameters(self) -> dict[str, Any]:
        """What the run was started with."""
        return dict(self.manifest["parameters"])

    def _rows(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        with self._mutex, sound(self.path / DATABASE):
            return self._db.execute(sql, values).fetchall()

    def episodes(self) -> list[EpisodeRecord]:
        """All episodes, in the order in which they were begun."""
        return [_episode(row) for row in self._rows("SELECT * FROM episodes ORDER BY rowid")]

    def episode(self, id: str | EpisodeKey) -> EpisodeRecord:
        """One episode by its key, its id, or an unambiguous beginning of its id. Raises UnknownEpisode."""
        prefix = id.id if isinstance(id, EpisodeKey) else id
        rows = self._rows("SELECT * FROM episodes WHERE substr(id, 1, ?) = ? ORDER BY id", len(prefix), prefix)
        if len(rows) == 1:
            return _episode(rows[0])
        if rows:
            raise UnknownEpisode(
                f"{len(rows)} episodes of {self.path} begin with {prefix!r}: {_some([row['id'] for row in rows])}"
            )
        known = [row["id"] for row in self._rows("SELECT id FROM episodes ORDER BY rowid")]
        raise UnknownEpisode(f"run {self.path} has no episode {prefix!r}; it has {_some(known)}")

    def finished_keys(self) -> set[EpisodeKey]:
        """Episodes that a resumed run keeps: those whose outcome is final."""
        return {e.key for e in self.episodes() if e.outcome is not None and e.outcome.final}

    def outcome(self, key: EpisodeKey) -> Outcome | None:
        """How an episode ended, or None while it runs. Raises UnknownEpisode."""
        return self.episode(key).outcome

    def task(self, key: EpisodeKey) -> Task:
        """The task as the episode played it. Raises UnknownEpisode."""
        rows = self._rows("SELECT task_blob FROM episodes WHERE id = ?", self.episode(key).id)
        return Task.model_validate_json(self.blobs.read(rows[0]["task_blob"]))

    def calls(self, key: EpisodeKey) -> list[Call]:
        """An episode's model calls, in order."""
        return [call_of(row, _decoded) for row in self._records("calls", key)]

    def steps(self, key: EpisodeKey) -> list[Step]:
        """An episode's steps, in order."""
        rows = self._records("steps", key)
        return [Step.model_validate({name: _decoded(row, name) for name in Step.model_fields}) for row in rows]

    def _records(self, table: str, key: EpisodeKey) -> list[sqlite3.Row]:
        return self._rows(f'SELECT * FROM {table} WHERE episode = ? ORDER BY "index"', key.id)

    def snapshot(self, key: EpisodeKey) -> tuple[Snapshot, Blobs]:
        """The final state of an episode, its files read lazily. Raises UnknownEpisode where none was kept."""
        rows = self._rows("SELECT snapshot_blob FROM states WHERE episode = ?", key.id)
        if not rows:
            raise UnknownEpisode(f"run {self.path} kept no final state of {key} ({key.id})")
        snapshot = Snapshot.model_validate(json.loads(self.blobs.read(rows[0]["snapshot_blob"])))
        names = {entry.hash for entry in snapshot.after.values() if entry.link is None}
        names |= {entry.hash for entry in snapshot.before.values() if entry.hash in self.blobs}  # some were kept
        return snapshot, Blobs(self.blobs, frozenset(names))

    def image_bytes(self, hash: str) -> bytes:
        """An encoded image by its content hash. Raises Damaged."""
        return self.images.read(hash)

    def image_path(self, hash: str) -> Path:
        """The file of an image. Raises Damaged where there is none."""
        return self.images.path(hash)

    def close(self) -> None:
        """Close the database; safe to call twice."""
        with self._mutex:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


def read_manifest(path: Path) -> dict[str, Any]:
    """The content of `run.json`. Raises NotARun, WrongFormat."""
    if not path.is_dir():
        what = "it is a file; name the folder that holds it" if path.exists() else "there is no such folder"
        raise NotARun(f"{path} is no run folder: {what}")
    if not is_run(path):
        raise NotARun(f"{path} is no run folder: it has no {MANIFEST}")
    try:
        manifest: dict[str, Any] = json.loads((path / MANIFEST).read_bytes())
        version, _ = manifest["format"], manifest["parameters"]
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"{path / MANIFEST}, what the run was started with, is damaged ({error!r}): put back a copy of it, or play "
            "the run again in another folder"
        ) from error
    if version != FORMAT:
        raise WrongFormat(f"run {path} has format {version}; this version of guiforge reads format {FORMAT}")
    if not (path / DATABASE).is_file():
        raise StoreError(f"run {path} has lost its database {DATABASE}")
    return manifest


def _decoded(row: sqlite3.Row, name: str) -> Any:
    value = row[name]
    return json.loads(value) if name in JSON_COLUMNS and value is not None else value


def to_json(value: Any) -> str:
    """JSON text that is valid UTF-8 and reads back equal, lone surrogates included."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if _is_utf8(text) else json.dumps(value, separators=(",", ":"))


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _episode(row: sqlite3.Row) -> EpisodeRecord:
    outcome = _decoded(row, "outcome")
    return EpisodeRecord(
        id=row["id"],
        key=EpisodeKey(**{name: row[name] for name in EpisodeKey.model_fields}),
        application=row["application"],
        instruction=row["instruction"],
        started=row["started"],
        ended=row["ended"],
        outcome=None if outcome is None else Outcome.model_validate(outcome),
        timings=_decoded(row, "timings") or {},
        last_frame=row["last_frame"],
    )


def _some(names: list[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "") or "none"
