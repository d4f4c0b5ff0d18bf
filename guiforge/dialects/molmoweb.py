"""molmoweb: one action a reply, as `{"thought": ..., "action": {...}}`, `{"action": {...}}` or the bare action.

Invariant: coordinates and scrolls are percent of the screen, 0 to 100. A point is the nearest pixel, at least one away
from the screen's edge; a scroll is in pixels, of any size, positive is down and right. `gemini_type_text_at` alone
counts 0 to 1000.

What is written has one decimal, as the format says, so a pixel comes back at most round(size / 2000) away, and never
less than one on the edge itself: 1 pixel at 1280x720 and at 1920x1080. `decimals=3` is exact but for the outermost
pixels, up to a side of 10000, and is read as well.

`noop` is Wait(1); a longer wait is that many of them, rounded up. `[EXIT]` is Done. A message to the user that ends
nothing is a Wait(0): there is nobody to answer it. `Parsed.summary` is the action as the format's history tells it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from guiforge.action import (
    Action,
    Answer,
    Back,
    Click,
    Done,
    Drag,
    Goto,
    Infeasible,
    Move,
    NewTab,
    Point,
    Press,
    Scroll,
    SwitchTab,
    TypeText,
    Wait,
)
from guiforge.dialects.base import (
    DialectError,
    Fields,
    OneAtATime,
    Parsed,
    checked,
    load_json,
    make,
    number,
    objects,
    one_of,
    refuse,
)
from guiforge.dialects.words import sentence
from guiforge.frame import Size

NOOP_S = 1.0
BUTTONS = ("left", "middle", "right")
CLICK_TYPES = ("single", "double")
NAVIGATIONS = ("go_back", "new_tab", "tab_focus")
MAX_TAB = 1000
MESSAGE_CHARS = 1000  # of a message to the user, as the history tells it
CUT = "... (truncated)"

KEYS: dict[str, tuple[str, ...]] = {
    "Enter": ("Return",),
    "Escape": ("Escape",),
    "Backspace": ("BackSpace",),
    "Tab": ("Tab",),
    "ArrowUp": ("Up",),
    "ArrowDown": ("Down",),
    "ArrowLeft": ("Left",),
    "ArrowRight": ("Right",),
    "ControlOrMeta+a": ("Control_L", "a"),
    "ControlOrMeta+c": ("Control_L", "c"),
    "ControlOrMeta+v": ("Control_L", "v"),
    "F5": ("F5",),
}
_KEYS_LOWER = {name.lower(): name for name in KEYS}


def cut(text: str, most: int) -> str:
    """The text in at most `most` characters, the mark of a cut among them."""
    return text if len(text) <= most else text[: most - len(CUT)] + CUT


def _pixels(percent: float, size: int, whole: int = 100) -> int:
    return round(percent / whole * size)


def _point(fields: Fields, screen: Size, x: str = "x", y: str = "y", whole: int = 100) -> Point:
    """The pixel of a point, off the screen's edge (where the screen has pixels off its edge)."""
    found = (_pixels(fields.need_number(name), side, whole) for name, side in zip((x, y), screen, strict=True))
    px, py = (max(0, min(max(pixel, 1), side - 2)) for pixel, side in zip(found, screen, strict=True))
    return px, py


def _xy(fields: Fields, screen: Size, whole: int = 100) -> dict[str, int]:
    return dict(zip("xy", _point(fields, screen, whole=whole), strict=True))


def _click(fields: Fields, screen: Size) -> Sequence[Action]:
    double = fields.choice("click_type", CLICK_TYPES, "single") == "double" or fields.what == "dblclick"
    button = fields.choice("button", BUTTONS, "left")
    return [make(Click, **_xy(fields, screen), button=button, count=2 if double else 1)]


def _hover(fields: Fields, screen: Size) -> Sequence[Action]:
    duration = fields.number("duration")
    seconds = 1.0 if duration is None else duration
    return [make(Move, **_xy(fields, screen)), *([make(Wait, seconds=seconds)] if seconds else [])]


def _drag(fields: Fields, screen: Size) -> Sequence[Action]:
    return [make(Drag, path=(_point(fields, screen, "from_x", "from_y"), _point(fields, screen, "to_x", "to_y")))]


def _scroll(fields: Fields, screen: Size) -> Sequence[Action]:
    if fields.get("delta_x") is None and fields.get("delta_y") is None:
        raise DialectError(f"{fields.what} needs delta_x or delta_y")
    dx, dy = (_pixels(fields.number(f"delta_{a}") or 0, side) for a, side in zip("xy", screen, strict=True))
    return [make(Scroll, **(_xy(fields, screen) if fields.what == "scroll_at" else {}), dx=dx, dy=dy, unit="pixel")]


