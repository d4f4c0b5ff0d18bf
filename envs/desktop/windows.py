"""Windows: the top-level windows of one display, as its window manager tells of them.

Invariant: a Window is a value; the window behind it may be gone, and then acting on it does nothing.
Source: Extended Window Manager Hints 1.5 (EWMH), ICCCM.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from Xlib import X
from Xlib.display import Display
from Xlib.protocol import event

from envs.desktop import x11
from envs.desktop.clients import Clients

_FROM_PAGER = 2  # EWMH source indication: the request comes from the user, so the window manager grants it
# The window manager tells of a window before its contents are laid out; this is how often a wait looks again even
# when nothing on the root window changed (a title changes on its own window).
_LOOK_AGAIN_S = 0.05
# what a window gets to answer its first ping, and the next ones as long as it has answered none
_FIRST_ANSWER_S, _MUTE_S = 3.0, 0.03
_RESTLESS_S = 5.0  # how long a window that can't answer may seem to have something to do: some never rest
# LibreOffice, by its class: to know whether more keys are coming it reads all events there are, and GDK answers pings
# as they are read, long before the keys in front of them are handled
_READS_AHEAD = re.compile(r"(?i)libreoffice|soffice")
_XDND_VERSION = 5
_NOWHERE = 0x7FFF7FFF  # x and y of a point that no window is at


class WindowTimeout(TimeoutError):
    """A window did not come, or did not go, in time; the text names the windows there were."""


@dataclass(frozen=True)
class Window:
    """A top-level window. x, y, width, height: its contents without the frame, in screen pixels.

    wm_class: instance and class joined by a dot, e.g. `libreoffice.libreoffice-calc`.  active: has the keyboard.
    """

    id: int
    title: str
    wm_class: str
    x: int
    y: int
    width: int
    height: int
    active: bool = False

    @property
    def center(self) -> tuple[int, int]:
        """(x, y) of its middle in screen pixels."""
        return self.x + self.width // 2, self.y + self.height // 2


class Windows:
    """The windows of one display. Needs a window manager that speaks EWMH."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._root = display.screen().root
        self._probe: Any = None  # an unmapped window to ask the window manager about
        self._clients = Clients(display)
        self._answers: dict[int, bool] = {}  # window -> whether it has ever answered a ping

    def list(self) -> Sequence[Window]:
        """The windows that the window manager knows, oldest first."""
        active = self._active_id()
        found = (self._window(id, active) for id in self._ids("_NET_CLIENT_LIST"))
        return [window for window in found if window is not None]

    def active(self) -> Window | None:
        """The window that has the keyboard, or None."""
        id = self._active_id()
        return self._window(id, id) if id else None

    def popups(self) -> Sequence[Window]:
        """Mapped windows that no window manager handles: menus, tooltips, drop-down lists."""
        children = self._root.query_tree().children
        found = [x11.quiet(partial(self._popup, child)) for child in children]
        return [window for window in found if window is not None]

    def find(self, pattern: str) -> Sequence[Window]:
        """Windows whose title or class the regular expression is found in."""
        return [w for w in self.list() if re.search(pattern, w.title) or re.search(pattern, w.wm_class)]

    def wait(self, pattern: str, *, gone: bool = False, timeout_s: float = 20) -> Window | None:
        """The first window that `find` gives, as soon as there is one; with `gone`, None once there is none.

        Raises WindowTimeout naming the windows there were.
        """
        deadline = time.monotonic() + timeout_s
        with x11.listening(self._display, self._root, X.PropertyChangeMask):
            while True:
                found = self.find(pattern)
                if bool(found) != gone:
                    return found[0] if found else None
                if time.monotonic() >= deadline:
                    titles = ", ".join(repr(f"{w.title} ({w.wm_class})") for w in self.list()) or "none"
                    wish = f"no window {pattern!r} came" if not gone else f"window {pattern!r} did not go"
                    raise WindowTimeout(f"{wish} within {timeout_s:g} s; there are: {titles}")
                x11.next_event(self._display, min(deadline, time.monotonic() + _LOOK_AGAIN_S))

    def activate(self, window: Window, timeout_s: float = 2.0) -> None:
        """Raise a window and give it the keyboard; returns when it has it, or at the deadline."""
        self._tell(window.id, "_NET_ACTIVE_WINDOW", _FROM_PAGER, X.CurrentTime, 0)
        self._until(lambda: self._active_id() == window.id, timeout_s)

    def close(self, window: Window) -> None:
        """Ask a window to close, as its close button does; it may ask the user back."""
        self._tell(window.id, "_NET_CLOSE_WINDOW", X.CurrentTime, _FROM_PAGER)

    def maximize(self, window: Window, timeout_s: float = 2.0) -> None:
        """Maximize a window; returns when its state says so, or at the deadline."""
        add, both = 1, [self._atom(f"_NET_WM_STATE_MAXIMIZED_{side}") for side in ("VERT", "HORZ")]
        self._tell(window.id, "_NET_WM_STATE", add, *both, _FROM_PAGER)
        self._until(lambda: set(both) <= set(self._ids("_NET_WM_STATE", window.id)), timeout_s)

    def manager_caught_up(self, timeout_s: float) -> bool:
        """Wait until the window manager has handled all events so far; whether it said so.

        It holds the pointer's events back when a window is clicked, so keys overtake a click that it has not seen.
        Asked by `_NET_REQUEST_FRAME_EXTENTS`, which it answers in the order of events.
        """
        if self._probe is None:
            self._probe = self._root.create_window(0, 0, 1, 1, 0, X.CopyFromParent, event_mask=X.PropertyChangeMask)
        x11.drain(self._display)
        deadline, answer = time.monotonic() + timeout_s, self._atom("_NET_FRAME_EXTENTS")
        self._tell(self._probe.id, "_NET_REQUEST_FRAME_EXTENTS")
        while (heard := x11.next_event(self._display, deadline)) is not None:
            if heard.type == X.PropertyNotify and (heard.window, heard.atom) == (self._probe, answer):
                return True
        return False

    def caught_up(self, timeout_s: float, otherwise_s: float) -> bool:
        """Wait until the window manager and the active window have handled all events so far (`_NET_WM_PING`).

        Whether the window said so: one that doesn't take pings, or none, is given `otherwise_s`, and then as long as
        its program has something to do. One that has answered no ping so far is not waited for again and again: Qt
        answers where only the window manager hears it.
        LibreOffice, whose pings say nothing, is asked by dragging nothing over it (XDND): the answer has its turn.
        """
        deadline = time.monotonic() + timeout_s
        self.manager_caught_up(timeout_s)
        id, ping = self._active_id(), self._atom("_NET_WM_PING")
        if not id or ping not in self._ids("WM_PROTOCOLS", id):
            self._display.sync()
            time.sleep(otherwise_s)
            return self._rested(id, otherwise_s, deadline)
        if self._answers.get(id, True):
            wait_s = timeout_s if id in self._answers else min(timeout_s, _FIRST_ANSWER_S)
        else:
            wait_s = max(otherwise_s, _MUTE_S)
        ping_deadline, stamp = time.monotonic() + wait_s, time.monotonic_ns() & 0x7FFFFFFF
        with x11.listening(self._display, self._root, X.SubstructureNotifyMask):
            window = self._display.create_resource_object("window", id)
            window.send_event(self._message(window, "WM_PROTOCOLS", ping, stamp, id))
            while (heard := x11.next_event(self._display, ping_deadline)) is not None:
                if heard.type == X.ClientMessage and list(heard.data[1])[:2] == [ping, stamp]:
                    self._answers[id] = True
                    break
        self._answers.setdefault(id, False)
        return self._rested(id, otherwise_s, deadline) if heard is None else self._dragged_over(id, deadline)

    def _rested(self, id: int, otherwise_s: float, deadline: float) -> bool:
        """False, as the window did not say that it has caught up; with `otherwise_s`, once its program rests."""
        if otherwise_s:
            self._clients.wait_idle(id, min(_RESTLESS_S, deadline - time.monotonic()))
        return False

    def _dragged_over(self, id: int, deadline: float) -> bool:
        """Whether a window that reads events ahead has answered a drag by `deadline`; any other need not.

        Of its own accord: the point dragged over is nowhere, so nothing takes notice, and nothing is dropped.
        """
        window = self._display.create_resource_object("window", id)
        wm_class = x11.quiet(window.get_wm_class) or ()
        if not _READS_AHEAD.search(".".join(wm_class)) or not self._ids("XdndAware", id):
            return True
        # a source of its own: a late answer to an earlier question is then no answer to this one
        source = self._root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
        try:
            text, copy, status = map(self._atom, ("UTF8_STRING", "XdndActionCopy", "XdndStatus"))
            window.send_event(self._message(window, "XdndEnter", source.id, _XDND_VERSION << 24, text))
            window.send_event(self._message(window, "XdndPosition", source.id, 0, _NOWHERE, X.CurrentTime, copy))
            while (heard := x11.next_event(self._display, deadline)) is not None:
                if heard.type == X.ClientMessage and (heard.window, heard.client_type) == (source, status):
                    return True
            return False
        finally:
            window.send_event(self._message(window, "XdndLeave", source.id))
            source.destroy()
            self._display.sync()

    def _window(self, id: int, active: int) -> Window | None:
        return x11.quiet(lambda: self._describe(self._display.create_resource_object("window", id), id == active))

    def _describe(self, window: Any, active: bool) -> Window:
        geometry = window.get_geometry()
        corner = window.translate_coords(self._root, 0, 0)
        # the answer is where the root's origin lies in the window: its place with the sign turned
        return Window(
            window.id, self._title(window), ".".join(window.get_wm_class() or ()),
            -corner.x, -corner.y, geometry.width, geometry.height, active,
        )  # fmt: skip

    def _popup(self, window: Any) -> Window | None:
        attributes = window.get_attributes()
        if attributes.map_state != X.IsViewable or not attributes.override_redirect:
            return None
        return self._describe(window, active=False)

    def _title(self, window: Any) -> str:
        for name in ("_NET_WM_NAME", "WM_NAME"):
            found = window.get_full_property(self._atom(name), X.AnyPropertyType)
            if found is not None and found.value:
                value = found.value
                text = (
                    value.decode("utf-8" if name[0] == "_" else "latin-1", "replace")
                    if isinstance(value, bytes)
                    else value
                )
                return str(text)
        return ""

    def _ids(self, name: str, id: int | None = None) -> Sequence[int]:
        window = self._root if id is None else self._display.create_resource_object("window", id)
        found = x11.quiet(lambda: window.get_full_property(self._atom(name), X.AnyPropertyType))
        return [] if found is None else [int(value) for value in found.value]

    def _active_id(self) -> int:
        return next(iter(self._ids("_NET_ACTIVE_WINDOW")), 0)

    def _atom(self, name: str) -> int:
        return int(self._display.intern_atom(name))

    def _message(self, window: Any, name: str, *data: int) -> Any:
        words = [*data, *[0] * (5 - len(data))]
        return event.ClientMessage(window=window, client_type=self._atom(name), data=(32, words))

    def _tell(self, id: int, name: str, *data: int) -> None:
        """A request to the window manager about a window."""
        window = self._display.create_resource_object("window", id)
        mask = X.SubstructureRedirectMask | X.SubstructureNotifyMask
        self._root.send_event(self._message(window, name, *data), event_mask=mask)
        self._display.flush()

    def _until(self, condition: Callable[[], bool], timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        with x11.listening(self._display, self._root, X.PropertyChangeMask):
            while not condition() and time.monotonic() < deadline:
                x11.next_event(self._display, min(deadline, time.monotonic() + _LOOK_AGAIN_S))
