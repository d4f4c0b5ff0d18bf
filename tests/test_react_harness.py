"""ReactHarness against a real HTTP server: its conversation, its errors and its images."""

from __future__ import annotations

import json
from typing import Any

import pytest

from guiforge.action import Action, Click, Done, KeyDown, Press, TypeText
from guiforge.env import Observation
from guiforge.harness import PolicyFailed, ReplyRejected
from guiforge.harness.react import ReactHarness
from guiforge.wire import ChatRequest
from tests.endpoint import Answer, says
from tests.played import SIZE, failing, frame, play, url


def call(name: str, number: int = 0, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": f"c{number}", "type": "function", "function": function}


def calls(*made: dict[str, Any], text: str | None = None) -> Answer:
    return says(text, tool_calls=list(made))


DONE = calls(call("done"))
GONE = {"type": "text", "text": "(this screen is not shown any more)"}


def quiet(number: int) -> Observation:
    return Observation(frame(number))


def image(number: int) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url(number)}}


def screen(picture: dict[str, Any], before: str = "") -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": f"{before}The screen:"}, picture]}


FIRST = "# Task\nSave the file as “a.txt”.\n\n"


def test_the_conversation_goes_on_with_each_replys_calls_their_results_and_the_screen() -> None:
    one = call("press", 1, keys=["ctrl", "s"])
    two, three = call("type", 2, text="a"), call("press", 3, keys=["Return"])
    session, endpoint = play(ReactHarness(), calls(one, text="Save."), calls(two, three), DONE, show=quiet)
    assert session.steps == [
        (Press(keys=("ctrl", "s")),), (TypeText(text="a"), Press(keys=("Return",))), (Done(),),
    ]  # fmt: skip
    system, *told = endpoint.requests[-1]["messages"]
    assert system["role"] == "system" and "64 wide and 36 high" in system["content"]
    assert told == [
        screen(image(0), FIRST),
        {"role": "assistant", "content": "Save.", "tool_calls": [one]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        screen(image(1)),
        {"role": "assistant", "content": None, "tool_calls": [two, three]},
        {"role": "tool", "tool_call_id": "c2", "content": "ok"},
        {"role": "tool", "tool_call_id": "c3", "content": "ok"},
        screen(image(2)),
    ]


@pytest.mark.parametrize("images", [1, 2, 3])
def test_a_prompt_holds_the_last_screens_and_the_text_of_older_ones(images: int) -> None:
    replies = [calls(call("press", n, keys=["Tab"])) for n in range(5)]
    _, endpoint = play(ReactHarness(images=images), *replies, DONE, show=quiet)
    for n, request in enumerate(endpoint.requests):
        shown = [m["content"] for m in request["messages"] if m["role"] == "user"]
        assert [parts[1] for parts in shown] == [image(k) if k > n - images else GONE for k in range(n + 1)]
        assert shown[0][0]["text"] == f"{FIRST}The screen:"


def test_an_error_of_the_world_is_the_result_of_the_calls() -> None:
    _, endpoint = play(ReactHarness(), calls(call("click", 1, x=5000, y=1)), DONE)
    assert endpoint.requests[1]["messages"][-2:] == [
        {"role": "tool", "tool_call_id": "c1", "content": "the world's error"}, screen(image(1)),
    ]  # fmt: skip


def test_a_text_beside_the_screen_is_shown() -> None:
    _, endpoint = play(ReactHarness(), DONE, show=lambda n: Observation(frame(n), text="Page 0: Shop"))
    assert endpoint.requests[0]["messages"][1] == screen(image(0), f"{FIRST}Page 0: Shop\n\n")


def test_calls_that_cannot_be_read_are_answered_saying_why_and_nothing_is_carried_out() -> None:
    good, bad = call("press", 1, keys=["a"]), call("press", 2, keys=["hyper"])
    session, endpoint = play(ReactHarness(), calls(good, bad), calls(call("tap")), DONE)
    assert session.steps == [(Done(),)]
    results = [m for m in endpoint.requests[-1]["messages"] if m["role"] == "tool"]
    assert [m["tool_call_id"] for m in results] == ["c1", "c2", "c0"]
    assert results[0]["content"] == results[1]["content"]
    assert "nothing was carried out: call 2 (press): keys: unknown key 'hyper'; valid are" in results[0]["content"]
    assert "unknown tool 'tap'; valid are: click, move" in results[2]["content"]
    assert len(session.problems) == 2


def test_a_reply_without_a_call_is_nudged() -> None:
    _, endpoint = play(ReactHarness(), says("I think it is saved."), says(None), DONE)
    told = endpoint.requests[-1]["messages"]
    nudge = told[-1]
    assert nudge["role"] == "user" and "You called no tool" in nudge["content"]
    assert told[-3:] == [{"role": "assistant", "content": "I think it is saved."}, nudge, nudge]


def test_after_four_unusable_replies_in_a_row_the_episode_is_given_up() -> None:
    session, _ = failing(ReactHarness(), ReplyRejected, "4 replies in a row.*calls no tool", says("Hm."))
    assert len(session.problems) == 4 and session.steps == []
    replies = [says("Hm."), says("Hm."), says("Hm."), calls(call("press", keys=["a"]))]
    session, _ = play(ReactHarness(), *replies, *replies, DONE)
    assert len(session.steps) == 3


def test_arguments_that_are_no_json_are_sent_back_as_none() -> None:
    cut = {"id": "c9", "type": "function", "function": {"name": "type", "arguments": '{"text": "a'}}
    _, endpoint = play(ReactHarness(), calls(cut), DONE)
    reply, result = endpoint.requests[1]["messages"][-2:]
    assert json.loads(reply["tool_calls"][0]["function"]["arguments"]) == {}
    assert result["tool_call_id"] == "c9" and "not JSON" in result["content"]


def test_what_a_server_adds_to_a_call_is_sent_back_and_thoughts_are_not() -> None:
    extra = {**call("press", 1, keys=["a"]), "extra_content": {"signature": "s"}}
    _, endpoint = play(ReactHarness(), says(None, tool_calls=[extra], reasoning_content="hm"), DONE)
    sent = endpoint.requests[1]["messages"][2]
    assert sent == {"role": "assistant", "content": None, "tool_calls": [extra]}


@pytest.mark.parametrize(("info", "has_goto"), [({}, False), ({"url": "http://a"}, True)])
def test_a_browsers_tools_are_offered_to_who_sees_a_page(info: dict[str, Any], has_goto: bool) -> None:
    _, endpoint = play(ReactHarness(), DONE, show=lambda n: Observation(frame(n), info=info))
    names = [tool["function"]["name"] for tool in endpoint.requests[0]["tools"]]
    assert ("goto" in names) == has_goto and {"click", "type", "done"} <= set(names)


def test_the_request_carries_the_sampling_that_was_asked_for() -> None:
    sampling = {"temperature": 0.5, "top_p": 0.9, "max_tokens": 99}
    for options, sent in (({}, {"max_tokens": 4096}), (sampling, sampling), ({"max_tokens": None}, {})):
        _, endpoint = play(ReactHarness(**options), DONE)
        request = endpoint.requests[0]
        assert {k: v for k, v in request.items() if k not in ("messages", "tools", "path", "model")} == sent


@pytest.mark.parametrize("bad", [{"function": {}}, "x", {"function": {"name": 5}}])
def test_a_tool_call_that_is_none_is_an_endpoints_rubbish(bad: Any) -> None:
    failing(ReactHarness(), PolicyFailed, "endpoint answered rubbish", says(None, tool_calls=[bad]))


def test_an_oracles_reply_reaches_the_harness_as_tool_calls_over_http() -> None:
    harness = ReactHarness()
    script: list[tuple[Action, ...]] = [
        (Click(x=3, y=4, modifiers=("ctrl",)), TypeText(text="a“漢")), (KeyDown(key="a"),), (Done(),),
    ]  # fmt: skip
    turns = [harness.render(actions, SIZE).model_dump(exclude_none=True) for actions in script]
    answers = [says(turn.pop("content", None), **turn) for turn in turns]
    session, endpoint = play(harness, *answers, show=quiet)
    assert session.steps == script
    asked = [ChatRequest.model_validate(request) for request in endpoint.requests]
    made = [c.id for m in asked[-1].messages for c in m.tool_calls or ()]
    answered = [m.tool_call_id for m in asked[-1].messages if m.role == "tool"]
    assert len(set(made)) == 3 and made == answered
    assert asked[0].tools is not None and asked[0].tools[0]["function"]["name"] == "click"


def test_options_are_checked() -> None:
    with pytest.raises(ValueError, match="images must be at least 1"):
        ReactHarness(images=0)
    with pytest.raises(ValueError, match="unknown image_format 'gif'; valid are: png, jpeg, webp"):
        ReactHarness(image_format="gif")  # type: ignore[arg-type]
