"""What native widgets do: lists, dates, file choosers, downloads; all from pixels."""

from __future__ import annotations

import pytest

from envs.browser.env import BrowserEnv
from guiforge.action import ChooseFiles, Click, Move, Press, Scroll, TypeText
from guiforge.task import PutFile
from tests.browser.rig import Site, at, log, value

NOTE = PutFile(path="~/Documents/note.txt", data=b"a note")
OTHER = PutFile(path="~/other.txt", data=b"another")
ROW_PX = 19


def test_a_list_shows_its_options_and_takes_the_one_clicked(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("form.html"))
    box = env.oracle_view().wait_for("#fruit")
    x, y = box.center
    closed = env.step(Move(x=x, y=y)).frame
    opened = env.step(Click(x=x, y=y)).frame
    below = slice(box.y + box.height, box.y + box.height + 4 * ROW_PX)
    assert (closed.pixels[below, box.x : box.x + 60] != opened.pixels[below, box.x : box.x + 60]).any()
    env.step(Click(x=x, y=box.y + box.height + round(3.5 * ROW_PX)))  # Apple, Banana, the label Citrus, Lemon
    assert value(env, "#fruit") == "l"
    assert log(env) == ["fruit input l", "fruit change l"]
    settled = env.step(Move(x=x, y=y)).frame
    assert (settled.pixels[below, box.x : box.x + 60] == closed.pixels[below, box.x : box.x + 60]).all()


def test_a_disabled_option_is_not_taken_and_a_click_elsewhere_closes_the_list(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("form.html"))
    box = env.oracle_view().wait_for("#fruit")
    env.step(Click(x=box.center[0], y=box.center[1]))
    env.step(Click(x=box.center[0], y=box.y + box.height + round(1.5 * ROW_PX)))
    env.step(Click(x=700, y=500))
    assert value(env, "#fruit") == "Apple" and log(env) == []
    assert env.oracle_view().evaluate("document.querySelector('select-popup')") is None


def test_a_long_list_scrolls_under_the_wheel_and_the_keyboard_finds(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("form.html"))
    box = env.oracle_view().wait_for("#long")
    point = {"x": box.center[0], "y": box.y + box.height + 50}
    env.step(Click(x=box.center[0], y=box.center[1]), Scroll(**point, dy=2000, unit="pixel"), Click(**point))
    assert int(value(env, "#long").removeprefix("Choice ")) > 60
    env.step(Click(x=box.center[0], y=box.center[1]), Press(keys=("Home",)), Press(keys=("Down",)))
    env.step(Press(keys=("Return",)))
    assert value(env, "#long") == "Choice 1"
    env.step(Press(keys=("space",)), Press(keys=("End",)), Press(keys=("Escape",)))
    assert value(env, "#long") == "Choice 1"


def test_a_list_in_a_frame_works(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("form.html"))
    box = env.oracle_view().wait_for("#innerselect")
    env.step(Click(x=box.center[0], y=box.center[1]))
    env.step(Click(x=box.center[0], y=box.y + box.height + round(1.5 * ROW_PX)))
    inside = "document.getElementById('frame').contentDocument.getElementById('innerselect').value"
    assert env.oracle_view().evaluate(inside) == "Two"


def test_a_date_is_typed_and_a_click_on_its_picker_does_no_harm(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("form.html"))
    box = env.oracle_view().wait_for("#date")
    env.step(Click(x=box.x + box.width - 14, y=box.center[1]))
    env.step(Click(x=box.x + 12, y=box.center[1]), TypeText(text="02291996"))
    assert value(env, "#date") == "1996-02-29"
    env.step(Click(**at(env, "#text")), TypeText(text="on"))
    assert value(env, "#text") == "on"


def test_a_file_chooser_is_told_of_and_given_the_task_s_files(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("form.html", setup=(NOTE, OTHER)))
    opened = env.step(Click(**at(env, "#file")))
    assert opened.info["file_chooser"] and "file chooser is open" in opened.text
    wrong = env.step(ChooseFiles(paths=("~/missing.txt",)))
    assert wrong.error is not None and "valid are: ~/Documents/note.txt, ~/other.txt" in wrong.error
    done = env.step(ChooseFiles(paths=("~/Documents/note.txt", "~/other.txt")))
    assert done.error is None and not done.info["file_chooser"]
    env.oracle_view().wait_until(lambda: len(log(env)) == 2, "the page read the files")
    assert log(env) == ["file note.txt a note", "file other.txt another"]
    none = env.step(ChooseFiles(paths=("~/other.txt",)))
    assert none.error is not None and "no file chooser is open" in none.error


def test_a_download_is_in_the_final_state(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("buttons.html", setup=(NOTE,)))
    assert env.step(Click(**at(env, "#download"))).error is None
    snapshot, blobs = env.snapshot()
    assert blobs[snapshot.after["~/Downloads/report.csv"].hash] == b"a,b\n"
    assert set(snapshot.before) == {"~/Documents/note.txt"}
    assert snapshot.queries["url"] == site.url("buttons.html")
    env.reset(site.task("buttons.html"))
    assert env.snapshot()[0].after == {}


@pytest.mark.parametrize("path", ["/etc/passwd", "~/../../etc/passwd", "~/link"])
def test_a_file_chooser_gives_nothing_but_files_of_the_task(env: BrowserEnv, site: Site, path: str) -> None:
    env.reset(site.task("form.html", setup=(NOTE,)))
    (env._playing().home.root / "link").symlink_to("/etc/passwd")
    env.step(Click(**at(env, "#file")))
    observation = env.step(ChooseFiles(paths=(path,)))
    assert observation.error is not None and "no file" in observation.error


def test_a_list_in_a_modal_dialog_under_a_strict_policy_works(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("strict.html"))
    env.oracle_view().evaluate("document.querySelector('dialog').showModal()")
    box = env.oracle_view().wait_for("#modal")
    opened = env.step(Click(x=box.center[0], y=box.center[1])).frame
    row = opened.pixels[box.y + box.height + ROW_PX // 2, box.x + box.width - 5]
    assert tuple(row) == (0x19, 0x67, 0xD2)  # the chosen one is marked
    env.step(Click(x=box.center[0], y=box.y + box.height + round(2.5 * ROW_PX)))
    assert value(env, "#modal") == "Three"
