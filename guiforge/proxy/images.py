"""Images: finds those in a request of any wire, checks each once, stores it once, and puts its hash in its place.

Invariant: an image that a Call names is in the store, decodes fully, and is within its limits; the same base64 text is
never decoded twice while it is remembered. Nothing is fetched from anywhere.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from PIL import Image

from guiforge.proxy.book import Limits
from guiforge.proxy.wires import Refused

REMEMBERED = 100_000  # images whose base64 text is known by its digest; about 200 bytes each
MAX_DEPTH = 200  # levels of a request; no client comes near it, and what reads requests recurses
_FIELDS = frozenset({"url", "image_url", "image"})  # where the wires keep a data URL
_FORMATS = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}


@dataclass(frozen=True, slots=True)
class Found:
    """An image in a request: the object and field that hold it, and its text there (a data URL or bare base64)."""

    holder: dict[str, Any]
    field: str
    text: str

    def replace(self, hash: str) -> None:
        """Put the image's hash in its place."""
        self.holder[self.field] = f"image:{hash}"


def find(body: dict[str, Any]) -> list[Found]:
    """The images of a request, in order. Raises Refused for one that is nested too deeply."""
    found: list[Found] = []
    level: list[Any] = [body]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for node in level:
            if isinstance(node, list):
                below += [child for child in node if isinstance(child, dict | list)]
                continue
            for name, value in node.items():
                if isinstance(value, str):
                    if name in _FIELDS and value[:11].lower() == "data:image/":
                        found.append(Found(node, name, value))
                elif isinstance(value, dict | list):
                    below.append(value)
            if node.get("type") == "base64" and isinstance(node.get("data"), str) and _is_image(node):
                found.append(Found(node, "data", node["data"]))
        if not below:
            return found
        level = below
    raise Refused(400, "invalid_request_error", f"the request is nested more than {MAX_DEPTH} levels deep")


def _is_image(source: dict[str, Any]) -> bool:
    return str(source.get("media_type", "")).startswith("image/")


class Pending:
    """The images of one request on their way into the store."""

    def __init__(self, found: list[Found], hashes: Sequence[str | asyncio.Future[str]]) -> None:
        self._found, self._hashes = found, hashes
        self.count = len(found)
        self._all: set[str] | None = None
        self._task: asyncio.Future[set[str]] | None = None

    def replace(self) -> None:
        """The request's text has been sent on: put hashes in it, as soon as its images are stored; once."""
        if self._all is not None or self._task is not None:
            return
        hashes = [hash for hash in self._hashes if isinstance(hash, str)]
        if len(hashes) == len(self._hashes):
            self._put(hashes)
        else:
            self._task = asyncio.ensure_future(self._replace())
            self._task.add_done_callback(_seen)

    async def stored(self) -> set[str]:
        """Wait until `replace` is through; returns the hashes. Raises Refused, StoreError."""
        if self._all is None:
            assert self._task is not None, "replace was not called"
            return await asyncio.shield(self._task)
        return self._all

    async def _replace(self) -> set[str]:
        return self._put([hash if isinstance(hash, str) else await asyncio.shield(hash) for hash in self._hashes])

    def _put(self, hashes: list[str]) -> set[str]:
        for found, hash in zip(self._found, hashes, strict=True):
            found.replace(hash)
        self._found.clear()  # and with it the images' text
        self._all = set(hashes)
        return self._all


