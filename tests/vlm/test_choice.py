"""Replies that can only be one of some texts."""

from __future__ import annotations

import math
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vlm.test_serve import TRACED, body
from vlm.choice import Choice, spelling
from vlm.loading import Model

CHOICES = ["click(1, 2)", "click(10, 2)", 'type("naïve 日本 🙂")', "<tool_call>\n{}\n</tool_call>"]


@pytest.fixture
def client(url: str) -> Any:
    with httpx.Client(base_url=url, timeout=30) as found:
        yield found


def test_a_reply_is_one_of_the_texts_in_tokens_that_the_model_chose(client: httpx.Client, model: Model) -> None:
    said, ways = set[str](), set[tuple[int, ...]]()
    for seed in range(24):
        asked = body(seed=seed, max_tokens=80, structured_outputs={"choice": CHOICES}, temperature=1.5, **TRACED)
        choice = client.post("/chat/completions", json=asked).json()["choices"][0]
        assert choice["message"]["content"] in CHOICES and choice["finish_reason"] == "stop"
        said.add(choice["message"]["content"])
        ways.add(tuple(choice["token_ids"]))
        assert model.processor.tokenizer.decode(choice["token_ids"], skip_special_tokens=True) in CHOICES
        assert all(math.isfinite(entry["logprob"]) for entry in choice["logprobs"]["content"])
    assert len(said) >= 2 and len(ways) > len(said), "one text comes in several ways"


@pytest.mark.parametrize("choice", [[], [""], "click", None])
def test_what_is_no_choice_is_refused(client: httpx.Client, choice: Any) -> None:
    reply = client.post("/chat/completions", json=body(structured_outputs={"choice": choice}))
    assert reply.status_code == 400 and "structured_outputs" in reply.json()["error"]["message"]
    other = client.post("/chat/completions", json=body(structured_outputs={"regex": "a+"}))
    assert other.status_code == 400


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_any_way_through_says_one_of_the_texts(model: Model, texts: list[str], random: Any) -> None:
    tokenizer = model.processor.tokenizer
    spelled = spelling(tokenizer, tuple(model.barred))
    choice, ids = Choice(texts, spelled, model.ends), list[int]()
    while True:
        drawn = random.choice(sorted(choice.allowed()))
        if drawn in model.ends:
            break
        choice.said(drawn)
        ids.append(drawn)
    assert tokenizer.decode(ids) in texts
