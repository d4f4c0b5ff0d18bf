"""Recording: what became of a call, and the one thread that commits what waits.

Invariant: `GroupCommit.keep` is done when the call is in the store, or fails with the reason why it is not; one call
that can't be kept keeps no other from it. Calls of an episode are committed in the order in which they ended.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

from guiforge.proxy.book import Episode
from guiforge.proxy.metrics import Metrics
from guiforge.proxy.stream import Said
from guiforge.store import Store, StoreError
from guiforge.trace import Call, EpisodeKey, Wire

MOST_AT_ONCE = 256  # calls in one transaction
_SAMPLING = frozenset(
    {
        "model", "temperature", "top_p", "top_k", "min_p", "seed", "max_tokens", "max_completion_tokens", "min_tokens",
        "stop", "stop_token_ids", "frequency_penalty", "presence_penalty", "repetition_penalty", "logit_bias",
        "response_format", "structured_outputs", "tool_choice", "parallel_tool_calls", "reasoning_effort",
        "thinking_token_budget", "chat_template_kwargs", "ignore_eos", "bad_words",
    }
)  # fmt: skip
_log = logging.getLogger(__name__)


@dataclass(eq=False)
class Draft:
    """A call under way: what will be its Call. request: as sent, with hashes for images once those are stored."""

    episode: Episode
    index: int
    step: int
    wire: Wire
    request: dict[str, Any]
    queued: float
    sampling: dict[str, Any] = field(default_factory=dict)
    idempotency_key: str | None = None
    policy_version: str = ""
    retry_until: float = math.inf
    said: Said = field(default_factory=Said)
    raw: list[bytes] = field(default_factory=list)
    upstream: str = ""
    tries: int = 1
    cut: bool = False
    error: str | None = None
    first_byte: float | None = None
    last_byte: float = 0.0

    def call(self) -> Call:
        """The Call, and its parent; remembers where it ends."""
        tokens, said = self.said.tokens, self.said
        parent = None
        if tokens is not None:
            parent = self.episode.prefixes.parent(tokens.prompt_ids)
            self.episode.prefixes.add(self.index, tokens.prompt_ids, tokens.sampled_ids)
        # Each value was made or checked on the way here; a second check would walk every token again.
        return Call.model_construct(
            index=self.index, step=self.step, wire=self.wire, request=self.request, sampling=self.sampling,
            message=said.message, raw=b"".join(self.raw).decode("utf-8", "replace"), tokens=tokens,
            finish_reason=said.finish_reason, usage=said.usage, upstream=self.upstream,
            policy_version=self.policy_version, parent=parent, tries=self.tries, cut=self.cut, error=self.error,
            idempotency_key=None if said.message is None else self.idempotency_key, unread=None,
            queued=self.queued, first_byte=self.first_byte, last_byte=self.last_byte or time.time(),
        )  # fmt: skip


def sampling(chat: dict[str, Any]) -> dict[str, Any]:
    """Of a chat request what says how to sample."""
    return {name: value for name, value in chat.items() if name in _SAMPLING}


@dataclass(eq=False)
class _Waiting:
    draft: Draft
    done: asyncio.Future[None]
    since: float


class GroupCommit:
    """Commits calls on a thread of its own, all that wait at once."""

    def __init__(self, store: Store, metrics: Metrics) -> None:
        self._store, self._metrics = store, metrics
        self._queue: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="proxy-commits")
        self._thread.start()

    def keep(self, draft: Draft) -> asyncio.Future[None]:
        """Commit a call. The future is done once it is kept; it raises StoreError when it can't be."""
        done = asyncio.get_running_loop().create_future()
        self._queue.put(_Waiting(draft, done, time.perf_counter()))
        return done

    def close(self) -> None:
        """Commit what waits, and end the thread."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while True:
            batch: list[_Waiting] = []
            waiting = self._queue.get()
            while waiting is not None:
                batch.append(waiting)
                if len(batch) == MOST_AT_ONCE or self._queue.empty():
                    break
                waiting = self._queue.get()
            if batch:
                self._commit(batch)
            if waiting is None:
                return

    def _commit(self, batch: list[_Waiting]) -> None:
        began = time.perf_counter()
        problems = _kept(self._store, [(w.draft.episode.key, w.draft.call()) for w in batch])
        ended = time.perf_counter()
        self._metrics.committed(len(batch), ended - began, [ended - w.since for w in batch])
        batch[0].done.get_loop().call_soon_threadsafe(_tell, batch, problems)


def _kept(store: Store, calls: Sequence[tuple[EpisodeKey, Call]]) -> list[Exception | None]:
    """Keep calls; for each None, or why it was not kept."""
    try:
        return list(store.calls_at_once(calls))
    except StoreError as full:
        return [full] * len(calls)
    except Exception as error:
        if len(calls) > 1:  # one of them is at fault, and must not take the others with it
            return [problem for call in calls for problem in _kept(store, [call])]
        _log.exception("a call could not be kept")
        return [error]


def _tell(batch: list[_Waiting], problems: list[Exception | None]) -> None:
    for waiting, problem in zip(batch, problems, strict=True):
        if waiting.done.cancelled():
            continue
        if problem is None:
            waiting.done.set_result(None)
        else:
            waiting.done.set_exception(problem)
