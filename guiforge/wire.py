"""The OpenAI chat-completions wire: the parts of request, response and error body that guiforge's two sides read.

Invariant: fields not named here pass through untouched (`extra="allow"`), so a request is forwarded as it came.
Source: OpenAI API reference, chat completions; `reasoning_content` as DeepSeek, Kimi and vLLM send it.
"""

from __future__ import annotations

import base64
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Wire(BaseModel):
    model_config = ConfigDict(extra="allow")


class ContentPart(_Wire):
    """A part of a message: `{"type": "text", "text": ...}` or `{"type": "image_url", "image_url": {"url": ...}}`."""

    type: str
    text: str | None = None
    image_url: dict[str, Any] | None = None


class FunctionCall(_Wire):
    """Which function a model calls, and its arguments: a JSON object as text, or (some servers) as data."""

    name: str
    arguments: str | dict[str, Any] = ""


class ToolCall(_Wire):
    """One tool call of a reply; a `tool` message answers it by `id`."""

    id: str = ""
    type: str = "function"
    function: FunctionCall


class ChatMessage(_Wire):
    """One message of a conversation. `tool_call_id`: of a `tool` message, the call it answers."""

    role: str
    content: str | list[ContentPart] | None = None
    reasoning_content: str | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None

    @property
    def text(self) -> str:
        """The message's text parts, joined."""
        if isinstance(self.content, list):
            return "".join(part.text or "" for part in self.content)
        return self.content or ""

    @property
    def images(self) -> list[str]:
        """URLs of the message's images."""
        parts = self.content if isinstance(self.content, list) else []
        return [str(part.image_url.get("url", "")) for part in parts if part.image_url is not None]


class ChatRequest(_Wire):
    """A request for a chat completion."""

    model: str
    messages: list[ChatMessage] = Field(min_length=1)
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    tools: list[dict[str, Any]] | None = None
    stream: bool | None = False


Reply = str | ChatMessage
"""What a policy says: the text of its message, or the whole message where there is more to it than text."""


class Choice(_Wire):
    """One sampled reply."""

    index: int = 0
    message: ChatMessage
    finish_reason: str | None = None


class Usage(_Wire):
    """Tokens spent."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None


class ChatResponse(_Wire):
    """A chat completion."""

    id: str = ""
    object: str = "chat.completion"
    created: int = 0
    model: str = ""
    choices: list[Choice] = Field(min_length=1)
    usage: Usage | None = None


class ErrorDetail(_Wire):
    """What went wrong. `type` names the kind (`invalid_request_error`, `rate_limit_error`, ...)."""

    message: str
    type: str | None = None
    code: str | int | None = None


class ErrorBody(_Wire):
    """The body of an error response: `{"error": {"message": ..., "type": ...}}`."""

    error: ErrorDetail


def text_part(text: str) -> dict[str, Any]:
    """A text content part, as it is sent."""
    return {"type": "text", "text": text}


def image_part(data: bytes, media_type: str) -> dict[str, Any]:
    """An image content part with the bytes as a data URL, as it is sent."""
    url = f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"
    return {"type": "image_url", "image_url": {"url": url}}


def message(role: Literal["system", "user", "assistant"], content: str | list[dict[str, Any]]) -> dict[str, Any]:
    """A message, as it is sent."""
    return {"role": role, "content": content}


def tool_message(call: ToolCall, content: str) -> dict[str, Any]:
    """What a tool call came to, as it is sent."""
    return {"role": "tool", "tool_call_id": call.id, "content": content}
