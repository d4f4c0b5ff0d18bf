"""State: a world's HOME as set-up writes it and verifiers read it.

Invariant: HOME belongs to the agent, so nothing in it is trusted: no symbolic link is followed, nothing but regular
files is opened, and what is read has a bound. Paths start with `~/`.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from guiforge.env import CommandResult, EnvError, FileEntry, Snapshot, StateMissing
from guiforge.frame import content_hash

MAX_FILE_BYTES = 64 << 20
MAX_TOTAL_BYTES = 512 << 20
MAX_NAMES = 20_000  # files and directories
MAX_CHARACTERS = 4 << 20  # of all their paths
MAX_DEPTH = 64
# What no state holds: caches, and what a desktop's own parts keep. Below HOME, or a directory's name anywhere.
EXCLUDED = (".cache", ".dbus", ".local/share/gvfs-metadata", ".config/openbox")
EXCLUDED_NAMES = (
    "Cache", "Code Cache", "GPUCache", "DawnGraphiteCache", "DawnWebGPUCache", "GrShaderCache", "GraphiteDawnCache",
    "ShaderCache", "component_crx_cache", "extensions_crx_cache", "Crash Reports", "Crashpad", "BrowserMetrics",
    "optimization_guide_model_store", "Safe Browsing", "segmentation_platform",
)  # fmt: skip
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Home:
    """A HOME directory at `root`. `own` gives what is written to its user; `mtime` is given to all that is written."""

    def __init__(self, root: Path, own: Callable[[int], None], mtime: float) -> None:
        self.root, self._own, self._mtime = root, own, mtime

    def read(self, path: str) -> bytes:
        """A regular file's bytes. Raises StateMissing for anything else, and beyond MAX_FILE_BYTES."""
        *parents, name = _parts(path)
        try:
            with self._directory(parents) as directory:
                data = _read(directory, name)
        except OSError as problem:
            raise StateMissing(f"no file {path}: {problem.strerror}") from problem
        if data is None:
            raise StateMissing(f"{path} is no regular file of at most {MAX_FILE_BYTES >> 20} MB")
        return data

    def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Write a file, its directories made. Raises EnvError."""
        *parents, name = _parts(path)
        try:
            with self._directory(parents, make=True) as directory:
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                with os.fdopen(os.open(name, flags, mode, dir_fd=directory), "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fchmod(file.fileno(), mode)
                    self._finish(file.fileno())
                self._finish(directory)
        except OSError as problem:
            raise EnvError("setup", f"can't write {path}: {problem.strerror}") from problem

    def make_dir(self, path: str) -> None:
        """Make a directory and its parents. Raises EnvError."""
        try:
            with self._directory(_parts(path), make=True):
                pass
        except OSError as problem:
            raise EnvError("setup", f"can't make {path}: {problem.strerror}") from problem

    def scan(self, blobs: dict[str, bytes] | None = None) -> tuple[dict[str, FileEntry], list[str]]:
        """Entries of all files and links by path, and the paths that were left out since they pass a bound.

        Bytes are put into `blobs` by content hash. Bytes of a name that are no UTF-8 stand as `\\xff`.
        """
        found: dict[str, FileEntry] = {}
        left_out: list[str] = []
        seen, characters, total = 0, 0, 0
        for where, directories, files, directory in os.fwalk(self.root, follow_symlinks=False):
            below = Path(where).relative_to(self.root)
            directories[:] = sorted(d for d in directories if not _excluded(below / d))
            too_deep = set(directories) if len(below.parts) >= MAX_DEPTH else set()
            for name in sorted([*files, *directories]):
                path = _path(below / name)
                seen, characters = seen + 1, characters + len(path)
                if seen > MAX_NAMES or characters > MAX_CHARACTERS:
                    return dict(sorted(found.items())), [*left_out, path, "and what comes after it"]
                entry, data = _entry(directory, name)
                if entry is None:
                    if name in too_deep:
                        left_out.append(path)
                    continue
                if data is None or total + len(data) > MAX_TOTAL_BYTES:
                    left_out.append(path)
                    continue
                total += len(data)
                found[path] = entry
                if blobs is not None and entry.link is None:
                    blobs[entry.hash] = data
            if too_deep:
                directories.clear()
        return dict(sorted(found.items())), left_out

    def _finish(self, fd: int) -> None:
        self._own(fd)
        os.utime(fd, (self._mtime, self._mtime))

    @contextmanager
    def _directory(self, parts: list[str], *, make: bool = False) -> Iterator[int]:
        """A descriptor of a directory below HOME, reached without following a link."""
        directory = os.open(self.root, _DIRECTORY)
        try:
            for part in parts:
                made = False
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(part, 0o755, dir_fd=directory)
                        made = True
                below = os.open(part, _DIRECTORY, dir_fd=directory)
                if made:
                    self._finish(below)
                    self._finish(directory)
                os.close(directory)
                directory = below
            yield directory
        finally:
            os.close(directory)


class LiveState:
    """A StateReader of a world that still runs. `queries`: how each named fact is found out.

    tables: what else than HOME's there is as files, by path.  kept: what of it there was when the agent started.
    """

    def __init__(
        self,
        home: Home,
        before: Mapping[str, FileEntry],
        queries: Mapping[str, Callable[[], Any]],
        tables: Callable[[], Mapping[str, bytes]] = dict,
        kept: Mapping[str, bytes] | None = None,
    ) -> None:
        self._home, self._before, self._queries, self._tables, self._kept = home, before, queries, tables, kept or {}

    def read(self, path: str) -> bytes:
        """See StateReader."""
        if path.startswith("~/"):
            return self._home.read(path)
        return _found(self._tables(), path, "in this state")

    def files(self, pattern: str = "~/*") -> dict[str, FileEntry]:
        """See StateReader."""
        entries, _ = self._home.scan()
        entries |= table_entries(self._tables())
        return {path: entry for path, entry in sorted(entries.items()) if fnmatch.fnmatchcase(path, pattern)}

    def before(self) -> dict[str, FileEntry]:
        """See StateReader."""
        return dict(self._before)

    def read_before(self, path: str) -> bytes:
        """See StateReader."""
        return _found(self._kept, path, "whose bytes were kept of the first state")

    def query(self, name: str) -> Any:
        """See StateReader."""
        if name not in self._queries:
            raise KeyError(f"no query {name!r} in this state; it has: {', '.join(sorted(self._queries))}")
        return self._queries[name]()

    def command(self, name: str) -> CommandResult:
        """See StateReader."""
        return CommandResult.model_validate(self.query("commands")[name])


def table_entries(tables: Mapping[str, bytes]) -> dict[str, FileEntry]:
    """Entries, by path, of what is no file on a disk."""
    return {
        path: FileEntry(hash=content_hash(data), size=len(data), mode=0o644, mtime=0.0) for path, data in tables.items()
    }


def take_snapshot(
    home: Home,
    before: Mapping[str, FileEntry],
    answers: Mapping[str, Any],
    tables: Mapping[str, bytes] | None = None,
    kept: Mapping[str, bytes] | None = None,
) -> tuple[Snapshot, dict[str, bytes]]:
    """The state as it is now, with facts already asked for, and its files' bytes by hash; `tables`, `kept` as above.

    Query `left_out` names the files that pass a bound: to a verifier they are missing.
    """
    blobs: dict[str, bytes] = {content_hash(data): data for each in (tables, kept) for data in (each or {}).values()}
    after, left_out = home.scan(blobs)
    after |= table_entries(tables or {})
    return Snapshot(before=dict(before), after=after, queries={**answers, "left_out": left_out}), blobs


def _found(files: Mapping[str, bytes], path: str, where: str) -> bytes:
    if path not in files:
        raise StateMissing(f"no file {path} {where}")
    return files[path]


def _parts(path: str) -> list[str]:
    """A `~/` path's parts. Raises EnvError for another, and for one that leads out of HOME."""
    parts = [part for part in path.removeprefix("~/").split("/") if part not in ("", ".")]
    if not path.startswith("~/") or not parts or ".." in parts:
        raise EnvError("setup", f"path {path!r}; valid are paths below HOME that start with ~/")
    return parts


