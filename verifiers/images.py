"""Pictures as pixels: opening what an agent left, and how far two pictures are from each other.

Invariant: a picture is compared as it looks, in RGB on white, whatever its file's format, mode or palette.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageChops, ImageOps

from verifiers.package import Unreadable, opening

MAX_PIXELS = 40_000_000


@dataclass(frozen=True)
class Picture:
    """A decoded picture. format: of its file, as Pillow names it (`PNG`, `JPEG`, ...); image: RGB, upright."""

    format: str
    image: Image.Image

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) in pixels."""
        return self.image.size


def read_picture(data: bytes) -> Picture:
    """The first frame of an image file, turned as its Exif says, laid on white. Raises Unreadable."""
    with opening("picture"):
        source = Image.open(io.BytesIO(data))
        if source.width * source.height > MAX_PIXELS:
            raise Unreadable(f"the picture has {source.width}x{source.height} pixels")
        source.load()
        upright = ImageOps.exif_transpose(source)
        ground = Image.new("RGBA", upright.size, "white")
        ground.alpha_composite(upright.convert("RGBA"))
    return Picture(source.format or "", ground.convert("RGB"))


def picture_difference(
    found: Image.Image, wanted: Image.Image, *, mean: float = 1.0, outliers: float = 0.001, step: int = 48
) -> str | None:
    """What tells two pictures apart, or None where they look the same.

    mean: the largest mean difference of a channel (0..255) that lossy formats may leave.  outliers: the largest
    share of pixels (0..1) that may differ by more than `step` in a channel: a small wrong part shows there.
    """
    if found.size != wanted.size:
        return f"it is {found.width}x{found.height}, wanted {wanted.width}x{wanted.height}"
    difference = np.asarray(ImageChops.difference(found.convert("RGB"), wanted.convert("RGB")))
    off, share = float(difference.mean()), float((difference.max(axis=2) > step).mean())
    if off > mean or share > outliers:
        return f"it looks different: mean difference {off:.1f} of 255, {share:.1%} of the pixels far off"
    return None


def grey_difference(found: Image.Image, colours: Image.Image, *, slack: int = 6) -> str | None:
    """What tells a picture from a version of `colours` in shades of grey, made by whatever weights; None if nothing.

    A grey lies between the least and the greatest channel of the colour that it was made of, by any usual method.
    slack: what rounding may add, of 255; a thousandth of the pixels may lie outside.
    """
    if found.size != colours.size:
        return f"it is {found.width}x{found.height}, wanted {colours.width}x{colours.height}"
    pixels = np.asarray(found.convert("RGB")).astype(np.int16)
    source = np.asarray(colours.convert("RGB")).astype(np.int16)
    if (coloured := float((np.ptp(pixels, axis=2) > slack).mean())) > 0.001:
        return f"{coloured:.1%} of its pixels are coloured"
    grey = pixels[..., 0]
    outside = (grey < source.min(axis=2) - slack) | (grey > source.max(axis=2) + slack)
    return f"{outside.mean():.1%} of its pixels are no grey of that picture" if outside.mean() > 0.001 else None
