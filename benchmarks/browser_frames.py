"""The ways from a click to a picture of the page that shows it, side by side over the same protocol connection.

Invariant: every way clicks the same page and is done when the bytes of a picture that shows the click are in memory
(what came before and did not is counted as stale). No side has a driver between: the events and the pictures go over
`envs.browser.cdp`, those of the window through its display.
"""

from __future__ import annotations

import base64
import io
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from PIL import Image

from envs.browser.browser import BINARIES, FLAGS, Browser, _spawn
from envs.browser.cdp import Message
from envs.browser.place import claim, sandbox_refused
from envs.browser.tabs import Look, Tabs
from envs.browser.window import Window
from guiforge.action import Click
from guiforge.frame import Size

SIZES: tuple[Size, ...] = ((332, 240), (1280, 720))  # MiniWoB's is 332x214; a display has 240 lines at least
DEADLINE_S = 5.0
POINTER_PX = 32  # its image is no larger
MARK = (5, 5)  # a pixel that has the background's colour
COLOURS = ((32, 64, 96), (160, 192, 64))
# Of every press the whole page is painted anew: the most that a click can change.
_PAGE = (
    """<!doctype html><style>
body { margin: 0; padding: 20px; height: 100vh; overflow: hidden; font: 16px sans-serif }
body { background: rgb(32, 64, 96); color: white }
body.on { background: rgb(160, 192, 64); color: black }
</style><body onmousedown="document.body.classList.toggle('on')">"""
    + "<p>The quick brown fox jumps over the dog." * 12
)


class Way(ABC):
    """A browser with the page open."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self.stale = 0
        self.done_at = 0.0  # when the last picture was in memory

    @abstractmethod
    def click(self, x: int, y: int) -> None:
        """Click there."""

    @abstractmethod
    def picture(self, shows: Callable[[bytes], bool]) -> bytes:
        """The encoded picture; `shows` says whether it shows the click."""

    @abstractmethod
    def close(self) -> None:
        """End it."""


class Protocol(Way):
    """The headless shell, by the protocol. explicit: it draws a frame when asked, else by itself."""

    def __init__(self, size: Size, explicit: bool, picture: Message) -> None:
        super().__init__(size)
        self._explicit, self._picture = explicit, picture
        self._frames: list[Message] = []
        if explicit:
            self._browser = Browser.launch(())
            page = Tabs(self._browser, Look(size)).active
            self._session, target = page.session, page.target
        else:
            self._browser = _drawing_by_itself()
            made = {"url": "about:blank", "width": size[0], "height": size[1]}
            target = self._browser.connection.call("Target.createTarget", made)["targetId"]
            attach = {"targetId": target, "flatten": True}
            self._session = self._browser.connection.call("Target.attachToTarget", attach)["sessionId"]
            metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
            self._call("Emulation.setDeviceMetricsOverride", metrics)
            self._call("Page.enable")
        self._browser.listeners.append(self._hear)
        self._call("Page.setDocumentContent", {"frameId": target, "html": _PAGE})

    def _call(self, method: str, params: Message | None = None) -> Message:
        return self._browser.connection.call(method, params, self._session)

    def _hear(self, session: str, method: str, params: Message) -> None:
        if method == "Page.screencastFrame":
            self._frames.append(params)
            self._browser.connection.post("Page.screencastFrameAck", {"sessionId": params["sessionId"]}, session)

    def click(self, x: int, y: int) -> None:
        """See Way."""
        at: Message = {"x": x, "y": y, "button": "left", "clickCount": 1}
        connection, sent = self._browser.connection, []
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            params = {"type": kind, **(at if kind != "mouseMoved" else {"x": x, "y": y})}
            sent.append(connection.send("Input.dispatchMouseEvent", params, self._session))
        if self._explicit:  # without a frame the page is not told of a move
            sent.append(connection.send("HeadlessExperimental.beginFrame", None, self._session))
        for number in sent:
            connection.answer(number)

    def picture(self, shows: Callable[[bytes], bool]) -> bytes:
        """See Way."""
        while True:
            if self._explicit:
                drawn = self._call("HeadlessExperimental.beginFrame", {"screenshot": self._picture})
                data = drawn.get("screenshotData", "")
            else:
                data = self._call("Page.captureScreenshot", self._picture)["data"]
            found = base64.b64decode(data)
            self.done_at = time.perf_counter()
            if shows(found):
                return found
            self.stale += 1

    def close(self) -> None:
        """See Way."""
        self._browser.close()


class Screencast(Protocol):
    """The headless shell tells of each frame that it draws by itself."""

    def __init__(self, size: Size, picture: Message) -> None:
        super().__init__(size, False, picture)
        self._call("Page.startScreencast", {**picture, "everyNthFrame": 1})

    def click(self, x: int, y: int) -> None:
        """See Way."""
        self._frames.clear()
        super().click(x, y)

    def picture(self, shows: Callable[[bytes], bool]) -> bytes:
        """See Way."""
        while True:
            if not self._browser.connection.pump(lambda: self._frames, DEADLINE_S):
                raise TimeoutError("no frame of the screencast came")
            found = base64.b64decode(self._frames.pop(0)["data"])
            self.done_at = time.perf_counter()
            if shows(found):
                return found
            self.stale += 1


class Framebuffer(Way):
    """The full browser in a window, clicked by XTEST and read from its display's memory. encode: by what, if at all."""

    def __init__(self, size: Size, encode: str | None) -> None:
        super().__init__(size)
        self._encode = encode
        self._window = Window(size)
        self._browser = Browser.launch((), window=self._window)
        page = Tabs(self._browser, Look(size)).active
        page.call("Page.setDocumentContent", {"frameId": page.target, "html": _PAGE})
        self._pump = self._browser.connection.pump
        page.paint(DEADLINE_S)
        if not self._pump(lambda: self._sees(COLOURS[0]), DEADLINE_S):
            raise TimeoutError("the window does not show the page")

    def _sees(self, colour: tuple[int, ...]) -> bool:
        return tuple(self._window.pixels.grab().pixels[MARK[1], MARK[0]]) == colour

    def click(self, x: int, y: int) -> None:
        """See Way."""
        self._window.input.perform(Click(x=x, y=y))

    def picture(self, shows: Callable[[bytes], bool]) -> bytes:
        """See Way."""
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            frame = self._window.pixels.grab()
            if shows(frame.pixels[: MARK[1] + 1].tobytes()):
                found = frame.encode(self._encode).data if self._encode else frame.pixels.tobytes()  # type: ignore[arg-type]
                self.done_at = time.perf_counter()
                return found
            self._pump(lambda: False, 0.001)
        raise TimeoutError("the click changed nothing in the window")

    def close(self) -> None:
        """See Way."""
        self._browser.close()


