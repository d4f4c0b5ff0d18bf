"""The Calc families, graded on workbooks edited by code."""

from __future__ import annotations

import pytest

from envs.desktop.suites.calc import FAMILIES
from guiforge.task import Family
from tests.suites.families import SEEDS, check_damaged, check_family, check_variety


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)
@pytest.mark.parametrize("seed", SEEDS)
def test_solutions_pass_and_near_misses_do_not(family: Family, seed: int) -> None:
    check_family(family, seed)


def test_seeds_make_different_tasks() -> None:
    check_variety(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)
@pytest.mark.parametrize("content", [None, b"", b"not a workbook"], ids=["removed", "empty", "rubbish"])
def test_a_missing_or_damaged_workbook_scores_nothing(family: Family, content: bytes | None) -> None:
    check_damaged(family, content)
