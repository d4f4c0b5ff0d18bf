"""The items of a response: what the assistant said, each with a name that the same reply always has.

Invariant: an item has the same id in a stream, in its end and in a whole response.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from guiforge.proxy.wires.form import usage_of
from guiforge.proxy.wires.tools import an_object_of, the_input_of

_SEALED = "guiforge:"  # begins reasoning that goes out as `encrypted_content`
_ECHOED = ("instructions", "max_output_tokens", "temperature", "top_p", "metadata", "truncation", "reasoning", "text")


@dataclass(frozen=True)
class Naming:
    """How the items of one response are named. custom: names of the tools whose input is plain text.

    sealed: reasoning goes out as `encrypted_content` too.  shell, computer: the tools of those kinds are offered.
    """

    id: str
    created: int
    model: str
    custom: frozenset[str] = frozenset()
    spaces: Mapping[str, str] = field(default_factory=dict)  # of a tool in a namespace, which
    sealed: bool = False
    shell: bool = False
    computer: bool = False

    @classmethod
    def of(cls, request: dict[str, Any], chat: dict[str, Any]) -> Naming:
        """By the request and the completion, or its first chunk."""
        tools = [tool for tool in request.get("tools") or [] if isinstance(tool, dict)]
        kinds = {str(tool.get("type")) for tool in tools}
        created = chat.get("created")
        spaces = {
            str(inner.get("name")): str(tool.get("name"))
            for tool in tools if tool.get("type") == "namespace" for inner in tool.get("tools") or []
        }  # fmt: skip
        return cls(
            id=str(chat.get("id") or 0), created=created if isinstance(created, int) and created else int(time.time()),
            model=str(chat.get("model") or request.get("model") or ""),
            custom=frozenset(str(tool.get("name")) for tool in tools if tool.get("type") == "custom"),
            spaces=spaces, sealed="reasoning.encrypted_content" in (request.get("include") or ()),
            shell="local_shell" in kinds, computer=bool(kinds & {"computer", "computer_use_preview"}),
        )  # fmt: skip

    def item(self, kind: str, index: int) -> str:
        """The id of an item."""
        return f"{kind}_{self.id}_{index}"


def reasoning_item(naming: Naming, index: int, text: str, *, done: bool = True) -> dict[str, Any]:
    """What was thought."""
    item: dict[str, Any] = {"id": naming.item("rs", index), "type": "reasoning", "summary": []}
    item["content"] = [{"type": "reasoning_text", "text": text}] if done else []
    if naming.sealed:
        item["encrypted_content"] = (
            _SEALED + base64.b64encode(text.encode("utf-8", "surrogatepass")).decode() if done else None
        )
    return item | ({"status": "completed"} if done else {"status": "in_progress"})


def thoughts(item: dict[str, Any]) -> str:
    """The reasoning in an item that a harness sends back: as it went out, else what it shows of it."""
    sealed = item.get("encrypted_content")
    if isinstance(sealed, str) and sealed.startswith(_SEALED):
        try:
            return base64.b64decode(sealed[len(_SEALED) :], validate=True).decode("utf-8", "surrogatepass")
        except ValueError:
            pass
    for name in ("content", "summary"):
        parts = item.get(name)
        texts = [part.get("text") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
        if text := "".join(text for text in texts if isinstance(text, str)):
            return text
    return ""


def message_item(naming: Naming, index: int, text: str, *, done: bool = True) -> dict[str, Any]:
    """What was said."""
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {
        "id": naming.item("msg", index), "type": "message", "role": "assistant", "content": [part] if done else [],
        "status": "completed" if done else "in_progress",
    }  # fmt: skip


def call_item(naming: Naming, index: int, id: str, name: str, arguments: str, *, done: bool = True) -> dict[str, Any]:
    """A tool call, in the form that its tool has."""
    status = "completed" if done else "in_progress"
    item: dict[str, Any] = {"call_id": id or naming.item("call", index), "status": status}
    if name in naming.custom:
        item |= {"id": naming.item("ctc", index), "type": "custom_tool_call", "name": name}
        return item | {"input": the_input_of(arguments) if done else ""}
    if name == "local_shell" and naming.shell:
        action = {"type": "exec", "env": {}, **an_object_of(arguments)}
        return item | {"id": naming.item("lsh", index), "type": "local_shell_call", "action": action}
    if name == "computer" and naming.computer:
        action = an_object_of(arguments)
        item |= {"id": naming.item("cu", index), "type": "computer_call", "action": action}
        return item | {"pending_safety_checks": []}
    item |= {"id": naming.item("fc", index), "type": "function_call", "name": name, "arguments": arguments}
    return item | ({"namespace": naming.spaces[name]} if name in naming.spaces else {})


def status_of(finish_reason: Any) -> dict[str, Any]:
    """`status` and `incomplete_details`."""
    cut = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(str(finish_reason))
    if cut is None:
        return {"status": "completed", "incomplete_details": None}
    return {"status": "incomplete", "incomplete_details": {"reason": cut}}


def head(
    request: dict[str, Any], naming: Naming, chat: dict[str, Any], items: list[dict[str, Any]], status: dict[str, Any]
) -> dict[str, Any]:
    """A response with these items."""
    parallel = request.get("parallel_tool_calls")
    return {
        "id": f"resp_{naming.id}", "object": "response", "created_at": naming.created, "model": naming.model,
        "output": items, "error": None, "tools": request.get("tools") or [],
        "tool_choice": request.get("tool_choice") or "auto", "parallel_tool_calls": parallel is not False,
        **{name: request.get(name) for name in _ECHOED}, "store": False, "previous_response_id": None,
        "usage": used(chat.get("usage")), **status,
    }  # fmt: skip


def used(usage: Any) -> dict[str, Any] | None:
    """A chat usage in the words of responses."""
    if not isinstance(usage, dict):
        return None
    prompt, cached, sampled, thought = usage_of(usage)
    return {
        "input_tokens": prompt, "input_tokens_details": {"cached_tokens": cached}, "output_tokens": sampled,
        "output_tokens_details": {"reasoning_tokens": thought}, "total_tokens": prompt + sampled,
    }  # fmt: skip
