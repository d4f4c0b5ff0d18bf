"""Frame: one screenshot with its geometry.

Invariant: a Frame never changes. `fingerprint` is of its pixels and cheap (for settling); `Encoded.hash` is of the
encoded bytes, which is what a model saw and what the store keeps. Points map to the nearest screen pixel.
"""

from __future__ import annotations

import hashlib
import io
import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
from PIL import Image

ImageFormat = Literal["png", "jpeg", "webp"]
Size = tuple[int, int]


def content_hash(data: bytes) -> str:
    """blake2b-128 of the bytes as 32 hex digits: the name of an image or blob in a store."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


@dataclass(frozen=True)
class Encoded:
    """Encoded image bytes, exactly as a model is shown them."""

    data: bytes
    format: ImageFormat
    size: Size  # (width, height) in pixels

    @cached_property
    def hash(self) -> str:
        """Content hash of `data`."""
        return content_hash(self.data)

    @property
    def media_type(self) -> str:
        """E.g. `image/png`."""
        return f"image/{self.format}"


def _nearest(value: float, size: int) -> int:
    return min(max(round(value), 0), size - 1)


@dataclass(frozen=True)
class Geometry:
    """How an image's pixels lie on the screen: image (width, height) stretched over screen (width, height)."""

    screen: Size
    image: Size

    def to_screen(self, x: float, y: float) -> tuple[int, int]:
        """The screen pixel nearest to an image point, clamped to the screen."""
        return (
            _nearest(x * self.screen[0] / self.image[0], self.screen[0]),
            _nearest(y * self.screen[1] / self.image[1], self.screen[1]),
        )

    def to_image(self, x: int, y: int) -> tuple[float, float]:
        """The image point (not rounded) of a screen pixel: `to_screen` of it gives the pixel back."""
        return x * self.image[0] / self.screen[0], y * self.image[1] / self.screen[1]

    def from_fraction(self, fx: float, fy: float) -> tuple[int, int]:
        """The screen pixel nearest to a point in 0..1 of either side; 1.0 is the last pixel."""
        return _nearest(fx * self.screen[0], self.screen[0]), _nearest(fy * self.screen[1], self.screen[1])

    def to_fraction(self, x: int, y: int) -> tuple[float, float]:
        """A screen pixel as fractions, exact: `from_fraction` of it gives the pixel back."""
        return x / self.screen[0], y / self.screen[1]


class Frame:
    """A screenshot: raw pixels of `size`, the screen they show, the pointer and whether the screen had settled.

    raw: BGRX or RGB bytes, row by row, no padding.  size: (width, height) of the image.
    screen: (width, height) of the screen shown; differs from size in a resized copy.
    cursor: pointer (x, y) in screen pixels, or None where unknown.  settled: no change within the quiet window.
    """

    __slots__ = ("__dict__", "_encoded", "_raw_mode", "cursor", "screen", "settled", "size")

    def __init__(
        self,
        raw: bytes,
        size: Size,
        *,
        raw_mode: Literal["BGRX", "RGB"] = "RGB",
        screen: Size | None = None,
        cursor: tuple[int, int] | None = None,
        settled: bool = True,
        encoded: Encoded | None = None,
    ) -> None:
        want = size[0] * size[1] * len(raw_mode)
        if len(raw) != want:
            raise ValueError(f"a {raw_mode} frame of {size[0]}x{size[1]} takes {want} bytes, got {len(raw)}")
        self.__dict__["_raw"], self._raw_mode = raw, raw_mode
        self.size, self.screen, self.cursor, self.settled = size, screen or size, cursor, settled
        self._encoded: dict[tuple[str, int], Encoded] = {}
        if encoded is not None:
            self._encoded[(encoded.format, 0)] = encoded

    @classmethod
    def from_image(cls, image: Image.Image, *, screen: Size | None = None, settled: bool = True) -> Frame:
        """A Frame of a Pillow image (made RGB)."""
        rgb = image.convert("RGB")
        return cls(rgb.tobytes(), rgb.size, screen=screen, settled=settled)

    @classmethod
    def from_encoded(
        cls, data: bytes, *, screen: Size | None = None, cursor: tuple[int, int] | None = None, settled: bool = True
    ) -> Frame:
        """A Frame of encoded bytes (PNG, JPEG, WebP), which `encode` of that format then gives back unchanged.

        They are decoded when pixels are first asked for; only the header is read here. Raises ValueError for another
        format.
        """
        image = Image.open(io.BytesIO(data))
        kind = (image.format or "").lower()
        if kind not in ("png", "jpeg", "webp"):
            raise ValueError(f"an image of format {kind or 'unknown'}; valid are png, jpeg, webp")
        frame = cls.__new__(cls)
        frame._raw_mode, frame._encoded = "RGB", {(kind, 0): Encoded(data, kind, image.size)}  # type: ignore[arg-type]
        frame.size, frame.screen, frame.cursor, frame.settled = image.size, screen or image.size, cursor, settled
        return frame

    @cached_property
    def _raw(self) -> bytes:
        source = next(iter(self._encoded.values()))
        return Image.open(io.BytesIO(source.data)).convert("RGB").tobytes()

    @cached_property
    def image(self) -> Image.Image:
        """As a Pillow RGB image. Treat as read-only."""
        if self._raw_mode == "BGRX":
            return Image.frombuffer("RGB", self.size, self._raw, "raw", "BGRX", 0, 1)
        return Image.frombytes("RGB", self.size, self._raw)

    @cached_property
    def pixels(self) -> npt.NDArray[np.uint8]:
        """(height, width, 3) uint8 RGB, read-only."""
        array = np.array(self.image)
        array.setflags(write=False)
        return array

    @cached_property
    def fingerprint(self) -> int:
        """crc32 of the raw pixels: equal pixels of one source give equal fingerprints; not a content hash."""
        return zlib.crc32(self._raw)

    @property
    def geometry(self) -> Geometry:
        """How this image lies on its screen."""
        return Geometry(self.screen, self.size)

    def same_pixels(self, other: Frame) -> bool:
        """Whether every pixel is equal."""
        if self.size != other.size:
            return False
        if self._raw_mode == other._raw_mode and self._raw == other._raw:
            return True
        return bool(np.array_equal(self.pixels, other.pixels))

    def resized(self, size: Size) -> Frame:
        """A copy scaled to (width, height) with Lanczos, still mapping points to the same screen."""
        if size == self.size:
            return self
        image = self.image.resize(size, Image.Resampling.LANCZOS)
        return Frame(image.tobytes(), size, screen=self.screen, cursor=self.cursor, settled=self.settled)

    def encode(self, format: ImageFormat = "png", quality: int = 85) -> Encoded:
        """Encoded bytes, made once. PNG is exact (quality is ignored); JPEG and WebP are lossy at `quality` 1..100."""
        key = (format, 0 if format == "png" else quality)
        found = self._encoded.get(key) or self._encoded.get((format, 0))
        if found is None:
            buffer = io.BytesIO()
            if format == "png":
                self.image.save(buffer, "PNG", compress_level=1)
            else:
                self.image.save(buffer, format.upper(), quality=quality)
            found = self._encoded[key] = Encoded(buffer.getvalue(), format, self.size)
        return found

    def __repr__(self) -> str:
        return f"Frame({self.size[0]}x{self.size[1]} of {self.screen[0]}x{self.screen[1]}, settled={self.settled})"
