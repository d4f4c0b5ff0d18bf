"""The mouse: what reaches the screen's windows, and how toolkits take it."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from Xlib import X

from envs.desktop.desktop import Desktop
from envs.desktop.input import BUTTONS, MAX_NOTCHES, interpolate, notches
from guiforge.action import parse
from tests.desktop.rig import Rig

pytestmark = pytest.mark.desktop
SIZE = (800, 600)

TEXT = """
text = tkinter.Text(root, width=60, height=12, font=('DejaVu Sans Mono', 12)); text.pack()
text.insert('1.0', 'first second third\\n' * 8); text.focus_force()
for name in ('Button-1', 'Double-Button-1', 'Triple-Button-1', 'Button-4', 'Button-5'):
    text.bind(f'<{name}>', lambda event, name=name: tell(name))
"""


@pytest.fixture(scope="module")
def desktop() -> Iterator[Rig]:
    rig = Rig(Desktop.start(SIZE))
    yield rig
    rig.close()


@pytest.fixture
def rig(desktop: Rig) -> Iterator[Rig]:
    yield desktop
    desktop.clear()
    assert desktop.input.keyboard.held() == []


@pytest.mark.parametrize(
    "point", [*itertools.product((0, 799), (0, 599)), (400, 0), (400, 599), (0, 300), (799, 300), (400, 300)]
)
def test_a_click_lands_on_its_pixel_at_every_corner_and_edge(rig: Rig, point: tuple[int, int]) -> None:
    with rig.listener() as listener:
        rig.act("click", x=point[0], y=point[1])
        assert listener.buttons() == [("down", 1, *point), ("up", 1, *point)]


@pytest.mark.parametrize("point", [(800, 0), (0, 600), (-1, 5), (5, -1), (100000, 100000)])
@pytest.mark.parametrize("kind", ["click", "move", "mouse_down", "mouse_up", "scroll"])
def test_a_point_off_the_screen_is_refused_with_the_valid_range_and_nothing_happens(
    rig: Rig, kind: str, point: tuple[int, int]
) -> None:
    rig.act("move", x=10, y=10)
    with rig.listener() as listener:
        with pytest.raises(ValueError, match=r"off the screen; valid are x 0 to 799 and y 0 to 599"):
            rig.act(kind, x=point[0], y=point[1])
        assert listener.heard() == []
    assert rig.input.pointer() == (10, 10)


def test_a_drag_with_one_point_off_the_screen_does_not_begin(rig: Rig) -> None:
    with rig.listener() as listener:
        with pytest.raises(ValueError, match="off the screen"):
            rig.act("drag", path=[(5, 5), (900, 5)])
        assert listener.heard() == []


def test_actions_of_browsers_are_refused_with_the_valid_ones(rig: Rig) -> None:
    with pytest.raises(ValueError, match="no 'goto'; valid are: click, move"):
        rig.input.perform(parse({"kind": "goto", "url": "http://a.b"}))


@pytest.mark.parametrize(("name", "number"), BUTTONS.items())
def test_every_button_reaches_the_window_by_its_number(rig: Rig, name: str, number: int) -> None:
    with rig.listener() as listener:
        rig.act("mouse_down", x=7, y=8, button=name)
        rig.act("mouse_up", button=name)
        assert listener.buttons() == [("down", number, 7, 8), ("up", number, 7, 8)]


def test_a_click_without_a_point_is_where_the_pointer_is(rig: Rig) -> None:
    rig.act("move", x=123, y=45)
    with rig.listener() as listener:
        rig.act("click", button="right")
        assert listener.buttons() == [("down", 3, 123, 45), ("up", 3, 123, 45)]


def test_modifiers_are_down_while_the_button_is_and_up_after(rig: Rig) -> None:
    with rig.listener() as listener:
        rig.act("click", x=5, y=5, modifiers=["ctrl", "shift"])
        states = {e.type: e.state for e in listener.heard() if e.type in (X.ButtonPress, X.ButtonRelease)}
    assert states[X.ButtonPress] == X.ControlMask | X.ShiftMask
    assert states[X.ButtonRelease] == X.ControlMask | X.ShiftMask | X.Button1Mask
    assert rig.input.keyboard.held() == []


def test_moving_to_where_the_pointer_is_returns(rig: Rig) -> None:
    for _ in range(50):
        rig.act("move", x=77, y=66)
    assert rig.input.pointer() == (77, 66)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"dy": 3}, [5, 5, 5]),
        ({"dy": -2}, [4, 4]),
        ({"dx": 1}, [7]),
        ({"dx": -1, "dy": 1}, [5, 6]),
        ({"dy": 120, "unit": "pixel"}, [5, 5]),
        ({"dy": -1, "unit": "pixel"}, [4]),
        ({}, []),
    ],
)
def test_a_scroll_turns_the_wheel_one_click_a_notch(rig: Rig, fields: dict[str, object], expected: list[int]) -> None:
    with rig.listener() as listener:
        rig.act("scroll", x=50, y=50, **fields)
        assert [button for kind, button, _, _ in listener.buttons() if kind == "down"] == expected


def test_an_endless_scroll_is_refused_with_the_limit() -> None:
    with pytest.raises(ValueError, match=f"valid are up to {MAX_NOTCHES}"):
        notches(10**9, "notch")


@given(st.integers(-50000, 50000))
def test_a_scroll_in_pixels_keeps_its_direction_and_is_never_nothing(amount: int) -> None:
    clicks = notches(amount, "pixel")
    assert (clicks > 0) - (clicks < 0) == (amount > 0) - (amount < 0)
    assert abs(clicks * 53 - amount) <= 53


@given(st.lists(st.tuples(st.integers(0, 1919), st.integers(0, 1079)), min_size=2, max_size=5))
def test_a_drags_path_is_followed_in_small_steps_through_every_point(path: list[tuple[int, int]]) -> None:
    points = interpolate(path)
    assert points[-1] == path[-1]
    assert all(math.dist(a, b) <= 8 for a, b in itertools.pairwise([path[0], *points]))
    rest = iter(points)
    assert all(point in rest for point in path[1:]), "the corners, in order"


def test_a_drag_holds_the_button_from_the_first_point_to_the_last_for_its_duration(rig: Rig) -> None:
    with rig.listener() as listener:
        start = time.monotonic()
        rig.act("drag", path=[(100, 100), (200, 100), (200, 200)], duration_s=0.5)
        assert time.monotonic() - start >= 0.5
        events = listener.heard()
    down, up = (next(i for i, e in enumerate(events) if e.type == t) for t in (X.ButtonPress, X.ButtonRelease))
    assert (events[down].root_x, events[down].root_y) == (100, 100)
    assert (events[up].root_x, events[up].root_y) == (200, 200)
    moves = [(e.root_x, e.root_y) for e in events[down:up] if e.type == X.MotionNotify]
    assert (200, 100) in moves
    assert len(moves) >= 200 / 8
    assert all(e.state & X.Button1Mask for e in events[down + 1 : up])


def test_a_drag_to_one_point_starts_at_the_pointer(rig: Rig) -> None:
    rig.act("move", x=300, y=300)
    with rig.listener() as listener:
        rig.act("drag", path=[(350, 300)])
        assert listener.buttons() == [("down", 1, 300, 300), ("up", 1, 350, 300)]


def test_a_broken_drag_leaves_no_button_down(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    moves = itertools.count()
    move = rig.input._move

    def breaks(point: tuple[int, int] | None) -> None:
        if next(moves) == 5:
            raise KeyboardInterrupt
        move(point)

    with rig.listener() as listener:
        monkeypatch.setattr(rig.input, "_move", breaks)
        with pytest.raises(KeyboardInterrupt):
            rig.act("drag", path=[(10, 10), (400, 10)], modifiers=["ctrl"])
        assert [kind for kind, *_ in listener.buttons()] == ["down", "up"]
    assert rig.input.keyboard.held() == []
    assert not rig.display.screen().root.query_pointer().mask & X.Button1Mask


def test_release_all_lets_go_of_everything_whoever_pressed_it(rig: Rig) -> None:
    with rig.listener() as listener:
        rig.act("key_down", key="ctrl")
        rig.act("key_down", key="a")
        for name in BUTTONS:
            rig.act("mouse_down", x=9, y=9, button=name)
        listener.heard()
        rig.input.release_all()
        assert {button for kind, button, _, _ in listener.buttons() if kind == "up"} == set(BUTTONS.values())
    assert rig.input.keyboard.held() == []


@pytest.mark.parametrize(
    ("count", "heard", "selected"),
    [
        (1, ["Button-1"], ""),
        (2, ["Button-1", "Double-Button-1"], "second"),
        (3, ["Button-1", "Double-Button-1", "Triple-Button-1"], "first second third\n"),
    ],
)
def test_tk_takes_two_clicks_for_a_double_and_three_for_a_triple(
    rig: Rig, count: int, heard: list[str], selected: str
) -> None:
    window = rig.tk(
        TEXT + "root.bind('<Key>', lambda event: tell(text.selection_get() if text.tag_ranges('sel') else ''))"
    )
    rig.act("click", x=window.x + 90, y=window.y + 30, count=count)
    rig.act("press", keys=["Shift_L"])
    rig.until(lambda: len(rig.told()) > len(heard), "Tk to tell its selection")
    assert rig.told() == [*[[name] for name in heard], [selected]]


def test_two_single_clicks_at_one_place_are_no_double_click(rig: Rig) -> None:
    window = rig.tk(TEXT)
    for _ in range(3):
        rig.act("click", x=window.x + 90, y=window.y + 30)
    rig.until(lambda: len(rig.told()) >= 3, "three clicks")
    assert rig.told() == [["Button-1"]] * 3


def test_clicks_at_two_places_do_not_wait_for_each_other(rig: Rig) -> None:
    window = rig.tk(TEXT)
    start = time.monotonic()
    for x in (30, 130, 230):
        rig.act("click", x=window.x + x, y=window.y + 30)
    assert time.monotonic() - start < 0.5, "less than one double-click time for three"
    rig.until(lambda: len(rig.told()) >= 3, "three clicks")
    assert rig.told() == [["Button-1"]] * 3


def test_a_drag_draws_through_its_points_on_a_tk_canvas(rig: Rig) -> None:
    window = rig.tk("""
        canvas = tkinter.Canvas(root, width=300, height=300); canvas.pack()
        for name in ('Button-1', 'B1-Motion', 'ButtonRelease-1'):
            canvas.bind(f'<{name}>', lambda event, name=name: tell(name, event.x, event.y))
    """)
    x, y = window.x, window.y
    rig.act("drag", path=[(x + 20, y + 20), (x + 120, y + 20), (x + 120, y + 220)])
    rig.until(lambda: rig.told() and rig.told()[-1][0] == "ButtonRelease-1", "the end of the drag")
    told = rig.told()
    # Tk's coordinates start at the canvas, inside its border
    dx, dy = told[0][1] - 20, told[0][2] - 20
    assert told[0][0] == "Button-1"
    assert told[-1] == ["ButtonRelease-1", 120 + dx, 220 + dy]
    moves = [tuple(what[1:]) for what in told if what[0] == "B1-Motion"]
    assert len(moves) > 10
    assert all(cx == 120 + dx or cy == 20 + dy for cx, cy in moves), "along both sides, no short cut"
