"""What is left after SIGKILL at any moment. GUIFORGE_KILLS says how often (200 for the figure that is published)."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import time
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from guiforge.frame import content_hash
from guiforge.store import Store
from tests.proxy import killed
from tests.proxy.world import KEY, STREAM, Upstream, completion, png, showing, streamed, whole

KILLS = int(os.environ.get("GUIFORGE_KILLS", "4"))
LANES = 16


async def load(url: str, key: str, images: list[bytes], received: dict[int, str]) -> None:
    """Ask for ever, streams and not, until the proxy is gone; `received`: what came in full, by its seed."""
    count = iter(range(10**9))

    async def lane(session: aiohttp.ClientSession) -> None:
        while True:
            seed = next(count)
            body: dict[str, Any] = showing(images[seed % len(images)]) | {"seed": seed, "stream": seed % 2 == 1}
            try:
                async with session.post(f"{url}/chat/completions", json=body) as reply:
                    text = await reply.text()
            except (aiohttp.ClientError, OSError):
                return
            assert reply.status == 200, text
            if seed % 2 == 0 or text.endswith("data: [DONE]\n\n"):
                received[seed] = text

    headers = {"Authorization": f"Bearer {key}"}
    async with aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(*(lane(session) for _ in range(LANES)))


async def kill_under_load(
    process: subprocess.Popen[str], url: str, key: str, after_s: float, images: list[bytes]
) -> dict[int, str]:
    received: dict[int, str] = {}
    asking = asyncio.create_task(load(url, key, images, received))
    end = time.monotonic() + after_s
    while not received or time.monotonic() < end:
        await asyncio.sleep(0.001)
        assert not asking.done(), "the load ended before the proxy was killed"
    process.kill()
    await asking
    return received


@pytest.mark.parametrize("kill", range(KILLS))
def test_every_reply_that_came_in_full_is_in_the_store_after_sigkill(up: Upstream, tmp_path: Path, kill: int) -> None:
    async def script(request: Any, asked: dict[str, Any]) -> Any:
        return await (streamed(*STREAM) if asked["stream"] else whole(completion()))(request, asked)

    up.script = script
    images = [png(i) for i in range(40)]
    after_s = random.Random(kill).uniform(0.02, 0.8)
    with killed.started(tmp_path / "run", up.url) as (process, url, key):
        received = asyncio.run(kill_under_load(process, url, key, after_s, images))
    with Store(tmp_path / "run") as store:  # opens clean, for writing
        calls = store.calls(KEY)
        kept = {call.request["seed"]: call for call in calls}
        assert len(kept) == len(calls) and received
        assert set(received) <= set(kept)
        for seed, call in kept.items():
            assert call.message is not None and not call.cut and call.error is None
            named = call.request["messages"][0]["content"][1]["image_url"]["url"].removeprefix("image:")
            assert store.image_bytes(named) == images[seed % len(images)] and named == content_hash(images[seed % 40])
            assert seed not in received or call.raw == received[seed] or seed % 2 == 1
        assert not list((tmp_path / "run" / "images").glob("*/.*"))
        assert store._rows("PRAGMA integrity_check")[0][0] == "ok"
