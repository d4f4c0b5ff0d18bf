"""Display: how a desktop's X server is started, and who may connect to it.

Invariant: only who holds the desktop's own cookie can connect; the server listens on no network, and its number is
claimed before it starts, so that two never race for one.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from pathlib import Path

from Xlib.display import Display

from envs.desktop.sandbox import Place
from envs.desktop.windows import Windows
from guiforge.env import EnvTimeout
from guiforge.frame import Size

MIN_SIZE, MAX_SIZE = (320, 240), (7680, 4320)
COOKIE_BYTES = 16
BACKGROUND = 0x2E4A62  # the root window's one colour, RGB
_ASK_AGAIN_S = 0.02
FRAMEBUFFER = "Xvfb_screen0"  # the file's name is Xvfb's own


def check_size(size: Size) -> Size:
    """The size (width, height) in pixels as it is. Raises ValueError naming the valid range."""
    width, height = size
    if not (MIN_SIZE[0] <= width <= MAX_SIZE[0] and MIN_SIZE[1] <= height <= MAX_SIZE[1]):
        raise ValueError(
            f"a screen of {width}x{height}; valid are {MIN_SIZE[0]}x{MIN_SIZE[1]} to {MAX_SIZE[0]}x{MAX_SIZE[1]}"
        )
    return size


def xauthority(cookie: bytes) -> bytes:
    """A file of XAUTHORITY with one entry that holds for any display and host name (Xauth: FamilyWild)."""
    name = b"MIT-MAGIC-COOKIE-1"
    return struct.pack(">HHHH", 0xFFFF, 0, 0, len(name)) + name + struct.pack(">H", len(cookie)) + cookie


def xvfb_command(place: Place, size: Size, ready_fd: int) -> list[str]:
    """The X server's command line; it writes its number to `ready_fd` once it listens."""
    width, height = size
    screen = place.inside(place.screen)
    return [
        "Xvfb", f":{place.number}", "-displayfd", str(ready_fd), "-screen", "0", f"{width}x{height}x24",
        "-fbdir", screen, "-auth", f"{screen}/cookie", "-nolisten", "tcp", "-dpi", "96", "-noreset", "-s", "0",
        "-extension", "GLX",
    ]  # fmt: skip


def framebuffer(place: Place) -> Path:
    """The file that the X server draws into, as this process sees it."""
    return place.screen / FRAMEBUFFER


def paint_background(display: Display) -> None:
    """Give the root window its colour."""
    root = display.screen().root
    root.change_attributes(background_pixel=BACKGROUND)
    root.clear_area()
    display.sync()


def wait_window_manager(display: Display, timeout_s: float, check: Callable[[], None]) -> None:
    """Return once a window manager answers.

    It is asked until it answers, not heard once: openbox announces itself before its main loop runs, and sleeps over
    what came in between until the next message. `check` raises where it has died meanwhile. Raises EnvTimeout.
    """
    windows, deadline = Windows(display), time.monotonic() + timeout_s
    while not windows.manager_caught_up(_ASK_AGAIN_S):
        check()
        if time.monotonic() >= deadline:
            raise EnvTimeout("openbox", f"managed no windows within {timeout_s:g} s")
