"""X11: a connection to one desktop's X server, opened with that desktop's own cookie.

Invariant: nothing here reads or writes os.environ, so any number of desktops live in one process. Requests about
a window that has just vanished are harmless: their late errors are dropped, and `quiet` turns the direct ones to None.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from Xlib import display as xdisplay
from Xlib import error
from Xlib.support import connect as xconnect

T = TypeVar("T")

_cookie: ContextVar[bytes | None] = ContextVar("_cookie", default=None)
_read_xauthority = xconnect.get_auth


def _get_auth(*where: Any) -> tuple[bytes, bytes]:
    cookie = _cookie.get()
    if cookie is None:
        found: tuple[bytes, bytes] = _read_xauthority(*where)
        return found
    return b"MIT-MAGIC-COOKIE-1", cookie


# python-xlib takes its cookie from $XAUTHORITY alone; this is the one place where it asks. Calls from elsewhere
# (no cookie set in their context) still get the file.
xconnect.get_auth = _get_auth

# what a request about a window or a selection owner that is gone may answer
GONE = (error.BadWindow, error.BadDrawable, error.BadMatch, error.BadAccess)


class DisplayGone(ConnectionError):
    """The X server can't be reached, or closed the connection."""


def connect(display: str, cookie: bytes) -> xdisplay.Display:
    """A connection to `display` (e.g. `:7`) with its MIT-MAGIC-COOKIE-1 (16 bytes). Raises DisplayGone."""
    token = _cookie.set(cookie)
    try:
        connection = xdisplay.Display(display)
    except (error.DisplayError, error.ConnectionClosedError, OSError) as problem:
        raise DisplayGone(f"can't connect to display {display}: {problem}") from problem
    finally:
        _cookie.reset(token)
    connection.set_error_handler(_drop)
    return connection


def _drop(problem: Any, _request: Any) -> None:
    """Errors of requests that have no reply, e.g. to a window that is gone: nothing waits for them."""


def quiet(request: Callable[[], T]) -> T | None:
    """The request's reply, or None where its window is gone."""
    try:
        return request()
    except GONE:
        return None


@contextmanager
def listening(display: xdisplay.Display, window: Any, mask: int) -> Iterator[None]:
    """Events of `mask` selected on `window` meanwhile."""
    window.change_attributes(event_mask=mask)
    display.sync()
    try:
        yield
    finally:
        window.change_attributes(event_mask=0)
        display.sync()
        drain(display)


def drain(display: xdisplay.Display) -> None:
    """Throw away the events that have come in."""
    while display.pending_events():
        display.next_event()


def next_event(display: xdisplay.Display, deadline: float) -> Any | None:
    """The next event, or None when `deadline` (time.monotonic) passes first."""
    while not display.pending_events():
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([display.fileno()], [], [], left)[0]:
            return None
    return display.next_event()
