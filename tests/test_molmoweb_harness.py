"""MolmoWebHarness against a real HTTP server: its prompts byte by byte."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from PIL import Image

from guiforge.action import Click, Done, Goto, Press, TypeText
from guiforge.env import Observation
from guiforge.frame import Frame
from guiforge.harness import PolicyTimedOut, ReplyRejected
from guiforge.harness.molmoweb import MolmoWebHarness
from tests.endpoint import Answer, says
from tests.played import SIZE, failing, frame, play, url

EXIT = says('{"thought": "", "action": {"name": "send_msg_to_user", "msg": "[EXIT]"}}')


def act(thought: str, **action: Any) -> Answer:
    return says(json.dumps({"thought": thought, "action": action}))


def page(title: str, address: str, index: int = 0) -> Observation:
    return Observation(frame(0), info={"page_index": index, "title": title, "url": address})


NO_PAGE = Observation(frame(0))


def prompt(goal: str, past: list[tuple[str, str]], seen: Observation, **options: Any) -> str:
    return MolmoWebHarness(**options).prompt(goal, past, seen)


def test_the_prompt_with_two_past_steps_is_exactly_the_formats() -> None:
    past = [
        ("<t1>", "{'name': 'goto', 'url': 'https://a.b'}"),
        ("<t2>", "{'name': 'mouse_click', 'x': 12.3, 'y': 45.6, 'button': 'left'}"),
    ]
    assert prompt("<goal>", past, page("<title>", "<url>")) == (
        "molmo_web_think: \n# GOAL\n<goal>\n\n# PREVIOUS STEPS\n## Step 1\nTHOUGHT: <t1>\nACTION: {'name': 'goto', "
        "'url': 'https://a.b'}\n## Step 2\nTHOUGHT: <t2>\nACTION: {'name': 'mouse_click', 'x': 12.3, 'y': 45.6, "
        "'button': 'left'}\n\n# CURRENTLY ACTIVE PAGE\nPage 0: <title> | <url>\n\n# NEXT STEP\n"
    )


def test_without_past_steps_their_heading_is_followed_by_one_empty_line() -> None:
    assert prompt("<goal>", [], page("<title>", "<url>", 2), style="molmo_web_base") == (
        "molmo_web_base: \n# GOAL\n<goal>\n\n# PREVIOUS STEPS\n\n# CURRENTLY ACTIVE PAGE\nPage 2: <title> | <url>\n\n"
        "# NEXT STEP\n"
    )


def test_of_twelve_steps_the_last_ten_are_told_under_their_own_numbers() -> None:
    text = prompt("g", [(f"t{n}", f"a{n}") for n in range(1, 13)], NO_PAGE)
    steps = "".join(f"## Step {n}\nTHOUGHT: t{n}\nACTION: a{n}\n" for n in range(3, 13))
    assert text == (
        f"molmo_web_think: \n# GOAL\ng\n\n# PREVIOUS STEPS\n{steps}\n# CURRENTLY ACTIVE PAGE\nPage 0:  | \n\n"
        "# NEXT STEP\n"
    )


def test_title_and_url_are_cut_to_100_characters_with_the_mark_inside() -> None:
    text = prompt("g", [], page("t" * 101, "u" * 500))
    cut = "t" * 85 + "... (truncated) | " + "u" * 85 + "... (truncated)"
    assert f"\nPage 0: {cut}\n" in text
    assert f"\nPage 0: {'t' * 100} | u\n" in prompt("g", [], page("t" * 100, "u"))


def test_braces_in_goals_thoughts_and_pages_are_text() -> None:
    assert "\n# GOAL\n{goal} {0}\n" in prompt("{goal} {0}", [("{x}", "{'name': 'noop'}")], page("{title}", "{}"))


def test_each_step_is_one_user_turn_of_text_and_the_present_screen() -> None:
    session, endpoint = play(
        MolmoWebHarness(),
        act("To the shop.", name="goto", url="https://a.b"),
        says('{"name": "click", "x": 50, "y": 50.0}'),
        EXIT,
        show=lambda n: Observation(frame(n), error="the world's error", info={"title": f"T{n}", "url": f"U{n}"}),
    )
    assert session.steps == [(Goto(url="https://a.b"),), (Click(x=32, y=18),), (Done(),)]
    told = [
        "## Step 1\nTHOUGHT: To the shop.\nACTION: {'name': 'goto', 'url': 'https://a.b'}\n",
        "## Step 2\nTHOUGHT: \nACTION: {'name': 'click', 'x': 50, 'y': 50.0}\n",
    ]
    for n, request in enumerate(endpoint.requests):
        (message,) = request["messages"]
        text, image = message["content"]
        assert message["role"] == "user"
        assert image == {"type": "image_url", "image_url": {"url": url(n)}}
        assert text["text"] == (
            f"molmo_web_think: \n# GOAL\nSave the file as “a.txt”.\n\n# PREVIOUS STEPS\n{''.join(told[:n])}\n"
            f"# CURRENTLY ACTIVE PAGE\nPage 0: T{n} | U{n}\n\n# NEXT STEP\n"
        )


def test_the_request_carries_the_formats_sampling() -> None:
    _, endpoint = play(MolmoWebHarness(), EXIT)
    request = endpoint.requests[0]
    del request["messages"]
    assert request == {
        "path": "/v1/chat/completions", "model": "m", "temperature": 0.7, "top_p": 0.8, "max_tokens": 1024,
    }  # fmt: skip


def shown(size: tuple[int, int]) -> tuple[tuple[int, int], Click]:
    """The size of the image sent of a screen of this size, and the click made of one at 75%, 25%."""
    seen = Observation(Frame.from_image(Image.new("RGB", size, "navy")))
    session, endpoint = play(
        MolmoWebHarness(image_format="jpeg"), act("", name="click", x=75, y=25), EXIT, show=lambda n: seen
    )
    data = endpoint.requests[0]["messages"][0]["content"][1]["image_url"]["url"]
    sent = Frame.from_encoded(base64.b64decode(data.removeprefix("data:image/jpeg;base64,")))
    (click,) = session.steps[0]
    assert isinstance(click, Click)
    return sent.size, click


def test_a_larger_screen_is_shown_at_1280x720_and_percents_are_of_the_screen() -> None:
    assert shown((1920, 1080)) == ((1280, 720), Click(x=1440, y=270))
    assert shown((1280, 720)) == ((1280, 720), Click(x=960, y=180))
    assert shown((160, 210)) == ((160, 210), Click(x=120, y=52))


def test_an_unreadable_reply_is_asked_for_anew_with_the_same_prompt() -> None:
    session, endpoint = play(
        MolmoWebHarness(), says("Hm."), act("", name="keypress", key="F6"), act("", name="keypress", key="enter"), EXIT
    )
    assert session.steps == [(Press(keys=("Return",)),), (Done(),)]
    assert endpoint.requests[0] == endpoint.requests[1] == endpoint.requests[2]
    assert len(session.problems) == 2 and "not JSON" in session.problems[0]
    assert "unknown keypress: key 'F6'; valid are: Enter" in session.problems[1]


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ({"name": "goto", "url": "https://a.b"}, "goto"),
        ({"name": "browser_nav", "nav_type": "go_back"}, "back"),
        ({"name": "browser_nav", "nav_type": "new_tab"}, "new_tab"),
        ({"name": "browser_nav", "nav_type": "tab_focus", "index": 1}, "switch_tab"),
    ],
)
def test_what_needs_a_page_is_refused_on_a_desktop_and_asked_for_anew(action: dict[str, Any], kind: str) -> None:
    session, endpoint = play(MolmoWebHarness(), act("", **action), EXIT)
    assert session.steps == [(Done(),)] and len(endpoint.requests) == 2
    (error,) = session.problems
    assert f"{kind} has no meaning on a desktop" in error and "valid are" in error
    page = Observation(frame(0), info={"url": "http://a.b", "title": ""})
    session, _ = play(MolmoWebHarness(), act("", **action), EXIT, show=lambda n: page)
    assert [[a.kind for a in step] for step in session.steps] == [[kind], ["done"]]


@pytest.mark.parametrize("reply", ["Hm.", "", None])
def test_after_four_unreadable_replies_the_episode_is_given_up(reply: str | None) -> None:
    session, endpoint = failing(MolmoWebHarness(), ReplyRejected, "4 tries.*not JSON", says(reply))
    assert len(endpoint.requests) == len(session.problems) == 4 and session.steps == []


def test_a_slow_endpoint_times_out() -> None:
    failing(MolmoWebHarness(), PolicyTimedOut, "within 0.3 s", Answer("{}", delay_s=60), timeout_s=0.3)


@pytest.mark.parametrize("style", ["molmo_web_think", "molmo_web_base"])
def test_an_oracles_reply_is_parsed_to_its_action(style: Any) -> None:
    harness = MolmoWebHarness(style)
    session, _ = play(
        harness, says(harness.render((TypeText(text="a“漢"),), SIZE)), says(harness.render((Done(),), SIZE))
    )
    assert session.steps == [(TypeText(text="a“漢"),), (Done(),)]
    assert ("thought" in harness.render((Done(),), SIZE)) == (style == "molmo_web_think")


def test_unknown_options_are_refused_naming_the_valid_ones() -> None:
    with pytest.raises(ValueError, match="unknown style 'molmo'; valid are: molmo_web_think, molmo_web_base"):
        MolmoWebHarness("molmo")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown image_format 'gif'; valid are: png, jpeg, webp"):
        MolmoWebHarness(image_format="gif")  # type: ignore[arg-type]
