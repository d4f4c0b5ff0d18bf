"""DesktopView: what an oracle may look at of a desktop, and wait for; it can act on nothing.

Invariant: every wait ends, by what it waited for or by an OracleStuck that says what that was and what there was
instead. Between two looks a wait sleeps: AT-SPI tells of changes too unevenly across toolkits to be relied on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from envs.desktop.a11y import Accessibility, Node
from envs.desktop.capture import Screen
from envs.desktop.windows import Window, Windows, WindowTimeout
from guiforge.env import StateReader
from guiforge.frame import Frame, Size
from guiforge.task import OracleView

_LOOK_EVERY_S = 0.05
PATIENCE_S = 40.0  # of an oracle: far more than an application takes on a machine with too much to do
_NAMED = 40  # how many widgets a failed wait names


class OracleStuck(RuntimeError):
    """A scripted solution waited for what never came: a fault of the script or of the world, not of a policy."""


class DesktopView(OracleView):
    """An oracle's eyes on one desktop. state: the live files and queries, as a verifier will read them."""

    def __init__(self, screen: Screen, windows: Windows, accessibility: Accessibility, state: StateReader) -> None:
        self._screen, self._windows, self._accessibility, self.state = screen, windows, accessibility, state

    @property
    def size(self) -> Size:
        """(width, height) of the screen in pixels."""
        return self._screen.size

    def frame(self) -> Frame:
        """The screen now."""
        return self._screen.grab()

    def windows(self) -> Sequence[Window]:
        """The top-level windows, oldest first."""
        return self._windows.list()

    def wait_window(self, title: str, *, gone: bool = False, timeout_s: float = PATIENCE_S) -> Window:
        """The first window whose title or class the regular expression is found in, waited for.

        With `gone`, waits until there is none, and gives the last one seen. Raises OracleStuck.
        """
        before = self._windows.find(title)
        try:
            found = self._windows.wait(title, gone=gone, timeout_s=timeout_s)
        except WindowTimeout as problem:
            raise OracleStuck(str(problem)) from problem
        return found or (before[0] if before else Window(0, title, "", 0, 0, 0, 0))

    def find(self, role: str | None = None, name: str | None = None, *, app: str | None = None) -> Node | None:
        """The first showing widget of an AT-SPI role whose name the regular expression matches whole, or None.

        app: a regular expression found in the application's AT-SPI name; without it, that of the active window is
        searched, and the others only where it has none.
        """
        return next(iter(self.find_all(role, name, app=app)), None)

    def find_all(self, role: str | None = None, name: str | None = None, *, app: str | None = None) -> Sequence[Node]:
        """All that `find` chooses from, in the order of the tree."""
        return self._accessibility.find(role, name, app=app)

    def wait_for(
        self, role: str | None = None, name: str | None = None, *, app: str | None = None, timeout_s: float = PATIENCE_S
    ) -> Node:
        """What `find` gives, waited for. Raises OracleStuck naming the widgets there were."""
        deadline = time.monotonic() + timeout_s
        while (found := self.find(role, name, app=app)) is None:
            if time.monotonic() >= deadline:
                others = sorted(
                    {f"{node.role} {node.name!r}" for node in self.find_all(role if name else None, app=app)}
                )
                raise OracleStuck(
                    f"no {role or 'widget'} {name or ''!r} within {timeout_s:g} s; "
                    f"windows: {', '.join(repr(w.title) for w in self.windows())}; "
                    f"widgets: {', '.join(others[:_NAMED]) or 'none'}"
                )
            time.sleep(_LOOK_EVERY_S)
        return found

    def wait_settled(self, timeout_s: float = 10) -> Frame:
        """The screen once it has settled. Raises OracleStuck."""
        frame = self._screen.settle(deadline_s=timeout_s)
        if not frame.settled:
            raise OracleStuck(f"the screen did not settle within {timeout_s:g} s")
        return frame

    def wait_until(self, predicate: Callable[[], object], what: str, timeout_s: float = PATIENCE_S) -> None:
        """Wait until the predicate is true; `what` says what that means. Raises OracleStuck."""
        deadline = time.monotonic() + timeout_s
        while not predicate():
            if time.monotonic() >= deadline:
                raise OracleStuck(f"not within {timeout_s:g} s: {what}")
            time.sleep(_LOOK_EVERY_S)
