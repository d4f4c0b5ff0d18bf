"""The pyautogui dialect: what its calls mean, what is refused, and that reading stays cheap."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guiforge import keys
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
from guiforge.dialects import DialectError, dialect
from guiforge.dialects.pyautogui import Pyautogui, key_name
from guiforge.frame import Size
from tests.dialects.strategies import TEXTS, replies

SCREEN = (1920, 1080)
DIALECT = Pyautogui()


def read(code: str, cursor: tuple[int, int] | None = None) -> tuple[Action, ...]:
    return DIALECT.parse(code, SCREEN, cursor=cursor).actions


@pytest.mark.parametrize(
    ("code", "meant"),
    [
        ("pyautogui.click(100, 200)", [Click(x=100, y=200)]),
        ("pyautogui.click(x=100, y=200, clicks=2, button='right')", [Click(x=100, y=200, count=2, button="right")]),
        ("pyautogui.click((100, 200))", [Click(x=100, y=200)]),
        ("pyautogui.click([100, 200])", [Click(x=100, y=200)]),
        ("pyautogui.click()", [Click()]),
        ("pyautogui.click(x=None, y=None)", [Click()]),
        ("pyautogui.click(1, 2, 5)", [Click(x=1, y=2, count=3), Click(x=1, y=2, count=2)]),
        ("pyautogui.click(1, 2, button='secondary')", [Click(x=1, y=2, button="right")]),
        ("pyautogui.leftClick(5, 6)", [Click(x=5, y=6)]),
        ("pyautogui.rightClick(5, 6)", [Click(x=5, y=6, button="right")]),
        ("pyautogui.middleClick(5, 6)", [Click(x=5, y=6, button="middle")]),
        ("pyautogui.doubleClick(5, 6)", [Click(x=5, y=6, count=2)]),
        ("pyautogui.tripleClick(5, 6, button='middle')", [Click(x=5, y=6, count=3, button="middle")]),
        ("pyautogui.moveTo(5, 6, 0.5)", [Move(x=5, y=6)]),
        ("pyautogui.dragTo(5, 6, 2, button='right')", [Drag(path=((5, 6),), duration_s=2, button="right")]),
        ("pyautogui.mouseDown(button='right')", [MouseDown(button="right")]),
        ("pyautogui.mouseUp(3, 4)", [MouseUp(x=3, y=4)]),
        ("pyautogui.hscroll(2)", [Scroll(dx=2)]),
        ("pyautogui.vscroll(2)", [Scroll(dy=-2)]),
        ("pyautogui.write('hi', interval=0.05)", [TypeText(text="hi")]),
        ("pyautogui.typewrite(['h', 'enter'])", [Press(keys=("h",)), Press(keys=("Return",))]),
        ("pyautogui.press('enter')", [Press(keys=("Return",))]),
        ("pyautogui.press(['up', 'down'])", [Press(keys=("Up",)), Press(keys=("Down",))]),
        ("pyautogui.press('tab', presses=3)", [Press(keys=("Tab",))] * 3),
        ("pyautogui.hotkey('ctrl', 'shift', 't')", [Press(keys=("ctrl", "shift", "t"))]),
        ("pyautogui.hotkey(['ctrl', 'c'], interval=0.1)", [Press(keys=("ctrl", "c"))]),
        ("pyautogui.keyDown('shift'); pyautogui.keyUp('shift')", [KeyDown(key="shift"), KeyUp(key="shift")]),
        ("pyautogui.sleep(2)", [Wait(seconds=2)]),
        ("import pyautogui, time\ntime.sleep(0.5)", [Wait(seconds=0.5)]),
        ("WAIT", [Wait(seconds=2)]),
        (" DONE\n", [Done()]),
        ("FAIL", [Infeasible()]),
        ("pyautogui.click(-5, 6)", [Click(x=-5, y=6)]),  # off the screen: the env's to refuse
        ("  pyautogui.press('a')\n  pyautogui.press('b')", [Press(keys=("a",)), Press(keys=("b",))]),
        ("pyautogui.write('a' + \"b\" 'c')", [TypeText(text="abc")]),
        ("pyautogui.write(r'C:\\dir')  # where it lies", [TypeText(text="C:\\dir")]),
    ],
)
def test_calls_mean_what_pyautogui_does(code: str, meant: list[Action]) -> None:
    assert read(code) == tuple(meant)


def test_scroll_positive_is_up() -> None:
    assert read("pyautogui.scroll(3)") == (Scroll(dy=-3),)


def test_scroll_keeps_its_amount_beside_a_place() -> None:
    assert read("pyautogui.scroll(-5, x=10, y=20)") == (Scroll(x=10, y=20, dy=5),)


def test_drag_keeps_its_keywords() -> None:
    code = "pyautogui.dragTo(300, 400, duration=1, button='left')"
    assert read(code) == (Drag(path=((300, 400),), duration_s=1, button="left"),)


def test_arithmetic_in_arguments_is_a_number() -> None:
    assert read("pyautogui.click(x=(100 + 50) * 2 / 3, y=-(-7))") == (Click(x=100, y=7),)


def test_relative_moves_count_from_where_the_calls_before_left_the_pointer() -> None:
    code = "pyautogui.moveRel(10, -5); pyautogui.drag(1, 1); pyautogui.click(500, 500); pyautogui.move(0, 20)"
    assert read(code, cursor=(100, 100)) == (
        Move(x=110, y=95),
        Drag(path=((111, 96),)),
        Click(x=500, y=500),
        Move(x=500, y=520),
    )


def test_a_place_with_one_coordinate_takes_the_other_from_the_pointer() -> None:
    assert read("pyautogui.click(x=7)", cursor=(1, 2)) == (Click(x=7, y=2),)


@pytest.mark.parametrize("code", ["pyautogui.moveRel(1, 2)", "pyautogui.click(x=7)"])
def test_without_a_known_pointer_a_relative_place_is_refused(code: str) -> None:
    with pytest.raises(DialectError, match="pointer's position"):
        read(code)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("", "no action"),
        ("I would click the button", "not valid Python"),
        ("x = 5", "only calls are read"),
        ("import os", "only calls are read"),
        ("os.system('ls')", r"unknown call 'os.system'; valid are: pyautogui.click"),
        ("pyautogui.screenshot()", r"unknown call 'pyautogui.screenshot'; valid are"),
        ("pyautogui.click.__call__(1, 2)", "unknown call"),
        ("eval('1')", "unknown call 'eval'"),
        ("(lambda: 0)()", "unknown call 'Lambda'"),
        ("pyautogui.click(x=width / 2, y=5)", "not Name"),
        ("pyautogui.write(open('x').read())", "not Call"),
        ("pyautogui.write(f'{1}')", "not JoinedStr"),
        ("pyautogui.write('a' * 1000000000)", "an operand must be a number"),
        ("pyautogui.click(9 ** 9 ** 9, 1)", "literals"),
        ("pyautogui.click(1e999, 1)", "must be a number between"),
        ("pyautogui.click(1e308 * 10, 1)", "must be a number between"),
        ("pyautogui.click(1 / 0, 1)", "division by zero"),
        (f"pyautogui.click({'1 + ' * 30} 1, 1)", "nested more than 20 deep"),
        (f"pyautogui.write({'[' * 30}{']' * 30})", "nested more than 20 deep"),
        ("pyautogui.click('save.png')", "x must be a number, not 'save.png'"),
        ("pyautogui.click(True, False)", "must be a number, not True"),
        ("pyautogui.click(1, 2, colour='red')", "no argument 'colour'; valid are: x, y, clicks"),
        ("pyautogui.click(1, 2, 1, 0, 'left', 0, 0, 0, 0, 0)", "takes at most 9 arguments"),
        ("pyautogui.click(1, x=2)", "given twice"),
        ("pyautogui.click(**{'x': 1})", "not by name"),
        ("pyautogui.click(*[1, 2])", "not Starred"),
        ("pyautogui.click(1, 2, button='back')", "valid are: left, middle, right"),
        ("pyautogui.click(1, 2, clicks=0)", "whole number from 1 to 30"),
        ("pyautogui.scroll()", "needs clicks"),
        ("pyautogui.scroll(0.5)", "whole number"),
        ("pyautogui.scroll(10 * 100000)", "whole number from -1000 to 1000"),
        ("pyautogui.press('any')", "unknown key 'any'; valid are"),
        ("pyautogui.press('a', presses=1000)", "whole number from 1 to 100"),
        ("pyautogui.hotkey()", "keys"),
        ("pyautogui.write(5)", "message must be a text"),
        ("pyautogui.write()", "needs message"),
        ("pyautogui.moveTo()", "needs x and y"),
        ("time.sleep(1000)", "seconds: Input should be less than or equal to 100"),
        ("pyautogui.press('a')\n" * 500, "at most 200"),
    ],
)
def test_what_is_no_allowed_call_is_refused_saying_why(code: str, said: str) -> None:
    with pytest.raises(DialectError, match=said):
        read(code)


@pytest.mark.parametrize(
    "code",
    [
        "(" * 5000,
        "-" * 90_000 + "1",
        "1" + "+1" * 40_000,
        "pyautogui.click(" + "[" * 150 + "]" * 150 + ")",
        "pyautogui.click(" + "-" * 50_000 + "1)",
        "pyautogui.click(x=" + "1+" * 200 + "1)",
        "a" + ".a" * 40_000,
        "pyautogui.click(" + "9" * 5000 + ")",
        "not " * 20_000 + "1",
        "lambda:" * 10_000 + "1",
        "pyautogui.press('a')\n" * 10_000,
        "\0",
        "\ud800",
    ],
    ids=lambda code: ascii(code[:20]),
)
def test_source_made_to_cost_is_refused(code: str) -> None:
    with pytest.raises(DialectError):
        read(code)


TOKENS = [
    "pyautogui",
    ".",
    "click",
    "press",
    "write",
    "(",
    ")",
    ",",
    "x=",
    "'a'",
    "1",
    "-",
    "/",
    "*",
    "[",
    "]",
    "\n",
    " ",
]


@given(st.one_of(st.text(), st.lists(st.sampled_from(TOKENS)).map("".join)))
def test_any_text_is_actions_or_a_dialect_error(code: str) -> None:
    try:
        assert read(code)
    except DialectError as error:
        assert str(error)


@given(TEXTS)
def test_typed_text_comes_back_exactly(text: str) -> None:
    assert read(DIALECT.render([TypeText(text=text)], SCREEN)) == (TypeText(text=text),)


@given(replies(st.nothing()))
def test_what_is_rendered_parses_to_the_same_spelled_out(case: tuple[Size, tuple[Action, ...]]) -> None:
    screen, actions = case
    meant = DIALECT.normal(actions)
    assert DIALECT.parse(DIALECT.render(actions, screen), screen).actions == meant
    assert DIALECT.normal(meant) == meant


@pytest.mark.parametrize("end", [Done(), Infeasible()])
def test_ends_are_bare_words(end: Action) -> None:
    assert read(DIALECT.render([end], SCREEN)) == (end,)
    with pytest.raises(DialectError, match="stand alone"):
        DIALECT.render([Click(), end], SCREEN)


@pytest.mark.parametrize(
    "action",
    [Goto(url="http://a"), Answer(text="x"), Click(button="back"), Scroll(dy=5, unit="pixel"), Scroll(dy=100_000)],
    ids=lambda a: a.kind,
)
def test_an_action_it_lacks_is_refused_by_name(action: Action) -> None:
    with pytest.raises(DialectError, match=action.kind):
        DIALECT.render([action], SCREEN)


def test_every_key_has_a_name_that_means_it() -> None:
    assert [keys.canonical(key_name(name)) for name in keys.names()] == keys.names()


def test_an_unknown_dialect_names_the_valid_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown dialect 'klingon'; valid are: kimi, pyautogui, computer_13"):
        dialect("klingon")
