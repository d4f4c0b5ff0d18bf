"""Conversation: what a Call's request says, in one form for the three wires, to compare calls and to export them.

Invariant: requests that say the same to a model give messages of equal digests, whatever wire they came by: ids of tool
calls, the order of JSON keys and how text is split into parts make no difference. Images go by content hash, in order.
Sources: OpenAI's chat completions and responses, Anthropic's messages.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from guiforge.trace import Call

Role = Literal["system", "user", "assistant", "tool"]

_IMAGE = "image:"  # how a request names an image by its hash
_THOUGHT = re.compile(r"<think>.*?</think>\s*|◁think▷.*?◁/think▷\s*|\A.*?</think>\s*", re.DOTALL)
_APART = ("tool_result", "thinking", "redacted_thinking", "tool_use")  # Anthropic's blocks that are not content
_ROLES: dict[str, Role] = {"system": "system", "developer": "system", "assistant": "assistant", "tool": "tool"}


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a message: text, or an image by its content hash."""

    kind: Literal["text", "image"]
    value: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that an assistant's message calls. arguments: JSON text, as it was sampled.  id: differs freely."""

    name: str
    arguments: str
    id: str = field(default="", compare=False)


@dataclass(frozen=True)
class Message:
    """One message. thinking: what the assistant thought, where a field of its own holds it.

    answers: of a tool's message, the id of the call that it answers.
    """

    role: Role
    parts: tuple[Part, ...] = ()
    thinking: str = ""
    uses: tuple[ToolUse, ...] = ()
    answers: str = field(default="", compare=False)

    @property
    def text(self) -> str:
        """Its text, images left out."""
        return "".join(part.value for part in self.parts if part.kind == "text")

    @property
    def images(self) -> tuple[str, ...]:
        """Content hashes of its images, in order."""
        return tuple(part.value for part in self.parts if part.kind == "image")

    @property
    def thinks(self) -> bool:
        """Whether it holds thinking, in its field or in its text."""
        return bool(self.thinking) or (self.role == "assistant" and _THOUGHT.search(self.text) is not None)

    @property
    def unthought(self) -> Message:
        """Itself without thinking."""
        if not self.thinks:
            return self
        text = _merged(Part(p.kind, _THOUGHT.sub("", p.value)) if p.kind == "text" else p for p in self.parts)
        return replace(self, thinking="", parts=text)

    @property
    def bare(self) -> Message:
        """Itself without thinking and images."""
        message = self.unthought
        return replace(message, parts=_merged(part for part in message.parts if part.kind == "text"))

    @cached_property
    def digest(self) -> bytes:
        """16 bytes, equal for equal messages."""
        uses = [(use.name, _canonical(use.arguments)) for use in self.uses]
        parts = [(part.kind, part.value) for part in self.parts]
        return digest_of([self.role, parts, self.thinking, uses])


@dataclass(frozen=True)
class Conversation:
    """What a model was shown. tools: in the form of chat completions where they are functions, else as they came."""

    messages: tuple[Message, ...]
    tools: tuple[dict[str, Any], ...] = ()

    @property
    def images(self) -> tuple[str, ...]:
        """Content hashes of all its images, in order, repeats included."""
        return tuple(hash for message in self.messages for hash in message.images)

    @property
    def system(self) -> tuple[Message, ...]:
        """Its system messages."""
        return tuple(message for message in self.messages if message.role == "system")

    @property
    def turns(self) -> tuple[Message, ...]:
        """Its other messages."""
        return tuple(message for message in self.messages if message.role != "system")


