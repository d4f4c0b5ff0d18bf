"""Every family of webvoyager-like: grading of right, wrong and half-done work, on its sites' dumps."""

from __future__ import annotations

import pytest

from envs.browser.suites import webvoyager_like
from guiforge.task import Family
from tests.suites.families import check_family, check_variety

FAMILIES = tuple(webvoyager_like().families.values())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_solutions_pass_and_near_misses_do_not(family: Family, seed: int) -> None:
    check_family(family, seed)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_seeds_vary_the_task(family: Family) -> None:
    check_variety([family])