def _path(below: Path) -> str:
    return "~/" + os.fsencode(below).decode(errors="backslashreplace")


def _excluded(path: Path) -> bool:
    return str(path) in EXCLUDED or path.name in EXCLUDED_NAMES


def _read(directory: int, name: str) -> bytes | None:
    """A regular file's bytes, None for another kind or beyond the bound. Raises OSError."""
    # a FIFO or a device would block; the kind is asked of what was opened, so that none can be put in its place
    fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY, dir_fd=directory)
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        data = file.read(MAX_FILE_BYTES + 1)
    return data if len(data) <= MAX_FILE_BYTES else None


def _entry(directory: int, name: str) -> tuple[FileEntry | None, bytes | None]:
    """The entry of a file or link and its bytes (None where they can't be had); no entry for any other kind."""
    try:
        info = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:  # it went meanwhile
        return None, None
    link, data = None, None
    with contextlib.suppress(OSError):
        if stat.S_ISLNK(info.st_mode):
            data = os.fsencode(os.readlink(name, dir_fd=directory))
            link = data.decode(errors="backslashreplace")
        elif stat.S_ISREG(info.st_mode):
            data = _read(directory, name)
        else:
            return None, None
    mode = stat.S_IMODE(info.st_mode)
    entry = FileEntry(hash=content_hash(data or b""), size=info.st_size, mode=mode, mtime=info.st_mtime, link=link)
    return entry, data