PNG, JPEG = {"format": "png", "optimizeForSpeed": True}, {"format": "jpeg", "quality": 85}
WAYS: dict[str, Callable[[Size], Way]] = {
    "explicit frame, PNG for speed": lambda size: Protocol(size, True, PNG),
    "explicit frame, JPEG": lambda size: Protocol(size, True, JPEG),
    "captureScreenshot, PNG for speed": lambda size: Protocol(size, False, PNG),
    "captureScreenshot, PNG": lambda size: Protocol(size, False, {"format": "png"}),
    "captureScreenshot, JPEG": lambda size: Protocol(size, False, JPEG),
    "screencast, PNG": lambda size: Screencast(size, {"format": "png"}),
    "screencast, JPEG": lambda size: Screencast(size, JPEG),
    "window's framebuffer, raw pixels": lambda size: Framebuffer(size, None),
    "window's framebuffer, PNG by Pillow": lambda size: Framebuffer(size, "png"),
    "window's framebuffer, JPEG by Pillow": lambda size: Framebuffer(size, "jpeg"),
}


def measure(trials: int) -> dict[str, Any]:
    """By size and way: milliseconds from click to picture, its KB, stale ones a click, equality with the first way."""
    figures: dict[str, Any] = {}
    for size in SIZES:
        rows = figures["{}x{}".format(*size)] = {}
        first: np.ndarray[Any, Any] | None = None
        for name, make in WAYS.items():
            way = make(size)
            try:
                rows[name], pixels = _clicks(way, trials)
            finally:
                way.close()
            first = pixels if first is None else first
            rows[name]["same pixels"] = bool(np.array_equal(first, pixels))
    return figures


def _clicks(way: Way, trials: int) -> tuple[dict[str, Any], np.ndarray[Any, Any]]:
    """Medians, and the pixels of the last picture but for where the pointer shows."""
    took, data, pixels = [], b"", np.empty(0)
    for trial in range(1, 2 * trials + 3):  # ends where it began to be off
        colour = COLOURS[trial % 2]

        def shows(data: bytes, colour: tuple[int, ...] = colour) -> bool:
            near = np.abs(_decoded(data, way.size)[MARK[1], MARK[0]].astype(int) - colour).max() <= 8  # JPEG
            return bool(near)

        x, y = way.size[0] // (2 + trial % 2), way.size[1] // 2  # two clicks in one place would be a double click
        start = time.perf_counter()
        way.click(x, y)
        data = way.picture(shows)
        if trial > 2:
            took.append(way.done_at - start)
        pixels = _decoded(data, way.size).copy()
    pixels[y - POINTER_PX : y + POINTER_PX, x - POINTER_PX : x + POINTER_PX] = 0
    figures = {
        "ms": round(median(took) * 1000, 1),
        "KB": round(len(data) / 1000),
        "stale": way.stale / (2 * trials + 2),
    }
    return figures, pixels


def _decoded(data: bytes, size: Size) -> np.ndarray[Any, Any]:
    """Pixels of a picture, or of the rows of one."""
    if not data:  # an explicit frame that changed nothing gives no picture
        return np.zeros((size[1], size[0], 3), np.uint8)
    if len(data) % (size[0] * 3) == 0 and not data.startswith((b"\x89PNG", b"\xff\xd8")):
        return np.frombuffer(data, np.uint8).reshape(-1, size[0], 3)
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def _drawing_by_itself() -> Browser:
    """The headless shell with guiforge's flags, but for those that have it wait for frames to be asked for."""
    binary = next(path for path in BINARIES["chromium-headless-shell"] if Path(path).exists())
    place = claim()
    argv = [binary, *FLAGS, f"--user-data-dir={place.profile}"]
    if sandbox_refused(place.uid):
        argv.append("--no-sandbox")
    return Browser(place, *_spawn(argv, place, {}), 1e9, None)
