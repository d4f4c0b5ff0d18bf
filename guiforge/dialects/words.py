"""Actions in plain words, for formats whose history holds what was done rather than the code of it.

Invariant: one line, whatever was typed.
"""

from __future__ import annotations

from collections.abc import Sequence

from guiforge.action import (
    Action,
    Answer,
    Click,
    Done,
    Drag,
    Goto,
    Infeasible,
    KeyDown,
    KeyUp,
    Move,
    Press,
    Scroll,
    SwitchTab,
    TypeText,
    Wait,
)

LONGEST = 60  # characters of a quoted text


def sentence(actions: Sequence[Action]) -> str:
    """One sentence for the actions of a step: `Double-click at (10, 20), then press Control_L+s.`"""
    text = ", then ".join(_words(action) for action in actions)
    return f"{text[:1].upper()}{text[1:]}."


def _words(action: Action) -> str:
    match action:
        case Click():
            times = ("", "double-", "triple-")[action.count - 1]
            button = "" if action.button == "left" else f"{action.button}-"
            return f"{_held(action.modifiers)}{times}{button}click{_at(action.point)}"
        case Move():
            return f"move to ({action.x}, {action.y})"
        case Drag():
            return f"{_held(action.modifiers)}drag to {action.path[-1]}"
        case Scroll():
            ways = (("left", -action.dx), ("right", action.dx), ("up", -action.dy), ("down", action.dy))
            how = " and ".join(f"{way} by {amount}" for way, amount in ways if amount > 0)
            return f"{_held(action.modifiers)}scroll {how or 'by nothing'}{_at(action.point)}"
        case TypeText():
            return f"type {_quoted(action.text)}"
        case Press():
            return f"press {_chord(action.keys)}"
        case KeyDown() | KeyUp():
            return f"{'hold' if isinstance(action, KeyDown) else 'release'} {_chord([action.key])}"
        case Wait():
            return f"wait {action.seconds:g} s"
        case Goto():
            return f"open {_quoted(action.url)}"
        case SwitchTab():
            return f"switch to tab {action.index}"
        case Answer():
            return f"answer {_quoted(action.text)}"
        case Done():
            return "say that the task is done"
        case Infeasible():
            return f"say that the task can't be done: {_quoted(action.reason)}"
    return action.kind.replace("_", " ")


def _at(point: tuple[int, int] | None) -> str:
    return f" at {point}" if point is not None else ""


def _held(modifiers: Sequence[str]) -> str:
    return f"{_chord(modifiers)}-" if modifiers else ""


def _chord(keys: Sequence[str]) -> str:
    return "+".join(key if key.isprintable() else ascii(key) for key in keys)


def _quoted(text: str) -> str:
    return repr(text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}...")
