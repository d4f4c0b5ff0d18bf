"""A site that says what its server can see and do, for the tests of what runs sites."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from envs.browser.sites import cache, live
from envs.browser.sites.site import Site, Tables
from guiforge.task import OpenPage, StartSite, Task

SERVER = """
import http.server, json, os, socket, sys, time
from pathlib import Path
data, port, root = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])

def attempt(do):
    try:
        return str(do())
    except OSError as problem:
        return type(problem).__name__

def connect(port):
    return socket.create_connection(("127.0.0.1", int(port)), 1)

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = "<title>Probe</title><h1>Probe</h1>"
        if self.path.startswith("/slow"):
            time.sleep(float(self.path[6:] or 0.6))
            (data / "notes.json").write_text(json.dumps({"1": {"text": "late"}}))
        if self.path.startswith("/note?"):
            (data / "notes.json").write_text(json.dumps({"1": {"text": self.path[6:]}}))
        if self.path.startswith("/look?"):
            paths = self.path[6:].split(",")
            body = json.dumps({
                "uid": os.getuid(), "host": self.headers["Host"],
                "read": {path: attempt(lambda: os.listdir(path)) for path in paths if not path.isdigit()},
                "connect": [attempt(lambda: connect(path)) for path in paths if path.isdigit()],
                "root": attempt(lambda: (root / "x").write_text("x")),
                "data": attempt(lambda: (data / "x").write_text("x")),
                "tmp": attempt(lambda: Path("/tmp/guiforge-probe").write_text("x")),
                "processes": [name for name in os.listdir("/proc") if name.isdigit()],
            })
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body.encode())
    def log_message(self, *args):
        pass

http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""  # fmt: skip


class Probe(Site):
    """Table `notes`: what was noted. `argv` may be another command. built: how often its data was made."""

    restart = False

    def __init__(self, name: str = "probe", command: tuple[str, ...] = ()) -> None:
        self.name, self.command, self.built = name, command, 0

    def install(self, root: Path) -> None:
        """The server's source."""
        (root / "server.py").write_text(SERVER)

    def build(self, root: Path, data: Path) -> None:
        """No notes."""
        self.built += 1
        (data / "notes.json").write_text("{}")

    def argv(self, root: Path, data: Path, port: int) -> list[str]:
        """The server, or the other command."""
        python = str(Path(sys._base_executable).resolve())  # type: ignore[attr-defined]
        return [*self.command] or [python, str(root / "server.py"), str(data), str(port), str(root)]

    def seed(self, data: Path, records: Any) -> None:
        """A note by key."""
        if records:
            (data / "notes.json").write_text(json.dumps(records))

    def dump(self, data: Path) -> Tables:
        """The notes."""
        return {"notes": json.loads((data / "notes.json").read_text())}


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Site]:
    """Makes a site known by its name, and set up in a cache of the test's own."""
    monkeypatch.setenv("GUIFORGE_CACHE", str(tmp_path / "cache"))
    known: dict[str, Site] = {}
    monkeypatch.setattr(live, "load", known.__getitem__)

    def serve(site: Site, *, prepare: bool = True) -> Site:
        known[site.name] = site
        if prepare:
            cache.prepare(site)
        return site

    return serve


def task(*names: str, path: str = "/", records: Any = None, **fields: Any) -> Task:
    """A task that starts sites and opens a page of the first."""
    names = names or ("probe",)
    setup = [*(StartSite(site=name, records=records) for name in names), OpenPage(url=f"http://{names[0]}.test{path}")]
    fields = {"hosts": tuple(f"{name}.test" for name in names), "screen": (800, 600), "seed": 0} | fields
    return Task(suite="t", id="t", instruction="", setup=tuple(setup), **fields)


def processes_of(uid: int) -> list[int]:
    """Live processes of a user."""
    return [p.pid for p in psutil.process_iter(["uids", "status"]) if p.info["uids"] and p.info["uids"].real == uid]


@contextmanager
def closing(sites: live.LiveSites) -> Iterator[live.LiveSites]:
    """Closed at the end."""
    try:
        yield sites
    finally:
        sites.close()
