"""openai: the actions of OpenAI's computer-use tool, one or batched (`actions[]`).

Invariant: coordinates are pixels of the screen; a scroll is in pixels, positive is down and right; `keys` are held
meanwhile. A `wait` has no length: it is Wait(1). A `screenshot` is a look: Wait(0). An end is a reply with no action,
which is the harness's to see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from guiforge.action import Action, Click, Drag, Move, Point, Press, Scroll, TypeText, Wait
from guiforge.dialects.base import (
    MAX_PIXELS,
    DialectError,
    Fields,
    Parsed,
    checked,
    held,
    load_json,
    make,
    number,
    objects,
    one_of,
    refuse,
    whole,
)
from guiforge.frame import Size

WAIT_S = 1.0
MAX_PATH = 1000

_BUTTONS = {"left": "left", "right": "right", "wheel": "middle", "back": "back", "forward": "forward"}
_FIELDS: dict[str, tuple[str, ...]] = {
    "click": ("button", "x", "y", "keys"),
    "double_click": ("x", "y", "keys"),
    "drag": ("path", "keys"),
    "keypress": ("keys",),
    "move": ("x", "y", "keys"),
    "screenshot": (),
    "scroll": ("x", "y", "scroll_x", "scroll_y", "keys"),
    "type": ("text",),
    "wait": (),
}


def _xy(fields: Fields) -> dict[str, int]:
    return {"x": round(fields.need_number("x")), "y": round(fields.need_number("y"))}


def _path(fields: Fields) -> tuple[Point, ...]:
    points = fields.get("path")
    if not isinstance(points, (list, tuple)) or not 2 <= len(points) <= MAX_PATH:
        raise DialectError(f'drag: path must be a list of 2 to {MAX_PATH} points {{"x": ..., "y": ...}}')
    found = []
    for point in points:
        pair = (point.get("x"), point.get("y")) if isinstance(point, Mapping) else point
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise DialectError('drag: a point of path must be {"x": ..., "y": ...}')
        found.append((round(number("drag: x", pair[0])), round(number("drag: y", pair[1]))))
    return tuple(found)


def _read(data: Mapping[str, Any]) -> tuple[Action, ...]:
    name = one_of("action type", data.get("type"), list(_FIELDS))
    fields = Fields(name, {k: v for k, v in data.items() if k != "type"}, _FIELDS[name])
    keys = fields.texts("keys")
    match name:
        case "click":
            button = _BUTTONS[fields.choice("button", list(_BUTTONS), "left")]
            return (make(Click, **_xy(fields), button=button, modifiers=keys),)
        case "double_click":
            return (make(Click, **_xy(fields), count=2, modifiers=keys),)
        case "drag":
            return (make(Drag, path=_path(fields), modifiers=keys),)
        case "keypress":
            return (make(Press, keys=keys),)
        case "move":
            return held(make(Press, keys=keys).keys if keys else (), make(Move, **_xy(fields)))
        case "scroll":
            dx, dy = (fields.whole(n, 0, -MAX_PIXELS, MAX_PIXELS) for n in ("scroll_x", "scroll_y"))
            return (make(Scroll, **_xy(fields), dx=dx, dy=dy, unit="pixel", modifiers=keys),)
        case "type":
            return (make(TypeText, text=fields.need_text("text")),)
    return (Wait(seconds=0 if name == "screenshot" else WAIT_S),)


class OpenAI:
    """OpenAI's computer-use actions: one action, a list, `{"actions": [...]}`, or the computer_call around either."""

    name = "openai"

    def parse(self, reply: Any, screen: Size, *, cursor: Point | None = None) -> Parsed:
        """See Dialect. `reply` is JSON text or its data."""
        data = load_json(reply)
        if isinstance(data, Mapping):
            data = data.get("actions") or data.get("action") or data
        found = objects(data)
        looks = tuple("screenshot" for action in found if action.get("type") == "screenshot")
        return Parsed(checked([part for action in found for part in _read(action)]), looks=looks)

    def render(self, actions: Sequence[Action], screen: Size) -> list[dict[str, Any]]:
        """See Dialect. The items of `actions[]`."""
        return [self._say(action) for action in self.normal(actions)]

    def normal(self, actions: Sequence[Action]) -> tuple[Action, ...]:
        """See Dialect: nothing is spelled out."""
        return checked(actions)

    def _say(self, action: Action) -> dict[str, Any]:
        def say(name: str, keys: Sequence[str] = (), **rest: Any) -> dict[str, Any]:
            return {"type": name, **rest, **({"keys": [_key_name(k) for k in keys]} if keys else {})}

        match action:
            case Click(x=int() as x, y=int() as y, count=1):
                button = next(theirs for theirs, ours in _BUTTONS.items() if ours == action.button)
                return say("click", action.modifiers, button=button, x=x, y=y)
            case Click(x=int() as x, y=int() as y, count=2, button="left"):
                return say("double_click", action.modifiers, x=x, y=y)
            case Click():
                raise refuse(self.name, action, "a click needs x and y, and is single, or double with the left button")
            case Move():
                return say("move", x=action.x, y=action.y)
            case Drag(button="left", duration_s=0) if 2 <= len(action.path) <= MAX_PATH:
                return say("drag", action.modifiers, path=[{"x": x, "y": y} for x, y in action.path])
            case Drag():
                raise refuse(self.name, action, f"a drag is of 2 to {MAX_PATH} points, left button, no duration")
            case Scroll(x=int() as x, y=int() as y, unit="pixel"):
                for pixels in (action.dx, action.dy):
                    whole("scroll", pixels, -MAX_PIXELS, MAX_PIXELS)
                return say("scroll", action.modifiers, x=x, y=y, scroll_x=action.dx, scroll_y=action.dy)
            case Scroll():
                raise refuse(self.name, action, "a scroll needs x and y, and is in pixels")
            case TypeText():
                return say("type", text=action.text)
            case Press(hold_s=0):
                return say("keypress", action.keys)
            case Press():
                raise refuse(self.name, action, "keys are not held for a time")
            case Wait() if action.seconds in (0, WAIT_S):
                return say("wait" if action.seconds else "screenshot")
            case Wait():
                raise refuse(self.name, action, f"a wait takes {WAIT_S:.0f} second, and no other number")
        raise refuse(self.name, action, f"its actions are {', '.join(_FIELDS)}")


_NAMES = {
    "Control_L": "CTRL",
    "Shift_L": "SHIFT",
    "Alt_L": "ALT",
    "Super_L": "CMD",
    "Return": "ENTER",
    "Escape": "ESC",
    "Up": "ARROWUP",
    "Down": "ARROWDOWN",
    "Left": "ARROWLEFT",
    "Right": "ARROWRIGHT",
    "Page_Up": "PAGEUP",
    "Page_Down": "PAGEDOWN",
}


def _key_name(key: str) -> str:
    """OpenAI's name of a canonical key (`CTRL`, `ENTER`); a character is itself, a key without one keeps X's name."""
    return _NAMES.get(key) or (key.upper() if len(key) > 1 else key)
