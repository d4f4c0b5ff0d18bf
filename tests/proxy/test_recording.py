from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from guiforge.frame import content_hash
from guiforge.store import RunReader
from guiforge.store.reader import DATABASE
from tests.proxy.world import (
    HELLO,
    STREAM,
    WAIT_S,
    Upstream,
    World,
    chunk,
    completion,
    deltas,
    event,
    png,
    showing,
    streamed,
    whole,
    with_tokens,
)


def test_a_call_is_kept_as_it_was_sent_and_as_it_was_answered(w: World, up: Upstream) -> None:
    body = HELLO | {"temperature": 0.25, "a_field_of_tomorrow": {"x": [1]}}
    reply = w.ask(body)
    assert reply.json() == completion()
    (call,) = w.calls()
    assert (call.index, call.step, call.wire, call.request) == (0, 0, "chat", body)
    assert up.asked[0]["a_field_of_tomorrow"] == {"x": [1]}
    assert call.sampling == {"model": "m", "temperature": 0.25}
    assert call.message == {"role": "assistant", "content": "Hello there"}
    assert (call.finish_reason, call.usage["completion_tokens"], call.upstream) == ("stop", 2, up.url)
    assert call.tokens is None and not call.cut and call.error is None and call.tries == 1
    assert call.first_byte is not None and call.queued <= call.first_byte <= call.last_byte


@pytest.mark.parametrize("stream", [False, True])
def test_the_end_of_a_reply_leaves_only_after_its_call_is_committed(w: World, up: Upstream, stream: bool) -> None:
    up.script = streamed(*STREAM) if stream else whole(completion())
    blocker = sqlite3.connect(w.store.path / DATABASE, isolation_level=None)
    got: list[bytes] = []
    begun = threading.Event()

    def ask() -> None:
        where, body = f"{w.url}/chat/completions", HELLO | {"stream": stream}
        with httpx.stream("POST", where, json=body, headers=w.headers(), timeout=WAIT_S, trust_env=False) as reply:
            for piece in reply.iter_raw():
                got.append(piece)
                begun.set()

    blocker.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(1) as pool:
        try:
            asking = pool.submit(ask)
            if stream:
                assert begun.wait(WAIT_S)  # its beginning does not wait
            assert not pool.submit(lambda: None).running() and not asking.done()
            asking_done_early = begun.wait(0.5) and not stream
        finally:
            blocker.execute("ROLLBACK")
            blocker.close()
        asking.result(WAIT_S)
    assert not asking_done_early
    text = b"".join(got).decode()
    assert ("[DONE]" in text) == stream
    assert len(w.calls()) == 1


def test_deltas_are_sent_on_as_they_come_and_the_end_is_what_the_upstream_sent(w: World, up: Upstream) -> None:
    go = threading.Event()
    up.script = streamed(STREAM[0], go, *STREAM[1:])
    with w.stream() as reply:
        pieces = reply.iter_raw()
        first = next(pieces)
        assert deltas(first.decode()) == "Hel" and not w.calls()
        go.set()
        text = (first + b"".join(pieces)).decode()
    assert text.encode() == b"".join(STREAM)
    (call,) = w.calls()
    assert call.message == {"role": "assistant", "content": "Hello"}
    assert call.raw.encode() == b"".join(STREAM)


def test_a_client_that_hangs_up_leaves_what_was_sampled(exact: World, up: Upstream) -> None:
    first = chunk("Hel", token_ids=[7, 8], logprobs={"content": [{"logprob": -0.5}, {"logprob": -0.25}]})
    up.script = streamed(event(first | {"prompt_token_ids": [1, 2, 3]}), None)
    with exact.stream() as reply:
        assert deltas(next(reply.iter_raw()).decode()) == "Hel"
    assert up.hung_up.wait(WAIT_S)  # the upstream samples no further
    exact.running.seal(exact.key)  # returns once all is kept
    (call,) = exact.calls()
    assert call.cut and "hung up" in (call.error or "")
    assert call.message == {"role": "assistant", "content": "Hel"}
    assert call.tokens is not None
    assert (call.tokens.prompt_ids, call.tokens.sampled_ids) == ((1, 2, 3), (7, 8))
    assert call.tokens.logprobs == (-0.5, -0.25) and call.finish_reason is None


