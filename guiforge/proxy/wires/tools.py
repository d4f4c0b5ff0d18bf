"""Tools: those of a harness as functions that any policy can be offered, and calls of those back in its own terms.

Invariant: a call's arguments reach the harness as the policy wrote them, where its protocol has room for text.
Tools that a vendor defines and the harness carries out (a screen, a shell, an editor) become functions with the
parameters that the vendor documents. Tools that run on a vendor's own servers (its web search) are left out: nobody
here could carry them out.
Sources: Anthropic, computer use, bash and text editor tools; OpenAI, responses: custom, local_shell, computer tools.
"""

from __future__ import annotations

from typing import Any

from guiforge.proxy.bodies import dumps, loads

_POINT = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
_TEXT, _WHOLE = {"type": "string"}, {"type": "integer"}


def _schema(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _one_of(*values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


_COMPUTER_ACTIONS = (
    "key", "type", "mouse_move", "left_click", "left_click_drag", "right_click", "middle_click", "double_click",
    "triple_click", "screenshot", "cursor_position", "left_mouse_down", "left_mouse_up", "scroll", "hold_key", "wait",
    "zoom",
)  # fmt: skip
ANTHROPIC: dict[str, tuple[str, dict[str, Any]]] = {
    "computer": (
        "Use a mouse and keyboard to interact with a computer, and take screenshots.",
        _schema(
            {
                "action": _one_of(*_COMPUTER_ACTIONS), "coordinate": _POINT, "start_coordinate": _POINT, "text": _TEXT,
                "duration": {"type": "number"}, "scroll_amount": _WHOLE,
                "scroll_direction": _one_of("up", "down", "left", "right"),
                "region": {"type": "array", "items": _WHOLE},
            },
            "action",
        ),
    ),
    "bash": ("Run a command in a bash shell.", _schema({"command": _TEXT, "restart": {"type": "boolean"}})),
    "text_editor": (
        "View, create and edit files.",
        _schema(
            {
                "command": _one_of("view", "create", "str_replace", "insert"), "path": _TEXT, "file_text": _TEXT,
                "old_str": _TEXT, "new_str": _TEXT, "insert_line": _WHOLE, "insert_text": _TEXT,
                "view_range": {"type": "array", "items": _WHOLE},
            },
            "command", "path",
        ),
    ),
}  # fmt: skip
"""By the beginning of the type (`computer_20250124`): description and parameters."""

CUSTOM = _schema({"input": _TEXT}, "input")
LOCAL_SHELL = _schema(
    {
        "command": {"type": "array", "items": _TEXT}, "working_directory": _TEXT, "timeout_ms": _WHOLE,
        "env": {"type": "object"},
    },
    "command",
)  # fmt: skip
COMPUTER_USE = _schema(
    {
        "type": _one_of("click", "double_click", "drag", "keypress", "move", "screenshot", "scroll", "type", "wait"),
        "x": _WHOLE, "y": _WHOLE, "button": _one_of("left", "right", "wheel", "back", "forward"), "text": _TEXT,
        "keys": {"type": "array", "items": _TEXT}, "scroll_x": _WHOLE, "scroll_y": _WHOLE,
        "path": {"type": "array", "items": _schema({"x": _WHOLE, "y": _WHOLE}, "x", "y")},
    },
    "type",
)  # fmt: skip


def an_object_of(arguments: str) -> dict[str, Any]:
    """The arguments of a call, for a protocol that has no room for text: none where they are no JSON object."""
    try:
        value = loads(arguments.encode("utf-8", "surrogatepass"))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def the_input_of(arguments: str) -> str:
    """What a custom tool was given: the field `input`, or all of it where the policy wrote something else."""
    given = an_object_of(arguments).get("input")
    return given if isinstance(given, str) else arguments


def as_text(value: Any) -> str:
    """A value as JSON text."""
    return dumps(value).decode("utf-8", "surrogatepass")
