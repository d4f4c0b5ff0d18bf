"""Navigation, tabs and dialogs."""

from __future__ import annotations

import pytest

from envs.browser.env import BrowserEnv
from guiforge.action import (
    AnswerDialog,
    Back,
    Click,
    CloseTab,
    Done,
    Forward,
    Goto,
    NewTab,
    Press,
    Reload,
    SwitchTab,
    TypeText,
    Wait,
)
from guiforge.env import Observation
from tests.browser.rig import Site, at, log


def shown(observation: Observation) -> tuple[int, str, int]:
    """(page index, title, tabs)."""
    return observation.info["page_index"], observation.info["title"], len(observation.info["tabs"])


def test_going_to_addresses_back_forth_and_again(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("buttons.html"))
    followed = env.step(Click(**at(env, "#next")))
    assert followed.error is None and followed.info["url"] == site.url("next.html")
    assert followed.text == f"Page 0: Next | {site.url('next.html')}"
    assert shown(env.step(Back())) == (0, "Buttons", 1)
    assert shown(env.step(Forward())) == (0, "Next", 1)
    assert shown(env.step(Goto(url="site.localhost/form.html"))) == (0, "Form", 1)
    env.step(Click(**at(env, "#text")), TypeText(text="gone"))
    env.step(Reload())
    assert env.oracle_view().evaluate("document.getElementById('text').value") == ""


def test_there_is_nothing_before_the_first_page_and_after_the_last(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("buttons.html"))
    for action in (Back(), Forward()):
        observation = env.step(action)
        assert observation.error is not None and f"no page to go {action.kind} to" in observation.error


def test_a_new_page_is_followed_at_once_and_its_frame_is_the_screen_s(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("buttons.html"))
    for opener in ("#new", "#popup"):
        observation = env.step(Click(**at(env, opener)))
        assert shown(observation) == (1, "Next", 2)
        assert "Tab 0: Buttons" in observation.text and observation.frame.size == (800, 600)
        assert shown(env.step(CloseTab())) == (0, "Buttons", 1)


def test_tabs_are_opened_switched_and_closed(env: BrowserEnv, site: Site) -> None:
    first = env.reset(site.task("buttons.html", "form.html"))
    assert shown(first) == (1, "Form", 2)
    blank = env.step(NewTab())
    assert shown(blank)[0] == 2 and blank.info["url"] == "about:blank"
    assert shown(env.step(NewTab(url=site.url("next.html")))) == (3, "Next", 4)
    assert shown(env.step(SwitchTab(index=0))) == (0, "Buttons", 4)
    assert shown(env.step(SwitchTab(index=-3))) == (1, "Form", 4)
    missing = env.step(SwitchTab(index=4))
    assert missing.error is not None and "no tab 4; valid are 0 to 3" in missing.error
    for left in (3, 2, 1):
        assert len(env.step(CloseTab()).info["tabs"]) == left
    last = env.step(CloseTab())
    assert last.error is None and [tab["url"] for tab in last.info["tabs"]] == ["about:blank"]


def test_a_page_in_the_background_keeps_its_state(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("form.html"))
    env.step(Click(**at(env, "#text")), TypeText(text="kept"))
    env.step(NewTab(url=site.url("next.html")))
    env.step(SwitchTab(index=0), TypeText(text="!"))
    assert env.oracle_view().evaluate("document.getElementById('text').value") == "kept!"


@pytest.mark.parametrize(
    ("kind", "answer", "logged"),
    [
        ("alert", AnswerDialog(), "alerted"),
        ("confirm", AnswerDialog(), "confirmed true"),
        ("confirm", AnswerDialog(accept=False), "confirmed false"),
        ("prompt", AnswerDialog(text="Grüße"), "prompted Grüße"),
        ("prompt", AnswerDialog(), "prompted Ada"),
        ("prompt", AnswerDialog(accept=False), "prompted null"),
        ("confirm", Press(keys=("Return",)), "confirmed true"),
        ("confirm", Press(keys=("Escape",)), "confirmed false"),
        ("prompt", Press(keys=("Return",)), "prompted Ada"),
    ],
)
def test_a_dialog_is_told_of_and_answered(
    env: BrowserEnv, site: Site, kind: str, answer: AnswerDialog | Press, logged: str
) -> None:
    env.reset(site.task("dialogs.html"))
    opened = env.step(Click(**at(env, f"#{kind}")))
    assert opened.error is None and opened.info["dialog"]["kind"] == kind
    assert f"A {kind} dialog is open: {opened.info['dialog']['message']!r}" in opened.text
    answered = env.step(answer)
    assert answered.error is None and answered.info["dialog"] is None
    assert log(env) == [logged]


