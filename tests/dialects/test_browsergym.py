"""The browsergym dialect: Python calls, read and never run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guiforge import keys
from guiforge.action import (
    Action,
    Answer,
    AnswerDialog,
    Back,
    Click,
    CloseTab,
    Done,
    Drag,
    Forward,
    Goto,
    Infeasible,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseUp,
    Move,
    NewTab,
    Press,
    Reload,
    Scroll,
    SwitchTab,
    TypeText,
    Wait,
)
from guiforge.dialects import DialectError
from guiforge.dialects.browsergym import BrowserGym
from guiforge.frame import Size
from tests.dialects.strategies import BUTTONS, KEYS, MODIFIERS, SCREENS, SECONDS, TEXTS, points

SCREEN = (1280, 720)
DIALECT = BrowserGym()


def read(source: str) -> tuple[Action, ...]:
    return DIALECT.parse(source, SCREEN).actions


@pytest.mark.parametrize(
    ("source", "meant"),
    [
        ("mouse_click(887.2, 68)", Click(x=887, y=68)),
        ("mouse_click(56, 712.6, 'right')", Click(x=56, y=713, button="right")),
        ("mouse_click(x=5, y=6, button='middle')", Click(x=5, y=6, button="middle")),
        ("mouse_dblclick(5, 6)", Click(x=5, y=6, count=2)),
        ("mouse_move(5, 6)", Move(x=5, y=6)),
        ("mouse_down(5, 6, 'right')", MouseDown(x=5, y=6, button="right")),
        ("mouse_up(5, 6)", MouseUp(x=5, y=6)),
        ("mouse_drag_and_drop(1, 2, 3, 4)", Drag(path=((1, 2), (3, 4)))),
        ("mouse_drag_and_drop(from_x=1, from_y=2, to_x=3, to_y=4)", Drag(path=((1, 2), (3, 4)))),
        ("scroll(0, 200)", Scroll(dy=200, unit="pixel")),
        ("scroll(-50.2, -100.5)", Scroll(dx=-50, dy=-100, unit="pixel")),
        ("scroll(delta_x=1, delta_y=2)", Scroll(dx=1, dy=2, unit="pixel")),
        ("scroll(dx=1, dy=2)", Scroll(dx=1, dy=2, unit="pixel")),
        ("scroll_at(5, 6, 0, -30)", Scroll(x=5, y=6, dy=-30, unit="pixel")),
        ("keyboard_press('Enter')", Press(keys=("Return",))),
        ("keyboard_press('Control+a')", Press(keys=("Control_L", "a"))),
        ("keyboard_press('ControlOrMeta+A')", Press(keys=("Control_L", "a"))),
        ("keyboard_press('Meta+Shift+T')", Press(keys=("Super_L", "Shift_L", "t"))),
        ("keyboard_press('A')", Press(keys=("A",))),
        ("keyboard_press('+')", Press(keys=("+",))),
        ("keyboard_press('Control++')", Press(keys=("Control_L", "+"))),
        ("keyboard_type('Hello ) world')", TypeText(text="Hello ) world")),
        ("keyboard_insert_text('漢')", TypeText(text="漢")),
        ("keyboard_down('Shift')", KeyDown(key="Shift_L")),
        ("keyboard_up('ArrowUp')", KeyUp(key="Up")),
        ("goto('http://a.b')", Goto(url="http://a.b")),
        ("go_back()", Back()),
        ("go_forward()", Forward()),
        ("new_tab()", NewTab()),
        ("tab_focus(2)", SwitchTab(index=2)),
        ("tab_focus(index=-1)", SwitchTab(index=-1)),
        ("tab_close()", CloseTab()),
        ("send_msg_to_user('42 km')", Answer(text="42 km")),
        ("send_msg_to_user(text='')", Done()),
        ("report_infeasible('no such page')", Infeasible(reason="no such page")),
        ("noop()", Wait(seconds=1)),
        ("noop(wait_ms=500)", Wait(seconds=0.5)),
    ],
)
def test_each_call_is_read(source: str, meant: Action) -> None:
    assert read(source) == (meant,)


def test_several_calls_may_come_in_one_reply() -> None:
    source = "mouse_click(5, 6)\n# now the name\nkeyboard_type('a\\nb'); keyboard_press('Tab')\n"
    assert read(source) == (Click(x=5, y=6), TypeText(text="a\nb"), Press(keys=("Tab",)))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "no action"),
        ("I click.", "not valid Python"),
        ("click('a51')", "unknown call 'click'; valid are: mouse_click"),
        ("os.system('x')", "unknown call 'os.system'"),
        ("(lambda: 0)()", "unknown call"),
        ("x = 5", "only calls are read"),
        ("mouse_click(open('f'), 5)", "not Call"),
        ("mouse_click(5)", "needs y"),
        ("mouse_click(1e999, 5)", "x must be a number"),
        ("mouse_click(5, 6, 'back')", "valid are: left, middle, right"),
        ("mouse_click(5, 6, bid=1)", "no argument 'bid'; valid are: x, y, button"),
        ("scroll(1, 2, delta_y=3)", "dy and delta_y are the same"),
        ("scroll(1)", "needs dy"),
        ("keyboard_press('Control+')", "unknown key ''"),
        ("keyboard_press('Hyper+a')", "unknown key 'Hyper'"),
        ("keyboard_press(['a'])", "must be a text"),
        ("tab_focus()", "must be a number"),
        ("tab_focus(1.5)", "whole number"),
        ("noop(-1)", "seconds"),
        ("noop(10**9)", "not Pow|BinOp"),
        ("send_msg_to_user('a')\nnoop()", "the end must come last"),
    ],
)
def test_what_is_no_action_is_refused_saying_why(source: str, said: str) -> None:
    with pytest.raises(DialectError, match=said):
        read(source)


def sayable(screen: Size) -> st.SearchStrategy[Action]:
    at = points(screen)
    pixels = st.integers(-5000, 5000)
    chord = st.lists(KEYS, min_size=1, max_size=4).map(tuple)
    return st.one_of(
        st.builds(
            lambda p, b, n, m: Click(x=p[0], y=p[1], button=b, count=n, modifiers=m),
            at, BUTTONS, st.integers(1, 2), MODIFIERS,
        ),
        at.map(lambda p: Move(x=p[0], y=p[1])),
        st.builds(lambda p, b: MouseDown(x=p[0], y=p[1], button=b), at, BUTTONS),
        st.builds(lambda p, b: MouseUp(x=p[0], y=p[1], button=b), at, BUTTONS),
        st.builds(
            lambda p, b, m: Drag(path=p, button=b, modifiers=m),
            st.lists(at, min_size=2, max_size=4), BUTTONS, MODIFIERS,
        ),
        st.builds(
            lambda p, dx, dy, m: Scroll(**p, dx=dx, dy=dy, unit="pixel", modifiers=m),
            st.one_of(st.just({}), at.map(lambda p: {"x": p[0], "y": p[1]})), pixels, pixels, MODIFIERS,
        ),
        TEXTS.map(lambda t: TypeText(text=t)),
        st.builds(lambda k, s: Press(keys=k, hold_s=s), chord, st.one_of(st.just(0), SECONDS)),
        KEYS.map(lambda k: KeyDown(key=k)),
        KEYS.map(lambda k: KeyUp(key=k)),
        SECONDS.map(lambda s: Wait(seconds=s)),
        TEXTS.map(lambda t: Goto(url=t)),
        TEXTS.map(lambda t: NewTab(url=t)),
        st.integers(-9, 9).map(lambda i: SwitchTab(index=i)),
        st.sampled_from([Back(), Forward(), CloseTab()]),
    )  # fmt: skip


ENDS = st.one_of(TEXTS.map(lambda t: Answer(text=t)), st.just(Done()), TEXTS.map(lambda t: Infeasible(reason=t)))


@given(st.data())
def test_what_is_rendered_parses_to_the_same_spelled_out(data: st.DataObject) -> None:
    screen = data.draw(SCREENS)
    actions = [*data.draw(st.lists(sayable(screen), min_size=1, max_size=4)), *data.draw(st.lists(ENDS, max_size=1))]
    meant = DIALECT.normal(actions)
    assert DIALECT.parse(DIALECT.render(actions, screen), screen).actions == meant
    assert DIALECT.normal(meant) == meant


def test_a_plain_reply_is_not_spelled_out() -> None:
    plain = (Click(x=5, y=6), Drag(path=((1, 2), (3, 4))), Press(keys=("ctrl", "s")), Wait(seconds=1), Done())
    assert DIALECT.normal(plain) == plain


def test_modifiers_and_long_drags_are_spelled_out() -> None:
    assert DIALECT.normal([Click(x=5, y=6, modifiers=("ctrl",))]) == (
        KeyDown(key="ctrl"), Click(x=5, y=6), KeyUp(key="ctrl"),
    )  # fmt: skip
    assert DIALECT.normal([Drag(path=((1, 2), (3, 4), (5, 6)))]) == (
        MouseDown(x=1, y=2), Move(x=3, y=4), MouseUp(x=5, y=6),
    )  # fmt: skip


def test_a_capital_in_a_chord_is_shift_and_its_key() -> None:
    assert DIALECT.render([Press(keys=("ctrl", "T"))], SCREEN) == "keyboard_press('Control+Shift+t')"
    assert DIALECT.render([Press(keys=("ctrl", "shift", "T"))], SCREEN) == "keyboard_press('Control+Shift+t')"
    assert DIALECT.render([Press(keys=("T",))], SCREEN) == "keyboard_press('T')"


def test_keys_are_written_by_playwrights_names_and_each_means_itself() -> None:
    named = {name: DIALECT.render([KeyDown(key=name)], SCREEN) for name in keys.names()}
    for name, source in named.items():
        assert read(source) == (KeyDown(key=name),)
    for name, theirs in {
        "Return": "Enter", "BackSpace": "Backspace", "Page_Down": "PageDown", "Left": "ArrowLeft", "space": "Space",
        "Super_L": "Meta", "Caps_Lock": "CapsLock", "KP_7": "Numpad7", "KP_Add": "NumpadAdd", "F5": "F5",
        "Menu": "ContextMenu", "Control_R": "ControlRight",
    }.items():  # fmt: skip
        assert named[name] == f"keyboard_down('{theirs}')"


@pytest.mark.parametrize(
    "action",
    [
        Click(),
        Click(x=1, y=1, count=3),
        Click(x=1, y=1, button="back"),
        MouseDown(),
        Drag(path=((1, 1),)),
        Drag(path=((1, 1), (2, 2)), duration_s=1),
        Scroll(x=1, y=1, dy=1),
        SwitchTab(index=5000),
        Reload(),
        AnswerDialog(),
    ],
    ids=lambda a: a.kind,
)
def test_an_action_it_lacks_is_refused_by_name(action: Action) -> None:
    with pytest.raises(DialectError, match=f"browsergym can't say {action.kind}: "):
        DIALECT.render([action], SCREEN)
