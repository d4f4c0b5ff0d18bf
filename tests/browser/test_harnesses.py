"""Whole episodes on pages by each harness, the oracle answering in the harness's own format."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from guiforge.fleet import run_episodes
from guiforge.outcome import Status
from guiforge.store import Store
from guiforge.trace import EpisodeKey, EpisodeSpec

pytestmark = pytest.mark.suite

TASKS = (
    ("miniwob", "click-checkboxes"), ("miniwob", "enter-text"), ("webvoyager-like", "wiki_extension"),
    ("webvoyager-like", "bookmarks_rename_tag"),
)  # fmt: skip


def spec(harness: str, suite: str, family: str) -> EpisodeSpec:
    key = EpisodeKey(task=f"{suite}/{family}", seed=1, attempt=0, harness=harness, policy="oracle")
    return EpisodeSpec(key=key, suite=suite, family=family)


@pytest.mark.parametrize(
    ("harness", "begins"), [("react", '{"role": "assistant"'), ("molmoweb", '{"thought": "'), ("kimi", "## Thought\n")]
)
def test_an_oracle_solves_pages_in_each_harness_s_format(harness: str, begins: str, tmp_path: Path) -> None:
    specs = [spec(harness, *task) for task in TASKS]
    with Store(tmp_path / "run") as store:
        asyncio.run(run_episodes(specs, store, concurrency=1))
        ended = {each.family: store.episode(each.key).outcome for each in specs}
        assert {name: (o.status, o.cause) for name, o in ended.items() if o} == dict.fromkeys(
            ended, (Status.SOLVED, None)
        )
        for each in specs:
            assert all((call.reply or "").startswith(begins) for call in store.calls(each.key))
