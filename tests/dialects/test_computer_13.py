"""The computer_13 dialect: OSWorld's JSON actions, nested and inline."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guiforge.action import (
    Action,
    Answer,
    Click,
    Done,
    Drag,
    Goto,
    Infeasible,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseUp,
    Move,
    Press,
    Scroll,
    TypeText,
    Wait,
)
from guiforge.dialects import DialectError
from guiforge.dialects.computer_13 import Computer13
from guiforge.frame import Size
from tests.dialects.strategies import TEXTS, points, replies

SCREEN = (1920, 1080)
DIALECT = Computer13()


def read(reply: Any) -> tuple[Action, ...]:
    return DIALECT.parse(reply, SCREEN).actions


@pytest.mark.parametrize(
    ("name", "parameters", "meant"),
    [
        ("MOVE_TO", {"x": 5, "y": 6.4}, Move(x=5, y=6)),
        ("CLICK", {}, Click()),
        ("CLICK", {"button": "right", "x": 5, "y": 6, "num_clicks": 2}, Click(x=5, y=6, button="right", count=2)),
        ("MOUSE_DOWN", {}, MouseDown()),
        ("MOUSE_UP", {"button": "middle"}, MouseUp(button="middle")),
        ("RIGHT_CLICK", {"x": 5, "y": 6}, Click(x=5, y=6, button="right")),
        ("DOUBLE_CLICK", {}, Click(count=2)),
        ("DRAG_TO", {"x": 5, "y": 6}, Drag(path=((5, 6),))),
        ("TYPING", {"text": "a'b"}, TypeText(text="a'b")),
        ("PRESS", {"key": "enter"}, Press(keys=("Return",))),
        ("KEY_DOWN", {"key": "shiftleft"}, KeyDown(key="Shift_L")),
        ("KEY_UP", {"key": "shift"}, KeyUp(key="Shift_L")),
        ("HOTKEY", {"keys": ["ctrl", "c"]}, Press(keys=("ctrl", "c"))),
        ("WAIT", {}, Wait(seconds=2)),
        ("FAIL", {}, Infeasible()),
        ("DONE", {}, Done()),
    ],
)
def test_each_action_is_read_nested_and_inline(name: str, parameters: dict[str, Any], meant: Action) -> None:
    assert read({"action_type": name, "parameters": parameters}) == (meant,)
    assert read({"action_type": name, **parameters}) == (meant,)
    assert read(json.dumps({"action_type": name, "parameters": parameters})) == (meant,)


def test_a_scroll_is_positive_up_and_right() -> None:
    assert read({"action_type": "SCROLL", "dx": 2, "dy": 3}) == (Scroll(dx=2, dy=-3),)


@pytest.mark.parametrize(("word", "meant"), [("WAIT", Wait(seconds=2)), ("DONE", Done()), ("FAIL", Infeasible())])
def test_a_bare_word_is_an_action(word: str, meant: Action) -> None:
    assert read(word) == (meant,)


def test_several_actions_come_in_a_list() -> None:
    assert read('[{"action_type": "PRESS", "key": "a"}, {"action_type": "DONE"}]') == (Press(keys=("a",)), Done())


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("click", "not JSON"),
        ("[" * 100_000, "not JSON|at most"),
        ("[" * 90_000, "not JSON"),
        ("5", "must be a JSON object"),
        ([], "no action"),
        ({}, "unknown action_type None; valid are: MOVE_TO"),
        ({"action_type": "JUMP"}, "unknown action_type 'JUMP'; valid are: MOVE_TO"),
        ({"action_type": ["CLICK"]}, "unknown action_type"),
        ({"action_type": "CLICK", "parameters": {"x": 1}}, "both x and y"),
        ({"action_type": "CLICK", "parameters": {"x": 1}, "y": 2}, "not both"),
        ({"action_type": "CLICK", "parameters": [1, 2]}, "a JSON object"),
        ({"action_type": "CLICK", "z": 1}, "no argument 'z'; valid are: button, x, y, num_clicks"),
        ({"action_type": "CLICK", "button": "back"}, "valid are: left, middle, right"),
        ({"action_type": "CLICK", "num_clicks": 4}, "whole number from 1 to 3"),
        ({"action_type": "MOVE_TO", "x": "5", "y": 6}, "x must be a number, not '5'"),
        ('{"action_type": "MOVE_TO", "x": NaN, "y": 6}', "x must be a number"),
        ('{"action_type": "MOVE_TO", "x": 1e999, "y": 6}', "x must be a number"),
        ({"action_type": "MOVE_TO", "x": 5}, "needs y"),
        ({"action_type": "TYPING"}, "needs text"),
        ({"action_type": "PRESS", "key": "hyper"}, "unknown key 'hyper'; valid are"),
        ({"action_type": "HOTKEY", "keys": "ctrl"}, "list of texts"),
        ([{"action_type": "DONE"}, {"action_type": "CLICK"}], "must come last"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_no_action_is_refused_saying_why(reply: Any, said: str) -> None:
    with pytest.raises(DialectError, match=said):
        read(reply)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda s: st.lists(s) | st.dictionaries(
    st.sampled_from(["action_type", "parameters", "x", "y", "keys", "text"]), s | st.sampled_from(["CLICK", "HOTKEY"])
)))  # fmt: skip
def test_any_data_is_actions_or_a_dialect_error(data: Any) -> None:
    try:
        assert read(data)
    except DialectError as error:
        assert str(error)


@given(st.data())
def test_pixels_come_back(data: st.DataObject) -> None:
    x, y = data.draw(points(SCREEN))
    for action in (Move(x=x, y=y), Click(x=x, y=y), Drag(path=((x, y),))):
        assert read(json.dumps(DIALECT.render([action], SCREEN))) == (action,)


@given(TEXTS)
def test_texts_come_back_exactly(text: str) -> None:
    assert read(json.dumps(DIALECT.render([TypeText(text=text)], SCREEN))) == (TypeText(text=text),)


def _sayable(action: Action) -> bool:
    """No waits but OSWorld's, no durations."""
    return not (
        (isinstance(action, Wait) and action.seconds != 2)
        or (isinstance(action, Drag) and action.duration_s)
        or (isinstance(action, Press) and action.hold_s not in (0, 2))
        or isinstance(action, Answer)
    )


@given(replies())
def test_what_is_rendered_parses_to_the_same_spelled_out(case: tuple[Size, tuple[Action, ...]]) -> None:
    screen, actions = case
    actions = (Wait(seconds=2), *filter(_sayable, actions))
    meant = DIALECT.normal(actions)
    assert DIALECT.parse(json.dumps(DIALECT.render(actions, screen)), screen).actions == meant
    assert DIALECT.normal(meant) == meant


@pytest.mark.parametrize(
    "action",
    [
        Answer(text="x"),
        Goto(url="http://a"),
        Wait(seconds=1),
        Press(keys=("a",), hold_s=1),
        Drag(path=((1, 1),), duration_s=1),
        Click(button="forward"),
        MouseDown(button="back"),
        Scroll(dy=1, unit="pixel"),
    ],
    ids=lambda a: a.kind,
)
def test_an_action_it_lacks_is_refused_by_name(action: Action) -> None:
    with pytest.raises(DialectError, match="computer_13 can't say (wait|" + action.kind + ")"):
        DIALECT.render([action], SCREEN)
