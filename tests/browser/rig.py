"""A local site of fixture pages for the browser's tests, and tasks that open them."""

from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from envs.browser.env import BrowserEnv
from guiforge.task import OpenPage, Task

PAGES = Path(__file__).with_name("pages")


class _Handler(http.server.SimpleHTTPRequestHandler):
    server: Site

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, directory=str(PAGES), **kwargs)

    def do_GET(self) -> None:
        """Files of the pages, and a few addresses that misbehave."""
        self.server.asked.append(self.path)
        if self.path.startswith("/loop"):
            self._redirect(f"/loop{int(self.path[5:] or 0) + 1}")
        elif self.path.startswith("/to?"):
            self._redirect(self.path[4:])
        elif self.path.startswith("/never"):
            self.server.ended.wait(60)
        elif self.path.startswith("/slow.svg"):
            time.sleep(1.5)
            self._say(b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', "image/svg+xml")
        elif self.path.startswith("/slow"):
            time.sleep(0.3)
            self._say(b"slow answer")
        elif self.path.startswith("/download"):
            self.send_response(200)
            self.send_header("Content-Disposition", 'attachment; filename="report.csv"')
            self.send_header("Content-Length", "4")
            self.end_headers()
            self.wfile.write(b"a,b\n")
        else:
            super().do_GET()

    def _redirect(self, to: str) -> None:
        self.send_response(302)
        self.send_header("Location", to)
        self.end_headers()

    def _say(self, body: bytes, kind: str = "text/plain") -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


class Site(http.server.ThreadingHTTPServer):
    """A server of the pages on a free port. asked: the paths that were asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []
        self.connections = 0
        self.ended = threading.Event()

    @property
    def host(self) -> str:
        """Its address and port."""
        return f"127.0.0.1:{self.server_address[1]}"

    def get_request(self) -> Any:
        """A new connection, counted."""
        self.connections += 1
        return super().get_request()

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that went away is no news."""

    def url(self, page: str) -> str:
        """The address of a page, by the name that tasks know it by."""
        return f"http://site.localhost/{page}"

    def task(self, *pages: str, setup: tuple[Any, ...] = (), **fields: Any) -> Task:
        """A task that opens the pages."""
        fields = {"hosts": (f"site.localhost={self.host}",), "screen": (800, 600), "seed": 0} | fields
        steps = (*setup, *(OpenPage(url=self.url(page)) for page in pages))
        return Task(suite="t", id="t", instruction="", setup=steps, **fields)


@contextmanager
def site() -> Iterator[Site]:
    """A running site."""
    server = Site()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()


def at(env: BrowserEnv, css: str, text: str | None = None) -> dict[str, int]:
    """Where an element shows, as the fields of an Action."""
    x, y = env.oracle_view().wait_for(css, text).center
    return {"x": x, "y": y}


def log(env: BrowserEnv) -> list[str]:
    """The lines that the page has logged."""
    return str(env.oracle_view().evaluate("document.getElementById('log').textContent")).splitlines()


def value(env: BrowserEnv, css: str) -> str:
    """The value of a field."""
    return str(env.oracle_view().evaluate(f"document.querySelector({css!r}).value"))
