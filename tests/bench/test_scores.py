"""A suite's scores: faults never count as zeros, and are shown beside."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import pytest

from guiforge.bench.scores import Scores, Try


def tries(task: str, passes: Sequence[bool | None], *, level: str = "", seed: int = 0) -> list[Try]:
    status = {True: "solved", False: "failed", None: "env_error"}
    return [
        Try(task, seed, task.split("_")[0], level, status[passed], passed, steps)
        for steps, passed in enumerate(passes, 1)
    ]


def test_scores_of_a_suite_worked_out_by_hand() -> None:
    scores = Scores.of(
        [
            *tries("forum_a", [True, True, True], level="hard"),
            *tries("forum_b", [True, False, False], level="easy"),
            *tries("wiki_a", [False, False, False], level="easy"),
        ],
        k=2,
    )
    assert [row.name for row in scores.sites] == ["forum", "wiki"]
    assert [row.name for row in scores.levels] == ["easy", "hard"]
    total, forum = scores.total, scores.sites[0]
    assert total.pass_1.value == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert total.pass_k.value == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert total.pass_hat_k.value == pytest.approx(1 / 3)
    assert forum.pass_k.value == pytest.approx((1 + 2 / 3) / 2)
    assert total.pass_1.low is not None and total.pass_1.high is not None
    assert 0 <= total.pass_1.low <= (total.pass_1.value or 0) <= total.pass_1.high <= 1
    assert (total.tasks, total.graded, total.ungraded, total.short, total.steps) == (3, 9, 0, 0, 2)
    assert total.statuses == {"solved": 4, "failed": 5}


def test_an_episode_without_a_reward_is_no_zero() -> None:
    whole = Scores.of([*tries("a_x", [True, True]), *tries("a_y", [True, True])], k=2)
    faulty = Scores.of([*tries("a_x", [True, None]), *tries("a_y", [True, True])], k=2)
    assert faulty.total.pass_1.value == whole.total.pass_1.value == 1
    assert faulty.total.pass_k.value == 1, "of the task that has two graded tries"
    assert (faulty.total.ungraded, faulty.total.short) == (1, 1)
    assert faulty.total.statuses == {"solved": 3, "env_error": 1}


def test_where_nothing_was_graded_there_is_no_score() -> None:
    total = Scores.of(tries("a_x", [None, None]), k=2).total
    assert (total.pass_1.value, total.pass_k.value, total.steps, total.graded, total.ungraded) == (
        None,
        None,
        None,
        0,
        2,
    )
    assert str(total.pass_1) == "–"


def test_a_task_with_more_graded_tries_or_seeds_weighs_no_more() -> None:
    many = chain.from_iterable(tries("a_x", [True], seed=seed) for seed in range(9))
    total = Scores.of([*many, *tries("a_y", [False])], k=1).total
    assert total.pass_1.value == 0.5


def test_a_single_task_has_no_interval() -> None:
    total = Scores.of(tries("a_x", [True, False]), k=1).total
    assert (total.pass_1.value, total.pass_1.low) == (0.5, None)
    assert str(total.pass_1) == "50.0%"


def test_levels_of_a_suite_without_them_are_none() -> None:
    assert Scores.of(tries("a_x", [True]), k=1).levels == ()
