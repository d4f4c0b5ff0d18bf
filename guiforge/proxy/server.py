"""The proxy's routes. Thin: each finds who asks and hands on.

Invariant: whoever asks, every answer is in the shape of the wire that was asked in, errors too.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from aiohttp import web

from guiforge.proxy.admin import admin_routes
from guiforge.proxy.admission import Admission, claim_of, read_body
from guiforge.proxy.bodies import dumps
from guiforge.proxy.images import Images
from guiforge.proxy.metrics import CONTENT_TYPE
from guiforge.proxy.out import NO_RETRY, HungUp
from guiforge.proxy.upstreams import UpstreamFailed
from guiforge.proxy.wires import WIRES, Refused, WireFormat
from guiforge.proxy.worker import worker_routes
from guiforge.store.errors import free_bytes
from guiforge.trace import Wire

if TYPE_CHECKING:
    from guiforge.proxy.proxy import Proxy

CHARACTERS_A_TOKEN = 3.5  # where nobody can count: about English under the tokenizers in use
TOKENS_AN_IMAGE = 1_500
_PATHS: dict[Wire, str] = {"chat": "chat/completions", "responses": "responses", "messages": "messages"}
_NOT_FOUND = "not_found_error"
_log = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def application(proxy: Proxy, admission: Admission, images: Images) -> web.Application:
    """The aiohttp application of a proxy."""
    routes = Routes(proxy, admission)
    app = web.Application(client_max_size=1 << 40)  # each episode's own limit is kept instead
    for name, path in _PATHS.items():
        app.router.add_post(f"/v1/{path}", routes.calls(WIRES[name]))
    app.router.add_post("/v1/messages/count_tokens", routes.count_tokens)
    app.router.add_get("/v1/models", routes.models)
    app.router.add_get("/v1/models/{id:.+}", routes.model)
    app.router.add_get("/healthz", routes.health)
    app.router.add_get("/metrics", routes.metrics)
    app.router.add_routes(admin_routes(proxy))
    app.router.add_routes(worker_routes(proxy, images))
    app.router.add_route("*", "/{path:.*}", routes.unknown)
    return app


class Routes:
    """The handlers of the agent's side."""

    def __init__(self, proxy: Proxy, admission: Admission) -> None:
        self._proxy, self._admission = proxy, admission

    def calls(self, wire: WireFormat) -> Handler:
        """The handler of a wire's model calls."""

        async def handle(request: web.Request) -> web.StreamResponse:
            try:
                return await self._admission.handle(request, wire)
            except Exception:  # a fault of ours: said in the wire's words, with nothing of the request in it
                _log.exception("a model call failed by a fault of the proxy")
                return answer(500, wire.error(500, "proxy_error", "the proxy failed; its log says how"), NO_RETRY)

        return handle

    async def count_tokens(self, request: web.Request) -> web.StreamResponse:
        """Anthropic's count of a prompt's tokens: the upstream's own where it counts, else an estimate."""
        wire = WIRES["messages"]
        try:
            episode = self._proxy.book.episode(claim_of(request, self._proxy.keys, "c"))
            _, body = await read_body(request, episode.limits.body_bytes)
            chat = wire.to_chat({"max_tokens": 1, **body})
            try:
                counted = await episode.upstream.count(chat)
            except UpstreamFailed:  # an estimate needs nobody
                counted = None
            return answer(200, wire.count_tokens(_estimate(chat) if counted is None else counted))
        except Refused as refused:
            return refusal(wire, refused)
        except HungUp:
            return web.Response(status=400)  # which nobody reads

    async def models(self, request: web.Request) -> web.StreamResponse:
        """The models that the policy has, in the fields of both OpenAI's and Anthropic's lists."""
        try:
            episode = self._proxy.book.episode(claim_of(request, self._proxy.keys, "c"))
            data = [_model(name) for name in await episode.upstream.models()]
        except Refused as refused:
            return refusal(_wire_of(request), refused)
        except UpstreamFailed as failed:
            return refusal(_wire_of(request), Refused(failed.status, failed.type, failed.text))
        ends = {"first_id": data[0]["id"], "last_id": data[-1]["id"]} if data else {"first_id": None, "last_id": None}
        return answer(200, {"object": "list", "data": data, "has_more": False, **ends})

    async def model(self, request: web.Request) -> web.StreamResponse:
        """One model; any name is one, since the policy answers to all."""
        try:
            claim_of(request, self._proxy.keys, "c")
        except Refused as refused:
            return refusal(_wire_of(request), refused)
        return answer(200, _model(request.match_info["id"]))

    async def health(self, request: web.Request) -> web.StreamResponse:
        """Whether the proxy serves, for who starts it; says nothing that needs a key."""
        proxy = self._proxy
        free = free_bytes(proxy.store.path)
        state = "paused" if proxy.gate.paused else "serving"
        return answer(200, {"status": state, "in_flight": proxy.gate.in_flight, "disk_free_bytes": free})

    async def metrics(self, request: web.Request) -> web.StreamResponse:
        """What was counted, for Prometheus."""
        return web.Response(body=self._proxy.metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    async def unknown(self, request: web.Request) -> web.StreamResponse:
        """Any other path."""
        valid = "/v1/chat/completions, /v1/responses, /v1/messages, /v1/messages/count_tokens, /v1/models"
        text = f"there is no {request.method} {request.path} here; valid are {valid}"
        return refusal(_wire_of(request), Refused(404, _NOT_FOUND, text))


def answer(status: int, body: Any, headers: dict[str, str] | None = None) -> web.Response:
    """A JSON response."""
    return web.Response(status=status, body=dumps(body), content_type="application/json", headers=headers)


def refusal(wire: WireFormat, refused: Refused) -> web.Response:
    """An error in a wire's shape."""
    return answer(refused.status, wire.error(refused.status, refused.type, refused.text), NO_RETRY)


def _wire_of(request: web.Request) -> WireFormat:
    """Which wire a side route was asked in."""
    anthropic = "anthropic-version" in request.headers or request.path.startswith("/v1/messages")
    return WIRES["messages" if anthropic else "chat"]


def _model(name: str) -> dict[str, Any]:
    return {
        "id": name, "object": "model", "type": "model", "display_name": name, "owned_by": "guiforge", "created": 0,
        "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(0)),
    }  # fmt: skip


def _estimate(chat: dict[str, Any]) -> int:
    """About how many tokens a prompt has: by its characters, and a round number for each image."""
    characters = images = 0
    level: list[Any] = [chat.get("messages"), chat.get("tools")]
    while level:
        node = level.pop()
        if isinstance(node, str):
            images += node.startswith("data:")
            characters += 0 if node.startswith("data:") else len(node)
        elif isinstance(node, dict | list):
            level += node.values() if isinstance(node, dict) else node
    return round(characters / CHARACTERS_A_TOKEN) + images * TOKENS_AN_IMAGE
