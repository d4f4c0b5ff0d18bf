"""Images as a model takes them: pixels in patches, each image processed once by its content.

Invariant: an image is known by the content hash of its encoded bytes, as in a store, and the number of placeholder
tokens that stand for it equals the number of features that the model makes of its pixels.
"""

from __future__ import annotations

import base64
import binascii
import io
import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from guiforge.frame import Size

FORMATS = ("PNG", "JPEG", "WEBP")
MAX_PIXELS = 64_000_000  # of one image, decoded: an 8K screen has half as many
CACHE_BYTES = 512 * 2**20
Fetch = Callable[[str], bytes]
"""Gives an image's encoded bytes by its content hash."""

_DATA_URL = re.compile(r"data:image/[\w.+-]+;base64,", re.IGNORECASE)


class BadImage(ValueError):
    """An image that can't be read, or is too large; the text says why."""


@dataclass(frozen=True)
class Pixels:
    """An image, ready for the model.

    patches: (n, d) float32, as the model's image processor makes them.  grid: patches in time, height and width.
    tokens: how many placeholders stand for it in a prompt, and how many features the model makes of it.
    """

    patches: npt.NDArray[np.float32]
    grid: tuple[int, int, int]
    tokens: int


class Images:
    """A processor's way with images; remembers the last ones it processed. For one thread.

    token_id: the placeholder's.  media_token_ids: the placeholders of images and videos, which no reply can hold.
    """

    def __init__(self, processor: Any, cache_bytes: int = CACHE_BYTES) -> None:
        self.token_id: int = processor.image_token_id
        self.media_token_ids = frozenset[int]({processor.image_token_id, processor.video_token_id})
        self._processor = processor.image_processor
        self._limit, self._kept = cache_bytes, OrderedDict[str, Pixels]()
        self._bytes = 0

    def tokens_of(self, size: Size) -> int:
        """How many placeholders an image of this (width, height) takes. Raises BadImage."""
        width, height = size
        try:
            patches = int(self._processor.get_number_of_image_patches(height, width, {}))
        except ValueError as error:  # far longer than it is wide
            raise BadImage(f"an image of {width}x{height} can't be used: {error}") from None
        return patches // self._merged

    def get(self, hash: str, fetch: Fetch) -> Pixels:
        """The image of this content hash; its bytes are asked for where it was not seen lately. Raises BadImage."""
        if (found := self._kept.get(hash)) is None:
            found = self._processed(read_image(fetch(hash)))
            self._bytes += found.patches.nbytes
            while self._kept and self._bytes > self._limit:
                self._bytes -= self._kept.popitem(last=False)[1].patches.nbytes
            self._kept[hash] = found
        self._kept.move_to_end(hash)
        return found

    @property
    def _merged(self) -> int:
        return int(self._processor.merge_size) ** 2

    def _processed(self, image: Image.Image) -> Pixels:
        tokens = self.tokens_of(image.size)
        made = self._processor(images=[image], return_tensors="np")
        time, height, width = (int(side) for side in made["image_grid_thw"][0])
        if time * height * width != tokens * self._merged or len(made["pixel_values"]) != tokens * self._merged:
            raise AssertionError(f"{tokens} tokens for {len(made['pixel_values'])} patches of {image.size}")
        return Pixels(np.asarray(made["pixel_values"], dtype=np.float32), (time, height, width), tokens)


def read_image(data: bytes) -> Image.Image:
    """An encoded image, decoded in full, as RGB. Raises BadImage."""
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            if image.width * image.height > MAX_PIXELS:
                raise BadImage(f"an image of {image.width}x{image.height} has more than {MAX_PIXELS:,} pixels")
            return image.convert("RGB")
    except BadImage:
        raise
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:  # Pillow's, for broken files
        raise BadImage(f"an image can't be read as {', '.join(FORMATS)}: {error}") from None


def read_data_url(url: str) -> bytes:
    """The bytes in a `data:image/...;base64,` URL. Raises BadImage."""
    if not (head := _DATA_URL.match(url)):
        raise BadImage(f"an image must come as data:image/...;base64, not as {url[:40]!r}")
    try:
        return base64.b64decode(url[head.end() :], validate=True)
    except binascii.Error as error:
        raise BadImage(f"an image's base64 is broken: {error}") from None
