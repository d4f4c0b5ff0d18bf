"""The pages of MiniWoB++, as the PyPI package `miniwob` holds them, over http on a loopback port.

Invariant: nothing outside the package's `html` folder is served, and nothing is listed.
"""

from __future__ import annotations

import http.server
import importlib.util
import threading
from functools import cache, partial
from http import HTTPStatus
from io import BytesIO
from pathlib import Path

from guiforge.env import EnvError

INSTALL = "pip install --no-deps miniwob"


@cache
def html_folder() -> Path:
    """Where the package's pages are; it is not imported (that would want Selenium). Raises EnvError."""
    spec = importlib.util.find_spec("miniwob")
    if spec is None or spec.origin is None:
        raise EnvError("miniwob", f"the package miniwob is not installed; run: {INSTALL}")
    return Path(spec.origin).parent / "html"


class _Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    extensions_map = {  # noqa: RUF012 (the base class's own form)
        **http.server.SimpleHTTPRequestHandler.extensions_map, ".html": "text/html; charset=utf-8"
    }  # fmt: skip

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "max-age=86400")
        super().end_headers()

    def list_directory(self, path: object) -> BytesIO | None:
        self.send_error(HTTPStatus.NOT_FOUND)
        return None

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


class Server(http.server.ThreadingHTTPServer):
    """Serves from its making until `close`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), partial(_Handler, directory=str(html_folder())))
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), name="miniwob", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """Its address and port."""
        return f"127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that went away is no news."""

    def close(self) -> None:
        """End it."""
        self.shutdown()
        self.server_close()
        self._thread.join()
