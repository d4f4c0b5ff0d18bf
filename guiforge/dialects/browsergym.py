"""browsergym: calls of BrowserGym's coordinate actions as Python source, read with `ast` and never run.

Invariant: only the calls of `CALLS`, on literals, mean anything. Coordinates are pixels of the page as it is shown; a
scroll is in pixels, positive is down and right. Keys have Playwright's names, a chord's are joined by `+`
(`Control+Shift+T` and `Control+t` name the same T key; Shift is pressed where it is named).

`send_msg_to_user` ends the episode as an Answer, with an empty text as Done. `noop` is a Wait of its milliseconds.
Source of names and arguments: BrowserGym's action documentation, Playwright's `keyboard.press`.
"""

from __future__ import annotations

from collections.abc import Sequence

from guiforge import keys
from guiforge.action import (
    Action,
    Answer,
    Back,
    Click,
    CloseTab,
    Done,
    Drag,
    Forward,
    Goto,
    Infeasible,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseUp,
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
    MAX_PIXELS,
    DialectError,
    Fields,
    Parsed,
    checked,
    make,
    plain_number,
    refuse,
    whole,
    without_hold,
    without_modifiers,
)
from guiforge.dialects.source import Calls, Handler, Screen, read_source
from guiforge.frame import Size

BUTTONS = ("left", "middle", "right")
NOOP_MS = 1000
MAX_TAB = 1000


def _xy(fields: Fields, x: str = "x", y: str = "y") -> dict[str, int]:
    return {"x": round(fields.need_number(x)), "y": round(fields.need_number(y))}


def _click(count: int) -> Handler:
    def handler(fields: Fields, screen: Screen) -> Sequence[Action]:
        return [make(Click, **_xy(fields), button=fields.choice("button", BUTTONS, "left"), count=count)]

    return handler


def _button(kind: type[MouseDown] | type[MouseUp]) -> Handler:
    return lambda fields, screen: [make(kind, **_xy(fields), button=fields.choice("button", BUTTONS, "left"))]


def _drag(fields: Fields, screen: Screen) -> Sequence[Action]:
    start, end = _xy(fields, "from_x", "from_y"), _xy(fields, "to_x", "to_y")
    return [make(Drag, path=((start["x"], start["y"]), (end["x"], end["y"])))]


def _scroll(fields: Fields, screen: Screen) -> Sequence[Action]:
    dx, dy = (_delta(fields, axis) for axis in "xy")
    return [make(Scroll, **(_xy(fields) if fields.what == "scroll_at" else {}), dx=dx, dy=dy, unit="pixel")]


def _delta(fields: Fields, axis: str) -> int:
    short, long = f"d{axis}", f"delta_{axis}"
    if fields.get(short) is not None and fields.get(long) is not None:
        raise DialectError(f"{fields.what}: {short} and {long} are the same; give one of them")
    return round(fields.need_number(short if fields.get(long) is None else long))


def _type(fields: Fields, screen: Screen) -> Sequence[Action]:
    return [make(TypeText, text=fields.need_text("text"))]


def _press(fields: Fields, screen: Screen) -> Sequence[Action]:
    return [make(Press, keys=chord(fields.need_text("key")))]


def _key(kind: type[KeyDown] | type[KeyUp]) -> Handler:
    return lambda fields, screen: [make(kind, key=fields.need_text("key"))]


def _message(fields: Fields, screen: Screen) -> Sequence[Action]:
    text = fields.need_text("text")
    return [make(Answer, text=text) if text else Done()]


def _noop(fields: Fields, screen: Screen) -> Sequence[Action]:
    wait_ms = fields.number("wait_ms")
    return [make(Wait, seconds=(NOOP_MS if wait_ms is None else wait_ms) / 1000)]


def _always(action: Action) -> Handler:
    return lambda fields, screen: [action]


