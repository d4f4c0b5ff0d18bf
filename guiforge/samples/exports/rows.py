"""Rows: Samples and TextSamples as plain values, one function a format.

Invariant: of the replies that an episode recorded, each is trained in one row of a format; a format that can't say
which replies a row trains says how many it repeats.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from PIL import Image

from guiforge.samples.conversation import Message, Part
from guiforge.samples.sample import Sample, TextSample
from guiforge.store import EpisodeRecord

Row = dict[str, Any]
ImagesAs = Literal["embed", "path"]
MARK = "<image>"  # verl's place of an image in a text
_MARKS = (MARK, "<video>")
_OF_TOKENS = (
    "token_ids", "mask", "logprobs", "image_starts", "image_stops", "turn_calls", "turn_starts", "turn_stops",
    "turn_trained",
)  # fmt: skip


@dataclass(frozen=True)
class Pictures:
    """A run's images. how: embedded, or by path.  path_of: the file of an image by content hash."""

    how: ImagesAs
    path_of: Callable[[str], Path]

    def cell(self, hash: str) -> Row:
        """As `datasets` reads an image."""
        path = self.path_of(hash)
        return {"bytes": path.read_bytes(), "path": None} if self.how == "embed" else {"bytes": None, "path": str(path)}

    def verl(self, hash: str) -> Row:
        """As verl reads an image."""
        path = self.path_of(hash)
        return {"bytes": path.read_bytes()} if self.how == "embed" else {"image": path.as_uri()}

    def url(self, hash: str) -> str:
        """As OpenAI reads an image; a file URL by path."""
        path = self.path_of(hash)
        if self.how == "path":
            return path.as_uri()
        data = path.read_bytes()
        kind = (Image.open(io.BytesIO(data)).format or "png").lower()
        return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"


def common(record: EpisodeRecord, calls: list[int], versions: list[str], weight: float) -> Row:
    """The columns that every format has."""
    reward = None if record.outcome is None else record.outcome.reward
    return {
        "episode": record.id, **record.key.model_dump(), "status": record.status, "reward": reward, "weight": weight,
        "calls": calls, "policy_versions": [_valid(version) for version in versions],
    }  # fmt: skip


def of_sample(sample: Sample, record: EpisodeRecord, pictures: Pictures) -> Row:
    """A `parquet` row of tokens."""
    trained = [turn for turn in sample.turns if turn.trained]
    versions = [turn.policy_version for turn in trained]
    return common(record, [turn.call for turn in trained], versions, sample.weight) | {
        "kind": "tokens",
        "token_ids": sample.token_ids,
        "mask": sample.mask,
        "logprobs": sample.logprobs,
        "rewards": sample.rewards,
        "images": [pictures.cell(image.hash) for image in sample.images],
        "image_hashes": [image.hash for image in sample.images],
        "image_starts": [image.start for image in sample.images],
        "image_stops": [image.stop for image in sample.images],
        "turn_calls": [turn.call for turn in sample.turns],
        "turn_starts": [turn.start for turn in sample.turns],
        "turn_stops": [turn.stop for turn in sample.turns],
        "turn_trained": [turn.trained for turn in sample.turns],
        "messages": None,
    }


def of_text(text: TextSample, record: EpisodeRecord, pictures: Pictures) -> Row:
    """A `parquet` row of a text."""
    hashes = [hash for message in text.messages for hash in message.images]
    nothing: Row = {name: [] for name in _OF_TOKENS}
    return (
        _common_of(text, record)
        | nothing
        | {
            "kind": "text",
            "rewards": list(text.rewards),
            "images": [pictures.cell(hash) for hash in hashes],
            "image_hashes": hashes,
            "messages": json.dumps(_messages(text, lambda hash: f"image:{hash}")),
        }
    )


