"""Text from tokens: the same however it is cut, up to a stop string, with tool calls read from it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vlm.loading import Model
from vlm.speech import Speech, read_calls


def tokens(model: Model, text: str) -> list[int]:
    ids: list[int] = model.processor.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
    return ids


def heard(speech: Speech, ids: list[int]) -> tuple[list[str], list[dict[str, Any]]]:
    pieces = []
    for id in ids:
        pieces.append(speech.push(id))
        if speech.stopped is not None:
            break
    rest, calls = speech.finish()
    return [*pieces, rest], calls


@settings(deadline=None)
@given(st.data())
def test_the_pieces_are_the_decoded_text(model: Model, data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, len(model.processor.tokenizer) - 1), max_size=30))
    pieces, _ = heard(Speech(model.processor.tokenizer), ids)
    assert "".join(pieces) == model.processor.tokenizer.decode(ids, skip_special_tokens=True)


@settings(deadline=None)
@given(st.text(alphabet="abcé🎉", max_size=30), st.lists(st.text(alphabet="abc🎉", min_size=1, max_size=3), max_size=3))
def test_the_text_ends_before_the_first_stop_string(model: Model, text: str, stops: list[str]) -> None:
    speech = Speech(model.processor.tokenizer, stops)
    pieces, _ = heard(speech, tokens(model, text))
    first = min((text.find(stop) for stop in stops if stop in text), default=len(text))
    assert "".join(pieces) == speech.text == text[:first]
    assert (speech.stopped is not None) == any(stop in text for stop in stops)


def test_text_is_shown_as_soon_as_it_can_be(model: Model) -> None:
    speech = Speech(model.processor.tokenizer, ["bc!"])
    assert [speech.push(id) for id in tokens(model, "abcbc?é")] == ["a", "", "", "bc", "", "bc?", "", "é"]


def test_tool_calls_are_read_and_not_shown(model: Model) -> None:
    text = 'I click.<tool_call>\n{"name": "click", "arguments": {"x": 1}}\n</tool_call>'
    speech = Speech(model.processor.tokenizer, tools=True)
    pieces, calls = heard(speech, tokens(model, text))
    assert "".join(pieces) == "I click." and calls == [{"name": "click", "arguments": '{"x": 1}'}]


@pytest.mark.parametrize("inside", ["{", "[]", '{"arguments": {}}', '{"name": 3}'])
def test_a_tool_call_that_can_not_be_read_stays_text(model: Model, inside: str) -> None:
    text = f"a<tool_call>{inside}</tool_call>"
    pieces, calls = heard(Speech(model.processor.tokenizer, tools=True), tokens(model, text))
    assert "".join(pieces) == text and not calls and not read_calls(text)


def test_without_tools_a_tool_call_is_text(model: Model) -> None:
    text = '<tool_call>\n{"name": "click", "arguments": {}}\n</tool_call>'
    pieces, calls = heard(Speech(model.processor.tokenizer), tokens(model, text))
    assert "".join(pieces) == text and not calls
