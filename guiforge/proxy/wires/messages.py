"""Anthropic's messages, in terms of chat completions.

A reply's reasoning is a thinking block without a signature; its tool calls are tool_use blocks. A screenshot in a
tool's result follows the results as a message of the user, since chat has no room for it in a tool's message.
Source: Anthropic API reference, messages and their streaming.
"""

from __future__ import annotations

from typing import Any

from guiforge.proxy.wires.form import (
    Encoder,
    a_text,
    an_object,
    bad,
    described,
    function_call,
    image_part,
    image_url,
    objects,
    said_calls,
    said_reasoning,
    said_text,
    screen_size,
    tool_result,
)
from guiforge.proxy.wires.messages_stream import MessagesEncoder, error, stop_of, used
from guiforge.proxy.wires.tools import ANTHROPIC, an_object_of, as_text
from guiforge.trace import Wire
from guiforge.wire import text_part

_SAME = ("model", "max_tokens", "temperature", "top_p", "top_k", "stream")
_LEFT_OUT = frozenset(
    {
        "messages", "system", "tools", "tool_choice", "stop_sequences", "metadata", "thinking", "service_tier",
        "context_management", "container", "output_config", "inference_geo", "cache_control", "betas", "speed",
    }
)  # fmt: skip
_NO_ROOM = frozenset({"server_tool_use", "web_search_tool_result", "redacted_thinking", "mcp_tool_use"})


class Messages:
    """See WireFormat."""

    name: Wire = "messages"

    def to_chat(self, body: dict[str, Any]) -> dict[str, Any]:
        """See WireFormat."""
        messages = [{"role": "system", "content": _system(body["system"])}] if body.get("system") else []
        for message, where in objects(body.get("messages"), "messages"):
            messages += _messages(message, where)
        if not messages:
            raise bad("messages", "there must be at least one")
        if not isinstance(body.get("max_tokens"), int):
            raise bad("max_tokens", "must be a whole number")
        chat = {name: body[name] for name in _SAME if name in body} | {"messages": messages}
        chat |= {name: value for name, value in body.items() if name not in _LEFT_OUT and name not in chat}
        if body.get("stop_sequences"):
            chat["stop"] = body["stop_sequences"]
        if tools := [made for tool, where in objects(body.get("tools"), "tools") if (made := _tool(tool, where))]:
            chat["tools"] = tools
            chat |= _choice(body.get("tool_choice"))
        return chat | _output(body.get("output_config"))

    def reply(self, request: dict[str, Any], completion: dict[str, Any]) -> dict[str, Any]:
        """See WireFormat."""
        choice = completion["choices"][0]
        message = choice["message"]
        blocks: list[dict[str, Any]] = []
        if reasoning := said_reasoning(message):
            blocks.append({"type": "thinking", "thinking": reasoning, "signature": ""})
        if text := said_text(message):
            blocks.append({"type": "text", "text": text})
        for id, name, arguments in said_calls(message):
            blocks.append({"type": "tool_use", "id": id, "name": name, "input": an_object_of(arguments)})
        return {
            "id": f"msg_{completion.get('id') or 0}", "type": "message", "role": "assistant",
            "model": completion.get("model") or request.get("model") or "", "content": blocks, **stop_of(choice),
            "usage": used(completion.get("usage")),
        }  # fmt: skip

    def encoder(self, request: dict[str, Any]) -> Encoder:
        """See WireFormat."""
        return MessagesEncoder(str(request.get("model") or ""))

    def error(self, status: int, type: str, text: str) -> dict[str, Any]:
        """See WireFormat."""
        return error(status, type, text)

    def count_tokens(self, tokens: int) -> dict[str, Any]:
        """See WireFormat."""
        return {"input_tokens": tokens}


def _system(system: Any) -> str:
    if isinstance(system, str):
        return system
    return "\n\n".join(a_text(part.get("text"), f"{where}.text") for part, where in objects(system, "system"))


def _messages(message: dict[str, Any], where: str) -> list[dict[str, Any]]:
    """The chat messages that a message is."""
    role, content = message.get("role"), message.get("content")
    if role not in ("user", "assistant", "system"):
        raise bad(f"{where}.role", "must be user, assistant or system")
    if isinstance(content, str):
        return [{"role": role, "content": content}]
    blocks = objects(content, f"{where}.content")
    if role == "assistant":
        return [_assistant(blocks)]
    if role == "system":
        return [{"role": role, "content": _system(content)}]
    results: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = []
    for block, place in blocks:
        if block.get("type") == "tool_result":
            said, shown = _result(block, place)
            results.append(said)
            parts += shown
        else:
            parts += _parts(block, place)
    return [*results, {"role": "user", "content": parts}] if parts or not results else results


