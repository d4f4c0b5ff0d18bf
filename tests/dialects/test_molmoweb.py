"""The molmoweb dialect: one JSON action a reply, in percent of the screen."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guiforge.action import (
    Action,
    Answer,
    Back,
    Click,
    CloseTab,
    Done,
    Drag,
    Goto,
    Infeasible,
    KeyDown,
    MouseDown,
    Move,
    NewTab,
    Press,
    Reload,
    Scroll,
    SwitchTab,
    TypeText,
    Wait,
)
from guiforge.dialects import DialectError, OneAtATime
from guiforge.dialects.molmoweb import KEYS, MolmoWeb
from guiforge.frame import Size
from tests.dialects.strategies import SCREENS, TEXTS, points

SCREEN = (1280, 720)
DIALECT = MolmoWeb()


def read(name: str, **fields: Any) -> tuple[Action, ...]:
    return DIALECT.parse(json.dumps({"name": name, **fields}), SCREEN).actions


def back(action: Action, screen: Size = SCREEN, dialect: MolmoWeb = DIALECT) -> Any:
    (found,) = dialect.parse(dialect.render([action], screen), screen).actions
    return found


MIDDLE = {"x": 50.0, "y": 50.0}
TYPED_AT = {"x": 500, "y": 250, "text": "tea"}
AT = Click(x=640, y=180)
CLEARED = (Press(keys=("ctrl", "a")), Press(keys=("BackSpace",)))


@pytest.mark.parametrize(
    ("name", "fields", "meant"),
    [
        *((n, MIDDLE, [Click(x=640, y=360)]) for n in ("click", "mouse_click")),
        ("click", {**MIDDLE, "button": "right"}, [Click(x=640, y=360, button="right")]),
        ("mouse_click", {**MIDDLE, "button": "middle", "click_type": "single"}, [Click(x=640, y=360, button="middle")]),
        ("mouse_click", {**MIDDLE, "click_type": "double"}, [Click(x=640, y=360, count=2)]),
        ("dblclick", MIDDLE, [Click(x=640, y=360, count=2)]),
        ("dblclick", {**MIDDLE, "button": "right"}, [Click(x=640, y=360, count=2, button="right")]),
        ("hover_at", MIDDLE, [Move(x=640, y=360), Wait(seconds=1)]),
        ("hover_at", {**MIDDLE, "duration": 0.5}, [Move(x=640, y=360), Wait(seconds=0.5)]),
        ("hover_at", {**MIDDLE, "duration": 0}, [Move(x=640, y=360)]),
        *(
            (n, {"from_x": 10, "from_y": 20, "to_x": 50, "to_y": 75}, [Drag(path=((128, 144), (640, 540)))])
            for n in ("drag_and_drop", "mouse_drag_and_drop")
        ),
        ("scroll", {"delta_x": 0, "delta_y": 50.0}, [Scroll(dy=360, unit="pixel")]),
        ("scroll", {"delta_x": -25, "delta_y": 0}, [Scroll(dx=-320, unit="pixel")]),
        ("scroll_at", {**MIDDLE, "delta_x": 0, "delta_y": -10}, [Scroll(x=640, y=360, dy=-72, unit="pixel")]),
        *((n, {"text": "a\nb"}, [TypeText(text="a\nb")]) for n in ("type", "keyboard_type")),
        *((n, {"key": "Enter"}, [Press(keys=("Return",))]) for n in ("keypress", "keyboard_press")),
        ("gemini_type_text_at", TYPED_AT, [AT, *CLEARED, TypeText(text="tea"), Press(keys=("Return",))]),
        ("gemini_type_text_at", {**TYPED_AT, "press_enter": False}, [AT, *CLEARED, TypeText(text="tea")]),
        (
            "gemini_type_text_at",
            {**TYPED_AT, "press_enter": False, "clear_before_typing": False},
            [AT, TypeText(text="tea")],
        ),
        ("goto", {"url": "https://a.b"}, [Goto(url="https://a.b")]),
        ("browser_nav", {"nav_type": "go_back"}, [Back()]),
        ("browser_nav", {"nav_type": "new_tab"}, [NewTab()]),
        ("browser_nav", {"nav_type": "tab_focus"}, [SwitchTab(index=-1)]),
        ("browser_nav", {"nav_type": "tab_focus", "index": 2}, [SwitchTab(index=2)]),
        ("noop", {"noop_reason": "it loads"}, [Wait(seconds=1)]),
        ("noop", {}, [Wait(seconds=1)]),
        ("send_msg_to_user", {"msg": "[ANSWER] 42 km"}, [Answer(text="42 km")]),
        ("send_msg_to_user", {"msg": "[ANSWER]"}, [Answer(text="")]),
        ("send_msg_to_user", {"msg": "[EXIT]"}, [Done()]),
        ("send_msg_to_user", {"msg": "Say [EXIT] or [ANSWER]?"}, [Wait(seconds=0)]),
        ("report_infeasible", {"infeasibility_reason": "no such page"}, [Infeasible(reason="no such page")]),
    ],
    ids=str,
)
def test_each_action_is_read(name: str, fields: dict[str, Any], meant: list[Action]) -> None:
    assert read(name, **fields) == tuple(meant)


@pytest.mark.parametrize(
    ("percent", "pixel"),
    [
        ((0, 0), (1, 1)),
        ((100, 100), (1278, 718)),
        ((100.1, -3), (1278, 1)),
        ((12.3, 45.6), (157, 328)),
        ((0.1, 0.2), (1, 1)),
        ((99.9, 99.8), (1278, 718)),
    ],
)
def test_a_point_is_the_nearest_pixel_off_the_edge(percent: tuple[float, float], pixel: tuple[int, int]) -> None:
    x, y = percent
    assert read("click", x=x, y=y) == (Click(x=pixel[0], y=pixel[1]),)
    ends = {"from_x": x, "from_y": y, "to_x": 50, "to_y": 50}
    assert read("drag_and_drop", **ends) == (Drag(path=(pixel, (640, 360))),)
    assert read("gemini_type_text_at", x=10 * x, y=10 * y, text="")[0] == Click(x=pixel[0], y=pixel[1])


def test_a_scroll_is_of_any_size() -> None:
    assert read("scroll", delta_x=-250, delta_y=1000) == (Scroll(dx=-3200, dy=7200, unit="pixel"),)


@pytest.mark.parametrize("name", KEYS)
def test_a_key_is_read_in_any_case(name: str) -> None:
    assert read("keypress", key=name) == read("keypress", key=name.lower()) == read("keyboard_press", key=name.upper())
    assert read("keypress", key=name) == (Press(keys=KEYS[name]),)


ACTION = {"name": "type", "text": "naïve 漢"}


@pytest.mark.parametrize(
    ("reply", "thought"),
    [
        ({"thought": "The box is empty.", "action": ACTION}, "The box is empty."),
        ({"thought": None, "action": ACTION}, ""),
        ({"action": ACTION}, ""),
        (ACTION, ""),
    ],
)
@pytest.mark.parametrize("dialect", [MolmoWeb(think=True), MolmoWeb(think=False)])
def test_the_thought_and_the_wrapping_may_be_missing(dialect: MolmoWeb, reply: Any, thought: str) -> None:
    parsed = dialect.parse(f" {json.dumps(reply)}\n", SCREEN)
    assert parsed.actions == (TypeText(text="naïve 漢"),)
    assert parsed.thought == thought
    assert parsed.summary == "{'name': 'type', 'text': 'naïve 漢'}"


def test_the_history_tells_the_action_as_it_was_said_and_cuts_a_long_message() -> None:
    msg = "[ANSWER] " + "x" * 2000
    parsed = DIALECT.parse({"action": {"name": "send_msg_to_user", "msg": msg}}, SCREEN)
    assert parsed.actions == (Answer(text="x" * 2000),)
    told = ast.literal_eval(parsed.summary)
    assert told == {"name": "send_msg_to_user", "msg": msg[:985] + "... (truncated)"} and len(told["msg"]) == 1000


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("I click the button.", "the reply is not JSON"),
        ("", "the reply is not JSON"),
        ("[" * 50_000, "the reply is not JSON"),
        ("[]", "an action must be a JSON object"),
        ("5", "an action must be a JSON object"),
        ({}, "the reply must be a JSON object"),
        ({"thought": "hm"}, "the reply must be a JSON object"),
        ({"thought": 5, "action": {"name": "noop"}}, "thought must be a text"),
        (r'{"thought": "\ud83d", "action": {"name": "noop"}}', "thought must be a text"),
        ({"name": "noop", "noop_reason": [[]]}, "noop_reason must be a text"),
        ({"action": None}, "an action must be a JSON object"),
        ({"action": "noop"}, "an action must be a JSON object"),
        ({"action": {}}, "unknown action name None; valid are: mouse_click, click, dblclick"),
        ({"name": "tap"}, "unknown action name 'tap'; valid are: mouse_click"),
        ({"name": ["click"]}, "unknown action name"),
        ({"name": "click", "x": 5}, "click needs y"),
        ({"name": "click", "x": "5", "y": 6}, "x must be a number, not '5'"),
        ('{"name": "click", "x": NaN, "y": 6}', "x must be a number"),
        ('{"name": "click", "x": 1e999, "y": 6}', "x must be a number"),
        ({"name": "click", "x": True, "y": 6}, "x must be a number"),
        ({"name": "click", "x": 5, "y": 6, "bid": 7}, "no argument 'bid'; valid are: x, y, button, click_type"),
        ({"name": "click", "x": 5, "y": 6, "button": "back"}, "valid are: left, middle, right"),
        ({"name": "click", "x": 5, "y": 6, "click_type": "triple"}, "valid are: single, double"),
        ({"name": "hover_at", "x": 5, "y": 6, "duration": 1000}, "seconds: "),
        ({"name": "scroll"}, "scroll needs delta_x or delta_y"),
        ({"name": "keypress", "key": "F6"}, r"unknown keypress: key 'F6'; valid are: Enter, .*ControlOrMeta\+a"),
        ({"name": "gemini_type_text_at", "x": 1, "y": 1, "text": "a", "press_enter": "no"}, "must be true or false"),
        ({"name": "browser_nav"}, "unknown browser_nav: nav_type None; valid are: go_back, new_tab, tab_focus"),
        ({"name": "browser_nav", "nav_type": "tab_focus", "index": 1.5}, "index must be a whole number"),
        ({"name": "goto"}, "goto needs url"),
        ({"name": "send_msg_to_user", "msg": 5}, "msg must be a text"),
        ({"name": "report_infeasible", "infeasibility_reason": 5}, "must be a text"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_no_action_is_refused_saying_why(reply: Any, said: str) -> None:
    with pytest.raises(DialectError, match=said):
        DIALECT.parse(reply, SCREEN)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda s: (
            st.lists(s)
            | st.dictionaries(
                st.sampled_from(["thought", "action", "name", "x", "y", "text", "delta_x", "msg", "index"]),
                s | st.sampled_from(["click", "scroll", "browser_nav", "hover_at", "send_msg_to_user"]),
            )
        ),
    )
)
def test_any_data_is_actions_or_a_dialect_error(data: Any) -> None:
    try:
        assert DIALECT.parse(data, SCREEN).actions
    except DialectError as error:
        assert str(error)


@given(st.data())
def test_a_pixel_comes_back_as_near_as_one_decimal_allows(data: st.DataObject) -> None:
    screen = data.draw(SCREENS)
    x, y = data.draw(points(screen))
    for action in (Click(x=x, y=y), Move(x=x, y=y), Scroll(x=x, y=y, dy=1, unit="pixel")):
        found = back(action, screen)
        assert type(found) is type(action)
        for there, pixel, side in zip((found.x, found.y), (x, y), screen, strict=True):
            assert there is not None and abs(there - pixel) <= max(1, round(side / 2000))


def test_at_the_formats_size_and_at_full_hd_a_pixel_is_at_most_one_away() -> None:
    for width, height in (SCREEN, (1920, 1080)):
        found = [back(Click(x=x, y=min(x, height - 1)), (width, height)) for x in range(width)]
        assert max(abs(click.x - x) for x, click in enumerate(found)) == 1
        assert max(abs(click.y - min(x, height - 1)) for x, click in enumerate(found)) == 1


@given(st.data())
def test_with_three_decimals_every_pixel_off_the_edge_comes_back_exactly(data: st.DataObject) -> None:
    screen = data.draw(SCREENS)
    (x, y), (to_x, to_y) = data.draw(points(screen)), data.draw(points(screen))
    drag = Drag(path=((x, y), (to_x, to_y)))

    def inside(value: int, side: int) -> int:
        return max(0, min(max(value, 1), side - 2))

    want = tuple((inside(px, screen[0]), inside(py, screen[1])) for px, py in drag.path)
    assert back(drag, screen, MolmoWeb(decimals=3)).path == want


@given(SCREENS, st.integers(-5000, 5000), st.integers(-5000, 5000))
def test_a_scroll_comes_back_as_near_as_one_decimal_allows(screen: Size, dx: int, dy: int) -> None:
    found = back(Scroll(dx=dx, dy=dy, unit="pixel"), screen)
    assert (found.x, found.y, found.unit) == (None, None, "pixel")
    assert abs(found.dx - dx) <= max(1, round(screen[0] / 2000))
    assert abs(found.dy - dy) <= max(1, round(screen[1] / 2000))


WITHOUT_PLACES = st.one_of(
    TEXTS.map(lambda t: TypeText(text=t)),
    st.sampled_from(list(KEYS.values())).map(lambda k: Press(keys=k)),
    TEXTS.map(lambda t: Answer(text=t)),
    TEXTS.map(lambda t: Infeasible(reason=t)),
    TEXTS.map(lambda t: Goto(url=t)),
    st.integers(-9, 9).map(lambda i: SwitchTab(index=i)),
    st.sampled_from([Back(), NewTab(), Done(), Wait(seconds=0), Wait(seconds=1), Wait(seconds=0.3)]),
)


@given(WITHOUT_PLACES, TEXTS)
def test_what_is_rendered_parses_to_the_same(action: Action, thought: str) -> None:
    for dialect in (MolmoWeb(), MolmoWeb(think=False)):
        reply = dialect.render([action], SCREEN, thought=thought)
        parsed = dialect.parse(reply, SCREEN)
        assert parsed.actions == dialect.normal([action])
        assert dialect.normal(parsed.actions) == parsed.actions
        assert set(json.loads(reply)) == ({"thought", "action"} if dialect.think else {"action"})
        if thought:
            assert parsed.thought == (thought if dialect.think else "")


def test_clicks_keep_their_button_and_count() -> None:
    for button in ("left", "middle", "right"):
        for count in (1, 2):
            click = Click(x=640, y=360, button=button, count=count)
            assert back(click) == click


def test_what_is_written_has_one_decimal() -> None:
    said = json.loads(DIALECT.render([Click(x=157, y=328)], SCREEN))
    assert said["action"] == {"name": "mouse_click", "x": 12.3, "y": 45.6, "button": "left"}
    assert said["thought"] == "Click at (157, 328)."


@pytest.mark.parametrize(
    ("actions", "parts"),
    [
        ([Click(x=5, y=6), TypeText(text="a")], (Click(x=5, y=6), TypeText(text="a"))),
        ([Wait(seconds=2.5)], (Wait(seconds=1),) * 3),
        ([NewTab(url="http://a")], (NewTab(), Goto(url="http://a"))),
    ],
    ids=str,
)
def test_several_actions_take_a_reply_each(actions: list[Action], parts: tuple[Action, ...]) -> None:
    with pytest.raises(OneAtATime, match=f"one action a reply, not {len(parts)}") as caught:
        DIALECT.render(actions, SCREEN)
    assert caught.value.parts == parts == DIALECT.normal(parts)


@pytest.mark.parametrize(
    "action",
    [
        Click(),
        Click(x=1, y=1, count=3),
        Click(x=1, y=1, button="back"),
        Click(x=1, y=1, modifiers=("ctrl",)),
        Click(x=1280, y=1),
        Move(x=1, y=-1),
        Drag(path=((1, 1),)),
        Drag(path=((1, 1), (2, 2), (3, 3))),
        Drag(path=((1, 1), (2, 2)), button="right"),
        Drag(path=((1, 1), (2, 2)), duration_s=1),
        Scroll(x=1, y=1, dy=1),
        Scroll(dy=1, unit="pixel", modifiers=("ctrl",)),
        Press(keys=("ctrl", "s")),
        Press(keys=("Return",), hold_s=1),
        SwitchTab(index=5000),
        MouseDown(),
        KeyDown(key="a"),
        Reload(),
        CloseTab(),
    ],
    ids=lambda a: a.kind,
)
def test_an_action_it_lacks_is_refused_by_name(action: Action) -> None:
    with pytest.raises(DialectError, match=f"molmoweb can't say {action.kind}: "):
        DIALECT.render([action], SCREEN)
