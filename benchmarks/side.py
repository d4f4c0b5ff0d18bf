"""One peer in the comparison, run by an interpreter that has its packages: how it clicks, looks and types.

Invariant: what is measured lies in the loops below and is one for all sides: the settle rule, the codec, the clock, the
order. A side only says how it clicks, captures and types. Results are printed as JSON.

    side.py SIDE clicks WIDTH HEIGHT TRIALS      side.py SIDE type TEXT      (DISPLAY and XAUTHORITY say where)
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from statistics import median
from typing import Any, Protocol

from PIL import Image

QUIET_S, POLL_S, DEADLINE_S = 0.08, 0.004, 3.0  # those of envs.desktop.capture
MARK_PX = 60  # how far from the pointer a pixel is looked at

Size = tuple[int, int]


class Side(Protocol):
    """A way to drive a screen. A picture is whatever it captures."""

    def click(self, x: int, y: int) -> None:
        """Click the left button there."""

    def grab(self) -> Any:
        """The screen now."""

    def settle(self) -> Any:
        """The screen once no pixel changed for QUIET_S."""

    def click_and_settle(self, x: int, y: int) -> Any:
        """The settled screen after a click there."""

    def same(self, picture: Any, other: Any) -> bool:
        """Whether every pixel is equal."""

    def pixel(self, picture: Any, x: int, y: int) -> tuple[int, int, int]:
        """(red, green, blue) of a pixel."""

    def encode(self, picture: Any) -> bytes:
        """As PNG, by Pillow at compression level 1."""


class Polling(ABC):
    """The same capture for every peer: mss (XShm), compared as bytes; and guiforge's settle rule over it."""

    def __init__(self, size: Size) -> None:
        import mss

        self._size = size
        self._mss = mss.MSS()
        self._area = {"left": 0, "top": 0, "width": size[0], "height": size[1]}

    def grab(self) -> bytes:
        """BGRX bytes."""
        return bytes(self._mss.grab(self._area).raw)

    def settle(self) -> bytes:
        """See Side: a picture is taken every POLL_S."""
        last_change = start = time.monotonic()
        picture = self.grab()
        while True:
            now = time.monotonic()
            if now - last_change >= QUIET_S or now - start >= DEADLINE_S:
                return picture
            time.sleep(min(POLL_S, max(0.0, last_change + QUIET_S - now)))
            seen = self.grab()
            if seen != picture:
                picture, last_change = seen, time.monotonic()

    @abstractmethod
    def click(self, x: int, y: int) -> None:
        """See Side."""

    def click_and_settle(self, x: int, y: int) -> Any:
        """See Side."""
        self.click(x, y)
        return self.settle()

    def same(self, picture: Any, other: Any) -> bool:
        """See Side."""
        return bool(picture == other)

    def pixel(self, picture: bytes, x: int, y: int) -> tuple[int, int, int]:
        """See Side."""
        blue, green, red, _ = picture[(y * self._size[0] + x) * 4 :][:4]
        return red, green, blue

    def encode(self, picture: bytes) -> bytes:
        """See Side."""
        buffer = io.BytesIO()
        Image.frombuffer("RGB", self._size, picture, "raw", "BGRX", 0, 1).save(buffer, "PNG", compress_level=1)
        return buffer.getvalue()


class RawFloor(Polling):
    """XTEST and a sync: no less can be done to a button."""

    def __init__(self, size: Size) -> None:
        from Xlib.display import Display

        super().__init__(size)
        self._display = Display()

    def click(self, x: int, y: int) -> None:
        """See Side."""
        from Xlib import X
        from Xlib.ext import xtest

        for kind, detail, at in (
            (X.MotionNotify, 0, (x, y)),
            (X.ButtonPress, 1, (0, 0)),
            (X.ButtonRelease, 1, (0, 0)),
        ):
            xtest.fake_input(self._display, kind, detail, x=at[0], y=at[1])
        self._display.sync()


