"""Streams: server-sent events into chat chunks, and chunks (or a whole completion) into what was said.

Invariant: what `Said` holds is what the upstream sent and nothing else: token ids and log-probabilities as they came,
joined in order, never made from text. Whatever an upstream sends, the only exception is Rubbish.
Sources: WHATWG HTML, server-sent events; OpenAI API reference, chat completion chunks; vLLM 0.10.2 and later with
`return_token_ids`: `prompt_token_ids` at the top of a completion or of a stream's first chunk, `choices[].token_ids`
of the completion or of the chunk alone (chunks without text are sent too, so none is missing), and with `logprobs`
one entry of `choices[].logprobs.content` a token. They are the sampling distribution's only where the server was
started with `--logprobs-mode processed_logprobs`.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Any

from guiforge.proxy.bodies import loads
from guiforge.trace import Tokens, sampled_count

MAX_REPLY_BYTES = 64 << 20
DONE = b"[DONE]"


class Rubbish(Exception):
    """An upstream sent what is no chat completion; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Event:
    """A server-sent event: its bytes with the blank line that ends it, and its data (empty for a comment)."""

    raw: bytes
    data: bytes


class Events:
    """Cuts a byte stream into events, wherever its pieces end."""

    def __init__(self) -> None:
        self._rest = b""
        self._size = 0

    def feed(self, piece: bytes) -> list[Event]:
        """The events that are complete with this piece. Raises Rubbish for a stream past MAX_REPLY_BYTES."""
        self._size += len(piece)
        if self._size > MAX_REPLY_BYTES:
            raise Rubbish(f"a stream of more than {MAX_REPLY_BYTES} bytes")
        text = self._rest + piece
        if b"\r" in text:
            # A lone CR may be half of a CRLF whose other half comes with the next piece.
            text, held = (text[:-1], b"\r") if text.endswith(b"\r") else (text, b"")
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") + held
        *whole, self._rest = text.split(b"\n\n")
        return [Event(event + b"\n\n", _data(event)) for event in whole if event]

    def rest(self) -> list[Event]:
        """The last event of a stream that ended without the blank line."""
        event, self._rest = self._rest.strip(b"\r\n"), b""
        return [Event(event + b"\n\n", _data(event))] if event else []


def _data(event: bytes) -> bytes:
    if event.startswith(b"data:") and b"\n" not in event:
        return event[5:].strip(b" ")
    lines = (line for line in event.split(b"\n") if line.startswith(b"data:"))
    return b"\n".join(line[5:].removeprefix(b" ") for line in lines)


@dataclass(frozen=True)
class Said:
    """What a policy said. message: in the form of chat completions, None where nothing came."""

    message: dict[str, Any] | None = None
    tokens: Tokens | None = None
    finish_reason: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)

    @property
    def sampled(self) -> int:
        """How many tokens were sampled."""
        return sampled_count(self.tokens, self.usage)


class Assembly:
    """Puts the chunks of one stream together."""

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self._message: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}
        self._calls: list[dict[str, Any]] = []
        self._prompt_ids: list[int] | None = None
        self._sampled_ids: list[int] = []
        self._logprobs: list[float] = []
        self._usage: dict[str, Any] = {}

    def add(self, chunk: dict[str, Any]) -> None:
        """Take the next chunk. Raises Rubbish."""
        if isinstance(chunk.get("usage"), dict):
            self._usage = chunk["usage"]
        if chunk.get("prompt_token_ids") is not None:
            self._prompt_ids = chunk["prompt_token_ids"]
        choices = chunk.get("choices")
        if not choices:
            return
        choice = choices[0] if isinstance(choices, list) else None
        if not isinstance(choice, dict):
            raise Rubbish("a chunk whose choices are no list of objects")
        delta = choice.get("delta") or {}
        if not isinstance(delta, dict):
            raise Rubbish("a chunk whose delta is no object")
        for name, value in delta.items():
            if name == "tool_calls":
                self._add_calls(value or [])
            elif isinstance(value, str) and name != "role":
                self._texts.setdefault(name, []).append(value)
            elif value is not None:
                self._message[name] = value
        if choice.get("token_ids"):
            self._sampled_ids += _list(choice["token_ids"])
        if choice.get("logprobs"):
            self._logprobs += _logprobs(choice["logprobs"])
        if choice.get("finish_reason") is not None:
            self.finish_reason = str(choice["finish_reason"])

    def _add_calls(self, deltas: Any) -> None:
        for delta in _list(deltas):
            if not isinstance(delta, dict) or not isinstance(delta.get("function") or {}, dict):
                raise Rubbish("a tool call that is no object")
            call = self._call(delta)
            function = delta.get("function") or {}
            for name in ("id", "type"):
                if isinstance(delta.get(name), str) and delta[name]:
                    call[name] = delta[name]
            if isinstance(function.get("name"), str) and function["name"]:
                call["function"]["name"] = function["name"]
            if isinstance(function.get("arguments"), str):
                call["function"]["arguments"] += function["arguments"]

    def _call(self, delta: dict[str, Any]) -> dict[str, Any]:
        """The call that a delta belongs to: by its index, else (some servers send none) by its id, else the latest."""
        index, id = delta.get("index"), delta.get("id")
        for call in self._calls:
            if call["index"] == index if isinstance(index, int) else id and call.get("id") == id:
                return call
        if not isinstance(index, int) and not id and self._calls:
            return self._calls[-1]
        index = index if isinstance(index, int) else len(self._calls)
        self._calls.append({"index": index, "type": "function", "function": {"name": "", "arguments": ""}})
        return self._calls[-1]

    def said(self) -> Said:
        """What was said so far. Raises Rubbish."""
        message = None
        if self._message or self._texts or self._calls or self.finish_reason:
            message = {"role": "assistant", "content": None, **self._message}
            message |= {name: "".join(texts) for name, texts in self._texts.items()}
            if self._calls:
                message["tool_calls"] = [{k: v for k, v in call.items() if k != "index"} for call in self._calls]
            _check(message)
        tokens = _tokens(self._prompt_ids, self._sampled_ids, self._logprobs, self._usage)
        return Said(message, tokens, self.finish_reason, self._usage)