def _assistant(blocks: list[tuple[dict[str, Any], str]]) -> dict[str, Any]:
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[dict[str, Any]] = []
    for block, where in blocks:
        kind = block.get("type")
        if kind == "text":
            texts.append(a_text(block.get("text"), f"{where}.text"))
        elif kind == "thinking":
            thoughts.append(a_text(block.get("thinking"), f"{where}.thinking"))
        elif kind == "tool_use":
            id, name = (a_text(block.get(field), f"{where}.{field}") for field in ("id", "name"))
            calls.append(function_call(id, name, as_text(an_object(block.get("input"), f"{where}.input"))))
        elif kind not in _NO_ROOM:
            raise bad(f"{where}.type", f"{kind!r} is unknown; valid are text, thinking and tool_use")
    message: dict[str, Any] = {"role": "assistant", "content": "".join(texts) if texts else None}
    if thoughts:
        message["reasoning_content"] = "".join(thoughts)
    if calls:
        message["tool_calls"] = calls
    return message


def _result(block: dict[str, Any], where: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A tool's message, and the images that came with it."""
    content = block.get("content")
    if isinstance(content, str):
        parts = [text_part(content)]
    else:
        parts = [part for one, place in objects(content, f"{where}.content") for part in _parts(one, place)]
    return tool_result(a_text(block.get("tool_use_id"), f"{where}.tool_use_id"), parts)


def _parts(block: dict[str, Any], where: str) -> list[dict[str, Any]]:
    """The parts of a chat message that a block of the user is."""
    kind = block.get("type")
    if kind == "text":
        return [text_part(a_text(block.get("text"), f"{where}.text"))]
    if kind == "image":
        return [image_part(_image(an_object(block.get("source"), f"{where}.source"), f"{where}.source"))]
    if kind == "document":
        source = an_object(block.get("source"), f"{where}.source")
        if source.get("type") == "text":
            return [text_part(a_text(source.get("data"), f"{where}.source.data"))]
        raise bad(f"{where}.source", "a document must come as text; valid for others are images of their pages")
    if kind in ("search_result", "tool_reference"):
        return [text_part(as_text(block))]
    raise bad(f"{where}.type", f"{kind!r} is unknown; valid are text, image, document and tool_result")


def _image(source: dict[str, Any], where: str) -> str:
    if source.get("type") == "base64":
        media_type = a_text(source.get("media_type"), f"{where}.media_type")
        return image_url(f"data:{media_type};base64,{a_text(source.get('data'), f'{where}.data')}", where)
    return image_url(source.get("url") or "", f"{where}.url")


def _tool(tool: dict[str, Any], where: str) -> dict[str, Any] | None:
    """A tool as chat's, or None for one that runs on Anthropic's servers."""
    name, kind = a_text(tool.get("name"), f"{where}.name"), tool.get("type")
    if kind in (None, "custom"):
        return described(tool, name, an_object(tool.get("input_schema"), f"{where}.input_schema"))
    for beginning, (description, parameters) in ANTHROPIC.items():
        if str(kind).startswith(f"{beginning}_"):
            size = screen_size(tool.get("display_width_px"), tool.get("display_height_px"))
            return described({"description": description + size}, name, parameters)
    return None


def _choice(choice: Any) -> dict[str, Any]:
    if choice is None:
        return {}
    given = an_object(choice, "tool_choice")
    kinds: dict[str, Any] = {"auto": "auto", "any": "required", "none": "none"}
    chosen: dict[str, Any] = {}
    if given.get("type") == "tool":
        named = {"name": a_text(given.get("name"), "tool_choice.name")}
        chosen["tool_choice"] = {"type": "function", "function": named}
    elif (kind := given.get("type")) in kinds and isinstance(kind, str):
        chosen["tool_choice"] = kinds[kind]
    else:
        raise bad("tool_choice.type", "must be auto, any, tool or none")
    if given.get("disable_parallel_tool_use"):
        chosen["parallel_tool_calls"] = False
    return chosen


def _output(config: Any) -> dict[str, Any]:
    """How much to think and in what form to answer, as chat says it."""
    if config is None:
        return {}
    given, fields = an_object(config, "output_config"), dict[str, Any]()
    if given.get("effort") is not None:
        fields["reasoning_effort"] = given["effort"]
    if given.get("format") is not None:
        form = an_object(given["format"], "output_config.format")
        schema = {"name": "reply", "schema": form.get("schema"), "strict": True}
        fields["response_format"] = {"type": "json_schema", "json_schema": schema}
    return fields
