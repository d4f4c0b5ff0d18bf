"""BrowserView: what an oracle may look at of a browser, and wait for; it can act on nothing.

Invariant: every wait ends, by what it waited for or by an OracleStuck that says what that was and what there was
instead. Boxes are in screen pixels, and only of what shows.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envs.browser.capture import Screen
from envs.browser.cdp import CdpError, Late
from envs.browser.page import Page
from envs.browser.pointer import Pointer
from envs.browser.tabs import Tabs
from envs.browser.windowed import WindowScreen
from guiforge.env import StateReader
from guiforge.frame import Frame, Size
from guiforge.task import OracleView

_LOOK_EVERY_S = 0.03
_FIND = Path(__file__).with_name("scripts").joinpath("find.js").read_text()


class OracleStuck(RuntimeError):
    """A scripted solution waited for what never came: a fault of the script or of the world, not of a policy."""


@dataclass(frozen=True)
class Box:
    """An element that shows: its place in screen pixels, and what it holds."""

    x: int
    y: int
    width: int
    height: int
    tag: str
    text: str
    value: str

    @property
    def center(self) -> tuple[int, int]:
        """Where to click it."""
        return self.x + self.width // 2, self.y + self.height // 2


class BrowserView(OracleView):
    """An oracle's eyes on one browser. state: the live files and queries, as a verifier will read them."""

    def __init__(self, tabs: Tabs, screen: Screen | WindowScreen, pointer: Pointer, state: StateReader) -> None:
        self._tabs, self._screen, self._pointer, self.state = tabs, screen, pointer, state

    @property
    def page(self) -> Page:
        """The page that is looked at."""
        return self._tabs.active

    @property
    def size(self) -> Size:
        """(width, height) of the screen in pixels."""
        return self._screen.size

    def frame(self) -> Frame:
        """The screen now."""
        return self._screen.grab(self._pointer.position)

    def find(self, css: str = "*", text: str | None = None) -> Box | None:
        """The first showing element that the selector matches and whose text the regular expression matches whole.

        Frames of the same site and open shadow roots are searched too. Of nested matches of a text, the innermost.
        """
        return next(iter(self.find_all(css, text)), None)

    def find_all(self, css: str = "*", text: str | None = None) -> list[Box]:
        """All that `find` chooses from, in the order of the document."""
        found = self.evaluate(f"({_FIND})({json.dumps(css)}, {json.dumps(text)})")
        return [Box(**box) for box in found]

    def wait_for(self, css: str = "*", text: str | None = None, *, timeout_s: float = 10) -> Box:
        """What `find` gives, waited for. Raises OracleStuck."""
        found: list[Box] = []

        def look() -> bool:
            try:
                found[:] = self.find_all(css, text)
            except (CdpError, Late):  # the document is being replaced
                return False
            return bool(found)

        what = f"{css!r}" if text is None else f"{css!r} with text {text!r}"
        self.wait_until(look, f"no element {what} shows on {self._tabs.titles()[self._tabs.index]}", timeout_s)
        return found[0]

    def wait_until(self, predicate: Callable[[], object], what: str, timeout_s: float = 10) -> None:
        """Wait until the predicate is true; `what` says what is amiss meanwhile. Raises OracleStuck."""
        deadline = time.monotonic() + timeout_s
        while not predicate():
            if time.monotonic() >= deadline:
                raise OracleStuck(f"after {timeout_s:g} s: {what}")
            self._tabs.active.run(lambda: False, _LOOK_EVERY_S)

    def evaluate(self, expression: str) -> Any:
        """The JSON value of a script's expression in the active page. Raises CdpError, Late."""
        return self._tabs.active.evaluate(expression)
