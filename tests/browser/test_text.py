"""What is said beside the frame for those who ask: the accessibility tree, and numbered marks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from envs.browser.env import BrowserEnv
from envs.browser.marks import listed
from guiforge.action import AnswerDialog, Click, TypeText
from tests.browser.rig import Site, at, value


@pytest.fixture(scope="module")
def tree() -> Iterator[BrowserEnv]:
    env = BrowserEnv(text="accessibility")
    yield env
    env.close()


@pytest.fixture(scope="module")
def marked() -> Iterator[BrowserEnv]:
    env = BrowserEnv(text="marks")
    yield env
    env.close()


def test_the_tree_names_roles_values_states_and_places_frames_and_shadow_roots_included(
    tree: BrowserEnv, site: Site
) -> None:
    tree.reset(site.task("form.html"))
    tree.step(Click(**at(tree, "#shadow")), TypeText(text="shade"))
    inner = at(tree, "#inner")
    text = tree.step(Click(**inner), TypeText(text="inside")).text
    lines = [line.strip() for line in text.splitlines()]
    assert text.startswith(f"Page 0: Form | {site.url('form.html')}\n\n")
    assert 'option "Banana" disabled' in lines and 'option "Apple" selected' in lines
    assert any(line.startswith('combobox value="Apple" expanded=false') for line in lines)
    (inside,) = (line for line in lines if 'value="inside"' in line)
    box = tree.oracle_view().wait_for("#inner")
    assert inside == f'textbox value="inside" focused at ({box.x}, {box.y}) {box.width}x{box.height}'
    assert any(line.startswith('textbox value="shade" at') for line in lines)
    assert any(line.startswith("editable at") for line in lines)


def test_the_tree_tells_what_is_off_the_screen(tree: BrowserEnv, site: Site) -> None:
    tree.reset(site.task("buttons.html"))
    tree.oracle_view().evaluate("document.getElementById('pad').style.marginTop = '2000px'")
    lines = tree.step().text.splitlines()
    assert any('link "Download" at' in line for line in lines)
    assert any('"pad"' in line and line.endswith("offscreen") for line in lines)


def test_marks_number_what_can_be_acted_on_and_are_drawn_on_the_frame(
    marked: BrowserEnv, env: BrowserEnv, site: Site
) -> None:
    plain = env.reset(site.task("buttons.html")).frame
    first = marked.reset(site.task("buttons.html"))
    lines = first.text.splitlines()[2:]
    assert lines[0] == '[0] <button> "Press me" at (68, 28)'
    assert [line.partition('"')[2].partition('"')[0] for line in lines] == [
        "Press me", "Next page", "In a new tab", "Open a window", "Download", "pad",
    ]  # fmt: skip
    for mark in first.info["marks"]:
        assert tuple(first.frame.pixels[mark["y"] + mark["height"] - 1, mark["x"] + mark["width"] // 2]) != tuple(
            plain.pixels[mark["y"] + mark["height"] - 1, mark["x"] + mark["width"] // 2]
        )
    assert first.frame.cursor == plain.cursor and first.frame.settled
    assert marked.oracle_view().frame().same_pixels(plain)  # nothing of it is on the page


def test_a_mark_s_middle_is_where_to_click(marked: BrowserEnv, site: Site) -> None:
    first = marked.reset(site.task("form.html"))
    (inner,) = (mark for mark in first.info["marks"] if mark["tag"] == "input" and mark["y"] > 230 and mark["y"] < 340)
    x, y = inner["x"] + inner["width"] // 2, inner["y"] + inner["height"] // 2
    after = marked.step(Click(x=x, y=y), TypeText(text="in"))
    assert '<input text> value="in"' in after.text
    marked.step(Click(**at(marked, "#text")), TypeText(text="a"))
    assert value(marked, "#text") == "a"


def test_what_is_covered_or_hidden_has_no_mark(marked: BrowserEnv, site: Site) -> None:
    marked.reset(site.task("buttons.html"))
    cover = """document.body.insertAdjacentHTML('beforeend',
        '<div style="position: fixed; inset: 0 0 auto 0; height: 45px; background: red"></div>')"""
    marked.oracle_view().evaluate(cover)
    marked.oracle_view().evaluate("document.getElementById('pad').style.opacity = '0'")
    assert "[0]" not in marked.step().text


@pytest.mark.parametrize("text", ["accessibility", "marks"])
def test_a_page_that_a_dialog_holds_back_has_no_text_but_its_own(site: Site, text: str) -> None:
    env = BrowserEnv(text=text)  # type: ignore[arg-type]
    try:
        env.reset(site.task("dialogs.html"))
        opened = env.step(Click(**at(env, "#confirm")))
        assert opened.text.endswith("A confirm dialog is open: 'Sure?'")
        assert "\n\n" not in opened.text and "\n\n" in env.step(AnswerDialog()).text
    finally:
        env.close()


def test_a_page_that_does_not_answer_is_told_of(marked: BrowserEnv, site: Site) -> None:
    marked.reset(site.task("hostile.html"))
    observation = marked.step(Click(**at(marked, "#block")))
    assert "The page can't be read now" in observation.text and observation.error is not None


def test_an_empty_list_is_empty_and_another_text_is_refused() -> None:
    assert listed([]) == ""
    with pytest.raises(ValueError, match="text 'html'; valid are page, accessibility, marks"):
        BrowserEnv(text="html")  # type: ignore[arg-type]
