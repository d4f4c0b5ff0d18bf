"""Whole episodes on a real desktop by each harness, the oracle answering in the harness's own format."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from guiforge.fleet import run_episodes
from guiforge.outcome import Status
from guiforge.store import Store
from guiforge.trace import EpisodeKey, EpisodeSpec

pytestmark = [pytest.mark.desktop, pytest.mark.suite]


def spec(harness: str, family: str) -> EpisodeSpec:
    key = EpisodeKey(task=f"osworld-like/{family}", seed=0, attempt=0, harness=harness, policy="oracle")
    return EpisodeSpec(key=key, suite="osworld-like", family=family)


def test_an_oracle_solves_a_desktops_task_by_tool_calls_and_in_molmowebs_format(tmp_path: Path) -> None:
    specs = [spec("react", "editor_set_config"), spec("molmoweb", "terminal_count")]
    with Store(tmp_path / "run") as store:
        asyncio.run(run_episodes(specs, store, concurrency=1))
        outcomes = [store.episode(each.key).outcome for each in specs]
        assert [outcome.status for outcome in outcomes if outcome] == [Status.SOLVED] * 2
        react, molmoweb = ([call.reply or "" for call in store.calls(each.key)] for each in specs)
    assert all('"tool_calls": [' in reply for reply in react)
    assert all(reply.startswith('{"thought": "') for reply in molmoweb)


def test_what_molmoweb_lacks_stops_its_oracle_by_name(tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store:
        asyncio.run(run_episodes([spec("molmoweb", "editor_set_config")], store, concurrency=1))
        outcome = store.episode(spec("molmoweb", "editor_set_config").key).outcome
    assert outcome is not None and outcome.status is Status.POLICY_ERROR and outcome.cause is not None
    assert "molmoweb can't say press: Control_L+Home is none of its keys: Enter, Escape" in outcome.cause
