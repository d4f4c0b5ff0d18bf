"""The stream of Anthropic's messages: one content block after another, as chat deltas come.

Invariant: blocks are told in order, one open at a time; a tool call's arguments are told as the policy wrote them. Of
several tool calls the first is told as it comes and the others once it is whole, since theirs may come in between.
"""

from __future__ import annotations

from typing import Any

from guiforge.proxy.bodies import dumps
from guiforge.proxy.wires.form import call_number, said_reasoning, usage_of

_STOPS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "function_call": "tool_use",
          "content_filter": "refusal"}  # fmt: skip
_DELTAS = {"text": ("text_delta", "text"), "thinking": ("thinking_delta", "thinking"),
           "tool_use": ("input_json_delta", "partial_json")}  # fmt: skip

_TYPES = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
          413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error"}  # fmt: skip


def error(status: int, type: str, text: str) -> dict[str, Any]:
    """An error in Anthropic's shape; a type that it has no name for leads the text."""
    known = _TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")
    message = text if type == known else f"{type}: {text}"
    return {"type": "error", "error": {"type": known, "message": message}}


def used(usage: Any) -> dict[str, int]:
    """A chat usage in Anthropic's words, where what came from a cache is counted apart."""
    prompt, cached, sampled, _ = usage_of(usage)
    return {"input_tokens": prompt - cached, "output_tokens": sampled, "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": 0}  # fmt: skip


def stop_of(choice: dict[str, Any]) -> dict[str, Any]:
    """`stop_reason` and `stop_sequence` of a chat choice; vLLM names the sequence in its own `stop_reason`."""
    reason, stopped_by = choice.get("finish_reason"), choice.get("stop_reason")
    if reason == "stop" and isinstance(stopped_by, str):
        return {"stop_reason": "stop_sequence", "stop_sequence": stopped_by}
    return {"stop_reason": _STOPS.get(str(reason), "end_turn"), "stop_sequence": None}


class MessagesEncoder:
    """See Encoder. model: as the request names it."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._begun = False
        self._open = ""  # kind of the block that is open
        self._index = -1
        self._calls: dict[int, dict[str, Any]] = {}  # tool calls by their number: what their block starts with
        self._later: dict[int, str] = {}  # the arguments of those that wait for the first
        self._stop: dict[str, Any] = {"stop_reason": None, "stop_sequence": None}
        self._usage: Any = None

    def feed(self, chunk: dict[str, Any]) -> list[bytes]:
        """See Encoder."""
        events = [] if self._begun else [self._begin(chunk)]
        if chunk.get("usage"):
            self._usage = chunk["usage"]
        for choice in (chunk.get("choices") or [])[:1]:
            delta = choice.get("delta") or {}
            if reasoning := said_reasoning(delta):
                events += self._more("thinking", {"thinking": "", "signature": ""}, reasoning)
            content = delta.get("content")
            if isinstance(content, str) and content:
                events += self._more("text", {"text": ""}, content)
            for call in delta.get("tool_calls") or []:
                events += self._call(call)
            if choice.get("finish_reason") is not None:
                self._stop = stop_of(choice)
        return events

    def close(self) -> list[bytes]:
        """See Encoder."""
        events = [] if self._begun else [self._begin({})]
        for number, arguments in self._later.items():
            events += [*self._shut(), *self._more("tool_use", self._calls[number], arguments)]
        end = {"type": "message_delta", "delta": self._stop, "usage": used(self._usage)}
        return [*events, *self._shut(), _event(end), _event({"type": "message_stop"})]

    def fail(self, status: int, type: str, text: str) -> list[bytes]:
        """See Encoder."""
        return [_event(error(status, type, text))]

    def _begin(self, chunk: dict[str, Any]) -> bytes:
        self._begun = True
        message: dict[str, Any] = {
            "id": f"msg_{chunk.get('id') or 0}", "type": "message", "role": "assistant", "content": [],
            "model": chunk.get("model") or self._model, "stop_reason": None, "stop_sequence": None, "usage": used(None),
        }  # fmt: skip
        return _event({"type": "message_start", "message": message})

    def _call(self, call: dict[str, Any]) -> list[bytes]:
        function = call.get("function") or {}
        number = call_number(call, len(self._calls))
        text = str(function.get("arguments") or "")
        if number not in self._calls:
            id, name = str(call.get("id") or ""), str(function.get("name") or "")
            self._calls[number] = {"id": id, "name": name, "input": {}}
            if len(self._calls) > 1:
                self._later[number] = ""
        if number in self._later:
            self._later[number] += text
            return []
        return self._more("tool_use", self._calls[number], text)

    def _more(self, kind: str, start: dict[str, Any], text: str) -> list[bytes]:
        """More of a block, which is opened first where another is open."""
        events = []
        if self._open != kind:
            events = self._shut()
            self._open, self._index = kind, self._index + 1
            block = {"type": kind, **start}
            events.append(_event({"type": "content_block_start", "index": self._index, "content_block": block}))
        if text:
            name, field = _DELTAS[kind]
            delta = {"type": name, field: text}
            events.append(_event({"type": "content_block_delta", "index": self._index, "delta": delta}))
        return events

    def _shut(self) -> list[bytes]:
        if not self._open:
            return []
        self._open = ""
        return [_event({"type": "content_block_stop", "index": self._index})]


def _event(data: dict[str, Any]) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (data["type"].encode(), dumps(data))
