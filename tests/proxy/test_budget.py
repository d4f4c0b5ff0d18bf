from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psutil
import pytest

from guiforge.proxy.budget import Budget
from tests.proxy import killed
from tests.proxy.world import (
    HELLO,
    STREAM,
    WAIT_S,
    Upstream,
    completion,
    eventually,
    png,
    showing,
    streamed,
    whole,
    world,
)


def test_no_more_is_taken_than_there_is_and_who_waits_is_served_in_order() -> None:
    async def play() -> None:
        budget, order = Budget(10), []

        async def take(name: str, size: int) -> None:
            await budget.take(size)
            order.append(name)

        await budget.take(8)
        tasks = [asyncio.create_task(take(name, size)) for name, size in (("a", 4), ("b", 1), ("c", 99), ("d", 2))]
        await asyncio.sleep(0)
        assert order == [] and budget.waiting == 4
        tasks[0].cancel()
        await asyncio.gather(tasks[0], return_exceptions=True)
        assert order == ["b"] and budget.waiting == 2  # it fits, now that nobody stands before it
        budget.give(8)
        budget.give(1)
        await tasks[2]  # more than there is takes all
        assert order == ["b", "c"]
        budget.give(99)
        await tasks[3]
        assert order == ["b", "c", "d"]

    asyncio.run(play())


def gauge(url: str, name: str) -> float:
    text = httpx.get(f"{url.removesuffix('/v1')}/metrics", trust_env=False).text
    return float(next(line.split()[1] for line in text.split("\n") if line.startswith(f"guiforge_proxy_{name} ")))


def test_bodies_that_would_take_too_much_memory_wait_their_turn(up: Upstream, tmp_path: Path) -> None:
    go = threading.Event()
    up.script = streamed(go, *STREAM)
    body = HELLO | {"padding": "x" * 4_000_000, "stream": True}
    with world(tmp_path / "run", up.url, max_bodies=10_000_000) as w, ThreadPoolExecutor(8) as pool:
        asking = [pool.submit(w.ask, body) for _ in range(8)]
        eventually(lambda: gauge(w.url, "in_flight") == 2 and gauge(w.url, "queue") == 6)
        go.set()
        assert {reply.result(WAIT_S).status_code for reply in asking} == {200}
        assert len(w.calls()) == 8


@pytest.mark.parametrize("size", [24_000_000])
def test_memory_is_flat_over_calls_with_bodies_near_their_limit(up: Upstream, tmp_path: Path, size: int) -> None:
    up.script = whole(completion())
    content = b'{"model": "m", "messages": [{"role": "user", "content": "' + b"x" * size + b'"}]}'
    up.asked = _Forgetful()
    with world(tmp_path / "run", up.url) as w:

        def ask(times: int) -> int:
            for _ in range(times):
                reply = w.client.post(f"{w.url}/chat/completions", content=content, headers=w.headers())
                assert reply.status_code == 200
            return int(psutil.Process().memory_info().rss)

        settled = ask(6)
        assert ask(6) < settled + 2 * size


class _Forgetful(list[dict[str, object]]):
    def append(self, item: dict[str, object]) -> None:
        """Keeps nothing: this process is the upstream too."""


def test_calls_that_wait_for_their_reply_hold_neither_body_nor_images(up: Upstream, tmp_path: Path) -> None:
    go, calls = threading.Event(), 24
    up.script = streamed(STREAM[0], go, *STREAM[1:])
    up.asked = _Forgetful()
    body = {**showing(png(1, (1000, 1000))), "stream": True}  # about 4 MB
    with killed.started(tmp_path / "run", up.url) as (process, url, key), ThreadPoolExecutor(calls) as pool:
        headers = {"Authorization": f"Bearer {key}"}
        content = json.dumps(body).encode()
        assert len(content) > 4_000_000
        begun = threading.Semaphore(0)

        def ask() -> str:
            where = f"{url}/chat/completions"
            with httpx.stream(
                "POST", where, content=content, headers=headers, timeout=WAIT_S, trust_env=False
            ) as reply:
                pieces = reply.iter_text()
                first = next(pieces)
                begun.release()
                return first + "".join(pieces)

        go.set()
        assert all("[DONE]" in ask() for _ in range(3))
        go.clear()
        before = psutil.Process(process.pid).memory_info().rss
        asking = [pool.submit(ask) for _ in range(calls)]
        assert all(begun.acquire(timeout=3 * WAIT_S) for _ in range(calls))
        grown = psutil.Process(process.pid).memory_info().rss - before
        go.set()
        assert all("[DONE]" in reply.result(WAIT_S) for reply in asking)
    assert grown < calls * len(content) / 4
