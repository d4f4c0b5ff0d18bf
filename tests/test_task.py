"""Tasks, families and suites."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from guiforge.task import Family, Launch, Limits, MakeDir, PutFile, Run, Suite, Task, UnknownTask

SETUP = st.one_of(
    st.builds(PutFile, path=st.just("~/a"), data=st.binary(max_size=20), mode=st.sampled_from([0o600, 0o644])),
    st.just(MakeDir(path="~/d")),
    st.builds(Run, argv=st.lists(st.text(max_size=5), min_size=1, max_size=3).map(tuple)),
    st.builds(Launch, app=st.sampled_from(["calc", "gimp"]), args=st.lists(st.text(max_size=5), max_size=2).map(tuple)),
)
TASKS = st.builds(
    Task,
    suite=st.just("s"),
    id=st.just("f"),
    seed=st.integers(0),
    instruction=st.text(max_size=20),
    params=st.dictionaries(st.text(max_size=5), st.integers(-(2**53), 2**53) | st.text(max_size=5), max_size=3),
    setup=st.lists(SETUP, max_size=3).map(tuple),
    writable=st.lists(st.sampled_from(["~/a", "~/d/**"]), max_size=2).map(tuple),
    feasible=st.booleans(),
)


def task(**fields: Any) -> Task:
    return Task(suite="s", id="f", seed=1, instruction="Do it.", **fields)


def family(name: str) -> Family:
    return Family(name, lambda seed: task(params={"seed": seed}), None, lambda task, view: iter(()))


SUITE = Suite("s", "desktop", {name: family(name) for name in ("calc_sum", "calc_sort", "gimp_crop")})


@given(TASKS)
def test_a_task_comes_back_from_its_json(given_task: Task) -> None:
    assert Task.model_validate_json(given_task.model_dump_json()) == given_task


@given(TASKS)
def test_what_a_harness_sees_gives_nothing_away(given_task: Task) -> None:
    seen = given_task.public()
    assert (seen.params, seen.setup, seen.writable, seen.flush, seen.feasible) == ({}, (), (), (), True)
    assert (seen.instruction, seen.limits, seen.screen) == (
        given_task.instruction,
        given_task.limits,
        given_task.screen,
    )


@pytest.mark.parametrize(
    ("pattern", "path", "may"),
    [
        ("~/a.txt", "~/a.txt", True),
        ("~/a.txt", "~/A.txt", False),
        ("~/a.txt", "~/d/a.txt", False),
        ("~/d/*", "~/d/e/f", True),
        ("~/d/**", "~/d/e/f", True),
        ("~/d/**", "~/d", False),
        ("~/d/**", "~/dd/e", False),
        ("~/[ab]", "~/b", True),
    ],
)
def test_a_declared_place_is_a_pattern(pattern: str, path: str, may: bool) -> None:
    assert task(writable=(pattern,)).may_write(path) is may
    assert not task().may_write(path)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"limits": {"steps": 0}}, "limits.steps"),
        ({"limits": {"step_s": 0}}, "limits.step_s"),
        ({"limits": {"minutes": 1}}, "limits.minutes"),
        ({"setup": [{"type": "download"}]}, "setup.0"),
        ({"colour": "red"}, "colour"),
        ({"seed": "one"}, "seed"),
    ],
)
def test_a_malformed_task_is_refused_naming_the_place(data: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError, match=field):
        Task.model_validate({"suite": "s", "id": "f", "seed": 1, "instruction": "x", **data})


def test_every_limit_has_a_bound() -> None:
    assert all(0 < value < 86_400 for value in Limits().model_dump().values())


def test_a_suite_makes_the_task_of_an_id_and_a_seed() -> None:
    assert SUITE.task("calc_sum", 7).params == {"seed": 7}


@pytest.mark.parametrize(
    ("patterns", "ids"),
    [
        (["*"], ["calc_sum", "calc_sort", "gimp_crop"]),
        (["gimp_*", "calc_sum"], ["calc_sum", "gimp_crop"]),
        (["calc_*", "*sort"], ["calc_sum", "calc_sort"]),
        ([], []),
    ],
)
def test_patterns_select_in_the_suites_order(patterns: list[str], ids: list[str]) -> None:
    assert SUITE.select(patterns) == ids


def test_an_unknown_task_names_the_valid_ones() -> None:
    valid = "valid are: calc_sort, calc_sum, gimp_crop"
    with pytest.raises(UnknownTask, match=f"has no task 'calc'; {valid}"):
        SUITE.family("calc")
    with pytest.raises(UnknownTask, match=rf"no task of suite 's' matches 'vlc_\*'; {valid}"):
        SUITE.select(["calc_*", "vlc_*"])
    assert str(UnknownTask("no such")) == "no such"
