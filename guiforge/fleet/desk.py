"""The desk: where a run's workers are served: the proxy that answers and records their model calls, and the store.

Invariant: an episode's model calls are sealed, and all in the store, before its outcome is.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from guiforge.env import Snapshot
from guiforge.episode import load
from guiforge.fleet.channel import QUESTION, SAID, AsyncChannel, ChannelClosed, Message
from guiforge.frame import content_hash
from guiforge.outcome import Outcome, Status
from guiforge.policies import EMBEDDED, endpoint_at, resolve
from guiforge.proxy import HttpUpstreams, Proxy, UpstreamFailed, WorkerUpstream
from guiforge.store import Store
from guiforge.task import Limits, Task
from guiforge.trace import EpisodeKey, EpisodeSpec, Step
from guiforge.wire import ChatMessage, ChatResponse, Choice

KEY_GRACE_S = 60.0  # that an episode's key outlives the episode's own limits


class Desk:
    """The proxy and the store of one run."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._served: dict[str, Served] = {}
        self._proxy = Proxy(store, WorkerUpstream(self._ask))
        self._upstreams: dict[str, HttpUpstreams] = {}

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Desk]:
        """Serve model calls for as long as the context lasts."""
        async with self._proxy.serving():
            yield self

    def enter(self, key: EpisodeKey, served: Served) -> None:
        """An episode's questions go to its worker from now on."""
        self._served[key.id] = served

    async def open(self, spec: EpisodeSpec, limits: Limits) -> dict[str, str]:
        """Let an episode's calls begin; what an Endpoint is made of."""
        lasts_s = limits.reset_s + limits.episode_s + limits.policy_s + KEY_GRACE_S
        embedded = spec.key.policy in EMBEDDED
        opened = self._proxy.open(spec.key, lasts_s, upstream=None if embedded else await self._upstream(spec))
        model = spec.key.policy if embedded else spec.policy_options.get("model", "default")
        return {"base_url": self._proxy.base_url, "api_key": opened.completions_key, "model": model}

    def stepped(self, key: EpisodeKey, steps: int) -> None:
        """So many steps of an episode have ended."""
        self._proxy.stepped(key, steps)

    async def seal(self, key: EpisodeKey) -> None:
        """End an episode's calls; returns once all are in the store."""
        await self._proxy.seal(key)

    async def leave(self, key: EpisodeKey) -> None:
        """Seal an episode, and forget it."""
        if self._served.pop(key.id, None) is not None:
            await self._proxy.seal(key)
            self._proxy.forget(key)

    async def _upstream(self, spec: EpisodeSpec) -> HttpUpstreams:
        options = spec.policy_options
        name = json.dumps([spec.key.policy, options], sort_keys=True)
        if name not in self._upstreams:
            at = endpoint_at(resolve(spec.key.policy), options)
            self._upstreams[name] = HttpUpstreams([at.base_url], at.api_key, model=options.get("model"))
            await self._proxy.add(self._upstreams[name])
        return self._upstreams[name]

    async def _ask(self, episode: str) -> dict[str, Any]:
        """What the episode's worker says. Raises UpstreamFailed."""
        served = self._served.get(episode)
        if served is None:
            raise UpstreamFailed(500, "policy_error", "the episode has no worker", upstream="worker")
        return await served.ask()


class Served:
    """One episode at the desk; a fault that will be retried is not made its end."""

    def __init__(self, desk: Desk, spec: EpisodeSpec, channel: AsyncChannel, *, keep_faults: bool) -> None:
        self._desk, self._spec, self._key, self._channel = desk, spec, spec.key, channel
        self._keep_faults = keep_faults
        self._task: Task | None = None
        self._numbers = itertools.count()
        self._asked: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.outcome: Outcome | None = None
        self.stored = False

    async def attend(self, message: Message) -> None:
        """Do what the worker asks, and say so; or take its answer. Raises ChannelClosed, StoreError."""
        if message.op == SAID:
            asked = self._asked.get(message.data["number"])
            if asked is not None and not asked.done():
                asked.set_result(message.data["said"])
        else:
            await self._channel.send("ok", await self._carry_out(message))

    async def ask(self) -> dict[str, Any]:
        """A chat completion of what the worker's policy says next. Raises UpstreamFailed."""
        number = next(self._numbers)
        asked = self._asked[number] = asyncio.get_running_loop().create_future()
        try:
            await self._channel.send(QUESTION, number)
            said = await asked
        except ChannelClosed as error:
            raise UpstreamFailed(502, "policy_error", f"the worker is gone: {error}", upstream="worker") from None
        finally:
            del self._asked[number]
        if "error" in said:
            raise UpstreamFailed(500, said["type"], said["error"], upstream="worker")
        message = ChatMessage.model_validate(said["message"])
        choice = Choice(message=message, finish_reason="tool_calls" if message.tool_calls else "stop")
        id = f"chatcmpl-{self._key.id}-{number}"
        made = ChatResponse(id=id, created=int(time.time()), model=self._key.policy, choices=[choice])
        return made.model_dump(exclude_none=True)

    async def _carry_out(self, message: Message) -> Any:
        data, store, key = message.data, self._desk.store, self._key
        match message.op:
            case "begin":
                self._task = Task.model_validate(data["task"])
                await asyncio.to_thread(store.begin, key, self._task)
            case "open":
                assert self._task is not None, "a worker opened an episode that had not begun"
                self._desk.enter(key, self)
                return await self._desk.open(self._spec, self._task.limits)
            case "seal":
                await self._desk.seal(key)
            case "image":
                await asyncio.to_thread(store.image, message.blobs[0], data["media_type"])
            case "unread":
                await asyncio.to_thread(store.unread, key, data["problem"])
            case "step":
                step = Step.model_validate(data["step"])
                await asyncio.to_thread(store.step, key, step)
                self._desk.stepped(key, step.index + 1)
            case "state":
                blobs = {content_hash(blob): blob for blob in message.blobs}
                await asyncio.to_thread(store.state, key, Snapshot.model_validate(data["snapshot"]), blobs)
            case "finish":
                await self.end(Outcome.model_validate(data["outcome"]), data["last_frame"], data["timings"])
            case other:
                raise ValueError(f"a worker asked for {other!r}")

    async def end(
        self, outcome: Outcome, last_frame: str | None = None, timings: dict[str, float] | None = None
    ) -> None:
        """The episode's end: stored, unless it is a fault that will be retried. What ended stays as it ended."""
        if self.outcome is not None:
            return
        await self._desk.leave(self._key)
        self.outcome = outcome
        if not is_fault(outcome) or self._keep_faults:
            await asyncio.to_thread(self._finish, outcome, last_frame, timings or {})
            self.stored = True

    def _finish(self, outcome: Outcome, last_frame: str | None, timings: dict[str, float]) -> None:
        store = self._desk.store
        if self._task is None:
            store.begin(self._key, load(self._spec)[1])
        store.finish(self._key, outcome, last_frame, timings)


def is_fault(outcome: Outcome) -> bool:
    """Whether a fresh try may help: our own faults, not the policy endpoint's."""
    return outcome.reward is None and not (
        outcome.status in (Status.POLICY_ERROR, Status.CANCELLED) or outcome.unjudged
    )
