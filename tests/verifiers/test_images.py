"""Comparing pictures: what counts as the same, and what an agent may have left instead of one."""

from __future__ import annotations

import io
import struct
import zlib

import pytest
from PIL import Image, ImageDraw, ImageOps

from verifiers.images import grey_difference, picture_difference, read_picture
from verifiers.package import Unreadable


def drawn() -> Image.Image:
    image = Image.new("RGB", (200, 120), "#f4f1e8")
    draw = ImageDraw.Draw(image)
    draw.ellipse((20, 20, 80, 80), fill="#d62828")
    draw.rectangle((120, 60, 180, 119), fill="#1d5fd1")
    return image


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


@pytest.mark.parametrize(
    ("kind", "mode"),
    [("PNG", "RGB"), ("PNG", "P"), ("PNG", "RGBA"), ("BMP", "RGB"), ("BMP", "P"), ("TIFF", "RGB"), ("TIFF", "RGBA")],
)
def test_the_same_picture_in_another_format_or_mode_is_the_same(kind: str, mode: str) -> None:
    image = drawn().quantize(16) if mode == "P" else drawn().convert(mode)
    found = read_picture(encoded(image, kind))
    assert (found.format, found.size) == (kind, (200, 120))
    assert picture_difference(found.image, drawn()) is None


def test_transparent_places_are_white() -> None:
    cut = drawn().convert("RGBA")
    cut.putalpha(0)
    assert picture_difference(read_picture(encoded(cut, "PNG")).image, Image.new("RGB", (200, 120), "white")) is None


def test_a_picture_is_turned_as_its_exif_says() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees clockwise
    stored = drawn().transpose(Image.Transpose.ROTATE_90)
    assert picture_difference(read_picture(encoded(stored, "PNG", exif=exif)).image, drawn()) is None


@pytest.mark.parametrize(
    "change",
    [
        ImageOps.mirror,
        ImageOps.flip,
        ImageOps.invert,
        lambda image: image.rotate(180),
        lambda image: image.crop((0, 0, 199, 120)),
        lambda image: ImageOps.grayscale(image).convert("RGB"),
        lambda image: image.transform(image.size, Image.Transform.AFFINE, (1, 0, 2, 0, 1, 0)),
    ],
)
def test_a_changed_picture_is_another(change: object) -> None:
    assert callable(change)
    assert picture_difference(change(drawn()), drawn()) is not None


def test_a_small_wrong_part_is_seen_whatever_the_mean_says() -> None:
    spotted = drawn()
    ImageDraw.Draw(spotted).rectangle((100, 10, 106, 16), fill="#000000")
    assert picture_difference(spotted, drawn(), mean=255) is not None


@pytest.mark.parametrize(
    "weights", [(0.299, 0.587, 0.114), (1 / 3, 1 / 3, 1 / 3), (0.2126, 0.7152, 0.0722), (0.5, 0.5, 0)]
)
def test_shades_of_grey_by_any_weights_pass(weights: tuple[float, float, float]) -> None:
    assert grey_difference(drawn().convert("L", matrix=(*weights, 0)), drawn()) is None


@pytest.mark.parametrize(
    "found",
    [
        drawn(),
        Image.new("L", (200, 120), 128),
        ImageOps.invert(ImageOps.grayscale(drawn())),
        ImageOps.grayscale(ImageOps.mirror(drawn())),
        ImageOps.grayscale(drawn()).resize((100, 60)),
    ],
    ids=["coloured", "plain", "negative", "mirrored", "smaller"],
)
def test_what_is_no_grey_of_that_picture_fails(found: Image.Image) -> None:
    assert grey_difference(found, drawn()) is not None


def bomb() -> bytes:
    """A PNG of a few bytes that claims 60000 x 60000 pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    "data", [b"", b"no picture", encoded(drawn(), "PNG")[:200], bomb()], ids=["empty", "text", "cut", "bomb"]
)
def test_what_is_no_picture_is_unreadable(data: bytes) -> None:
    with pytest.raises(Unreadable):
        read_picture(data)
