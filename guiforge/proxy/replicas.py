"""Replicas: one or more servers of an OpenAI-compatible endpoint.

Invariant: a call is asked anew only before its first byte came; from then on it has one reply, whole or cut. An
episode stays with one replica while that is alive. No text holds the endpoint's key.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from guiforge.proxy.bodies import dumps, loads
from guiforge.proxy.book import Episode
from guiforge.proxy.metrics import Metrics
from guiforge.proxy.upstreams import Answer, Ask, UpstreamFailed, late
from guiforge.wire import ErrorBody

TRIES = 8  # with pauses that add up to half a minute, the time in which a server starts anew
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 8.0
LEFT_OUT_S, LONGEST_LEFT_OUT_S = 1.0, 30.0  # a replica that failed to take a call
CONNECT_S = 10.0
KEEP_S = 4.0  # an idle connection; servers close theirs after 5 (uvicorn) or more
DETECT_S = 5.0
MAX_ERROR_BYTES = 64 << 10
GIVES_TOKENS = ("vllm", "guiforge")  # `owned_by` of servers that take return_token_ids
_GONE = frozenset({502, 503, 504})  # statuses of a replica that is not there, as gateways say it


@dataclass(eq=False)
class _Replica:
    base_url: str
    asked: int = 0  # episodes that stick to it
    faults: int = 0  # in a row
    left_out_until: float = 0.0  # of time.monotonic

    def failed(self) -> None:
        pause = min(LEFT_OUT_S * 2**self.faults, LONGEST_LEFT_OUT_S)
        self.faults += 1
        self.left_out_until = time.monotonic() + pause


class _Again(Exception):
    """A fault that may pass. pause_s: as the upstream asked; None: as we see fit.  gone: the replica is not there."""

    def __init__(self, failure: UpstreamFailed, fault: str, pause_s: float | None = None, gone: bool = False) -> None:
        super().__init__(failure.text)
        self.failure, self.fault, self.pause_s, self.gone = failure, fault, pause_s, gone


class HttpUpstreams:
    """One or more replicas of an OpenAI-compatible endpoint, by base URL.

    tokens: whether they take vLLM's `return_token_ids`; None: as their list of models says.  model: asked for in
    place of what harnesses name; None: theirs, or where the endpoint gives tokens the one that it serves.
    """

    def __init__(
        self, base_urls: Sequence[str], api_key: str = "", *, model: str | None = None, tokens: bool | None = None
    ) -> None:
        self._replicas = [_Replica(url.rstrip("/")) for url in base_urls]
        self._key, self._model, self._tokens = api_key, model, tokens
        self._served: list[str] | None = None
        self._detecting: asyncio.Lock | None = None
        self._session: aiohttp.ClientSession | None = None
        self._metrics: Metrics | None = None

    def __repr__(self) -> str:
        return f"HttpUpstreams({[replica.base_url for replica in self._replicas]})"

    @property
    def gives_tokens(self) -> bool | None:
        """Whether the endpoint gives token ids; None while nobody could be asked."""
        return self._tokens

    async def open(self, metrics: Metrics) -> None:
        """See Upstream."""
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_S),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
            headers=headers, cookie_jar=aiohttp.DummyCookieJar(), read_bufsize=1 << 18,
        )  # fmt: skip
        self._metrics, self._detecting = metrics, asyncio.Lock()

    async def close(self) -> None:
        """See Upstream."""
        if self._session is not None:
            await self._session.close()

    async def wants(self, chat: dict[str, Any], until: float) -> dict[str, Any]:
        """See Upstream."""
        served = await self._detected(until)
        return self._fields(chat, served)

    def _fields(self, chat: dict[str, Any], served: list[str]) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        if self._model is not None:
            fields["model"] = self._model
        elif self._tokens and served and chat.get("model") not in served:
            fields["model"] = served[0]
        if self._tokens:
            fields |= {"logprobs": True, "return_token_ids": True}
        if chat.get("stream"):
            fields["stream_options"] = {**(chat.get("stream_options") or {}), "include_usage": True}
        return fields

    @asynccontextmanager
    async def ask(self, ask: Ask) -> AsyncIterator[Answer]:
        """See Upstream."""
        replica, tries = None, 1
        try:
            async with asyncio.timeout(max(ask.deadline - time.time(), 0.0)):
                response, replica, tries = await self._begin(ask)
                ask.raw = b""
                try:
                    stream = response.content_type == "text/event-stream"
                    yield Answer(replica.base_url, tries, stream, self._pieces(response, replica, tries))
                finally:
                    response.release() if response.content.at_eof() else response.close()
        except TimeoutError:
            raise late("the upstream" if replica is None else replica.base_url, tries) from None

    async def _begin(self, ask: Ask) -> tuple[aiohttp.ClientResponse, _Replica, int]:
        """Ask until a replica begins to answer. Raises UpstreamFailed."""
        waits = iter(pauses())
        for tries in range(1, TRIES + 1):
            replica = self._choose(ask.episode)
            try:
                response = await self._once(replica, ask.raw)
                replica.faults = 0
                return response, replica, tries
            except UpstreamFailed as failure:
                failure.tries = tries
                raise
            except _Again as again:
                self._fault(replica, again.fault)
                if again.gone:
                    replica.failed()
                    ask.episode.replica = None
                if again.pause_s is not None:
                    wait_s = again.pause_s
                else:
                    wait_s = 0.0 if again.gone and self._alive() else next(waits, LONGEST_PAUSE_S)
                if tries == TRIES or time.time() + wait_s >= min(ask.deadline, ask.retry_until):
                    again.failure.tries = tries
                    raise again.failure from None
                await asyncio.sleep(wait_s)
        raise AssertionError("unreachable")

    def _alive(self) -> list[_Replica]:
        now = time.monotonic()
        return [replica for replica in self._replicas if replica.left_out_until <= now]

    def _choose(self, episode: Episode) -> _Replica:
        """The episode's replica while it is alive; else the one with the fewest episodes, which it then sticks to."""
        alive = self._alive()
        if episode.replica is not None and self._replicas[episode.replica] in alive:
            return self._replicas[episode.replica]
        if alive:
            chosen = min(alive, key=lambda replica: replica.asked)
        else:
            chosen = min(self._replicas, key=lambda replica: replica.left_out_until)
        chosen.asked += 1
        episode.replica = self._replicas.index(chosen)
        return chosen

    async def _once(self, replica: _Replica, raw: bytes) -> aiohttp.ClientResponse:
        """One request, to the beginning of its reply. Raises UpstreamFailed, _Again."""
        assert self._session is not None, "the upstream is not open"
        url = replica.base_url
        try:
            response = await self._session.post(f"{url}/chat/completions", data=raw)
            if response.status == 200:
                return response
            complaint = await response.content.read(MAX_ERROR_BYTES)
            response.close()
        except aiohttp.ClientError as error:
            what = f"upstream {url} can't be reached: {type(error).__name__}: {error}"
            failure = UpstreamFailed(502, "upstream_unreachable", what, upstream=url)
            raise _Again(failure, "unreachable", gone=True) from None
        return self._refusal(response, url, complaint)

    def _refusal(self, response: aiohttp.ClientResponse, url: str, body: bytes) -> aiohttp.ClientResponse:
        """Raises what an error response means."""
        status, (type, text) = response.status, _complaint(body)
        if status in (401, 403):
            what = f"upstream {url} refuses the proxy's own key: {status} {text}"
            raise UpstreamFailed(502, "upstream_refused", what, upstream=url)
        failure = UpstreamFailed(status if status >= 400 else 502, type or "upstream_error", text, upstream=url)
        if (status == 429 or status >= 500) and response.headers.get("x-should-retry") != "false":
            raise _Again(failure, str(status), _seconds(response.headers.get("retry-after")), gone=status in _GONE)
        self._fault_at(url, str(status))
        raise failure

    async def _pieces(self, response: aiohttp.ClientResponse, replica: _Replica, tries: int) -> AsyncIterator[bytes]:
        try:
            while piece := await response.content.readany():
                yield piece
        except aiohttp.ClientError as error:
            self._fault(replica, "broke_off")
            what = f"upstream {replica.base_url} broke off its reply: {type(error).__name__}: {error}"
            raise UpstreamFailed(502, "upstream_broke_off", what, upstream=replica.base_url, tries=tries) from None

    def _fault(self, replica: _Replica, fault: str) -> None:
        self._fault_at(replica.base_url, fault)

    def _fault_at(self, url: str, fault: str) -> None:
        if self._metrics is not None:
            self._metrics.fault(url, fault)

    async def _detected(self, until: float = math.inf) -> list[str]:
        """What the endpoint serves. Raises UpstreamFailed where it can't be asked: then no call could be exact."""
        if self._served is None:
            assert self._detecting is not None, "the upstream is not open"
            async with self._detecting:
                for pause_s in (0.0, *pauses()):
                    if pause_s and time.time() + pause_s >= until:
                        break
                    await asyncio.sleep(pause_s)
                    if self._served is not None or await self.look():
                        break
        if self._served is None:
            urls = ", ".join(replica.base_url for replica in self._replicas)
            raise UpstreamFailed(502, "upstream_unreachable", f"upstream {urls} can't be reached", tries=TRIES)
        return self._served

    async def look(self) -> bool:
        """Ask once what the endpoint serves, and whether it gives tokens; whether there was an answer."""
        for replica in self._alive() or self._replicas:
            found = await self._get(f"{replica.base_url}/models")
            if found is not None:
                data = found.get("data")
                models = [m for m in data if isinstance(m, dict)] if isinstance(data, list) else []
                self._served = [model["id"] for model in models if isinstance(model.get("id"), str)]
                if self._tokens is None:
                    self._tokens = any(model.get("owned_by") in GIVES_TOKENS for model in models)
                return True
        return False

    async def models(self) -> list[str]:
        """See Upstream."""
        served = await self._detected()
        return [self._model] if self._model is not None and self._model not in served else served

    async def count(self, chat: dict[str, Any]) -> int | None:
        """See Upstream; vLLM says it at `/tokenize`, beside its `/v1`."""
        served = await self._detected()
        if not self._tokens:
            return None
        fields = {name: chat[name] for name in ("messages", "tools") if name in chat} | self._fields({}, served)
        body = {name: value for name, value in fields.items() if name in ("messages", "tools", "model")}
        url = self._replicas[0].base_url.removesuffix("/v1")
        found = await self._get(f"{url}/tokenize", dumps(body))
        count = None if found is None else found.get("count")
        return count if isinstance(count, int) else None

    async def _get(self, url: str, body: bytes | None = None) -> dict[str, Any] | None:
        """The object at a URL (asked for with a body where there is one), {} for an answer that is none, else None."""
        assert self._session is not None, "the upstream is not open"
        try:
            async with asyncio.timeout(DETECT_S):
                async with self._session.request("GET" if body is None else "POST", url, data=body) as response:
                    found = loads(await response.read()) if response.status == 200 else {}
        except (aiohttp.ClientError, TimeoutError):
            return None
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


def _complaint(data: bytes) -> tuple[str | None, str]:
    """Type and message of an error body; the beginning of whatever else came."""
    try:
        error = ErrorBody.model_validate_json(data).error
    except ValueError:
        return None, data[:500].decode("utf-8", "replace").strip()
    return error.type, error.message


def _seconds(retry_after: str | None) -> float | None:
    """A Retry-After header in seconds; None for none or a date."""
    try:
        return None if retry_after is None else max(float(retry_after), 0.0)
    except ValueError:
        return None


def pauses() -> list[float]:
    """Seconds between the tries of one call, where the upstream does not say."""
    return [min(FIRST_PAUSE_S * 2**i, LONGEST_PAUSE_S) for i in range(TRIES - 1)]
