"""Overlay: an action as something to draw on the screenshot, and as words.

Invariant: marks are in screen pixels and hold numbers only; what a model wrote is in captions, which templates escape.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from guiforge.action import (
    Action,
    Answer,
    Click,
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

Shape = Literal["click", "hold", "release", "drag", "move", "scroll", "none"]
_ARROW_PX, _ARROW_MAX_PX = 40, 240  # a scroll arrow's length by notch, and at most
_PIXELS_A_NOTCH = 100


@dataclass(frozen=True)
class Mark:
    """One action of a step, drawn: its number, a shape through `points` (screen pixels; none without a place).

    times: how often the action stands in a row.  written: the action as it was parsed.
    keys: the caption is a chord, shown as key caps.  typed: it is text that was typed.
    """

    number: int
    times: int
    written: str
    shape: Shape
    points: tuple[Point, ...]
    caption: str
    keys: bool = False
    typed: bool = False


def marks(actions: Sequence[Action], cursor: Point | None) -> list[Mark]:
    """What a step's actions look like, in order, equal ones in a row as one.

    cursor: where the pointer was before them, if known.
    """
    drawn, pointer, number = [], cursor, 1
    for action, run in itertools.groupby(actions):
        times = len(list(run))
        shape, points = _shape(action, pointer)
        typed = isinstance(action, TypeText)
        keys = isinstance(action, (Press, KeyDown, KeyUp))
        drawn.append(Mark(number, times, written(action), shape, points, caption(action), keys, typed))
        number += times
        if points and shape != "scroll":
            pointer = points[-1]
        elif points:
            pointer = points[0]
    return drawn


def caption(action: Action) -> str:
    """The action in a few words, without its place."""
    held = [_key(k) for k in getattr(action, "modifiers", ())]
    match action:
        case Click(button=button, count=count):
            times = {1: "", 2: "double ", 3: "triple "}[count]
            return " + ".join((*held, f"{times}{'' if button == 'left' else f'{button} '}click"))
        case Drag(button=button):
            return " + ".join((*held, "drag" if button == "left" else f"{button} drag"))
        case Scroll(dx=dx, dy=dy, unit=unit):
            ways = ((dy, "down" if dy > 0 else "up"), (dx, "right" if dx > 0 else "left"))
            turned = " ".join(f"{way} {abs(n)}" for n, way in ways if n) or "0"
            return " + ".join((*held, f"scroll {turned}{' px' if unit == 'pixel' else ''}"))
        case TypeText(text=text):
            return text.replace("\n", "⏎").replace("\t", "⇥")
        case Press(keys=keys, hold_s=hold_s):
            return " + ".join(map(_key, keys)) + (f" for {hold_s:g} s" if hold_s else "")
        case KeyDown(key=key):
            return f"{_key(key)} ↓"
        case KeyUp(key=key):
            return f"{_key(key)} ↑"
        case Wait(seconds=seconds):
            return f"wait {seconds:g} s" if seconds else "look again"
        case Answer(text=text):
            return f"answer: {text}"
        case Infeasible(reason=reason):
            return f"infeasible: {reason}" if reason else "infeasible"
        case _:
            rest = {k: v for k, v in action.model_dump(exclude_defaults=True).items() if k not in ("kind", "x", "y")}
            return " ".join([action.kind.replace("_", " "), *(str(v) for v in rest.values())])


def written(action: Action) -> str:
    """The action as it was parsed: `click(x=512, y=300, count=2)`, defaults left out."""
    fields = action.model_dump(exclude_defaults=True, exclude={"kind"})
    return f"{action.kind}({', '.join(f'{name}={value!r}' for name, value in fields.items())})"


def _key(keysym: str) -> str:
    """The name on the key cap: `Control` for Control_L."""
    return keysym.removesuffix("_L")


def _shape(action: Action, pointer: Point | None) -> tuple[Shape, tuple[Point, ...]]:
    here = () if pointer is None else (pointer,)
    match action:
        case Click():
            return "click", (action.point,) if action.point else here
        case MouseDown():
            return "hold", (action.point,) if action.point else here
        case MouseUp():
            return "release", (action.point,) if action.point else here
        case Move(x=x, y=y):
            return "move", (*here, (x, y))
        case Drag(path=path):
            return "drag", path if len(path) > 1 else (*here, *path)
        case Scroll() if start := (action.point or pointer):
            scale = _ARROW_PX / (1 if action.unit == "notch" else _PIXELS_A_NOTCH)
            dx, dy = (round(max(-_ARROW_MAX_PX, min(_ARROW_MAX_PX, n * scale))) for n in (action.dx, action.dy))
            return "scroll", (start, (start[0] + dx, start[1] + dy))
        case _:
            return "none", ()
