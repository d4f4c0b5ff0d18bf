"""The wire between a worker and whoever runs it: framed JSON messages with binary attachments over a stream socket.

Invariant: the worker asks and waits for the answer (so what it was told is done, is done), except for `phase`, which
only informs. A message is a 4-byte big-endian length, that many bytes of JSON `{op, data, blobs: [length, ...]}`, and
the attachments. JSON in ASCII keeps every string as it is, lone surrogates included.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

STOP_S = 10.0  # from being told to stop, in which a worker closes its env, to being killed
MAX_HEADER = 64 << 20
MAX_BLOBS = 2 << 30


class ChannelClosed(ConnectionError):
    """The other side is gone."""


@dataclass(frozen=True)
class Message:
    """One message: an operation, its JSON data, its attachments."""

    op: str
    data: Any = None
    blobs: Sequence[bytes] = field(default=())

    def encode(self) -> list[bytes]:
        """The pieces to send, in order; none is empty: who has read all of a message may be gone by the next send."""
        header = json.dumps({"op": self.op, "data": self.data, "blobs": [len(b) for b in self.blobs]}).encode()
        return [len(header).to_bytes(4, "big"), header, *filter(None, self.blobs)]


def _sizes(header: bytes) -> tuple[str, Any, list[int]]:
    found = json.loads(header)
    sizes = found["blobs"]
    if sum(sizes) > MAX_BLOBS:
        raise ChannelClosed(f"a message with {sum(sizes)} bytes of attachments; the limit is {MAX_BLOBS}")
    return found["op"], found["data"], sizes


def _header_length(prefix: bytes) -> int:
    length = int.from_bytes(prefix, "big")
    if length > MAX_HEADER:
        raise ChannelClosed(f"a message header of {length} bytes; the limit is {MAX_HEADER}")
    return length


class Channel:
    """The worker's side, blocking."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._file = sock.makefile("rb")

    def send(self, op: str, data: Any = None, blobs: Sequence[bytes] = ()) -> None:
        """Send without waiting for an answer. Raises ChannelClosed."""
        try:
            for piece in Message(op, data, blobs).encode():
                self._sock.sendall(piece)
        except OSError as error:
            raise ChannelClosed(str(error)) from error

    def receive(self) -> Message:
        """The next message. Raises ChannelClosed when there will be none."""
        op, data, sizes = _sizes(self._exactly(_header_length(self._exactly(4))))
        return Message(op, data, [self._exactly(size) for size in sizes])

    def ask(self, op: str, data: Any = None, blobs: Sequence[bytes] = ()) -> Any:
        """Send and wait for the answer's data. Raises RuntimeError with the other side's reason when it refuses."""
        self.send(op, data, blobs)
        answer = self.receive()
        if answer.op == "error":
            raise RuntimeError(answer.data)
        return answer.data

    def _exactly(self, count: int) -> bytes:
        try:
            data = self._file.read(count)
        except OSError as error:
            raise ChannelClosed(str(error)) from error
        if len(data) != count:
            raise ChannelClosed("the other side closed the channel")
        return data


class AsyncChannel:
    """The runner's side, on asyncio streams."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def send(self, op: str, data: Any = None, blobs: Sequence[bytes] = ()) -> None:
        """Send a message. Raises ChannelClosed."""
        try:
            self._writer.writelines(Message(op, data, blobs).encode())
            await self._writer.drain()
        except OSError as error:
            raise ChannelClosed(str(error)) from error

    async def receive(self) -> Message:
        """The next message. Raises ChannelClosed when there will be none."""
        try:
            header = await self._reader.readexactly(_header_length(await self._reader.readexactly(4)))
            op, data, sizes = _sizes(header)
            return Message(op, data, [await self._reader.readexactly(size) for size in sizes])
        except (OSError, asyncio.IncompleteReadError) as error:
            raise ChannelClosed("the worker closed the channel") from error

    def close(self) -> None:
        """Close the stream."""
        self._writer.close()
