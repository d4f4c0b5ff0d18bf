"""Windows: found, waited for, brought to front, enlarged, closed; and the clipboard between them."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from Xlib import X

from envs.desktop import clipboard, x11
from envs.desktop.desktop import Desktop
from envs.desktop.windows import WindowTimeout
from tests.desktop.rig import Rig

pytestmark = pytest.mark.desktop


@pytest.fixture(scope="module")
def desktop() -> Iterator[Rig]:
    rig = Rig(Desktop.start((800, 600)))
    yield rig
    rig.close()


@pytest.fixture
def rig(desktop: Rig) -> Iterator[Rig]:
    yield desktop
    desktop.clear()


def test_a_window_is_described_where_it_is(rig: Rig) -> None:
    window = rig.tk("root.title('Größe 漢字 tk under test'); root.geometry('300x200+100+150')")
    assert (window.title, window.wm_class) == ("Größe 漢字 tk under test", "tk.Tk")
    assert (window.width, window.height, window.active) == (300, 200, True)
    frame = rig.screen.settle()
    assert len({tuple(frame.pixels[y, x]) for x in (window.x, window.x + 299) for y in (window.y, window.y + 199)}) == 1
    assert tuple(frame.pixels[window.center[1], window.center[0]]) == tuple(frame.pixels[window.y, window.x])


def test_a_wait_ends_when_the_window_comes_and_when_it_goes(rig: Rig) -> None:
    window = rig.tk("root.bind('<Button-1>', lambda event: tkinter.Toplevel(root).title('second window'))")
    rig.act("click", x=window.center[0], y=window.center[1])
    second = rig.windows.wait("second window", timeout_s=10)
    assert second is not None
    rig.windows.close(second)
    assert rig.windows.wait("second window", gone=True, timeout_s=10) is None
    assert [w.id for w in rig.windows.list()] == [window.id]


def test_a_wait_in_vain_names_the_windows_there_are(rig: Rig) -> None:
    rig.tk("")
    with pytest.raises(
        WindowTimeout, match=r"no window 'Nothing' came within 0.2 s; there are: 'tk under test \(tk.Tk\)'"
    ):
        rig.windows.wait("Nothing", timeout_s=0.2)
    with pytest.raises(WindowTimeout, match="did not go"):
        rig.windows.wait("tk under test", gone=True, timeout_s=0.2)


def test_the_activated_window_gets_the_keys(rig: Rig) -> None:
    rig.tk("root.bind('<Key>', lambda event: tell('first', event.char))")
    first = rig.windows.list()[0]
    rig.desktop.spawn(["xterm"])
    xterm = rig.windows.wait("xterm")
    assert xterm is not None
    rig.windows.activate(xterm)
    rig.windows.activate(first)
    active = rig.windows.active()
    assert active is not None
    assert active.id == first.id
    rig.act("type", text="x")
    rig.until(lambda: ["first", "x"] in rig.told(), "the key in the first window")


def test_a_maximized_window_fills_the_screen(rig: Rig) -> None:
    rig.windows.maximize(rig.tk("root.geometry('200x100')"))
    (window,) = rig.windows.list()
    assert window.width == 800
    assert window.height > 500


def test_menus_are_popups(rig: Rig) -> None:
    window = rig.tk("""
        menu = tkinter.Menu(root, tearoff=0); menu.add_command(label='One')
        root.bind('<Button-3>', lambda event: menu.post(event.x_root, event.y_root)); root.geometry('300x200')
    """)
    before = {w.id for w in rig.windows.popups()}
    rig.act("click", x=window.center[0], y=window.center[1], button="right")
    rig.until(lambda: {w.id for w in rig.windows.popups()} - before, "the menu")
    rig.act("press", keys=["esc"])


def test_acting_on_a_window_that_is_gone_does_nothing(rig: Rig) -> None:
    window = rig.tk("")
    rig.windows.close(window)
    rig.windows.wait("tk under test", gone=True)
    rig.windows.activate(window, timeout_s=0.1)
    rig.windows.maximize(window, timeout_s=0.1)
    rig.windows.close(window)
    assert rig.windows.list() == []


def test_a_wrong_cookie_is_kept_out(rig: Rig) -> None:
    with pytest.raises(x11.DisplayGone, match=rig.desktop.display):
        x11.connect(rig.desktop.display, bytes(16))


@pytest.mark.parametrize("text", ["", "a", "añ漢😀\n\ttab", "x" * 65536, "ñ漢😀" * 120_000], ids=len)
def test_the_clipboard_gives_back_what_was_written_up_to_a_megabyte(rig: Rig, text: str) -> None:
    held = clipboard.write(rig.desktop.display, rig.desktop.cookie, text)
    try:
        assert clipboard.read(rig.display) == text
    finally:
        held.close()
    assert clipboard.read(rig.display) == "", "nothing is left behind"
    assert not [t for t in threading.enumerate() if t.name == "clipboard"]


def test_who_lets_the_clipboard_go_owns_nothing_any_more(rig: Rig) -> None:
    clipboard_atom = rig.display.intern_atom("CLIPBOARD")
    for _ in range(100):
        held = clipboard.write(rig.desktop.display, rig.desktop.cookie, "text")
        assert rig.display.get_selection_owner(clipboard_atom) != X.NONE
        held.close()
        assert rig.display.get_selection_owner(clipboard_atom) == X.NONE


def test_a_text_past_the_bound_is_cut(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    for size in (1000, 1_000_000):  # in one piece, and piece by piece
        monkeypatch.setattr(clipboard, "MAX_BYTES", size // 2)
        held = clipboard.write(rig.desktop.display, rig.desktop.cookie, "x" * size)
        assert clipboard.read(rig.display) == "x" * (size // 2)
        held.close()


def test_what_is_written_can_be_pasted_and_what_is_copied_can_be_read(rig: Rig) -> None:
    rig.launch("editor", window="(?i)mousepad")
    held = clipboard.write(rig.desktop.display, rig.desktop.cookie, "aus der Ablage: 漢字")
    rig.act("press", keys=["ctrl", "v"])
    rig.windows.wait(r"^\*")  # a paste asks its owner first, and what is typed does not wait for the answer
    rig.act("type", text="!")
    rig.act("press", keys=["ctrl", "a"])
    rig.act("press", keys=["ctrl", "c"])
    rig.until(lambda: clipboard.read(rig.display) == "aus der Ablage: 漢字!", "the copied text")
    held.close()
    rig.act("press", keys=["ctrl", "z"])
    rig.desktop.run(["pkill", "mousepad"])
