"""Site: one web application, told how it is installed, filled, started, seeded for a task, and read.

Invariant: a site's data is one directory that can be copied while no server runs, holds no path of where it lies,
and is all that its users can change.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar

RUN_S = 900.0  # the longest that a command of an installation may take
IMAGES = Path(__file__).parents[3] / "images" / "sites"  # a site's requirements and programs: NAME.* and NAME/

Row = dict[str, Any]  # column -> JSON value
Tables = dict[str, dict[str, Row]]  # table -> row key -> row


class Site(ABC):
    """A web application that is served to the browser as http://NAME.test/.

    restart: whether its server must be started anew to see a replaced copy of its data.
    ready: a path that answers once the server is up (asking for it also warms it).
    requirements: what pip installs into the site's own environment, pinned.
    programs: programs of the system that it needs, each with the Debian package that has it.
    """

    name: str
    restart: bool = True
    ready: str = "/"
    requirements: tuple[str, ...] = ()
    programs: ClassVar[dict[str, str]] = {}

    def install(self, root: Path) -> None:
        """Put the application into `root`, an empty directory that stays where it is. Raises SiteBroken."""
        if self.requirements:
            make_venv(root / "venv", self.requirements)

    @abstractmethod
    def build(self, root: Path, data: Path) -> None:
        """Fill the empty directory `data`, the same each time. Raises SiteBroken."""

    @abstractmethod
    def argv(self, root: Path, data: Path, port: int) -> list[str]:
        """The server's command: in the foreground, on 127.0.0.1:port. `data` is its own to write, `root` is not."""

    def environ(self, root: Path, data: Path) -> dict[str, str]:
        """The server's environment, on top of PATH, HOME, LANG, TMPDIR and TZ."""
        return {}

    @abstractmethod
    def seed(self, data: Path, records: Any) -> None:
        """Put a task's records into a fresh copy of the base data; None are none. No server runs, or minds."""

    @abstractmethod
    def dump(self, data: Path) -> Tables:
        """What a site's user can change, without what a mere visit changes; the server may be running."""


class SiteBroken(Exception):
    """A site can't be installed or its base data made; the text says what was said."""


def make_venv(path: Path, requirements: Sequence[str]) -> None:
    """A Python environment at `path` with these packages. Raises SiteBroken."""
    run([getattr(sys, "_base_executable", sys.executable), "-m", "venv", path])
    run([path / "bin/pip", "install", "-q", "--disable-pip-version-check", *requirements])


def run(argv: Sequence[str | Path], **more: Any) -> str:
    """A command's standard output; `env` is added to ours, `input` is text. Raises SiteBroken with what it said.

    One that takes longer than RUN_S is ended.
    """
    env = {**os.environ, "PYTHONHASHSEED": "0", "TZ": "UTC", **more.pop("env", {})}
    try:
        done = subprocess.run(
            list(map(str, argv)), capture_output=True, text=True, env=env, check=False, timeout=RUN_S, **more
        )
    except OSError as problem:
        raise SiteBroken(f"{argv[0]}: {problem.strerror}") from problem
    except subprocess.TimeoutExpired as late:
        raise SiteBroken(f"{' '.join(map(str, argv))} did not end within {RUN_S:g} s") from late
    if done.returncode:
        said = (done.stdout + done.stderr).strip()[-2000:]
        raise SiteBroken(f"{' '.join(map(str, argv))} ended with status {done.returncode}: {said}")
    return str(done.stdout)


def copy_tree(source: Path, target: Path) -> None:
    """`source` as the new directory `target`: blocks shared where the file system can."""
    run(["cp", "-r", "--preserve=mode,timestamps,links", "--reflink=auto", f"{source}/.", target])


def remove_tree(path: Path) -> None:
    """Remove a directory, if it is there."""
    shutil.rmtree(path, ignore_errors=True)


@contextmanager
def database(path: Path, *, write: bool = False) -> Iterator[sqlite3.Connection]:
    """A site's SQLite database, rows by column name; with `write` committed where the block ends well."""
    connection = sqlite3.connect(f"file:{path}?mode={'rw' if write else 'ro'}", uri=True, timeout=10)
    connection.row_factory = sqlite3.Row
    try:
        with connection:
            yield connection
    finally:
        connection.close()


def rows_of(connection: sqlite3.Connection, query: str, key: str = "id") -> dict[str, Row]:
    """A query's rows by the value of their column `key`, which is left out of them."""
    found = {}
    for row in connection.execute(query):
        columns = dict(row)
        found[str(columns.pop(key))] = columns
    return found


def others_of(connection: sqlite3.Connection, known: str) -> dict[str, Row]:
    """Of each table that is not `known`, how many rows it has and a digest of them: so no change goes unseen.

    known: names and patterns (`order_*`), of tables that are dumped, that follow from those, or that a visit changes.
    """
    patterns = known.split()
    found: dict[str, Row] = {}
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
        if name.startswith("sqlite_") or any(fnmatchcase(name, pattern) for pattern in patterns):
            continue
        rows = sorted(repr(tuple(row)) for row in connection.execute(f'SELECT * FROM "{name}"'))
        found[name] = {"rows": len(rows), "sha1": hashlib.sha1("\n".join(rows).encode()).hexdigest()}
    return found
