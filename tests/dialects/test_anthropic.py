"""The anthropic dialect: the computer tool's inputs, in pixels of the declared display."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guiforge import keys
from guiforge.action import Action, Click, Done, Drag, KeyDown, MouseDown, MouseUp, Move, Press, Scroll, TypeText, Wait
from guiforge.dialects import DialectError
from guiforge.dialects.anthropic import Anthropic
from guiforge.frame import Size
from tests.dialects.strategies import KEYS, MODIFIERS, SCREENS, SECONDS, TEXTS, places, points

SCREEN = (1280, 800)
DIALECT = Anthropic()
SMALL = Anthropic(display=(1024, 768))


def read(reply: Any) -> tuple[Action, ...]:
    return DIALECT.parse(reply, SCREEN).actions


@pytest.mark.parametrize(
    ("data", "meant"),
    [
        ({"action": "key", "text": "ctrl+s"}, Press(keys=("ctrl", "s"))),
        ({"action": "key", "text": "Page_Down"}, Press(keys=("Page_Down",))),
        ({"action": "key", "text": "Return"}, Press(keys=("Return",))),
        ({"action": "key", "text": "+"}, Press(keys=("+",))),
        ({"action": "key", "text": "ctrl++"}, Press(keys=("ctrl", "+"))),
        ({"action": "key", "text": "ctrl+plus"}, Press(keys=("ctrl", "+"))),
        ({"action": "key", "text": "less"}, Press(keys=("<",))),
        ({"action": "key", "text": " "}, Press(keys=("space",))),
        ({"action": "type", "text": "a\nb"}, TypeText(text="a\nb")),
        ({"action": "mouse_move", "coordinate": [5, 6]}, Move(x=5, y=6)),
        ({"action": "left_click", "coordinate": [5, 6]}, Click(x=5, y=6)),
        ({"action": "left_click"}, Click()),
        (
            {"action": "left_click", "coordinate": [5, 6], "text": "ctrl+shift"},
            Click(x=5, y=6, modifiers=("ctrl", "shift")),
        ),
        ({"action": "right_click", "coordinate": [5, 6]}, Click(x=5, y=6, button="right")),
        ({"action": "middle_click", "coordinate": [5, 6]}, Click(x=5, y=6, button="middle")),
        ({"action": "double_click", "coordinate": [5, 6]}, Click(x=5, y=6, count=2)),
        ({"action": "triple_click", "coordinate": [5, 6]}, Click(x=5, y=6, count=3)),
        ({"action": "left_click_drag", "start_coordinate": [1, 2], "coordinate": [3, 4]}, Drag(path=((1, 2), (3, 4)))),
        ({"action": "left_mouse_down"}, MouseDown()),
        ({"action": "left_mouse_up"}, MouseUp()),
        ({"action": "hold_key", "text": "shift", "duration": 1.5}, Press(keys=("shift",), hold_s=1.5)),
        ({"action": "wait", "duration": 3}, Wait(seconds=3)),
    ],
)
def test_each_action_is_read(data: dict[str, Any], meant: Action) -> None:
    assert read(data) == (meant,)
    assert read(json.dumps([data])) == (meant,)


def test_chords_apart_by_spaces_are_pressed_one_after_the_other() -> None:
    assert read({"action": "key", "text": "Down Down ctrl+c"}) == (
        Press(keys=("Down",)),
        Press(keys=("Down",)),
        Press(keys=("ctrl", "c")),
    )


@pytest.mark.parametrize(
    ("direction", "turn"), [("up", (0, -3)), ("down", (0, 3)), ("left", (-3, 0)), ("right", (3, 0))]
)
def test_a_scroll_goes_its_direction_with_its_modifier(direction: str, turn: tuple[int, int]) -> None:
    data = {"action": "scroll", "scroll_direction": direction, "scroll_amount": 3, "coordinate": [5, 6], "text": "ctrl"}
    assert read(data) == (Scroll(x=5, y=6, dx=turn[0], dy=turn[1], modifiers=("ctrl",)),)


@pytest.mark.parametrize(
    ("data", "look"),
    [
        ({"action": "screenshot"}, "screenshot"),
        ({"action": "cursor_position"}, "cursor_position"),
        ({"action": "zoom", "region": [0, 0, 640, 360]}, "zoom 0,0,640,360"),
    ],
)
def test_looks_only_look_again_and_are_named(data: dict[str, Any], look: str) -> None:
    parsed = DIALECT.parse(data, SCREEN)
    assert (parsed.actions, parsed.looks) == ((Wait(seconds=0),), (look,))


def test_coordinates_are_of_the_declared_display() -> None:
    click = {"action": "left_click", "coordinate": [512, 767]}
    assert SMALL.parse(click, (2048, 1536)).actions == (Click(x=1024, y=1534),)


def test_bounds_are_checked_in_the_declared_display() -> None:
    outside = {"action": "left_click", "coordinate": [1100, 5]}  # on the screen, off the display
    with pytest.raises(DialectError, match=r"\[1100, 5\] is off the display; x is 0 to 1023, y is 0 to 767"):
        SMALL.parse(outside, (1920, 1080))
    inside = {"action": "left_click", "coordinate": [1023, 767]}  # off the screen, on the display
    assert SMALL.parse(inside, (640, 480)).actions == (Click(x=639, y=479),)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("nothing", "not JSON"),
        ({"action": "tap"}, "unknown action 'tap'; valid are: key, type"),
        ({"action": "left_click", "coordinate": [5]}, r"must be \[x, y\]"),
        ({"action": "left_click", "coordinate": ["5", 6]}, "must be a number"),
        ({"action": "left_click", "coordinate": [-1, 6]}, "off the display"),
        ({"action": "left_click", "coordinate": [5, float("nan")]}, "must be a number"),
        ({"action": "left_click", "coordinate": [1, 2], "text": "hyper"}, "unknown key 'hyper'; valid are"),
        ({"action": "mouse_move"}, r"mouse_move: coordinate must be \[x, y\]"),
        ({"action": "left_click_drag", "coordinate": [1, 2]}, r"start_coordinate must be \[x, y\]"),
        ({"action": "left_mouse_down", "coordinate": [1, 2]}, "no argument 'coordinate'; valid are: none"),
        ({"action": "key", "text": "ctrl+"}, "unknown key ''"),
        ({"action": "key", "text": ""}, "unknown key ''"),
        ({"action": "key"}, "needs text"),
        ({"action": "scroll", "scroll_direction": "south", "scroll_amount": 1}, "valid are: up, down, left, right"),
        ({"action": "scroll", "scroll_direction": "up", "scroll_amount": -1}, "whole number from 0 to 1000"),
        ({"action": "scroll", "scroll_direction": "up"}, "needs scroll_amount"),
        ({"action": "hold_key", "text": "a", "duration": 1000}, "less than or equal to 100"),
        ({"action": "wait", "duration": -1}, "greater than or equal to 0"),
        ({"action": "wait"}, "needs duration"),
        ({"action": "zoom", "region": [0, 0, 5]}, "must be"),
        ({"action": "zoom", "region": [9, 0, 5, 5]}, "x0 < x1"),
        ({"action": "zoom", "region": [0, 0, 5000, 5]}, "0 to 1280"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_no_action_is_refused_saying_why(data: Any, said: str) -> None:
    with pytest.raises(DialectError, match=said):
        read(data)


def sayable(screen: Size) -> st.SearchStrategy[Action]:
    at, anywhere, turns = points(screen), places(screen), st.integers(-50, 50)
    clicks = st.sampled_from([("left", 1), ("right", 1), ("middle", 1), ("left", 2), ("left", 3)])
    chord = st.lists(KEYS, min_size=1, max_size=4)
    return st.one_of(
        st.builds(lambda p, c, m: Click(**p, button=c[0], count=c[1], modifiers=m), anywhere, clicks, MODIFIERS),
        at.map(lambda p: Move(x=p[0], y=p[1])),
        st.builds(lambda p, m: Drag(path=p, modifiers=m), st.tuples(at, at), MODIFIERS),
        st.lists(at, min_size=1, max_size=5).map(lambda p: Drag(path=p)),
        anywhere.map(lambda p: MouseDown(**p)),
        anywhere.map(lambda p: MouseUp(**p)),
        st.builds(lambda p, dx, dy, m: Scroll(**p, dx=dx, dy=dy, modifiers=m), anywhere, turns, turns, MODIFIERS),
        TEXTS.map(lambda t: TypeText(text=t)),
        st.builds(lambda k, s: Press(keys=k, hold_s=s), chord, st.just(0) | SECONDS),
        SECONDS.map(lambda s: Wait(seconds=s)),
    )


@given(st.data())
def test_what_is_rendered_parses_to_the_same_spelled_out(data: st.DataObject) -> None:
    screen = data.draw(SCREENS)
    actions = tuple(data.draw(st.lists(sayable(screen), min_size=1, max_size=4)))
    meant = DIALECT.normal(actions)
    assert DIALECT.parse(json.dumps(DIALECT.render(actions, screen)), screen).actions == meant
    assert DIALECT.normal(meant) == meant


@given(st.data())
def test_every_pixel_of_a_smaller_display_comes_back_through_the_screen(data: st.DataObject) -> None:
    screen = data.draw(SCREENS)
    display = (data.draw(st.integers(1, screen[0])), data.draw(st.integers(1, screen[1])))
    dialect, at = Anthropic(display), data.draw(points(display))
    said = [{"action": "mouse_move", "coordinate": list(at)}]
    assert dialect.render(dialect.parse(said, screen).actions, screen) == said


@given(st.data())
def test_every_pixel_of_the_screen_comes_back_through_a_larger_display(data: st.DataObject) -> None:
    screen = data.draw(SCREENS)
    display = (screen[0] + data.draw(st.integers(0, 2000)), screen[1] + data.draw(st.integers(0, 2000)))
    dialect, (x, y) = Anthropic(display), data.draw(points(screen))
    assert dialect.parse(dialect.render([Move(x=x, y=y)], screen), screen).actions == (Move(x=x, y=y),)


def test_every_key_has_a_name_that_means_it() -> None:
    for name in keys.names():
        assert read(DIALECT.render([Press(keys=(name,))], SCREEN)) == (Press(keys=(name,)),)


@pytest.mark.parametrize(
    "action",
    [
        Click(x=1, y=1, button="back"),
        Click(x=1, y=1, count=2, button="right"),
        Click(x=1280, y=1),
        Drag(path=((1, 1), (2, 2)), button="right"),
        Drag(path=((1, 1), (2, 2)), duration_s=1),
        Drag(path=((1, 1), (2, 2), (3, 3)), modifiers=("ctrl",)),
        MouseDown(button="right"),
        Scroll(dy=1, unit="pixel"),
        KeyDown(key="a"),
        Done(),
    ],
    ids=lambda a: a.kind,
)
def test_an_action_it_lacks_is_refused_by_name(action: Action) -> None:
    with pytest.raises(DialectError, match=f"anthropic can't say {action.kind}: "):
        DIALECT.render([action], SCREEN)
