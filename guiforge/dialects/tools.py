"""tools: each kind of Action is a function, and a reply is an assistant message whose tool calls are its actions.

Invariant: functions, arguments and descriptions are those of guiforge.action, made from the types themselves, so there
is nothing here to keep in step with them. Coordinates are pixels of the screen, and every Action can be said.
Source: OpenAI API reference, function calling.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from guiforge.action import KINDS, Action, Point
from guiforge.dialects.base import DialectError, Fields, Parsed, checked, load_json, make, objects, one_of
from guiforge.frame import Size

_FIELDS = {kind: tuple(n for n in cls.model_fields if n != "kind") for kind, cls in KINDS.items()}


def schemas(kinds: Sequence[str] = tuple(KINDS)) -> list[dict[str, Any]]:
    """The `tools` of a chat request: one function a kind of Action."""
    return [_function(kind) for kind in kinds]


class Tools:
    """The tools dialect. kinds: those that are offered; another one is refused, naming these."""

    name = "tools"

    def __init__(self, kinds: Sequence[str] = tuple(KINDS)) -> None:
        self.kinds = tuple(kinds)

    def parse(self, reply: Any, screen: Size, *, cursor: Point | None = None) -> Parsed:
        """See Dialect. `reply` is an assistant message with `tool_calls`, as JSON text or its data."""
        (message,) = objects([load_json(reply)])
        calls = message.get("tool_calls") or []
        if not calls:
            raise DialectError(f"the reply calls no tool; valid are: {', '.join(self.kinds)}")
        thought = message.get("content")
        actions = [self._read(number, call) for number, call in enumerate(objects(calls), 1)]
        return Parsed(checked(actions), thought if isinstance(thought, str) else "")

    def render(self, actions: Sequence[Action], screen: Size) -> dict[str, Any]:
        """See Dialect. The assistant message; its calls are numbered from `call_0`."""
        calls = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {
                    "name": one_of("tool", action.kind, self.kinds),
                    "arguments": json.dumps(action.model_dump(exclude={"kind"}, exclude_defaults=True)),
                },
            }
            for number, action in enumerate(self.normal(actions))
        ]
        return {"role": "assistant", "content": None, "tool_calls": calls}

    def normal(self, actions: Sequence[Action]) -> tuple[Action, ...]:
        """See Dialect: nothing is spelled out."""
        return checked(actions)

    def _read(self, number: int, call: Mapping[str, Any]) -> Action:
        (function,) = objects([call.get("function")])
        name = one_of("tool", function.get("name"), self.kinds)
        try:
            (arguments,) = objects([load_json(function.get("arguments") or "{}")])
            fields = {key: value for key, value in arguments.items() if value is not None}
            Fields(name, fields, _FIELDS[name])
            return make(KINDS[name], **fields)  # type: ignore[return-value]  # KINDS holds the members of Action
        except DialectError as error:
            raise DialectError(f"call {number} ({name}): {error}") from None


def _function(kind: str) -> dict[str, Any]:
    cls = KINDS[kind]
    schema = cls.model_json_schema()
    properties = {name: _plain(field) for name, field in schema["properties"].items() if name != "kind"}
    required = [name for name in schema.get("required", []) if name in properties]
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    description = " ".join((cls.__doc__ or "").split())
    return {"type": "function", "function": {"name": kind, "description": description, "parameters": parameters}}


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A field's schema in the words that every server knows: no titles, no null, no tuples but lists of one type."""
    out = {key: value for key, value in schema.items() if key != "title" and not (key == "default" and value is None)}
    for choice in out.pop("anyOf", []):
        if choice.get("type") != "null":
            out |= _plain(choice)
    if "prefixItems" in out:
        out["items"] = out.pop("prefixItems")[0]
    if isinstance(out.get("items"), Mapping):
        out["items"] = _plain(out["items"])
    return out