_PLACE = ("x", "y", "button")
CALLS: Calls = {
    "mouse_click": (_PLACE, _click(1)),
    "mouse_dblclick": (_PLACE, _click(2)),
    "mouse_move": (("x", "y"), lambda fields, screen: [make(Move, **_xy(fields))]),
    "mouse_down": (_PLACE, _button(MouseDown)),
    "mouse_up": (_PLACE, _button(MouseUp)),
    "mouse_drag_and_drop": (("from_x", "from_y", "to_x", "to_y"), _drag),
    "scroll": (("dx", "dy", "delta_x", "delta_y"), _scroll),
    "scroll_at": (("x", "y", "dx", "dy", "delta_x", "delta_y"), _scroll),
    "keyboard_press": (("key",), _press),
    "keyboard_type": (("text",), _type),
    "keyboard_insert_text": (("text",), _type),
    "keyboard_down": (("key",), _key(KeyDown)),
    "keyboard_up": (("key",), _key(KeyUp)),
    "goto": (("url",), lambda fields, screen: [make(Goto, url=fields.need_text("url"))]),
    "go_back": ((), _always(Back())),
    "go_forward": ((), _always(Forward())),
    "new_tab": ((), _always(NewTab())),
    "tab_focus": (
        ("index",),
        lambda fields, screen: [SwitchTab(index=whole("tab_focus: index", fields.get("index"), -MAX_TAB, MAX_TAB))],
    ),
    "tab_close": ((), _always(CloseTab())),
    "send_msg_to_user": (("text",), _message),
    "report_infeasible": (
        ("reason",),
        lambda fields, screen: [make(Infeasible, reason=fields.need_text("reason"))],
    ),
    "noop": (("wait_ms",), _noop),
}


class BrowserGym:
    """The browsergym dialect: one call or several, one a line."""

    name = "browsergym"

    def parse(self, reply: str, screen: Size, *, cursor: Point | None = None) -> Parsed:
        """See Dialect."""
        return Parsed(checked(read_source(reply, Screen(screen, fractions=False, cursor=cursor), CALLS)))

    def render(self, actions: Sequence[Action], screen: Size) -> str:
        """See Dialect."""
        return "\n".join(self._call(action) for action in self.normal(actions))

    def normal(self, actions: Sequence[Action]) -> tuple[Action, ...]:
        """See Dialect. An empty Answer is Done; a Wait is of whole milliseconds; a chord's capital is Shift and it."""
        return checked([part for action in actions for part in _spell_out(action)])

    def _call(self, action: Action) -> str:
        def button() -> list[str]:
            which = getattr(action, "button", "left")
            if which not in BUTTONS:
                raise refuse(self.name, action, f"unknown button {which!r}; valid are: {', '.join(BUTTONS)}")
            return [] if which == "left" else [repr(which)]

        def call(name: str, *arguments: int | str) -> str:
            return f"{name}({', '.join(map(str, arguments))})"

        match action:
            case Click(x=int() as x, y=int() as y, count=1 | 2 as count):
                return call("mouse_click" if count == 1 else "mouse_dblclick", x, y, *button())
            case Click():
                raise refuse(self.name, action, "a click needs x and y, and is single or double")
            case Move():
                return call("mouse_move", action.x, action.y)
            case MouseDown(x=int() as x, y=int() as y) | MouseUp(x=int() as x, y=int() as y):
                return call(action.kind, x, y, *button())
            case MouseDown() | MouseUp():
                raise refuse(self.name, action, "it needs x and y")
            case Drag(path=((x, y), (to_x, to_y)), duration_s=0, button="left"):
                return call("mouse_drag_and_drop", x, y, to_x, to_y)
            case Drag():
                raise refuse(self.name, action, "a drag is of two points or more, in no stated time")
            case Scroll(unit="pixel"):
                for pixels in (action.dx, action.dy):
                    whole("scroll", pixels, -MAX_PIXELS, MAX_PIXELS)
                if action.x is None or action.y is None:
                    return call("scroll", action.dx, action.dy)
                return call("scroll_at", action.x, action.y, action.dx, action.dy)
            case Scroll():
                raise refuse(self.name, action, "a scroll is in pixels")
            case TypeText():
                return call("keyboard_type", repr(action.text))
            case Press():
                return call("keyboard_press", repr("+".join(_key_name(key) for key in action.keys)))
            case KeyDown() | KeyUp():
                name = "keyboard_down" if isinstance(action, KeyDown) else "keyboard_up"
                return call(name, repr(_key_name(action.key)))
            case Wait():
                return call("noop", str(plain_number(round(action.seconds * 1000))))
            case Goto():
                return call("goto", repr(action.url))
            case Back() | Forward():
                return call(f"go_{action.kind}")
            case NewTab(url="") | CloseTab():
                return call("new_tab" if isinstance(action, NewTab) else "tab_close")
            case SwitchTab() if abs(action.index) <= MAX_TAB:
                return call("tab_focus", action.index)
            case Answer() | Done():
                return call("send_msg_to_user", repr(action.text if isinstance(action, Answer) else ""))
            case Infeasible():
                return call("report_infeasible", repr(action.reason))
        raise refuse(self.name, action, f"its calls are {', '.join(CALLS)}")


