"""A policy inside this process, behind the OpenAI protocol on a loopback port.

Invariant: one thread answers, so a policy is never asked twice at once; only a bearer of this endpoint's own key is
answered; when the context ends, the port is closed.
"""

from __future__ import annotations

import hmac
import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from pydantic import BaseModel, ValidationError

from guiforge.wire import ChatMessage, ChatRequest, ChatResponse, Choice, ErrorBody, ErrorDetail, Reply

MAX_REQUEST_BYTES = 256 * 2**20
CLOSE_S = 1.0  # waited for an answer that is under way; a policy that hangs is left to its daemon thread
_log = logging.getLogger(__name__)

Answer = Callable[[ChatRequest], Reply]
"""A policy: from a chat request to its reply. What it raises becomes the endpoint's error 500."""


class AnswerFailed(Exception):
    """The policy has no answer, and won't have one when asked again. `type` is that of the error body."""

    def __init__(self, type: str, message: str) -> None:
        super().__init__(message)
        self.type = type


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible endpoint: `{base_url}/chat/completions`, a bearer key (may be empty), a model's name."""

    base_url: str
    api_key: str
    model: str


@contextmanager
def serve_policy(answer: Answer, model: str = "policy") -> Iterator[Endpoint]:
    """Serve a policy on a random loopback port under a random key, for as long as the context lasts."""
    key = secrets.token_urlsafe(24)
    server = _Server(answer, key, model)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), name=f"policy-{model}", daemon=True)
    thread.start()
    try:
        yield Endpoint(f"http://127.0.0.1:{server.server_port}/v1", key, model)
    finally:
        closing = threading.Thread(target=server.shutdown, name=f"close-{model}", daemon=True)
        closing.start()
        closing.join(CLOSE_S)
        server.server_close()


class _Server(HTTPServer):
    def __init__(self, answer: Answer, key: str, model: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer, self.key, self.model = answer, key, model

    def handle_error(self, request: Any, client_address: Any) -> None:
        _log.debug("a client went away", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 10  # seconds a client may be silent

    def do_POST(self) -> None:
        """Answer a chat completion."""
        given = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), self.server.key.encode()):
            return self._refuse(401, "authentication_error", "this key is not this endpoint's")
        if self.path != "/v1/chat/completions":
            return self._refuse(404, "not_found_error", f"no {self.path} here; valid is /v1/chat/completions")
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_REQUEST_BYTES:
            return self._refuse(413, "invalid_request_error", f"Content-Length must be at most {MAX_REQUEST_BYTES}")
        try:
            request = ChatRequest.model_validate_json(self.rfile.read(int(length)))
        except ValidationError as error:
            return self._refuse(400, "invalid_request_error", str(error))
        try:
            reply = self.server.answer(request)
        except AnswerFailed as error:
            return self._refuse(500, error.type, str(error))
        except Exception as error:
            return self._refuse(500, "policy_error", f"{type(error).__name__}: {error}")
        message = reply if isinstance(reply, ChatMessage) else ChatMessage(role="assistant", content=reply)
        self._send(
            200,
            ChatResponse(
                id=f"chatcmpl-{secrets.token_hex(8)}",
                created=int(time.time()),
                model=self.server.model,
                choices=[Choice(message=message, finish_reason="tool_calls" if message.tool_calls else "stop")],
            ),
        )

    def _refuse(self, status: int, type: str, message: str) -> None:
        self._send(status, ErrorBody(error=ErrorDetail(message=message, type=type)))

    def _send(self, status: int, body: BaseModel) -> None:
        data = body.model_dump_json(exclude_none=True).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if status >= 500:
            self.send_header("x-should-retry", "false")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Into the log, not onto the screen."""
        _log.debug(format, *args)
