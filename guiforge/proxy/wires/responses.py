"""OpenAI's responses, in terms of chat completions.

What came one after another from the assistant (its reasoning, its text, its calls) is one chat message. Reasoning
goes out as text, and where the harness asks for it as `encrypted_content` too, which it sends back as it is, so that
the policy reads its own thoughts again although nothing is kept here between two requests.
Source: OpenAI API reference, responses and their streaming.
"""

from __future__ import annotations

from typing import Any

from guiforge.proxy.wires.form import (
    Encoder,
    a_list,
    a_text,
    an_object,
    bad,
    described,
    function_call,
    image_part,
    image_url,
    join_systems,
    objects,
    openai_error,
    said_calls,
    said_reasoning,
    said_text,
    screen_size,
    tool_result,
)
from guiforge.proxy.wires.responses_items import (
    Naming,
    call_item,
    head,
    message_item,
    reasoning_item,
    status_of,
    thoughts,
)
from guiforge.proxy.wires.responses_stream import ResponsesEncoder
from guiforge.proxy.wires.tools import COMPUTER_USE, CUSTOM, LOCAL_SHELL, as_text
from guiforge.trace import Wire
from guiforge.wire import text_part

_SAME = ("model", "temperature", "top_p", "stream", "parallel_tool_calls", "user", "seed", "service_tier")
_KEPT_NOWHERE = ("previous_response_id", "conversation", "prompt", "background")
_LEFT_OUT = frozenset(
    {
        *_KEPT_NOWHERE, "input", "instructions", "tools", "tool_choice", "max_output_tokens", "text", "reasoning",
        "include", "store", "metadata", "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "truncation",
        "client_metadata", "max_tool_calls", "stream_options", "top_logprobs", "context_management",
    }
)  # fmt: skip
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "computer_call"})
_OUTPUTS = frozenset(f"{call}_output" for call in _CALLS)
_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


class Responses:
    """See WireFormat."""

    name: Wire = "responses"

    def to_chat(self, body: dict[str, Any]) -> dict[str, Any]:
        """See WireFormat."""
        for name in _KEPT_NOWHERE:
            if body.get(name):
                raise bad(name, "nothing is kept here between two requests; send the whole conversation as input")
        messages: list[dict[str, Any]] = []
        if body.get("instructions"):
            messages.append({"role": "system", "content": a_text(body["instructions"], "instructions")})
        messages += _messages(body.get("input"))
        if not messages:
            raise bad("input", "there must be a text or at least one item")
        chat = {name: body[name] for name in _SAME if name in body} | {"messages": join_systems(messages)}
        chat |= {name: value for name, value in body.items() if name not in _LEFT_OUT and name not in chat}
        if body.get("max_output_tokens") is not None:
            chat["max_tokens"] = body["max_output_tokens"]
        if tools := [made for tool, where in objects(body.get("tools"), "tools") for made in _tools(tool, where)]:
            chat["tools"] = tools
            chat |= _choice(body.get("tool_choice"))
        else:
            chat.pop("parallel_tool_calls", None)
        if body.get("reasoning") is not None:
            effort = an_object(body["reasoning"], "reasoning").get("effort")
            chat |= {} if effort is None else {"reasoning_effort": effort}
        return chat | _form(body.get("text"))

    def reply(self, request: dict[str, Any], completion: dict[str, Any]) -> dict[str, Any]:
        """See WireFormat."""
        choice = completion["choices"][0]
        message, naming = choice["message"], Naming.of(request, completion)
        items: list[dict[str, Any]] = []
        if reasoning := said_reasoning(message):
            items.append(reasoning_item(naming, len(items), reasoning))
        if text := said_text(message):
            items.append(message_item(naming, len(items), text))
        for call in said_calls(message):
            items.append(call_item(naming, len(items), *call))
        return head(request, naming, completion, items, status_of(choice.get("finish_reason")))

    def encoder(self, request: dict[str, Any]) -> Encoder:
        """See WireFormat."""
        return ResponsesEncoder(request)

    def error(self, status: int, type: str, text: str) -> dict[str, Any]:
        """See WireFormat."""
        return openai_error(type, text)

    def count_tokens(self, tokens: int) -> dict[str, Any]:
        """See WireFormat."""
        return {"object": "response.input_tokens", "input_tokens": tokens}


def _messages(given: Any) -> list[dict[str, Any]]:
    """The chat messages that an input is."""
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    messages: list[dict[str, Any]] = []
    shown: list[dict[str, Any]] = []  # images of tools' results, which follow all of the results
    for item, where in objects(given, "input"):
        kind = item.get("type") or "message"
        if kind not in _OUTPUTS and shown:
            messages.append({"role": "user", "content": shown})
            shown = []
        if kind in _OUTPUTS:
            said, images = _output(item, where)
            messages.append(said)
            shown += images
        elif kind == "message" and item.get("role") != "assistant":
            messages.append(_message(item, where))
        elif kind == "message" or kind == "reasoning" or kind in _CALLS:
            _say(_assistant(messages), item, str(kind), where)
        elif kind == "item_reference":
            raise bad(where, "nothing is kept here between two requests; send the item itself")
        elif str(kind) not in ("web_search_call", "compaction", "tool_search_call", "tool_search_output"):
            valid = ", ".join(sorted({"message", "reasoning"} | _CALLS | _OUTPUTS))
            raise bad(f"{where}.type", f"{kind!r} is unknown; valid are {valid}")
    return [*messages, {"role": "user", "content": shown}] if shown else messages


