"""Screen: the pixels of one desktop, copied from the memory that Xvfb draws in, and when they have settled.

Invariant: a Frame shows what a person would see, the pointer's image at its hotspot included (Xvfb's software cursor
is part of that memory). Nothing is asked of the X server but where the pointer is.
Format: XWD version 7 (X11/XWDFile.h), as `Xvfb -fbdir` writes it.
"""

from __future__ import annotations

import mmap
import struct
import time
from pathlib import Path
from types import TracebackType

from Xlib.display import Display

from guiforge.frame import Frame, Size

# A screen is settled once nothing changed for this long. It must outlast the time from an event to the first pixel
# that answers it (here GTK, Tk and LibreOffice within 15 ms, Chromium within 40 ms, both cores busy) and from one
# animation frame to the next (17 ms).
QUIET_S = 0.08
DEADLINE_S = 3.0
# Between two looks: a quarter of a frame at 60 Hz. A look compares memory, 0.2 ms at 1280x720.
POLL_S = 0.004

_HEADER = struct.Struct(">25I")  # XWDFileHeader; a colour table of 12-byte entries follows


class Screen:
    """One desktop's screen. `framebuffer` is the file of `Xvfb -fbdir`; `display` tells where the pointer is.

    Raises ValueError for a file that is no XWD image of 32 bits a pixel in BGRX.
    """

    def __init__(self, framebuffer: Path, display: Display) -> None:
        with framebuffer.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        (
            header_size, version, _format, _depth, width, height, _xoffset, byte_order, _unit, _bit_order, _pad,
            bits_per_pixel, stride, _visual, red, green, blue, _bits_per_rgb, _entries, colors, *_window,
        ) = _HEADER.unpack_from(self._map)  # fmt: skip
        if (version, byte_order, bits_per_pixel, red, green, blue) != (7, 0, 32, 0xFF0000, 0xFF00, 0xFF):
            raise ValueError(
                f"{framebuffer} is no XWD 7 image in BGRX: version {version}, {bits_per_pixel} bits a pixel"
            )
        if stride != width * 4:
            raise ValueError(f"{framebuffer}: rows of {stride} bytes for {width} pixels of 4")
        self.size: Size = (width, height)
        self._display = display
        start = header_size + colors * 12
        self._pixels = slice(start, start + stride * height)

    def grab(self) -> Frame:
        """The screen now. `settled` is False: nobody watched it."""
        return self._frame(self._copy(), settled=False)

    def settle(self, quiet_s: float = QUIET_S, deadline_s: float = DEADLINE_S) -> Frame:
        """The screen once no pixel changed for `quiet_s`, or with `settled` False at `deadline_s`."""
        last_change = start = time.monotonic()
        pixels = self._copy()
        while True:
            now = time.monotonic()
            settled = now - last_change >= quiet_s
            if settled or now - start >= deadline_s:
                return self._frame(pixels, settled=settled)
            time.sleep(min(POLL_S, max(0.0, last_change + quiet_s - now)))
            seen = self._copy()
            if seen != pixels:
                pixels, last_change = seen, time.monotonic()

    def close(self) -> None:
        """Unmap the memory."""
        self._map.close()

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _copy(self) -> bytes:
        return self._map[self._pixels]

    def _frame(self, pixels: bytes, *, settled: bool) -> Frame:
        pointer = self._display.screen().root.query_pointer()
        return Frame(pixels, self.size, raw_mode="BGRX", cursor=(pointer.root_x, pointer.root_y), settled=settled)
