"""Scores: what k tries at each task of a suite came to, by site and by level.

Invariant: an episode without a reward (a fault, or one that is unfinished or that no judge has seen) is counted and
shown beside, and is in no score; a task is as many tries as carry a reward.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from guiforge.bench.statistics import bootstrap, pass_at_k, pass_hat_k
from guiforge.report.summary import STATUSES

LEVELS = ("easy", "medium", "hard")  # in the order in which they are shown
ALL = "all"


@dataclass(frozen=True)
class Try:
    """One episode as a score sees it. passed: None without a reward. site, level: the task's first and second tag."""

    task: str
    seed: int
    site: str
    level: str
    status: str
    passed: bool | None
    steps: int


@dataclass(frozen=True)
class Estimate:
    """A mean over tasks, 0..1, and its 95% interval; None where too few tries or tasks say anything."""

    value: float | None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.value is None:
            return "–"
        if self.low is None or self.high is None:
            return f"{self.value:.1%}"
        return f"{self.value:.1%} ({self.low:.0%} to {self.high:.0%})"


@dataclass(frozen=True)
class Row:
    """The scores of one site or level.

    tasks: distinct tasks.  scored: those of them with a graded try.  graded, ungraded: episodes with a reward and
    without.  short: tasks and seeds that have less than k graded tries, and so are in pass@1 alone.  steps: median of
    the graded episodes.
    """

    name: str
    tasks: int
    scored: int
    graded: int
    ungraded: int
    short: int
    pass_1: Estimate
    pass_k: Estimate
    pass_hat_k: Estimate
    statuses: dict[str, int]
    steps: float | None


@dataclass(frozen=True)
class Scores:
    """A suite's scores with k tries a task and seed: by site, by level where tasks have one, and all together."""

    k: int
    sites: tuple[Row, ...]
    levels: tuple[Row, ...]
    total: Row

    @classmethod
    def of(cls, tries: Sequence[Try], k: int) -> Scores:
        """The scores of these tries."""
        sites = sorted({t.site for t in tries})
        found = {t.level for t in tries if t.level}
        levels = [*(level for level in LEVELS if level in found), *sorted(found - set(LEVELS))]
        return cls(
            k,
            tuple(_row(name, [t for t in tries if t.site == name], k) for name in sites),
            tuple(_row(name, [t for t in tries if t.level == name], k) for name in levels),
            _row(ALL, tries, k),
        )

    def data(self) -> dict[str, Any]:
        """As JSON takes it."""
        return asdict(self)


def _row(name: str, tries: Sequence[Try], k: int) -> Row:
    groups: dict[tuple[str, int], list[bool]] = {}
    for t in tries:
        groups.setdefault((t.task, t.seed), [])
        if t.passed is not None:
            groups[t.task, t.seed].append(t.passed)
    graded = [t for t in tries if t.passed is not None]
    counts = Counter(t.status for t in tries)
    return Row(
        name=name,
        tasks=len({t.task for t in tries}),
        scored=len({t.task for t in graded}),
        graded=len(graded),
        ungraded=len(tries) - len(graded),
        short=sum(len(passes) < k for passes in groups.values()),
        pass_1=_estimate(groups, 1, pass_at_k),
        pass_k=_estimate(groups, k, pass_at_k),
        pass_hat_k=_estimate(groups, k, pass_hat_k),
        statuses={status: counts[status] for status in STATUSES if counts[status]},
        steps=statistics.median(t.steps for t in graded) if graded else None,
    )


def _estimate(groups: dict[tuple[str, int], list[bool]], k: int, of: Callable[[int, int, int], float]) -> Estimate:
    """The mean over tasks of the mean over their seeds, of those that have k graded tries."""
    by_task: dict[str, list[float]] = {}
    for (task, _), passes in groups.items():
        if len(passes) >= k:
            by_task.setdefault(task, []).append(of(len(passes), sum(passes), k))
    if not by_task:
        return Estimate(None)
    values = [statistics.fmean(seeds) for seeds in by_task.values()]
    return Estimate(statistics.fmean(values), *(bootstrap(values) or (None, None)))
