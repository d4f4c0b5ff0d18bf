"""Actions in plain words."""

from __future__ import annotations

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
    NewTab,
    Press,
    Scroll,
    SwitchTab,
    TypeText,
    Wait,
)
from guiforge.dialects.words import sentence
from tests.dialects.strategies import ENDS, acts


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ([Click(x=10, y=20, count=2), Press(keys=("ctrl", "s"))], "Double-click at (10, 20), then press Control_L+s."),
        ([Click(button="right", modifiers=("shift",))], "Shift_L-right-click."),
        ([Drag(path=((1, 2), (3, 4)))], "Drag to (3, 4)."),
        ([Scroll(x=1, y=2, dx=-3, dy=4)], "Scroll left by 3 and down by 4 at (1, 2)."),
        ([TypeText(text="a\n'b'")], "Type \"a\\n'b'\"."),
        ([TypeText(text="x" * 100)], f"Type '{'x' * 57}...'."),
        ([KeyDown(key="ctrl"), Wait(seconds=0.5)], "Hold Control_L, then wait 0.5 s."),
        ([Press(keys=("\u2028",))], "Press '\\u2028'."),
        (
            [NewTab(), Goto(url="http://a.b"), SwitchTab(index=0)],
            "New tab, then open 'http://a.b', then switch to tab 0.",
        ),
        ([Answer(text="5")], "Answer '5'."),
        ([Done()], "Say that the task is done."),
        ([Infeasible(reason="no menu")], "Say that the task can't be done: 'no menu'."),
    ],
)
def test_a_step_is_said_in_one_sentence(actions: list[Action], words: str) -> None:
    assert sentence(actions) == words


@given(st.lists(acts((1920, 1080)) | ENDS, min_size=1, max_size=4))
def test_it_is_one_line_whatever_was_typed(actions: list[Action]) -> None:
    assert len(sentence(actions).splitlines()) == 1
