"""The keyboard: chords, held keys and locks as the X server sends them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from Xlib import X

from envs.desktop.desktop import Desktop
from envs.desktop.keyboard import keysym
from guiforge.keys import aliases, names
from tests.desktop.rig import Rig

pytestmark = pytest.mark.desktop

ENTRY = """
text = tkinter.Text(root, width=40, height=6); text.pack(); text.focus_force()
def watch(before):
    now = text.get('1.0', 'end-1c')
    if now != before: tell(now)
    root.after(20, watch, now)
watch('')
"""


SLOW = """
import time
def work(event):
    end = time.process_time() + 0.01
    while time.process_time() < end: pass
text.bind('<KeyPress>', work)
"""


@pytest.fixture(scope="module")
def desktop() -> Iterator[Rig]:
    rig = Rig(Desktop.start((800, 600)))
    yield rig
    rig.close()


@pytest.fixture
def rig(desktop: Rig) -> Iterator[Rig]:
    yield desktop
    desktop.clear()
    desktop.input.keyboard.unlock()
    assert desktop.input.keyboard.held() == []


def down_and_up(*keys: str) -> list[tuple[str, int]]:
    symbols = [keysym(key) for key in keys]
    return [("down", symbol) for symbol in symbols] + [("up", symbol) for symbol in reversed(symbols)]


def written(rig: Rig) -> str:
    told = rig.told()
    return str(told[-1][0]) if told else ""


@pytest.mark.parametrize(
    "keys",
    [("Control_L", "s"), ("Control_L", "Shift_L", "Alt_L", "F4"), ("Super_L",), ("Return",), ("Alt_L", "j", "x")],
)
def test_a_chord_is_pressed_in_order_and_released_in_reverse(rig: Rig, keys: tuple[str, ...]) -> None:
    with rig.listener() as listener:
        rig.act("press", keys=keys)
        assert listener.keys() == down_and_up(*keys)


@pytest.mark.parametrize(
    ("keys", "pressed"),
    [
        (("ctrl", "+"), ("Control_L", "Shift_L", "=")),
        (("A",), ("Shift_L", "a")),
        (("shift", "A"), ("Shift_L", "a")),
        (("<",), ("Shift_L", ",")),
        (("ctrl", "shift", ":"), ("Control_L", "Shift_L", ";")),
    ],
)
def test_a_shifted_character_in_a_chord_brings_shift_with_it_once(
    rig: Rig, keys: tuple[str, ...], pressed: tuple[str, ...]
) -> None:
    with rig.listener() as listener:
        rig.act("press", keys=keys)
        assert listener.keys() == down_and_up(*pressed)


@pytest.mark.parametrize("key", ["F20", "é", "漢", "😀"])
def test_a_key_that_the_layout_lacks_can_be_pressed_in_a_chord(rig: Rig, key: str) -> None:
    with rig.listener() as listener:
        rig.act("press", keys=["ctrl", key])
        assert listener.keys() == down_and_up("Control_L", key)


@pytest.mark.parametrize("name", names())
def test_every_named_key_sends_its_own_keysym(rig: Rig, name: str) -> None:
    with rig.listener() as listener:
        rig.act("press", keys=[name])
        assert listener.keys() == down_and_up(name)
        for alias in aliases(name):
            rig.act("press", keys=[alias])
            assert listener.keys() == down_and_up(name), alias


@pytest.mark.parametrize("num_lock", [False, True])
def test_the_number_pads_digits_are_digits_whatever_num_lock_says(rig: Rig, num_lock: bool) -> None:
    rig.tk(ENTRY)
    if num_lock:
        rig.act("press", keys=["numlock"])
    for digit in range(10):
        rig.act("press", keys=[f"KP_{digit}"])
    rig.until(lambda: written(rig) == "0123456789", f"the digits, not {written(rig)!r}")


def test_a_held_key_stays_down_until_it_is_let_go(rig: Rig) -> None:
    with rig.listener() as listener:
        rig.act("key_down", key="shift")
        rig.act("click", x=5, y=5)
        rig.act("key_up", key="shift")
        events = listener.heard()
    assert [e.type for e in events if e.type != X.MotionNotify] == [
        X.KeyPress, X.ButtonPress, X.ButtonRelease, X.KeyRelease,
    ]  # fmt: skip
    assert rig.input.keyboard.held() == []


def test_a_held_capital_is_let_go_with_its_shift(rig: Rig) -> None:
    with rig.listener() as listener:
        rig.act("key_down", key="A")
        rig.act("key_up", key="A")
        assert listener.keys() == down_and_up("Shift_L", "a")


def test_a_key_is_held_for_its_time_even_when_it_is_interrupted(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    with rig.listener() as listener:
        rig.act("press", keys=["ctrl", "x"], hold_s=0.2)
        presses = [e for e in listener.heard() if e.type in (X.KeyPress, X.KeyRelease)]
        assert presses[-1].time - presses[1].time >= 190
        monkeypatch.setattr("envs.desktop.keyboard.time.sleep", interrupted)
        with pytest.raises(KeyboardInterrupt):
            rig.act("press", keys=["ctrl", "x"], hold_s=5)
        assert listener.keys() == down_and_up("Control_L", "x")


def test_text_keeps_its_case_with_caps_lock_on_and_the_lock_stays(rig: Rig) -> None:
    rig.tk(ENTRY)
    rig.act("press", keys=["capslock"])
    rig.act("type", text="Case é É ñ Ñ abc ABC")
    rig.until(lambda: written(rig) == "Case é É ñ Ñ abc ABC", f"the text as it is, not {written(rig)!r}")
    assert rig.display.screen().root.query_pointer().mask & X.LockMask


def test_more_strange_characters_than_spare_keys_are_typed_in_turns(rig: Rig) -> None:
    rig.tk(ENTRY)
    text = "".join(chr(0x4E00 + i) for i in range(300)) + "".join(chr(0x4E00 + i) for i in range(0, 300, 3))
    rig.act("type", text=text)
    rig.until(lambda: len(written(rig)) >= len(text), "all characters")
    assert written(rig) == text


def test_a_program_that_takes_no_pings_and_is_slow_gets_every_character(rig: Rig) -> None:
    rig.tk(ENTRY + SLOW)
    text = "".join(chr(0x4E00 + i) for i in range(300))
    rig.act("type", text=text)
    rig.until(lambda: len(written(rig)) >= len(text), "all characters", 60)
    assert written(rig) == text


def test_a_change_of_layout_is_followed(rig: Rig) -> None:
    rig.tk(ENTRY)
    assert rig.desktop.run(["setxkbmap", "de"]).code == 0
    try:
        rig.act("type", text="zyZY<>|@#ß ñ")
        rig.until(lambda: written(rig) == "zyZY<>|@#ß ñ", f"the text as it is, not {written(rig)!r}")
    finally:
        rig.desktop.run(["setxkbmap", "us"])


@pytest.mark.parametrize("text", ["bell \x07", "half \ud83d", "\x1b"])
def test_what_no_key_types_is_refused_before_anything_is_typed(rig: Rig, text: str) -> None:
    with rig.listener() as listener:
        with pytest.raises(ValueError, match="valid are printable characters"):
            rig.input.keyboard.type(text)
        assert listener.keys() == []


def test_every_kind_of_line_end_is_one_return(rig: Rig) -> None:
    rig.tk(ENTRY)
    rig.act("type", text="a\nb\r\nc\rd\te")
    rig.until(lambda: written(rig) == "a\nb\nc\nd\te", f"four lines, not {written(rig)!r}")
