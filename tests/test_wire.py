"""The chat-completions wire types: what is read, and that the rest passes through."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from pydantic import ValidationError

from guiforge.wire import ChatMessage, ChatRequest, ChatResponse, ErrorBody, image_part, message, text_part


def test_unknown_fields_pass_through_a_request_untouched() -> None:
    sent: dict[str, Any] = {
        "model": "m",
        "messages": [
            message("system", "Be brief."),
            {**message("user", [image_part(b"\x89PNG", "image/png"), text_part("Look.")]), "name": "you"},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "f"}}]},
        ],
        "temperature": 0.5,
        "logprobs": True,
        "stream_options": {"include_usage": True},
    }
    assert ChatRequest.model_validate(sent).model_dump(exclude_unset=True) == sent


def test_a_messages_text_is_its_text_parts_and_its_images_are_urls() -> None:
    parts = ChatMessage.model_validate(
        message("user", [text_part("a"), image_part(b"\x00\xff", "image/jpeg"), text_part("b")])
    )
    assert parts.text == "ab"
    assert parts.images == ["data:image/jpeg;base64," + base64.b64encode(b"\x00\xff").decode()]
    assert ChatMessage(role="user", content="plain").text == "plain"
    assert ChatMessage(role="assistant").text == "" and ChatMessage(role="assistant").images == []


def test_a_response_keeps_reasoning_logprobs_and_usage() -> None:
    data = {
        "id": "x",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "yes", "reasoning_content": "hm"},
                "finish_reason": "length",
                "logprobs": {"content": []},
            }
        ],
        "usage": {
            "prompt_tokens": 1,
            "completion_tokens": 2,
            "total_tokens": 3,
            "prompt_tokens_details": {"cached": 1},
        },
    }
    response = ChatResponse.model_validate(data)
    assert response.choices[0].message.reasoning_content == "hm"
    assert response.model_dump(exclude_unset=True) == data


@pytest.mark.parametrize("data", [{}, {"choices": []}, {"choices": [{}]}])
def test_a_response_without_a_reply_is_none(data: Any) -> None:
    with pytest.raises(ValidationError):
        ChatResponse.model_validate(data)


def test_an_error_body_has_a_message() -> None:
    body = ErrorBody.model_validate({"error": {"message": "no", "type": "t", "param": None, "code": 5}})
    assert (body.error.message, body.error.type, body.error.code) == ("no", "t", 5)
    with pytest.raises(ValidationError):
        ErrorBody.model_validate({"error": "no"})
