"""A model behind OpenAI's chat completions: `guiforge serve`.

Invariant: one thread renders and samples, one request at a time, in the order of their arrival; the event loop never
waits for it. A client that hangs up ends its sampling at the next token. A streamed reply and a whole one are the same
tokens under the same seed.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import orjson
from aiohttp import web
from aiohttp.typedefs import Handler

from guiforge.frame import content_hash
from vlm.generate import Sampled, sample
from vlm.images import BadImage, read_data_url
from vlm.loading import Model
from vlm.protocol import Answer, BadRequest, Request, error_body, read_request, tool_calls
from vlm.render import IMAGE, BadMessages, Renderer, UnfitTemplate
from vlm.speech import Speech

OWNER = "guiforge"
MAX_BODY = 64 * 2**20  # bytes


@dataclass(frozen=True)
class Began:
    """The prompt is rendered; sampling begins."""

    answer: Answer


@dataclass(frozen=True)
class Said:
    """A token, and the text that may be shown by now."""

    text: str
    token: Sampled


@dataclass(frozen=True)
class Ended:
    """The reply is complete.  rest: text that was held back."""

    rest: str
    calls: list[dict[str, Any]]
    reason: str
    stopped: str | None


Event = Began | Said | Ended


class Replies:
    """Replies of one model. For one thread."""

    def __init__(self, model: Model) -> None:
        self.model, self.renderer = model, Renderer(model.processor)

    def reply(self, request: Request) -> Iterator[Event]:
        """Began, Said a token, Ended. Raises BadRequest before it begins."""
        messages, images = _with_hashes(request)
        tools, salt = request.tools, request.cache_salt or ""
        try:
            rendered = self.renderer.render(messages, images.__getitem__, tools, salt=salt)
            inputs = self.renderer.inputs(rendered.ids, rendered.images, images.__getitem__)
        except (BadMessages, BadImage, UnfitTemplate) as error:
            raise BadRequest(str(error), "messages") from error
        room = self.model.context - len(rendered.ids)
        asked = request.max_completion_tokens or request.max_tokens or 1
        if room < asked:
            raise BadRequest(
                f"the model's context is {self.model.context} tokens: {len(rendered.ids)} of the prompt and {asked} of "
                "the reply are more", "messages", "context_length_exceeded",
            )  # fmt: skip
        tokenizer = self.model.processor.tokenizer
        speech = Speech(tokenizer, request.stop or (), request.calls_tools)
        yield Began(Answer(request, self.model.name, self.model.version, tokenizer, rendered.ids))
        ids, shown, reason = list[int](), "", "length"
        for token in sample(self.model, inputs, request.sampling(room)):
            ids.append(token.id)
            text = speech.push(token.id)
            shown += text
            yield Said(text, token)
            if token.id in self.model.ends or speech.stopped is not None:
                reason = "stop"
                break
        rest, calls = speech.finish()
        named = tool_calls(calls)
        said = {"role": "assistant", "content": shown + rest, **({"tool_calls": named} if named else {})}
        self.renderer.remember(messages, said, ids, tools, salt)
        yield Ended(rest, named, "tool_calls" if named and reason == "stop" else reason, speech.stopped)


def _with_hashes(request: Request) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    """The messages with images named by content, and the images by hash. Raises BadRequest."""
    images: dict[str, bytes] = {}
    messages = [message.model_dump(exclude_none=True) for message in request.messages]
    for index, message in enumerate(messages):
        parts = message["content"] if isinstance(message.get("content"), list) else []
        for part in parts:
            if part["type"] != "image_url":
                continue
            try:
                data = read_data_url(str((part.get("image_url") or {}).get("url", "")))
            except BadImage as error:
                raise BadRequest(str(error), f"messages.{index}.content") from None
            hash = content_hash(data)
            images[hash] = data
            part["image_url"] = {"url": f"{IMAGE}{hash}"}
    return messages, images


class Server:
    """The HTTP side."""

    def __init__(self, model: Model) -> None:
        self._model, self._replies, self._began = model, Replies(model), int(time.time())
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sampling")

    def app(self) -> web.Application:
        """The routes."""
        app = web.Application(client_max_size=MAX_BODY, middlewares=[_errors])
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/v1/models/{name:.+}", self._one_model)
        app.router.add_get("/health", self._health)
        return app

    async def close(self) -> None:
        """Wait for the token that is being sampled."""
        await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)

    async def _complete(self, http: web.Request) -> web.StreamResponse:
        try:
            body = orjson.loads(await http.read())
        except orjson.JSONDecodeError as error:
            raise BadRequest(f"the body is no JSON: {error}") from None
        request = read_request(body)
        self._known(request.model)
        async with contextlib.aclosing(self._events(request)) as events:
            began = await anext(events)
            assert isinstance(began, Began)
            if request.stream:
                return await _streamed(http, request, began.answer, events)
            return await _whole(began.answer, events)

    async def _events(self, request: Request) -> AsyncGenerator[Event]:
        """What `Replies.reply` gives, from its thread."""
        loop, left = asyncio.get_running_loop(), threading.Event()
        queue = asyncio.Queue[Event | BaseException | None]()

        def put(item: Event | BaseException | None) -> None:
            loop.call_soon_threadsafe(queue.put_nowait, item)

        def work() -> None:
            try:
                if not left.is_set():
                    for event in self._replies.reply(request):
                        put(event)
                        if left.is_set():
                            return
            except BaseException as error:  # it is raised where it is waited for
                put(error)
            else:
                put(None)

        self._thread.submit(work)
        try:
            while (item := await queue.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            left.set()

    def _known(self, name: str) -> None:
        if name != self._model.name:
            raise BadRequest(
                f"there is no model {name!r} here, only {self._model.name!r}", "model", "model_not_found", 404
            )

    async def _models(self, http: web.Request) -> web.Response:
        return _json({"object": "list", "data": [self._card()]})

    async def _one_model(self, http: web.Request) -> web.Response:
        self._known(http.match_info["name"])
        return _json(self._card())

    def _card(self) -> dict[str, Any]:
        card = {"id": self._model.name, "object": "model", "created": self._began, "owned_by": OWNER}
        return {**card, "max_model_len": self._model.context}

    async def _health(self, http: web.Request) -> web.Response:
        return web.Response()


async def _whole(answer: Answer, events: AsyncIterator[Event]) -> web.Response:
    text, tokens = "", list[Sampled]()
    async for event in events:
        match event:
            case Said():
                text += event.text
                tokens.append(event.token)
            case Ended():
                message: dict[str, Any] = {"role": "assistant", "content": text + event.rest}
                if event.calls:
                    message["tool_calls"] = event.calls
                return _json(answer.whole(message, tokens, event.reason, event.stopped))
    raise AssertionError("a reply without an end")


async def _streamed(
    http: web.Request, request: Request, answer: Answer, events: AsyncIterator[Event]
) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
    await response.prepare(http)

    async def send(body: dict[str, Any]) -> None:
        await response.write(b"data: " + orjson.dumps(body) + b"\n\n")

    await send(answer.first())
    tokens = 0
    try:
        async for event in events:
            match event:
                case Said():
                    tokens += 1
                    await send(answer.more(event.text, event.token))
                case Ended():
                    await send(answer.last(event.rest, event.calls, event.reason, event.stopped))
    except ConnectionResetError:  # the client hung up
        raise
    except Exception as error:  # too late for a status
        await send(error_body(f"sampling failed: {error}", "server_error"))
        return response
    if request.stream_options and request.stream_options.include_usage:
        await send(answer.spent(tokens))
    await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response


@web.middleware
async def _errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every error in OpenAI's shape."""
    try:
        return await handler(request)
    except BadRequest as error:
        return _json(error.body, error.status)
    except web.HTTPException as error:
        return _json(error_body(error.reason, "invalid_request_error"), error.status)


def _json(body: dict[str, Any], status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(body), status=status, content_type="application/json")


@contextlib.asynccontextmanager
async def serving(model: Model, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serve a model while the block runs; gives the base URL. port: 0 for a free one. Raises OSError."""
    server = Server(model)
    runner = web.AppRunner(server.app(), handler_cancellation=True, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        bound = runner.addresses[0]
        yield f"http://{host if ':' not in host else f'[{host}]'}:{bound[1]}/v1"
    finally:
        await runner.cleanup()
        await server.close()