def said(completion: Any) -> Said:
    """What a whole chat completion says. Raises Rubbish."""
    choices = completion.get("choices") if isinstance(completion, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise Rubbish("no chat completion: it has no choices with a message")
    _check(message)
    logprobs = _logprobs(choice["logprobs"]) if choice.get("logprobs") else []
    reason = choice.get("finish_reason")
    usage = completion["usage"] if isinstance(completion.get("usage"), dict) else {}
    tokens = _tokens(completion.get("prompt_token_ids"), choice.get("token_ids"), logprobs, usage)
    return Said(message, tokens, None if reason is None else str(reason), usage)


def as_chunks(completion: dict[str, Any]) -> list[dict[str, Any]]:
    """A whole completion as the chunks of a stream, for a harness that asked for one: what was said, then its end."""
    choice = completion["choices"][0]
    head = {"id": "", "created": 0, "model": "", **completion, "object": "chat.completion.chunk"}
    usage = head.pop("usage", None)
    delta = {"role": "assistant", **choice["message"]}
    if delta.get("tool_calls"):
        delta["tool_calls"] = [{"index": i, **call} for i, call in enumerate(delta["tool_calls"])]
    rest = {name: value for name, value in choice.items() if name not in ("message", "finish_reason")}
    first = {**rest, "index": 0, "delta": delta, "finish_reason": None}
    last: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": choice.get("finish_reason") or "stop"}
    chunks = [{**head, "choices": [first]}, {**head, "choices": [last]}]
    return chunks if usage is None else [*chunks, {**head, "choices": [], "usage": usage}]


def read_event(event: Event) -> dict[str, Any]:
    """The chunk in an event. Raises Rubbish."""
    try:
        chunk = loads(event.data)
    except ValueError as error:
        raise Rubbish(f"an event that is no JSON: {error}") from None
    if not isinstance(chunk, dict):
        raise Rubbish("an event that is no object")
    return chunk


def _check(message: dict[str, Any]) -> None:
    """Raises Rubbish for a message that the readers of a Call could not read."""
    content, calls, reasoning = message.get("content"), message.get("tool_calls"), message.get("reasoning_content")
    if not (content is None or isinstance(content, str)):
        for part in _list(content):
            if not isinstance(part, dict) or not isinstance(part.get("type"), str):
                raise Rubbish("a message whose content is neither text nor a list of parts")
    if not isinstance(message.get("role"), str) or not (reasoning is None or isinstance(reasoning, str)):
        raise Rubbish("a message without a role, or whose reasoning is no text")
    for call in _list(calls or []):
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise Rubbish("a tool call without a function's name")
        if not isinstance(function.get("arguments", ""), str | dict) or not isinstance(call.get("id", ""), str):
            raise Rubbish("a tool call whose id or arguments are no text")


def _tokens(prompt_ids: Any, sampled_ids: Any, logprobs: list[float], usage: dict[str, Any]) -> Tokens | None:
    """The tokens where both sides' ids came, and as many as were counted; log-probabilities where each has one.

    A server that hides a model's reasoning leaves its tokens out too (vLLM with `include_reasoning` false); such a
    rest is not what was sampled.
    """
    if not isinstance(prompt_ids, list) or not isinstance(sampled_ids, list) or not sampled_ids:
        return None
    if isinstance(usage.get("completion_tokens"), int) and usage["completion_tokens"] != len(sampled_ids):
        return None
    for ids in (prompt_ids, sampled_ids):
        try:
            array("i", ids)
        except (TypeError, OverflowError):
            raise Rubbish("token ids that are no whole numbers") from None
    # What is checked above needs no second check by the model, which takes longest of all for long prompts.
    return Tokens.model_construct(
        prompt_ids=tuple(prompt_ids),
        sampled_ids=tuple(sampled_ids),
        logprobs=tuple(logprobs) if len(logprobs) == len(sampled_ids) else None,
    )


def _logprobs(given: Any) -> list[float]:
    content = given.get("content") if isinstance(given, dict) else None
    found = []
    for entry in content if isinstance(content, list) else []:
        logprob = entry.get("logprob") if isinstance(entry, dict) else None
        if isinstance(logprob, bool) or not isinstance(logprob, int | float):
            raise Rubbish("a log-probability that is no number")
        found.append(float(logprob))
    return found


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise Rubbish("something that is no list where one must be")
    return value