class Images:
    """The images that came by. keep: stores encoded bytes of a media type, and returns their hash; from any thread."""

    def __init__(self, keep: Callable[[bytes, str], str], threads: int = 4) -> None:
        self._keep = keep
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="proxy-images")
        self._known: OrderedDict[bytes, str] = OrderedDict()
        self._coming: dict[bytes, asyncio.Future[str]] = {}
        self.decoded = 0  # how many were not known

    async def begin(self, found: list[Found], limits: Limits) -> Pending:
        """Start to keep a request's images. Raises Refused for what can be told from an image's first bytes.

        The rest (is it whole?) is told by Pending, so that decoding goes on while the policy is asked. `found` is
        emptied when its images are stored.
        """
        hashes: list[str | asyncio.Future[str]] = []
        opened: list[asyncio.Future[tuple[bytes, Image.Image]]] = []
        for image in found:
            if len(image.text) * 3 // 4 > limits.image_bytes + 64:
                raise Refused(413, "limit_image_bytes", f"an image is larger than {limits.image_bytes} bytes")
            digest = hashlib.sha256(image.text.encode("utf-8", "surrogatepass")).digest()
            known = self._known.get(digest)
            if known is not None:
                self._known.move_to_end(digest)
                hashes.append(known)
                continue
            if digest not in self._coming:
                loop = asyncio.get_running_loop()
                opening = loop.run_in_executor(self._pool, _open, image.text, limits)
                opened.append(opening)
                self._coming[digest] = asyncio.ensure_future(self._arrive(digest, opening))
                self._coming[digest].add_done_callback(_seen)
            hashes.append(self._coming[digest])
        for opening in opened:
            await asyncio.shield(opening)
        return Pending(found, hashes)

    async def one(self, url: str, limits: Limits) -> str:
        """Keep the image of a data URL; returns its hash. Raises Refused."""
        pending = await self.begin([Found({}, "url", url)], limits)
        pending.replace()
        (hash,) = await pending.stored()
        return hash

    async def _arrive(self, digest: bytes, opening: asyncio.Future[tuple[bytes, Image.Image]]) -> str:
        try:
            data, image = await opening
            self.decoded += 1
            hash = await asyncio.get_running_loop().run_in_executor(self._pool, self._decode, data, image)
            self._known[digest] = hash
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
            return hash
        finally:
            del self._coming[digest]

    def _decode(self, data: bytes, image: Image.Image) -> str:
        media_type = _FORMATS[str(image.format)]
        try:
            image.load()
        except Exception as error:  # a decoder may fail in any way on bytes that someone made up
            raise Refused(400, "invalid_image", f"an image can't be decoded, it is damaged or cut: {error}") from None
        finally:
            image.close()
        return self._keep(data, media_type)

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def _open(text: str, limits: Limits) -> tuple[bytes, Image.Image]:
    """An image's bytes, and the image before its pixels are decoded. Raises Refused."""
    header, comma, encoded = text.partition(",") if text[:5].lower() == "data:" else ("base64", ",", text)
    if not comma or not header.lower().endswith("base64"):
        raise Refused(400, "invalid_image", "an image's data URL must be of the form data:image/png;base64,...")
    try:
        data = base64.b64decode("".join(encoded.split()), validate=True)
    except ValueError as error:
        raise Refused(400, "invalid_image", f"an image is no valid base64: {error}") from None
    if len(data) > limits.image_bytes:
        raise Refused(413, "limit_image_bytes", f"an image is larger than {limits.image_bytes} bytes")
    return data, _opened(data, limits)


def _opened(data: bytes, limits: Limits) -> Image.Image:
    try:
        image = Image.open(io.BytesIO(data), formats=tuple(_FORMATS))
    except Image.DecompressionBombError:
        raise _too_large(limits) from None
    except Exception:  # as above: Pillow's ways to say that bytes are no image
        raise Refused(400, "invalid_image", "an image is no PNG, JPEG or WebP, or is damaged") from None
    if image.width * image.height > limits.image_pixels:
        raise _too_large(limits)
    return image


def _too_large(limits: Limits) -> Refused:
    return Refused(400, "limit_image_pixels", f"an image has more than {limits.image_pixels} pixels")


def _seen(arrival: asyncio.Future[Any]) -> None:
    """A failure is told by whoever waits; where nobody does, there is nobody to tell."""
    if not arrival.cancelled():
        arrival.exception()
