from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from guiforge.frame import content_hash
from guiforge.outcome import Outcome, Status
from guiforge.proxy import Proxy, UpstreamFailed, WorkerUpstream, admin_key
from guiforge.store import Store
from tests.proxy.world import HELLO, KEY, TASK, Upstream, World, completion, data_url, png


def admin(w: World, path: str, body: Any, key: str | None = None) -> httpx.Response:
    headers = w.headers(admin_key(w.store.path) if key is None else key)
    return w.client.post(f"{w.root}/admin/{path}", json=body, headers=headers)


def test_an_episode_is_opened_and_sealed_over_http(w: World) -> None:
    key = KEY.model_copy(update={"attempt": 9})
    body = {"key": key.model_dump(), "task": TASK.model_dump(mode="json"), "deadline_s": 60, "limits": {"calls": 1}}
    opened = admin(w, "episodes", body).json()
    assert opened["episode"] == key.id and opened["base_url"] == w.url
    assert w.ask(key=opened["completions_key"]).status_code == 200
    assert w.ask(key=opened["completions_key"]).status_code == 429
    assert admin(w, f"episodes/{key.id}/seal", {}).json() == {"sealed": key.id}
    assert w.ask(key=opened["completions_key"]).status_code == 409
    w.store.finish(key, Outcome.fault(Status.CANCELLED, "by hand"), None, {})
    assert admin(w, "episodes", body).status_code in (200, 409)


@pytest.mark.parametrize("key", ["", "gf-a-0", "episode", "worker"])
def test_the_admin_routes_need_the_admin_key(w: World, key: str) -> None:
    key = {"episode": w.opened.completions_key, "worker": w.opened.worker_key}.get(key, key) or "none"
    for path in ("episodes", f"episodes/{w.key.id}/seal", "pause", "resume"):
        assert admin(w, path, {}, key).status_code == 401
    assert w.ask().status_code == 200


@pytest.mark.parametrize(
    "body",
    [{}, {"key": {}}, {"deadline_s": -1}, {"limits": {"colour": 1}}, {"limits": {"calls": -1}}, {"surprise": 1}, []],
)
def test_what_the_admin_asks_wrongly_is_said(w: World, body: Any) -> None:
    good = {"key": KEY.model_dump(), "deadline_s": 5}
    reply = admin(w, "episodes", {**good, **body} if body and isinstance(body, dict) else body)
    assert reply.status_code == 400 and reply.json()["error"]["message"]


def test_weights_are_changed_over_http(w: World) -> None:
    assert admin(w, "pause", {}).json() == {"paused": True}
    assert admin(w, "resume", {"policy_version": "v2"}).json() == {"policy_version": "v2"}
    w.ask()
    assert w.calls()[0].policy_version == "v2"


def worker(w: World, path: str, body: Any, key: str | None = None) -> httpx.Response:
    return w.client.post(f"{w.root}/worker/{path}", json=body, headers=w.headers(key or w.opened.worker_key))


def test_a_foreign_program_can_tell_steps_and_the_outcome(w: World) -> None:
    w.ask()
    step = {"started": 1.0, "actions": [{"kind": "click", "x": 3, "y": 4}]}
    told = worker(w, "step", {"step": step, "frame": data_url(png(7))})
    assert told.json() == {"step": 0, "frame": content_hash(png(7))}, told.text
    w.ask()
    outcome = Outcome.fault(Status.CANCELLED, "by hand").model_dump(mode="json")
    assert worker(w, "outcome", {"outcome": outcome}).json()["status"] == "cancelled"
    assert [call.step for call in w.calls()] == [0, 1]
    (kept,) = w.store.steps(w.key)
    assert kept.frame == content_hash(png(7)) and kept.actions[0].kind == "click"
    assert w.store.episode(w.key).status == "cancelled"
    assert w.ask().status_code == worker(w, "step", {"step": step}).status_code == 409


def test_a_harnesss_key_can_say_nothing_of_how_it_went(w: World) -> None:
    outcome = Outcome.fault(Status.CANCELLED, "by hand").model_dump(mode="json")
    for path, body in (("step", {"step": {}}), ("outcome", {"outcome": outcome})):
        assert worker(w, path, body, w.opened.completions_key).status_code == 403
    assert w.store.outcome(w.key) is None


def test_models_are_listed_for_both_kinds_of_client(w: World) -> None:
    reply = w.client.get(f"{w.url}/models", headers=w.headers()).json()
    assert reply["object"] == "list" and reply["has_more"] is False
    assert [(m["id"], m["object"], m["type"]) for m in reply["data"]] == [("m", "model", "model")]
    assert w.client.get(f"{w.url}/models/any/name", headers=w.headers()).json()["id"] == "any/name"
    assert w.client.get(f"{w.url}/models").status_code == 401


def test_tokens_are_estimated_where_nobody_counts(w: World) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "x" * 350}]}
    reply = w.client.post(f"{w.url}/messages/count_tokens", json=body, headers=w.headers())
    assert 90 <= reply.json()["input_tokens"] <= 130


def test_health_and_metrics_need_no_key_and_tell_none(w: World, up: Upstream) -> None:
    w.ask()
    w.ask(key="nobody")
    health = w.client.get(f"{w.root}/healthz").json()
    assert health["status"] == "serving" and health["in_flight"] == 0
    text = w.client.get(f"{w.root}/metrics").text
    for line in (
        'guiforge_proxy_calls_total{end="replied",wire="chat"} 1.0',
        'guiforge_proxy_refused_total{why="invalid_api_key"} 1.0',
        'guiforge_proxy_tokens_total{kind="sampled"} 2.0',
        "guiforge_proxy_commit_seconds_count 1.0",
        "guiforge_proxy_episodes 1.0",
    ):
        assert line in text


def test_a_worker_answers_for_its_own_episode(tmp_path: Path) -> None:
    asked: list[str] = []

    async def answer(episode: str) -> dict[str, Any]:
        asked.append(episode)
        if len(asked) == 2:
            raise UpstreamFailed(500, "oracle_error", "the oracle is stuck", upstream="worker")
        return completion("CLICK")

    async def play() -> None:
        with Store(tmp_path / "run") as store:
            proxy = Proxy(store, WorkerUpstream(answer))
            async with proxy.serving() as url, httpx.AsyncClient(trust_env=False) as client:
                opened = proxy.open(KEY, 60, task=TASK)
                headers = {"Authorization": f"Bearer {opened.completions_key}"}
                replies = [await client.post(f"{url}/chat/completions", json=HELLO, headers=headers) for _ in range(2)]
            assert replies[0].json()["choices"][0]["message"]["content"] == "CLICK"
            assert (replies[1].status_code, replies[1].json()["error"]["type"]) == (500, "oracle_error")
            assert asked == [KEY.id] * 2
            assert [call.error for call in store.calls(KEY)] == [None, "oracle_error: the oracle is stuck"]

    asyncio.run(play())