def digest_of(value: Any) -> bytes:
    """16 bytes, equal for equal JSON values."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def asked(call: Call) -> Conversation:
    """What the model was shown in a call."""
    read = {"chat": _chat, "responses": _responses, "messages": _anthropic}[call.wire]
    tools = call.request.get("tools")
    functions = tuple(_function(tool) for tool in tools if isinstance(tool, dict)) if isinstance(tools, list) else ()
    return Conversation(tuple(read(call.request)), functions)


def answered(call: Call) -> Message | None:
    """What the model said in a call, None where no message came."""
    return None if call.message is None else next(_chat({"messages": [{**call.message, "role": "assistant"}]}))


def _chat(request: dict[str, Any]) -> Iterator[Message]:
    for message in _dicts(request.get("messages")):
        yield Message(
            role=_ROLES.get(str(message.get("role")), "user"),
            parts=_parts(message.get("content")),
            thinking=str(message.get("reasoning_content") or message.get("reasoning") or ""),
            uses=tuple(
                ToolUse(str(function.get("name", "")), _json(function.get("arguments", "")), str(call.get("id") or ""))
                for call in _dicts(message.get("tool_calls"))
                for function in _dicts([call.get("function")])
            ),
            answers=str(message.get("tool_call_id") or ""),
        )


def _anthropic(request: dict[str, Any]) -> Iterator[Message]:
    if system := _parts(request.get("system")):
        yield Message("system", system)
    for message in _dicts(request.get("messages")):
        content = message.get("content")
        blocks = list(_dicts(content)) if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        by_kind: dict[str, list[dict[str, Any]]] = {}
        for block in blocks:
            by_kind.setdefault(str(block.get("type")), []).append(block)
        results, thoughts, uses = (by_kind.get(kind, []) for kind in ("tool_result", "thinking", "tool_use"))
        for block in results:
            yield Message("tool", _parts(block.get("content")), answers=str(block.get("tool_use_id") or ""))
        parts = _parts([block for block in blocks if str(block.get("type")) not in _APART])
        if parts or not results:
            yield Message(
                role=_ROLES.get(str(message.get("role")), "user"),
                parts=parts,
                thinking="".join(str(block.get("thinking", "")) for block in thoughts),
                uses=tuple(
                    ToolUse(str(block.get("name", "")), _json(block.get("input", {})), str(block.get("id") or ""))
                    for block in uses
                ),
            )


def _responses(request: dict[str, Any]) -> Iterator[Message]:
    if instructions := _parts(request.get("instructions")):
        yield Message("system", instructions)
    given = request.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else list(_dicts(given))
    said: Message | None = None  # an assistant's message comes as several items in a row
    for item in items:
        message = _item(item)
        if message.role == "assistant":
            said = message if said is None else _joined(said, message)
            continue
        if said is not None:
            yield said
            said = None
        yield message
    if said is not None:
        yield said


def _item(item: dict[str, Any]) -> Message:
    """A message of one item of the responses wire."""
    kind = str(item.get("type", "message"))
    id = str(item.get("call_id") or "")
    if kind == "reasoning":
        thoughts = [*_dicts(item.get("content")), *_dicts(item.get("summary"))]
        return Message("assistant", thinking="".join(str(thought.get("text", "")) for thought in thoughts))
    if kind.endswith("_output"):
        return Message("tool", _parts(item.get("output")), answers=id)
    if kind.endswith("_call"):
        name = str(item.get("name") or kind.removesuffix("_call"))
        arguments = item.get("arguments", item.get("action", item.get("input", "")))
        return Message("assistant", uses=(ToolUse(name, _json(arguments), id),))
    return Message(_ROLES.get(str(item.get("role")), "user"), _parts(item.get("content")))


def _joined(one: Message, two: Message) -> Message:
    return Message(
        "assistant", _merged((*one.parts, *two.parts)), one.thinking + two.thinking, one.uses + two.uses
    )  # fmt: skip


def _parts(content: Any) -> tuple[Part, ...]:
    """Of a content in any wire: a text, a part, or a list of them. What is neither text nor image is kept as JSON."""
    if content is None:
        return ()
    if isinstance(content, str):
        return _merged([Part("text", content)])
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return _merged([Part("text", _json(content))])
    return _merged(part for piece in content for part in _pieces(piece))


def _pieces(piece: Any) -> Iterator[Part]:
    if isinstance(piece, dict):
        hash = _hash(piece)
        if hash is not None:
            yield Part("image", hash)
        elif isinstance(text := piece.get("text", piece.get("refusal")), str):
            yield Part("text", text)
        else:
            yield Part("text", _json(piece))
    elif isinstance(piece, str):
        yield Part("text", piece)


def _merged(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Neighbouring texts as one, empty ones left out."""
    merged: list[Part] = []
    for part in parts:
        if part.kind == "text" and merged and merged[-1].kind == "text":
            merged[-1] = Part("text", merged[-1].value + part.value)
        elif part.value:
            merged.append(part)
    return tuple(merged)


def _hash(part: dict[str, Any]) -> str | None:
    """The content hash of an image part, wherever its wire keeps it; None for another part."""
    for name in ("image_url", "source", "url", "data", "image"):
        value = part.get(name)
        if isinstance(value, str) and value.startswith(_IMAGE):
            return value.removeprefix(_IMAGE)
        if isinstance(value, dict) and (found := _hash(value)) is not None:
            return found
    return None


def _function(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool's declaration in the form of chat completions; one that is no function as it is."""
    if "input_schema" in tool:
        return _declared(tool, tool["input_schema"])
    if tool.get("type") == "function" and "function" not in tool:
        return _declared(tool, tool.get("parameters") or {})
    return tool


def _declared(tool: dict[str, Any], parameters: Any) -> dict[str, Any]:
    named = {name: tool[name] for name in ("name", "description") if tool.get(name) is not None}
    return {"type": "function", "function": {**named, "parameters": parameters}}


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _canonical(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments
