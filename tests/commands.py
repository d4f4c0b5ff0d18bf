"""The `guiforge` command in a process of its own, with the world small enough to break (tests/plugins) on its path."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from guiforge.store import RunReader

PLUGINS = Path(__file__).parent / "plugins"
GUIFORGE = [sys.executable, "-c", "from guiforge.cli import main; main()"]


def environment(*paths: Path) -> dict[str, str]:
    """The environment in which `paths` and the fault world come first on Python's path."""
    found = [*map(str, paths), str(PLUGINS), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, found)), "COLUMNS": "200"}


def guiforge(folder: Path, *arguments: object, paths: Sequence[Path] = ()) -> subprocess.CompletedProcess[str]:
    """`guiforge` with arguments, run in a folder to its end."""
    return subprocess.run(
        [*GUIFORGE, *map(str, arguments)], cwd=folder, env=environment(*paths), capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip


def started(folder: Path, *arguments: object, **env: str) -> subprocess.Popen[str]:
    """`guiforge` with arguments, started in a folder; its standard output is a pipe."""
    return subprocess.Popen(
        [*GUIFORGE, *map(str, arguments)], cwd=folder, env={**environment(), **env}, stdout=subprocess.PIPE, text=True
    )


def rolled(run: Path) -> dict[str, tuple[str, float | None]]:
    """Status and end by episode id."""
    with RunReader(run) as reader:
        return {e.id: (e.status, e.ended) for e in reader.episodes()}
