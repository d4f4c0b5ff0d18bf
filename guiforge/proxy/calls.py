"""A call, from its request to its reply: asked, forwarded as it comes, recorded, and only then ended.

Invariant: what ends a reply (all of it where it is no stream; from its finish reason on where it is) leaves after its
Call is in the store. A harness that hangs up leaves what was sampled, as a Call that is cut.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from guiforge.proxy.bodies import dumps, loads, with_fields
from guiforge.proxy.images import Images, Pending
from guiforge.proxy.metrics import Metrics
from guiforge.proxy.out import NO_RETRY, HungUp, Out
from guiforge.proxy.recording import Draft, GroupCommit, sampling
from guiforge.proxy.stream import DONE, MAX_REPLY_BYTES, Assembly, Event, Events, Rubbish, as_chunks, read_event, said
from guiforge.proxy.upstreams import Answer, Ask, Upstream, UpstreamFailed, late
from guiforge.proxy.wires import Encoder, Refused, WireFormat
from guiforge.store import StoreError

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Parts:
    """What all calls of a proxy share. background: runs a coroutine to its end, whatever becomes of the request."""

    images: Images
    commits: GroupCommit
    metrics: Metrics
    background: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]


@dataclass(frozen=True)
class Asked:
    """What the harness itself asked for, of the fields that the proxy asks for anyway; the others it is not sent."""

    usage: bool
    logprobs: bool
    tokens: bool

    @classmethod
    def by(cls, chat: dict[str, Any]) -> Asked:
        """Of a chat request."""
        options = chat.get("stream_options")
        usage = bool(options.get("include_usage")) if isinstance(options, dict) else False
        return cls(usage, bool(chat.get("logprobs")), bool(chat.get("return_token_ids")))

    def trim(self, reply: dict[str, Any]) -> bool:
        """Take the others out of a completion or chunk; whether there were any."""
        found = not self.tokens and reply.pop("prompt_token_ids", None) is not None
        for choice in reply.get("choices") or ():
            if not isinstance(choice, dict):
                continue
            if not self.tokens and choice.pop("token_ids", None) is not None:
                found = True
            if not self.logprobs and choice.get("logprobs") is not None:
                choice["logprobs"] = None
                found = True
        return found


class Exchange:
    """One call on its way. chat, raw: what the upstream is asked, and its JSON.  replay: gives what was recorded."""

    def __init__(
        self, parts: Parts, draft: Draft, wire: WireFormat, chat: dict[str, Any], raw: bytes, images: Pending, out: Out,
        on_first_byte: Callable[[], None], *, replay: Upstream | None = None,
    ) -> None:  # fmt: skip
        self._parts, self._draft, self._wire, self._asked = parts, draft, wire, Asked.by(chat)
        self._chat, self._raw = chat, raw
        self._images, self._out, self._on_first_byte = images, out, on_first_byte
        self._streams = bool(draft.request.get("stream"))
        self._plain = wire.name == "chat"  # its stream is the upstream's own, byte by byte
        self._encoder: Encoder | None = None
        self._assembly = Assembly()
        self._held: list[bytes] = []  # a stream's end, from its finish reason on
        self._completion: dict[str, Any] | None = None
        self._replayed = replay is not None
        self._upstream_s = 0.0
        self._upstream = replay or draft.episode.upstream

    async def run(self) -> bool:
        """Ask, forward, record, end; whether there was a reply. Raises HungUp, Refused (before anything was sent)."""
        try:
            await self._ask()
        except (HungUp, asyncio.CancelledError):
            self._draft.cut = True
            self._draft.error = "the harness hung up before the reply's end"
            if not self._replayed:
                unkept = self._draft.episode.unkept
                task = self._parts.background(self._record_cut())
                unkept.add(task)
                task.add_done_callback(unkept.discard)
            raise
        except (UpstreamFailed, Rubbish) as error:
            await self._fail(error)
            return False
        except StoreError as error:
            await self._send_error(500, "not_recorded", f"an image could not be recorded: {error}")
            return False
        try:
            await self._record("replied")
        except StoreError as error:
            await self._send_error(500, "not_recorded", f"the reply could not be recorded: {error}")
            return False
        await self._end()
        return True

    async def _ask(self) -> None:
        draft = self._draft
        began = time.perf_counter()
        ask = Ask(draft.episode, await self._prepared(), draft.episode.deadline, draft.retry_until)
        async with self._upstream.ask(ask) as answer:
            draft.upstream, draft.tries = answer.upstream, answer.tries
            await (self._read_stream(answer) if answer.stream else self._read_whole(answer))
        draft.last_byte = time.time()
        self._upstream_s = time.perf_counter() - began

    async def _prepared(self) -> bytes:
        """What the upstream is sent. From here on the request is only what will be recorded of it."""
        try:
            async with asyncio.timeout(max(self._draft.episode.deadline - time.time(), 0.0)):
                wants = await self._upstream.wants(self._chat, self._draft.retry_until)
        except TimeoutError:
            raise late("the upstream") from None
        self._draft.sampling = sampling({**self._chat, **wants})
        raw = with_fields(self._raw, self._chat, wants)
        self._chat, self._raw = {}, b""
        self._images.replace()
        return raw

    def _first_byte(self) -> None:
        if self._draft.first_byte is None:
            self._draft.first_byte = time.time()
            self._on_first_byte()

    async def _read_whole(self, answer: Answer) -> None:
        draft, size = self._draft, 0
        async for piece in answer.pieces:
            self._first_byte()
            draft.raw.append(piece)
            size += len(piece)
            if size > MAX_REPLY_BYTES:
                raise Rubbish(f"a reply of more than {MAX_REPLY_BYTES} bytes")
        try:
            self._completion = loads(b"".join(draft.raw))
        except ValueError as error:
            raise Rubbish(f"no JSON: {error}") from None
        draft.said = said(self._completion)

    async def _read_stream(self, answer: Answer) -> None:
        draft, events = self._draft, Events()
        async for piece in answer.pieces:
            self._first_byte()
            await self._forward(events.feed(piece))
        await self._forward(events.rest())
        draft.said = self._assembly.said()
        if draft.said.finish_reason is None:
            text = f"{draft.upstream} ended its stream before the reply's end"
            raise UpstreamFailed(502, "upstream_broke_off", text, upstream=draft.upstream, tries=draft.tries)

    async def _forward(self, events: list[Event]) -> None:
        ready = [data for event in events for data in self._take(event)]
        if ready and self._streams:
            if not self._out.begun:
                await self._images_stored()
                await self._out.begin()
            await self._out.write(b"".join(ready))

    def _take(self, event: Event) -> list[bytes]:
        """What of an event can be sent on at once; what has to wait is held."""
        if not event.data:
            return [event.raw] if self._plain and not self._held else []
        self._draft.raw.append(event.raw)
        if event.data == DONE:
            return []
        chunk = read_event(event)
        if chunk.get("error") is not None and not chunk.get("choices"):
            raise _failure(chunk["error"])
        self._assembly.add(chunk)
        if not self._streams:
            return []
        data = self._encoded(event, chunk)
        if self._assembly.finish_reason is None:
            return data
        self._held += data
        return []

    def _encoded(self, event: Event, chunk: dict[str, Any]) -> list[bytes]:
        if not self._plain:
            return self._encode(chunk)
        if not chunk.get("choices") and chunk.get("usage") is not None and not self._asked.usage:
            return []
        return [b"data: %b\n\n" % dumps(chunk)] if self._asked.trim(chunk) else [event.raw]

    def _encode(self, chunk: dict[str, Any]) -> list[bytes]:
        self._encoder = self._encoder or self._wire.encoder(self._draft.request)
        return self._encoder.feed(chunk)

    async def _images_stored(self) -> None:
        self._images.replace()  # where it was cut before it was asked
        self._draft.episode.add_images(await self._images.stored())

    async def _record(self, end: str) -> None:
        """Commit the call, unless that was done before. Raises StoreError, Refused."""
        await self._images_stored()
        draft = self._draft
        if self._replayed:
            return
        kept = self._parts.commits.keep(draft)
        draft.episode.tokens += draft.said.sampled
        draft.episode.arguments.note(draft.said.message)
        self._count(end)
        await asyncio.shield(kept)

    def _count(self, end: str) -> None:
        draft, metrics = self._draft, self._parts.metrics
        total_s = (draft.last_byte or time.time()) - draft.queued
        first_s = None if draft.first_byte is None else draft.first_byte - draft.queued
        own_s = max(total_s - self._upstream_s, 0.0)
        metrics.ended(draft.wire, end, total_s=total_s, own_s=own_s, first_s=first_s)
        prompt = draft.said.usage.get("prompt_tokens")
        metrics.used(prompt if isinstance(prompt, int) else 0, draft.said.sampled, self._images.count)

    async def _record_cut(self) -> None:
        """Keep what was sampled of a call that its harness did not wait for."""
        try:
            self._draft.said = self._assembly.said() if self._completion is None else said(self._completion)
            await self._record("cut")
        except Refused as refused:
            _log.info("a call that was hung up on had an image that can't be kept: %s", refused)
        except (Rubbish, StoreError) as error:
            _log.error("a call that was hung up on could not be kept: %s", error)

    async def _fail(self, error: UpstreamFailed | Rubbish) -> None:
        """Record that there is no reply, or only the beginning of one, and say so to the harness."""
        draft = self._draft
        if isinstance(error, Rubbish):
            error = UpstreamFailed(502, "upstream_rubbish", f"{draft.upstream} answered rubbish: {error}")
        draft.upstream, draft.tries = error.upstream or draft.upstream, max(error.tries, draft.tries)
        draft.error = f"{error.type}: {error.text}"
        try:
            draft.said = self._assembly.said()
        except Rubbish:  # then the beginning is none that could be read
            draft.said = type(draft.said)()
        draft.cut = draft.said.message is not None
        try:
            await self._record("failed")
        except StoreError as unkept:
            _log.error("a failed call could not be kept: %s", unkept)
        await self._send_error(error.status, error.type, error.text)

    async def _send_error(self, status: int, type: str, text: str) -> None:
        if self._out.begun:
            self._encoder = self._encoder or self._wire.encoder(self._draft.request)
            await self._out.write(b"".join(self._encoder.fail(status, type, text)))
            await self._out.end()
        else:
            await self._out.whole(status, dumps(self._wire.error(status, type, text)), NO_RETRY)

    async def _end(self) -> None:
        """Send what was held back."""
        completion = self._completion
        if not self._streams:
            await self._out.whole(200, self._body_of(completion or self._as_completion()))
            return
        if completion is not None:
            self._asked.trim(completion)
            for chunk in as_chunks(completion):
                if chunk["choices"] or self._asked.usage or not self._plain:
                    self._held += self._encode(chunk)
            self._held += self._encoder.close() if self._encoder is not None else []
        elif self._plain:
            self._held.append(b"data: [DONE]\n\n")
        elif self._encoder is not None:
            self._held += self._encoder.close()
        if not self._out.begun:
            await self._out.begin()
        await self._out.write(b"".join(self._held))
        await self._out.end()

    def _body_of(self, completion: dict[str, Any]) -> bytes:
        trimmed = self._asked.trim(completion)
        if self._plain:
            return dumps(completion) if trimmed or self._completion is None else b"".join(self._draft.raw)
        return dumps(self._wire.reply(self._draft.request, completion))

    def _as_completion(self) -> dict[str, Any]:
        """The completion in a stream that was not asked for."""
        said = self._draft.said
        choice = {"index": 0, "message": said.message, "finish_reason": said.finish_reason}
        return {"id": "", "object": "chat.completion", "created": int(time.time()), "model": "", "choices": [choice],
                "usage": said.usage}  # fmt: skip


def _failure(error: Any) -> UpstreamFailed:
    """What an upstream says in the middle of a stream."""
    told: dict[str, Any] = error if isinstance(error, dict) else {"message": error}
    code = told.get("code")
    status = code if isinstance(code, int) and 400 <= code < 600 else 502
    return UpstreamFailed(status, str(told.get("type") or "upstream_error"), str(told.get("message")))
