"""Input: Actions carried out on one display by XTEST, as if by a person's mouse and keyboard.

Invariant: an Action that is refused (ValueError naming the valid choices) has done nothing; one that fails midway
leaves no key or button down that it pressed. `perform` returns when the active window has handled every event (it
says so where it takes `_NET_WM_PING`, else when the X server has); what it draws then is for the screen to show.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from functools import singledispatchmethod

from Xlib import X
from Xlib.display import Display
from Xlib.ext import xtest

from envs.desktop.keyboard import Keyboard
from envs.desktop.windows import Windows
from guiforge.action import (
    DESKTOP_KINDS,
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

BUTTONS = {"left": 1, "middle": 2, "right": 3, "back": 8, "forward": 9}
_WHEEL = {"up": 4, "down": 5, "left": 6, "right": 7}

# One wheel click in pixels, for scrolls given in pixels: what Chromium scrolls by. Rounded to the nearest click, and
# at least one, so that no scroll is silently nothing.
PIXELS_PER_NOTCH = 53
MAX_NOTCHES = 1000

# Programs take two clicks for a double click when they come within this time (GTK, Qt 0.4 s; Tk, Chromium 0.5 s) and
# distance. Nothing but time sets two single clicks apart, so the second one waits for what is left of it. Two presses
# of one millisecond are none to Chromium, so the X server keeps them apart.
DOUBLE_CLICK_S = 0.51
APART_MS = 5
DOUBLE_CLICK_PX = 10

# A drag moves in steps small enough for a program to see its way, and takes long enough for the drag-and-drop
# protocol's round trips between the programs (XDND, HTML5 dragover) while it moves and before it lets go.
DRAG_STEP_PX = 6
DRAG_MIN_S = 0.15
DRAG_REST_S = 0.1

# How long the active window may take to handle what was sent to it; a busy one then goes on being busy.
HANDLE_S = 2.0


class Input:
    """The mouse and the keyboard of one display."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._root = display.screen().root
        geometry = self._root.get_geometry()
        self.size = (int(geometry.width), int(geometry.height))
        self._windows = Windows(display)
        self.keyboard = Keyboard(display, self._windows)
        self._last_click: tuple[float, Point, str] = (-math.inf, (0, 0), "")

    def perform(self, action: BaseAction) -> None:
        """Carry out a mouse or keyboard Action. Raises ValueError naming the valid choices."""
        self._perform(action)
        self._windows.caught_up(HANDLE_S, 0.0)

    @singledispatchmethod
    def _perform(self, action: BaseAction) -> None:
        kind = getattr(action, "kind", type(action).__name__)
        raise ValueError(f"a desktop's mouse and keyboard have no {kind!r}; valid are: {', '.join(DESKTOP_KINDS)}")

    def pointer(self) -> Point:
        """Where the pointer is, in screen pixels."""
        found = self._root.query_pointer()
        return int(found.root_x), int(found.root_y)

    def release_all(self) -> None:
        """Release every key and button that is down, whoever pressed it."""
        for button in BUTTONS.values():
            self._fake(X.ButtonRelease, button)
        self.keyboard.release_all()

    @_perform.register
    def _click(self, action: Click) -> None:
        self._check(action.point)
        self._move(action.point)
        self._stay_single(action.button)
        with self.keyboard.holding(action.modifiers):
            for i in range(action.count):
                self._tap(BUTTONS[action.button], APART_MS if i else 0)
        self._last_click = (time.monotonic(), self.pointer(), action.button)

    @_perform.register
    def _move_to(self, action: Move) -> None:
        self._check((action.x, action.y))
        self._move((action.x, action.y))

    @_perform.register
    def _mouse_down(self, action: MouseDown) -> None:
        self._check(action.point)
        self._move(action.point)
        self._fake(X.ButtonPress, BUTTONS[action.button])
        self._display.sync()

    @_perform.register
    def _mouse_up(self, action: MouseUp) -> None:
        self._check(action.point)
        self._move(action.point)
        self._fake(X.ButtonRelease, BUTTONS[action.button])
        self._display.sync()

    @_perform.register
    def _drag(self, action: Drag) -> None:
        self._check(*action.path)
        path = action.path if len(action.path) > 1 else (self.pointer(), *action.path)
        self._move(path[0])
        with self.keyboard.holding(action.modifiers):
            try:
                self._fake(X.ButtonPress, BUTTONS[action.button])
                steps = interpolate(path)
                pause_s = max(action.duration_s, DRAG_MIN_S) / len(steps)
                start = time.monotonic()
                for i, point in enumerate(steps, 1):
                    self._move(point)
                    time.sleep(max(0.0, start + i * pause_s - time.monotonic()))
                time.sleep(DRAG_REST_S)
            finally:
                self._fake(X.ButtonRelease, BUTTONS[action.button])
                self._display.sync()

    @_perform.register
    def _scroll(self, action: Scroll) -> None:
        self._check(action.point)
        across, down = (notches(amount, action.unit) for amount in (action.dx, action.dy))
        self._move(action.point)
        with self.keyboard.holding(action.modifiers):
            for amount, forwards, backwards in ((down, "down", "up"), (across, "right", "left")):
                for _ in range(abs(amount)):
                    self._tap(_WHEEL[forwards if amount > 0 else backwards])

    @_perform.register
    def _type(self, action: TypeText) -> None:
        self.keyboard.type(action.text)

    @_perform.register
    def _press(self, action: Press) -> None:
        self.keyboard.press(action.keys, action.hold_s)

    @_perform.register
    def _key_down(self, action: KeyDown) -> None:
        self.keyboard.down(action.key)

    @_perform.register
    def _key_up(self, action: KeyUp) -> None:
        self.keyboard.up(action.key)

    def _check(self, *points: Point | None) -> None:
        width, height = self.size
        for point in points:
            if point is not None and not (0 <= point[0] < width and 0 <= point[1] < height):
                raise ValueError(
                    f"({point[0]}, {point[1]}) is off the screen; valid are x 0 to {width - 1} and y 0 to {height - 1}"
                )

    def _move(self, point: Point | None) -> None:
        if point is not None:
            xtest.fake_input(self._display, X.MotionNotify, x=point[0], y=point[1])
            self._display.sync()

    def _tap(self, button: int, after_ms: int = 0) -> None:
        try:
            self._fake(X.ButtonPress, button, after_ms)
        finally:
            self._fake(X.ButtonRelease, button)
            self._display.sync()

    def _fake(self, kind: int, detail: int, after_ms: int = 0) -> None:
        xtest.fake_input(self._display, kind, detail, after_ms)

    def _stay_single(self, button: str) -> None:
        """Wait until a click here can't be taken for the second half of a double click."""
        when, where, which = self._last_click
        if which == button and math.dist(where, self.pointer()) <= DOUBLE_CLICK_PX:
            time.sleep(max(0.0, when + DOUBLE_CLICK_S - time.monotonic()))


def interpolate(path: Sequence[Point], step_px: int = DRAG_STEP_PX) -> list[Point]:
    """The points of a path after its first, no two further apart than `step_px`, each point of the path among them."""
    points: list[Point] = []
    for (x0, y0), (x1, y1) in itertools.pairwise(path):
        parts = max(1, math.ceil(math.dist((x0, y0), (x1, y1)) / step_px))
        points += [(round(x0 + (x1 - x0) * i / parts), round(y0 + (y1 - y0) * i / parts)) for i in range(1, parts + 1)]
    return points


def notches(amount: int, unit: str) -> int:
    """Wheel clicks of a scroll amount, with its sign. Raises ValueError past MAX_NOTCHES."""
    clicks = amount
    if unit == "pixel" and amount:
        clicks = int(math.copysign(max(1, round(abs(amount) / PIXELS_PER_NOTCH)), amount))
    if abs(clicks) > MAX_NOTCHES:
        raise ValueError(
            f"a scroll of {amount} {unit}s is {clicks} wheel clicks; valid are up to {MAX_NOTCHES} either way"
        )
    return clicks