class PyAutoGui(Polling):
    """pyautogui with the shared capture. `pause_s`: its PAUSE, None for its default."""

    def __init__(self, size: Size, pause_s: float | None = None) -> None:
        import pyautogui

        super().__init__(size)
        self._gui = pyautogui
        if pause_s is not None:
            pyautogui.PAUSE = pause_s

    def click(self, x: int, y: int) -> None:
        """See Side."""
        self._gui.click(x=x, y=y)

    def type(self, text: str) -> None:
        """See Side."""
        self._gui.write(text)


class PyAutoGuiOwn(PyAutoGui):
    """pyautogui as it comes: its PAUSE and its own screenshot (scrot)."""

    def grab(self) -> Image.Image:  # type: ignore[override]
        """A Pillow image."""
        return self._gui.screenshot()  # type: ignore[no-any-return]

    def pixel(self, picture: Image.Image, x: int, y: int) -> tuple[int, int, int]:  # type: ignore[override]
        """See Side."""
        return picture.convert("RGB").getpixel((x, y))  # type: ignore[return-value]

    def encode(self, picture: Image.Image) -> bytes:  # type: ignore[override]
        """See Side."""
        buffer = io.BytesIO()
        picture.save(buffer, "PNG", compress_level=1)
        return buffer.getvalue()


class Xdotool(Polling):
    """xdotool, a process a click, with the shared capture. `delay_ms`: between keys, None for its default."""

    def __init__(self, size: Size, delay_ms: int | None = None) -> None:
        super().__init__(size)
        self._delay = [] if delay_ms is None else ["--delay", str(delay_ms)]

    def click(self, x: int, y: int) -> None:
        """See Side."""
        subprocess.run(["xdotool", "mousemove", str(x), str(y), "click", "1"], check=True)

    def type(self, text: str) -> None:
        """See Side."""
        subprocess.run(["xdotool", "type", *self._delay, "--", text], check=True)


SIDES: dict[str, Callable[[Size], Any]] = {
    "raw floor": RawFloor,
    "pyautogui": PyAutoGuiOwn,
    "pyautogui, our capture": PyAutoGui,
    "pyautogui, PAUSE=0, our capture": lambda size: PyAutoGui(size, 0),
    "xdotool, our capture": Xdotool,
    "xdotool, delay 0": lambda size: Xdotool(size, 0),
}


def clicks(side: Side, size: Size, trials: int) -> dict[str, float]:
    """Medians in milliseconds over clicks that repaint the screen's window, each at another place than the last.

    capture: one capture.  act: the click call.  changed: from its start to the first capture that differs.
    settled: to the frame that has settled.  png: the same, encoded.  stale: share of settled frames without the click.
    """
    took: dict[str, list[float]] = {name: [] for name in ("capture", "act", "changed", "settled", "png")}
    stale = 0
    points = [(size[0] // 3, size[1] // 2), (size[0] // 2, size[1] // 3)]
    for trial in range(2 * trials):
        x, y = points[trial % 2]
        side.settle()
        start = time.perf_counter()
        before = side.grab()
        took["capture"].append(time.perf_counter() - start)
        seen_before = side.pixel(before, x + MARK_PX, y + MARK_PX)
        start = time.perf_counter()
        if trial < trials:
            side.click(x, y)
            took["act"].append(time.perf_counter() - start)
            while side.same(side.grab(), before):
                if time.perf_counter() - start > DEADLINE_S:
                    raise TimeoutError("the click changed nothing on the screen")
                time.sleep(0.001)
            took["changed"].append(time.perf_counter() - start)
        else:
            frame = side.click_and_settle(x, y)
            took["settled"].append(time.perf_counter() - start)
            side.encode(frame)
            took["png"].append(time.perf_counter() - start)
            stale += side.pixel(frame, x + MARK_PX, y + MARK_PX) == seen_before
    return {name: round(median(values) * 1000, 2) for name, values in took.items()} | {"stale": stale / trials}


def main(argv: list[str]) -> dict[str, float]:
    """What the command line asks for, as measured."""
    name, what, *rest = argv
    if what == "clicks":
        size, trials = (int(rest[0]), int(rest[1])), int(rest[2])
        return clicks(SIDES[name](size), size, trials)
    side = SIDES[name]((16, 16))
    start = time.perf_counter()
    side.type(rest[0])
    return {"seconds": time.perf_counter() - start}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
