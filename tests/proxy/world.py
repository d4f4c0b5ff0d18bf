"""A real proxy between a real client and a scripted upstream, all on loopback."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import random
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from aiohttp import web
from PIL import Image

from guiforge.proxy import HttpUpstreams, Limits, Opened, Proxy, Running, in_thread
from guiforge.store import Store
from guiforge.task import Task
from guiforge.trace import Call, EpisodeKey

Script = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]
TASK = Task(suite="proxy", id="session", seed=0, instruction="by hand")
HELLO = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
WAIT_S = 20.0


def completion(text: str = "Hello there", **more: Any) -> dict[str, Any]:
    """A whole chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    made = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    return made | more


def with_tokens(prompt: list[int], sampled: list[int], text: str = "Hello there") -> dict[str, Any]:
    """A completion as vLLM gives it with return_token_ids and logprobs."""
    made = completion(text, prompt_token_ids=prompt)
    made["choices"][0]["token_ids"] = sampled
    content: list[dict[str, Any]] = [
        {"token": "t", "logprob": -0.125 * (i + 1), "bytes": None, "top_logprobs": []} for i in sampled
    ]
    made["choices"][0]["logprobs"] = {"content": content}
    made["usage"] = {"prompt_tokens": len(prompt), "completion_tokens": len(sampled)}
    return made


def chunk(text: str | None = None, **choice: Any) -> dict[str, Any]:
    """One chunk of a stream."""
    delta = {} if text is None else {"content": text}
    made = {"index": 0, "delta": delta, "finish_reason": None} | choice
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [made]}


