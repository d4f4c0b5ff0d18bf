"""The scheduler behind `guiforge rollout`: bounded concurrency over resident workers, deadlines, retries of faults.

Invariant: a planned episode is finished in the store exactly once; on cancellation what is in flight stays unfinished
there, and no worker is left. Specs are taken in order, so that the episodes of a group finish together.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Union

from guiforge.fleet.channel import ChannelClosed
from guiforge.fleet.desk import Desk, Served, is_fault
from guiforge.fleet.local import LocalWorker
from guiforge.outcome import Outcome, Status
from guiforge.session import OWNERS, Phase
from guiforge.store import Store
from guiforge.trace import EpisodeKey, EpisodeSpec

START_S = 900.0  # a worker's own start, and the warming of application profiles where that was not done before
WATCH_GRACE_S = 15.0  # past a phase's own limit, which the worker keeps itself; then the worker is ended
EPISODES_A_WORKER = 50  # a worker is replaced after that many, or past the memory below
WORKER_MEMORY_MB = 1500.0


@dataclass(frozen=True)
class Started:
    """An episode was given to a worker."""

    key: EpisodeKey


@dataclass(frozen=True)
class Progress:
    """An episode entered a phase."""

    key: EpisodeKey
    phase: Phase
    step: int


@dataclass(frozen=True)
class Retried:
    """An episode ended by a fault of ours and is run afresh."""

    key: EpisodeKey
    outcome: Outcome


@dataclass(frozen=True)
class Finished:
    """An episode is in the store with its outcome."""

    key: EpisodeKey
    outcome: Outcome


Event = Union[Started, Progress, Retried, Finished]


@dataclass
class _Planned:
    spec: EpisodeSpec
    retries_left: int


class _RunEnds(Exception):
    """The store can't take more: the run stops, with the store's own error as the cause."""


async def run_episodes(
    specs: Sequence[EpisodeSpec], store: Store, *, concurrency: int, on_event: Callable[[Event], None] = lambda e: None,
    retries: int = 1,
) -> None:  # fmt: skip
    """Run every spec to its Outcome in the store.

    concurrency: how many at once, one worker process each.  retries: how often an episode that ended by a fault of
    ours (env, grader) is run afresh before that fault is its outcome.
    Raises what the store raises when it can take no more. When cancelled, workers are ended first.
    """
    if concurrency < 1:
        raise ValueError(f"concurrency must be at least 1, got {concurrency}")
    queue = deque(_Planned(spec, retries) for spec in specs)
    async with Desk(store).serving() as desk:
        lanes = [_Lane(queue, desk, on_event) for _ in range(min(concurrency, len(specs)))]
        tasks = [asyncio.create_task(lane.run()) for lane in lanes]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


class _Lane:
    """One worker's place: takes specs from the queue, serves the worker at the desk, watches phases."""

    def __init__(self, queue: deque[_Planned], desk: Desk, on_event: Callable[[Event], None]) -> None:
        self._queue, self._desk, self._on_event = queue, desk, on_event
        self._worker: LocalWorker | None = None
        self._phase: Phase = "start"
        self._limit_s = 0.0
        self._deadline = 0.0

    async def run(self) -> None:
        try:
            while self._queue:
                planned = self._queue.popleft()
                outcome = await self._play(planned)
                if outcome is not None and is_fault(outcome) and planned.retries_left > 0:
                    self._on_event(Retried(planned.spec.key, outcome))
                    self._queue.appendleft(_Planned(planned.spec, planned.retries_left - 1))
        finally:
            await self._end_worker()

    async def _play(self, planned: _Planned) -> Outcome | None:
        """Give one spec to the worker and serve it until done. The outcome where it is a fault that may be retried."""
        spec = planned.spec
        worker = await self._warm_worker()
        worker.episodes += 1
        self._on_event(Started(spec.key))
        self._watch("start", START_S)
        served = Served(self._desk, spec, worker.channel, keep_faults=planned.retries_left == 0)
        try:
            await worker.channel.send("episode", spec.model_dump())
            while True:
                message = await asyncio.wait_for(worker.channel.receive(), self._deadline - time.monotonic())
                if message.op == "done":
                    break
                if message.op == "phase":
                    self._watch(message.data["phase"], message.data["limit_s"])
                    self._on_event(Progress(spec.key, message.data["phase"], message.data["step"]))
                else:
                    await served.attend(message)
        except ChannelClosed as error:
            cause = f"worker: {await worker.how_it_ended()} in phase {self._phase} ({error})"
            await self._end_worker()
            await served.end(Outcome.fault(Status.ENV_ERROR, cause))
        except TimeoutError:
            await self._end_worker(patience_s=2.0)
            cause = f"phase {self._phase} passed its limit of {self._limit_s:.0f} s, and the worker did not end it"
            await served.end(Outcome.timed_out(OWNERS[self._phase], cause))
        assert served.outcome is not None, "a worker said done without an outcome"
        if served.stored:
            self._on_event(Finished(spec.key, served.outcome))
        return None if served.stored else served.outcome

    def _watch(self, phase: Phase, limit_s: float) -> None:
        self._phase, self._limit_s = phase, limit_s
        self._deadline = time.monotonic() + limit_s + WATCH_GRACE_S

    async def _warm_worker(self) -> LocalWorker:
        if self._worker is not None and (
            self._worker.ended is not None
            or self._worker.episodes >= EPISODES_A_WORKER
            or self._worker.memory_mb() > WORKER_MEMORY_MB
        ):
            await self._end_worker()
        if self._worker is None:
            self._worker = await LocalWorker.start(self._desk.store.path / "workers.log")
        return self._worker

    async def _end_worker(self, patience_s: float | None = None) -> None:
        if self._worker is not None:
            worker, self._worker = self._worker, None
            await (worker.stop() if patience_s is None else worker.stop(patience_s))
