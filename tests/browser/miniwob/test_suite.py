"""Every page of the suite on the seed of the day: it shows, says what it wants, takes a click; solutions solve."""

from __future__ import annotations

import pytest

from envs.browser.miniwob import miniwob
from envs.browser.miniwob.env import MiniWobEnv
from envs.browser.miniwob.families import FAMILIES
from envs.browser.miniwob.pages import MOTION, NAMES, SCREEN
from envs.browser.miniwob.server import html_folder
from guiforge.action import Click, Wait
from guiforge.cli.plan import make_plan
from tests.browser.miniwob import rig

SOLVED = [name for name, family in FAMILIES.items() if family.oracle is not None]
WANTED = (
    "click-test", "click-test-2", "click-button", "click-color", "click-shape", "click-dialog", "click-checkboxes",
    "click-link", "click-tab", "click-option", "focus-text", "enter-text", "enter-password", "login-user",
    "use-slider", "choose-list", "enter-date", "search-engine", "click-collapsible", "drag-box", "use-autocomplete",
    "email-inbox", "social-media", "book-flight", "count-shape", "identify-shape", "grid-coordinate",
    "simple-arithmetic", "navigate-tree", "copy-paste",
)  # fmt: skip


def test_the_suite_is_every_page_of_the_package() -> None:
    assert sorted(FAMILIES) == sorted(path.stem for path in html_folder().glob("miniwob/*.html"))
    assert miniwob().families == FAMILIES and len(NAMES) == 130


def test_the_oracle_plays_the_pages_that_have_a_solution_and_says_how_many_it_left_out() -> None:
    assert set(WANTED) <= set(SOLVED)
    plan = make_plan({"suite": "miniwob", "policy": "oracle"}, None, False)
    assert [spec.family for spec in plan.specs] == SOLVED
    assert plan.without_oracle == len(NAMES) - len(SOLVED)


@pytest.mark.suite
@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_the_same_from_the_same_seed_and_is_not_solved_by_time_or_one_click_aside(
    name: str, env: MiniWobEnv, other: MiniWobEnv, seed: int
) -> None:
    first = rig.begin(env, name, seed)
    assert first.instruction and not first.over and first.frame.settled and first.frame.size == SCREEN
    assert rig.score(env, name, seed) == 0
    clicked = env.step(Click(x=80, y=130))
    assert clicked.error is None
    if not clicked.over:
        waited = env.step(Wait(seconds=100))
        assert not waited.over or name in MOTION, "the page ended by its own timers"
        assert rig.score(env, name, seed) == 0
    for again in rig.begin(env, name, seed), rig.begin(other, name, seed):
        assert again.instruction == first.instruction
        assert again.frame.same_pixels(first.frame)


@pytest.mark.suite
@pytest.mark.parametrize("name", SOLVED)
def test_a_solution_solves_its_page_within_the_steps(name: str, env: MiniWobEnv, seed: int) -> None:
    found, actions = rig.solve(env, name, seed)
    assert found.passed, found.reasons
    assert actions <= FAMILIES[name].make(seed).limits.steps, "a harness of one action a step does not get through"
