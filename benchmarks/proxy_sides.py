"""The servers of the proxy's benchmark, each a process of its own that prints one line of JSON when it serves.

    proxy_sides.py upstream DELAY_S          answers chat completions after a delay, streamed in 20 pieces or whole
    proxy_sides.py passthrough URL           passes requests on and replies back as they come, and records nothing
    proxy_sides.py guiforge URL RUN SESSIONS the recording proxy, with so many episodes open

The line: {"url": base URL, "keys": [...]}. Each ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import threading
from collections.abc import Awaitable, Callable

import aiohttp
from aiohttp import web

TEXT = "The button is at the lower right of the window, so I click it there. " * 4
PIECES = 20
Served = Callable[[web.Request], Awaitable[web.StreamResponse]]


def _chunk(text: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    made = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: %b\n\n" % json.dumps(made).encode()


def _whole() -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 900, "completion_tokens": 64, "total_tokens": 964}
    made = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    return json.dumps(made).encode()


async def serve(routes: dict[tuple[str, str], Served], **line: object) -> None:
    """Serve until standard input ends."""
    app = web.Application(client_max_size=1 << 30)
    for (method, path), handler in routes.items():
        app.router.add_route(method, path, handler)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=8192).start()
    await until_told(f"http://127.0.0.1:{runner.addresses[0][1]}", **line)
    await runner.cleanup()


async def until_told(url: str, **line: object) -> None:
    """Say where it serves, and wait for standard input to end."""
    print(json.dumps({"url": url, **line}), flush=True)
    loop, told = asyncio.get_running_loop(), asyncio.Event()

    def watch() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(told.set)

    threading.Thread(target=watch, daemon=True).start()
    await told.wait()


async def upstream(delay_s: float) -> None:
    """A model that takes `delay_s`."""
    body, size = _whole(), len(TEXT) // PIECES
    pieces = [_chunk(TEXT[i * size : (i + 1) * size]) for i in range(PIECES)] + [
        _chunk("", "stop"),
        b"data: [DONE]\n\n",
    ]

    async def chat(request: web.Request) -> web.StreamResponse:
        data = await request.read()
        if b'"stream":true' not in data and b'"stream": true' not in data:
            await asyncio.sleep(delay_s)
            return web.Response(body=body, content_type="application/json")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece in pieces:
            if delay_s:
                await asyncio.sleep(delay_s / len(pieces))
            await response.write(piece)
        await response.write_eof()
        return response

    async def models(request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "m", "object": "model", "owned_by": "bench"}]})

    routes: dict[tuple[str, str], Served] = {("POST", "/v1/chat/completions"): chat}
    await serve(routes | {("GET", path): models for path in ("/v1/models", "/health")})


async def passthrough(url: str) -> None:
    """The least that a proxy does."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def chat(request: web.Request) -> web.StreamResponse:
            data = await request.read()
            async with session.post(f"{url}/v1/chat/completions", data=data) as answer:
                response = web.StreamResponse(headers={"Content-Type": answer.headers["Content-Type"]})
                if answer.content_type != "text/event-stream":
                    return web.Response(body=await answer.read(), content_type="application/json")
                await response.prepare(request)
                async for piece in answer.content.iter_any():
                    await response.write(piece)
                await response.write_eof()
                return response

        await serve({("POST", "/v1/chat/completions"): chat})


async def guiforge(url: str, run: str, sessions: int) -> None:
    """The recording proxy, on a run of its own."""
    from guiforge.proxy import HttpUpstreams, Limits, Proxy
    from guiforge.store import Store
    from guiforge.task import Task
    from guiforge.trace import EpisodeKey

    limits = Limits(calls=10**9, tokens=10**12, images=10**9, body_bytes=64 << 20)
    with Store(run) as store:
        proxy = Proxy(store, HttpUpstreams([f"{url}/v1"], tokens=False), limits=limits)
        async with proxy.serving() as base_url:
            task = Task(suite="proxy", id="session", seed=0, instruction="a benchmark")
            keys = [
                EpisodeKey(task="proxy/session", seed=n, attempt=0, harness="b", policy="b") for n in range(sessions)
            ]
            opened = [proxy.open(key, 3600, task=task).completions_key for key in keys]
            await until_told(base_url.removesuffix("/v1"), keys=opened)


def main() -> None:
    """See the module."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    side, *given = sys.argv[1:]
    if side == "upstream":
        asyncio.run(upstream(float(given[0])))
    elif side == "passthrough":
        asyncio.run(passthrough(given[0]))
    else:
        asyncio.run(guiforge(given[0], given[1], int(given[2])))


if __name__ == "__main__":
    main()
