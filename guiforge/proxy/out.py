"""Out: where a reply goes: to the harness that asked, or to all who asked with the same idempotency key.

Invariant: HungUp is raised when the harness is gone, and by nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Protocol

from aiohttp import web

from guiforge.proxy.wires import Refused

_STREAM_HEADERS = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
NO_RETRY = {"x-should-retry": "false"}  # the openai and anthropic SDKs obey it


class HungUp(Exception):
    """The harness closed its connection."""


class Out(Protocol):
    """A reply on its way out."""

    @property
    def begun(self) -> bool:
        """Whether a stream has begun: its first byte may have left."""
        ...

    async def whole(self, status: int, body: bytes, headers: Mapping[str, str] = ...) -> None:
        """A JSON reply."""
        ...

    async def begin(self) -> None:
        """Begin a stream."""
        ...

    async def write(self, data: bytes) -> None:
        """More of the stream. Raises HungUp."""
        ...

    async def end(self) -> None:
        """The stream's end. Raises HungUp."""
        ...


class HttpOut:
    """The reply to one request; the handler returns `response`."""

    def __init__(self, request: web.Request) -> None:
        self._request = request
        self._stream: web.StreamResponse | None = None
        self.response: web.StreamResponse | None = None

    @property
    def begun(self) -> bool:
        """Whether a stream has begun."""
        return self._stream is not None

    async def whole(self, status: int, body: bytes, headers: Mapping[str, str] = {}) -> None:
        """See Out."""
        self.response = web.Response(status=status, body=body, content_type="application/json", headers=headers)

    async def begin(self) -> None:
        """See Out."""
        self._stream = self.response = web.StreamResponse(headers=_STREAM_HEADERS)
        try:
            await self._stream.prepare(self._request)
        except ConnectionResetError:
            raise HungUp from None

    async def write(self, data: bytes) -> None:
        """See Out."""
        assert self._stream is not None, "the stream has not begun"
        try:
            await self._stream.write(data)
        except ConnectionResetError:
            raise HungUp from None

    async def end(self) -> None:
        """See Out."""
        assert self._stream is not None, "the stream has not begun"
        try:
            await self._stream.write_eof()
        except ConnectionResetError:
            raise HungUp from None


class Shared:
    """A reply that any number of requests get, each from its beginning, also while it goes on."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._whole: tuple[int, bytes, Mapping[str, str]] | None = None
        self._ended = False
        self._more = asyncio.Event()
        self._begun = False

    @property
    def begun(self) -> bool:
        """See Out."""
        return self._begun

    async def whole(self, status: int, body: bytes, headers: Mapping[str, str] = {}) -> None:
        """See Out."""
        self._whole = (status, body, headers)
        self.stop()

    async def begin(self) -> None:
        """See Out."""
        self._begun = True
        self._tell()

    async def write(self, data: bytes) -> None:
        """See Out."""
        self._pieces.append(data)
        self._tell()

    async def end(self) -> None:
        """See Out."""
        self.stop()

    def stop(self) -> None:
        """Nothing more comes."""
        self._ended = True
        self._tell()

    def _tell(self) -> None:
        self._more.set()
        self._more = asyncio.Event()

    async def play(self, out: Out) -> None:
        """Send it out, from the beginning to its end. Raises HungUp."""
        sent = 0
        while True:
            more, ended = self._more, self._ended
            if self._whole is not None:
                return await out.whole(*self._whole)
            if self.begun and not out.begun:
                await out.begin()
            if sent < len(self._pieces):
                data = b"".join(self._pieces[sent:])
                sent = len(self._pieces)
                await out.write(data)
            elif ended and not self.begun:
                raise Refused(409, "episode_sealed", "the episode ended before this call's reply came")
            elif ended:
                return await out.end()
            else:
                await more.wait()
