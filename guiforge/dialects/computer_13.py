"""computer_13: OSWorld's JSON actions, `{"action_type": ..., "parameters": {...}}` or with the parameters inline.

Invariant: coordinates are pixels of the screen; a scroll counts wheel clicks, positive is up and right. WAIT is
Wait(2), the pause of OSWorld's environment; FAIL has no room for a reason, so Infeasible's is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from guiforge.action import (
    Action,
    Click,
    Done,
    Drag,
    Infeasible,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseUp,
    Move,
    Point,
    Press,
    Scroll,
    TypeText,
    Wait,
)
from guiforge.dialects.base import (
    MAX_TURNS,
    DialectError,
    Fields,
    Parsed,
    by_hand,
    checked,
    load_json,
    make,
    objects,
    one_of,
    refuse,
    whole,
    without_hold,
    without_modifiers,
    without_place,
)
from guiforge.dialects.pyautogui import BUTTONS, WAIT_S, WORDS, key_name
from guiforge.frame import Size


def _at(fields: Fields) -> dict[str, int]:
    """The place, if there is one (x without y is the Action's to refuse)."""
    return {n: round(v) for n in ("x", "y") if (v := fields.number(n)) is not None}


def _click(fields: Fields, button: str | None = None, count: int | None = None) -> Action:
    which = button or fields.choice("button", BUTTONS, "left")
    return make(Click, **_at(fields), button=which, count=count or fields.whole("num_clicks", 1, 1, 3))


def _to(fields: Fields) -> Point:
    return round(fields.need_number("x")), round(fields.need_number("y"))


def _move(fields: Fields) -> Action:
    x, y = _to(fields)
    return make(Move, x=x, y=y)


def _scroll(fields: Fields) -> Action:
    dx, dy = (fields.whole(name, 0, -MAX_TURNS, MAX_TURNS) for name in ("dx", "dy"))
    return make(Scroll, dx=dx, dy=-dy)


def _button(kind: type[MouseDown] | type[MouseUp]) -> Callable[[Fields], Action]:
    return lambda fields: make(kind, button=fields.choice("button", BUTTONS, "left"))


TYPES: dict[str, tuple[tuple[str, ...], Callable[[Fields], Action]]] = {
    "MOVE_TO": (("x", "y"), _move),
    "CLICK": (("button", "x", "y", "num_clicks"), _click),
    "MOUSE_DOWN": (("button",), _button(MouseDown)),
    "MOUSE_UP": (("button",), _button(MouseUp)),
    "RIGHT_CLICK": (("x", "y"), lambda f: _click(f, "right", 1)),
    "DOUBLE_CLICK": (("x", "y"), lambda f: _click(f, "left", 2)),
    "DRAG_TO": (("x", "y"), lambda f: make(Drag, path=(_to(f),))),
    "SCROLL": (("dx", "dy"), _scroll),
    "TYPING": (("text",), lambda f: make(TypeText, text=f.need_text("text"))),
    "PRESS": (("key",), lambda f: make(Press, keys=(f.need_text("key"),))),
    "KEY_DOWN": (("key",), lambda f: make(KeyDown, key=f.need_text("key"))),
    "KEY_UP": (("key",), lambda f: make(KeyUp, key=f.need_text("key"))),
    "HOTKEY": (("keys",), lambda f: make(Press, keys=f.texts("keys"))),
    **{word: ((), lambda f: WORDS[f.what]) for word in WORDS},
}


def _read(data: Mapping[str, Any]) -> Action:
    name = one_of("action_type", data.get("action_type"), list(TYPES))
    inline = {k: v for k, v in data.items() if k not in ("action_type", "parameters")}
    nested = data.get("parameters") or {}
    if not isinstance(nested, Mapping) or (nested and inline):
        raise DialectError(f"{name}: give its arguments in parameters, a JSON object, or beside action_type; not both")
    allowed, handler = TYPES[name]
    return handler(Fields(name, {**nested, **inline}, allowed))


class Computer13:
    """OSWorld's computer_13. A reply is one action, a list of them, or a bare WAIT, DONE or FAIL."""

    name = "computer_13"

    def parse(self, reply: Any, screen: Size, *, cursor: Point | None = None) -> Parsed:
        """See Dialect. `reply` is JSON text or its data."""
        if isinstance(reply, str) and reply.strip() in WORDS:
            return Parsed((WORDS[reply.strip()],))
        return Parsed(checked([_read(data) for data in objects(load_json(reply))]))

    def render(self, actions: Sequence[Action], screen: Size) -> list[dict[str, Any]]:
        """See Dialect. The nested form."""
        return [self._say(action) for action in self.normal(actions)]

    def normal(self, actions: Sequence[Action]) -> tuple[Action, ...]:
        """See Dialect."""
        return checked([part for action in actions for part in _spell_out(action)])

    def _say(self, action: Action) -> dict[str, Any]:
        def say(name: str, **parameters: Any) -> dict[str, Any]:
            return {"action_type": name, "parameters": {k: v for k, v in parameters.items() if v is not None}}

        match action:
            case Click():
                button = self._known(action)
                return say("CLICK", button=button, x=action.x, y=action.y, num_clicks=action.count)
            case Move():
                return say("MOVE_TO", x=action.x, y=action.y)
            case MouseDown() | MouseUp():
                return say("MOUSE_DOWN" if isinstance(action, MouseDown) else "MOUSE_UP", button=self._known(action))
            case Drag():
                if action.duration_s:
                    raise refuse(self.name, action, "a drag has no duration")
                x, y = action.path[0]
                return say("DRAG_TO", x=x, y=y)
            case Scroll():
                if action.unit != "notch":
                    raise refuse(self.name, action, "pixels; a scroll counts wheel clicks")
                for turns in (action.dx, action.dy):
                    whole("scroll", turns, -MAX_TURNS, MAX_TURNS)
                return say("SCROLL", dx=action.dx, dy=-action.dy)
            case TypeText():
                return say("TYPING", text=action.text)
            case Press(keys=(key,)):
                return say("PRESS", key=key_name(key))
            case Press():
                return say("HOTKEY", keys=[key_name(key) for key in action.keys])
            case KeyDown() | KeyUp():
                return say("KEY_DOWN" if isinstance(action, KeyDown) else "KEY_UP", key=key_name(action.key))
            case Wait() if action.seconds == WAIT_S:
                return say("WAIT")
            case Wait():
                raise refuse(self.name, action, f"a WAIT takes {WAIT_S} seconds, and no other number")
            case Done():
                return say("DONE")
            case Infeasible():
                return say("FAIL")
        raise refuse(self.name, action, f"its actions are {', '.join(TYPES)}")

    def _known(self, action: Click | MouseDown | MouseUp) -> str:
        if action.button not in BUTTONS:
            raise refuse(self.name, action, f"unknown button {action.button!r}; valid are: {', '.join(BUTTONS)}")
        return action.button


def _spell_out(action: Action) -> tuple[Action, ...]:
    match action:
        case Click() | Drag() | Scroll() if action.modifiers:
            first, *rest = without_modifiers(action)
            return (first, *(part for inner in rest for part in _spell_out(inner)))
        case Drag() if not action.duration_s and (len(action.path) > 1 or action.button != "left"):
            return by_hand(action)
        case Scroll() | MouseDown() | MouseUp():
            return without_place(action)
        case Press():
            return without_hold(action)
        case Infeasible():
            return (Infeasible(),)
    return (action,)
