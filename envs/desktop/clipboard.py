"""Clipboard: the text of one display's CLIPBOARD selection, read from its owner and written by owning it.

Invariant: nothing outlives its desktop. A written text is served by a thread with a connection of its own; it ends
when another program takes the clipboard over, when the X server goes, or by `Held.close`.
Source: ICCCM 2 (selections, INCR).
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from Xlib import X, Xatom
from Xlib.display import Display
from Xlib.error import ConnectionClosedError
from Xlib.protocol import event

from envs.desktop import x11

TIMEOUT_S = 3.0
MAX_BYTES = 8 << 20  # of a text that is read: its owner may be the agent's
PIECE_BYTES = 64 * 1024  # of a text that goes piece by piece; the X server takes requests of up to 256 KiB
_PLACE = "GUIFORGE_CLIPBOARD"  # the property that a text is handed over in


class ClipboardTimeout(TimeoutError):
    """The clipboard's owner did not hand its text over in time."""


def read(display: Display, timeout_s: float = TIMEOUT_S) -> str:
    """The clipboard's text up to MAX_BYTES; empty where nobody owns it or it holds no text. Raises ClipboardTimeout."""
    deadline = time.monotonic() + timeout_s
    window = display.screen().root.create_window(0, 0, 1, 1, 0, X.CopyFromParent, event_mask=X.PropertyChangeMask)
    try:
        data = _converted(display, window, "UTF8_STRING", deadline)
        if data is not None:
            return data.decode("utf-8", "replace")
        return (_converted(display, window, "STRING", deadline) or b"").decode("latin-1")
    finally:
        window.destroy()
        display.sync()
        x11.drain(display)


def write(display: str, cookie: bytes, text: str) -> Held:
    """Put text on the clipboard of a display (e.g. `:7`) and go on serving it. Raises x11.DisplayGone."""
    return Held(x11.connect(display, cookie), text.encode())


class Held:
    """A text on the clipboard, for as long as this lives or until another program takes the clipboard over."""

    def __init__(self, display: Display, data: bytes) -> None:
        self._display, self._data = display, data
        self._atoms = {name: int(display.intern_atom(name)) for name in ("CLIPBOARD", "TARGETS", "INCR")}
        self._texts = {int(display.intern_atom(name)) for name in ("UTF8_STRING", "text/plain;charset=utf-8")}
        self._pieces: dict[tuple[int, int], tuple[int, int]] = {}  # (window, property) -> (type, bytes sent)
        self._window = display.screen().root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
        self._window.set_selection_owner(self._atoms["CLIPBOARD"], X.CurrentTime)
        display.sync()
        self._ended, self._end = os.pipe()
        self._thread = threading.Thread(target=self._serve, name="clipboard", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Let the clipboard go. Safe to call twice."""
        if self._end >= 0:
            os.close(self._end)
            self._end = -1
            self._thread.join()

    def _serve(self) -> None:
        try:
            while True:
                while self._display.pending_events():
                    if not self._handle(self._display.next_event()):
                        return
                if self._ended in select.select([self._display.fileno(), self._ended], [], [])[0]:
                    return
        except ConnectionClosedError:
            return  # the desktop has ended
        finally:
            os.close(self._ended)
            with suppress(ConnectionClosedError):
                self._window.destroy()
                self._display.sync()  # from here on the server asks us no more: a request to one who leaves hangs
                self._display.close()

    def _handle(self, heard: Any) -> bool:
        """Answer one event; False once the clipboard is another program's."""
        if heard.type == X.SelectionRequest:
            self._hand_over(heard)
        elif heard.type == X.PropertyNotify and heard.state == X.PropertyDelete:
            self._next_piece(heard.window, heard.atom)
        return bool(heard.type != X.SelectionClear)

    def _hand_over(self, request: Any) -> None:
        place = request.property or request.target  # an obsolete client names no property (ICCCM 2.2)
        if request.target == self._atoms["TARGETS"]:
            request.requestor.change_property(place, Xatom.ATOM, 32, [self._atoms["TARGETS"], *self._texts])
        elif request.target not in self._texts:
            place = X.NONE
        elif len(self._data) <= PIECE_BYTES:
            request.requestor.change_property(place, request.target, 8, self._data)
        else:
            request.requestor.change_attributes(event_mask=X.PropertyChangeMask)
            self._pieces[request.requestor.id, place] = (request.target, 0)
            request.requestor.change_property(place, self._atoms["INCR"], 32, [len(self._data)])
        answer = event.SelectionNotify(
            time=request.time, requestor=request.requestor, selection=request.selection, target=request.target,
            property=place,
        )  # fmt: skip
        request.requestor.send_event(answer)
        self._display.flush()

    def _next_piece(self, window: Any, place: int) -> None:
        if (window.id, place) not in self._pieces:
            return
        kind, sent = self._pieces.pop((window.id, place))
        piece = self._data[sent : sent + PIECE_BYTES]
        window.change_property(place, kind, 8, piece)
        if piece:  # the empty one was the last
            self._pieces[window.id, place] = (kind, sent + len(piece))
        self._display.flush()


def _converted(display: Display, window: Any, target: str, deadline: float) -> bytes | None:
    """The clipboard's bytes as `target`; None where there is no owner, or it refuses."""
    place = display.intern_atom(_PLACE)
    window.convert_selection(display.intern_atom("CLIPBOARD"), display.intern_atom(target), place, X.CurrentTime)
    answer = _await(display, deadline, lambda e: e.type == X.SelectionNotify and e.requestor.id == window.id)
    if answer.property == X.NONE:
        return None
    data, kind = _take(window, place)
    if kind != display.intern_atom("INCR"):
        return data
    text = b""
    while len(text) < MAX_BYTES:
        _await(
            display, deadline, lambda e: e.type == X.PropertyNotify and (e.atom, e.state) == (place, X.PropertyNewValue)
        )
        piece, _ = _take(window, place)
        if not piece:
            break
        text += piece
    return text[:MAX_BYTES]


def _take(window: Any, place: int) -> tuple[bytes, int]:
    """A property's bytes, up to MAX_BYTES, and type; it is deleted, which asks the owner for the next piece."""
    found = window.get_property(place, X.AnyPropertyType, 0, MAX_BYTES // 4)
    window.delete_property(place)
    if found is None:
        return b"", 0
    return (bytes(found.value) if found.format == 8 else b""), int(found.property_type)


def _await(display: Display, deadline: float, wanted: Callable[[Any], bool]) -> Any:
    while time.monotonic() < deadline and (heard := x11.next_event(display, deadline)) is not None:
        if wanted(heard):
            return heard
    raise ClipboardTimeout("the clipboard's owner did not hand its text over in time")
