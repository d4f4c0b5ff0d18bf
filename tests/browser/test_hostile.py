"""Pages that misbehave end as an observation or a typed fault in time, and the next episode starts clean."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest

from envs.browser.capture import DEADLINE_S, LOAD_S
from envs.browser.env import BrowserEnv
from envs.browser.tabs import MAX_PAGES
from guiforge.action import AnswerDialog, Click, CloseTab, Goto, Reload, SwitchTab, Wait
from guiforge.env import EnvError, EnvTimeout
from guiforge.task import OpenPage
from tests.browser.rig import Site, at


@pytest.fixture(autouse=True)
def _clean_after(env: BrowserEnv, site: Site) -> Iterator[None]:
    yield
    first = env.reset(site.task("buttons.html"))
    assert first.frame.settled and [tab["title"] for tab in first.info["tabs"]] == ["Buttons"]
    assert env.step(Click(**at(env, "#one"))).error is None


def test_a_redirect_loop_is_an_error(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("buttons.html"))
    observation = env.step(Goto(url=site.url("loop0")))
    assert observation.error is not None and "ERR_TOO_MANY_REDIRECTS" in observation.error
    with pytest.raises(EnvError, match=r"setup: .*ERR_TOO_MANY_REDIRECTS"):
        env.reset(site.task("loop0"))


def test_a_server_that_does_not_answer_is_a_timeout_of_set_up(env: BrowserEnv, site: Site) -> None:
    hang = OpenPage(url=site.url("never"), timeout_s=0.5)
    with pytest.raises(EnvTimeout, match=r"setup: .*/never: the page did not answer Page.navigate within 0.5 s"):
        env.reset(site.task(setup=(hang,)))


def test_fonts_and_images_that_never_come_do_not_hold_the_page_up(env: BrowserEnv, site: Site) -> None:
    assert env.reset(site.task("hanging.html")).frame.settled
    assert env.step(Wait(seconds=0.1)).frame.settled


def test_dialogs_without_end_are_shown_one_by_one(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("dialogs.html"))
    observation = env.step(Click(**at(env, "#endless")))
    for _ in range(3):
        assert observation.info["dialog"]["message"] == "Again"
        observation = env.step(AnswerDialog())
        assert observation.error is None


def test_a_script_that_does_not_end_is_told_and_the_page_can_be_left(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("buttons.html", "hostile.html"))
    observation = env.step(Click(**at(env, "#block")))
    assert observation.error is not None and "did not handle the action within 3 s" in observation.error
    assert not observation.frame.settled
    assert env.step(SwitchTab(index=0)).frame.settled
    assert env.step(Click(**at(env, "#one"))).error is None


def test_a_script_that_takes_a_while_is_waited_for(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("hostile.html"))
    observation = env.step(Click(**at(env, "#pause")))
    assert observation.error is None and observation.frame.settled
    assert env.oracle_view().find("#pause", "Done")


def test_a_hundred_thousand_nodes_are_drawn(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("hostile.html"))
    before = env.step().frame
    observation = env.step(Click(**at(env, "#nodes")))
    for _ in range(10):
        if observation.frame.settled:
            break
        observation = env.step()
    assert observation.frame.settled and not observation.frame.same_pixels(before)


def test_a_page_that_never_rests_is_shown_unsettled(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("hostile.html"))
    observation = env.step(Click(**at(env, "#spin")))
    assert observation.error is None and not observation.frame.settled


def test_many_windows_are_bounded_and_the_newest_is_followed(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("hostile.html"))
    observation = env.step(Click(**at(env, "#popups")))
    assert observation.info["page_index"] == 5 and observation.info["title"] == "Next"
    env.step(SwitchTab(index=0))
    env.oracle_view().evaluate("for (let i = 0; i < 40; i++) open('about:blank'); null")
    assert len(env.step().info["tabs"]) == MAX_PAGES
    assert len(env.step(CloseTab()).info["tabs"]) == MAX_PAGES - 1


def test_windows_that_open_and_close_without_end_do_not_hold_a_step_up(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("hostile.html"))
    start = time.monotonic()
    observation = env.step(Click(**at(env, "#flip")))
    assert time.monotonic() - start < LOAD_S + DEADLINE_S + 5
    assert observation.error is None and observation.frame.size == (800, 600)


def test_pages_that_come_to_the_front_in_turns_are_waited_for_so_long_and_no_longer(
    env: BrowserEnv, site: Site
) -> None:
    env.reset(site.task("buttons.html", "next.html"))
    tabs, browser = env._playing().tabs, env._pool.browser
    assert browser is not None
    for page in tabs.pages:  # so that there are events without end, at which the other page comes
        page.evaluate("setInterval(() => fetch('data:,'), 20); null")
    turns = [time.monotonic()]

    def turn(session: str, method: str, params: dict[str, object]) -> None:
        if time.monotonic() - turns[-1] > 0.05:  # at hundreds a second it is Chromium that ends
            turns.append(time.monotonic())
            tabs.switch(1 - tabs.index)

    browser.listeners.append(turn)
    start = time.monotonic()
    assert not env._playing().screen.wait_quiet(quiet_s=60, deadline_s=0.3, load_s=0.3)
    browser.listeners.remove(turn)
    assert time.monotonic() - start < 5 and len(turns) > 3


def test_a_page_that_closes_itself_leaves_its_opener(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("buttons.html"))
    env.oracle_view().evaluate("open('hostile.html') && null")
    env.oracle_view().wait_for("#gone")
    env.step()  # a document takes no clicks before it has been painted
    assert env.step(Click(**at(env, "#gone"))).info["title"] == "Buttons"


def test_a_crash_is_told_and_the_page_can_be_loaded_again(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("form.html"))
    page = env._playing().tabs.active
    page.send("Page.crash")
    assert page.run(lambda: page.crashed, 10)
    observation = env.step(Click(x=5, y=5))
    assert observation.error is not None and "crashed; valid are reload, goto" in observation.error
    assert observation.info["crashed"] and "has crashed" in observation.text
    again = env.step(Reload())
    assert again.error is None and again.info["title"] == "Form" and not again.info["crashed"]
    assert again.frame.settled


def test_a_browser_that_is_killed_is_a_fault(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("form.html"))
    assert env._pool.browser is not None
    os.kill(env._pool.browser.pid, signal.SIGKILL)
    with pytest.raises(EnvError, match="browser: the browser closed its pipe"):
        env.step(Wait(seconds=5))


def test_a_page_that_takes_too_much_memory_ends_the_episode_as_a_fault(site: Site) -> None:
    env = BrowserEnv(memory_limit_mb=700)
    try:
        env.reset(site.task("hostile.html"))
        with pytest.raises(EnvError, match=r"took \d+ MB; its limit is 700 MB"):
            for _ in range(30):
                env.step(Click(**at(env, "#bomb")), Wait(seconds=1))
        assert env.reset(site.task("form.html")).frame.settled
    finally:
        env.close()