def of_reply(text: TextSample, record: EpisodeRecord, pictures: Pictures) -> Iterator[Row]:
    """The `trl` rows of a branch."""
    for (at, call), version in zip(text.trained, text.policy_versions, strict=True):
        prompt = list(_images_to_users(text.messages[:at]))
        yield common(record, [call], [version], text.weight) | {
            "prompt": [_in_parts(message) for message in prompt],
            "completion": [_in_parts(text.messages[at])],
            "images": [pictures.cell(hash) for message in prompt for hash in message.images],
            "tools": _tools(text),
        }


def of_branch(text: TextSample, record: EpisodeRecord, pictures: Pictures) -> tuple[Row, int] | None:
    """The `verl` row of a branch, and how many replies it repeats; None where a text holds verl's own mark.

    Such a text can't be told from an image.
    """
    if any(mark in message.text for message in text.messages for mark in _MARKS):
        return None
    replies = sum(message.role == "assistant" for message in text.messages)
    row = _common_of(text, record) | {
        "messages": [_with_marks(message) for message in text.messages],
        "images": [pictures.verl(hash) for message in text.messages for hash in message.images],
        "tools": _tools(text),
        "trained": [at for at, _ in text.trained],
        "data_source": record.key.task.partition("/")[0],
    }
    return row, replies - len(text.trained)


def of_line(text: TextSample, record: EpisodeRecord, pictures: Pictures) -> Row:
    """The `messages` line of a branch."""
    tools = {"tools": list(text.tools)} if text.tools else {}
    return {"messages": _messages(text, pictures.url), **tools, "metadata": _common_of(text, record)}


def _common_of(text: TextSample, record: EpisodeRecord) -> Row:
    return common(record, [call for _, call in text.trained], list(text.policy_versions), text.weight)


def _tools(text: TextSample) -> str | None:
    # as JSON: a table would give every tool's schema the fields of all
    return json.dumps(text.tools) if text.tools else None


def _messages(text: TextSample, url: Callable[[str], str]) -> list[Row]:
    trained = {at for at, _ in text.trained}
    return [_in_urls(message, url, at in trained) for at, message in enumerate(text.messages)]


def _in_urls(message: Message, url: Callable[[str], str], trained: bool) -> Row:
    content = [
        {"type": "text", "text": part.value}
        if part.kind == "text"
        else {"type": "image_url", "image_url": {"url": url(part.value)}}
        for part in message.parts
    ]
    row: Row = {"role": message.role, "content": content}
    row |= {name: value for name, value in _besides(message).items() if value}
    return row | {"weight": int(trained)} if message.role == "assistant" else row


def _in_parts(message: Message) -> Row:
    content = [
        {"type": part.kind, "text": _valid(part.value) if part.kind == "text" else None} for part in message.parts
    ]
    return {"role": message.role, "content": content} | _besides(message)


def _with_marks(message: Message) -> Row:
    content = "".join(_valid(part.value) if part.kind == "text" else MARK for part in message.parts)
    return {"role": message.role, "content": content} | _besides(message)


def _besides(message: Message) -> Row:
    """What a message holds besides its content, as chat templates read it; None where it holds none."""
    uses = [
        {
            "id": _valid(use.id),
            "type": "function",
            "function": {"name": _valid(use.name), "arguments": _valid(use.arguments)},
        }
        for use in message.uses
    ]
    return {
        "reasoning_content": _valid(message.thinking) or None,
        "tool_calls": uses or None,
        "tool_call_id": _valid(message.answers) or None,
    }


def _valid(text: str) -> str:
    """A text that a table can hold: what is no Unicode (a lone surrogate) becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _images_to_users(messages: tuple[Message, ...]) -> Iterator[Message]:
    """The messages, images of tools' moved to a user's message after these."""
    moved: list[Part] = []
    for message in messages:
        if message.role != "tool" and moved:
            yield Message("user", tuple(moved))
            moved = []
        if message.role == "tool":
            moved += [part for part in message.parts if part.kind == "image"]
            texts = tuple(part for part in message.parts if part.kind == "text")
            yield Message("tool", texts, answers=message.answers)
        else:
            yield message
    if moved:
        yield Message("user", tuple(moved))
