"""The families of envs/desktop/suites/terminal: grading of right, wrong and half-done work, over several seeds."""

from __future__ import annotations

import pytest

from envs.desktop.suites.terminal import FAMILIES
from guiforge.task import Family
from tests.suites.families import SEEDS, check_family, check_variety


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_solutions_pass_and_near_misses_do_not(family: Family, seed: int) -> None:
    check_family(family, seed)


def test_seeds_vary_the_task() -> None:
    check_variety(FAMILIES)
