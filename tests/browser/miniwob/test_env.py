"""An episode of a page: what ends it, what it is worth, what passes in it, and what is left of it for the next."""

from __future__ import annotations

import pytest

from envs.browser.miniwob.env import MiniWobEnv
from envs.browser.miniwob.families import FAMILIES
from envs.browser.miniwob.oracles.common import click, index_of, texts
from guiforge import registry
from guiforge.action import Action, Back, Click, CloseTab, Goto, Press, Reload, TypeText, Wait
from guiforge.env import EnvError
from guiforge.task import Task
from tests.browser.miniwob import rig


def test_less_than_the_whole_reward_is_a_failure(env: MiniWobEnv) -> None:
    rig.begin(env, "find-greatest")
    view, seen = rig.view(env), []
    for number in range(3):
        env.step(click(view, ".card", number))
        seen.append(int(texts(view, ".card:not(.hidden)")[0]))
    env.step(click(view, ".card", seen.index(min(seen))))
    assert env.step(click(view, "#submit")).over
    verdict = rig.verdict(env, FAMILIES["find-greatest"].make(0))
    assert verdict.score == 0 and "the page's reward is 0.1" in str(verdict.reasons)


def test_a_wrong_click_ends_the_episode_and_what_comes_after_is_not_carried_out(env: MiniWobEnv) -> None:
    rig.begin(env, "click-test-2")
    view = rig.view(env)
    wrong, right = click(view, "#subbtn2"), click(view, "#subbtn")
    first = env.step(wrong, right)
    assert first.over and first.error == "action 2 (click) was not carried out: the episode is over"
    assert env.step(right).error and rig.score(env, "click-test-2") == 0


def test_a_page_s_time_is_not_the_clock_s(env: MiniWobEnv) -> None:
    """Its own limits are 10 to 30 s; here a hundred times that passes, and it is solved all the same."""
    rig.begin(env, "click-button")
    for _ in range(10):
        assert not env.step(Wait(seconds=100)).over
    family = FAMILIES["click-button"]
    assert family.oracle is not None
    for actions in family.oracle(family.make(0), rig.view(env)):
        env.step(*actions)
    assert rig.score(env, "click-button") == 1


def test_waiting_is_a_page_s_time_alone_and_takes_none_of_ours(env: MiniWobEnv) -> None:
    rig.begin(env, "stock-market")
    before = rig.view(env).evaluate("Date.now()")
    env.step(Wait(seconds=3))
    assert rig.view(env).evaluate("Date.now()") - before == 3000
    shown = texts(rig.view(env), "#stock-price")
    assert rig.view(env).frame().size and texts(rig.view(env), "#stock-price") == shown, "it went on while we looked"


@pytest.mark.parametrize("action", [Goto(url="http://miniwob.test/miniwob/click-test.html"), Reload(), Back()])
def test_another_address_is_refused(action: Action, env: MiniWobEnv) -> None:
    first = rig.begin(env, "click-test-2")
    seen = env.step(action)
    assert "not carried out" in str(seen.error) and not seen.over and seen.frame.same_pixels(first.frame)


@pytest.mark.parametrize("keys", [("F5",), ("ctrl", "r"), ("ctrl", "t"), ("alt", "Left")])
def test_the_browser_s_own_keys_do_not_leave_the_page(keys: tuple[str, ...], env: MiniWobEnv) -> None:
    first = rig.begin(env, "click-test-2")
    seen = env.step(Press(keys=keys))
    assert not seen.over and len(seen.info["tabs"]) == 1 and seen.frame.same_pixels(first.frame)


@pytest.mark.parametrize("action", [CloseTab(), Press(keys=("ctrl", "w"))])
def test_a_page_that_was_closed_is_a_failure_and_the_next_episode_is_whole(action: Action, env: MiniWobEnv) -> None:
    first = rig.begin(env, "click-test")
    assert env.step(action).over
    assert rig.score(env, "click-test") == 0
    assert rig.begin(env, "click-test").frame.same_pixels(first.frame)
    assert rig.solve(env, "click-test")[0].passed


def test_what_an_agent_left_held_typed_and_scrolled_is_not_in_the_next_episode(env: MiniWobEnv) -> None:
    for name in ("enter-text", "email-inbox", "copy-paste"):
        first = rig.begin(env, name)
        env.step(Click(x=80, y=100), TypeText(text="left over"), Press(keys=("ctrl", "a")), Press(keys=("ctrl", "c")))
        again = rig.begin(env, name)
        assert again.frame.same_pixels(first.frame) and again.frame.cursor == first.frame.cursor
        assert rig.solve(env, name)[0].passed


def test_pages_of_another_kind_between_do_not_change_an_episode(env: MiniWobEnv) -> None:
    first = {name: rig.begin(env, name).frame for name in ("click-shape", "use-slider", "click-dialog")}
    for name, frame in reversed(first.items()):
        assert rig.begin(env, name).frame.same_pixels(frame)


def test_seeds_make_tasks_of_their_own(env: MiniWobEnv) -> None:
    assert len({rig.begin(env, "click-button", seed).instruction for seed in range(8)}) > 4


def test_the_oracle_view_knows_the_page_s_words_and_looks_only(env: MiniWobEnv) -> None:
    words = rig.begin(env, "click-button").instruction
    view = rig.view(env)
    assert view.utterance == words
    assert index_of(view, "#area button", str(words).split('"')[1]) >= 0
    assert rig.score(env, "click-button") == 0


def test_a_page_that_there_is_not_is_a_fault_and_no_grade(env: MiniWobEnv) -> None:
    with pytest.raises(EnvError, match="no-such-page"):
        env.reset(Task(suite="miniwob", id="no-such-page", seed=0, instruction="", screen=(332, 214)))
    assert rig.solve(env, "click-test")[0].passed


def test_it_is_registered_by_name_and_its_size_can_be_set() -> None:
    assert registry.env_class("miniwob") is MiniWobEnv
    env = MiniWobEnv(size=(160, 210))
    try:
        assert rig.begin(env, "click-test").frame.size == (160, 210)
    finally:
        env.close()
