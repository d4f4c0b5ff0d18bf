"""Summary: what a run's episodes say together. The command line and the page show the same numbers.

Invariant: an episode without a reward (a fault, or one that is unfinished) is counted and shown, and is in no rate.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from guiforge.outcome import Status
from guiforge.store import EpisodeRecord

STATUSES = (*(str(s) for s in Status), "unfinished")  # in the order in which they are shown
MOST_VALUES = 8  # of a parameter that is a list


def parameter_text(name: str, value: Any) -> str:
    """A run's parameter as a person writes it: `800x600`, `0,1,2`, `temperature=0.2`, `not set`."""
    if value is None or value in ([], {}):
        return "not set"
    if name == "size":
        return "x".join(map(str, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{k}={v}" for k, v in value.items())
    if not isinstance(value, list):
        return str(value)
    rest = f" and {len(value) - MOST_VALUES} more" if len(value) > MOST_VALUES else ""
    return ",".join(map(str, value[:MOST_VALUES])) + rest


@dataclass(frozen=True)
class Rate:
    """`passed` of `graded` episodes, and the 95% Wilson interval of that share (0 to 1; 0..1 where none was graded)."""

    passed: int
    graded: int

    @property
    def share(self) -> float | None:
        """passed / graded, or None where none was graded."""
        return self.passed / self.graded if self.graded else None

    @property
    def interval(self) -> tuple[float, float]:
        """See `wilson`."""
        return wilson(self.passed, self.graded)

    def __str__(self) -> str:
        if self.share is None:
            return "none graded"
        low, high = self.interval
        return f"{self.share:.1%} ({low:.0%} to {high:.0%})"


@dataclass(frozen=True)
class Row:
    """The episodes of one application (or all): how many, how many passed of those graded, and counts by status."""

    name: str
    episodes: int
    rate: Rate
    statuses: Counter[str]


@dataclass(frozen=True)
class PhaseTime:
    """Seconds of one phase over the episodes that had it; `share` is of all the time of all phases."""

    name: str
    median_s: float
    p90_s: float
    total_s: float
    share: float


@dataclass(frozen=True)
class Summary:
    """A run in numbers: rows by application, all together, and where the time went (`detail`: inside the env)."""

    rows: tuple[Row, ...]
    total: Row
    phases: tuple[PhaseTime, ...]
    detail: tuple[PhaseTime, ...]


def wilson(passed: int, graded: int, z: float = 1.959964) -> tuple[float, float]:
    """Wilson's score interval of a share, 95% by default (Wilson 1927); (0, 1) for no trials."""
    if graded == 0:
        return 0.0, 1.0
    p, z2n = passed / graded, z * z / graded
    middle = (p + z2n / 2) / (1 + z2n)
    half = z / (1 + z2n) * math.sqrt(p * (1 - p) / graded + z2n / (4 * graded))
    return max(0.0, middle - half), min(1.0, middle + half)


def summarise(episodes: Sequence[EpisodeRecord]) -> Summary:
    """The summary of these episodes; rows are sorted by application."""
    names = sorted({e.application for e in episodes})
    return Summary(
        rows=tuple(_row(name, [e for e in episodes if e.application == name]) for name in names),
        total=_row("all", episodes),
        phases=_phase_times(e.timings for e in episodes),
        detail=_phase_times((e.timings for e in episodes), prefix="env."),
    )


def _row(name: str, episodes: Sequence[EpisodeRecord]) -> Row:
    graded = [e.outcome for e in episodes if e.outcome is not None and e.outcome.reward is not None]
    counts = Counter(e.status for e in episodes)
    ordered = Counter({status: counts[status] for status in STATUSES if counts[status]})
    return Row(name, len(episodes), Rate(sum(o.passed for o in graded), len(graded)), ordered)


def _phase_times(timings: Iterable[dict[str, float]], prefix: str = "") -> tuple[PhaseTime, ...]:
    """Times of the phases whose name is `prefix` and one word more, the longest first."""
    seconds: dict[str, list[float]] = {}
    for of_episode in timings:
        for name, value in of_episode.items():
            if name.startswith(prefix) and "." not in name.removeprefix(prefix):
                seconds.setdefault(name.removeprefix(prefix), []).append(value)
    whole = sum(map(sum, seconds.values())) or 1.0
    phases = [
        PhaseTime(name, statistics.median(v), _percentile(v, 0.9), sum(v), sum(v) / whole)
        for name, v in seconds.items()
    ]
    return tuple(sorted(phases, key=lambda p: -p.total_s))


def _percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile: the smallest value that at least `share` of the values do not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]
