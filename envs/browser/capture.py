"""Screen: what the tabs show, and when it has settled.

Invariant: a Frame is a picture that the browser drew and encoded itself (PNG, exact; its bytes are kept), of a page
that had painted. Where a page can't draw (its dialog is open, its script does not end, it crashed), the last picture
is given, with `settled` False unless a dialog is what stopped it, which is then drawn on it (`dialogs`).

Measured at 1280x720 on two busy cores, click to picture: one explicit frame with PNG for speed 17 ms at best, JPEG
18; `Page.captureScreenshot` with PNG for speed 36, JPEG 44; the pixels are the same. So frames are explicit.
"""

from __future__ import annotations

import io
import time

from PIL import Image

from envs.browser import dialogs
from envs.browser.page import Page
from envs.browser.tabs import Tabs
from guiforge.action import Point
from guiforge.frame import Frame, Size

# A page has settled once nothing changed for this long (a frame at 60 Hz), in at least so many frames, while no
# document, fresh request or short timer of the page is on its way.
QUIET_S = 0.016
QUIET_FRAMES = 2
TIMERS_S = 0.25  # how long timers are waited for that set further timers
DEADLINE_S = 3.0
LOAD_S = 10.0  # where a document is on its way
_CLOSE_S = 1.0  # from a script's closing its page to the page's end
_PICTURE_S, _UNSETTLED_PICTURE_S = 3.0, 1.0


class Screen:
    """The screen of one episode."""

    def __init__(self, tabs: Tabs, size: Size) -> None:
        self.size = size
        self._tabs = tabs
        self._png = b""

    def settle(
        self, cursor: Point, quiet_s: float = QUIET_S, deadline_s: float = DEADLINE_S, load_s: float = LOAD_S
    ) -> Frame:
        """The screen once it has settled, or with `settled` False at a deadline. Raises Gone, EnvError."""
        settled = self.wait_quiet(quiet_s, deadline_s, load_s)
        return self._frame(self._tabs.active, cursor, settled)

    def wait_quiet(self, quiet_s: float = 0.0, deadline_s: float = DEADLINE_S, load_s: float = LOAD_S) -> bool:
        """Draw until the active page, whichever that is by then, is quiet (True), or it is over. A dialog is quiet.

        load_s: how long documents on their way are waited for; deadline_s: how long the page may go on changing after.
        However many pages come and go, it ends after both.
        """
        load_by = time.monotonic() + load_s
        over = load_by + deadline_s
        self._tabs.active.touch()
        while True:
            page = self._tabs.active
            quiet = self._watch(page, quiet_s, deadline_s, load_by)
            ended = page.dialog is not None or page.crashed or not page.loading or time.monotonic() >= load_by
            if page is self._tabs.active and ended:
                if not quiet or not page.closing():
                    return quiet
                self._gone(page)
            if time.monotonic() >= over:
                return False

    def _gone(self, page: Page) -> None:
        """Wait a while until a page is not looked at any more."""
        page.run(lambda: page is not self._tabs.active, _CLOSE_S)

    def grab(self, cursor: Point) -> Frame:
        """The screen now. `settled` is False: nobody watched it."""
        return self._frame(self._tabs.active, cursor, settled=False)

    def _watch(self, page: Page, quiet_s: float, deadline_s: float, load_by: float) -> bool:
        """Draw until a page is quiet (True), another document is on its way, another page came, or it is over."""

        def stopped() -> bool:
            return page.dialog is not None or page.crashed or page is not self._tabs.active

        page.run(lambda: not page.loading or stopped(), load_by - time.monotonic())
        start = time.monotonic()
        while True:
            left = start + deadline_s - time.monotonic()
            in_time = page.run(lambda: page.loading or self._quiet(page, quiet_s) or stopped(), left)
            if not in_time or page.loading or stopped():
                break
            timers_s = min(page.timers_s(left), start + TIMERS_S - time.monotonic())
            if timers_s <= 0:
                break
            page.run(lambda: page.loading or stopped(), timers_s)
            page.touch()
        return page.dialog is not None or (in_time and not page.loading and not page.crashed)

    def _quiet(self, page: Page, quiet_s: float) -> bool:
        return page.still_frames >= QUIET_FRAMES and time.monotonic() - page.changed_at >= quiet_s and not page.fetching

    def _frame(self, page: Page, cursor: Point, settled: bool) -> Frame:
        drawn = not page.changed or page.take_picture(_PICTURE_S if settled else _UNSETTLED_PICTURE_S)
        self._png = page.png or self._png or _blank(self.size)
        frame = Frame.from_encoded(self._png, cursor=cursor, settled=settled and (drawn or page.dialog is not None))
        return frame if page.dialog is None else dialogs.drawn(frame, page.dialog)


def _blank(size: Size) -> bytes:
    """A picture of nothing yet."""
    blank = io.BytesIO()
    Image.new("RGB", size, "white").save(blank, "PNG")
    return blank.getvalue()