def _message(item: dict[str, Any], where: str) -> dict[str, Any]:
    role = item.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise bad(f"{where}.role", f"must be one of {', '.join(_ROLES)}")
    content = item.get("content")
    if isinstance(content, str):
        return {"role": _ROLES[role], "content": content}
    parts = [_part(part, place) for part, place in objects(content, f"{where}.content")]
    if _ROLES[role] == "system":
        return {"role": "system", "content": "\n\n".join(part.get("text", "") for part in parts)}
    return {"role": "user", "content": parts}


def _assistant(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The assistant's message that is being said."""
    if not messages or messages[-1]["role"] != "assistant":
        messages.append({"role": "assistant", "content": None})
    return messages[-1]


def _say(message: dict[str, Any], item: dict[str, Any], kind: str, where: str) -> None:
    """Put an item into the assistant's message."""
    if kind == "reasoning":
        message["reasoning_content"] = message.get("reasoning_content", "") + thoughts(item)
    elif kind == "message":
        content = item.get("content")
        parts = objects(content, f"{where}.content") if not isinstance(content, str) else []
        text = "".join(a_text(part.get("text") or part.get("refusal") or "", place) for part, place in parts)
        message["content"] = (message["content"] or "") + (content if isinstance(content, str) else text)
    else:
        message.setdefault("tool_calls", []).append(_call(item, kind, where))


def _call(item: dict[str, Any], kind: str, where: str) -> dict[str, Any]:
    id = a_text(item.get("call_id") or item.get("id"), f"{where}.call_id")
    if kind == "function_call":
        name, arguments = (a_text(item.get(field), f"{where}.{field}") for field in ("name", "arguments"))
        return function_call(id, name, arguments)
    if kind == "custom_tool_call":
        name, given = (a_text(item.get(field), f"{where}.{field}") for field in ("name", "input"))
        return function_call(id, name, as_text({"input": given}))
    action = an_object(item.get("action"), f"{where}.action")
    if kind == "local_shell_call":
        return function_call(id, "local_shell", as_text({k: v for k, v in action.items() if k != "type"}))
    return function_call(id, "computer", as_text(action))


def _output(item: dict[str, Any], where: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A tool's message, and the images that came with it."""
    output = item.get("output")
    if isinstance(output, str):
        parts = [text_part(output)]
    else:
        given = [output] if isinstance(output, dict) else a_list(output, f"{where}.output")
        parts = [_part(part, place) for part, place in objects(given, f"{where}.output")]
    return tool_result(a_text(item.get("call_id"), f"{where}.call_id"), parts)


def _part(part: dict[str, Any], where: str) -> dict[str, Any]:
    """A part of a chat message."""
    kind = part.get("type")
    if kind in ("input_text", "output_text", "text"):
        return text_part(a_text(part.get("text"), f"{where}.text"))
    if kind == "refusal":
        return text_part(a_text(part.get("refusal"), f"{where}.refusal"))
    if kind in ("input_image", "computer_screenshot"):
        if part.get("file_id"):
            raise bad(f"{where}.file_id", "files are not kept here; send the image as a data URL in image_url")
        return image_part(image_url(part.get("image_url") or "", f"{where}.image_url"))
    raise bad(f"{where}.type", f"{kind!r} is unknown; valid are input_text, input_image, output_text and refusal")


def _tools(tool: dict[str, Any], where: str) -> list[dict[str, Any]]:
    """A tool as chat's: none for one that runs on OpenAI's servers, several for a namespace of them."""
    kind = tool.get("type")
    if kind == "function":
        parameters = an_object(tool.get("parameters") or {"type": "object", "properties": {}}, f"{where}.parameters")
        made = described(tool, a_text(tool.get("name"), f"{where}.name"), parameters)
        if tool.get("strict") is not None:
            made["function"]["strict"] = tool["strict"]
        return [made]
    if kind == "namespace":
        return [made for one, place in objects(tool.get("tools"), f"{where}.tools") for made in _tools(one, place)]
    if kind == "custom":
        return [described(tool, a_text(tool.get("name"), f"{where}.name"), CUSTOM)]
    if kind == "local_shell":
        return [described({"description": "Run a command."}, "local_shell", LOCAL_SHELL)]
    if kind in ("computer", "computer_use_preview"):
        size = screen_size(tool.get("display_width"), tool.get("display_height"))
        return [described({"description": f"Use a mouse and keyboard.{size}"}, "computer", COMPUTER_USE)]
    return []


def _choice(choice: Any) -> dict[str, Any]:
    if choice is None or isinstance(choice, str):
        return {} if choice is None else {"tool_choice": choice}
    given = an_object(choice, "tool_choice")
    if given.get("type") in ("function", "custom"):
        named = {"name": a_text(given.get("name"), "tool_choice.name")}
        return {"tool_choice": {"type": "function", "function": named}}
    if given.get("type") == "allowed_tools":
        return {"tool_choice": given.get("mode") or "auto"}
    raise bad("tool_choice.type", "must be function or custom")


def _form(text: Any) -> dict[str, Any]:
    """In what form to answer, as chat says it."""
    if text is None:
        return {}
    given, fields = an_object(text, "text"), dict[str, Any]()
    if given.get("verbosity") is not None:
        fields["verbosity"] = given["verbosity"]
    form = an_object(given.get("format") or {"type": "text"}, "text.format")
    if form.get("type") == "json_schema":
        schema = {name: form[name] for name in ("name", "schema", "strict", "description") if name in form}
        fields["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif form.get("type") == "json_object":
        fields["response_format"] = {"type": "json_object"}
    return fields
