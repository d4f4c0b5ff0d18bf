"""Admission: from a request to a call under way: whose it is, whether it may, what it says.

Invariant: a request that is refused here leaves no Call and never reaches the policy; one that is admitted has its
place among its episode's calls, and is counted, before anything is waited for.
"""

from __future__ import annotations

import asyncio
import math
import time
import zlib
from dataclasses import dataclass, replace
from typing import Any

from aiohttp import web

from guiforge.proxy.bodies import dumps, loads
from guiforge.proxy.book import Book, Episode
from guiforge.proxy.budget import Budget
from guiforge.proxy.calls import Exchange, Parts
from guiforge.proxy.gate import Gate
from guiforge.proxy.images import Found, find
from guiforge.proxy.keys import Claim, Keys, Kind
from guiforge.proxy.out import NO_RETRY, HttpOut, HungUp, Out, Shared
from guiforge.proxy.recording import Draft
from guiforge.proxy.upstreams import Replay
from guiforge.proxy.wires import Refused, WireFormat
from guiforge.store import RunReader

MAX_IDEMPOTENCY_KEY = 256  # characters


def claim_of(request: web.Request, keys: Keys, kind: Kind) -> Claim:
    """What the request's key says, read from `Authorization: Bearer` or `x-api-key`. Raises Refused."""
    claim = keys.read(bearer(request))
    if claim is None:
        raise Refused(401, "invalid_api_key", "this key is none of this proxy's")
    if claim.kind != kind:
        what = "asks for completions" if claim.kind == "c" else "is a worker's"
        raise Refused(403, "wrong_key", f"this key {what}; it opens nothing here")
    return claim


def bearer(request: web.Request) -> str:
    """The key that came with a request; empty where none did."""
    header = request.headers.get("Authorization", "")
    return header[7:].strip() if header[:7].lower() == "bearer " else request.headers.get("x-api-key", "")


@dataclass
class _Incoming:
    """A request that was read. key: its idempotency key.  retry_until: Unix seconds when its harness gives up.

    chat: as the upstream is asked.  raw: its JSON.  Both are let go of once the call is on its way.
    """

    episode: Episode
    wire: WireFormat
    body: dict[str, Any]
    chat: dict[str, Any]
    raw: bytes
    found: list[Found]
    queued: float
    retry_until: float
    key: str | None
    held: Held


class Admission:
    """Takes model calls in."""

    def __init__(self, parts: Parts, keys: Keys, book: Book, gate: Gate, budget: Budget, store: RunReader) -> None:
        self._parts, self._keys, self._book, self._gate = parts, keys, book, gate
        self._budget, self._store = budget, store

    async def handle(self, request: web.Request, wire: WireFormat) -> web.StreamResponse:
        """Serve a model call."""
        queued = time.time()
        out = HttpOut(request)
        held = Held(self._budget)
        try:
            episode = self._book.episode(claim_of(request, self._keys, "c"))
            episode.check(self._gate.updates)
            await held.take(_length(request, episode.limits.body_bytes))
            raw, body = await read_body(request, episode.limits.body_bytes)
            found = find(body)
            chat = wire.to_chat(body)
            if chat is not body:
                episode.arguments.restore(chat)
                raw = dumps(chat)
            until = queued + _patience_s(request)
            incoming = _Incoming(episode, wire, body, chat, raw, found, queued, until, _idempotency_key(request), held)
            del raw, body, chat
            await (self._call(incoming, out) if incoming.key is None else self._call_once(incoming, incoming.key, out))
        except Refused as refused:
            await self._refuse(refused, wire, out)
        except HungUp:
            return out.response or web.Response(status=400)  # which nobody reads
        finally:
            held.give()
        assert out.response is not None, "a call ended without a response"
        return out.response

    async def _refuse(self, refused: Refused, wire: WireFormat, out: Out) -> None:
        self._parts.metrics.refused(refused.type)
        await out.whole(refused.status, dumps(wire.error(refused.status, refused.type, refused.text)), NO_RETRY)

    async def _call(self, incoming: _Incoming, out: Out) -> int | None:
        """Serve a call; returns its index, or None where it has no reply. Raises Refused, HungUp."""
        episode = incoming.episode
        images = await self._parts.images.begin(incoming.found, episode.limits)
        await self._enter(episode)
        flight = asyncio.current_task()
        assert flight is not None, "a call runs in a task"
        episode.flights.add(flight)
        try:
            episode.check(self._gate.updates)
            index = episode.begin_call(self._gate.updates)
            draft = Draft(
                episode, index, episode.steps, incoming.wire.name, incoming.body, incoming.queued,
                idempotency_key=incoming.key, policy_version=self._gate.version, retry_until=incoming.retry_until,
            )  # fmt: skip
            exchange = Exchange(
                self._parts, draft, incoming.wire, incoming.chat, incoming.raw, images, out, incoming.held.give
            )
            incoming.raw, incoming.chat = b"", {}
            return index if await exchange.run() else None
        finally:
            episode.flights.discard(flight)
            self._gate.leave()

    async def _enter(self, episode: Episode) -> None:
        try:
            async with asyncio.timeout(max(episode.deadline - time.time(), 0.0)):
                await self._gate.enter()
        except TimeoutError:
            episode.check_deadline()
            raise

    async def _call_once(self, incoming: _Incoming, key: str, out: Out) -> None:
        """Serve a call with an idempotency key: the first asks, and goes on when its harness hangs up."""
        replies = incoming.episode.replies
        if isinstance(replies.get(key), int):
            await self._replay(incoming, replies[key], out)
            return
        if key not in replies:
            replies[key] = Shared()
            moved = replace(incoming, held=incoming.held.moved())
            incoming.raw, incoming.chat = b"", {}
            self._parts.background(self._ask_once(moved, key, replies[key]))
        await replies[key].play(out)

    async def _ask_once(self, incoming: _Incoming, key: str, shared: Shared) -> None:
        replies = incoming.episode.replies
        index = None
        try:
            index = await self._call(incoming, shared)
        except Refused as refused:
            await self._refuse(refused, incoming.wire, shared)
        finally:
            incoming.held.give()
            shared.stop()
            if index is None:
                replies.pop(key, None)
            else:
                replies[key] = index

    async def _replay(self, incoming: _Incoming, index: int, out: Out) -> None:
        episode, wire, body = incoming.episode, incoming.wire, incoming.body
        images = await self._parts.images.begin(incoming.found, episode.limits)
        images.replace()
        await images.stored()
        calls = await asyncio.to_thread(self._store.calls, episode.key)
        call = next(call for call in calls if call.index == index)
        if call.request != body or call.wire != wire.name:
            raise Refused(422, "idempotency_mismatch", "this idempotency key was used for another request")
        draft = Draft(episode, index, call.step, wire.name, body, call.queued)
        replay = Replay(call.raw, call.upstream, call.tries)
        exchange = Exchange(
            self._parts, draft, wire, incoming.chat, b"", images, out, incoming.held.give, replay=replay
        )
        await exchange.run()


