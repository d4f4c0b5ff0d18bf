"""Whatever is sent in whatever protocol: an answer in that protocol's shape, never a fault of ours, no call lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from guiforge.proxy.stream import as_chunks, said
from guiforge.proxy.wires import WIRES, Refused
from tests.proxy.world import World, completion, data_url, png, upstream, whole, world

LEAF = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8)
JSON = st.recursive(
    LEAF,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
URL = st.sampled_from([data_url(png()), "data:image/png;base64,AAAA", "http://far.test/a.png", "image:abc", ""]) | JSON
KINDS = """text image image_url input_text input_image output_text refusal tool_use tool_result thinking reasoning
message function_call function_call_output custom_tool_call computer_call computer_call_output local_shell_call document
function custom web_search namespace computer_20250124 item_reference auto any tool json_schema"""
KIND = st.sampled_from(KINDS.split()) | JSON
NAMES = (
    "type", "role", "content", "text", "image_url", "url", "source", "media_type", "data", "id", "call_id", "name",
    "input", "arguments", "output", "tool_use_id", "tool_call_id", "tool_calls", "function", "thinking", "summary",
    "action", "parameters", "input_schema", "tools", "encrypted_content", "format", "schema",
)  # fmt: skip


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Objects with the names that the protocols use, holding what may or may not fit."""
    values = dict.fromkeys(NAMES, inner) | {
        "type": KIND, "url": URL, "image_url": URL | st.fixed_dictionaries({"url": URL}),
        "role": st.sampled_from(["user", "assistant", "system", "tool", "developer"]) | JSON,
    }  # fmt: skip
    return st.fixed_dictionaries({}, optional=values)


PART = objects(JSON)
NODE = objects(JSON | PART | st.lists(PART, max_size=2))
ITEM = objects(JSON | NODE | st.lists(NODE, max_size=2))
BODY = st.fixed_dictionaries(
    {},
    optional={
        "model": JSON | st.just("m"), "messages": JSON | st.lists(ITEM, max_size=3),
        "input": JSON | st.lists(ITEM, max_size=3), "max_tokens": JSON | st.just(5),
        "system": JSON | st.lists(PART, max_size=2), "instructions": JSON,
        "tools": JSON | st.lists(NODE, max_size=2), "tool_choice": JSON | NODE, "stream": st.booleans() | JSON,
        "stream_options": JSON, "text": JSON | NODE, "reasoning": JSON, "include": JSON, "output_config": JSON | NODE,
        "stop_sequences": JSON, "n": JSON, "previous_response_id": JSON, "temperature": JSON, "zzz": JSON,
    },
)  # fmt: skip
WIRE = st.sampled_from(sorted(WIRES))
PATHS = {"chat": "chat/completions", "responses": "responses", "messages": "messages"}
REPLY = st.builds(
    lambda text, thought, calls, reason: completion() | {"choices": [{
        "index": 0, "finish_reason": reason, "message": {
            "role": "assistant", "content": text, **({"reasoning_content": thought} if thought else {}),
            **({"tool_calls": [{"id": f"c{i}", "type": "function", "function": {"name": "f", "arguments": a}}
                               for i, a in enumerate(calls)]} if calls else {}),
        }}]},
    st.none() | st.text(max_size=9), st.text(max_size=9), st.lists(st.text(max_size=9), max_size=3),
    st.sampled_from(["stop", "length", "tool_calls", "content_filter"]),
)  # fmt: skip


@given(WIRE, BODY | JSON.filter(lambda value: isinstance(value, dict)))
def test_a_request_is_read_or_refused_and_not_changed(wire: Any, body: dict[str, Any]) -> None:
    before = repr(body)
    with suppress(Refused):
        chat = WIRES[wire].to_chat(body)
        assert isinstance(chat["messages"], list) and all(isinstance(m["role"], str) for m in chat["messages"])
    assert repr(body) == before


def events(data: bytes) -> list[dict[str, Any]]:
    """What a stream says."""
    lines = data.decode("utf-8", "surrogatepass").split("\n")
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


@given(REPLY, st.sampled_from(["responses", "messages"]), BODY)
def test_a_stream_says_what_a_whole_reply_says(made: dict[str, Any], wire: Any, request: dict[str, Any]) -> None:
    with suppress(Refused):
        WIRES[wire].to_chat(request)
        once = WIRES[wire].reply(request, json.loads(json.dumps(made)))
        encoder = WIRES[wire].encoder(request)
        data = b"".join(piece for chunk in as_chunks(made) for piece in encoder.feed(chunk)) + b"".join(encoder.close())
        told = events(data)
        if wire == "responses":
            final = told[-1]["response"]
            assert final["output"] == once["output"] and final["status"] == once["status"]
            done = [e for e in told if e["type"] == "response.output_item.done"]
            assert [e["item"] for e in sorted(done, key=lambda e: e["output_index"])] == once["output"]
        else:
            starts = [e["content_block"] for e in told if e["type"] == "content_block_start"]
            assert [block["type"] for block in starts] == [block["type"] for block in once["content"]]
            texts = [e["delta"].get("text", "") for e in told if e["type"] == "content_block_delta"]
            assert "".join(texts) == "".join(block.get("text", "") for block in once["content"])
            assert told[-2]["delta"]["stop_reason"] == once["stop_reason"] and told[-2]["usage"] == once["usage"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    where: Path = tmp_path_factory.mktemp("fuzz") / "run"
    with upstream(whole(completion())) as up, world(where, up.url) as made:
        yield made


@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(wire=WIRE, body=BODY, raw=st.none() | st.binary(max_size=20))
def test_whatever_is_posted_is_answered_in_its_shape_and_no_call_is_lost(
    served: World, wire: Any, body: dict[str, Any], raw: bytes | None
) -> None:
    before = len(served.calls())
    data = raw if raw is not None else json.dumps(body).encode()
    reply = served.client.post(f"{served.url}/{PATHS[wire]}", content=data, headers=served.headers())
    assert reply.status_code in (200, 400, 413, 422, 429), reply.text
    assert len(served.calls()) == before + (reply.status_code == 200)
    if reply.status_code != 200:
        assert reply.json()["error"]["message"] and (wire != "messages" or reply.json()["type"] == "error")
    elif "event-stream" not in reply.headers["content-type"]:
        assert wire != "chat" or said(reply.json()).message is not None
