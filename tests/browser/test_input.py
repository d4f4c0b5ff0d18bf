"""Mouse, wheel, keyboard and drags on real pages, by coordinates alone."""

from __future__ import annotations

import json

import pytest

from envs.browser.env import BrowserEnv
from guiforge.action import (
    Click,
    Drag,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseUp,
    Move,
    Press,
    Scroll,
    TypeText,
)
from tests.browser.rig import Site, at, log, value

TEXT = "Grüße, 世界! <b>&amp;</b> Ñ é ß € 👩‍👩‍👧 {[~`^]} \\ \"quoted\" 'it'"


def test_clicks_have_their_count_button_and_modifiers(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("buttons.html"))
    pad = at(env, "#pad")
    env.step(Click(**pad))
    assert log(env) == ["mousedown 0 1 ", "mouseup 0 1 ", "click 0 1 "]
    env.reset(site.task("buttons.html"))
    env.step(Click(**pad, count=2, modifiers=("ctrl", "shift")))
    held = "ctrlKey+shiftKey"
    assert log(env)[-3:] == [f"mouseup 0 2 {held}", f"click 0 2 {held}", f"dblclick 0 2 {held}"]
    env.reset(site.task("buttons.html"))
    env.step(Click(**pad, button="right"))
    assert [line for line in log(env) if line.startswith(("mouse", "context"))] == [
        "mousedown 2 1 ", "contextmenu 2 0 ", "mouseup 2 1 ",
    ]  # fmt: skip
    env.reset(site.task("buttons.html"))
    env.step(Click(**pad, button="middle", modifiers=("alt",)))
    assert log(env) == ["mousedown 1 1 altKey", "mouseup 1 1 altKey", "auxclick 1 1 altKey"]


def test_a_click_without_a_point_is_where_the_pointer_is_and_the_frame_tells_where(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("buttons.html"))
    button = at(env, "#one")
    observation = env.step(Move(**button), Click())
    assert observation.frame.cursor == (button["x"], button["y"])
    assert log(env) == ["clicked"]


def test_hovering_shows(env: BrowserEnv, site: Site) -> None:
    before = env.reset(site.task("buttons.html"))
    pad = at(env, "#pad")
    after = env.step(Move(**pad))
    assert tuple(before.frame.pixels[pad["y"] + 50, pad["x"]]) == (0xDD, 0xDD, 0xEE)
    assert tuple(after.frame.pixels[pad["y"] + 50, pad["x"]]) == (0xAA, 0xDD, 0xAA)


def test_the_wheel_turns_by_pixels_and_by_notches(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("scroll.html"))
    where = "[scrollX, scrollY]"
    env.step(Scroll(x=100, y=100, dx=30, dy=250, unit="pixel"))
    assert env.oracle_view().evaluate(where) == [30, 250]
    env.step(Scroll(dy=-2))
    assert env.oracle_view().evaluate(where) == [30, 250 - 2 * 53]
    env.reset(site.task("buttons.html"))
    env.step(Scroll(**at(env, "#pad"), dy=1, modifiers=("shift",)))
    assert log(env)[-1].endswith("shiftKey")


def test_text_is_typed_exactly_with_newlines_and_tabs(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("form.html"))
    env.step(Click(**at(env, "#text")), TypeText(text=TEXT))
    assert value(env, "#text") == TEXT
    env.step(Click(**at(env, "#area")), TypeText(text="one\ntwo\r\nthree"))
    assert value(env, "#area") == "one\ntwo\nthree"
    env.step(Click(**at(env, "#text")), Press(keys=("ctrl", "a")), TypeText(text="a\t"), TypeText(text="12312025"))
    assert value(env, "#text") == "a" and value(env, "#date") == "2025-12-31"
    env.step(Click(**at(env, "#edit")), TypeText(text="editable 世"))
    assert env.oracle_view().evaluate("document.getElementById('edit').textContent") == "editable 世"


def test_frames_and_shadow_roots_take_input(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("form.html"))
    env.step(Click(**at(env, "#inner")), TypeText(text="inside"))
    env.step(Click(**at(env, "#shadow")), TypeText(text="shade"))
    view = env.oracle_view()
    assert view.evaluate("document.getElementById('frame').contentDocument.getElementById('inner').value") == "inside"
    assert view.evaluate("document.getElementById('host').shadowRoot.getElementById('shadow').value") == "shade"


