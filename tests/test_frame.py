"""Frames: geometry that loses no pixel, exact PNG, and names of what a model saw."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from guiforge.frame import Encoded, Frame, Geometry, Size, content_hash
from tests.dialects.strategies import SCREENS, points

SIDES = st.integers(1, 9)


@st.composite
def raws(draw: st.DrawFn) -> tuple[Size, bytes]:
    """A small size, and that many BGRX pixels."""
    size = (draw(SIDES), draw(SIDES))
    n = size[0] * size[1] * 4
    return size, draw(st.binary(min_size=n, max_size=n))


def rgb_of(bgrx: bytes, size: Size) -> bytes:
    return np.frombuffer(bgrx, np.uint8).reshape(size[1], size[0], 4)[:, :, 2::-1].tobytes()


@given(st.data())
def test_every_screen_pixel_comes_back_through_any_image_and_through_fractions(data: st.DataObject) -> None:
    geometry = Geometry(data.draw(SCREENS), data.draw(SCREENS))
    pixel = data.draw(points(geometry.screen))
    assert geometry.to_screen(*geometry.to_image(*pixel)) == pixel
    assert geometry.from_fraction(*geometry.to_fraction(*pixel)) == pixel


@given(st.data())
def test_every_pixel_of_a_smaller_image_comes_back_through_the_screen(data: st.DataObject) -> None:
    screen = data.draw(SCREENS)
    image = (data.draw(st.integers(1, screen[0])), data.draw(st.integers(1, screen[1])))
    geometry, point = Geometry(screen, image), data.draw(points(image))
    back = geometry.to_image(*geometry.to_screen(*point))
    assert (round(back[0]), round(back[1])) == point


@given(st.data(), st.floats(-10, 20_000), st.floats(-10, 20_000))
def test_any_point_maps_onto_the_screen_and_mapping_again_changes_nothing(
    data: st.DataObject, x: float, y: float
) -> None:
    geometry = Geometry(data.draw(SCREENS), data.draw(SCREENS))
    once = geometry.to_screen(x, y)
    assert 0 <= once[0] < geometry.screen[0] and 0 <= once[1] < geometry.screen[1]
    assert geometry.to_screen(*geometry.to_image(*once)) == once


def test_the_whole_grid_of_usual_screens_comes_back() -> None:
    for screen, image in (((1920, 1080), (1280, 720)), ((1280, 720), (1366, 768)), ((2560, 1600), (1024, 768))):
        geometry = Geometry(screen, image)
        for x in range(screen[0]):
            y = x % screen[1]
            assert geometry.to_screen(*geometry.to_image(x, y)) == (x, y)
            assert geometry.from_fraction(*geometry.to_fraction(x, y)) == (x, y)


def test_one_is_the_last_pixel() -> None:
    assert Geometry((1920, 1080), (1920, 1080)).from_fraction(1.0, 1.0) == (1919, 1079)


@given(raws())
def test_png_is_exact_from_either_layout(case: tuple[Size, bytes]) -> None:
    size, raw = case
    rgb = rgb_of(raw, size)
    for frame in (Frame(raw, size, raw_mode="BGRX"), Frame(rgb, size)):
        encoded = frame.encode("png")
        decoded = Image.open(io.BytesIO(encoded.data))
        assert (decoded.format, decoded.mode, decoded.size, decoded.tobytes()) == ("PNG", "RGB", size, rgb)
        assert frame.pixels.tobytes() == rgb and frame.pixels.shape == (size[1], size[0], 3)
        assert encoded.hash == content_hash(encoded.data) and encoded.media_type == "image/png"


@given(raws())
def test_a_frame_of_encoded_bytes_gives_those_bytes_back(case: tuple[Size, bytes]) -> None:
    size, raw = case
    frame = Frame(raw, size, raw_mode="BGRX")
    for kind in ("png", "jpeg", "webp"):
        sent = frame.encode(kind)
        again = Frame.from_encoded(sent.data, screen=(100, 50))
        assert again.encode(kind) == Encoded(sent.data, kind, size)
        assert (again.size, again.screen) == (size, (100, 50))
        assert kind != "png" or again.same_pixels(frame)


@given(raws(), st.data())
def test_frames_are_the_same_just_when_every_pixel_is(case: tuple[Size, bytes], data: st.DataObject) -> None:
    size, raw = case
    changed = bytearray(raw)
    where = data.draw(st.integers(0, len(raw) - 1))
    changed[where] ^= data.draw(st.integers(1, 255))
    frame, other = (Frame(bytes(r), size, raw_mode="BGRX") for r in (raw, changed))
    only_padding = where % 4 == 3  # the X of BGRX is no pixel
    assert frame.same_pixels(other) == only_padding
    assert frame.same_pixels(Frame(rgb_of(raw, size), size))
    assert frame.fingerprint == Frame(raw, size, raw_mode="BGRX").fingerprint
    assert only_padding or frame.fingerprint != other.fingerprint
    assert not frame.same_pixels(Frame(raw[:4], (1, 1), raw_mode="BGRX")) or size == (1, 1)


@settings(max_examples=30)
@given(raws(), SIDES, SIDES)
def test_a_resized_copy_maps_points_to_the_same_screen(case: tuple[Size, bytes], width: int, height: int) -> None:
    size, raw = case
    frame = Frame(raw, size, raw_mode="BGRX", cursor=(0, 0), settled=False)
    copy = frame.resized((width, height))
    assert (copy.size, copy.screen, copy.cursor, copy.settled) == ((width, height), size, (0, 0), False)
    assert copy.geometry == Geometry(size, (width, height))


def test_lossy_encodings_heed_their_quality_and_are_made_once() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (32, 32, 3), np.uint8)
    frame = Frame.from_image(Image.fromarray(noise))
    assert len(frame.encode("jpeg", 30).data) < len(frame.encode("jpeg", 95).data)
    assert frame.encode("jpeg", 30) is frame.encode("jpeg", 30)
    assert frame.encode("png") is frame.encode("png", 30)


def test_pixels_are_read_only() -> None:
    pixels = Frame(b"\0" * 12, (2, 2)).pixels
    with pytest.raises(ValueError, match="read-only"):
        pixels[0, 0, 0] = 1


def test_raw_bytes_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match="a BGRX frame of 2x2 takes 16 bytes, got 12"):
        Frame(b"\0" * 12, (2, 2), raw_mode="BGRX")


def test_other_image_formats_are_refused_naming_the_valid_ones() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (2, 2)).save(buffer, "BMP")
    with pytest.raises(ValueError, match="format bmp; valid are png, jpeg, webp"):
        Frame.from_encoded(buffer.getvalue())


def test_a_frame_of_an_image_with_alpha_is_rgb() -> None:
    assert Frame.from_image(Image.new("RGBA", (1, 1), (1, 2, 3, 4))).pixels.tolist() == [[[1, 2, 3]]]
