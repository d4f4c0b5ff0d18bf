"""The first process of a site's sandbox: runs the server and relays to it what the env's port takes in.

Invariant: it ends, and the server with it, when its channel closes, whoever closed it; and when the server ends. The
port belongs to the env, so it is the same after any restart, and the server's own network has nothing in it but this.
Runs by file under a bare Python: it imports nothing but the standard library.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from typing import Any

_CHUNK = 1 << 16
_END_S = 5


class Relay:
    """waiting: connections on which the server owes an answer."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.waiting: set[asyncio.StreamWriter] = set()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection to its end."""
        with contextlib.suppress(OSError):
            try:
                answers, asks = await asyncio.open_connection("127.0.0.1", self._port)
                try:
                    # who asked and left is still owed an answer, while the server works on it: it is told that no more
                    # comes, not that nobody listens
                    await asyncio.gather(
                        self._pump(reader, asks, lambda: self.waiting.add(writer), asks.write_eof),
                        self._pump(answers, writer, lambda: self.waiting.discard(writer), writer.close),
                    )
                finally:
                    asks.close()
            finally:
                self.waiting.discard(writer)
                writer.close()

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, on_data: Any, at_end: Any
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(_CHUNK):
                on_data()
                writer.write(data)
                await writer.drain()
        with contextlib.suppress(OSError):
            at_end()


async def serve(spec: dict[str, Any], server: subprocess.Popen[bytes]) -> None:
    """Relay until the channel closes or the server ends; answer on the channel how many requests are open."""
    relay = Relay(spec["port"])
    listener = await asyncio.start_server(relay.connected, sock=socket.socket(fileno=spec["listener"]))
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=spec["channel"]))

    async def answer() -> None:
        while await reader.readline():
            writer.write(f"{len(relay.waiting)}\n".encode())

    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(os.pidfd_open(server.pid), ended.set)
    jobs = [asyncio.create_task(answer()), asyncio.create_task(ended.wait())]
    await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
    listener.close()


def main() -> None:
    """argv[1] is the spec as JSON: channel and listener (descriptors), port, uid, argv, environ, cwd."""
    spec = json.loads(sys.argv[1])
    user = {} if spec["uid"] is None else {"user": spec["uid"], "group": spec["uid"], "extra_groups": []}
    server = subprocess.Popen(
        spec["argv"], stdin=subprocess.DEVNULL, env=spec["environ"], cwd=spec["cwd"], start_new_session=True, **user
    )
    try:
        asyncio.run(serve(spec, server))
    finally:
        status = server.poll()
        if status is not None:
            print(f"the server ended with status {status}", file=sys.stderr, flush=True)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait(_END_S)
    sys.exit(0 if status is None else 1)


if __name__ == "__main__":
    main()
