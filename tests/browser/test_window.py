"""The full browser in a window: what it opens above a page shows and is answered, and its pixels are the shell's."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from envs.browser.env import BrowserEnv
from guiforge.action import AnswerDialog, Click, Drag, KeyDown, KeyUp, Move, NewTab, Press, Scroll, TypeText
from guiforge.frame import Frame
from tests.browser.rig import Site, at, log, value
from tests.browser.test_input import TEXT
from tests.browser.test_lifecycle import session_of
from tests.browser.test_tabs import shown

POINTER_PX = 32  # its image is no larger


@pytest.fixture(scope="module")
def window() -> Iterator[BrowserEnv]:
    env = BrowserEnv(show="headed")
    yield env
    env.close()


def without_pointer(frame: Frame) -> np.ndarray:
    """The pixels, those around the pointer blackened."""
    assert frame.cursor is not None
    x, y = frame.cursor
    pixels = frame.pixels.copy()
    pixels[max(0, y - POINTER_PX) : y + POINTER_PX, max(0, x - POINTER_PX) : x + POINTER_PX] = 0
    return pixels


@pytest.mark.parametrize("page", ["form.html", "buttons.html", "colours.html", "scroll.html", "strict.html"])
def test_its_pixels_are_the_headless_shell_s_but_for_the_pointer(
    window: BrowserEnv, env: BrowserEnv, site: Site, page: str
) -> None:
    there, here = window.reset(site.task(page)).frame, env.reset(site.task(page)).frame
    assert there.size == here.size == (800, 600) and there.settled
    assert there.cursor is not None
    here.cursor = there.cursor  # blacken the same place
    differ = (without_pointer(there) != without_pointer(here)).any(axis=2)
    assert not differ.any(), np.argwhere(differ)[:5]


def test_a_native_list_shows_and_is_chosen_from(window: BrowserEnv, site: Site) -> None:
    window.reset(site.task("form.html"))
    box = window.oracle_view().wait_for("#fruit")
    closed = window.step(Move(x=box.center[0], y=box.center[1])).frame
    opened = window.step(Click(x=box.center[0], y=box.center[1])).frame
    below = slice(box.y + box.height + 4, box.y + box.height + 60)
    assert (closed.pixels[below, box.x : box.x + 60] != opened.pixels[below, box.x : box.x + 60]).any()
    assert window.oracle_view().evaluate("document.querySelector('select-popup')") is None
    window.step(Press(keys=("Down",)), Press(keys=("Return",)))
    assert value(window, "#fruit") == "l" and log(window) == ["fruit input l", "fruit change l"]


def test_a_dialog_shows_is_told_of_and_answered_by_action_or_by_its_buttons(window: BrowserEnv, site: Site) -> None:
    first = window.reset(site.task("dialogs.html")).frame
    point = at(window, "#confirm")
    opened = window.step(Click(**point))
    assert opened.error is None and opened.info["dialog"]["message"] == "Sure?"
    assert not opened.frame.same_pixels(first) and opened.frame.settled
    assert window.step(AnswerDialog()).info["dialog"] is None
    assert log(window) == ["confirmed true"]
    window.step(Click(**point))
    by_key = window.step(Press(keys=("Escape",)))
    assert by_key.info["dialog"] is None and log(window)[-1] == "confirmed false"


def test_typing_chords_and_held_keys_work(window: BrowserEnv, site: Site) -> None:
    window.reset(site.task("form.html"))
    window.step(Click(**at(window, "#text")), TypeText(text=TEXT))
    assert value(window, "#text") == TEXT
    window.step(Press(keys=("ctrl", "a")), Press(keys=("ctrl", "c")), Click(**at(window, "#area")))
    window.step(Press(keys=("ctrl", "v")))
    assert value(window, "#area") == TEXT
    window.step(Click(**at(window, "#text")), Press(keys=("ctrl", "a")), KeyDown(key="shift"), Press(keys=("a",)))
    window.step(KeyUp(key="shift"), Press(keys=("b",)))
    assert value(window, "#text") == "Ab"


def test_the_wheel_turns_and_a_drag_drops(window: BrowserEnv, site: Site) -> None:
    window.reset(site.task("scroll.html"))
    window.step(Scroll(x=100, y=100, dy=2))
    assert window.oracle_view().evaluate("scrollY") > 50
    window.reset(site.task("drag.html"))
    start, end = at(window, "#item"), at(window, "#target")
    window.step(Drag(path=((start["x"], start["y"]), (end["x"], end["y"]))))
    assert window.oracle_view().find("#target", "got cargo")


def test_pages_that_open_fill_the_screen(window: BrowserEnv, site: Site) -> None:
    window.reset(site.task("buttons.html"))
    for opener in ("#new", "#popup"):
        observation = window.step(Click(**at(window, opener)))
        assert shown(observation) == (1, "Next", 2)
        window.oracle_view().wait_until(
            lambda: window.oracle_view().evaluate("[innerWidth, innerHeight]") == [800, 600], "fills the screen"
        )
        assert shown(window.step(Press(keys=("ctrl", "w")))) == (0, "Buttons", 1)
    assert shown(window.step(NewTab(url=site.url("form.html")))) == (1, "Form", 2)
    assert window.oracle_view().evaluate("[innerWidth, innerHeight]") == [800, 600]


@pytest.mark.parametrize(
    "keys", [("F12",), ("ctrl", "u"), ("ctrl", "shift", "i"), ("ctrl", "o"), ("ctrl", "h"), ("F11",)]
)
def test_the_browser_s_own_tools_do_not_open(window: BrowserEnv, site: Site, keys: tuple[str, ...]) -> None:
    first = window.reset(site.task("next.html"))
    after = window.step(Press(keys=keys))
    assert (without_pointer(after.frame) == without_pointer(first.frame)).all()
    assert [tab["title"] for tab in after.info["tabs"]] == ["Next"]


def test_a_right_click_opens_no_menu_of_the_browser(window: BrowserEnv, site: Site) -> None:
    window.reset(site.task("next.html"))
    before = window.step(Move(x=600, y=400)).frame
    after = window.step(Click(x=600, y=400, button="right")).frame
    assert (without_pointer(after) == without_pointer(before)).all()


def test_episodes_share_a_window_s_browser_and_nothing_else_and_another_size_has_its_own(site: Site) -> None:
    temporary = set(Path(tempfile.gettempdir()).iterdir())
    env = BrowserEnv(show="headed")
    try:
        for _ in range(2):
            env.reset(site.task("storage.html"))
            env.oracle_view().wait_until(lambda: log(env)[-1:] == ["stored"], "the page stored", 10)
            assert log(env)[0] == "cookie  local null workers 0"
        first = env._pool.browser
        assert first is not None and first.window is not None
        display = first.window.desktop
        assert env.reset(site.task("next.html", screen=(1024, 640))).frame.size == (1024, 640)
        assert env._pool.browser is not first and not session_of(first.pid)
        assert not display.framebuffer.exists()
    finally:
        env.close()
    left = set(Path(tempfile.gettempdir()).iterdir()) - temporary
    assert not [path for path in left if "hromium" in path.name]