def test_a_client_that_hangs_up_before_any_byte_leaves_a_cut_call(w: World, up: Upstream) -> None:
    up.script = streamed(None)
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{w.url}/chat/completions", json=HELLO, headers=w.headers(), timeout=0.5, trust_env=False)
    assert up.hung_up.wait(WAIT_S)
    w.running.seal(w.key)
    (call,) = w.calls()
    assert call.cut and call.message is None and call.request == HELLO


def test_an_upstream_that_breaks_off_is_told_in_the_stream_and_kept_as_cut(w: World, up: Upstream) -> None:
    up.script = streamed(*STREAM[:2], cut=True)
    with w.stream() as reply:
        text = reply.read().decode()
    assert deltas("\n".join(line for line in text.split("\n") if '"error"' not in line)) == "Hello"
    assert "upstream_broke_off" in text and "[DONE]" not in text
    (call,) = w.calls()
    assert call.cut and call.message == {"role": "assistant", "content": "Hello"}
    assert (call.error or "").startswith("upstream_broke_off")


def test_an_error_in_the_middle_of_a_stream_is_passed_on(w: World, up: Upstream) -> None:
    up.script = streamed(STREAM[0], event({"error": {"message": "engine died", "type": "internal", "code": 500}}))
    with w.stream() as reply:
        text = reply.read().decode()
    assert "engine died" in text and "[DONE]" not in text
    assert "engine died" in (w.calls()[0].error or "")


@pytest.mark.parametrize("rubbish", [b"<html>", b"[]", b'{"choices": []}', b'{"choices": [{"message": 3}]}'])
def test_rubbish_is_an_error_of_the_upstream_never_of_the_proxy(w: World, up: Upstream, rubbish: bytes) -> None:
    async def script(request: object, asked: object) -> object:
        from aiohttp import web

        return web.Response(body=rubbish, content_type="application/json")

    up.script = script  # type: ignore[assignment]
    reply = w.ask()
    assert (reply.status_code, reply.json()["error"]["type"]) == (502, "upstream_rubbish")
    (call,) = w.calls()
    assert call.message is None and call.raw == rubbish.decode() and "rubbish" in (call.error or "")


def test_tokens_are_asked_for_kept_exactly_and_not_sent_to_a_harness_that_did_not_ask(
    exact: World, up: Upstream
) -> None:
    up.script = whole(with_tokens([1, 2, 3], [4, 5]))
    reply = exact.ask().json()
    assert up.asked[0]["return_token_ids"] is True and up.asked[0]["logprobs"] is True
    assert "prompt_token_ids" not in reply and "token_ids" not in reply["choices"][0]
    assert reply["choices"][0]["logprobs"] is None
    asked = exact.ask(HELLO | {"logprobs": True, "return_token_ids": True}).json()
    assert asked == with_tokens([1, 2, 3], [4, 5])
    for call in exact.calls():
        assert call.tokens is not None
        assert (call.tokens.prompt_ids, call.tokens.sampled_ids) == ((1, 2, 3), (4, 5))
        assert call.tokens.logprobs == (-0.625, -0.75)


