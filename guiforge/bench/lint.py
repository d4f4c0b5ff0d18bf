"""The task linter: plays a suite with the oracle and with the null policy, and says what does not hold of its tasks.

What must hold of every task, on every seed: the same seed gives the same task and the same first frame; a null agent
scores 0 and the oracle 1; every named solution of the first state grades 1 and every near miss 0; a stored final
state graded again gives the same verdict.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from guiforge import registry
from guiforge.env import Snapshot, SnapshotState, edited
from guiforge.episode import regrade
from guiforge.fleet import Event, run_episodes
from guiforge.grading import grade
from guiforge.store import Store
from guiforge.task import Family, Suite, Task, Variant
from guiforge.trace import EpisodeKey, EpisodeSpec

POLICIES = ("null", "oracle")


@dataclass(frozen=True)
class Finding:
    """Something that does not hold of a task."""

    task: str
    seed: int
    what: str

    def __str__(self) -> str:
        return f"{self.task} seed {self.seed}: {self.what}"


def plan(suite: Suite, ids: Sequence[str], seeds: Sequence[int], harness: str) -> list[EpisodeSpec]:
    """The episodes that a lint plays: null and, where the task has one, oracle, once a task and seed."""
    return [
        EpisodeSpec(
            key=EpisodeKey(task=f"{suite.name}/{name}", seed=seed, attempt=0, harness=harness, policy=policy),
            suite=suite.name,
            family=name,
        )
        for name in ids
        for seed in seeds
        for policy in POLICIES
        if policy != "oracle" or suite.family(name).oracle is not None
    ]


def lint(
    suite_name: str, store: Store, *, ids: Sequence[str] = ("*",), seeds: Sequence[int] = (0,), harness: str = "kimi",
    concurrency: int = 2, on_event: Callable[[Event], None] = lambda e: None,
) -> list[Finding]:  # fmt: skip
    """Play and check: what does not hold, empty when all does. What the store has finished is not played again."""
    suite = registry.suite(suite_name)
    chosen = suite.select(ids)
    specs = plan(suite, chosen, seeds, harness)
    finished = store.finished_keys()
    asyncio.run(
        run_episodes([s for s in specs if s.key not in finished], store, concurrency=concurrency, on_event=on_event)
    )
    findings = []
    for name in chosen:
        for seed in seeds:
            keys = {s.key.policy: s.key for s in specs if s.family == name and s.key.seed == seed}
            findings += [Finding(name, seed, what) for what in _check(suite, suite.family(name), seed, keys, store)]
    return findings


def _check(suite: Suite, family: Family, seed: int, keys: dict[str, EpisodeKey], store: Store) -> Iterator[str]:
    task = family.make(seed)
    if (task.suite, task.id, task.seed) != (suite.name, family.name, seed):
        yield f"the task calls itself {task.suite}/{task.id} seed {task.seed}"
    if family.make(seed) != task:
        yield "the same seed gives another task"
    if Task.model_validate_json(task.model_dump_json()) != task:
        yield "the task is not the same after a trip through JSON"
    for policy, key in keys.items():
        outcome = store.episode(key).outcome
        if store.task(key) != task:
            yield f"the same seed gives another task in the process that played {policy}"
        reward = outcome.reward if outcome else None
        want = 1.0 if policy == "oracle" else 0.0
        if reward != want:
            yield f"{policy} got {reward}, not {want:.0f}: {outcome}"
        if reward is not None and not _same_again(suite, store, key, task, reward):
            yield f"grading the final state of {policy} again gives another verdict"
    frames = {policy: [step.frame for step in store.steps(key)][:1] for policy, key in keys.items()}
    if len({tuple(f) for f in frames.values()}) != 1 or not all(frames.values()):
        yield f"the same seed gives another first frame: {frames}"
    null = store.episode(keys["null"]).outcome
    if family.verify is not None and null is not None and null.reward is not None:
        yield from _check_variants(family, task, *store.snapshot(keys["null"]))


def _same_again(suite: Suite, store: Store, key: EpisodeKey, task: Task, reward: float) -> bool:
    return regrade(suite, task, SnapshotState(*store.snapshot(key)), store.steps(key)).reward == reward


def _check_variants(family: Family, task: Task, snapshot: Snapshot, blobs: Mapping[str, bytes]) -> Iterator[str]:
    for want, kind, variants in ((1.0, "solution", family.solutions), (0.0, "near miss", family.near_misses)):
        for name, make in variants.items():
            variant = Variant.of(make(task))
            score = grade(family, task, edited(snapshot, blobs, variant.edits), variant.end).score
            if score != want:
                yield f"{kind} {name!r} grades {score}, not {want:.0f}"
    if not family.near_misses:
        yield "the family has no near miss"
