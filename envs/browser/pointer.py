"""Pointer: the mouse as the DevTools protocol's events: where it is, and which buttons are down.

Invariant: an action that is refused (ValueError naming the valid choices) has done nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from envs.browser.cdp import Message
from envs.browser.keyboard import Command
from guiforge.action import Button, Point
from guiforge.frame import Size

BUTTONS: dict[str, int] = {"left": 1, "right": 2, "middle": 4, "back": 8, "forward": 16}
# One wheel click in pixels: what Chromium scrolls by on Linux
PIXELS_PER_NOTCH = 53
MAX_SCROLL_PX = 1_000_000
DRAG_STEP_PX = 6


class Pointer:
    """The mouse of one episode. size: (width, height) of the screen in pixels."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self.position: Point = (size[0] // 2, size[1] // 2)
        self._down: list[Button] = []

    @property
    def held(self) -> tuple[Button, ...]:
        """The buttons that are down."""
        return tuple(self._down)

    def check(self, *points: Point | None) -> None:
        """Raises ValueError for a point off the screen, naming the valid range."""
        width, height = self.size
        for point in points:
            if point is not None and not (0 <= point[0] < width and 0 <= point[1] < height):
                raise ValueError(
                    f"({point[0]}, {point[1]}) is off the screen; valid are x 0 to {width - 1} and y 0 to {height - 1}"
                )

    def move(self, point: Point | None) -> list[Command]:
        """To a point, or None to stay."""
        if point is None:
            return []
        self.position = point
        return [self._event("mouseMoved", self._down[-1] if self._down else "none")]

    def down(self, button: Button, count: int = 1) -> list[Command]:
        """Press a button; `count` is the how-many-eth press of a multiple click it is."""
        if button not in self._down:
            self._down.append(button)
        return [self._event("mousePressed", button, clickCount=count)]

    def up(self, button: Button, count: int = 1) -> list[Command]:
        """Release a button."""
        if button in self._down:
            self._down.remove(button)
        return [self._event("mouseReleased", button, clickCount=count)]

    def click(self, button: Button, count: int) -> list[Command]:
        """Press and release a button `count` times."""
        return [event for n in range(1, count + 1) for event in (*self.down(button, n), *self.up(button, n))]

    def wheel(self, dx: int, dy: int, unit: str) -> list[Command]:
        """Turn the wheel. Raises ValueError past MAX_SCROLL_PX."""
        scale = PIXELS_PER_NOTCH if unit == "notch" else 1
        if max(abs(dx), abs(dy)) * scale > MAX_SCROLL_PX:
            raise ValueError(f"a scroll of ({dx}, {dy}) {unit}s; valid are up to {MAX_SCROLL_PX // scale} either way")
        return [self._event("mouseWheel", "none", deltaX=dx * scale, deltaY=dy * scale)]

    def _event(self, kind: str, button: str, **more: int) -> Command:
        event: Message = {
            "type": kind, "x": self.position[0], "y": self.position[1], "button": button,
            "buttons": sum(BUTTONS[b] for b in self._down), "pointerType": "mouse", **more,
        }  # fmt: skip
        return "Input.dispatchMouseEvent", event


def interpolate(path: Sequence[Point], step_px: int = DRAG_STEP_PX) -> list[Point]:
    """The points of a path after its first, no two further apart than `step_px`, each point of the path among them."""
    points: list[Point] = []
    for (x0, y0), (x1, y1) in itertools.pairwise(path):
        parts = max(1, math.ceil(math.dist((x0, y0), (x1, y1)) / step_px))
        points += [(round(x0 + (x1 - x0) * i / parts), round(y0 + (y1 - y0) * i / parts)) for i in range(1, parts + 1)]
    return points
