"""What toolkits make of the mouse: double and triple clicks, drag and drop."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from envs.desktop import clipboard
from envs.desktop.a11y import Node
from envs.desktop.desktop import Desktop
from tests.desktop.rig import Rig

pytestmark = pytest.mark.desktop

LINE = "first second third"
DRAG = """<!DOCTYPE html><title>to drag</title>
<style>div { width: 150px; height: 100px; margin: 40px; float: left; background: silver }</style>
<div id=from draggable=true role=button aria-label=source>source</div>
<div id=to role=button aria-label=target>target</div>
<script>
const heard = [], to = document.getElementById('to'), from = document.getElementById('from')
from.ondragstart = event => { event.dataTransfer.setData('text/plain', 'carried'); heard.push('start') }
to.ondragenter = event => { event.preventDefault(); heard.push('enter') }
to.ondragover = event => { event.preventDefault(); heard.push('over') }
to.ondrop = event => { event.preventDefault(); heard.push('drop ' + event.dataTransfer.getData('text/plain')) }
from.ondragend = event => {
  heard.push('end ' + event.dataTransfer.dropEffect)
  document.title = heard.filter((what, i) => what != heard[i - 1]).join(', ')
}
</script>"""


@pytest.fixture
def rig() -> Iterator[Rig]:
    rig = Rig(Desktop.start((1280, 720)))
    yield rig
    assert rig.input.keyboard.held() == []
    rig.close()


def shown(rig: Rig, role: str, name: str | None = None) -> Node:
    """A widget, once it shows."""
    found: Node = rig.until(lambda: next(iter(rig.accessibility.find(role, name)), None), f"{role} {name}", 60)
    return found


def selected_by(rig: Rig, point: tuple[int, int], count: int, expected: str) -> str:
    """What is selected after so many clicks, as it is copied, once it is what is expected or it is late."""
    held = clipboard.write(rig.desktop.display, rig.desktop.cookie, "")
    rig.act("click", x=point[0], y=point[1], count=count)
    rig.act("press", keys=["ctrl", "c"])
    rig.screen.settle()
    deadline = time.monotonic() + 10
    try:
        while (copied := clipboard.read(rig.display).strip()) != expected and time.monotonic() < deadline:
            time.sleep(0.05)
        return copied
    finally:
        held.close()


def test_gtk_takes_two_clicks_for_a_word_and_three_for_a_line(rig: Rig) -> None:
    rig.launch("editor", rig.file("line.txt", LINE.encode() + b"\n"), window="(?i)mousepad")
    text = shown(rig, "text")
    point = (text.x + 25, text.y + 10)
    assert selected_by(rig, point, 1, "") == ""
    assert selected_by(rig, point, 2, "first") == "first"
    assert selected_by(rig, point, 3, LINE) == LINE


def test_libreoffice_takes_two_clicks_for_a_word_and_three_for_a_sentence(rig: Rig) -> None:
    rig.launch("writer", rig.file("line.txt", LINE.encode() + b"\n"), window="line.txt")
    text = shown(rig, "paragraph")
    point = (text.x + 15, text.y + 8)
    assert selected_by(rig, point, 1, "") == ""
    assert selected_by(rig, point, 2, "first") == "first"
    assert selected_by(rig, point, 3, LINE) == LINE


def test_chromium_takes_two_clicks_for_a_word_and_three_for_a_paragraph(rig: Rig) -> None:
    page = f"<!DOCTYPE html><title>to select</title><p role=button aria-label=line>{LINE}</p>"
    rig.launch("chromium", rig.file("page.html", page.encode()), window="to select")
    line = shown(rig, "push button", "line")
    point = (line.x + 10, line.center[1])
    assert selected_by(rig, point, 1, "") == ""
    assert selected_by(rig, point, 2, "first") == "first"
    assert selected_by(rig, point, 3, LINE) == LINE


def test_a_drag_in_a_page_goes_over_its_target_and_drops_what_it_carries(rig: Rig) -> None:
    rig.launch("chromium", rig.file("page.html", DRAG.encode()), window="to drag")
    source, target = (shown(rig, "push button", name) for name in ("source", "target"))
    rig.act("drag", path=[source.center, target.center])
    assert rig.windows.wait("end", timeout_s=10)
    title = rig.windows.list()[0].title
    assert title.startswith("start, enter, over, drop carried, end "), title


def test_a_drag_selects_text_in_gtk(rig: Rig) -> None:
    rig.launch("editor", rig.file("line.txt", LINE.encode() + b"\n"), window="(?i)mousepad")
    text = shown(rig, "text")
    rig.act("drag", path=[(text.x + 300, text.y + 10), (text.x + 1, text.y + 10)])
    rig.act("press", keys=["ctrl", "c"])
    rig.until(lambda: clipboard.read(rig.display) == LINE, "the whole line")
