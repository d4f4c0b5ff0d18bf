"""Content-addressed files: `ab/<hash><suffix>`, written whole or not at all.

Invariant: a file under its name is complete (it was renamed there), and a read that does not match its name raises.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path

from guiforge.frame import content_hash
from guiforge.store.errors import Damaged, needs_room

_TEMP = ".tmp"


def sync_path(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class Files:
    """One folder of content-addressed files; `suffixes` are the endings that a name may have."""

    def __init__(self, root: Path, *, suffixes: tuple[str, ...] = ("",), compress: bool = False) -> None:
        self.root, self.suffixes, self.compress = root, suffixes, compress
        self._written: set[str] = set()
        self._unsynced: set[Path] = set()

    def __contains__(self, name: str) -> bool:
        return self._find(name) is not None

    def path(self, name: str) -> Path:
        """Where the file of a content hash lies. Raises Damaged when it is not there."""
        path = self._find(name)
        if path is None:
            raise Damaged(f"{self.root} has no file {name}")
        return path

    def _find(self, name: str) -> Path | None:
        places = (self.root / name[:2] / f"{name}{suffix}" for suffix in self.suffixes)
        return next((path for path in places if path.exists()), None)

    def read(self, name: str) -> bytes:
        """The bytes of a content hash, checked. Raises Damaged."""
        path = self.path(name)
        try:
            data = zlib.decompress(path.read_bytes()) if self.compress else path.read_bytes()
        except zlib.error as error:
            raise Damaged(f"{path} is damaged: {error}") from error
        if content_hash(data) != name:
            raise Damaged(f"{path} is damaged: its bytes have another hash than its name says")
        return data

    def write(self, data: bytes, suffix: str = "", name: str | None = None) -> str:
        """Keep bytes under their content hash (`name`, where known already) and return it. Raises StoreFull.

        Files of an earlier process are written anew once: cheaper than reading them to trust them.
        """
        name = name or content_hash(data)
        if name in self._written:
            return name
        folder = self.root / name[:2]
        path = folder / f"{name}{suffix}"
        temp = folder / f".{name}{_TEMP}"
        stored = zlib.compress(data, 1) if self.compress else data
        with needs_room(self.root, f"file {path.name}", len(stored)):
            folder.mkdir(parents=True, exist_ok=True)
            try:
                temp.write_bytes(stored)
                temp.rename(path)
            except OSError:
                temp.unlink(missing_ok=True)
                raise
        self._written.add(name)
        self._unsynced.add(path)
        return name

    def sync(self) -> None:
        """Flush to the disk what was written since the last sync, names included. Raises StoreFull."""
        with needs_room(self.root, "flushing files", 0):
            folders = {path.parent for path in self._unsynced}
            for path in (*self._unsynced, *folders, *([self.root] if folders else [])):
                sync_path(path)
        self._unsynced.clear()

    def sweep(self) -> None:
        """Remove what a killed writer left half-written. Only the holder of the run's lock may."""
        for temp in self.root.glob(f"??/.*{_TEMP}"):
            temp.unlink(missing_ok=True)
