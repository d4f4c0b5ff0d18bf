"""The load of the proxy's benchmark: requests that were made beforehand over raw connections, in a process of its own.

Reads one JSON object from standard input and prints another. Given: url (with path), keys, bodies (a folder of files,
sent in turn), and either in_flight and seconds (closed loop: each connection asks again at once), or rate and seconds
(open loop: so many begin a second, whatever comes back), or calls with in_flight. Gives: calls, failed, seconds, and
latencies in ms (p50, p99, first_p50 to the first byte).
"""

from __future__ import annotations

import asyncio
import itertools
import json
import resource
import sys
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlsplit

Latency = tuple[float, float]  # to the first byte and to the last, in seconds


class Connection:
    """One connection, kept open."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: bytes) -> Latency | None:
        """Send a request and read its reply to the end; None where it is no 200 or the connection broke."""
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection(self._host, self._port, limit=1 << 20)
            reader, writer = self._streams
            start = time.perf_counter()
            writer.write(request)
            await writer.drain()
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            first = time.perf_counter() - start
            if b"transfer-encoding: chunked" in head:
                while (size := int(await reader.readuntil(b"\r\n"), 16)) > 0:
                    await reader.readexactly(size + 2)
                await reader.readexactly(2)
            else:
                length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
                await reader.readexactly(int(length or 0))
            took = time.perf_counter() - start
            if b"connection: close" in head:
                self.close()
            return (first, took) if head.startswith(b"http/1.1 200") else None
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            self.close()
            return None

    def close(self) -> None:
        """Close it; the next request opens another."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def run(asked: dict[str, Any]) -> dict[str, Any]:
    """Do what was asked."""
    url = urlsplit(asked["url"])
    assert url.hostname is not None and url.port is not None
    keys = asked["keys"] or ["none"]
    bodies = [path.read_bytes() for path in sorted(Path(asked["bodies"]).iterdir())]
    requests = itertools.cycle(
        _request(url.path, url.hostname, keys[i % len(keys)], b) for i, b in enumerate(bodies * 2)
    )
    taken: list[Latency | None] = []
    start = time.perf_counter()
    if "rate" in asked:
        await _open_loop(asked, url.hostname, url.port, requests, taken)
    else:
        await _closed_loop(asked, url.hostname, url.port, requests, taken)
    seconds = time.perf_counter() - start
    good = [latency for latency in taken if latency is not None]
    return {"calls": len(good), "failed": len(taken) - len(good), "seconds": seconds, **_told(good)}


async def _closed_loop(asked: dict[str, Any], host: str, port: int, requests: Any, taken: list[Latency | None]) -> None:
    deadline = time.perf_counter() + asked.get("seconds", 1e9)
    left = iter(range(asked.get("calls", 10**9)))

    async def lane() -> None:
        connection = Connection(host, port)
        while time.perf_counter() < deadline and next(left, None) is not None:
            taken.append(await connection.ask(next(requests)))
        connection.close()

    await asyncio.gather(*(lane() for _ in range(asked["in_flight"])))


async def _open_loop(asked: dict[str, Any], host: str, port: int, requests: Any, taken: list[Latency | None]) -> None:
    idle: list[Connection] = []

    async def one() -> None:
        connection = idle.pop() if idle else Connection(host, port)
        taken.append(await connection.ask(next(requests)))
        idle.append(connection)

    start, jobs = time.perf_counter(), []
    for number in range(int(asked["rate"] * asked["seconds"])):
        await asyncio.sleep(max(0.0, start + number / asked["rate"] - time.perf_counter()))
        jobs.append(asyncio.create_task(one()))
    await asyncio.gather(*jobs)
    for connection in idle:
        connection.close()


def _request(path: str, host: str, key: str, body: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def _told(good: list[Latency]) -> dict[str, float]:
    if len(good) < 2:
        return {"p50": float("nan"), "p99": float("nan"), "first_p50": float("nan")}
    last = [1000 * took for _, took in good]
    return {"p50": median(last), "p99": quantiles(last, n=100)[98], "first_p50": 1000 * median(f for f, _ in good)}


def main() -> None:
    """See the module."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    print(json.dumps(asyncio.run(run(json.load(sys.stdin)))))


if __name__ == "__main__":
    main()
