"""The real SDKs of OpenAI and Anthropic against the proxy: what the policy says arrives, and is recorded."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest

from guiforge.frame import content_hash
from tests.proxy.world import Upstream, World, chunk, completion, data_url, error, event, png, streamed, whole

TOOL_CALL = {"id": "call_1", "type": "function", "function": {"name": "click", "arguments": '{"x": 3,  "y":4}'}}
SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}}}
PICTURE = png(5)


@pytest.fixture
def gpt(w: World) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=w.url, api_key=w.opened.completions_key, max_retries=0) as client:
        yield client


@pytest.fixture
def claude(w: World) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=w.root, api_key=w.opened.completions_key, max_retries=0) as client:
        yield client


def acting(text: str | None = "I click.", *calls: dict[str, Any]) -> dict[str, Any]:
    """A completion that thinks, speaks and calls tools."""
    made = completion()
    made["choices"][0]["message"] = {
        "role": "assistant", "content": text, "reasoning_content": "A button.",
        "tool_calls": list(calls or (TOOL_CALL,)),
    }  # fmt: skip
    made["choices"][0]["finish_reason"] = "tool_calls"
    made["usage"]["prompt_tokens_details"] = {"cached_tokens": 1}
    return made


def acting_stream() -> tuple[bytes, ...]:
    """The same in pieces."""
    first = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "click", "arguments": ""}}
    pieces = [{"index": 0, "function": {"arguments": part}} for part in ('{"x": 3,', '  "y":4}')]
    usage = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []}
    usage["usage"] = acting()["usage"]
    return (
        event(chunk(delta={"role": "assistant", "reasoning_content": "A "})),
        event(chunk(delta={"reasoning_content": "button."})),
        event(chunk("I cl")),
        event(chunk("ick.")),
        event(chunk(delta={"tool_calls": [first]})),
        *(event(chunk(delta={"tool_calls": [piece]})) for piece in pieces),
        event(chunk(finish_reason="tool_calls")),
        event(usage),
        event("[DONE]"),
    )


FUNCTION: Any = {"type": "function", "name": "click", "description": "Click.", "parameters": SCHEMA, "strict": False}
SHOWN: Any = [
    {"role": "user", "content": [
        {"type": "input_text", "text": "Where?"},
        {"type": "input_image", "image_url": data_url(PICTURE), "detail": "auto"},
    ]},
]  # fmt: skip


def test_chat_with_tools_and_an_image(w: World, up: Upstream, gpt: openai.OpenAI) -> None:
    up.script = whole(acting())
    content: Any = [{"type": "text", "text": "Where?"}, {"type": "image_url", "image_url": {"url": data_url(PICTURE)}}]
    tools: Any = [{"type": "function", "function": {"name": "click", "parameters": SCHEMA}}]
    made = gpt.chat.completions.create(
        model="m", messages=[{"role": "user", "content": content}], tools=tools, extra_body={"novelty": [1]}
    )
    called = (made.choices[0].message.tool_calls or [])[0]
    assert called.type == "function" and called.function.arguments == TOOL_CALL["function"]["arguments"]  # type: ignore[index]
    assert up.asked[0]["novelty"] == [1] and up.asked[0]["messages"][0]["content"][1]["image_url"]["url"] == data_url(
        PICTURE
    )
    (call,) = w.calls()
    assert call.request["messages"][0]["content"][1]["image_url"]["url"] == f"image:{content_hash(PICTURE)}"
    assert call.message == acting()["choices"][0]["message"] and call.wire == "chat"


def test_chat_streams_deltas_and_the_sdk_puts_them_together(w: World, up: Upstream, gpt: openai.OpenAI) -> None:
    up.script = streamed(*acting_stream())
    with gpt.chat.completions.stream(model="m", messages=[{"role": "user", "content": "go"}]) as stream:
        made = stream.get_final_completion()
    assert made.choices[0].message.content == "I click."
    assert (made.choices[0].message.tool_calls or [])[0].function.arguments == '{"x": 3,  "y":4}'
    assert w.calls()[0].message == acting()["choices"][0]["message"]


def test_responses_with_tools_and_an_image(w: World, up: Upstream, gpt: openai.OpenAI) -> None:
    up.script = whole(acting())
    made = gpt.responses.create(
        model="m", instructions="Be brief.", input=SHOWN, tools=[FUNCTION], max_output_tokens=50,
        reasoning={"effort": "low"}, include=["reasoning.encrypted_content"],
    )  # fmt: skip
    assert [item.type for item in made.output] == ["reasoning", "message", "function_call"]
    assert made.output_text == "I click." and made.status == "completed"
    called = made.output[2]
    assert called.type == "function_call" and called.arguments == '{"x": 3,  "y":4}' and called.call_id == "call_1"
    assert (
        made.usage is not None and made.usage.input_tokens_details.cached_tokens == 1 and made.usage.output_tokens == 2
    )
    (asked,) = up.asked
    assert asked["messages"][0] == {"role": "system", "content": "Be brief."} and asked["max_tokens"] == 50
    assert asked["reasoning_effort"] == "low" and asked["tools"][0]["function"]["name"] == "click"
    assert asked["messages"][1]["content"][1] == {"type": "image_url", "image_url": {"url": data_url(PICTURE)}}
    (call,) = w.calls()
    assert call.wire == "responses" and call.request["input"][0]["content"][1]["image_url"].startswith("image:")

    back = [*SHOWN, *(item.model_dump(exclude_none=True) for item in made.output)]
    back += [{"type": "function_call_output", "call_id": "call_1", "output": [
        {"type": "input_text", "text": "done"}, {"type": "input_image", "image_url": data_url(PICTURE)}]}]  # fmt: skip
    gpt.responses.create(model="m", input=back, tools=[FUNCTION])
    said = up.asked[1]["messages"]
    assert [message["role"] for message in said] == ["user", "assistant", "tool", "user"]
    assert said[1] == acting()["choices"][0]["message"]  # thoughts, words and arguments, as the policy wrote them
    assert said[2] == {"role": "tool", "tool_call_id": "call_1", "content": "done"}
    assert said[3]["content"][0]["image_url"]["url"] == data_url(PICTURE)


def test_responses_stream_says_what_a_whole_one_says(w: World, up: Upstream, gpt: openai.OpenAI) -> None:
    up.script = whole(acting())
    asked: Any = {"model": "m", "input": "go", "tools": [FUNCTION]}
    once = gpt.responses.create(**asked)
    up.script = streamed(*acting_stream())
    with gpt.responses.stream(**asked) as stream:
        events = list(stream)
    numbers = [event.sequence_number for event in events]
    assert numbers == list(range(len(numbers)))
    deltas = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert deltas == "I click." and sum(event.type == "response.output_text.delta" for event in events) == 2
    final = events[-1]
    assert final.type == "response.completed"
    plain = [item.model_dump(exclude={"parsed_arguments"}) for item in final.response.output]
    for item in plain:
        for part in item.get("content") or []:
            part.pop("parsed", None)
    assert plain == [item.model_dump() for item in once.output]
    assert final.response.usage == once.usage


def test_a_custom_tool_gets_text_and_a_screen_gets_actions(w: World, up: Upstream, gpt: openai.OpenAI) -> None:
    patch = {"id": "a", "type": "function", "function": {"name": "patch", "arguments": '{"input":"*** Begin"}'}}
    click = {
        "id": "b",
        "type": "function",
        "function": {"name": "computer", "arguments": '{"type":"click","x":1,"y":2}'},
    }
    tools: Any = [
        {"type": "custom", "name": "patch"}, {"type": "web_search"},
        {"type": "computer_use_preview", "display_width": 800, "display_height": 600, "environment": "browser"},
    ]  # fmt: skip
    for script in (whole(acting(None, patch, click)),):
        up.script = script
        made = gpt.responses.create(model="m", input="go", tools=tools)
        items = [item for item in made.output if item.type != "reasoning"]
        assert items[0].type == "custom_tool_call" and items[0].input == "*** Begin"
        assert items[1].type == "computer_call" and items[1].action is not None and items[1].action.type == "click"
    assert [tool["function"]["name"] for tool in up.asked[0]["tools"]] == ["patch", "computer"]
    with gpt.responses.stream(model="m", input="go", tools=tools) as stream:
        streamed_items = [item for item in stream.get_final_response().output if item.type != "reasoning"]
    assert [item.model_dump() for item in streamed_items] == [item.model_dump() for item in items]
    back: Any = [{"role": "user", "content": "go"}, *(item.model_dump(exclude_none=True) for item in items)]
    back += [
        {"type": "custom_tool_call_output", "call_id": "a", "output": "ok"},
        {"type": "computer_call_output", "call_id": "b",
         "output": {"type": "computer_screenshot", "image_url": data_url(PICTURE)}},
    ]  # fmt: skip
    gpt.responses.create(model="m", input=back, tools=tools)
    said = up.asked[-1]["messages"]
    assert [call["function"]["arguments"] for call in said[1]["tool_calls"]] == [
        patch["function"]["arguments"], click["function"]["arguments"],  # type: ignore[index]
    ]  # fmt: skip
    assert said[-1]["content"][0]["image_url"]["url"] == data_url(PICTURE)


CLICK: Any = {"name": "click", "description": "Click.", "input_schema": SCHEMA}
BASE64 = base64.b64encode(PICTURE).decode()
CLAUDE_SHOWN: Any = [
    {"role": "user", "content": [
        {"type": "text", "text": "Where?"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": BASE64}},
    ]},
]  # fmt: skip


def test_messages_with_tools_and_an_image(w: World, up: Upstream, claude: anthropic.Anthropic) -> None:
    up.script = whole(acting())
    made = claude.messages.create(
        model="m", max_tokens=50, system="Be brief.", messages=CLAUDE_SHOWN, tools=[CLICK], stop_sequences=["END"],
        tool_choice={"type": "any", "disable_parallel_tool_use": True},
    )  # fmt: skip
    assert [block.type for block in made.content] == ["thinking", "text", "tool_use"] and made.stop_reason == "tool_use"
    used = made.content[2]
    assert used.type == "tool_use" and used.input == {"x": 3, "y": 4}
    assert (made.usage.input_tokens, made.usage.cache_read_input_tokens, made.usage.output_tokens) == (2, 1, 2)
    (asked,) = up.asked
    assert asked["messages"][0] == {"role": "system", "content": "Be brief."} and asked["stop"] == ["END"]
    assert asked["messages"][1]["content"][1] == {"type": "image_url", "image_url": {"url": data_url(PICTURE)}}
    assert asked["tool_choice"] == "required" and asked["parallel_tool_calls"] is False
    (call,) = w.calls()
    assert call.wire == "messages"
    assert call.request["messages"][0]["content"][1]["source"]["data"] == f"image:{content_hash(PICTURE)}"

    shot = CLAUDE_SHOWN[0]["content"][1]
    result = {"type": "tool_result", "tool_use_id": "call_1", "content": [{"type": "text", "text": "done"}, shot]}
    back: Any = [*CLAUDE_SHOWN, {"role": "assistant", "content": made.content}, {"role": "user", "content": [result]}]
    claude.messages.create(model="m", max_tokens=50, messages=back, tools=[CLICK])
    said = up.asked[1]["messages"]
    assert [message["role"] for message in said] == ["user", "assistant", "tool", "user"]
    assert said[1] == acting()["choices"][0]["message"]  # its arguments too, blank by blank, as the policy wrote them
    assert said[2]["content"] == "done" and said[3]["content"][0]["image_url"]["url"] == data_url(PICTURE)


def test_messages_stream_says_what_a_whole_one_says(w: World, up: Upstream, claude: anthropic.Anthropic) -> None:
    up.script = whole(acting())
    asked: Any = {"model": "m", "max_tokens": 50, "messages": [{"role": "user", "content": "go"}], "tools": [CLICK]}
    once = claude.messages.create(**asked)
    up.script = streamed(*acting_stream())
    with claude.messages.stream(**asked) as stream:
        texts = list(stream.text_stream)
        made = stream.get_final_message()
    assert texts == ["I cl", "ick."]
    assert [block.model_dump(exclude={"parsed_output"}) for block in made.content] == [
        block.model_dump() for block in once.content
    ]
    assert made.stop_reason == once.stop_reason == "tool_use"
    assert made.usage.output_tokens == 2 and made.usage.input_tokens == 2


def test_several_tool_calls_arrive_whole_though_their_deltas_are_mixed(
    w: World, up: Upstream, claude: anthropic.Anthropic, gpt: openai.OpenAI
) -> None:
    def piece(index: int, text: str, **more: Any) -> bytes:
        return event(chunk(delta={"tool_calls": [{"index": index, "function": {"arguments": text, **more}}]}))

    start = [event(chunk(delta={"tool_calls": [
        {"index": i, "id": f"c{i}", "type": "function", "function": {"name": "click", "arguments": ""}}]}))
        for i in range(2)]  # fmt: skip
    mixed = (piece(0, '{"x":'), piece(1, '{"x":'), piece(0, "1}"), piece(1, "2}"))
    up.script = streamed(*start, *mixed, event(chunk(finish_reason="tool_calls")), event("[DONE]"))
    asked: Any = [{"role": "user", "content": "go"}]
    with claude.messages.stream(model="m", max_tokens=9, messages=asked, tools=[CLICK]) as stream:
        blocks = stream.get_final_message().content
    assert [(block.id, block.input) for block in blocks if block.type == "tool_use"] == [
        ("c0", {"x": 1}),
        ("c1", {"x": 2}),
    ]
    with gpt.responses.stream(model="m", input="go", tools=[FUNCTION]) as made:
        items = made.get_final_response().output
    assert [(i.call_id, i.arguments) for i in items if i.type == "function_call"] == [
        ("c0", '{"x":1}'),
        ("c1", '{"x":2}'),
    ]


def test_the_computer_tool_is_offered_with_its_parameters(w: World, up: Upstream, claude: anthropic.Anthropic) -> None:
    tools: Any = [
        {"type": "computer_20250124", "name": "computer", "display_width_px": 800, "display_height_px": 600},
        {"type": "bash_20250124", "name": "bash"}, {"type": "web_search_20250305", "name": "web_search"},
    ]  # fmt: skip
    claude.beta.messages.create(
        model="m",
        max_tokens=5,
        messages=[{"role": "user", "content": "go"}],
        tools=tools,
        betas=["computer-use-2025-01-24"],
    )
    offered = {tool["function"]["name"]: tool["function"] for tool in up.asked[0]["tools"]}
    assert set(offered) == {"computer", "bash"} and "800x600" in offered["computer"]["description"]
    assert "left_click" in offered["computer"]["parameters"]["properties"]["action"]["enum"]


def test_tokens_are_counted_by_the_sdk(w: World, claude: anthropic.Anthropic) -> None:
    counted = claude.messages.count_tokens(model="m", messages=[{"role": "user", "content": "x" * 350}])
    assert 90 <= counted.input_tokens <= 130


def test_errors_come_as_each_sdk_knows_them(
    w: World, up: Upstream, gpt: openai.OpenAI, claude: anthropic.Anthropic
) -> None:
    far: Any = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://far.test/a.png"}}]}]
    with pytest.raises(openai.BadRequestError, match="must be a data URL"):
        gpt.chat.completions.create(model="m", messages=far)
    with pytest.raises(openai.BadRequestError, match=r"input\[0\].content\[0\].image_url: an image must be a data URL"):
        gpt.responses.create(model="m", input=[{"role": "user", "content": [
            {"type": "input_image", "image_url": "http://far.test/a.png", "detail": "auto"}]}])  # fmt: skip
    with pytest.raises(openai.BadRequestError, match="nothing is kept here between two requests"):
        gpt.responses.create(model="m", input="go", previous_response_id="resp_1")
    with pytest.raises(anthropic.BadRequestError, match="must be a data URL"):
        claude.messages.create(model="m", max_tokens=5, messages=[{"role": "user", "content": [
            {"type": "image", "source": {"type": "url", "url": "http://far.test/a.png"}}]}])  # fmt: skip
    assert up.asked == [] and w.calls() == []
    up.script = error(429, "slow down", {"x-should-retry": "false"})
    with pytest.raises(openai.RateLimitError, match="slow down"):
        gpt.responses.create(model="m", input="go")
    with pytest.raises(anthropic.RateLimitError, match="slow down"):
        claude.messages.create(model="m", max_tokens=5, messages=[{"role": "user", "content": "go"}])
    wrong = openai.OpenAI(base_url=w.url, api_key="nobody", max_retries=0)
    with wrong, pytest.raises(openai.AuthenticationError):
        wrong.responses.create(model="m", input="go")


def test_a_stream_that_breaks_off_is_an_error_of_each_sdk(
    w: World, up: Upstream, gpt: openai.OpenAI, claude: anthropic.Anthropic
) -> None:
    up.script = streamed(event(chunk("I cl")), cut=True)
    with (
        pytest.raises(anthropic.APIStatusError),
        claude.messages.stream(model="m", max_tokens=5, messages=[{"role": "user", "content": "go"}]) as stream,
    ):
        stream.get_final_message()
    with gpt.responses.stream(model="m", input="go") as events:
        last = list(events)[-1]
    assert last.type == "response.failed" and last.response.error is not None
    assert "upstream_broke_off" in last.response.error.message
    assert [(call.cut, call.message) for call in w.calls()] == [(True, {"role": "assistant", "content": "I cl"})] * 2


def test_json_is_asked_for_in_each_protocol(w: World, up: Upstream, gpt: openai.OpenAI) -> None:
    up.script = whole(completion(json.dumps({"x": 1})))
    form: Any = {"format": {"type": "json_schema", "name": "point", "schema": SCHEMA, "strict": True}}
    assert gpt.responses.create(model="m", input="go", text=form).output_text == '{"x": 1}'
    assert up.asked[0]["response_format"]["json_schema"]["name"] == "point"
