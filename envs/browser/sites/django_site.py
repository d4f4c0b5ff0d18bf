"""DjangoSite: a site whose application is a Django project of images/sites/NAME/, on one SQLite file.

Invariant: the server keeps nothing of the data in its memory (connections end with their request, caches are dummies),
so that a replaced copy is seen at once. Everybody who comes is signed in as `user`.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envs.browser.sites.site import Site, database, run

IMAGES = Path(__file__).parents[3] / "images" / "sites"
CLOCK = "2025-03-03 09:00:00"  # when a task's own records were made, where nothing else is said
_DATABASE = "db.sqlite3"
_NEUTRAL = {"datetime": CLOCK, "date": CLOCK[:10], "varchar": "", "text": "", "char": ""}  # by type; else 0


class DjangoSite(Site):
    """A project with `settings.py`, `wsgi.py` and `fill.py`, which fills a new database from `base()` as JSON.

    user: the name that the server gives every request.
    """

    restart = False
    user: str

    def base(self) -> Any:
        """What `fill.py` is given."""
        raise NotImplementedError

    def install(self, root: Path) -> None:
        """See Site. The project is copied, compiled, and its static files are gathered."""
        super().install(root)
        project = root / "project"
        shutil.copytree(IMAGES / self.name, project, ignore=shutil.ignore_patterns("__pycache__"))
        python, environ = root / "venv/bin/python", self.environ(root, root)
        run([python, "-m", "compileall", "-q", project])
        run([python, "-m", "django", "collectstatic", "--noinput", "-v", "0"], env=environ)

    def build(self, root: Path, data: Path) -> None:
        """See Site."""
        script = root / "project" / "fill.py"
        run([root / "venv/bin/python", script], env=self.environ(root, data), input=json.dumps(self.base()))

    def argv(self, root: Path, data: Path, port: int) -> list[str]:
        """See Site."""
        server = [str(root / "venv/bin/python"), "-m", "waitress", f"--listen=127.0.0.1:{port}", "--threads=8"]
        return [*server, "wsgi:application"]

    def environ(self, root: Path, data: Path) -> dict[str, str]:
        """See Site."""
        return {
            "DJANGO_SETTINGS_MODULE": "settings",
            "PYTHONPATH": str(root / "project"),
            "SITE_DATA": str(data),
            "SITE_ROOT": str(root),
            "SITE_USER": self.user,
        }

    def open(self, data: Path, *, write: bool = False) -> Any:
        """The site's database, as `site.database` gives it."""
        return database(data / _DATABASE, write=write)


def insert(base: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> int:
    """Insert a row, with neutral values in the columns that must have one and are not named; gives its number."""
    values = dict(row)
    for _, column, kind, needed, default, is_key in base.execute(f"PRAGMA table_info({table})"):
        if needed and not is_key and default is None and column not in values:
            values[column] = _NEUTRAL.get(kind.lower().partition("(")[0], 0)
    marks = ", ".join("?" * len(values))
    done = base.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", tuple(values.values()))
    assert done.lastrowid is not None
    return done.lastrowid
