"""An episode of the full browser in a window: what it opens above a page shows too.

Invariant: the screen is the viewport pixel by pixel, with the pointer on it, and the lists and dialogs that are open.
Mouse and plain keys are the display's; chords go to the page, past the window manager, and nothing of the browser's
own (its menus, tools, file dialogs) opens by any of them.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from envs.browser import dialogs
from envs.browser.actions import Actor, NotAnswering
from envs.browser.capture import DEADLINE_S, LOAD_S, TIMERS_S
from envs.browser.dialogs import Dialog
from envs.browser.keyboard import ALT, CONTROL, META
from envs.browser.keyboard import NAMED as KEYS
from envs.browser.page import TICK_S
from envs.browser.shortcuts import Shortcut
from envs.browser.tabs import Tabs
from envs.browser.window import Window
from envs.desktop import capture
from guiforge.action import (
    AnswerDialog,
    BaseAction,
    Click,
    Drag,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseUp,
    Move,
    Point,
    Press,
    Scroll,
    TypeText,
)
from guiforge.frame import Frame

SCRIPT = Path(__file__).with_name("scripts").joinpath("window.js").read_text()
DRAG_MIN_S = 1.0  # from press to release: the browser's drag comes through the display's own protocol
PAINT_S = 1.0  # how long a page may take to paint; one that does not show never does
_BY_DISPLAY = (Click, Move, MouseDown, MouseUp, Drag, Scroll, TypeText, Press, KeyDown, KeyUp)


class WindowScreen:
    """The screen of one episode in a window; see `capture.Screen`, of which it is the like."""

    def __init__(self, tabs: Tabs, window: Window) -> None:
        self._tabs, self._pixels = tabs, window.pixels
        self.size = window.size

    def settle(
        self, cursor: Point, quiet_s: float = capture.QUIET_S, deadline_s: float = DEADLINE_S, load_s: float = LOAD_S
    ) -> Frame:
        """The screen once it has settled, or with `settled` False at a deadline. Raises Gone, EnvError."""
        settled = self.wait_quiet(quiet_s, deadline_s, load_s)
        frame = self._pixels.grab()
        frame.settled = settled
        return frame

    def wait_quiet(self, quiet_s: float = 0.0, deadline_s: float = DEADLINE_S, load_s: float = LOAD_S) -> bool:
        """Wait until the active page has painted and it and the screen are quiet (True), or it is over."""
        start = changed_at = time.monotonic()
        over, seen, painted = start + load_s, self._pixels.grab(), None
        while True:
            page, now = self._tabs.active, time.monotonic()
            held = page.dialog is not None or page.crashed
            if not page.loading:
                over = min(over, now + deadline_s)
            if held or not (page.loading or page.fetching):
                if not held and page is not painted:
                    page.paint(PAINT_S)
                    painted, changed_at = page, time.monotonic()
                elif now - changed_at >= quiet_s:
                    timers_s = 0.0 if held else min(page.timers_s(deadline_s), start + TIMERS_S - now)
                    if timers_s <= 0:
                        return not page.crashed
                    page.run(lambda: False, timers_s)
                    painted = None
            elif page.loading:
                painted = None
            if now >= over:
                return False
            page.run(lambda: False, TICK_S)
            looked = self._pixels.grab()
            if not looked.same_pixels(seen):
                seen, changed_at = looked, time.monotonic()

    def grab(self, cursor: Point) -> Frame:
        """The screen now. `settled` is False: nobody watched it."""
        return self._pixels.grab()


class WindowActor(Actor):
    """Hands on a window: the display's mouse and keyboard; an open dialog holds nothing back that could answer it."""

    def __init__(self, tabs: Tabs, window: Window, hosts: Sequence[str], files: Callable[[str], Path]) -> None:
        super().__init__(tabs, window.size, hosts, files)
        self._input = window.input
        self._input.release_all()

    def perform(self, action: BaseAction) -> None:
        """See Actor."""
        if isinstance(action, _BY_DISPLAY) and not self._is_chord(action):
            if isinstance(action, Drag):
                action = action.model_copy(update={"duration_s": max(action.duration_s, DRAG_MIN_S)})
            self._input.perform(action)
            self.pointer.position = self._input.pointer()
            self._note(action)
            with contextlib.suppress(NotAnswering):
                self._rest(TICK_S)
        else:
            super().perform(action)

    def _to_dialog(self, dialog: Dialog, action: BaseAction) -> AnswerDialog | Dialog:
        raise ValueError(dialogs.refusal(dialog))  # what can answer it went to the display

    def _take(self, shortcut: Shortcut) -> None:
        if shortcut.reserved:  # the others the window has answered to
            super()._take(shortcut)

    def _is_chord(self, action: BaseAction) -> bool:
        """Whether a window could answer to it."""
        if not isinstance(action, (Press, KeyDown, KeyUp)):
            return False
        keys = action.keys if isinstance(action, Press) else (action.key,)
        held = {KEYS[key].modifier for key in (*self.keyboard.held, *keys) if key in KEYS}
        plain = [key for key in keys if key not in KEYS or not KEYS[key].modifier]
        return bool(plain) and (
            bool(held & {ALT, CONTROL, META}) or any(key[0] == "F" and key[1:].isdigit() for key in plain)
        )

    def _note(self, action: BaseAction) -> None:
        """Keep what is held, for the chords that go to the page."""
        if isinstance(action, KeyDown):
            self.keyboard.down(action.key)
        elif isinstance(action, KeyUp):
            self.keyboard.up(action.key)
