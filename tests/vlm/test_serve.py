"""The server, over real HTTP: replies, streams, token ids, errors, hang-ups."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import numpy as np
import openai
import pytest

from guiforge.frame import content_hash
from guiforge.wire import ChatResponse, ErrorBody, image_part, message, text_part
from tests.vlm.pictures import picture
from tests.vlm.test_generate import forced
from vlm.generate import Sampling
from vlm.loading import Model
from vlm.render import Rendered

IMAGE = picture(0)
ASKED = [message("system", "Be brief."), message("user", [image_part(IMAGE, "image/png"), text_part("Click it")])]
TRACED = {"logprobs": True, "return_token_ids": True}


@pytest.fixture
def client(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, timeout=30) as found:
        yield found


def body(messages: Any = ASKED, **fields: Any) -> dict[str, Any]:
    return {"model": "small", "messages": messages, "max_tokens": 20, "seed": 1, **fields}


def asked(client: httpx.Client, **fields: Any) -> dict[str, Any]:
    response = client.post("/chat/completions", json=body(**fields))
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    ChatResponse.model_validate(found)
    return found


def streamed(client: httpx.Client, **fields: Any) -> list[dict[str, Any]]:
    with client.stream("POST", "/chat/completions", json=body(stream=True, **fields)) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        events = [line.removeprefix("data: ") for line in response.iter_lines() if line]
    assert events[-1] == "[DONE]"
    return [json.loads(event) for event in events[:-1]]


def logprobs(choice: dict[str, Any]) -> list[float]:
    return [entry["logprob"] for entry in choice["logprobs"]["content"]]


def test_a_reply_tells_its_tokens_and_the_text_is_theirs(client: httpx.Client, model: Model) -> None:
    found = asked(client, temperature=0.8, **TRACED)
    choice, ids = found["choices"][0], found["choices"][0]["token_ids"]
    assert choice["message"]["content"] == model.processor.tokenizer.decode(ids, skip_special_tokens=True)
    assert len(ids) == len(choice["logprobs"]["content"]) == found["usage"]["completion_tokens"]
    assert len(found["prompt_token_ids"]) == found["usage"]["prompt_tokens"]
    assert choice["finish_reason"] == ("stop" if ids[-1] in model.ends else "length")
    assert found["system_fingerprint"] == model.version != ""


def test_its_log_probabilities_are_those_of_a_forward_pass(client: httpx.Client, model: Model) -> None:
    found = asked(client, temperature=0.8, top_p=0.9, **TRACED)
    rendered = Rendered(found["prompt_token_ids"], (content_hash(IMAGE),), (), 0)
    sampling = Sampling(max_tokens=20, temperature=0.8, top_p=0.9)
    theirs = forced(model, rendered, found["choices"][0]["token_ids"], sampling, {content_hash(IMAGE): IMAGE})
    assert np.abs(theirs - logprobs(found["choices"][0])).max() < 1e-4


@pytest.mark.parametrize("fields", [{}, {"temperature": 0}, {"top_p": 0.5, "top_k": 9}, {"stop": ["e", "a"]}], ids=str)
def test_a_stream_says_what_a_whole_reply_does(client: httpx.Client, fields: dict[str, Any]) -> None:
    whole = asked(client, **fields, **TRACED)
    first, *rest, last, usage = streamed(client, **fields, **TRACED, stream_options={"include_usage": True})
    choices = [chunk["choices"][0] for chunk in rest]
    ending = last["choices"][0]
    assert (
        first["prompt_token_ids"] == whole["prompt_token_ids"] and first["choices"][0]["delta"]["role"] == "assistant"
    )
    assert [id for choice in choices for id in choice["token_ids"]] == whole["choices"][0]["token_ids"]
    assert [p for choice in choices for p in logprobs(choice)] == logprobs(whole["choices"][0])
    text = "".join(choice["delta"]["content"] for choice in choices) + ending["delta"].get("content", "")
    assert text == whole["choices"][0]["message"]["content"]
    assert (ending["finish_reason"], ending["stop_reason"]) == (
        whole["choices"][0]["finish_reason"], whole["choices"][0]["stop_reason"],
    )  # fmt: skip
    assert usage["choices"] == [] and usage["usage"] == whole["usage"]


def test_tokens_are_told_only_where_they_are_asked_for(client: httpx.Client) -> None:
    found = asked(client)
    assert "prompt_token_ids" not in found and "token_ids" not in found["choices"][0]
    assert found["choices"][0]["logprobs"] is None


def test_the_next_turn_goes_on_from_the_former_tokens(client: httpx.Client) -> None:
    history, former = list(ASKED), list[int]()
    for turn in range(4):
        found = asked(client, messages=history, seed=turn, **TRACED)
        assert found["prompt_token_ids"][: len(former)] == former
        former = found["prompt_token_ids"] + found["choices"][0]["token_ids"]
        history += [found["choices"][0]["message"], message("user", [image_part(picture(turn), "image/png")])]


def test_a_stop_string_ends_the_reply_and_is_not_in_it(client: httpx.Client) -> None:
    text = asked(client)["choices"][0]["message"]["content"]
    choice = asked(client, stop=text[5:7])["choices"][0]
    assert choice["message"]["content"] == text[: text.index(text[5:7])]
    assert (choice["finish_reason"], choice["stop_reason"]) == ("stop", text[5:7])


def test_the_likeliest_tokens_are_told_best_first(client: httpx.Client) -> None:
    for entry in asked(client, logprobs=True, top_logprobs=4, temperature=0)["choices"][0]["logprobs"]["content"]:
        best = [each["logprob"] for each in entry["top_logprobs"]]
        assert len(best) == 4 and best == sorted(best, reverse=True) and best[0] == entry["logprob"]


def test_the_model_is_listed(client: httpx.Client) -> None:
    listed = client.get("/models").json()["data"]
    assert [card["id"] for card in listed] == ["small"] and listed[0]["owned_by"] == "guiforge"
    assert client.get("/models/small").json() == listed[0]
    assert client.get("/models/other").status_code == 404


@pytest.mark.parametrize(
    ("fields", "status", "told"),
    [
        ({"model": "gpt"}, 404, "no model 'gpt' here, only 'small'"),
        ({"messages": []}, 400, "messages: "),
        ({"messages": "hi"}, 400, "messages: "),
        ({"messages": [{"content": "x"}]}, 400, "messages.0.role: "),
        ({"messages": [message("user", [{"type": "input_audio"}])]}, 400, "a part of type 'input_audio'"),
        ({"messages": [message("user", [{"type": "image_url"}])]}, 400, "data:image"),
        (
            {"messages": [message("user", [{"type": "image_url", "image_url": {"url": "http://x/a.png"}}])]},
            400,
            "http:",
        ),
        ({"messages": [message("user", [image_part(b"no image", "image/png")])]}, 400, "can't be read"),
        ({"messages": [message("user", "word " * 20000)]}, 400, "context is 16384 tokens"),
        ({"max_tokens": 20000}, 400, "context is 16384 tokens"),
        ({"max_tokens": 0}, 400, "max_tokens: "),
        ({"temperature": -1}, 400, "temperature: "),
        ({"temperature": "hot"}, 400, "temperature: "),
        ({"top_p": 0}, 400, "top_p: "),
        ({"n": 2}, 400, "n: "),
        ({"seed": 2**70}, 400, "seed: "),
        ({"logit_bias": {"5": 1}}, 400, "logit_bias: "),
        ({"presence_penalty": 0.5}, 400, "presence_penalty: "),
        ({"response_format": {"type": "json_object"}}, 400, "response_format can only be text"),
        ({"tool_choice": "required"}, 400, "tool_choice"),
    ],
    ids=str,
)
def test_a_bad_request_is_told_what_is_wrong(
    client: httpx.Client, fields: dict[str, Any], status: int, told: str
) -> None:
    for stream in (False, True):
        response = client.post("/chat/completions", json={**body(), **fields, "stream": stream})
        assert response.status_code == status
        assert told in ErrorBody.model_validate(response.json()).error.message


def test_other_errors_have_the_same_shape(client: httpx.Client) -> None:
    for response, status in [
        (client.post("/chat/completions", content=b"{"), 400),
        (client.post("/chat/completions", content=b"[]"), 400),
        (client.post("/chat/completions", content=b" " * (65 * 2**20)), 413),
        (client.get("/chat/completions"), 405),
        (client.get("/nothing"), 404),
    ]:
        assert response.status_code == status
        assert ErrorBody.model_validate(response.json()).error.message


def test_what_does_not_change_the_reply_is_taken(client: httpx.Client) -> None:
    plain = asked(client)
    more = asked(client, n=1, presence_penalty=0.0, response_format={"type": "text"}, user="me", metadata={"a": 1})
    assert more["choices"] == plain["choices"]


def test_requests_at_once_are_each_answered_as_if_alone(client: httpx.Client) -> None:
    alone = [asked(client, seed=seed, **TRACED)["choices"] for seed in range(6)]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda seed: asked(client, seed=seed, **TRACED)["choices"], range(6)))
    assert together == alone


def test_a_client_that_hangs_up_does_not_hold_up_the_others(client: httpx.Client) -> None:
    """The likeliest tokens of a random model go round in circles: 15,000 of them take longer than the client waits."""
    endless = {"temperature": 0, "messages": [message("user", "go")]}
    assert asked(client, max_tokens=500, **endless)["choices"][0]["finish_reason"] == "length"
    for _ in range(3):
        with client.stream(
            "POST", "/chat/completions", json=body(stream=True, max_tokens=15000, **endless)
        ) as response:
            assert "chunk" in next(response.iter_lines())
    whole = httpx.Client(base_url=client.base_url, timeout=1)
    with whole, pytest.raises(httpx.ReadTimeout):
        whole.post("/chat/completions", json=body(max_tokens=15000, **endless))
    assert asked(client)["choices"]


def test_the_openai_client_is_served(url: str) -> None:
    with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        given: Any = {"model": "small", "messages": ASKED, "max_tokens": 12, "seed": 1}
        whole: Any = client.chat.completions.create(**given, logprobs=True, extra_body={"return_token_ids": True})
        assert len(whole.choices[0].token_ids) == len(whole.choices[0].logprobs.content)
        chunks: Any = list(client.chat.completions.create(**given, stream=True))
        assert "".join(c.choices[0].delta.content or "" for c in chunks) == whole.choices[0].message.content
        with pytest.raises(openai.BadRequestError, match="top_p"):
            client.chat.completions.create(**given, top_p=7)
        with pytest.raises(openai.NotFoundError, match="no model"):
            client.chat.completions.create(**{**given, "model": "other"})
        assert [each.id for each in client.models.list()] == ["small"]
