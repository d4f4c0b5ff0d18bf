"""The whole suite played by the task linter: one seed a family, GUIFORGE_SUITE_SEED (another each day in CI)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from envs.browser import sites
from envs.browser.suites import webvoyager_like
from guiforge.task import StartSite
from tests.suites.families import SEED, check_played, parts

SUITE = webvoyager_like()
FAMILIES, SITES = SUITE.families, parts(SUITE)


@pytest.mark.suite
@pytest.mark.timeout(600)
@pytest.mark.parametrize("site", sorted(SITES))
def test_null_scores_0_the_oracle_1_near_misses_0_and_the_same_seed_gives_the_same(site: str, tmp_path: Path) -> None:
    check_played(SUITE, SITES[site], tmp_path)


def test_the_suite_is_as_wide_as_it_says() -> None:
    tasks = [family.make(SEED) for family in FAMILIES.values()]
    assert set(sites.names()) | {"across"} == set(SITES) and len(sites.names()) >= 8
    assert all(len(SITES[name]) >= 8 for name in sites.names())
    assert sum(not task.feasible for task in tasks) >= 4
    started = [[step.site for step in task.setup if isinstance(step, StartSite)] for task in tasks]
    assert sum(len(names) == 2 for names in started) >= 5
    levels = Counter(level for task in tasks for level in {"easy", "medium", "hard"} & set(task.tags))
    assert levels.total() == len(tasks) and min(levels.values()) >= len(tasks) // 6
    assert len({task.instruction for task in tasks}) == len(tasks)


@pytest.mark.parametrize("site", sites.names())
def test_each_site_is_asked_and_changed(site: str) -> None:
    changes = [bool(FAMILIES[name].make(SEED).writable) for name in SITES[site] if FAMILIES[name].make(SEED).feasible]
    assert changes.count(True) >= 3 and changes.count(False) >= 3
