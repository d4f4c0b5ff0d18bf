from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.proxy.world import (
    HELLO,
    STREAM,
    WAIT_S,
    Upstream,
    World,
    error,
    eventually,
    png,
    showing,
    streamed,
    whole,
    with_tokens,
    world,
)

KEY = {"Idempotency-Key": "one"}


@pytest.mark.parametrize("stream", [False, True])
def test_a_request_tried_again_with_its_key_is_one_call_and_gets_the_same_reply(
    w: World, up: Upstream, stream: bool
) -> None:
    if stream:
        up.script = streamed(*STREAM)
    body = showing(png(1)) | {"stream": stream}
    replies = [w.ask(body, **KEY) for _ in range(3)]
    assert {reply.status_code for reply in replies} == {200} and len({reply.content for reply in replies}) == 1
    (call,) = w.calls()
    assert call.idempotency_key == "one" and len(up.asked) == 1


def test_the_same_body_without_a_key_or_with_another_is_another_call(w: World, up: Upstream) -> None:
    for headers in ({}, {}, KEY, {"Idempotency-Key": "two"}, {"x-stainless-retry-count": "1"}):
        assert w.ask(**headers).status_code == 200
    assert len(w.calls()) == len(up.asked) == 5


def test_a_second_request_gets_the_reply_of_the_first_while_that_goes_on(w: World, up: Upstream) -> None:
    go = threading.Event()
    up.script = streamed(STREAM[0], go, *STREAM[1:])
    with ThreadPoolExecutor(1) as pool, w.stream(HELLO, **KEY) as first:
        pieces = first.iter_raw()
        begun = next(pieces)
        second = pool.submit(w.ask, HELLO | {"stream": True}, **KEY)
        go.set()
        assert begun + b"".join(pieces) == second.result(WAIT_S).content == b"".join(STREAM)
    assert len(w.calls()) == len(up.asked) == 1


def test_a_call_with_a_key_goes_on_when_its_harness_hangs_up(w: World, up: Upstream) -> None:
    go = threading.Event()
    up.script = streamed(STREAM[0], go, *STREAM[1:])
    with w.stream(HELLO, **KEY) as first:
        next(first.iter_raw())
    go.set()
    assert w.ask(HELLO | {"stream": True}, **KEY).content == b"".join(STREAM)
    (call,) = w.calls()
    assert not call.cut and len(up.asked) == 1


def test_a_call_that_failed_is_asked_anew(w: World, up: Upstream) -> None:
    up.script = error(400)
    assert w.ask(**KEY).status_code == 400
    up.script = whole(with_tokens([1], [2]))
    assert w.ask(**KEY).status_code == 200
    assert [call.idempotency_key for call in w.calls()] == [None, "one"]


def test_a_key_used_for_another_request_is_refused(w: World) -> None:
    w.ask(**KEY)
    reply = w.ask(HELLO | {"seed": 3}, **KEY)
    assert (reply.status_code, reply.json()["error"]["type"]) == (422, "idempotency_mismatch")


def test_a_reply_is_replayed_after_a_restart(up: Upstream, tmp_path: Path) -> None:
    with world(tmp_path / "run", up.url) as first:
        key, opened = first.open()
        reply = first.ask(key=opened.completions_key, **KEY)
    with world(tmp_path / "run", up.url) as second:
        again = second.ask(key=opened.completions_key, **KEY)
        assert again.content == reply.content and len(second.store.calls(key)) == len(up.asked) == 1


def test_a_sealed_episode_ends_those_who_wait(w: World, up: Upstream) -> None:
    up.script = streamed(None)
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(w.ask, HELLO, **KEY)
        eventually(lambda: up.asked)
        w.running.seal(w.key)
        reply: httpx.Response = asking.result(WAIT_S)
    assert (reply.status_code, reply.json()["error"]["type"]) == (409, "episode_sealed")
    assert w.calls()[0].cut
