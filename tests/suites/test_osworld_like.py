"""The whole suite played by the task linter: one seed a family, GUIFORGE_SUITE_SEED (another each day in CI)."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.desktop.suites import osworld_like
from tests.suites.families import SEED, check_played, parts

SUITE = osworld_like()
FAMILIES, APPLICATIONS = SUITE.families, parts(SUITE)


@pytest.mark.suite
@pytest.mark.desktop
@pytest.mark.timeout(900)
@pytest.mark.parametrize("application", sorted(APPLICATIONS))
def test_null_scores_0_the_oracle_1_near_misses_0_and_the_same_seed_gives_the_same(
    application: str, tmp_path: Path
) -> None:
    check_played(SUITE, APPLICATIONS[application], tmp_path)


def test_the_suite_is_as_wide_as_it_says() -> None:
    tasks = [family.make(SEED) for family in FAMILIES.values()]
    assert len(tasks) >= 30
    assert {"calc", "writer", "impress", "gimp", "vlc", "chromium", "files", "editor", "terminal"} <= set(APPLICATIONS)
    assert sum(not task.feasible for task in tasks) >= 4
    assert sum(len(task.tags) >= 2 for task in tasks) >= 5
    assert len({task.instruction for task in tasks}) == len(tasks)


@pytest.mark.parametrize("name", FAMILIES)
def test_each_seed_is_a_task_of_its_own(name: str) -> None:
    tasks = [FAMILIES[name].make(seed) for seed in range(5)]
    assert all(task == FAMILIES[name].make(task.seed) for task in tasks)
    assert len({(task.instruction, tuple(step.model_dump_json() for step in task.setup)) for task in tasks}) == 5
