"""A real HTTP server on loopback that plays a chat-completions endpoint from a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """What the scripted endpoint does with one request."""

    body: str | bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0


def says(content: str | None, **message: Any) -> Answer:
    choice = {"message": {"role": "assistant", "content": content, **message}, "finish_reason": "stop"}
    return Answer(json.dumps({"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}))


def fails(status: int, message: str, type: str = "server_error", **headers: str) -> Answer:
    return Answer(json.dumps({"error": {"message": message, "type": type}}), status, headers)


class Endpoint:
    """An HTTP server that answers from a list, the last answer for ever, and keeps what it was asked."""

    def __init__(self, *answers: Answer) -> None:
        self.answers, self.requests, self.keys = answers, list[dict[str, Any]](), list[str]()
        self.headers: list[dict[str, str]] = []
        self.url = ""

    @contextmanager
    def serve(self) -> Iterator[Endpoint]:
        end = threading.Event()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(handler) -> None:
                data = handler.rfile.read(int(handler.headers["Content-Length"]))
                self.requests.append({"path": handler.path, **json.loads(data)})
                self.keys.append(handler.headers.get("Authorization", ""))
                self.headers.append(dict(handler.headers))
                answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
                end.wait(answer.delay_s)
                body = answer.body if isinstance(answer.body, bytes) else answer.body.encode()
                handler.send_response(answer.status)
                for name, value in answer.headers.items():
                    handler.send_header(name.replace("_", "-"), value)
                handler.send_header("Content-Length", str(len(body)))
                handler.end_headers()
                handler.wfile.write(body)

            def log_message(handler, *args: Any) -> None:
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            self.url = f"http://127.0.0.1:{server.server_port}/v1"
            try:
                yield self
            finally:
                end.set()
                server.shutdown()
                thread.join()
