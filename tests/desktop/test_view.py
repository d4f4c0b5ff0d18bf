"""What oracles get to see: widgets and windows, waited for, at places where a click lands."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from envs.desktop.a11y import Node
from envs.desktop.desktop import Desktop
from envs.desktop.view import DesktopView, OracleStuck
from envs.state import Home, LiveState
from guiforge.env import EnvError
from tests.desktop.rig import Rig

pytestmark = pytest.mark.desktop

PAGE = b"""<!DOCTYPE html><title>a page</title><button onclick="document.title = 'pressed'">Press here</button>
<button hidden>Not here</button>"""


@pytest.fixture
def rig() -> Iterator[Rig]:
    rig = Rig(Desktop.start((1280, 800)))
    yield rig
    rig.close()


@pytest.fixture
def view(rig: Rig) -> DesktopView:
    state = LiveState(Home(rig.desktop.home, rig.desktop.own, 0), {}, {})
    return DesktopView(rig.screen, rig.windows, rig.accessibility, state)


def click(rig: Rig, node: Node) -> None:
    rig.act("click", x=node.center[0], y=node.center[1])


def test_an_editors_menu_is_found_and_clicks_on_it_land(rig: Rig, view: DesktopView) -> None:
    rig.launch("editor", rig.file("a.txt", "Grüße 漢字\n".encode()), window="(?i)mousepad")
    text = view.wait_for("text")
    assert (text.text, "focused" in text.states) == ("Grüße 漢字\n", True)
    assert view.find("menu item", "Select All") is None, "its menu is closed"
    click(rig, view.wait_for("menu", "Edit"))
    click(rig, view.wait_for("menu item", "Select All"))
    rig.act("press", keys=["Delete"])
    view.wait_until(lambda: view.wait_for("text").text == "", "all text deleted")
    rig.act("press", keys=["ctrl", "s"])
    view.wait_until(lambda: view.state.read("~/a.txt") in (b"", b"\n"), "the file saved")


def test_a_spreadsheets_cell_and_a_toggle_button_are_found_and_clicks_on_them_land(rig: Rig, view: DesktopView) -> None:
    rig.launch("calc", window="(?i)calc")
    cell = view.wait_for("table cell", "C4", timeout_s=30)
    assert cell.width > cell.height > 5
    click(rig, cell)
    rig.act("type", text="12.5\n")
    view.wait_until(lambda: view.wait_for("table cell", "C4").text == "12.5", "the number in its cell")
    assert "checked" not in view.wait_for("toggle button", "Bold").states
    (box,) = (n for n in view.find_all("text") if n.text == "C5")
    click(rig, box)
    rig.act("press", keys=["ctrl", "a"])
    rig.act("type", text="C4\n")
    rig.act("type", text="7\n")
    view.wait_until(lambda: view.wait_for("table cell", "C4").text == "7", "another number in the cell of that name")
    click(rig, view.wait_for("toggle button", "Bold"))
    view.wait_until(lambda: "checked" in view.wait_for("toggle button", "Bold").states, "Bold checked")


def test_a_pages_button_is_found_and_a_click_on_it_lands(rig: Rig, view: DesktopView) -> None:
    rig.launch("chromium", rig.file("page.html", PAGE), window="a page")
    button = view.wait_for("push button", "Press .*")
    assert view.find("push button", "Press") is None, "the whole name is matched"
    assert view.find("push button", "Not here") is None, "it is hidden"
    click(rig, button)
    assert view.wait_window("pressed", timeout_s=10).title == "pressed - Chromium"


def test_the_active_windows_application_is_searched_and_another_by_its_name(rig: Rig, view: DesktopView) -> None:
    rig.launch("calculator", window="(?i)galculator")
    rig.launch("editor", rig.file("a.txt"), window="(?i)mousepad")
    assert {node.name for node in view.find_all("frame")} == {"~/a.txt - Mousepad"}
    assert {node.name for node in view.find_all("frame", app="galculator")} == {"galculator"}
    assert view.find("frame", app="nobody") is None
    assert view.find("toggle button", "7") is not None, "the active one has none, the other has"


def test_a_wait_in_vain_says_what_it_waited_for_and_what_there_was(rig: Rig, view: DesktopView) -> None:
    rig.launch("editor", rig.file("a.txt"), window="(?i)mousepad")
    with pytest.raises(OracleStuck, match=r"no menu 'Nothing' within 0\.1 s; windows: '~/a\.txt .*menu 'Edit'"):
        view.wait_for("menu", "Nothing", timeout_s=0.1)
    with pytest.raises(OracleStuck, match=r"no slider '' within 0\.1 s; .*widgets: .*text ''"):
        view.wait_for("slider", timeout_s=0.1)
    with pytest.raises(OracleStuck, match=r"no window 'Nothing' came within 0\.1 s; there are: '~/a\.txt"):
        view.wait_window("Nothing", timeout_s=0.1)
    with pytest.raises(OracleStuck, match=r"did not go within 0\.1 s"):
        view.wait_window("(?i)mousepad", gone=True, timeout_s=0.1)
    with pytest.raises(OracleStuck, match=r"not within 0\.1 s: the moon is blue"):
        view.wait_until(lambda: False, "the moon is blue", timeout_s=0.1)


def test_a_screen_that_never_rests_is_said_to(rig: Rig, view: DesktopView) -> None:
    assert view.wait_settled().size == view.size == (1280, 800)
    rig.tk("""
        label = tkinter.Label(root, width=20, height=5); label.pack()
        def blink(): label['bg'] = 'red' if label['bg'] != 'red' else 'blue'; root.after(20, blink)
        blink()
    """)
    with pytest.raises(OracleStuck, match=r"did not settle within 0\.5 s"):
        view.wait_settled(0.5)


def test_a_killed_agent_is_a_fault_that_names_it_and_the_next_question_gets_a_new_one(
    rig: Rig, view: DesktopView
) -> None:
    rig.launch("editor", rig.file("a.txt"), window="(?i)mousepad")
    assert view.find("text") is not None
    agent = next(p for p in rig.desktop.session.programs if p.name == "accessibility")
    rig.desktop.run(["kill", "-9", str(agent.pid)])
    with pytest.raises(EnvError, match="accessibility"):
        view.find("text")
