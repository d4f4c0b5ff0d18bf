"""The Gymnasium adapter: its action space says what it can, and a real desktop passes Gymnasium's own checker."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from envs.browser.view import BrowserView
from guiforge import gym, registry
from guiforge.action import DESKTOP_KINDS, KINDS, Click, Done, Drag, Goto, Press, Scroll, SwitchTab, TypeText, Wait

SIZE = (1280, 720)
TASK = "infeasible_editor_layout"


@pytest.mark.parametrize("kinds", [DESKTOP_KINDS, tuple(KINDS)], ids=["desktop", "browser"])
def test_every_sample_is_a_wellformed_action_and_comes_back_from_it(kinds: tuple[str, ...]) -> None:
    space = gym.action_space(SIZE, kinds)
    space.seed(3)
    seen = set()
    for _ in range(500):
        action = gym.to_action(space.sample(), kinds)
        seen.add(action.kind)
        assert gym.to_action(gym.to_sample(action, space, kinds), kinds) == action
    assert seen == set(kinds)


def test_a_suites_actions_are_those_that_its_world_knows() -> None:
    web, small = gym.GuiEnv("webvoyager-like"), gym.GuiEnv("miniwob")
    assert web.kinds == tuple(KINDS) and web.observation_space.shape == (720, 1280, 3)
    assert "goto" not in small.kinds and {"click", "answer_dialog"} <= set(small.kinds)
    desktop = gym.action_space(SIZE).spaces
    assert "tab" not in desktop and "tab" in gym.action_space(SIZE, web.kinds).spaces


@pytest.mark.parametrize(
    "action",
    [
        Click(),
        Click(x=1280, y=0),
        Drag(path=((0, 0), (1, 1), (2, 2))),
        Scroll(x=1, y=1, dy=200, unit="pixel"),
        TypeText(text="漢"),
        TypeText(text="a" * 65),
        Press(keys=("a", "b")),
        Press(keys=("a",), hold_s=1),
        Wait(seconds=0.5),
        Goto(url="http://a.test/"),
    ],
    ids=repr,
)
def test_an_action_that_no_sample_means_is_refused_not_bent(action: object) -> None:
    with pytest.raises(ValueError, match="no sample"):
        gym.to_sample(action, gym.action_space(SIZE))  # type: ignore[arg-type]


def test_other_scripts_are_typed_when_the_charset_lists_them() -> None:
    space = gym.action_space(SIZE, charset="漢字")
    assert gym.to_action(gym.to_sample(TypeText(text="字漢"), space)) == TypeText(text="字漢")


def test_every_suite_is_registered_once_however_often_asked() -> None:
    gym.register()
    gym.register()
    assert {f"guiforge/{name}-v0" for name in registry.names("suites")} <= set(gymnasium.registry)


def test_an_unknown_render_mode_names_the_valid_ones() -> None:
    with pytest.raises(ValueError, match="rgb_array"):
        gym.GuiEnv(render_mode="human")


@pytest.mark.desktop
@pytest.mark.filterwarnings("error::UserWarning")
def test_the_checker_of_gymnasium_passes_with_no_check_turned_off() -> None:
    gym.register()
    env = gymnasium.make("guiforge/osworld-like-v0", task=TASK, size=SIZE, render_mode="rgb_array")
    try:
        check_env(env.unwrapped)
    finally:
        env.close()


@pytest.mark.browser
@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize(("suite", "task"), [("miniwob", "click-t*"), ("webvoyager-like", "wiki_extension")])
def test_suites_of_pages_pass_the_checker_too(suite: str, task: str) -> None:
    gym.register()
    env = gymnasium.make(f"guiforge/{suite}-v0", task=task, render_mode="rgb_array")
    try:
        check_env(env.unwrapped)
    finally:
        env.close()


@pytest.mark.browser
def test_a_page_ends_its_task_with_a_reward_and_what_is_refused_is_told() -> None:
    env = gym.GuiEnv("miniwob", "click-test")
    space = env.action_space
    assert isinstance(space, gymnasium.spaces.Dict)
    try:
        env.reset(seed=1)
        tab = gym.to_sample(SwitchTab(index=3), space, env.kinds)
        _, reward, terminated, truncated, info = env.step(tab)
        assert (reward, terminated, truncated) == (0.0, False, False) and "there is no tab 3" in info["error"]
        view = env._env.oracle_view()
        assert isinstance(view, BrowserView)
        x, y = view.wait_for("#subbtn").center
        _, reward, terminated, _, info = env.step(gym.to_sample(Click(x=x, y=y), space, env.kinds))
        assert (reward, terminated, info["outcome"]["status"]) == (1.0, True, "solved")
    finally:
        env.close()


@pytest.mark.desktop
def test_a_played_task_is_rewarded_by_its_grade_and_a_null_one_is_not() -> None:
    env = gym.GuiEnv(size=SIZE, task=TASK)
    try:
        pixels, info = env.reset(seed=1)
        assert pixels.shape == (720, 1280, 3) and info["instruction"]
        space = env.action_space
        assert isinstance(space, gymnasium.spaces.Dict)
        done = gym.to_sample(Done(), space)
        _, reward, terminated, truncated, info = env.step(done)
        assert (reward, terminated, truncated, info["outcome"]["status"]) == (0.0, True, False, "failed")
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(done)

        again, _ = env.reset(seed=1)
        assert np.array_equal(pixels, again)
        give_up = {**done, "kind": DESKTOP_KINDS.index("infeasible")}
        _, reward, terminated, _, info = env.step(give_up)
        assert (reward, terminated, info["outcome"]["status"]) == (1.0, True, "infeasible_ok")
    finally:
        env.close()
