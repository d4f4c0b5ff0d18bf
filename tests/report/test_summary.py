"""The numbers of a run: shares with their interval, and no fault in any rate."""

from __future__ import annotations

import pytest

from guiforge.outcome import Outcome, Status
from guiforge.report.summary import Rate, parameter_text, summarise, wilson
from guiforge.store import EpisodeRecord
from guiforge.trace import EpisodeKey


def record(seed: int, application: str, outcome: Outcome | None, **timings: float) -> EpisodeRecord:
    key = EpisodeKey(task="s/t", seed=seed, attempt=0, harness="kimi", policy="oracle")
    return EpisodeRecord(key.id, key, application, "do", 0.0, 1.0, outcome, timings, None)


SOLVED = Outcome(status=Status.SOLVED, reward=1)
FAILED = Outcome(status=Status.FAILED, reward=0)
HALF = Outcome(status=Status.TRUNCATED, reward=0.5)
FAULT = Outcome.fault(Status.ENV_ERROR, "Xvfb died")


@pytest.mark.parametrize(
    ("passed", "graded", "low", "high"),  # statsmodels.stats.proportion.proportion_confint(method="wilson")
    [(0, 10, 0.0, 0.277533), (8, 10, 0.490162, 0.943318), (10, 10, 0.722467, 1.0), (50, 100, 0.403832, 0.596168)],
)
def test_the_interval_is_wilsons(passed: int, graded: int, low: float, high: float) -> None:
    assert wilson(passed, graded) == pytest.approx((low, high), abs=1e-5)


def test_nothing_graded_is_no_zero() -> None:
    assert Rate(0, 0).share is None and Rate(0, 0).interval == (0, 1) and str(Rate(0, 0)) == "none graded"


def test_faults_and_unfinished_episodes_are_counted_and_in_no_rate() -> None:
    episodes = [
        record(i, app, outcome)
        for i, (app, outcome) in enumerate(
            [("calc", SOLVED), ("calc", FAULT), ("calc", FAILED), ("calc", None), ("gimp", HALF), ("gimp", FAULT)]
        )
    ]
    summary = summarise(episodes)
    calc, gimp = summary.rows
    assert (calc.name, calc.episodes, calc.rate) == ("calc", 4, Rate(1, 2))
    assert list(calc.statuses.items()) == [("solved", 1), ("failed", 1), ("env_error", 1), ("unfinished", 1)]
    assert gimp.rate == Rate(0, 1)  # half a reward is no pass
    assert summary.total.rate == Rate(1, 3) and summary.total.episodes == 6


def test_times_are_by_phase_and_the_envs_own_apart() -> None:
    times = [{"reset": 1.0, "policy": 3.0, "env.settle": 0.5}, {"reset": 3.0}, {"reset": 2.0, "policy": 1.0}]
    summary = summarise([record(i, "calc", SOLVED, **t) for i, t in enumerate(times)])
    reset, policy = summary.phases
    assert (reset.name, reset.median_s, reset.p90_s, reset.total_s, reset.share) == ("reset", 2.0, 3.0, 6.0, 0.6)
    assert (policy.name, policy.median_s, policy.total_s) == ("policy", 2.0, 4.0)
    assert [p.name for p in summary.detail] == ["settle"]


def test_no_episodes_make_an_empty_summary() -> None:
    summary = summarise([])
    assert summary.rows == () and summary.phases == () and summary.total.episodes == 0


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("size", [800, 600], "800x600"), ("size", None, "not set"), ("seeds", [0, 1], "0,1"),
        ("seeds", list(range(10)), "0,1,2,3,4,5,6,7 and 2 more"),
        ("harness_options", {"temperature": 0.2}, "temperature=0.2"),
        ("policy", "oracle", "oracle"),
    ],
)  # fmt: skip
def test_a_parameter_is_written_as_a_person_does(name: str, value: object, text: str) -> None:
    assert parameter_text(name, value) == text
