"""A model small enough to follow by hand: its chat template, its tokenizer, and calls as a proxy would record them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from guiforge.outcome import Outcome, Status
from guiforge.samples import samples_of
from guiforge.samples.sample import EpisodeSamples
from guiforge.trace import Call, EpisodeKey, Tokens

KEY = EpisodeKey(task="toy/task", seed=0, attempt=0, harness="toy", policy="toy")
SOLVED = Outcome(status=Status.SOLVED, reward=1.0)

IMAGE, VIDEO, OPEN, CLOSE, END = 1, 2, 3, 4, 5
ROLES = {"system": 6, "user": 7, "assistant": 8, "tool": 9}
PAIRS = 2000  # where the tokens of two letters begin; the tokenizer writes "ab" as one
CELL = 10  # pixels


class ToyImages:
    """ImageTokens of the toy: one placeholder for each cell of 10 by 10 pixels."""

    token_id = IMAGE
    media_token_ids = frozenset({IMAGE, VIDEO})

    def tokens_of(self, size: tuple[int, int]) -> int:
        return (size[0] // CELL) * (size[1] // CELL)


def size_of(hash: str) -> tuple[int, int]:
    """Images are named by their size: `20x30-name`."""
    width, _, height = hash.partition("-")[0].partition("x")
    return int(width), int(height)


def letters(text: str) -> list[int]:
    """A text a token a letter, as the toy samples it."""
    return [100 + ord(letter) for letter in text]


def encoded(text: str) -> list[int]:
    """A text as the tokenizer writes it: pairs `ab` are one token."""
    ids: list[int] = []
    for letter in text:
        if letter == "b" and ids and ids[-1] == 100 + ord("a"):
            ids[-1] = PAIRS
        else:
            ids.append(100 + ord(letter))
    return ids


def rendered(message: dict[str, Any]) -> list[int]:
    """A message's tokens."""
    content = message.get("content") or ""
    parts: list[dict[str, Any]] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    ids = [ROLES[message["role"]], *encoded(message.get("reasoning_content", ""))]
    for part in parts:
        if part["type"] == "text":
            ids += encoded(part["text"])
        else:
            hash = part["image_url"]["url"].removeprefix("image:")
            ids += [OPEN, *[IMAGE] * ToyImages().tokens_of(size_of(hash)), CLOSE]
    return [*ids, END]


def user(text: str, *images: str) -> dict[str, Any]:
    """A user's message: images by hash, then text."""
    parts: list[dict[str, Any]] = [{"type": "image_url", "image_url": {"url": f"image:{hash}"}} for hash in images]
    return {"role": "user", "content": [*parts, {"type": "text", "text": text}]}


def said(text: str, thinking: str = "") -> dict[str, Any]:
    """An assistant's message."""
    return {"role": "assistant", "content": text} | ({"reasoning_content": thinking} if thinking else {})


@dataclass
class Episode:
    """Calls of one episode. exact: the server goes on from the tokens it sampled, else it writes the history anew."""

    exact: bool = True
    calls: list[Call] = field(default_factory=list)

    def ask(
        self, messages: Sequence[dict[str, Any]], reply: str, thinking: str = "", *, prompt: list[int] | None = None,
        sampled: list[int] | None = None, **fields: Any,
    ) -> Call:  # fmt: skip
        """A call: its prompt as the server makes it (or as given), its reply a token a letter (or as given)."""
        if prompt is None:
            prompt = self.prompt_of(list(messages))
        if sampled is None:
            sampled = [*letters(thinking), *letters(reply), END]
        index = len(self.calls)
        logprobs = tuple(-0.001 * (index + 1) - 0.1 * at for at in range(len(sampled)))
        values: dict[str, Any] = {
            "index": index, "step": index, "request": {"model": "toy", "messages": list(messages)},
            "message": said(reply, thinking), "queued": float(index), "last_byte": index + 0.5,
            "tokens": Tokens(prompt_ids=tuple(prompt), sampled_ids=tuple(sampled), logprobs=logprobs),
            "policy_version": f"v{index // 2}",
        }  # fmt: skip
        self.calls.append(Call(**values | fields))
        return self.calls[-1]

    def prompt_of(self, messages: list[dict[str, Any]]) -> list[int]:
        """The prompt's tokens: those of the longest earlier call that it goes on from, and the rest rendered."""
        ids: list[int] = []
        done = 0
        for call in self.calls if self.exact else []:
            history = [*call.request["messages"], call.message]
            if call.tokens and messages[: len(history)] == history and len(history) > done:
                ids, done = [*call.tokens.prompt_ids, *call.tokens.sampled_ids], len(history)
        return [*ids, *(id for message in messages[done:] for id in rendered(message)), ROLES["assistant"]]

    def samples(self, outcome: Outcome | None = SOLVED, **options: Any) -> EpisodeSamples:
        """What the calls come to."""
        return samples_of(KEY, self.calls, outcome, size_of=size_of, images=ToyImages(), **options)
