"""Env: a world that can be reset to a task and stepped; and what of it verifiers may read.

Invariant: a policy's mistake comes back in `Observation.error`; an EnvError is always the world's own fault and
names the part that failed. One thread drives an env.
"""

from __future__ import annotations

import fnmatch
import time
from collections import ChainMap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, cast, runtime_checkable

from pydantic import BaseModel, ConfigDict

from guiforge.action import Action
from guiforge.frame import Frame, content_hash
from guiforge.task import Edit, OracleView, Task


class EnvError(Exception):
    """A fault of the world (never of the policy). `part` names what failed: `Xvfb`, `soffice`, `setup`, ..."""

    def __init__(self, part: str, message: str) -> None:
        super().__init__(f"{part}: {message}")
        self.part = part


class EnvTimeout(EnvError):
    """The world missed a deadline; the message says which."""


@dataclass(frozen=True)
class Observation:
    """What the agent sees after a step: the screen, and text where the world or the harness has a slot for it.

    error: what was wrong with the agent's actions (off the screen, unknown key, ...), naming the valid choices.
    text: an optional description beside the pixels (page title and URL, accessibility tree).
    instruction: of a reset, where the world itself words the task: the harness is given it in place of the task's.
    over: the world has ended the episode, nothing more can be done in it.
    """

    frame: Frame
    text: str = ""
    error: str | None = None
    instruction: str | None = None
    over: bool = False
    info: Mapping[str, Any] = field(default_factory=dict)


class CommandResult(BaseModel):
    """A finished command's exit status and output."""

    model_config = ConfigDict(frozen=True)
    code: int
    stdout: str
    stderr: str


class FileEntry(BaseModel):
    """One file of a state. `hash` is the content hash of its bytes (of the target's text for a symbolic link)."""

    model_config = ConfigDict(frozen=True)
    hash: str
    size: int
    mode: int
    mtime: float
    link: str | None = None


class StateMissing(FileNotFoundError):
    """The state has no such file: for a verifier mostly a reason to score 0, not a fault."""


class StateReader(Protocol):
    """What a verifier may read of a world: files by `~/` path, named queries, and the results of the task's commands.

    Identical live, stored or remote: a verifier starts nothing, and what it reads can be read again.
    """

    def read(self, path: str) -> bytes:
        """A file's bytes. Raises StateMissing."""
        ...

    def files(self, pattern: str = "~/*") -> dict[str, FileEntry]:
        """Files whose path matches the glob (`*` crosses slashes), by path, sorted."""
        ...

    def before(self) -> dict[str, FileEntry]:
        """The files as they were when the agent started."""
        ...

    def read_before(self, path: str) -> bytes:
        """A site's file as it was when the agent started (of others the bytes are not kept). Raises StateMissing."""
        ...

    def query(self, name: str) -> Any:
        """A named fact of the world as JSON (`windows`, `processes`, ...). Raises KeyError naming valid ones."""
        ...

    def command(self, name: str) -> CommandResult:
        """The result of one of the task's commands. Raises KeyError for one that it does not have."""
        ...


class Snapshot(BaseModel):
    """A final state as it is stored: file entries by path (bytes lie in the store by hash) and answered queries."""

    model_config = ConfigDict(frozen=True)
    before: dict[str, FileEntry]
    after: dict[str, FileEntry]
    queries: dict[str, Any] = {}


@dataclass(frozen=True)
class Final:
    """What a verifier judges: the final state, and how the agent ended.

    end: the action that ended the episode, or None at a limit. steps: how many steps were taken.
    """

    state: StateReader
    end: Action | None
    steps: int = 0


@runtime_checkable
class Env(Protocol):
    """A world. Synchronous; one thread or process an episode. `step` takes the actions of one reply."""

    name: str

    def reset(self, task: Task) -> Observation:
        """Set the task's world up from nothing and show it. Raises EnvError, EnvTimeout."""
        ...

    def step(self, *actions: Action) -> Observation:
        """Carry actions out in order, settle once, and show the screen; stops at the first that is refused.

        Raises EnvError where the world broke.
        """
        ...

    def snapshot(self) -> tuple[Snapshot, Mapping[str, bytes]]:
        """The final state (applications of `task.flush` asked to quit first) and the bytes of its files by hash."""
        ...

    def oracle_view(self) -> OracleView:
        """What an oracle may look at."""
        ...

    def timings(self) -> dict[str, float]:
        """Seconds by phase since the last reset began (`reset`, `act`, `settle`, `capture`, ...)."""
        ...

    def close(self) -> None:
        """End everything this env started and remove its files; safe to call twice, and after any failure."""
        ...


class Timings:
    """Seconds by phase, accumulated."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time spent inside to `name`."""
        start = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - start


class SnapshotState:
    """A StateReader over a Snapshot and its files' bytes by hash (a mapping that may load them on demand)."""

    def __init__(self, snapshot: Snapshot, blobs: Mapping[str, bytes]) -> None:
        self.snapshot, self.blobs = snapshot, blobs

    def read(self, path: str) -> bytes:
        """See StateReader."""
        return self._read(self.snapshot.after, path, "final")

    def read_before(self, path: str) -> bytes:
        """See StateReader."""
        return self._read(self.snapshot.before, path, "first")

    def files(self, pattern: str = "~/*") -> dict[str, FileEntry]:
        """See StateReader."""
        return {p: e for p, e in sorted(self.snapshot.after.items()) if fnmatch.fnmatchcase(p, pattern)}

    def before(self) -> dict[str, FileEntry]:
        """See StateReader."""
        return dict(self.snapshot.before)

    def query(self, name: str) -> Any:
        """See StateReader."""
        if name not in self.snapshot.queries:
            raise KeyError(f"no query {name!r} in this state; it has: {', '.join(sorted(self.snapshot.queries))}")
        return self.snapshot.queries[name]

    def command(self, name: str) -> CommandResult:
        """See StateReader."""
        return CommandResult.model_validate(self.query("commands")[name])

    def _read(self, entries: Mapping[str, FileEntry], path: str, which: str) -> bytes:
        entry = entries.get(path)
        if entry is None or entry.link is not None or entry.hash not in self.blobs:
            raise StateMissing(f"no file {path} in the {which} state")
        return self.blobs[entry.hash]


def edited(snapshot: Snapshot, blobs: Mapping[str, bytes], edits: Mapping[str, Edit]) -> SnapshotState:
    """The state with files replaced (bytes, or a function of the present ones) or removed (None).

    It is how solutions and near misses are tested. Raises KeyError for a function of a file that there is not.
    """
    after, fresh = dict(snapshot.after), dict[str, bytes]()
    for path, edit in edits.items():
        if edit is None:
            after.pop(path, None)
        else:
            data = edit(blobs[after[path].hash]) if callable(edit) else edit
            name = content_hash(data)
            fresh[name] = data
            after[path] = FileEntry(hash=name, size=len(data), mode=0o644, mtime=0.0)
    return SnapshotState(snapshot.model_copy(update={"after": after}), ChainMap(fresh, cast("dict[str, bytes]", blobs)))


def state_of_files(files: Mapping[str, bytes], **queries: Any) -> tuple[Snapshot, dict[str, bytes]]:
    """A Snapshot whose before and after are these files: a family's first state without a desktop, for tests."""
    blobs = {content_hash(data): data for data in files.values()}
    entries = {
        path: FileEntry(hash=content_hash(data), size=len(data), mode=0o644, mtime=0.0) for path, data in files.items()
    }
    return Snapshot(before=entries, after=entries, queries=queries), blobs
