"""anthropic: the actions of Anthropic's computer tool, each the input of one tool call.

Invariant: coordinates are pixels of the declared display, are checked against it, and mean the nearest pixel of the
screen. Keys are X keysyms joined by `+` (`ctrl+s`, `Page_Down`); several chords are separated by spaces.
`screenshot`, `cursor_position` and `zoom` are looks: each a Wait(0), named in `Parsed.looks`. An end is a reply without
a tool call, which is the harness's to see.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from guiforge.action import Action, Click, Drag, MouseDown, MouseUp, Move, Point, Press, Scroll, TypeText, Wait
from guiforge.dialects.base import (
    MAX_TURNS,
    DialectError,
    Fields,
    Parsed,
    by_hand,
    checked,
    load_json,
    make,
    number,
    objects,
    one_of,
    plain_number,
    refuse,
    whole,
    without_place,
)
from guiforge.frame import Geometry, Size

_CLICKS: dict[str, tuple[str, int]] = {
    "left_click": ("left", 1),
    "right_click": ("right", 1),
    "middle_click": ("middle", 1),
    "double_click": ("left", 2),
    "triple_click": ("left", 3),
}
_SCROLLS: dict[str, tuple[int, int]] = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
LOOKS = ("screenshot", "cursor_position", "zoom")
_FIELDS: dict[str, tuple[str, ...]] = {
    "key": ("text",),
    "type": ("text",),
    "mouse_move": ("coordinate",),
    **dict.fromkeys(_CLICKS, ("coordinate", "text")),
    "left_click_drag": ("start_coordinate", "coordinate", "text"),
    "left_mouse_down": (),
    "left_mouse_up": (),
    "scroll": ("scroll_direction", "scroll_amount", "coordinate", "text"),
    "hold_key": ("text", "duration"),
    "wait": ("duration",),
    "cursor_position": (),
    "screenshot": (),
    "zoom": ("region",),
}


class Anthropic:
    """Anthropic's computer tool. display: (width, height) as declared to the model; absent: the screen's own."""

    name = "anthropic"

    def __init__(self, display: Size | None = None) -> None:
        self._display = display

    def parse(self, reply: Any, screen: Size, *, cursor: Point | None = None) -> Parsed:
        """See Dialect. `reply` is one tool input or a list of them, as JSON text or its data."""
        space = Geometry(screen, self._display or screen)
        actions: list[Action] = []
        looks: list[str] = []
        for data in objects(load_json(reply)):
            name = one_of("action", data.get("action"), list(_FIELDS))
            fields = Fields(name, {k: v for k, v in data.items() if k != "action"}, _FIELDS[name])
            actions += self._read(fields, space)
            if name in LOOKS:
                region = ",".join(f"{v:g}" for v in _region(fields, space)) if name == "zoom" else ""
                looks.append(f"{name} {region}".strip())
        return Parsed(checked(actions), looks=tuple(looks))

    def render(self, actions: Sequence[Action], screen: Size) -> list[dict[str, Any]]:
        """See Dialect. The inputs of the tool calls; on a display smaller than the screen, pixels are the nearest."""
        space = Geometry(screen, self._display or screen)
        return [self._say(action, space) for action in self.normal(actions)]

    def normal(self, actions: Sequence[Action]) -> tuple[Action, ...]:
        """See Dialect."""
        return checked([part for action in actions for part in _spell_out(action)])

    def _read(self, fields: Fields, space: Geometry) -> Sequence[Action]:
        name = fields.what
        match name:
            case "key":
                return [make(Press, keys=_chord(part)) for part in _parts(fields.need_text("text"))]
            case "hold_key":
                return [make(Press, keys=_chord(fields.need_text("text")), hold_s=fields.need_number("duration"))]
            case "type":
                return [make(TypeText, text=fields.need_text("text"))]
            case "mouse_move":
                return [make(Move, **_at(fields, space, needed=True))]
            case "left_click_drag":
                path = tuple(_point(fields, n, space) for n in ("start_coordinate", "coordinate"))
                return [make(Drag, path=path, modifiers=_modifiers(fields))]
            case "left_mouse_down":
                return [MouseDown()]
            case "left_mouse_up":
                return [MouseUp()]
            case "scroll":
                dx, dy = _SCROLLS[fields.choice("scroll_direction", list(_SCROLLS))]
                fields.need_number("scroll_amount")
                amount = fields.whole("scroll_amount", 0, 0, MAX_TURNS)
                return [
                    make(Scroll, **_at(fields, space), dx=dx * amount, dy=dy * amount, modifiers=_modifiers(fields))
                ]
            case "wait":
                return [make(Wait, seconds=fields.need_number("duration"))]
            case _ if name in LOOKS:
                return [Wait(seconds=0)]
        button, count = _CLICKS[name]
        return [make(Click, **_at(fields, space), button=button, count=count, modifiers=_modifiers(fields))]

    def _say(self, action: Action, space: Geometry) -> dict[str, Any]:
        def point(x: int, y: int) -> list[int]:
            if not (0 <= x < space.screen[0] and 0 <= y < space.screen[1]):
                raise refuse(self.name, action, f"({x}, {y}) is off the screen of {space.screen[0]}x{space.screen[1]}")
            there = space.to_image(x, y)
            return [min(round(v), size - 1) for v, size in zip(there, space.image, strict=True)]

        def say(name: str, at: Point | None = None, modifiers: Sequence[str] = (), **rest: Any) -> dict[str, Any]:
            place = {"coordinate": point(*at)} if at is not None else {}
            return {"action": name, **place, **({"text": _write(modifiers)} if modifiers else {}), **rest}

        match action:
            case Click():
                for name, (button, count) in _CLICKS.items():
                    if (button, count) == (action.button, action.count):
                        return say(name, action.point, action.modifiers)
                raise refuse(
                    self.name, action, f"button {action.button}, {action.count} times; it has {', '.join(_CLICKS)}"
                )
            case Move():
                return say("mouse_move", (action.x, action.y))
            case MouseDown(button="left") | MouseUp(button="left"):
                return say("left_mouse_down" if isinstance(action, MouseDown) else "left_mouse_up")
            case Drag(button="left", duration_s=0, path=(start, end)):
                return say("left_click_drag", end, action.modifiers, start_coordinate=point(*start))
            case Drag() | MouseDown() | MouseUp():
                raise refuse(self.name, action, "only the left button drags, in no stated time, keys held for 2 points")
            case Scroll(unit="notch"):
                amount = whole("scroll", abs(action.dx or action.dy), 0, MAX_TURNS)
                signs = ((action.dx > 0) - (action.dx < 0), (action.dy > 0) - (action.dy < 0))
                direction = next((d for d, towards in _SCROLLS.items() if towards == signs), "down")
                return say("scroll", action.point, action.modifiers, scroll_direction=direction, scroll_amount=amount)
            case Scroll():
                raise refuse(self.name, action, "pixels; a scroll counts wheel clicks")
            case TypeText():
                return say("type", text=action.text)
            case Press(hold_s=0):
                return say("key", text=_write(action.keys))
            case Press():
                return say("hold_key", text=_write(action.keys), duration=plain_number(action.hold_s))
            case Wait():
                return say("wait", duration=plain_number(action.seconds))
        raise refuse(self.name, action, f"its actions are {', '.join(_FIELDS)}")


def _spell_out(action: Action) -> tuple[Action, ...]:
    match action:
        case Drag(button="left", duration_s=0, modifiers=()) if len(action.path) != 2:
            return by_hand(action)
        case Scroll() if action.dx and action.dy:
            return tuple(action.model_copy(update={axis: 0}) for axis in ("dx", "dy"))
        case MouseDown() | MouseUp():
            return without_place(action)
    return (action,)


def _pair(what: str, value: Any, display: Size) -> tuple[float, float]:
    """A coordinate of the display. Raises DialectError naming the bounds."""
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise DialectError(f"{what} must be [x, y]")
    x, y = number(what, value[0]), number(what, value[1])
    if not (0 <= x < display[0] and 0 <= y < display[1]):
        raise DialectError(
            f"{what} [{x:g}, {y:g}] is off the display; x is 0 to {display[0] - 1}, y is 0 to {display[1] - 1}"
        )
    return x, y


def _point(fields: Fields, name: str, space: Geometry) -> Point:
    return space.to_screen(*_pair(f"{fields.what}: {name}", fields.get(name), space.image))


def _at(fields: Fields, space: Geometry, *, needed: bool = False) -> dict[str, int]:
    if fields.get("coordinate") is None and not needed:
        return {}
    x, y = _point(fields, "coordinate", space)
    return {"x": x, "y": y}


def _region(fields: Fields, space: Geometry) -> tuple[float, ...]:
    region, (width, height) = fields.get("region"), space.image
    if not isinstance(region, (list, tuple)) or len(region) != 4:
        raise DialectError("zoom: region must be [x0, y0, x1, y1]")
    x0, y0, x1, y1 = found = tuple(number("zoom: region", v) for v in region)
    if not (0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height):
        raise DialectError(f"zoom: region must lie in 0 to {width}, 0 to {height}, x0 < x1 and y0 < y1")
    return found


def _parts(text: str) -> list[str]:
    """The chords of a `key` text. Raises DialectError for none."""
    return [part for part in text.split(" ") if part] or [text]


def _chord(text: str) -> tuple[str, ...]:
    """The keys of `ctrl+s`; a `+` that ends it is the plus key (`ctrl++`, `+`)."""
    if text == "+":
        return ("plus",)
    return (*text[:-2].split("+"), "plus") if text.endswith("++") else tuple(text.split("+"))


def _modifiers(fields: Fields) -> tuple[str, ...]:
    return _chord(fields.need_text("text")) if fields.get("text") else ()


_NAMES = {"Control_L": "ctrl", "Shift_L": "shift", "Alt_L": "alt", "Super_L": "super", "+": "plus"}


def _write(keys: Sequence[str]) -> str:
    return "+".join(_NAMES.get(key, key) for key in keys)
