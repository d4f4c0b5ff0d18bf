"""Page: one tab: what the browser told of it, and its frames, which are drawn one by one when asked.

Invariant: at most one frame of a page is being drawn; what a page shows changes by `tick` alone, so that whoever
waits for it draws meanwhile. A page whose dialog is open draws nothing.
Source: HeadlessExperimental.beginFrame of the DevTools protocol (`--enable-begin-frame-control`).
"""

from __future__ import annotations

import base64
import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envs.browser.cdp import CdpError, Connection, Late, Message
from envs.browser.dialogs import Dialog
from guiforge.frame import Size

TICK_S = 0.004  # between two frames while something is waited for
LOADING_TICK_S = 0.016  # while a document is on its way: its frames would hold it up
# how long a request that is not answered keeps a page from having settled; one for what it is drawn with: a list of
# covers, which load when they come into view, takes a busy server that long
REQUEST_S, DRAWN_S = 1.0, 5.0
_DRAWN = frozenset({"Image", "Font", "Stylesheet"})
_CLOSED_S = 1.0
_DRAW_S = 5.0
_TRIES = 3  # at a picture before it is forced; one in a thousand first pictures comes to that
_WATCH = Path(__file__).with_name("scripts").joinpath("watch.js").read_text()

Watch = Callable[[], None]
"""Called now and then while a page is waited for; raises where the browser must not go on."""


@dataclass(frozen=True)
class Chooser:
    """An open file chooser: the element that asked, and whether it takes several files."""

    node: int
    several: bool


