"""The kimi dialect: where its coordinates lie, what ends an episode, and which part of a reply is code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guiforge.action import (
    DESKTOP_KINDS,
    Action,
    Answer,
    Click,
    Done,
    Drag,
    Infeasible,
    Move,
    Press,
    Scroll,
    TypeText,
    Wait,
    parse,
)
from guiforge.dialects import DialectError
from guiforge.dialects.kimi import Kimi
from guiforge.frame import Size
from tests.dialects.strategies import SCREENS, TEXTS, points, replies

SCREEN = (1920, 1080)
PLAIN, THINKING = Kimi(), Kimi(thinking=True)


def reply(code: str, thought: str = "Seen.", action: str = "Click.") -> str:
    return f"## Thought\n{thought}\n## Action:\n{action}\n## Code:\n```python\n{code}\n```"


def read(code: str, screen: Size = SCREEN) -> tuple[Action, ...]:
    return PLAIN.parse(reply(code), screen).actions


def test_a_reply_has_a_thought_a_sentence_and_code() -> None:
    parsed = PLAIN.parse(reply("pyautogui.click(x=0.42, y=0.13)", "I see\na button.", "Click it."), SCREEN)
    assert parsed.actions == (Click(x=806, y=140),)
    assert (parsed.thought, parsed.summary) == ("I see\na button.", "Click it.")


@pytest.mark.parametrize(
    "text",
    [
        "I see it.\n## Action:\nClick.\n## Code:\n```python\ncomputer.wait()\n```",
        "◁think▷I see it.◁/think▷## Action:\nClick.\n## Code:\n```python\ncomputer.wait()\n```",
        "<think>\nI see it.\n</think>\n## Action:\nClick.\n## Code:\n```python\ncomputer.wait()\n```\nBye.",
        "◁think▷I see it.◁/think▷### action : Click.\n```\ncomputer.wait()\n```",
        "## Thought: I see it.\n## Action: Click.\n## Code: \n```python\ncomputer.wait()\n```",
    ],
)
def test_the_thought_may_come_first_without_a_heading(text: str) -> None:
    parsed = THINKING.parse(text, SCREEN)
    assert (parsed.thought, parsed.summary, parsed.actions) == ("I see it.", "Click.", (Wait(seconds=20),))


def test_a_format_quoted_in_the_thinking_is_not_the_reply() -> None:
    thought = "The form is\n## Action:\nx\n## Code:\n```python\npyautogui.press('a')\n```\nso"
    parsed = THINKING.parse(
        f"◁think▷{thought}◁/think▷## Action:\nWait.\n## Code:\n```python\ncomputer.wait()\n```", SCREEN
    )
    assert (parsed.thought, parsed.summary, parsed.actions) == (thought, "Wait.", (Wait(seconds=20),))


def test_the_last_fenced_block_counts() -> None:
    text = "```python\npyautogui.press('a')\n```\n" + reply("pyautogui.press('b')") + "\nThat is all."
    parsed = PLAIN.parse(text, SCREEN)
    assert (parsed.actions, parsed.thought, parsed.summary) == ((Press(keys=("b",)),), "Seen.", "Click.")


def test_one_is_the_last_pixel() -> None:
    assert read("pyautogui.click(1, 1)") == (Click(x=1919, y=1079),)
    assert read("pyautogui.click(1.0, 0)") == (Click(x=1919, y=0),)


def test_above_one_are_pixels() -> None:
    assert read("pyautogui.click(100, 1079)") == (Click(x=100, y=1079),)


@pytest.mark.parametrize(("code", "at"), [("-0.1, 0.5", (-192, 540)), ("2500, 0.5", (2500, 540))])
def test_places_off_the_screen_are_left_to_the_env(code: str, at: tuple[int, int]) -> None:
    assert read(f"pyautogui.click({code})") == (Click(x=at[0], y=at[1]),)


def test_success_with_an_answer_about_failing_is_a_success() -> None:
    code = 'computer.terminate(status="success", answer="The build failed with status=\\"failure\\".")'
    assert read(code) == (Answer(text='The build failed with status="failure".'),)


@pytest.mark.parametrize(
    ("code", "end"),
    [
        ("computer.terminate(status='success')", Done()),
        ("computer.terminate(status='success', answer='')", Done()),
        ("computer.terminate('success', None)", Done()),
        ("computer.terminate(status='failure', answer='no such menu')", Infeasible(reason="no such menu")),
        ("computer.terminate(status='failure')", Infeasible()),
    ],
)
def test_terminate_ends_by_its_status(code: str, end: Action) -> None:
    assert read(code) == (end,)


def test_a_parenthesis_in_typed_text_does_not_end_the_call() -> None:
    assert read("pyautogui.write('=SUM(A1:A3)')\npyautogui.press('enter')") == (
        TypeText(text="=SUM(A1:A3)"),
        Press(keys=("Return",)),
    )


@pytest.mark.parametrize("text", ["computer.wait()", 'computer.terminate(status="success")', "```", "## Code:", "DONE"])
def test_typed_text_is_text_whatever_it_says(text: str) -> None:
    assert read(f"pyautogui.write({text!r})") == (TypeText(text=text),)


def test_drag_keeps_its_keywords() -> None:
    assert read("pyautogui.dragTo(0.5, 0.5, duration=1, button='left')") == (Drag(path=((960, 540),), duration_s=1),)


def test_scroll_keeps_its_amount() -> None:
    assert read("pyautogui.scroll(-5, x=0.5, y=0.5)") == (Scroll(x=960, y=540, dy=5),)


def test_arithmetic_is_a_number() -> None:
    assert read("pyautogui.click(x=(0.1+0.2)/2, y=0.5)") == (Click(x=288, y=540),)


def test_relative_fractions_are_parts_of_the_frame() -> None:
    parsed = PLAIN.parse(reply("pyautogui.moveRel(0.1, -10)"), SCREEN, cursor=(100, 100))
    assert parsed.actions == (Move(x=292, y=90),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no finished code block"),
        ("## Thought\nHm.", "no finished code block"),
        ("```python\npyautogui.press('a')", "no finished code block"),
        ("```python\npyautogui.press('a')\n```\n```python\npyautogui.press('b')", "no finished code block"),
        (reply(""), "no action"),
        (reply("computer.terminate()"), "valid are: success, failure"),
        (reply("computer.terminate(status='done')"), "valid are: success, failure"),
        (reply("computer.terminate(status='success', answer=5)"), "answer must be a text"),
        (reply("computer.terminate(status='success')\npyautogui.press('a')"), "must come last"),
        (reply("computer.reboot()"), "unknown call 'computer.reboot'; valid are"),
        (reply("computer.wait(5)"), "at most 0 arguments"),
        (reply("DONE"), "only calls are read"),
    ],
)
def test_a_reply_out_of_form_is_refused_saying_why(text: str, said: str) -> None:
    with pytest.raises(DialectError, match=said):
        PLAIN.parse(text, SCREEN)


@given(st.text())
def test_any_text_is_actions_or_a_dialect_error(text: str) -> None:
    for whole in (text, reply(text)):
        try:
            assert PLAIN.parse(whole, SCREEN).actions
        except DialectError as error:
            assert str(error)


@pytest.mark.parametrize("side", [1, 2, 3, 160, 1080, 1920, 2160, 3840, 4320, 7680, 8192, 20_000])
def test_every_pixel_of_an_axis_comes_back(side: int) -> None:
    step = max(1, side // 2000)
    for x in {*range(0, side, step), side - 1}:
        assert PLAIN.parse(PLAIN.render([Move(x=x, y=0)], (side, 1)), (side, 1)).actions == (Move(x=x, y=0),)


@given(st.data())
def test_pixels_come_back_on_any_screen(data: st.DataObject) -> None:
    screen = data.draw(SCREENS)
    x, y = data.draw(points(screen))
    assert PLAIN.parse(PLAIN.render([Click(x=x, y=y)], screen), screen).actions == (Click(x=x, y=y),)


@given(TEXTS, st.booleans())
def test_texts_come_back_exactly(text: str, thinking: bool) -> None:
    kimi = Kimi(thinking)
    for action in (TypeText(text=text), Answer(text=f"a{text}"), Infeasible(reason=text)):
        assert kimi.parse(kimi.render([action], SCREEN), SCREEN).actions == (action,)


@given(replies(), st.booleans())
def test_what_is_rendered_parses_to_the_same_spelled_out(case: tuple[Size, tuple[Action, ...]], thinking: bool) -> None:
    kimi, (screen, actions) = Kimi(thinking), case
    meant = kimi.normal(actions)
    parsed = kimi.parse(kimi.render(actions, screen, thought="Well.", summary="So."), screen)
    assert (parsed.actions, parsed.thought, parsed.summary) == (meant, "Well.", "So.")
    assert kimi.normal(meant) == meant


def test_a_click_with_modifiers_is_spelled_out() -> None:
    code = PLAIN.render([Click(x=0, y=0, modifiers=("ctrl", "shift"))], (4, 4))
    assert "\npyautogui.keyDown('ctrl')\npyautogui.keyDown('shift')\npyautogui.click(x=0.0000, y=0.0000)\n" in code
    assert code.endswith("\npyautogui.keyUp('shift')\npyautogui.keyUp('ctrl')\n```")


def test_every_kind_of_the_desktop_can_be_said() -> None:
    samples: dict[str, dict[str, object]] = {
        "move": {"x": 1, "y": 1}, "drag": {"path": [(1, 1)]}, "type": {"text": "a"}, "press": {"keys": ["a"]},
        "key_down": {"key": "a"}, "key_up": {"key": "a"}, "answer": {"text": "a"},
    }  # fmt: skip
    for kind in DESKTOP_KINDS:
        action = parse({"kind": kind, **samples.get(kind, {})})
        assert PLAIN.parse(PLAIN.render([action], SCREEN), SCREEN).actions == (action,)


@pytest.mark.parametrize("action", [Move(x=1920, y=0), Click(x=0, y=-1), Drag(path=((0, 0), (0, 1080)))])
def test_a_place_off_the_screen_has_no_fraction_and_is_refused(action: Action) -> None:
    with pytest.raises(DialectError, match=r"off the screen of 1920x1080"):
        PLAIN.render([action], SCREEN)


def test_a_scroll_in_pixels_is_refused_by_name() -> None:
    with pytest.raises(DialectError, match="kimi can't say scroll: pixels"):
        PLAIN.render([Scroll(dy=120, unit="pixel")], SCREEN)