class Held:
    """Bytes of the budget for one body; given back when its reply begins, or on the way out."""

    def __init__(self, budget: Budget, size: int = 0) -> None:
        self._budget, self._size = budget, size

    async def take(self, size: int) -> None:
        """Wait for that many."""
        await self._budget.take(size)
        self._size = size

    def give(self) -> None:
        """Give them back; safe to do twice."""
        size, self._size = self._size, 0
        self._budget.give(size)

    def moved(self) -> Held:
        """The same bytes, for someone else to give back."""
        size, self._size = self._size, 0
        return Held(self._budget, size)


def _length(request: web.Request, most: int) -> int:
    """How many bytes the body may turn out to have. Raises Refused where it says that it is too large."""
    size = request.content_length
    if size is not None and size > most:
        raise _too_large(most)
    return size if size is not None and "Content-Encoding" not in request.headers else most


def _patience_s(request: web.Request) -> float:
    """How long a harness waits, where it says so, as the SDKs do; what is asked anew later than that nobody hears."""
    try:
        patience_s = float(request.headers.get("x-stainless-timeout", "inf"))
    except ValueError:
        return math.inf
    return patience_s if patience_s > 0 else math.inf


async def read_body(request: web.Request, most: int) -> tuple[bytes, dict[str, Any]]:
    """A request's body (unpacked), and the JSON object in it. Raises Refused, HungUp."""
    pieces, size = [], 0
    try:
        while piece := await request.content.readany():
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise _too_large(most)
    except (web.RequestPayloadError, ConnectionError):
        raise HungUp from None
    raw = _unpacked(b"".join(pieces), request.headers.get("Content-Encoding", "identity").lower(), most)
    try:
        body = loads(raw)
    except ValueError as error:
        raise Refused(400, "invalid_request_error", f"the request's body is no JSON: {error}") from None
    if not isinstance(body, dict):
        raise Refused(400, "invalid_request_error", "the request's body is no JSON object")
    return raw, body


def _unpacked(data: bytes, encoding: str, most: int) -> bytes:
    if encoding == "identity":
        return data
    if encoding not in ("gzip", "deflate"):
        raise Refused(415, "invalid_request_error", f"Content-Encoding {encoding}: valid are gzip, deflate, identity")
    unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # either's header
    try:
        unpacked = unpacking.decompress(data, most + 1)
    except zlib.error:
        raise Refused(400, "invalid_request_error", f"the request's body is no {encoding}") from None
    if len(unpacked) > most:
        raise _too_large(most)
    if not unpacking.eof:
        raise Refused(400, "invalid_request_error", f"the request's body is cut {encoding}")
    return unpacked


def _too_large(most: int) -> Refused:
    return Refused(413, "limit_body_bytes", f"the request's body is larger than {most} bytes")


def _idempotency_key(request: web.Request) -> str | None:
    """The `Idempotency-Key` header.

    The openai and anthropic SDKs (3.57 and 2.14) make such a key for every call but name no header for it, so they
    send none unless it is given as an extra header; their retries carry `x-stainless-retry-count` alone, which says
    that a call is one but not of which.
    """
    key = request.headers.get("Idempotency-Key")
    if key is not None and not 0 < len(key) <= MAX_IDEMPOTENCY_KEY:
        raise Refused(400, "invalid_request_error", f"Idempotency-Key must have 1 to {MAX_IDEMPOTENCY_KEY} characters")
    return key
