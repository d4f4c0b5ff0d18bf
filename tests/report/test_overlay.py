"""Actions as marks on the screen: where they are, and in words."""

from __future__ import annotations

import pytest

from guiforge.action import (
    KINDS,
    Action,
    Click,
    Done,
    Drag,
    Goto,
    Infeasible,
    Move,
    Press,
    Scroll,
    TypeText,
    Wait,
    parse,
)
from guiforge.report.overlay import caption, marks, written

SAMPLES: dict[str, dict[str, object]] = {
    "move": {"x": 1, "y": 2},
    "drag": {"path": [[1, 2]]},
    "type": {"text": "a"},
    "press": {"keys": ["a"]},
    "key_down": {"key": "ctrl"},
    "key_up": {"key": "ctrl"},
    "goto": {"url": "http://a"},
    "switch_tab": {"index": 1},
    "choose_files": {"paths": ["~/a"]},
    "answer": {"text": "42"},
}


def test_marks_follow_the_pointer() -> None:
    drawn = marks(
        (Click(), Move(x=50, y=60), Click(), Drag(path=((70, 80),)), Scroll(dy=2), Press(keys=("ctrl", "s"))), (5, 6)
    )
    assert [(m.number, m.shape, m.points) for m in drawn] == [
        (1, "click", ((5, 6),)),
        (2, "move", ((5, 6), (50, 60))),
        (3, "click", ((50, 60),)),
        (4, "drag", ((50, 60), (70, 80))),
        (5, "scroll", ((70, 80), (70, 160))),
        (6, "none", ()),
    ]


def test_without_a_known_pointer_nothing_is_invented() -> None:
    assert [m.points for m in marks((Click(), Scroll(dy=1), Drag(path=((1, 2),))), None)] == [(), (), ((1, 2),)]


def test_equal_actions_in_a_row_are_one_mark() -> None:
    down, end = Press(keys=("Down",)), Press(keys=("End",))
    assert [(m.number, m.times, m.caption) for m in marks((down, down, down, end, down), None)] == [
        (1, 3, "Down"),
        (4, 1, "End"),
        (5, 1, "Down"),
    ]


def test_a_long_scroll_stays_near_its_place() -> None:
    (mark,) = marks((Scroll(x=100, y=100, dy=-5000, unit="pixel"),), None)
    assert mark.points == ((100, 100), (100, -140))


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (Click(x=1, y=1), "click"),
        (Click(x=1, y=1, button="right", count=2, modifiers=("ctrl",)), "Control + double right click"),
        (Scroll(dy=-3), "scroll up 3"),
        (Scroll(dx=40, dy=10, unit="pixel"), "scroll down 10 right 40 px"),
        (TypeText(text="a\nb\tc"), "a⏎b⇥c"),
        (Press(keys=("ctrl", "shift", "s")), "Control + Shift + s"),
        (Wait(seconds=0), "look again"),
        (Wait(seconds=2), "wait 2 s"),
        (Goto(url="http://a"), "goto http://a"),
        (Done(), "done"),
        (Infeasible(reason="no such menu"), "infeasible: no such menu"),
    ],
)
def test_captions_are_words(action: Action, words: str) -> None:
    assert caption(action) == words


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_drawn_and_written(kind: str) -> None:
    action = parse({"kind": kind, **SAMPLES.get(kind, {})})
    (mark,) = marks((action,), (1, 1))
    assert mark.caption
    assert written(action).startswith(f"{kind}(")
