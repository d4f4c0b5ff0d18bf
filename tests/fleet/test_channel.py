"""The wire between worker and scheduler."""

from __future__ import annotations

import asyncio
import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guiforge.fleet.channel import AsyncChannel, Channel, ChannelClosed, Message

ANY_TEXT = st.text(st.characters())  # lone surrogates too: file names and programs' output hold them


async def _both(sock: socket.socket) -> AsyncChannel:
    return AsyncChannel(*await asyncio.open_connection(sock=sock))


@given(st.dictionaries(ANY_TEXT, st.integers() | ANY_TEXT), st.lists(st.binary(max_size=4096)))
def test_a_message_arrives_as_it_was_sent_in_both_directions(data: dict[str, object], blobs: list[bytes]) -> None:
    ours, theirs = socket.socketpair()

    async def scheduler() -> Message:
        channel = await _both(ours)
        message = await channel.receive()
        await channel.send("ok", message.data, message.blobs)
        channel.close()
        return message

    answers: list[object] = []
    worker = threading.Thread(target=lambda: answers.append(Channel(theirs).ask("step", data, blobs)))
    worker.start()
    message = asyncio.run(scheduler())
    worker.join(10)
    theirs.close()
    assert (message.op, message.data, list(message.blobs)) == ("step", data, blobs)
    assert answers == [data]


def test_an_empty_attachment_at_the_end_is_not_sent_to_one_who_has_it_all_and_left() -> None:
    assert Message("step", {}, [b"png", b"", b""]).encode()[2:] == [b"png"]


def test_a_refusal_reaches_the_worker_with_its_reason() -> None:
    ours, theirs = socket.socketpair()

    async def refuse() -> None:
        channel = await _both(ours)
        await channel.receive()
        await channel.send("error", "the disk is full")
        channel.close()

    with theirs:
        runner = threading.Thread(target=lambda: asyncio.run(refuse()))
        runner.start()
        with pytest.raises(RuntimeError, match="the disk is full"):
            Channel(theirs).ask("step")
        runner.join(10)


@pytest.mark.parametrize("cut", [b"", b"\0\0", b"\0\0\0\x10{}", (1 << 31).to_bytes(4, "big")])
def test_a_cut_or_absurd_message_is_a_closed_channel_on_either_side(cut: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(cut)
        ours.shutdown(socket.SHUT_WR)
        with pytest.raises(ChannelClosed):
            Channel(theirs).receive()
    ours, theirs = socket.socketpair()
    with ours:
        ours.sendall(cut)
        ours.shutdown(socket.SHUT_WR)

        async def receive() -> None:
            channel = await _both(theirs)
            try:
                await channel.receive()
            finally:
                channel.close()

        with pytest.raises(ChannelClosed):
            asyncio.run(receive())
