"""Connection: the Chrome DevTools Protocol over the two pipes of one browser.

Invariant: one thread uses a connection; every wait has a deadline; an event is handled when it arrives, in order,
and its handler may `post` and `ask` but never wait. Once `Gone` was raised, it is raised by every later call.
Protocol: JSON messages ended by NUL, as Chromium's `--remote-debugging-pipe` speaks it.
"""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Callable
from typing import Any

Message = dict[str, Any]
CALL_S = 10.0
_CHUNK = 1 << 20


class CdpError(Exception):
    """The browser refused a command; the text is its reason."""


class Late(Exception):
    """No answer within the deadline."""


class Gone(Exception):
    """The browser closed its end of the pipe."""


class Connection:
    """Commands to and events from a browser. `handle(session, method, params)` is called with each event."""

    def __init__(self, read_fd: int, write_fd: int, handle: Callable[[str, str, Message], None]) -> None:
        self._read_fd, self._write_fd, self._handle = read_fd, write_fd, handle
        os.set_blocking(read_fd, False)
        os.set_blocking(write_fd, False)
        self._buffer = bytearray()
        self._last_id = 0
        self._awaited: dict[int, str] = {}  # id -> method, of commands whose answer is wanted
        self._answers: dict[int, Message] = {}
        self._then: dict[int, Callable[[Message], None]] = {}
        self._gone = False

    def send(self, method: str, params: Message | None = None, session: str = "", *, wanted: bool = True) -> int:
        """Send a command; its number, for `answer`. Raises Gone, Late."""
        self._last_id += 1
        message: Message = {"id": self._last_id, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        if wanted:
            self._awaited[self._last_id] = method
        self._write(json.dumps(message).encode() + b"\0")
        return self._last_id

    def post(self, method: str, params: Message | None = None, session: str = "") -> None:
        """Send a command whose answer nobody wants."""
        self.send(method, params, session, wanted=False)

    def ask(self, method: str, params: Message | None, then: Callable[[Message], None], session: str = "") -> None:
        """Send a command; `then` is called with its result when that arrives, as an event's handler is."""
        self._then[self.send(method, params, session, wanted=False)] = then

    def answered(self, number: int) -> bool:
        """Whether the answer of a command is there."""
        return number in self._answers

    def forget(self, number: int) -> None:
        """Nobody waits for this answer any more."""
        self._awaited.pop(number, None)
        self._answers.pop(number, None)

    def answer(self, number: int, timeout_s: float = CALL_S) -> Message:
        """The result of a command that was sent. Raises CdpError, Late, Gone."""
        method = self._awaited.get(number, "?")
        if not self.pump(lambda: number in self._answers, timeout_s):
            self.forget(number)
            raise Late(f"{method} was not answered within {timeout_s:g} s")
        self._awaited.pop(number, None)
        message = self._answers.pop(number)
        if "error" in message:
            raise CdpError(f"{method}: {message['error'].get('message', message['error'])}")
        result: Message = message["result"]
        return result

    def call(self, method: str, params: Message | None = None, session: str = "", timeout_s: float = CALL_S) -> Message:
        """Send a command and wait for its result. Raises CdpError, Late, Gone."""
        return self.answer(self.send(method, params, session), timeout_s)

    def pump(self, until: Callable[[], object], timeout_s: float) -> bool:
        """Handle what arrives until the condition holds (True) or the time is over (False). Raises Gone."""
        deadline = time.monotonic() + timeout_s
        while not until():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._read(left)
        return True

    def close(self) -> None:
        """Close both pipes: the browser ends by it."""
        for fd in (self._read_fd, self._write_fd):
            if fd >= 0:
                os.close(fd)
        self._read_fd = self._write_fd = -1
        self._gone = True

    def _read(self, timeout_s: float) -> None:
        """Wait for data once, and handle every whole message of it."""
        if self._gone:
            raise Gone("the browser is gone")
        if not select.select([self._read_fd], [], [], timeout_s)[0]:
            return
        data = os.read(self._read_fd, _CHUNK)
        if not data:
            self._gone = True
            raise Gone("the browser closed its pipe")
        searched = len(self._buffer)
        self._buffer += data
        messages = []
        start = 0
        while (end := self._buffer.find(b"\0", max(start, searched))) >= 0:
            messages.append(bytes(self._buffer[start:end]))
            start = end + 1
        del self._buffer[:start]
        for message in messages:
            self._take(json.loads(message))

    def _take(self, message: Message) -> None:
        if "id" in message:
            if message["id"] in self._awaited:
                self._answers[message["id"]] = message
            elif (then := self._then.pop(message["id"], None)) and "result" in message:
                then(message["result"])
        else:
            self._handle(message.get("sessionId", ""), message["method"], message.get("params", {}))

    def _write(self, data: bytes) -> None:
        if self._gone:
            raise Gone("the browser is gone")
        view, deadline = memoryview(data), time.monotonic() + CALL_S
        while view:
            if not select.select([], [self._write_fd], [], max(0.0, deadline - time.monotonic()))[1]:
                self._gone = True  # half a message was written
                raise Late("the browser does not read its pipe")
            try:
                view = view[os.write(self._write_fd, view) :]
            except BrokenPipeError:
                self._gone = True
                raise Gone("the browser closed its pipe") from None
