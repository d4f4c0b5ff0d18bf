"""Rendering: messages to token ids and pixel inputs, in one place for sampling, recording and training.

Invariant: what was sampled is never encoded again. A reply that is remembered goes into later prompts with the tokens
it was sampled as, so each turn's prompt starts with the former turn's prompt and reply, token by token. Text of a
message can't become a control token, and every image placeholder is an image of the messages.

A chat template is rendered once, with a mark in place of each reply; the text between the marks is encoded apart.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import secrets
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from vlm.images import Fetch, Images

IMAGE = "image:"  # how a message names an image by its content hash
MAX_REPLIES = 50_000  # remembered

Message = Mapping[str, Any]
"""A message in the form of chat completions; an image's URL is `image:<content hash>`."""


class BadMessages(ValueError):
    """Messages that can't be rendered; the text says which and why."""


class UnfitTemplate(ValueError):
    """The model's chat template drops or rewrites what it is given, so no training data can be had with it."""


@dataclass(frozen=True)
class Rendered:
    """A prompt.

    ids: with placeholders for images.  images: content hashes, one a run of placeholders, in order.
    replies: (start, end) of each assistant's message in `ids`, its end token included where it is known.
    recalled: how many of them are as they were sampled; the others were encoded from their text.
    """

    ids: list[int]
    images: tuple[str, ...]
    replies: tuple[tuple[int, int], ...]
    recalled: int


