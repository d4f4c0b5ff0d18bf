"""The wire between a worker and whoever runs it: framed JSON messages with binary attachments over a stream socket.

Invariant: the worker asks and waits for the answer (so what it was told is done, is done), except for `phase`, which
only informs. The other side asks one thing, `question`, which `said` answers with its number. A message is a 4-byte
big-endian length, that many bytes of JSON `{op, data, blobs: [length, ...]}`, and the attachments. JSON in
ASCII keeps every string as it is, lone surrogates included.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

STOP_S = 10.0  # from being told to stop, in which a worker closes its env, to being killed
HANGS_S = 1.0  # that an answer under way is waited for when nobody wants it any more
QUESTION, SAID = "question", "said"
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
    """The worker's side, blocking. A thread of its own reads, so that questions are answered while the worker waits."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._file = sock.makefile("rb")
        self._sending = threading.Lock()
        self._received: SimpleQueue[Message | ChannelClosed] = SimpleQueue()
        self._questions: SimpleQueue[int | None] | None = None
        threading.Thread(target=self._listen, name="channel", daemon=True).start()

    def send(self, op: str, data: Any = None, blobs: Sequence[bytes] = ()) -> None:
        """Send without waiting for an answer. Raises ChannelClosed."""
        try:
            with self._sending:
                for piece in Message(op, data, blobs).encode():
                    self._sock.sendall(piece)
        except OSError as error:
            raise ChannelClosed(str(error)) from error

    def receive(self) -> Message:
        """The next message that is no question. Raises ChannelClosed when there will be none."""
        received = self._received.get()
        if isinstance(received, ChannelClosed):
            self._received.put(received)
            raise received
        return received

    def ask(self, op: str, data: Any = None, blobs: Sequence[bytes] = ()) -> Any:
        """Send and wait for the answer's data. Raises RuntimeError with the other side's reason when it refuses."""
        self.send(op, data, blobs)
        answer = self.receive()
        if answer.op == "error":
            raise RuntimeError(answer.data)
        return answer.data

    @contextmanager
    def answering(self, answer: Callable[[], Any]) -> Iterator[None]:
        """The other side's questions are answered by this, one after another on one thread, while the context lasts.

        An answer that hangs is left to its thread.
        """
        questions: SimpleQueue[int | None] = SimpleQueue()

        def work() -> None:
            with suppress(ChannelClosed):
                while (number := questions.get()) is not None:
                    self.send(SAID, {"number": number, "said": answer()})

        thread = threading.Thread(target=work, name="answers", daemon=True)
        thread.start()
        self._questions = questions
        try:
            yield
        finally:
            self._questions = None
            questions.put(None)
            thread.join(HANGS_S)

    def close(self) -> None:
        """Close it for both sides, also while its thread reads."""
        with suppress(OSError):  # the other side was first
            self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()

    def _listen(self) -> None:
        try:
            while True:
                op, data, sizes = _sizes(self._exactly(_header_length(self._exactly(4))))
                message = Message(op, data, [self._exactly(size) for size in sizes])
                if op != QUESTION:
                    self._received.put(message)
                elif (questions := self._questions) is not None:
                    questions.put(data)
        except ChannelClosed as closed:
            self._received.put(closed)

    def _exactly(self, count: int) -> bytes:
        try:
            data = self._file.read(count)
        except (OSError, ValueError) as error:
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