def event(data: dict[str, Any] | str) -> bytes:
    """A server-sent event."""
    return f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def whole(body: dict[str, Any]) -> Script:
    """An upstream that always answers with this."""

    async def script(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(body)

    return script


def error(status: int, text: str = "not now", headers: dict[str, str] | None = None) -> Script:
    """An upstream that always fails so."""

    async def script(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        body = {"error": {"message": text, "type": "scripted_error"}}
        return web.json_response(body, status=status, headers=headers)

    return script


def streamed(*pieces: bytes | threading.Event | None, cut: bool = False) -> Script:
    """An upstream that streams these pieces, waiting where an Event stands, and for ever where None does.

    With `cut` it drops the connection in the end.
    """

    async def script(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece in pieces:
            if piece is None:
                await asyncio.Event().wait()
            elif isinstance(piece, bytes):
                await response.write(piece)
            else:
                assert await asyncio.to_thread(piece.wait, WAIT_S)
        if cut:
            assert request.transport is not None
            request.transport.abort()
            return response
        await response.write_eof()
        return response

    return script


STREAM = (
    event(chunk("Hel", delta={"role": "assistant", "content": "Hel"})),
    event(chunk("lo")),
    event(chunk(finish_reason="stop")),
    event("[DONE]"),
)


@dataclass
class Upstream:
    """A scripted upstream; `script` may be changed at any time. hung_up: set when a request of its was cancelled."""

    url: str
    script: Script
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    models: dict[str, Any] = field(default_factory=lambda: {"data": [{"id": "m", "owned_by": "scripted"}]})
    hung_up: threading.Event = field(default_factory=threading.Event)


@contextmanager
def upstream(script: Script | None = None, port: int = 0) -> Iterator[Upstream]:
    """Serve one from a thread of its own."""
    started: Future[tuple[int, asyncio.AbstractEventLoop, asyncio.Event]] = Future()
    made = Upstream("", script or whole(completion()))

    async def chat(request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        made.asked.append(body)
        made.headers.append(dict(request.headers))
        try:
            return await made.script(request, body)
        except (asyncio.CancelledError, ConnectionError):
            made.hung_up.set()
            raise

    async def models(request: web.Request) -> web.StreamResponse:
        return web.json_response(made.models)

    async def serve() -> None:
        app = web.Application(client_max_size=1 << 30)
        app.router.add_post("/v1/chat/completions", chat)
        app.router.add_get("/v1/models", models)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        stop = asyncio.Event()
        started.set_result((runner.addresses[0][1], asyncio.get_running_loop(), stop))
        await stop.wait()
        await runner.cleanup()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), name="upstream")
    thread.start()
    at, loop, stop = started.result(WAIT_S)
    made.url = f"http://127.0.0.1:{at}/v1"
    try:
        yield made
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()


@dataclass
class World:
    """A proxy that runs, its store, and one open episode."""

    store: Store
    proxy: Proxy
    running: Running
    key: EpisodeKey
    opened: Opened
    client: httpx.Client

    @property
    def url(self) -> str:
        """The proxy's base URL."""
        return self.running.base_url

    @property
    def root(self) -> str:
        """The same without `/v1`."""
        return self.url.removesuffix("/v1")

    def headers(self, key: str | None = None) -> dict[str, str]:
        """Headers with the episode's key, or another."""
        return {"Authorization": f"Bearer {self.opened.completions_key if key is None else key}"}

    def ask(self, body: Any = None, key: str | None = None, **headers: str) -> httpx.Response:
        """A chat completion."""
        body = HELLO if body is None else body
        return self.client.post(f"{self.url}/chat/completions", json=body, headers=self.headers(key) | headers)

    @contextmanager
    def stream(self, body: Any = None, **headers: str) -> Iterator[httpx.Response]:
        """A streamed chat completion."""
        body = {**(HELLO if body is None else body), "stream": True}
        where = f"{self.url}/chat/completions"
        with self.client.stream("POST", where, json=body, headers=self.headers() | headers) as response:
            yield response

    def calls(self) -> list[Call]:
        """What the store has of the episode."""
        return self.store.calls(self.key)

    def open(
        self, attempt: int = 1, limits: Limits | None = None, deadline_s: float = 600
    ) -> tuple[EpisodeKey, Opened]:
        """Another episode."""
        key = self.key.model_copy(update={"attempt": attempt})
        return key, self.running.open(key, deadline_s, task=TASK, limits=limits)


KEY = EpisodeKey(task="proxy/session", seed=0, attempt=0, harness="external", policy="scripted")


@contextmanager
def world(
    where: Path, *urls: str, limits: Limits | None = None, tokens: bool | None = None, api_key: str = "", **more: Any
) -> Iterator[World]:
    """A proxy before these upstreams, recording into `where`."""
    with ExitStack() as stack:
        store = stack.enter_context(Store(where))
        proxy = Proxy(store, HttpUpstreams(urls, api_key, tokens=tokens), limits=limits, **more)
        running = stack.enter_context(in_thread(proxy))
        opened = running.open(KEY, 600, task=TASK)
        client = stack.enter_context(httpx.Client(timeout=WAIT_S, trust_env=False))
        yield World(store, proxy, running, KEY, opened, client)


def eventually(true: Callable[[], Any]) -> None:
    """Wait until something that another thread or process does is so."""
    deadline = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < deadline, "it did not come to be"
        time.sleep(0.005)


def deltas(text: str) -> str:
    """The text in a chat stream."""
    events = [line.removeprefix("data: ") for line in text.split("\n") if line.startswith("data: {")]
    choices = [json.loads(e)["choices"] for e in events]
    return "".join(c[0]["delta"].get("content") or "" for c in choices if c)


def png(seed: int = 0, size: tuple[int, int] = (64, 48)) -> bytes:
    """A picture of noise."""
    made = io.BytesIO()
    pixels = random.Random(seed).randbytes(size[0] * size[1] * 3)
    Image.frombytes("RGB", size, pixels).save(made, "PNG")
    return made.getvalue()


def data_url(data: bytes, media_type: str = "image/png") -> str:
    """Bytes as a data URL."""
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def showing(*images: bytes, text: str = "look") -> dict[str, Any]:
    """A request with images."""
    parts: list[dict[str, Any]] = [{"type": "image_url", "image_url": {"url": data_url(image)}} for image in images]
    return {"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": text}, *parts]}]}