def _type(fields: Fields, screen: Size) -> Sequence[Action]:
    return [make(TypeText, text=fields.need_text("text"))]


def _press(fields: Fields, screen: Size) -> Sequence[Action]:
    key = fields.need_text("key")
    named = _KEYS_LOWER.get(key.lower(), key)
    return [make(Press, keys=KEYS[one_of(f"{fields.what}: key", named, list(KEYS))])]


def _type_at(fields: Fields, screen: Size) -> Sequence[Action]:
    clear, enter = fields.flag("clear_before_typing", True), fields.flag("press_enter", True)
    return [
        make(Click, **_xy(fields, screen, 1000)),
        *([Press(keys=KEYS["ControlOrMeta+a"]), Press(keys=KEYS["Backspace"])] if clear else []),
        make(TypeText, text=fields.need_text("text")),
        *([Press(keys=KEYS["Enter"])] if enter else []),
    ]


def _goto(fields: Fields, screen: Size) -> Sequence[Action]:
    return [make(Goto, url=fields.need_text("url"))]


def _navigate(fields: Fields, screen: Size) -> Sequence[Action]:
    index = fields.whole("index", -1, -MAX_TAB, MAX_TAB)
    match fields.choice("nav_type", NAVIGATIONS):
        case "go_back":
            return [Back()]
        case "new_tab":
            return [NewTab()]
    return [SwitchTab(index=index)]


def _noop(fields: Fields, screen: Size) -> Sequence[Action]:
    _optional_text("noop: noop_reason", fields.get("noop_reason"))
    return [Wait(seconds=NOOP_S)]


def _message(fields: Fields, screen: Size) -> Sequence[Action]:
    message = fields.need_text("msg")
    if message.lstrip().startswith("[EXIT]"):
        return [Done()]
    if message.lstrip().startswith("[ANSWER]"):
        return [make(Answer, text=message.lstrip().removeprefix("[ANSWER]").removeprefix(" "))]
    return [Wait(seconds=0)]


def _give_up(fields: Fields, screen: Size) -> Sequence[Action]:
    name = "infeasibility_reason"
    return [make(Infeasible, reason=_optional_text(f"{fields.what}: {name}", fields.get(name)))]


Handler = Callable[[Fields, Size], Sequence[Action]]
_CLICK = (("x", "y", "button", "click_type"), _click)
_DRAG = (("from_x", "from_y", "to_x", "to_y"), _drag)
_ACTIONS: dict[str, tuple[tuple[str, ...], Handler]] = {
    "mouse_click": _CLICK,
    "click": _CLICK,
    "dblclick": _CLICK,
    "hover_at": (("x", "y", "duration"), _hover),
    "mouse_drag_and_drop": _DRAG,
    "drag_and_drop": _DRAG,
    "scroll": (("delta_x", "delta_y"), _scroll),
    "scroll_at": (("x", "y", "delta_x", "delta_y"), _scroll),
    "keyboard_type": (("text",), _type),
    "type": (("text",), _type),
    "keyboard_press": (("key",), _press),
    "keypress": (("key",), _press),
    "gemini_type_text_at": (("x", "y", "text", "press_enter", "clear_before_typing"), _type_at),
    "goto": (("url",), _goto),
    "browser_nav": (("nav_type", "index"), _navigate),
    "noop": (("noop_reason",), _noop),
    "send_msg_to_user": (("msg",), _message),
    "report_infeasible": (("infeasibility_reason",), _give_up),
}


