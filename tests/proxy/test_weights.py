from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import httpx
import pytest

from guiforge.proxy import Limits
from tests.proxy.world import HELLO, STREAM, WAIT_S, Upstream, World, completion, eventually, streamed, whole


def health(w: World) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"{w.root}/healthz", trust_env=False).json()
    return found


def test_a_pause_waits_for_calls_in_flight_and_holds_new_ones_until_resume(w: World, up: Upstream) -> None:
    go = threading.Event()
    up.script = streamed(STREAM[0], go, *STREAM[1:])
    with ThreadPoolExecutor(4) as pool:
        with w.stream() as first:
            pieces = first.iter_raw()
            next(pieces)
            pausing = pool.submit(w.running.pause)
            eventually(lambda: health(w)["status"] == "paused")
            up.script = whole(completion("of the new weights"))
            second = pool.submit(w.ask)
            assert not wait([pausing], timeout=0.3).done and not second.done()
            go.set()
            b"".join(pieces)
            pausing.result(WAIT_S)
        assert health(w)["in_flight"] == 0 and not wait([second], timeout=0.3).done
        assert "guiforge_proxy_queue 1.0" in httpx.get(f"{w.root}/metrics", trust_env=False).text
        w.running.resume("step-7")
        assert second.result(WAIT_S).status_code == 200
    assert [call.policy_version for call in w.calls()] == ["", "step-7"]


def test_a_call_that_waits_is_let_go_with_its_deadline_or_its_harness(w: World) -> None:
    w.running.pause()
    _, opened = w.open(deadline_s=0.4)
    reply = w.ask(key=opened.completions_key)
    assert (reply.status_code, reply.json()["error"]["type"]) == (403, "key_expired")
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{w.url}/chat/completions", json=HELLO, headers=w.headers(), timeout=0.3, trust_env=False)
    w.running.resume()
    assert w.ask().status_code == 200


def test_an_episode_that_is_too_stale_is_refused(w: World) -> None:
    _, opened = w.open(limits=Limits(staleness=1))
    key = opened.completions_key
    w.running.resume("1")  # before its first call: no staleness of its
    assert w.ask(key=key).status_code == 200
    w.running.resume("2")
    w.running.resume("2")  # the same weights are no update
    assert w.ask(key=key).status_code == 200
    w.running.resume("3")
    reply = w.ask(key=key)
    assert (reply.status_code, reply.json()["error"]["type"]) == (409, "episode_stale")
    assert w.ask().status_code == 200  # an episode without that limit


def test_sealing_cuts_what_is_in_flight_and_keeps_it(w: World, up: Upstream) -> None:
    up.script = streamed(STREAM[0], None)
    with w.stream() as reply:
        next(reply.iter_raw())
        w.running.seal(w.key)
        (call,) = w.calls()
        assert call.cut and call.message == {"role": "assistant", "content": "Hel"}
    assert up.hung_up.wait(WAIT_S)
