"""The screen's pixels, the pointer in them, and when they have settled."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from Xlib import X

from envs.desktop.capture import Screen
from envs.desktop.desktop import Desktop
from tests.desktop.rig import Rig

pytestmark = pytest.mark.desktop


@pytest.fixture(scope="module")
def desktop() -> Iterator[Rig]:
    rig = Rig(Desktop.start((640, 480)))
    yield rig
    rig.close()


@pytest.fixture
def rig(desktop: Rig) -> Iterator[Rig]:
    yield desktop
    desktop.clear()


def test_a_frame_holds_the_pixels_that_the_x_server_gives(rig: Rig) -> None:
    rig.tk("tkinter.Label(root, text='pixels', bg='orange', width=30, height=10).pack()")
    rig.act("move", x=630, y=470)
    frame = rig.screen.settle()
    reply = rig.display.screen().root.get_image(0, 0, 600, 440, X.ZPixmap, 0xFFFFFFFF)
    given = np.frombuffer(reply.data, np.uint8).reshape(440, 600, 4)[:, :, 2::-1]
    assert frame.size == (640, 480)
    assert len(np.unique(given.reshape(-1, 3), axis=0)) > 10, "something is drawn"
    np.testing.assert_array_equal(frame.pixels[:440, :600], given)


@pytest.mark.parametrize("point", [(200, 150), (0, 0), (639, 479)])
def test_the_pointers_image_is_in_the_frame_at_its_hotspot(rig: Rig, point: tuple[int, int]) -> None:
    rig.act("move", x=point[0], y=point[1])
    frame = rig.screen.settle()
    rig.display.xfixes_query_version()
    cursor = rig.display.xfixes_get_cursor_image(rig.display.screen().root)
    image = np.array(cursor.cursor_image, np.uint32).reshape(cursor.height, cursor.width)
    opaque = 0
    for row, line in enumerate(image):
        for column, argb in enumerate(line):
            x, y = point[0] - cursor.xhot + column, point[1] - cursor.yhot + row
            if argb >> 24 == 255 and 0 <= x < 640 and 0 <= y < 480:
                opaque += 1
                assert tuple(frame.pixels[y, x]) == (argb >> 16 & 255, argb >> 8 & 255, argb & 255), (x, y)
    assert opaque > 0
    assert frame.cursor == point


def test_settling_outlasts_changes_that_come_one_after_the_other(rig: Rig) -> None:
    rig.tk("""
        label = tkinter.Label(root, text='0', width=20, height=5); label.pack()
        def count(n):
            label['text'] = str(n)
            if n < 10: root.after(30, count, n + 1)
            else: label['bg'] = 'red'
        root.bind('<Button-1>', lambda event: count(1))
    """)
    window = rig.windows.find("tk under test")[0]
    rig.act("click", x=window.center[0], y=window.center[1])
    frame = rig.screen.settle()
    assert frame.settled
    assert tuple(frame.pixels[window.y + 3, window.x + 3]) == (255, 0, 0)


def test_a_screen_that_never_rests_is_given_unsettled_at_the_deadline(rig: Rig) -> None:
    rig.tk("""
        label = tkinter.Label(root, width=20, height=5); label.pack()
        def blink(): label['bg'] = 'red' if label['bg'] != 'red' else 'blue'; root.after(20, blink)
        blink()
    """)
    assert not rig.screen.settle(deadline_s=0.5).settled
    assert not rig.screen.grab().settled, "nobody watched it"


def test_a_frame_stays_as_it_was_when_the_screen_changes(rig: Rig) -> None:
    before = rig.screen.settle()
    rig.act("move", x=100, y=100)
    after = rig.screen.settle()
    assert not after.same_pixels(before)
    assert after.fingerprint != before.fingerprint


def test_a_file_that_is_no_framebuffer_is_refused(rig: Rig, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"P6 " + bytes(200))
    with pytest.raises(ValueError, match="no XWD 7 image in BGRX"):
        Screen(tmp_path / "other", rig.display)