def test_tokens_of_a_stream_are_joined_and_its_usage_is_held_back_unless_asked_for(exact: World, up: Upstream) -> None:
    logprobs = {"content": [{"logprob": -0.5}]}
    pieces = [
        chunk("", delta={"role": "assistant", "content": ""}) | {"prompt_token_ids": [1, 2]},
        chunk("a", token_ids=[3], logprobs=logprobs),
        chunk(token_ids=[4], logprobs=logprobs),  # a token without text
        chunk("b", token_ids=[5], logprobs=logprobs, finish_reason="stop"),
        {"id": "c1", "choices": [], "usage": {"prompt_tokens": 2, "completion_tokens": 3}},
    ]
    up.script = streamed(*map(event, pieces), event("[DONE]"))
    with exact.stream() as reply:
        text = reply.read().decode()
    assert deltas(text) == "ab" and "token_ids" not in text and '"usage"' not in text
    with exact.stream(HELLO | {"stream_options": {"include_usage": True}}) as reply:
        assert '"completion_tokens":3' in reply.read().decode().replace(" ", "")
    for call in exact.calls():
        assert call.tokens is not None and call.usage == {"prompt_tokens": 2, "completion_tokens": 3}
        assert (call.tokens.prompt_ids, call.tokens.sampled_ids) == ((1, 2), (3, 4, 5))
        assert call.tokens.logprobs == (-0.5, -0.5, -0.5)


def test_tokens_that_are_fewer_than_were_counted_are_not_kept_as_exact(exact: World, up: Upstream) -> None:
    made = with_tokens([1, 2], [3, 4])
    up.script = whole(made | {"usage": {"completion_tokens": 9}})
    exact.ask()
    assert exact.calls()[0].tokens is None


def test_a_call_names_the_one_whose_prompt_and_reply_it_goes_on_from(exact: World, up: Upstream) -> None:
    for prompt, sampled in (([1, 2], [3]), ([1, 2, 3, 9], [4]), ([1, 2, 9], [5]), ([1, 2, 3, 9, 4, 6], [7])):
        up.script = whole(with_tokens(prompt, sampled))
        assert exact.ask().status_code == 200
    assert [call.parent for call in exact.calls()] == [None, 0, None, 1]


def test_an_upstream_that_does_not_stream_still_serves_a_harness_that_does(w: World, up: Upstream) -> None:
    tool = {"id": "t1", "type": "function", "function": {"name": "click", "arguments": '{"x": 1}'}}
    made = completion()
    made["choices"][0] |= {"message": {"role": "assistant", "content": "Hi", "tool_calls": [tool]}}
    up.script = whole(made)
    with w.stream() as reply:
        text = reply.read().decode()
    assert deltas(text) == "Hi" and '"click"' in text and text.endswith("data: [DONE]\n\n")
    assert (w.calls()[0].message or {})["tool_calls"] == [tool]


def test_images_are_stored_once_and_named_by_their_hash(w: World, up: Upstream) -> None:
    first, second = png(1), png(2)
    sent = [showing(first), showing(first, second), showing(first, second, first)]
    for body in sent:
        assert w.ask(body).status_code == 200
    assert up.asked == [body | {} for body in sent]  # the policy sees them as they came
    names = [part["image_url"]["url"] for part in w.calls()[2].request["messages"][0]["content"][1:]]
    assert names == [f"image:{content_hash(data)}" for data in (first, second, first)]
    assert w.store.image_bytes(content_hash(second)) == second
    metrics = httpx.get(f"{w.root}/metrics", trust_env=False).text
    assert "guiforge_proxy_images_decoded 2.0" in metrics and "guiforge_proxy_images_total 6.0" in metrics


def test_calls_in_parallel_each_get_a_place_of_their_own(w: World, up: Upstream) -> None:
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda i: w.ask(HELLO | {"seed": i}), range(40)))
    assert {reply.status_code for reply in replies} == {200}
    calls = w.calls()
    assert [call.index for call in calls] == list(range(40))
    assert sorted(call.request["seed"] for call in calls) == list(range(40))


def test_another_process_can_read_what_was_recorded_while_it_goes_on(w: World) -> None:
    w.ask()
    with RunReader(w.store.path) as reader:
        assert len(reader.calls(w.key)) == 1
