"""The openai dialect: computer-use actions, single and batched."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guiforge import keys
from guiforge.action import Action, Click, Done, Drag, KeyDown, KeyUp, MouseDown, Move, Press, Scroll, TypeText, Wait
from guiforge.dialects import DialectError
from guiforge.dialects.openai import OpenAI
from guiforge.frame import Size
from tests.dialects.strategies import KEYS, MODIFIERS, SCREENS, TEXTS, points

SCREEN = (1280, 720)
DIALECT = OpenAI()
PATH = [{"x": 1, "y": 2}, {"x": 3, "y": 4}, {"x": 5, "y": 6}]


def read(reply: Any) -> tuple[Action, ...]:
    return DIALECT.parse(reply, SCREEN).actions


@pytest.mark.parametrize(
    ("data", "meant"),
    [
        ({"type": "click", "button": "left", "x": 5, "y": 6}, Click(x=5, y=6)),
        ({"type": "click", "x": 5.4, "y": 6, "keys": None}, Click(x=5, y=6)),
        ({"type": "click", "button": "wheel", "x": 5, "y": 6}, Click(x=5, y=6, button="middle")),
        ({"type": "click", "button": "back", "x": 5, "y": 6}, Click(x=5, y=6, button="back")),
        ({"type": "double_click", "x": 5, "y": 6}, Click(x=5, y=6, count=2)),
        ({"type": "drag", "path": PATH}, Drag(path=((1, 2), (3, 4), (5, 6)))),
        ({"type": "drag", "path": [[1, 2], [3, 4]]}, Drag(path=((1, 2), (3, 4)))),
        ({"type": "move", "x": 5, "y": 6}, Move(x=5, y=6)),
        ({"type": "type", "text": "a\nb"}, TypeText(text="a\nb")),
        ({"type": "keypress", "keys": ["ENTER"]}, Press(keys=("Return",))),
        ({"type": "wait"}, Wait(seconds=1)),
        ({"type": "screenshot"}, Wait(seconds=0)),
    ],
)
def test_each_action_is_read(data: dict[str, Any], meant: Action) -> None:
    assert read(data) == (meant,)
    assert read(json.dumps(data)) == (meant,)


def test_the_keys_of_a_keypress_are_held_together() -> None:
    assert read({"type": "keypress", "keys": ["CTRL", "SHIFT", "T"]}) == (Press(keys=("ctrl", "shift", "T")),)


def test_keys_beside_a_pointer_action_are_held_meanwhile() -> None:
    assert read({"type": "click", "button": "left", "x": 5, "y": 6, "keys": ["CTRL"]}) == (
        Click(x=5, y=6, modifiers=("ctrl",)),
    )
    assert read({"type": "move", "x": 5, "y": 6, "keys": ["SHIFT"]}) == (
        KeyDown(key="shift"),
        Move(x=5, y=6),
        KeyUp(key="shift"),
    )


def test_a_scroll_is_in_pixels_positive_down_and_right() -> None:
    data = {"type": "scroll", "x": 5, "y": 6, "scroll_x": 10, "scroll_y": 300}
    assert read(data) == (Scroll(x=5, y=6, dx=10, dy=300, unit="pixel"),)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda actions: actions,
        lambda actions: {"actions": actions},
        lambda actions: {"type": "computer_call", "call_id": "c", "actions": actions},
    ],
)
def test_actions_may_come_batched(wrap: Any) -> None:
    actions = [{"type": "click", "x": 1, "y": 2}, {"type": "type", "text": "a"}, {"type": "screenshot"}]
    parsed = DIALECT.parse(wrap(actions), SCREEN)
    assert parsed.actions == (Click(x=1, y=2), TypeText(text="a"), Wait(seconds=0))
    assert parsed.looks == ("screenshot",)


def test_a_computer_call_holds_one_action() -> None:
    assert read({"type": "computer_call", "action": {"type": "wait"}}) == (Wait(seconds=1),)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("nothing", "not JSON"),
        ({"actions": []}, "unknown action type None"),
        ({"type": "tap"}, "unknown action type 'tap'; valid are: click, double_click"),
        ({"type": "click", "x": 5}, "needs y"),
        ({"type": "click", "x": 5, "y": 6, "button": "middle"}, "valid are: left, right, wheel, back, forward"),
        ({"type": "click", "x": float("nan"), "y": 6}, "must be a number"),
        ({"type": "move", "x": 5, "y": 6, "keys": ["HYPER"]}, "unknown key 'HYPER'; valid are"),
        ({"type": "keypress", "keys": []}, "keys"),
        ({"type": "keypress", "keys": "CTRL"}, "list of texts"),
        ({"type": "drag", "path": [[1, 2]]}, "list of 2 to 1000 points"),
        ({"type": "drag", "path": [[1, 2], [3]]}, "a point of path"),
        ({"type": "drag", "path": [{"x": 1}, {"x": 2}]}, "must be a number"),
        ({"type": "drag", "path": [[1, 2]] * 1001}, "list of 2 to 1000 points"),
        ({"type": "scroll", "x": 1, "y": 2, "scroll_y": 10**9}, "must be a number between"),
        ({"type": "wait", "ms": 5}, "no argument 'ms'; valid are: none"),
        ({"type": "type", "text": None}, "needs text"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_no_action_is_refused_saying_why(data: Any, said: str) -> None:
    with pytest.raises(DialectError, match=said):
        read(data)


def sayable(screen: Size) -> st.SearchStrategy[Action]:
    at, pixels = points(screen), st.integers(-5000, 5000)
    buttons = st.sampled_from(["left", "right", "middle", "back", "forward"])
    return st.one_of(
        st.builds(lambda p, b, m: Click(x=p[0], y=p[1], button=b, modifiers=m), at, buttons, MODIFIERS),
        st.builds(lambda p, m: Click(x=p[0], y=p[1], count=2, modifiers=m), at, MODIFIERS),
        at.map(lambda p: Move(x=p[0], y=p[1])),
        st.builds(lambda p, m: Drag(path=p, modifiers=m), st.lists(at, min_size=2, max_size=5), MODIFIERS),
        st.builds(
            lambda p, dx, dy, m: Scroll(x=p[0], y=p[1], dx=dx, dy=dy, unit="pixel", modifiers=m),
            at, pixels, pixels, MODIFIERS,
        ),
        TEXTS.map(lambda t: TypeText(text=t)),
        st.lists(KEYS, min_size=1, max_size=4).map(lambda k: Press(keys=k)),
        st.sampled_from([0, 1]).map(lambda s: Wait(seconds=s)),
    )  # fmt: skip


@given(st.data())
def test_what_is_rendered_parses_to_the_same(data: st.DataObject) -> None:
    screen = data.draw(SCREENS)
    actions = tuple(data.draw(st.lists(sayable(screen), min_size=1, max_size=4)))
    assert DIALECT.parse(json.dumps({"actions": DIALECT.render(actions, screen)}), screen).actions == actions
    assert DIALECT.normal(actions) == actions


def test_every_key_has_a_name_that_means_it() -> None:
    for name in keys.names():
        assert read(DIALECT.render([Press(keys=(name,))], SCREEN)) == (Press(keys=(name,)),)


@pytest.mark.parametrize(
    "action",
    [
        Click(),
        Click(x=1, y=1, count=3),
        Click(x=1, y=1, count=2, button="right"),
        Drag(path=((1, 1),)),
        Drag(path=((1, 1), (2, 2)), duration_s=1),
        Drag(path=((1, 1), (2, 2)), button="right"),
        Scroll(dy=1, unit="pixel"),
        Scroll(x=1, y=1, dy=1),
        Press(keys=("a",), hold_s=1),
        Wait(seconds=5),
        MouseDown(),
        KeyDown(key="a"),
        Done(),
    ],
    ids=lambda a: a.kind,
)
def test_an_action_it_lacks_is_refused_by_name(action: Action) -> None:
    with pytest.raises(DialectError, match=f"openai can't say {action.kind}: "):
        DIALECT.render([action], SCREEN)
