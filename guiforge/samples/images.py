"""Images in a token sequence: which placeholder tokens each fills, checked against what the model makes of its size.

Invariant: every placeholder of a prompt belongs to exactly one image, in order, and an image to as many placeholders
as the model has features for it; anything else raises Mismatch.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from guiforge.frame import Size

Ids = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


class Mismatch(ValueError):
    """A prompt's placeholders and its images don't agree."""


class ImageTokens(Protocol):
    """What a model's side tells of its images."""

    @property
    def token_id(self) -> int:
        """The placeholder token of an image's features."""
        ...

    @property
    def media_token_ids(self) -> frozenset[int]:
        """Tokens that a reply can't hold: placeholders of images, videos and so on."""
        ...

    def tokens_of(self, size: Size) -> int | None:
        """How many placeholders an image of this (width, height) in pixels takes.

        None where that is not known: each unbroken run of placeholders is then taken for one image. Raises ValueError
        for an image that the model can't take.
        """
        ...


@dataclass(frozen=True)
class ImageSpan:
    """An image by content hash, and the tokens it fills: from the first placeholder up to, not with, `stop`."""

    hash: str
    start: int
    stop: int


def place_images(
    ids: Ids, images: Sequence[tuple[str, Size]], tokens: ImageTokens, sampled: Flags | None = None
) -> tuple[ImageSpan, ...]:
    """Where each of a prompt's images (content hash and size in pixels, in order) lies in its token ids.

    sampled: (T,) tokens that the policy sampled; a placeholder among these is no image.  Raises Mismatch.
    """
    found = ids == tokens.token_id
    if sampled is not None:
        found &= ~sampled
    places = np.flatnonzero(found)
    run_starts = np.flatnonzero(np.diff(places, prepend=-2) > 1)  # indexes into `places`
    try:
        counts = [tokens.tokens_of(size) for _, size in images]
    except ValueError as error:
        raise Mismatch(str(error)) from None
    if 0 in counts:
        raise Mismatch("an image is too small to have a feature")
    if None in counts:
        if len(run_starts) != len(images):
            raise Mismatch(f"{len(images)} images, and placeholders in {len(run_starts)} runs")
        edges = [*run_starts.tolist(), len(places)]
    else:
        edges = np.cumsum([0, *counts]).tolist()
        if edges[-1] != len(places):
            raise Mismatch(f"{len(images)} images take {edges[-1]} placeholders, and there are {len(places)}")
    whole = {*run_starts.tolist(), len(places)}
    spans = []
    for (hash, size), first, end in zip(images, edges, edges[1:], strict=False):
        start, stop = int(places[first]), int(places[end - 1]) + 1
        # a model may put tokens between an image's rows, but then the rows are whole
        if stop - start != end - first and not {first, end} <= whole:
            raise Mismatch(f"the placeholders of an image of {size[0]}x{size[1]} run into another image's")
        spans.append(ImageSpan(hash, start, stop))
    return tuple(spans)


@dataclass(frozen=True)
class Runs:
    """ImageTokens of which only the tokens are known: each unbroken run of placeholders is one image."""

    token_id: int
    media_token_ids: frozenset[int]

    def tokens_of(self, size: Size) -> int | None:
        """Not known."""
        return None


@dataclass(frozen=True)
class Patches(Runs):
    """ImageTokens of the Qwen-VL family: an image is scaled to whole cells within a number of pixels, a token a cell.

    cell: side of a cell in pixels (patch size times merge size).  least, most: pixels of a scaled image.
    Source: the smart resize of Qwen2-VL's image processor.
    """

    cell: int
    least: int
    most: int

    def tokens_of(self, size: Size) -> int | None:
        """Cells of the scaled image. Raises ValueError for one that is 200 times as long as wide."""
        if max(size) / min(size) > 200:
            raise ValueError(f"an image of {size[0]}x{size[1]} is too long for the model")
        columns, rows = (round(side / self.cell) for side in size)
        pixels, of_image = rows * columns * self.cell**2, size[0] * size[1]
        if pixels > self.most:
            by = math.sqrt(of_image / self.most)
            columns, rows = (max(1, math.floor(side / by / self.cell)) for side in size)
        elif pixels < self.least:
            by = math.sqrt(self.least / of_image)
            columns, rows = (math.ceil(side * by / self.cell) for side in size)
        return columns * rows


def image_tokens(model: Path) -> Runs:
    """What a model's folder (config.json, and its image processor's) tells of its images.

    Counts by size are known for the Qwen-VL family.  Raises ValueError for a folder that names no image token, OSError
    for one without config.json.
    """
    config = _read(model / "config.json")
    ids = {name: config[name] for name in _MEDIA if isinstance(config.get(name), int)}
    image = ids.get("image_token_id", ids.get("image_token_index"))
    if image is None:
        raise ValueError(f"{model / 'config.json'} names no image token: no image_token_id and no image_token_index")
    processor: dict[str, Any] = {}
    for name in ("preprocessor_config.json", "processor_config.json"):
        if (model / name).is_file():
            read = _read(model / name)
            processor |= read.get("image_processor") or read
    media = frozenset(ids.values())
    size = processor.get("size") or {}
    least = size.get("shortest_edge", processor.get("min_pixels"))
    most = size.get("longest_edge", processor.get("max_pixels"))
    cell = int(processor.get("patch_size") or 0) * int(processor.get("merge_size") or 0)
    if "Qwen2VL" in str(processor.get("image_processor_type")) and cell and least and most:
        return Patches(image, media, cell, int(least), int(most))
    return Runs(image, media)


_MEDIA = ("image_token_id", "image_token_index", "video_token_id", "video_token_index", "audio_token_id")


def _read(path: Path) -> dict[str, Any]:
    value = json.loads(path.read_bytes())
    if not isinstance(value, dict):
        raise ValueError(f"{path} is no JSON object")
    return value
