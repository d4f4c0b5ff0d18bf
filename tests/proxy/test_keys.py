from __future__ import annotations

import logging
import stat
import time
from pathlib import Path

import httpx
import pytest

from guiforge.outcome import Outcome, Status
from guiforge.proxy import Limits, admin_key
from guiforge.proxy.keys import ADMIN_FILE, SECRET_FILE, Keys
from tests.proxy.world import HELLO, TASK, Upstream, World, error, eventually, png, showing, upstream, world


def refused(reply: httpx.Response) -> tuple[int, str]:
    assert reply.headers["x-should-retry"] == "false"
    return reply.status_code, reply.json()["error"]["type"]


def test_a_key_says_its_episode_and_deadline_and_any_change_of_it_says_nothing(tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    key = keys.mint("c", "0123456789abcdef", 1234.5)
    claim = keys.read(key)
    assert claim is not None and (claim.kind, claim.episode, claim.deadline) == ("c", "0123456789abcdef", 1234.5)
    for i in range(len(key)):
        for letter in "0f-x":
            changed = key[:i] + letter + key[i + 1 :]
            assert changed == key or keys.read(changed) is None
    for odd in ("", "gf-", "gf-c-x", key + "é", "gf-c-1-2-3-4", "\ud800"):
        assert keys.read(odd) is None
    again = Keys(tmp_path)
    assert again.read(key) == claim and again.mint("c", "0123456789abcdef", 1234.5) == key


def test_the_secrets_of_a_run_are_its_owners_alone(tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    for name in (SECRET_FILE, ADMIN_FILE):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    assert keys.is_admin(admin_key(tmp_path)) and not keys.is_admin("") and not keys.is_admin("gf-a-é")


def test_a_key_may_come_as_bearer_or_as_x_api_key(w: World) -> None:
    key = w.opened.completions_key
    for headers in ({"Authorization": f"bearer {key}"}, {"x-api-key": key}):
        reply = w.client.post(f"{w.url}/chat/completions", json=HELLO, headers=headers)
        assert reply.status_code == 200


def test_keys_that_open_nothing(w: World, up: Upstream, tmp_path: Path) -> None:
    assert refused(w.client.post(f"{w.url}/chat/completions", json=HELLO)) == (401, "invalid_api_key")
    assert refused(w.ask(key="sk-something")) == (401, "invalid_api_key")
    assert refused(w.ask(key=w.opened.worker_key)) == (403, "wrong_key")
    with world(tmp_path / "other", up.url) as other:
        assert refused(w.ask(key=other.opened.completions_key)) == (401, "invalid_api_key")
    assert refused(w.ask(key=w.proxy.keys.mint("c", "f" * 16, 9e9))) == (401, "unknown_episode")
    assert up.asked == [] and w.calls() == []


def test_a_key_past_its_deadline_is_refused(w: World) -> None:
    _, opened = w.open(deadline_s=0.001)
    eventually(lambda: time.time() >= opened.deadline)
    assert refused(w.ask(key=opened.completions_key)) == (403, "key_expired")


def test_a_key_of_an_earlier_try_is_refused(w: World) -> None:
    w.running.open(w.key, 700, task=TASK)
    assert refused(w.ask()) == (401, "key_replaced")


def test_a_sealed_episode_is_refused_and_others_go_on(w: World) -> None:
    key, opened = w.open()
    w.ask()
    w.running.seal(w.key)
    assert refused(w.ask()) == (409, "episode_sealed")
    assert w.ask(key=opened.completions_key).status_code == 200
    assert (len(w.calls()), len(w.store.calls(key))) == (1, 1)


def test_each_key_records_into_its_own_episode(w: World) -> None:
    key, opened = w.open()
    w.ask(HELLO | {"seed": 1})
    w.ask(HELLO | {"seed": 2}, key=opened.completions_key)
    assert [call.request["seed"] for call in w.calls()] == [1]
    assert [call.request["seed"] for call in w.store.calls(key)] == [2]


def test_an_episode_goes_on_after_a_restart_with_its_key_and_counters(up: Upstream, tmp_path: Path) -> None:
    with world(tmp_path / "run", up.url) as first:
        key, opened = first.open(limits=None)
        assert [first.ask(showing(png(1)), key=opened.completions_key).status_code for _ in range(2)] == [200, 200]
    with world(tmp_path / "run", up.url, limits=Limits(calls=3)) as second:
        assert second.ask(key=opened.completions_key).status_code == 200
        assert [call.index for call in second.store.calls(key)] == [0, 1, 2]
        assert refused(second.ask(key=opened.completions_key)) == (429, "limit_calls")


def test_an_episode_that_ended_is_sealed_after_a_restart_too(up: Upstream, tmp_path: Path) -> None:
    with world(tmp_path / "run", up.url) as first:
        key, opened = first.open()
        first.store.finish(key, Outcome.fault(Status.CANCELLED, "by hand"), None, {})
    with world(tmp_path / "run", up.url) as second:
        assert refused(second.ask(key=opened.completions_key)) == (409, "episode_sealed")


def test_no_key_is_in_any_log_text_or_repr(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    with upstream(error(401)) as up, world(tmp_path / "run", up.url, api_key="sk-upstream-secret") as w:
        keys = [w.opened.completions_key, w.opened.worker_key, admin_key(w.store.path), "sk-upstream-secret"]
        replies = [w.ask(), w.ask(key=w.opened.worker_key), w.ask([1])]
        up.script = error(400)
        replies.append(w.ask())
        w.client.post(f"{w.root}/worker/step", json={}, headers=w.headers(w.opened.worker_key))
        w.client.post(f"{w.root}/admin/pause", json={}, headers=w.headers(keys[2] + "x"))
        told = [r.text for r in replies] + [repr(w.opened), repr(w.proxy.keys), repr(w.proxy.upstream), str(w.calls())]
        told += [httpx.get(f"{w.root}{path}", trust_env=False).text for path in ("/metrics", "/healthz")]
    told += [caplog.text, *capfd.readouterr()]
    told += [f.read_bytes().decode("latin-1") for f in (tmp_path / "run").glob("run*")]
    assert not [key for key in keys for text in told if key in text]