def test_keys_tell_their_names_and_codes(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("form.html"))
    env.step(Click(**at(env, "#text")), TypeText(text="aA!"), Press(keys=("shift", "b")), Press(keys=("Left",)))
    assert log(env) == [
        "key a KeyA 65", "key A KeyA 65", "key ! Digit1 49", "key Shift ShiftLeft 16", "key B KeyB 66",
        "key ArrowLeft ArrowLeft 37",
    ]  # fmt: skip
    assert value(env, "#text") == "aA!B"


def test_chords_edit_and_the_clipboard_carries_text(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("form.html"))
    env.step(Click(**at(env, "#text")), TypeText(text="copy this"), Press(keys=("ControlOrMeta", "a")))
    env.step(Press(keys=("ctrl", "c")), Click(**at(env, "#area")), Press(keys=("ctrl", "v")), Press(keys=("ctrl", "v")))
    assert value(env, "#area") == "copy thiscopy this"
    env.step(Press(keys=("ctrl", "z")), Press(keys=("ctrl", "BackSpace")))
    assert value(env, "#area") == "copy "


def test_the_clipboard_is_empty_in_the_next_episode(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("form.html"))
    env.step(Click(**at(env, "#text")), TypeText(text="secret"), Press(keys=("ctrl", "a")), Press(keys=("ctrl", "c")))
    env.reset(site.task("form.html"))
    env.step(Click(**at(env, "#area")), Press(keys=("ctrl", "v")))
    assert value(env, "#area") == ""


def test_a_held_key_stays_down_between_steps_and_up_is_up(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("form.html"))
    env.step(Click(**at(env, "#text")), KeyDown(key="shift"))
    env.step(Press(keys=("a",)))
    env.step(KeyUp(key="shift"), Press(keys=("b",)))
    assert value(env, "#text") == "Ab"


def test_html5_drag_and_drop_fires_its_events(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("drag.html"))
    start, end = at(env, "#item"), at(env, "#target")
    env.step(Drag(path=((start["x"], start["y"]), (end["x"], end["y"]))))
    seen = json.loads(log(env)[0])
    assert seen["dragstart"] == seen["dragend"] == seen["drop"] == 1 and seen["dragover"] >= 2
    assert env.oracle_view().find("#target", "got cargo")


def test_a_drag_by_down_moves_and_up_is_a_drag_too(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("drag.html"))
    start, end = at(env, "#item"), at(env, "#target")
    middle = {"x": start["x"] + 10, "y": (start["y"] + end["y"]) // 2}
    env.step(MouseDown(**start), Move(**middle), Move(**end))
    env.step(Move(x=end["x"] + 5, y=end["y"]), MouseUp())
    assert env.oracle_view().find("#target", "got cargo")


def test_a_drag_moves_a_slider_and_passes_every_few_pixels(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("drag.html"))
    box = env.oracle_view().wait_for("#range")
    y = box.center[1]
    env.step(Drag(path=((box.x + 8, y), (box.center[0], y)), duration_s=0.1))
    assert 45 <= int(value(env, "#range")) <= 55
    pad = env.oracle_view().wait_for("#pad")
    env.step(Drag(path=((pad.x + 10, pad.y + 10), (pad.x + 250, pad.y + 90))))
    assert json.loads(log(env)[0])["moved"] >= 20


@pytest.mark.parametrize("action", [Click(x=800, y=5), Move(x=-1, y=0), Drag(path=((1, 1), (5, 600)))])
def test_a_point_off_the_screen_is_an_error_that_names_the_range(env: BrowserEnv, site: Site, action: Click) -> None:
    env.reset(site.task("form.html"))
    observation = env.step(Click(**at(env, "#text")), TypeText(text="x"), action, TypeText(text="never"))
    assert observation.error is not None
    assert f"action 3 ({action.kind})" in observation.error and "x 0 to 799 and y 0 to 599" in observation.error
    assert value(env, "#text") == "x"
