"""Shortcuts: the chords that a browser's window answers to itself, which headless shell, having none, does not.

Invariant: a page has the first word, as in a window: but for a few reserved chords it sees the keys, and where it
prevents their default nothing else comes of them.
Source: Chromium's accelerators on Linux (chrome/browser/ui/views/accelerator_table.cc; IsReservedCommandOrKey).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from envs.browser.keyboard import NAMED
from guiforge.action import Action, Back, CloseTab, Forward, NewTab, Reload, SwitchTab


@dataclass(frozen=True)
class Shortcut:
    """What a chord does. A `turn` goes so many tabs on, round and round.  reserved: no page sees the chord."""

    action: Action | None = None
    turn: int = 0
    reserved: bool = False


_RELOAD, _NEXT, _PREVIOUS = Shortcut(Reload()), Shortcut(turn=1, reserved=True), Shortcut(turn=-1, reserved=True)
_CLOSE = Shortcut(CloseTab(), reserved=True)
# modifiers and key -> shortcut
_CHORDS = {
    "F5": _RELOAD, "Control F5": _RELOAD, "Shift F5": _RELOAD, "Control r": _RELOAD, "Control Shift r": _RELOAD,
    "Alt Left": Shortcut(Back()), "Alt Right": Shortcut(Forward()),
    "Control t": Shortcut(NewTab(), reserved=True), "Control w": _CLOSE, "Control F4": _CLOSE,
    "Control Tab": _NEXT, "Control Page_Down": _NEXT, "Control Shift Tab": _PREVIOUS, "Control Page_Up": _PREVIOUS,
    **{f"Control {n}": Shortcut(SwitchTab(index=n - 1 if n < 9 else -1)) for n in range(1, 10)},
}  # fmt: skip


def find(keys: Iterable[str]) -> Shortcut | None:
    """The shortcut of canonical keys held together."""
    names = list(keys)
    modifiers = {NAMED[name].key for name in names if name in NAMED and NAMED[name].modifier}
    others = [name for name in names if name not in NAMED or not NAMED[name].modifier]
    if len(others) != 1:
        return None
    return _CHORDS.get(" ".join([*sorted(modifiers), others[0].lower() if len(others[0]) == 1 else others[0]]))
