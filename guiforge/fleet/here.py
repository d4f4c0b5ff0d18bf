"""One episode in this process: the worker's side on this thread, the desk's on another.

Invariant: the same messages pass as between processes, so an episode here is one there.
"""

from __future__ import annotations

import asyncio
import socket
import threading

from guiforge.env import Env
from guiforge.episode import run_episode
from guiforge.fleet.channel import AsyncChannel, Channel, ChannelClosed
from guiforge.fleet.desk import Desk, Served
from guiforge.fleet.worker import ChannelLink, ChannelRecorder
from guiforge.outcome import Outcome
from guiforge.store import Store
from guiforge.trace import EpisodeSpec


def run_here(spec: EpisodeSpec, env: Env, store: Store) -> Outcome:
    """Play, record and grade one episode.

    Raises what the store raises, and LookupError or ValueError for a bad spec.
    """
    ours, theirs = socket.socketpair()
    broken: list[BaseException] = []

    async def serve() -> None:
        channel = AsyncChannel(*await asyncio.open_connection(sock=ours, limit=1 << 20))
        async with Desk(store).serving() as desk:
            served = Served(desk, spec, channel, keep_faults=True)
            try:
                while (message := await channel.receive()).op != "done":
                    if message.op != "phase":
                        await served.attend(message)
            finally:
                channel.close()

    def run() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:
            broken.append(error)

    desk = threading.Thread(target=run, name="desk")
    desk.start()
    channel = Channel(theirs)
    try:
        outcome = run_episode(spec, env, ChannelRecorder(channel), ChannelLink(channel))
        channel.send("done")
        return outcome
    except ChannelClosed:
        desk.join()
        if broken:
            raise broken[0] from None
        raise
    finally:
        channel.close()
        desk.join()
