"""pyautogui: actions as Python source text, read with `ast` against an allow-list, never run.

Invariant: only the calls of `CALLS`, on literals and arithmetic of literals, mean anything; everything else is refused.
Two uses: as OSWorld's action space (coordinates in pixels; `WAIT`, `DONE`, `FAIL` as bare words), and inside the kimi
dialect (`fractions=True`: coordinates 0 to 1 are parts of the frame, above 1 they are pixels).

What has no effect here and is accepted: `interval`, `tween`, `logScreenshot`, `_pause`, a `duration` of anything but a
drag, `import pyautogui`, `import time`. Signatures are those of pyautogui 0.9; scroll is positive upwards. A relative
move counts from the pointer, as the calls before it left it; of fractions, -1 to 1 is a part of the frame.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from guiforge import keys
from guiforge.action import (
    Action,
    Button,
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
    held,
    make,
    number,
    plain_number,
    refuse,
    whole,
    without_hold,
)
from guiforge.dialects.source import Calls, Handler, Screen, read_source
from guiforge.frame import Size

WAIT_S = 2.0  # of OSWorld's WAIT: the pause its environment makes after an action
BUTTONS = ("left", "middle", "right")
WORDS: dict[str, Action] = {"WAIT": Wait(seconds=WAIT_S), "DONE": Done(), "FAIL": Infeasible()}

_IDLE = ("tween", "logScreenshot", "_pause")


def _place(fields: Fields, screen: Screen) -> dict[str, int]:
    """The x and y of a call; x may be the pair (pyautogui takes a tuple there)."""
    pair = fields.get("x")
    if isinstance(pair, list):
        if len(pair) != 2 or fields.get("y") is not None:
            raise DialectError(f"{fields.what}: x must be a number, or one pair (x, y)")
        return screen.place(number(f"{fields.what}: x", pair[0]), number(f"{fields.what}: y", pair[1]))
    return screen.place(fields.number("x"), fields.number("y"))


def _button(fields: Fields) -> str:
    button = fields.choice("button", (*BUTTONS, "primary", "secondary"), "left")
    return {"primary": "left", "secondary": "right"}.get(button, button)


def _click(fields: Fields, screen: Screen, button: str | None = None, count: int | None = None) -> Sequence[Action]:
    where, which = _place(fields, screen), button or _button(fields)
    clicks = count or fields.whole("clicks", 1, 1, 30)
    counts = [3] * (clicks // 3) + [clicks % 3] * (clicks % 3 > 0)
    return [make(Click, **where, button=which, count=n) for n in counts]


def _duration(fields: Fields) -> float:
    return fields.number("duration") or 0.0


def _drag_to(fields: Fields, screen: Screen) -> Sequence[Action]:
    where = _place(fields, screen)
    if not where:
        raise DialectError(f"{fields.what} needs x and y")
    return [make(Drag, path=((where["x"], where["y"]),), button=_button(fields), duration_s=_duration(fields))]


def _drag_by(fields: Fields, screen: Screen) -> Sequence[Action]:
    where = screen.offset(fields.number("xOffset"), fields.number("yOffset"))
    return [make(Drag, path=((where["x"], where["y"]),), button=_button(fields), duration_s=_duration(fields))]


def _move_to(fields: Fields, screen: Screen) -> Sequence[Action]:
    where = _place(fields, screen)
    if not where:
        raise DialectError(f"{fields.what} needs x and y")
    return [make(Move, **where)]


def _move_by(fields: Fields, screen: Screen) -> Sequence[Action]:
    return [make(Move, **screen.offset(fields.number("xOffset"), fields.number("yOffset")))]


def _scroll(axis: str, sign: int) -> Handler:
    def handler(fields: Fields, screen: Screen) -> Sequence[Action]:
        fields.need_number("clicks")
        turns = sign * fields.whole("clicks", 0, -MAX_TURNS, MAX_TURNS)
        return [make(Scroll, **_place(fields, screen), **{axis: turns})]

    return handler


def _write(fields: Fields, screen: Screen) -> Sequence[Action]:
    if isinstance(fields.get("message"), list):
        return [make(Press, keys=(key,)) for key in fields.texts("message")]
    return [make(TypeText, text=fields.need_text("message"))]


def _press(fields: Fields, screen: Screen) -> Sequence[Action]:
    named = fields.texts("keys") if isinstance(fields.get("keys"), list) else (fields.need_text("keys"),)
    return [make(Press, keys=(key,)) for key in named] * fields.whole("presses", 1, 1, 100)


def _hotkey(fields: Fields, screen: Screen) -> Sequence[Action]:
    return [make(Press, keys=fields.texts("keys"))]


def _key(kind: type[KeyDown] | type[KeyUp]) -> Handler:
    return lambda fields, screen: [make(kind, key=fields.need_text("key"))]


def _mouse(kind: type[MouseDown] | type[MouseUp]) -> Handler:
    return lambda fields, screen: [make(kind, **_place(fields, screen), button=_button(fields))]


def _sleep(fields: Fields, screen: Screen) -> Sequence[Action]:
    return [make(Wait, seconds=fields.need_number("seconds"))]


_SINGLE = ("x", "y", "interval", "duration", *_IDLE)
_MULTI = ("x", "y", "interval", "button", "duration", *_IDLE)
_MOUSE = ("x", "y", "button", "duration", *_IDLE)
_TURN = ("clicks", "x", "y", "logScreenshot", "_pause")
_KEY = ("key", "logScreenshot", "_pause")

CALLS: Calls = {
    "pyautogui.click": (("x", "y", "clicks", "interval", "button", "duration", *_IDLE), _click),
    "pyautogui.leftClick": (_SINGLE, lambda f, s: _click(f, s, "left", 1)),
    "pyautogui.rightClick": (_SINGLE, lambda f, s: _click(f, s, "right", 1)),
    "pyautogui.middleClick": (_SINGLE, lambda f, s: _click(f, s, "middle", 1)),
    "pyautogui.doubleClick": (_MULTI, lambda f, s: _click(f, s, count=2)),
    "pyautogui.tripleClick": (_MULTI, lambda f, s: _click(f, s, count=3)),
    "pyautogui.moveTo": (("x", "y", "duration", *_IDLE), _move_to),
    "pyautogui.moveRel": (("xOffset", "yOffset", "duration", *_IDLE), _move_by),
    "pyautogui.move": (("xOffset", "yOffset", "duration", *_IDLE), _move_by),
    "pyautogui.dragTo": (("x", "y", "duration", "tween", "button", "logScreenshot", "_pause"), _drag_to),
    "pyautogui.dragRel": (("xOffset", "yOffset", "duration", "tween", "button", "logScreenshot", "_pause"), _drag_by),
    "pyautogui.drag": (("xOffset", "yOffset", "duration", "tween", "button", "logScreenshot", "_pause"), _drag_by),
    "pyautogui.mouseDown": (_MOUSE, _mouse(MouseDown)),
    "pyautogui.mouseUp": (_MOUSE, _mouse(MouseUp)),
    "pyautogui.scroll": (_TURN, _scroll("dy", -1)),
    "pyautogui.vscroll": (_TURN, _scroll("dy", -1)),
    "pyautogui.hscroll": (_TURN, _scroll("dx", 1)),
    "pyautogui.write": (("message", "interval", "logScreenshot", "_pause"), _write),
    "pyautogui.typewrite": (("message", "interval", "logScreenshot", "_pause"), _write),
    "pyautogui.press": (("keys", "presses", "interval", "logScreenshot", "_pause"), _press),
    "pyautogui.hotkey": (("*keys", "interval", "logScreenshot", "_pause"), _hotkey),
    "pyautogui.keyDown": (_KEY, _key(KeyDown)),
    "pyautogui.keyUp": (_KEY, _key(KeyUp)),
    "pyautogui.sleep": (("seconds",), _sleep),
    "time.sleep": (("seconds",), _sleep),
}


class Pyautogui:
    """The pyautogui dialect in pixels: OSWorld's first action space. A lone WAIT is Wait(2), DONE and FAIL are ends.

    FAIL has no room for a reason: Infeasible's is left out.
    """

    name = "pyautogui"

    def parse(self, reply: str, screen: Size, *, cursor: Point | None = None) -> Parsed:
        """See Dialect."""
        word = reply.strip()
        if word in WORDS:
            return Parsed((WORDS[word],))
        return Parsed(checked(read_source(reply, Screen(screen, fractions=False, cursor=cursor), CALLS)))

    def render(self, actions: Sequence[Action], screen: Size) -> str:
        """See Dialect."""
        spelled = self.normal(actions)
        if isinstance(spelled[-1], (Done, Infeasible)):
            if len(spelled) > 1:
                raise refuse(self.name, spelled[-1], "after other actions; DONE and FAIL stand alone")
            return "DONE" if isinstance(spelled[0], Done) else "FAIL"
        return "\n".join(write_call(action, lambda x, y: (str(x), str(y)), self.name) for action in spelled)

    def normal(self, actions: Sequence[Action]) -> tuple[Action, ...]:
        """See Dialect."""
        return checked(
            [Infeasible() if isinstance(part, Infeasible) else part for action in actions for part in spell_out(action)]
        )


def spell_out(action: Action) -> tuple[Action, ...]:
    """An Action as pyautogui says it: modifiers, paths, held chords and two-way scrolls have no call of their own."""
    if isinstance(action, (Click, Drag, Scroll)) and action.modifiers:
        bare = action.model_copy(update={"modifiers": ()})
        return held(action.modifiers, *spell_out(bare))
    if isinstance(action, Drag) and len(action.path) == 2:
        (x, y), end = action.path
        return Move(x=x, y=y), action.model_copy(update={"path": (end,)})
    if isinstance(action, Drag) and len(action.path) > 2:
        if action.duration_s:
            raise refuse("pyautogui", action, "a duration on a path of more than two points")
        return by_hand(action)
    if isinstance(action, Scroll) and action.dx and action.dy:
        return tuple(action.model_copy(update={axis: 0}) for axis in ("dx", "dy"))
    return without_hold(action) if isinstance(action, Press) else (action,)


WritePoint = Callable[[int, int], tuple[str, str]]


def write_call(action: Action, point: WritePoint, dialect: str) -> str:
    """One spelled-out Action as a call. `point` writes a pixel's coordinates. Raises DialectError."""

    def at() -> list[str]:
        x, y = getattr(action, "x", None), getattr(action, "y", None)
        return [] if x is None or y is None else [f"{n}={v}" for n, v in zip("xy", point(x, y), strict=True)]

    def button(which: Button) -> list[str]:
        if which not in BUTTONS:
            raise refuse(dialect, action, f"unknown button {which!r}; valid are: {', '.join(BUTTONS)}")
        return [] if which == "left" else [f"button={which!r}"]

    def call(name: str, *arguments: str) -> str:
        return f"pyautogui.{name}({', '.join(arguments)})"

    match action:
        case Click():
            name = ("click", "doubleClick", "tripleClick")[action.count - 1]
            return call(name, *at(), *button(action.button))
        case Move():
            return call("moveTo", *at())
        case MouseDown() | MouseUp():
            return call("mouseDown" if isinstance(action, MouseDown) else "mouseUp", *at(), *button(action.button))
        case Drag():
            x, y = point(*action.path[0])
            duration = [f"duration={plain_number(action.duration_s)}"] if action.duration_s else []
            return call("dragTo", f"x={x}", f"y={y}", *duration, *button(action.button))
        case Scroll():
            if action.unit != "notch":
                raise refuse(dialect, action, "pixels; a wheel turns in notches, and how far one goes is the window's")
            name, turns = ("hscroll", action.dx) if action.dx else ("scroll", -action.dy)
            whole("scroll", turns, -MAX_TURNS, MAX_TURNS)
            return call(name, str(turns), *at())
        case TypeText():
            return call("write", repr(action.text))
        case Press():
            named = [repr(key_name(key)) for key in action.keys]
            return call("press" if len(named) == 1 else "hotkey", *named)
        case KeyDown() | KeyUp():
            return call("keyDown" if isinstance(action, KeyDown) else "keyUp", repr(key_name(action.key)))
        case Wait():
            return f"time.sleep({plain_number(action.seconds)})"
    raise refuse(dialect, action, f"it knows {', '.join(CALLS)}")


_NAMES = {
    "Control_L": "ctrl", "Control_R": "ctrlright", "Shift_L": "shift", "Shift_R": "shiftright", "Alt_L": "alt",
    "Alt_R": "altright", "Super_L": "win", "Super_R": "winright", "Return": "enter", "Print": "printscreen",
    "Menu": "apps", "KP_Enter": "numpadenter", **{f"KP_{n}": f"num{n}" for n in range(10)},
}  # fmt: skip


def key_name(key: str) -> str:
    """pyautogui's name of a canonical key (`ctrl`, `enter`, `pagedown`); a character is itself."""
    if key in keys.names():
        return _NAMES.get(key) or key.lower().replace("kp_", "").replace("_", "")
    return key
