"""Encoded images for the tests."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from guiforge.frame import Size, content_hash


def picture(seed: int = 0, size: Size = (160, 210), format: str = "PNG") -> bytes:
    """Coloured noise in blocks, the same for the same seed."""
    noise = np.random.default_rng(seed).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(noise).resize(size, Image.Resampling.NEAREST).save(out, format)
    return out.getvalue()


class Album:
    """Images by content hash, and how often each was asked for."""

    def __init__(self) -> None:
        self.images, self.asked = dict[str, bytes](), list[str]()

    def add(self, data: bytes) -> str:
        self.images[content_hash(data)] = data
        return content_hash(data)

    def fetch(self, hash: str) -> bytes:
        self.asked.append(hash)
        return self.images[hash]
