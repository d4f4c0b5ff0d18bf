from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guiforge.proxy.bodies import dumps, loads, with_fields
from guiforge.proxy.stream import Assembly, Events, Rubbish, as_chunks, said
from tests.proxy.world import STREAM, chunk, completion, with_tokens

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
MESSAGE = JSON | st.fixed_dictionaries({}, optional={"content": JSON, "tool_calls": JSON, "role": JSON})
CHUNKISH = st.fixed_dictionaries(
    {},
    optional={
        "usage": JSON, "prompt_token_ids": JSON | st.lists(st.integers()),
        "choices": JSON | st.lists(
            st.fixed_dictionaries(
                {},
                optional={
                    "delta": MESSAGE, "message": MESSAGE,
                    "token_ids": JSON | st.lists(st.integers()), "logprobs": JSON, "finish_reason": JSON,
                },
            ),
            max_size=2,
        ),
    },
)  # fmt: skip


@given(st.lists(st.integers(1, 40), max_size=30), st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_events_are_the_same_wherever_the_stream_is_cut(cuts: list[int], line_end: bytes) -> None:
    text = b"".join((b": hello\n\n", b"event: x\ndata: 1\ndata: 2\n\n", *STREAM)).replace(b"\n", line_end)
    events, found, at = Events(), [], 0
    for size in [*cuts, len(text)]:
        found += [event.data for event in events.feed(text[at : at + size])]
        at += size
    found += [event.data for event in events.rest()]
    assert found == [b"", b"1\n2", *(event[6:-2] for event in STREAM)]


@given(st.lists(CHUNKISH, max_size=4))
def test_whatever_an_upstream_streams_is_read_or_rubbish(chunks: list[dict[str, Any]]) -> None:
    assembly = Assembly()
    with suppress(Rubbish):
        for made in chunks:
            assembly.add(made)
        assembly.said()


@given(CHUNKISH | JSON)
def test_whatever_an_upstream_answers_is_read_or_rubbish(made: Any) -> None:
    with suppress(Rubbish):
        said(made)


def test_tool_calls_are_put_together_from_their_deltas() -> None:
    assembly = Assembly()
    first = {"index": 0, "id": "a", "type": "function", "function": {"name": "click", "arguments": ""}}
    other = {"index": 1, "id": "b", "type": "function", "function": {"name": "type", "arguments": '{"t"'}}
    for calls in (
        [first],
        [{"index": 0, "function": {"arguments": '{"x":'}}],
        [other],
        [{"index": 0, "function": {"arguments": "1}"}}, {"index": 1, "function": {"arguments": ":2}"}}],
    ):
        assembly.add(chunk(delta={"role": "assistant", "tool_calls": calls}))
    assembly.add(chunk(finish_reason="tool_calls"))
    message = assembly.said().message
    assert message is not None and message["content"] is None
    told = [(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in message["tool_calls"]]
    assert told == [("a", "click", '{"x":1}'), ("b", "type", '{"t":2}')]


def test_reasoning_and_fields_of_tomorrow_are_joined_too() -> None:
    assembly = Assembly()
    for delta in ({"reasoning": "be"}, {"reasoning": "cause"}, {"content": "A"}, {"novelty": {"x": 1}}):
        assembly.add(chunk(delta=delta))
    assert assembly.said().message == {"role": "assistant", "content": "A", "reasoning": "because", "novelty": {"x": 1}}


@pytest.mark.parametrize("made", [completion(), with_tokens([1, 2], [3, 4])])
def test_a_completion_made_a_stream_says_the_same(made: dict[str, Any]) -> None:
    assembly = Assembly()
    for piece in as_chunks(made):
        assembly.add(piece)
    assert assembly.said() == said(made)


@given(st.dictionaries(st.text(), JSON, max_size=4), st.dictionaries(st.text(min_size=1), st.booleans(), max_size=3))
def test_fields_are_set_in_a_bodys_text_as_they_would_be_in_the_body(
    body: dict[str, Any], fields: dict[str, Any]
) -> None:
    raw = dumps(body)
    again = loads(raw)
    # as both are read: a whole number of more than 64 bits is one thing beside NaN, which only the lenient way reads
    assert dumps(loads(with_fields(raw, again, fields))) == dumps(loads(dumps({**again, **fields})))