def test_nothing_else_goes_on_while_a_dialog_is_open(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("dialogs.html"))
    point = at(env, "#confirm")
    stopped = env.step(Click(**point), Click(**point))
    assert stopped.error is not None and "action 2 (click)" in stopped.error
    assert "confirm dialog 'Sure?' is open" in stopped.error and "valid are answer_dialog, or the keys" in stopped.error
    assert "or a click on one of its buttons" in stopped.error
    for allowed in (Wait(seconds=0.05), Done()):
        assert env.step(allowed).error is None
    assert env.step(AnswerDialog()).error is None
    none = env.step(AnswerDialog())
    assert none.error is not None and "no dialog is open" in none.error


def test_a_page_asks_before_it_is_left(env: BrowserEnv, site: Site) -> None:
    after = {"reload": "Dialogs", "close_tab": "about:blank"}
    for leave in (Click(x=0, y=0), Goto(url=site.url("next.html")), CloseTab(), Reload()):
        env.reset(site.task("dialogs.html"))
        point = at(env, "#leave")
        env.step(Click(**at(env, "#guard")))
        action = Click(**point) if isinstance(leave, Click) else leave
        asked = env.step(action)
        assert asked.info["dialog"]["kind"] == "beforeunload", leave
        stays = env.step(AnswerDialog(accept=False))
        assert stays.info["title"] == "Dialogs" and stays.info["dialog"] is None
        env.step(action)
        assert env.step(AnswerDialog()).info["title"] == after.get(leave.kind, "Next")


def test_a_fetch_a_short_timer_and_a_slow_picture_are_waited_for(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("late.html"))
    for button, text in (("#fetch", "slow answer"), ("#timer", "timer"), ("#picture", "picture")):
        observation = env.step(Click(**at(env, button)))
        assert observation.frame.settled
        assert env.oracle_view().evaluate("document.getElementById('out').textContent") == text


def test_chords_that_a_window_would_answer_to_do_what_they_do_there(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("buttons.html"))
    assert env.step(Press(keys=("alt", "Left"))).error is None  # there is nothing before the first page
    env.step(Click(**at(env, "#next")))
    assert shown(env.step(Press(keys=("alt", "Left")))) == (0, "Buttons", 1)
    assert shown(env.step(Press(keys=("alt", "Right")))) == (0, "Next", 1)
    assert shown(env.step(Press(keys=("ctrl", "t"))))[::2] == (1, 2)
    env.step(Goto(url=site.url("form.html")))
    assert shown(env.step(Press(keys=("ctrl", "Tab")))) == (0, "Next", 2)
    assert shown(env.step(Press(keys=("ctrl", "shift", "Tab")))) == (1, "Form", 2)
    assert shown(env.step(Press(keys=("ctrl", "1")))) == (0, "Next", 2)
    assert shown(env.step(Press(keys=("ctrl", "w")))) == (0, "Form", 1)


@pytest.mark.parametrize("keys", [("F5",), ("ctrl", "r"), ("ctrl", "shift", "R")])
def test_the_keys_that_load_a_page_again_do_unless_it_prevents_them(
    env: BrowserEnv, site: Site, keys: tuple[str, ...]
) -> None:
    env.reset(site.task("form.html"))
    env.step(Click(**at(env, "#text")), TypeText(text="gone"), Press(keys=keys))
    typed = "document.getElementById('text').value"
    assert env.oracle_view().evaluate(typed) == ""
    env.oracle_view().evaluate("document.onkeydown = (event) => event.preventDefault(); null")
    env.step(Click(**at(env, "#text")))
    env.oracle_view().evaluate(f"{typed} = 'kept'")
    env.step(Press(keys=keys))
    assert env.oracle_view().evaluate(typed) == "kept"
