"""OpenAI's chat completions: the proxy's own terms, so requests and replies pass as they are.

Source: OpenAI API reference, chat completions.
"""

from __future__ import annotations

from typing import Any

from guiforge.proxy.bodies import dumps
from guiforge.proxy.wires.form import Encoder, an_object, bad, image_url, objects, openai_error
from guiforge.trace import Wire

_UNRECORDED = frozenset({"input_audio", "audio_url", "video_url", "video", "file"})


class Chat:
    """See WireFormat."""

    name: Wire = "chat"

    def to_chat(self, body: dict[str, Any]) -> dict[str, Any]:
        """See WireFormat: the body itself."""
        messages = objects(body.get("messages"), "messages")
        if not messages:
            raise bad("messages", "there must be at least one")
        if body.get("n") not in (None, 1):
            raise bad("n", "must be 1; a call is one reply, so send the request n times")
        if not isinstance(body.get("stream"), bool | None):
            raise bad("stream", "must be true or false")
        if body.get("stream_options") is not None:
            an_object(body["stream_options"], "stream_options")
        for message, where in messages:
            if not isinstance(message.get("role"), str):
                raise bad(f"{where}.role", "must be a text")
            content = message.get("content")
            if isinstance(content, str) or content is None:
                continue
            for part, place in objects(content, f"{where}.content"):
                _check(part, place)
        return body

    def reply(self, request: dict[str, Any], completion: dict[str, Any]) -> dict[str, Any]:
        """See WireFormat."""
        return completion

    def encoder(self, request: dict[str, Any]) -> Encoder:
        """See WireFormat."""
        return ChatEncoder()

    def error(self, status: int, type: str, text: str) -> dict[str, Any]:
        """See WireFormat."""
        return openai_error(type, text)

    def count_tokens(self, tokens: int) -> dict[str, Any]:
        """See WireFormat; the protocol has no such route."""
        return {"count": tokens}


class ChatEncoder:
    """Chunks as server-sent events."""

    def feed(self, chunk: dict[str, Any]) -> list[bytes]:
        """See Encoder."""
        return [b"data: %b\n\n" % dumps(chunk)]

    def close(self) -> list[bytes]:
        """See Encoder."""
        return [b"data: [DONE]\n\n"]

    def fail(self, status: int, type: str, text: str) -> list[bytes]:
        """See Encoder."""
        return [b"data: %b\n\n" % dumps(openai_error(type, text))]


def _check(part: dict[str, Any], where: str) -> None:
    """Raises Refused for a part that could not be recorded."""
    kind = part.get("type")
    if isinstance(kind, str) and kind in _UNRECORDED:
        raise bad(where, f"a part of type {kind} can't be recorded; valid are text and image_url")
    if kind == "image_url" or "image_url" in part:
        given = part.get("image_url")
        image_url(given.get("url") if isinstance(given, dict) else given, f"{where}.image_url")
