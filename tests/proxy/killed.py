"""A proxy in a process of its own, to be killed: `python -m tests.proxy.killed RUN UPSTREAM` prints URL and key."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from guiforge.proxy import HttpUpstreams, Proxy
from guiforge.store import Store
from tests.proxy.world import KEY, TASK


async def main(run: Path, upstream: str) -> None:
    with Store(run) as store:
        proxy = Proxy(store, HttpUpstreams([upstream]))
        async with proxy.serving() as url:
            print(url, proxy.open(KEY, 600, task=TASK).completions_key, flush=True)
            await asyncio.Event().wait()


@contextmanager
def started(run: Path, upstream: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """Start one; gives the process, its base URL and a key. It is killed in the end.

    Its allocator gives large blocks back when they are freed, so that its memory is what it holds.
    """
    command = [sys.executable, "-m", "tests.proxy.killed", str(run), upstream]
    env = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "131072"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        try:
            assert process.stdout is not None
            url, key = process.stdout.readline().split()
            yield process, url, key
        finally:
            process.kill()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