class Page:
    """A tab, by its target and its session on the connection. explicit: it draws frames when asked, not by itself."""

    def __init__(
        self, connection: Connection, target: str, session: str, opener: str, watch: Watch, *, explicit: bool = True
    ) -> None:
        self._explicit = explicit
        self._connection, self.target, self.session, self.opener = connection, target, session, opener
        self._watch = watch
        self.dialog: Dialog | None = None
        self.chooser: Chooser | None = None
        self.crashed = False
        self.png = b""  # the last picture
        self.changed = True  # since then
        self.changed_at = time.monotonic()
        self.still_frames = 0  # in a row that changed nothing
        self._loading = False  # its document is on its way
        # of each request that is not answered: when it began, and whether it is for what the page is drawn with
        self._requests: dict[str, tuple[float, bool]] = {}
        self._drawing: int | None = None
        self._drawn_at = 0.0

    def set_up(self, size: Size, locale: str, scripts: tuple[str, ...] = ()) -> None:
        """Make it ready before its first document runs; it was waiting for that."""
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        shown = (
            ("Emulation.setDeviceMetricsOverride", metrics),
            ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
        )
        commands: list[tuple[str, Message]] = [
            ("Page.enable", {}),
            ("Inspector.enable", {}),
            ("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}),
            *(shown if self._explicit else ()),
            ("Emulation.setLocaleOverride", {"locale": locale}),  # refused where the process has it already
            ("Page.setInterceptFileChooserDialog", {"enabled": True}),
        ]
        for method, params in commands:
            self.post(method, params)
        self.add_scripts((_WATCH, *scripts))
        self.post("Runtime.runIfWaitingForDebugger")

    def add_scripts(self, scripts: tuple[str, ...], *, at_once: bool = False) -> None:
        """Run scripts in each document from now on before its own; `at_once`: and in the one that there is."""
        for source in scripts:
            params = {"source": source, "runImmediately": at_once}
            self.post("Page.addScriptToEvaluateOnNewDocument", params)

    def handle(self, method: str, params: Message) -> None:
        """Take in an event of this page's session."""
        match method:
            case "Page.javascriptDialogOpening":
                default = params.get("defaultPrompt") or ""
                self.dialog = Dialog(params["type"], params["message"], default, default)
                self._drop_frame()
            case "Page.javascriptDialogClosed":
                self.dialog = None
                self.touch()
            case "Page.fileChooserOpened":
                self.chooser = Chooser(params.get("backendNodeId", 0), params["mode"] == "selectMultiple")
            case "Inspector.targetCrashed":
                self.crashed = True
                self._drop_frame()
            case "Inspector.targetReloadedAfterCrash":
                self.crashed = False
            case "Network.requestWillBeSent":
                self._requests[params["requestId"]] = time.monotonic(), params.get("type") in _DRAWN
            case "Network.loadingFinished" | "Network.loadingFailed":
                if self._requests.pop(params["requestId"], None) is not None:
                    self.touch()
            case "Page.frameStartedLoading" | "Page.frameRequestedNavigation" if params["frameId"] == self.target:
                self._loading = method == "Page.frameStartedLoading"
                self.touch()
            case "Page.frameStoppedLoading" if params["frameId"] == self.target:
                self._loading = False
                self.touch()
            case "Page.domContentEventFired":
                self._loading = False
                self.touch()
            case "Page.frameNavigated" if "parentId" not in params["frame"]:
                self._requests.clear()
                self.chooser, self.crashed = None, False
                self._drop_frame()

    @property
    def loading(self) -> bool:
        """Whether a new document is on its way, or lately asked for what it is drawn with: pictures, fonts, styles."""
        since = time.monotonic() - DRAWN_S
        return self._loading or any(drawn and began > since for began, drawn in self._requests.values())

    @property
    def fetching(self) -> bool:
        """Whether a request of the last second waits for its answer."""
        since = time.monotonic() - REQUEST_S
        return any(began > since for began, _ in self._requests.values())

    def send(self, method: str, params: Message | None = None) -> int:
        """Send a command of this page; its number, for `run`, `answered`, `answer` and `forget`."""
        return self._connection.send(method, params, self.session)

    def post(self, method: str, params: Message | None = None) -> None:
        """Send a command of this page whose answer nobody wants."""
        self._connection.post(method, params, self.session)

    def answered(self, number: int) -> bool:
        """Whether the answer of a command is there."""
        return self._connection.answered(number)

    def answer(self, number: int) -> Message:
        """The answer that is there. Raises CdpError."""
        return self._connection.answer(number, 0.0)

    def forget(self, number: int) -> None:
        """Nobody waits for this answer any more."""
        self._connection.forget(number)

    def call(self, method: str, params: Message | None = None, timeout_s: float = _DRAW_S) -> Message:
        """A command of this page and its result, drawing meanwhile. Raises CdpError, Late, Gone."""
        number = self.send(method, params)
        if not self.run(lambda: self.answered(number), timeout_s, at_once=False):
            self.forget(number)
            raise Late(f"{method} was not answered within {timeout_s:g} s")
        return self.answer(number)

    def call_all(self, commands: Sequence[tuple[str, Message]], timeout_s: float = _DRAW_S) -> list[Message | CdpError]:
        """The results of commands that are sent at once, or why one was refused. Raises Late, Gone."""
        numbers = [self.send(method, params) for method, params in commands]
        if not self.run(lambda: all(map(self.answered, numbers)), timeout_s, at_once=False):
            for number in numbers:
                self.forget(number)
            raise Late(f"{len(commands)} commands were not answered within {timeout_s:g} s")
        results: list[Message | CdpError] = []
        for number in numbers:
            try:
                results.append(self.answer(number))
            except CdpError as refused:
                results.append(refused)
        return results

    def evaluate(self, expression: str, timeout_s: float = _DRAW_S) -> Any:
        """The JSON value of a script's expression (a promise's, once it has one). Raises CdpError, Late."""
        params = {"expression": expression, "returnByValue": True, "awaitPromise": True, "userGesture": True}
        result = self.call("Runtime.evaluate", params, timeout_s)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise CdpError(details.get("exception", {}).get("description") or details["text"])
        return result["result"].get("value")

    def closing(self) -> bool:
        """Whether its script has closed it while it is still there; only a page that another opened can do that."""
        if not self.opener or self.dialog is not None or self.crashed:
            return False
        try:
            return bool(self.evaluate("window.closed", _CLOSED_S))
        except (CdpError, Late):
            return False

    def redraw(self, timeout_s: float) -> None:
        """Draw all of it afresh. What moves by part of a pixel stays as it was drawn first, so as time would have it.

        By drawing it in dark colours for a frame, of which the page is not told. A page in a window is left as it is.
        """
        if not self._explicit or self.dialog is not None or self.crashed:
            return
        command = "Emulation.setAutoDarkModeOverride"
        with contextlib.suppress(CdpError):  # the document changed meanwhile
            self.call(command, {"enabled": True}, timeout_s)
            self.touch()  # one frame may be on its way that has not seen it
            self.run(lambda: self.still_frames >= 2 or self.dialog or self.crashed, timeout_s)
            self.call(command, {}, timeout_s)
        self.changed = True

    def run(self, until: Callable[[], object], timeout_s: float, *, at_once: bool = True) -> bool:
        """Draw frame after frame until the condition holds (True) or the time is over (False). Raises Gone.

        at_once: False for what mostly comes without a frame, which would only hold it up: the first waits for a tick.
        """
        deadline = time.monotonic() + timeout_s
        if not at_once:
            self._connection.pump(until, min(timeout_s, TICK_S))
        while not until():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._watch()
            self.tick()
            self._connection.pump(lambda: until() or self._drawn(), min(left, TICK_S))
        return True

    def timers_s(self, timeout_s: float) -> float:
        """Seconds until the last of the page's short timers is due; 0 where it has none, or does not say."""
        due = self._ask_watch("due", timeout_s)
        return due / 1000 if isinstance(due, int | float) else 0.0

    def prevented(self, timeout_s: float) -> bool:
        """Whether the page prevented what the last key would have done."""
        return self._ask_watch("prevented", timeout_s) is True

    def paint(self, timeout_s: float) -> None:
        """Wait until a page that draws by itself has drawn what it has."""
        frame = "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(null))))"
        self._ask(frame, timeout_s)

    def _ask_watch(self, name: str, timeout_s: float) -> Any:
        return self._ask(f"globalThis[Symbol.for('guiforge.watch')]?.{name}()", timeout_s)

    def _ask(self, expression: str, timeout_s: float) -> Any:
        """The value of an expression, None where it has none or does not come."""
        number = self.send("Runtime.evaluate", {"expression": expression, "awaitPromise": True})
        self.run(lambda: self.answered(number) or self.dialog or self.crashed, timeout_s)
        if not self.answered(number):
            self.forget(number)
            return None
        with contextlib.suppress(CdpError):
            return self.answer(number)["result"].get("value")
        return None

    def touch(self) -> None:
        """Something happened that may change what it shows."""
        self.changed_at, self.still_frames = time.monotonic(), 0

    def tick(self) -> None:
        """Begin to draw a frame, unless one is being drawn or was just now."""
        self._drawn()
        blocked = self.dialog is not None or self.crashed or not self._explicit
        every_s = LOADING_TICK_S if self._loading else TICK_S
        if self._drawing is None and not blocked and time.monotonic() - self._drawn_at >= every_s:
            self._drawing = self.send("HeadlessExperimental.beginFrame")

    def draw(self, timeout_s: float) -> bool:
        """Draw the page once, without a picture; whether it was drawn in time. Raises Gone."""
        drawn = self._connection.pump(lambda: self._drawing is None or self._drawn(), timeout_s)
        if drawn and self.dialog is None and not self.crashed:
            self._drawing = self.send("HeadlessExperimental.beginFrame")
            drawn = self._connection.pump(lambda: self._drawing is None or self._drawn(), timeout_s)
        return drawn

    def take_picture(self, timeout_s: float) -> bool:
        """Draw the page once into `png`; whether it was drawn in time. Raises Gone."""
        deadline = time.monotonic() + timeout_s
        tries = 0
        while not self.crashed and self.dialog is None and (left := deadline - time.monotonic()) > 0:
            tries += 1
            if tries > _TRIES:
                return self.force_picture(left)
            if not self._connection.pump(lambda: self._drawing is None or self._drawn(), left):
                return False
            if self._draw_picture(deadline):
                return True
        return False

    def force_picture(self, timeout_s: float) -> bool:
        """As `take_picture`, by a redraw of everything: slower; works where a frame that changed nothing gives none."""
        number = self.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
        self.run(lambda: self.answered(number) or self.crashed or self.dialog, timeout_s)
        if not self.answered(number):
            self.forget(number)
            return False
        with contextlib.suppress(CdpError):
            self.png, self.changed = base64.b64decode(self.answer(number)["data"]), False
            return True
        return False

    def _draw_picture(self, deadline: float) -> bool:
        """One picture; whether it came. It does not where the document changed, or the frame changed nothing."""
        self.changed = False
        params = {"screenshot": {"format": "png", "optimizeForSpeed": True}}
        self._drawing = number = self.send("HeadlessExperimental.beginFrame", params)
        self._connection.pump(lambda: self._drawing != number or self.answered(number), deadline - time.monotonic())
        data: str | None = None
        if self._drawing == number and self.answered(number):
            self._drawing = None
            with contextlib.suppress(CdpError):
                data = self.answer(number).get("screenshotData")
            if data is None:
                self._connection.pump(lambda: False, TICK_S)
        if data is None:
            self.changed = True
            return False
        self.png = base64.b64decode(data)
        return True

    def _drawn(self) -> bool:
        """Whether the frame that was being drawn is there; its damage is noted."""
        if self._drawing is None or not self._connection.answered(self._drawing):
            return False
        number, self._drawing, self._drawn_at = self._drawing, None, time.monotonic()
        try:
            damaged = self._connection.answer(number).get("hasDamage", True)
        except CdpError:  # the document changed meanwhile
            damaged = True
        self.still_frames += 1
        if damaged:  # the frame after a picture always is
            self.changed = True
            self.touch()
        return True

    def _drop_frame(self) -> None:
        """The frame that is being drawn will not come, or is not of this document."""
        if self._drawing is not None:
            self.forget(self._drawing)
            self._drawing = None
        self.changed = True
        self.touch()
