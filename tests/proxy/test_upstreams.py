from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from guiforge.proxy import replicas
from tests.proxy.world import (
    HELLO,
    STREAM,
    WAIT_S,
    Script,
    Upstream,
    World,
    completion,
    error,
    event,
    eventually,
    streamed,
    upstream,
    whole,
    with_tokens,
    world,
)


def after(*scripts: Script) -> Script:
    """These, one a request; then the last for ever."""
    left = list(scripts)

    async def script(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        return await (left.pop(0) if len(left) > 1 else left[0])(request, asked)

    return script


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_fault_that_may_pass_is_tried_again_when_the_upstream_says(w: World, up: Upstream, status: int) -> None:
    up.script = after(error(status, headers={"retry-after": "0.05"}), whole(completion()))
    began = time.monotonic()
    assert w.ask().status_code == 200
    assert time.monotonic() - began < replicas.FIRST_PAUSE_S  # as it asked, not as we would
    (call,) = w.calls()
    assert call.tries == 2 and len(up.asked) == 2


def test_a_fault_that_does_not_pass_is_told_in_the_end_and_not_to_be_tried_again(w: World, up: Upstream) -> None:
    up.script = error(429, "too much", headers={"retry-after": "0"})
    reply = w.ask()
    assert reply.status_code == 429 and "too much" in reply.json()["error"]["message"]
    assert reply.headers["x-should-retry"] == "false"
    (call,) = w.calls()
    assert call.tries == len(up.asked) == replicas.TRIES and call.message is None
    assert "too much" in (call.error or "") and not call.cut


@pytest.mark.parametrize("status", [400, 404, 422])
def test_what_the_upstream_refuses_is_passed_on_and_not_tried_again(w: World, up: Upstream, status: int) -> None:
    up.script = error(status, "context too long")
    reply = w.ask()
    assert (reply.status_code, reply.json()["error"]["type"]) == (status, "scripted_error")
    assert len(up.asked) == 1 and "context too long" in (w.calls()[0].error or "")


def test_an_upstream_that_says_not_to_try_again_is_obeyed(w: World, up: Upstream) -> None:
    up.script = error(500, headers={"x-should-retry": "false"})
    assert w.ask().status_code == 500 and len(up.asked) == 1


def test_an_upstream_that_refuses_the_proxys_key_is_no_fault_of_the_harnesss_key(w: World, up: Upstream) -> None:
    up.script = error(401)
    reply = w.ask()
    assert (reply.status_code, reply.json()["error"]["type"]) == (502, "upstream_refused")


def test_the_proxys_key_for_the_upstream_is_sent_and_the_harnesss_is_not(up: Upstream, tmp_path: Path) -> None:
    with world(tmp_path / "run", up.url, api_key="sk-ours") as w:
        w.ask()
        assert up.headers[0]["Authorization"] == "Bearer sk-ours"
        assert w.opened.completions_key not in str(up.headers[0])


def test_an_episode_stays_with_one_replica_and_episodes_are_shared_out(tmp_path: Path) -> None:
    with upstream() as a, upstream() as b, world(tmp_path / "run", a.url, b.url) as w:
        keys = [w.open(attempt)[1].completions_key for attempt in range(1, 5)]
        for _ in range(3):
            for key in keys:
                assert w.ask(key=key).status_code == 200
        assert len(a.asked) == len(b.asked) == 6
        for attempt in range(1, 5):
            calls = w.store.calls(w.key.model_copy(update={"attempt": attempt}))
            assert len({call.upstream for call in calls}) == 1


def test_a_dead_replica_is_left_out_and_its_episodes_move(tmp_path: Path) -> None:
    with upstream() as b, upstream() as a, world(tmp_path / "run", a.url, b.url) as w:
        w.ask()
        first = w.calls()[0].upstream
        assert first == a.url
        a.script = error(503)
        for _ in range(3):
            assert w.ask().status_code == 200
        assert [call.upstream for call in w.calls()] == [a.url, b.url, b.url, b.url]
        assert [call.tries for call in w.calls()] == [1, 2, 1, 1]


def test_a_replica_that_takes_no_connection_is_left_out(tmp_path: Path) -> None:
    with upstream() as a:
        gone = a.url
    with upstream() as b, world(tmp_path / "run", gone, b.url) as w:
        assert w.ask().status_code == 200
        assert w.calls()[0].upstream == b.url


def test_nothing_is_tried_again_once_the_first_byte_came(tmp_path: Path) -> None:
    with upstream(streamed(STREAM[0], cut=True)) as a, upstream(streamed(*STREAM)) as b:
        with world(tmp_path / "run", a.url, b.url) as w, w.stream() as reply:
            text = reply.read().decode()
            assert "upstream_broke_off" in text and "[DONE]" not in text
        assert (len(a.asked), len(b.asked)) == (1, 0)


def test_a_call_ends_with_its_episodes_deadline(w: World, up: Upstream) -> None:
    up.script = streamed(None)
    key, opened = w.open(deadline_s=0.6)
    reply = w.ask(key=opened.completions_key)
    assert (reply.status_code, reply.json()["error"]["type"]) == (504, "deadline_passed")
    (call,) = w.store.calls(key)
    assert "deadline" in (call.error or "") and up.hung_up.wait(10)


def test_a_pause_that_the_deadline_does_not_allow_is_not_waited_for(w: World, up: Upstream) -> None:
    up.script = error(503, headers={"retry-after": "3600"})
    began = time.monotonic()
    assert w.ask().status_code == 503
    assert time.monotonic() - began < 5 and len(up.asked) == 1


def test_a_server_that_gives_tokens_is_asked_for_the_model_that_it_has(exact: World, up: Upstream) -> None:
    exact.ask(HELLO | {"model": "gpt-of-the-harness"})
    assert up.asked[0]["model"] == "m" and exact.calls()[0].request["model"] == "gpt-of-the-harness"
    assert exact.calls()[0].sampling["model"] == "m"


def test_other_endpoints_are_asked_for_nothing_that_they_may_not_know(w: World, up: Upstream) -> None:
    w.ask(HELLO | {"model": "theirs"})
    assert up.asked[0] == HELLO | {"model": "theirs"}


def test_a_stream_that_ends_without_its_last_event_is_taken_when_it_had_its_finish_reason(
    w: World, up: Upstream
) -> None:
    up.script = streamed(*STREAM[:3])
    with w.stream() as reply:
        assert reply.read().decode().endswith("data: [DONE]\n\n")
    assert not w.calls()[0].cut


def test_comments_that_keep_a_stream_alive_are_passed_on_and_not_kept(w: World, up: Upstream) -> None:
    up.script = streamed(b": ping\n\n", *STREAM)
    with w.stream() as reply:
        assert ": ping" in reply.read().decode()
    assert "ping" not in w.calls()[0].raw


def test_events_of_any_line_ending_are_read(w: World, up: Upstream) -> None:
    text = b"".join(STREAM).replace(b"\n", b"\r\n")
    up.script = streamed(*(text[i : i + 7] for i in range(0, len(text), 7)))
    with w.stream() as reply:
        assert "[DONE]" in reply.read().decode()
    assert w.calls()[0].message == {"role": "assistant", "content": "Hello"}


def test_a_usage_event_is_for_who_asked(w: World, up: Upstream) -> None:
    usage = event({"id": "c1", "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}})
    up.script = streamed(*STREAM[:3], usage, STREAM[3])
    with w.stream() as reply:
        assert '"usage"' not in reply.read().decode()
    assert w.calls()[0].usage == {"prompt_tokens": 1, "completion_tokens": 2}
    assert up.asked[0]["stream_options"] == {"include_usage": True}


def test_an_endpoint_that_is_not_there_yet_is_waited_for_so_that_no_call_is_inexact(tmp_path: Path) -> None:
    with upstream() as gone:
        port = urlsplit(gone.url).port or 0
    with world(tmp_path / "run", gone.url) as w, ThreadPoolExecutor(1) as pool:
        asking = pool.submit(w.ask)
        eventually(lambda: w.client.get(f"{w.root}/healthz").json()["in_flight"] == 1)
        with upstream(whole(with_tokens([1], [2])), port) as up:
            up.models = {"data": [{"id": "m", "owned_by": "vllm"}]}
            assert asking.result(WAIT_S).status_code == 200
        assert w.calls()[0].tokens is not None


def test_an_endpoint_that_never_comes_is_a_failed_call(tmp_path: Path) -> None:
    with world(tmp_path / "run", "http://127.0.0.1:1/v1") as w:
        key, opened = w.open(deadline_s=1.0)
        reply = w.ask(key=opened.completions_key)
        assert (reply.status_code, reply.json()["error"]["type"]) == (504, "deadline_passed")
        (call,) = w.store.calls(key)
        assert call.message is None and call.request == HELLO
