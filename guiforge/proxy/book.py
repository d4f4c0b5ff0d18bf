"""Book: the episodes that may ask, what each has used up, and whether it still may.

Invariant: an episode is asked for by a claim that a key gave; what it has used is counted when a call is admitted, so
that no number of calls at once passes a limit by more than their replies. After a restart an episode that is still
unfinished in the store is found again, with its counters.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from guiforge.proxy.arguments import Arguments
from guiforge.proxy.keys import Claim
from guiforge.proxy.parents import Prefixes
from guiforge.proxy.wires import Refused
from guiforge.store import RunReader, UnknownEpisode
from guiforge.trace import EpisodeKey

if TYPE_CHECKING:
    from guiforge.proxy.upstreams import Upstream


@dataclass(frozen=True)
class Limits:
    """What one episode may use; past one, its calls are refused with a text that names it.

    body_bytes: of one request.  calls: in all.  tokens: sampled, in all.  images: different ones, in all.
    image_bytes, image_pixels: of one image, encoded and decoded.
    staleness: weights updates since the episode's first call; None: any number.
    """

    body_bytes: int = 32 << 20
    calls: int = 5_000
    tokens: int = 5_000_000
    images: int = 10_000
    image_bytes: int = 20 << 20
    image_pixels: int = 40_000_000
    staleness: int | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any], default: Limits) -> Limits:
        """The default with what was given put in its place. Raises ValueError naming the valid ones."""
        valid = list(cls.__dataclass_fields__)
        for name, value in given.items():
            if name not in valid:
                raise ValueError(f"unknown limit {name!r}; valid are: {', '.join(valid)}")
            if not (isinstance(value, int) and not isinstance(value, bool) and value >= 0) and not (
                name == "staleness" and value is None
            ):
                raise ValueError(f"limit {name} must be a whole number of at least 0, got {value!r}")
        return cls(**{**{name: getattr(default, name) for name in valid}, **given})


@dataclass(eq=False)
class Episode:
    """An open episode. deadline: Unix seconds.  version: number of the weights update of its first call.

    calls: the next call's index.  steps: how many ended.  replica: the upstream that it sticks to.
    replies: by idempotency key, the call that is under way for it, or the index of the one that was.
    upstream: who answers.  flights: the tasks of calls under way.  unkept: calls that are to be committed though nobody
    waits for them.
    """

    key: EpisodeKey
    id: str
    deadline: float
    limits: Limits
    upstream: Upstream
    calls: int = 0
    tokens: int = 0
    steps: int = 0
    images: set[str] = field(default_factory=set)
    sealed: bool = False
    replica: int | None = None
    version: int | None = None
    prefixes: Prefixes = field(default_factory=Prefixes)
    arguments: Arguments = field(default_factory=Arguments)
    replies: dict[str, Any] = field(default_factory=dict)
    flights: set[asyncio.Task[Any]] = field(default_factory=set)
    unkept: set[asyncio.Task[None]] = field(default_factory=set)

    def check(self, version: int) -> None:
        """Raises Refused where no call may begin: sealed, past the deadline, over a limit, too stale."""
        limits = self.limits
        if self.sealed:
            raise Refused(409, "episode_sealed", f"episode {self.id} has ended; its key asks for nothing any more")
        self.check_deadline()
        if self.calls >= limits.calls:
            raise Refused(429, "limit_calls", f"the episode's limit of {limits.calls} model calls is used up")
        if self.tokens >= limits.tokens:
            raise Refused(429, "limit_tokens", f"the episode's limit of {limits.tokens} sampled tokens is used up")
        updates = 0 if self.version is None else version - self.version
        if limits.staleness is not None and updates > limits.staleness:
            raise Refused(
                409,
                "episode_stale",
                f"the weights were updated {updates} times since the episode's first call; its limit is "
                f"{limits.staleness}",
            )

    def check_deadline(self) -> None:
        """Raises Refused past the episode's deadline."""
        if time.time() >= self.deadline:
            raise Refused(403, "key_expired", f"the deadline of episode {self.id} has passed")

    def add_images(self, hashes: set[str]) -> None:
        """Count the images of a call. Raises Refused over the limit."""
        if hashes <= self.images:
            return
        if len(self.images | hashes) > self.limits.images:
            raise Refused(429, "limit_images", f"the episode's limit of {self.limits.images} images is used up")
        self.images |= hashes

    def seal(self) -> None:
        """No call begins any more; what was kept to admit them is dropped."""
        self.sealed = True
        self.images.clear()
        self.replies.clear()
        self.prefixes, self.arguments = Prefixes(), Arguments()

    def begin_call(self, version: int) -> int:
        """Admit a call; returns its index."""
        self.version = version if self.version is None else self.version
        self.calls += 1
        return self.calls - 1


class Book:
    """All open episodes, by id."""

    def __init__(self, store: RunReader, default: Limits, upstream: Upstream) -> None:
        self._store, self.default, self._upstream = store, default, upstream
        self._open: dict[str, Episode] = {}

    def __len__(self) -> int:
        return sum(not episode.sealed for episode in self._open.values())

    def open(self, key: EpisodeKey, deadline: float, limits: Limits, upstream: Upstream | None = None) -> Episode:
        """Open an episode, or open it again: keys of an earlier deadline are good no longer."""
        episode = Episode(key, key.id, deadline, limits, upstream or self._upstream)
        self._recall(episode)
        self._open[key.id] = episode
        return episode

    def episode(self, claim: Claim) -> Episode:
        """The episode of a claim. Raises Refused where there is none, or the claim is an earlier try's."""
        episode = self._open.get(claim.episode) or self._restored(claim)
        if round(episode.deadline * 1000) != round(claim.deadline * 1000):
            raise Refused(401, "key_replaced", "this key is of an earlier try at the episode")
        return episode

    def episodes(self) -> list[Episode]:
        """All that were opened and not forgotten, sealed ones too."""
        return list(self._open.values())

    def forget(self, id: str) -> None:
        """Drop an episode that has ended; the store answers for it from now on."""
        self._open.pop(id, None)

    def get(self, id: str) -> Episode:
        """The open episode of an id. Raises Refused."""
        try:
            return self._open[id]
        except KeyError:
            raise Refused(404, "unknown_episode", f"no episode {id!r} is open here") from None

    def _restored(self, claim: Claim) -> Episode:
        try:
            key = self._store.episode(claim.episode).key
        except UnknownEpisode:
            raise Refused(401, "unknown_episode", "the episode of this key is not open here") from None
        return self.open(key, claim.deadline, self.default)

    def _recall(self, episode: Episode) -> None:
        """Count what the store has of it."""
        try:
            record = self._store.episode(episode.key)
        except UnknownEpisode:
            return
        episode.sealed = record.outcome is not None
        episode.steps = len(self._store.steps(episode.key))
        for call in self._store.calls(episode.key):
            episode.calls = call.index + 1
            episode.tokens += call.sampled
            episode.arguments.note(call.message)
            episode.images |= set(_images(call.request))
            if call.tokens is not None:
                episode.prefixes.add(call.index, call.tokens.prompt_ids, call.tokens.sampled_ids)
            if call.idempotency_key is not None:
                episode.replies[call.idempotency_key] = call.index


def _images(node: Any) -> Iterator[str]:
    """Hashes of the images that a recorded request names."""
    if isinstance(node, str):
        if node.startswith("image:"):
            yield node.removeprefix("image:")
    elif isinstance(node, dict | list):
        for child in node.values() if isinstance(node, dict) else node:
            yield from _images(child)