def _spell_out(action: Action) -> Sequence[Action]:
    match action:
        case Click() | Drag() | Scroll() if action.modifiers:
            return [part for each in without_modifiers(action) for part in _spell_out(each)]
        case Drag(duration_s=0) if len(action.path) > 2 or (len(action.path) == 2 and action.button != "left"):
            (x, y), *way, (to_x, to_y) = action.path
            return [
                MouseDown(x=x, y=y, button=action.button),
                *(Move(x=px, y=py) for px, py in way),
                MouseUp(x=to_x, y=to_y, button=action.button),
            ]
        case Press(hold_s=0):
            return [action.model_copy(update={"keys": _lowered(action.keys)})]
        case Press():
            return [part for each in without_hold(action) for part in _spell_out(each)]
        case Wait():
            return [Wait(seconds=round(action.seconds * 1000) / 1000)]
        case NewTab() if action.url:
            return [NewTab(), Goto(url=action.url)]
        case Answer(text=""):
            return [Done()]
    return [action]


def _is_capital(key: str) -> bool:
    return len(key) == 1 and "A" <= key <= "Z"


def _lowered(chord: Sequence[str]) -> tuple[str, ...]:
    """A chord's keys without capitals, Shift pressed before the first of them; a key by itself stays as it is."""
    if len(chord) == 1 or not any(map(_is_capital, chord)):
        return tuple(chord)
    first = next(i for i, key in enumerate(chord) if _is_capital(key))
    shift = () if {"Shift_L", "Shift_R"} & set(chord[:first]) else ("Shift_L",)
    return *chord[:first], *shift, *(key.lower() if _is_capital(key) else key for key in chord[first:])


def chord(text: str) -> tuple[str, ...]:
    """The keys of `Control+Shift+T`, as Playwright splits them: a `+` where a name should begin is the plus key."""
    names, name = [], ""
    for character in text:
        if character == "+" and name:
            names.append(name)
            name = ""
        else:
            name += character
    names.append(name)
    return tuple(n.lower() if len(names) > 1 and _is_capital(n) else n for n in names)


_NAMES = {
    "Control_L": "Control", "Control_R": "ControlRight", "Shift_L": "Shift", "Shift_R": "ShiftRight", "Alt_L": "Alt",
    "Alt_R": "AltRight", "Super_L": "Meta", "Super_R": "MetaRight", "Return": "Enter", "KP_Enter": "NumpadEnter",
    "BackSpace": "Backspace", "Up": "ArrowUp", "Down": "ArrowDown", "Left": "ArrowLeft", "Right": "ArrowRight",
    "space": "Space", "Print": "PrintScreen", "Menu": "ContextMenu",
}  # fmt: skip


def _key_name(key: str) -> str:
    """Playwright's name of a canonical key (`Control`, `ArrowUp`, `Numpad0`); a character is itself."""
    if key in keys.names():
        return _NAMES.get(key) or key.replace("KP_", "Numpad").replace("_", "")
    return key
