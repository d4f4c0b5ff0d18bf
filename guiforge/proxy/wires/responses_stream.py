"""The stream of OpenAI's responses: items open as chat deltas begin them, and each is told whole once it is over.

Invariant: events are numbered without a gap; an item's last event says all of what its deltas said. What was thought
or said is over when something else begins; a tool call when the reply is.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

from guiforge.proxy.bodies import dumps
from guiforge.proxy.wires.form import call_number, said_reasoning
from guiforge.proxy.wires.responses_items import Naming, call_item, head, message_item, reasoning_item, status_of


@dataclass
class _Item:
    """An item under way. call: a tool call's id and name; its arguments are the text.  id, type: as it is told."""

    kind: str
    index: int
    call: tuple[str, str] = ("", "")
    texts: list[str] = field(default_factory=list)
    id: str = ""
    type: str = ""

    def made(self, naming: Naming, *, done: bool) -> dict[str, Any]:
        """The item as it is told."""
        text = "".join(self.texts)
        if self.kind == "reasoning":
            return reasoning_item(naming, self.index, text, done=done)
        if self.kind == "message":
            return message_item(naming, self.index, text, done=done)
        return call_item(naming, self.index, *self.call, text, done=done)


class ResponsesEncoder:
    """See Encoder."""

    def __init__(self, request: dict[str, Any]) -> None:
        self._request = request
        self._naming: Naming | None = None
        self._number = 0
        self._items: list[dict[str, Any]] = []
        self._open: _Item | None = None  # what is thought or said
        self._calls: dict[int, _Item] = {}
        self._finish_reason: Any = None
        self._usage: Any = None

    def feed(self, chunk: dict[str, Any]) -> list[bytes]:
        """See Encoder."""
        return list(self._feed(chunk))

    def close(self) -> list[bytes]:
        """See Encoder."""
        return list(self._close())

    def fail(self, status: int, type: str, text: str) -> list[bytes]:
        """See Encoder."""
        begin = list(self._begin({}))
        failed = self._response({"status": "failed", "incomplete_details": None})
        failed["error"] = {"code": "server_error" if status >= 500 else type, "message": f"{type}: {text}"}
        return [*begin, self._event("response.failed", response=failed)]

    def _feed(self, chunk: dict[str, Any]) -> Iterator[bytes]:
        yield from self._begin(chunk)
        if chunk.get("usage"):
            self._usage = chunk["usage"]
        for choice in (chunk.get("choices") or [])[:1]:
            delta = choice.get("delta") or {}
            if reasoning := said_reasoning(delta):
                yield from self._say("reasoning", reasoning)
            content = delta.get("content")
            if isinstance(content, str) and content:
                yield from self._say("message", content)
            for call in delta.get("tool_calls") or []:
                yield from self._call(call)
            if choice.get("finish_reason") is not None:
                self._finish_reason = choice["finish_reason"]

    def _begin(self, chunk: dict[str, Any]) -> Iterator[bytes]:
        if self._naming is None:
            self._naming = Naming.of(self._request, chunk)
            begun = self._response({"status": "in_progress", "incomplete_details": None})
            yield self._event("response.created", response=begun)
            yield self._event("response.in_progress", response=begun)

    def _close(self) -> Iterator[bytes]:
        yield from self._begin({})
        yield from self._shut()
        for item in self._calls.values():
            yield from self._call_done(item)
        self._calls = {}
        status = status_of(self._finish_reason)
        yield self._event(f"response.{status['status']}", response=self._response(status))

    @property
    def _named(self) -> Naming:
        assert self._naming is not None, "the stream has not begun"
        return self._naming

    def _say(self, kind: str, text: str) -> Iterator[bytes]:
        """More of what is thought or said, which is opened first where something else is."""
        if self._open is None or self._open.kind != kind:
            yield from self._shut()
            self._open = yield from self._opened(_Item(kind, len(self._items)))
            yield self._part("response.content_part.added", self._open, "")
        self._open.texts.append(text)
        name = "response.reasoning_text.delta" if kind == "reasoning" else "response.output_text.delta"
        more: dict[str, Any] = {} if kind == "reasoning" else {"logprobs": []}
        yield self._of(name, self._open, content_index=0, delta=text, **more)

    def _shut(self) -> Iterator[bytes]:
        """What was thought or said is over."""
        item, self._open = self._open, None
        if item is None:
            return
        text = "".join(item.texts)
        if item.kind == "reasoning":
            yield self._of("response.reasoning_text.done", item, content_index=0, text=text)
        else:
            yield self._of("response.output_text.done", item, content_index=0, text=text, logprobs=[])
        yield self._part("response.content_part.done", item, text)
        yield self._done(item)

    def _call(self, call: dict[str, Any]) -> Iterator[bytes]:
        yield from self._shut()
        function = call.get("function") or {}
        number = call_number(call, len(self._calls))
        if number not in self._calls:
            named = (str(call.get("id") or ""), str(function.get("name") or ""))
            self._calls[number] = yield from self._opened(_Item("call", len(self._items), named))
        item, text = self._calls[number], str(function.get("arguments") or "")
        item.texts.append(text)
        if text and item.type == "function_call":
            yield self._of("response.function_call_arguments.delta", item, delta=text)

    def _call_done(self, item: _Item) -> Iterator[bytes]:
        made = item.made(self._named, done=True)
        if item.type == "function_call":
            done = {"arguments": made["arguments"], "name": made["name"]}
            yield self._of("response.function_call_arguments.done", item, **done)
        elif item.type == "custom_tool_call":
            yield self._of("response.custom_tool_call_input.delta", item, delta=made["input"])
            yield self._of("response.custom_tool_call_input.done", item, input=made["input"])
        yield self._done(item)

    def _opened(self, item: _Item) -> Generator[bytes, None, _Item]:
        self._items.append({})
        made = item.made(self._named, done=False)
        item.id, item.type = made["id"], made["type"]
        yield self._event("response.output_item.added", output_index=item.index, item=made)
        return item

    def _done(self, item: _Item) -> bytes:
        self._items[item.index] = item.made(self._named, done=True)
        return self._event("response.output_item.done", output_index=item.index, item=self._items[item.index])

    def _part(self, name: str, item: _Item, text: str) -> bytes:
        part: dict[str, Any] = {"type": "reasoning_text", "text": text}
        if item.kind == "message":
            part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        return self._of(name, item, content_index=0, part=part)

    def _of(self, name: str, item: _Item, /, **fields: Any) -> bytes:
        return self._event(name, item_id=item.id, output_index=item.index, **fields)

    def _response(self, status: dict[str, Any]) -> dict[str, Any]:
        items = [item for item in self._items if item]
        return head(self._request, self._named, {"usage": self._usage}, items, status)

    def _event(self, name: str, /, **fields: Any) -> bytes:
        data = {"type": name, "sequence_number": self._number, **fields}
        self._number += 1
        return b"event: %b\ndata: %b\n\n" % (name.encode(), dumps(data))