class MolmoWeb:
    """The molmoweb dialect.

    think: a reply that is written has a thought.  decimals: of the percentages that are written (see the module).
    """

    name = "molmoweb"

    def __init__(self, think: bool = True, decimals: int = 1) -> None:
        self.think, self.decimals = think, decimals

    def parse(self, reply: Any, screen: Size, *, cursor: Point | None = None) -> Parsed:
        """See Dialect. `reply` is JSON text or its data; the thought may be missing in either style."""
        (data,) = objects([load_json(reply)])
        thought, action = data.get("thought"), data
        if "action" in data:
            (action,) = objects([data["action"]])
        elif "name" not in data:
            raise DialectError('the reply must be a JSON object {"thought": "...", "action": {"name": "...", ...}}')
        thought = _optional_text("thought", thought)
        names, handler = _ACTIONS[one_of("action name", action.get("name"), list(_ACTIONS))]
        fields = Fields(action["name"], {k: v for k, v in action.items() if k != "name"}, names)
        return Parsed(checked(handler(fields, screen)), thought, _told(action))

    def render(self, actions: Sequence[Action], screen: Size, *, thought: str = "") -> str:
        """See Dialect. Raises OneAtATime for several. Without a thought, it says the action in words."""
        spelled = self.normal(actions)
        if len(spelled) > 1:
            raise OneAtATime(self.name, spelled)
        action = self._say(spelled[0], screen)
        said = {"thought": thought or sentence(spelled), "action": action} if self.think else {"action": action}
        return json.dumps(said, ensure_ascii=False)

    def normal(self, actions: Sequence[Action]) -> tuple[Action, ...]:
        """See Dialect. Coordinates and scrolls come back as near as the decimals allow."""
        return checked([part for action in actions for part in _spell_out(action)])

    def _say(self, action: Action, screen: Size) -> dict[str, Any]:
        def percent(pixels: int, side: int) -> float:
            return round(100 * pixels / side, self.decimals)

        def at(point: Point, x: str = "x", y: str = "y") -> dict[str, Any]:
            if not (0 <= point[0] < screen[0] and 0 <= point[1] < screen[1]):
                raise refuse(self.name, action, f"{point} is off the screen of {screen[0]}x{screen[1]}")
            return {x: percent(point[0], screen[0]), y: percent(point[1], screen[1])}

        def say(name: str, **rest: Any) -> dict[str, Any]:
            return {"name": name, **rest}

        match action:
            case Click(x=int() as x, y=int() as y, modifiers=(), count=1 | 2 as count) if action.button in BUTTONS:
                return say("mouse_click" if count == 1 else "dblclick", **at((x, y)), button=action.button)
            case Click():
                raise refuse(self.name, action, f"a click needs x and y, is single or double, of {', '.join(BUTTONS)}")
            case Move():
                return say("hover_at", **at((action.x, action.y)), duration=0.0)
            case Drag(path=(start, end), button="left", modifiers=(), duration_s=0):
                return say("mouse_drag_and_drop", **at(start, "from_x", "from_y"), **at(end, "to_x", "to_y"))
            case Drag():
                raise refuse(self.name, action, "a drag is of two points, with the left button, in no stated time")
            case Scroll(unit="pixel", modifiers=()):
                place = {} if action.point is None else at(action.point)
                deltas = {"delta_x": percent(action.dx, screen[0]), "delta_y": percent(action.dy, screen[1])}
                for name, value in deltas.items():
                    number(name, value)
                return say("scroll_at" if place else "scroll", **place, **deltas)
            case Scroll():
                raise refuse(
                    self.name, action, "a scroll is in percent of the screen, not in notches, with no keys held"
                )
            case TypeText():
                return say("keyboard_type", text=action.text)
            case Press(hold_s=0) if action.keys in KEYS.values():
                return say("keyboard_press", key=next(name for name, keys in KEYS.items() if keys == action.keys))
            case Press():
                raise refuse(self.name, action, f"{'+'.join(action.keys)} is none of its keys: {', '.join(KEYS)}")
            case Wait():
                return say("noop", noop_reason="waiting")
            case Goto():
                return say("goto", url=action.url)
            case Back():
                return say("browser_nav", nav_type="go_back")
            case NewTab(url=""):
                return say("browser_nav", nav_type="new_tab")
            case SwitchTab() if abs(action.index) <= MAX_TAB:
                return say("browser_nav", nav_type="tab_focus", index=action.index)
            case Answer():
                return say("send_msg_to_user", msg=f"[ANSWER] {action.text}")
            case Done():
                return say("send_msg_to_user", msg="[EXIT]")
            case Infeasible():
                return say("report_infeasible", infeasibility_reason=action.reason)
        raise refuse(self.name, action, f"its actions are {', '.join(_ACTIONS)}")


def _spell_out(action: Action) -> Sequence[Action]:
    match action:
        case Wait():
            return [Wait(seconds=NOOP_S)] * max(1, math.ceil(action.seconds / NOOP_S))
        case NewTab() if action.url:
            return [NewTab(), Goto(url=action.url)]
    return [action]


def _optional_text(what: str, value: Any) -> str:
    """A text that may be missing: it is told again in prompts, so it must be whole characters. Raises DialectError."""
    if value is None:
        return ""
    if not isinstance(value, str) or any("\ud800" <= character <= "\udfff" for character in value):
        raise DialectError(f"{what} must be a text")
    return value


def _told(action: Mapping[str, Any]) -> str:
    """The action as the history tells it: the repr of a Python dict, a long message to the user cut."""
    told = dict(action)
    if isinstance(told.get("msg"), str):
        told["msg"] = cut(told["msg"], MESSAGE_CHARS)
    return repr(told)
