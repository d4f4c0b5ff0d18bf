"""What an oracle finds on a page, and how it is told that it does not."""

from __future__ import annotations

import pytest

from envs.browser.env import BrowserEnv
from envs.browser.view import OracleStuck
from guiforge.action import Click, TypeText
from tests.browser.rig import Site, at


def test_elements_are_found_by_selector_and_text_where_they_show(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("buttons.html"))
    view = env.oracle_view()
    button = view.find("button", "Press .*")
    assert button is not None
    assert (button.x, button.y, button.width, button.height, button.tag) == (8, 8, 120, 40, "button")
    assert button.center == (68, 28)
    assert [link.text for link in view.find_all("a")] == ["Next page", "In a new tab", "Download"]
    assert view.find(text="pad") is not None and view.find(text="pa") is None
    innermost = view.find(text="Next page")
    assert innermost is not None and innermost.tag == "a"


def test_what_is_scrolled_away_or_hidden_is_not_found(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("buttons.html"))
    view = env.oracle_view()
    view.evaluate("document.getElementById('one').style.visibility = 'hidden'")
    assert view.find("#one") is None
    view.evaluate("document.getElementById('pad').style.marginTop = '2000px'")
    assert view.find("#pad") is None


def test_frames_and_shadow_roots_are_searched_in_screen_pixels(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("form.html"))
    view = env.oracle_view()
    frame, inner = view.wait_for("#frame"), view.wait_for("#inner")
    assert frame.x < inner.x and frame.y < inner.y < frame.y + frame.height
    env.step(Click(**at(env, "#shadow")), TypeText(text="shade"))
    assert view.wait_for("#shadow").value == "shade"


def test_the_view_has_the_live_state_and_the_screen(env: BrowserEnv, site: Site) -> None:
    first = env.reset(site.task("buttons.html"))
    view = env.oracle_view()
    assert view.frame().same_pixels(first.frame) and view.size == (800, 600)
    assert view.state.query("url") == site.url("buttons.html")
    assert view.state.query("tabs") == [{"title": "Buttons", "url": site.url("buttons.html")}]
    env.step(Click(**at(env, "#download")))
    view.wait_until(lambda: view.state.files("~/Downloads/*.csv"), "no download", 10)
    assert view.state.read("~/Downloads/report.csv") == b"a,b\n"
    with pytest.raises(KeyError, match="it has: tabs, title, url"):
        view.state.query("windows")


def test_a_wait_in_vain_says_for_what_and_where(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("buttons.html"))
    with pytest.raises(OracleStuck, match=r"after 0.1 s: no element '#missing' with text 'x' shows on .*Buttons"):
        env.oracle_view().wait_for("#missing", "x", timeout_s=0.1)