class Renderer:
    """Renders for one processor. For one thread. images: the processor's way with images."""

    def __init__(self, processor: Any, max_replies: int = MAX_REPLIES) -> None:
        self.images = Images(processor)
        self._tokenizer, self._template = processor.tokenizer, processor.chat_template
        added = self._tokenizer.added_tokens_decoder
        self._special = re.compile("|".join(re.escape(token.content) for token in added.values() if token.special))
        self._ends = {self._tokenizer.eos_token_id}
        self._limit = max_replies
        self._replies: OrderedDict[bytes, array[int]] = OrderedDict()

    def remember(
        self, messages: Sequence[Message], reply: Message, ids: Sequence[int], tools: Any = None, salt: str = ""
    ) -> None:
        """Keep the tokens of a reply to these messages, for when it comes back in a prompt.

        salt: tells conversations apart that read the same; what was remembered under one is found under it alone.
        """
        if not self.images.media_token_ids.isdisjoint(ids):
            raise ValueError("a placeholder of an image or a video was sampled")
        self._replies[_keys([*messages, reply], tools, salt)[-1]] = array("l", ids)
        while len(self._replies) > self._limit:
            self._replies.popitem(last=False)

    def render(
        self, messages: Sequence[Message], fetch: Fetch, tools: Any = None, *, salt: str = "", prompt: bool = True
    ) -> Rendered:
        """The token ids of a conversation.

        fetch: gives an image by its hash.  prompt: end with the opening of a reply.
        Raises BadMessages, BadImage, UnfitTemplate.
        """
        pieces: list[_Piece] = []
        mark = secrets.token_hex(8)  # no message can hold it

        def marked(ids: Sequence[int], reply: bool = False, recalled: bool = False) -> str:
            pieces.append(_Piece(ids, reply, recalled))
            return f"\ue000{mark}:{len(pieces) - 1}\ue001"

        def shown(text: str) -> str:
            return marked(self._plain(text)) if self._special.search(text) else text

        shapes, images = [], list[str]()
        for index, (message, key) in enumerate(zip(messages, _keys(messages, tools, salt), strict=True)):
            found = [part[1] for part in _parts(message) if part[0] == "image"]
            images += found
            if message.get("role") == "assistant" and not found:
                kept = self._replies.get(key)
                ids = self._plain(self._reply_text(messages, index, tools)) if kept is None else kept
                shapes.append({"role": "assistant", "content": marked(ids, True, kept is not None)})
            else:
                shapes.append(_shape(message, shown))
        text = self._apply(shapes, tools, prompt)
        built = _Built(self.images.token_id, [self.images.get(image, fetch).tokens for image in images])
        seen = []
        for at, segment in enumerate(re.split(f"\ue000{mark}:(\\d+)\ue001", text)):
            if at % 2:
                seen.append(int(segment))
                built.put(pieces[seen[-1]])
            else:
                built.text(self._tokenizer.encode(segment, add_special_tokens=False), self._ends)
        if seen != list(range(len(pieces))):
            raise UnfitTemplate("the chat template drops, repeats or reorders what messages say")
        if built.images != len(images):
            raise UnfitTemplate(f"the chat template shows {built.images} of {len(images)} images")
        return Rendered(built.ids, tuple(images), tuple(built.replies), sum(piece.recalled for piece in pieces))

    def inputs(self, ids: Sequence[int], images: Sequence[str], fetch: Fetch) -> dict[str, npt.NDArray[Any]]:
        """What a forward pass takes, as arrays of one row: of a prompt, or of any tokens recorded with their images.

        input_ids, mm_token_type_ids: (1, L).  pixel_values: (patches of all images, d).  image_grid_thw: (images, 3).
        Raises BadMessages where a run of placeholders does not fit its image.
        """
        pixels = [self.images.get(image, fetch) for image in images]
        runs = [len(list(run)) for token, run in groupby(ids) if token == self.images.token_id]
        if runs != [image.tokens for image in pixels]:
            raise BadMessages(f"placeholders {runs} do not fit images of {[image.tokens for image in pixels]} tokens")
        row = np.asarray(ids, dtype=np.int64)[None]
        made: dict[str, npt.NDArray[Any]] = {
            "input_ids": row,
            "mm_token_type_ids": (row == self.images.token_id).astype(np.int64),
        }
        if pixels:
            made["pixel_values"] = np.concatenate([image.patches for image in pixels])
            made["image_grid_thw"] = np.asarray([image.grid for image in pixels], dtype=np.int64)
        return made

    def _plain(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
        return ids

    def _reply_text(self, messages: Sequence[Message], index: int, tools: Any) -> str:
        """What an assistant's message would have been sampled as."""
        message = messages[index]
        if not message.get("tool_calls") and not message.get("reasoning_content"):
            return "".join(value for _, value in _parts(message))
        shapes = [_shape(each) for each in messages[: index + 1]]
        before, after = self._apply(shapes[:-1], tools, True), self._apply(shapes, tools, False)
        if not after.startswith(before):
            raise UnfitTemplate("the chat template rewrites history")
        return after[len(before) :].rpartition(self._tokenizer.eos_token)[0]

    def _apply(self, shapes: Sequence[Message], tools: Any, prompt: bool) -> str:
        try:
            text: str = self._tokenizer.apply_chat_template(
                list(shapes), tools=tools or None, chat_template=self._template, tokenize=False,
                add_generation_prompt=prompt,
            )  # fmt: skip
        except Exception as error:  # a template raises what it likes, on messages that it was not made for
            raise BadMessages(f"the chat template refuses the messages: {error}") from error
        return text


@dataclass(frozen=True)
class _Piece:
    ids: Sequence[int]
    reply: bool
    recalled: bool


class _Built:
    """Token ids as they are put together. tokens: how many each image takes, in order."""

    def __init__(self, token_id: int, tokens: Sequence[int]) -> None:
        self.ids, self.replies, self.images = list[int](), list[tuple[int, int]](), 0
        self._token_id, self._tokens, self._after_reply = token_id, tokens, False

    def put(self, piece: _Piece) -> None:
        start = len(self.ids)
        self.ids += piece.ids
        self._after_reply = piece.reply
        if piece.reply:
            self.replies.append((start, len(self.ids)))

    def text(self, ids: list[int], ends: set[int]) -> None:
        """Text of the template; where it closes a reply, its end token is the reply's."""
        if self._after_reply and ids and ids[0] in ends:
            start, end = self.replies[-1]
            if end > start and self.ids[-1] == ids[0]:
                ids = ids[1:]  # it was sampled
            else:
                self.replies[-1] = (start, end + 1)
        self._after_reply = self._after_reply and not ids
        for token in ids:
            if token != self._token_id:
                self.ids.append(token)
                continue
            if self.images < len(self._tokens):
                self.ids += [token] * self._tokens[self.images]
            self.images += 1


def _shape(message: Message, shown: Any = str) -> dict[str, Any]:
    """A message as a template takes it."""
    parts = [(kind, value if kind == "image" else shown(value)) for kind, value in _parts(message)]
    content: Any = "".join(value for _, value in parts)
    if any(kind == "image" for kind, _ in parts):
        content = [{"type": "image"} if kind == "image" else {"type": "text", "text": text} for kind, text in parts]
    kept = {name: message[name] for name in ("tool_calls", "reasoning_content", "name") if message.get(name)}
    role = "system" if message["role"] == "developer" else message["role"]
    return {"role": role, "content": content, **kept}


def _parts(message: Message) -> list[tuple[str, str]]:
    """("text", text) and ("image", hash) of a message, neighbouring texts joined. Raises BadMessages."""
    content = message.get("content")
    if content is None or isinstance(content, str):
        return [("text", content)] if content else []
    out: list[tuple[str, str]] = []
    for kind, run in groupby(map(_part, content), lambda part: part[0]):
        values = [value for _, value in run]
        out += [(kind, "".join(values))] if kind == "text" else [(kind, value) for value in values]
    return out


def _part(part: Mapping[str, Any]) -> tuple[str, str]:
    match part:
        case {"type": "text", "text": str() as text}:
            return "text", text
        case {"type": "image_url", "image_url": {"url": str() as url}} if url.startswith(IMAGE):
            return "image", url.removeprefix(IMAGE)
    raise BadMessages(f"a part of type {part.get('type')!r} can't be shown to the model; valid are text and image_url")


def _keys(messages: Sequence[Message], tools: Any, salt: str) -> list[bytes]:
    """A digest of the conversation up to and including each message."""
    return list(_chain(messages, hashlib.blake2b(_canonical([tools or None, salt]), digest_size=16).digest()))


def _chain(messages: Sequence[Message], digest: bytes) -> Iterator[bytes]:
    for message in messages:
        calls = [_called(call) for call in message.get("tool_calls") or ()]
        said = [message.get("role"), _parts(message), message.get("reasoning_content") or "", calls]
        digest = hashlib.blake2b(digest + _canonical(said), digest_size=16).digest()
        yield digest


def _called(call: Mapping[str, Any]) -> list[Any]:
    function = call.get("function") or {}
    arguments = function.get("arguments")
    with contextlib.suppress(ValueError):  # as text, then
        arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
    return [function.get("name"), arguments]


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
