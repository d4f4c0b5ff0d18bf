"""Reopening an episode: what ended without a reward may be played again, what has one never; whole or not at all."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from guiforge.outcome import Outcome, Status
from guiforge.store import AlreadyFinished, RunReader, Store, UnknownEpisode
from guiforge.task import Task
from guiforge.trace import EpisodeKey, Step

SOLVED = Outcome(status=Status.SOLVED, reward=1)
FAULT = Outcome.fault(Status.ENV_ERROR, "Xvfb died")


def key(seed: int = 0) -> EpisodeKey:
    return EpisodeKey(task="suite/task", seed=seed, attempt=0, harness="kimi", policy="oracle")


def ended(store: Store, seed: int, outcome: Outcome) -> None:
    store.begin(key(seed), Task(suite="suite", id="task", seed=seed, instruction="Do it."))
    store.step(key(seed), Step(index=0, frame=store.image(b"frame", "image/png"), started=1.5))
    store.finish(key(seed), outcome, "f" * 32, {"reset": 0.5})


@pytest.mark.parametrize(
    "outcome",
    [
        FAULT,
        Outcome.fault(Status.GRADER_ERROR, "bug"),
        Outcome.fault(Status.POLICY_ERROR, "down"),
        Outcome.timed_out("env", "slow"),
        Outcome.timed_out("grader", "slow"),
    ],
    ids=lambda o: f"{o.status}-{o.owner}",
)
def test_an_episode_without_a_reward_is_unfinished_once_reopened_and_can_be_played(
    tmp_path: Path, outcome: Outcome
) -> None:
    with Store(tmp_path / "run") as store:
        ended(store, 0, outcome)
        store.reopen(key())
        (episode,) = store.episodes()
        assert (episode.status, episode.ended, episode.last_frame, episode.timings) == ("unfinished", None, None, {})
        assert len(store.steps(key())) == 1 and store.finished_keys() == set()
        store.reopen(key())  # of an unfinished one it changes nothing
        ended(store, 0, SOLVED)
        assert store.outcome(key()) == SOLVED


@pytest.mark.parametrize("outcome", [SOLVED, Outcome(status=Status.FAILED, reward=0), Outcome.timed_out("policy", "s")])
def test_an_episode_with_a_reward_is_never_reopened(tmp_path: Path, outcome: Outcome) -> None:
    with Store(tmp_path / "run") as store:
        ended(store, 0, outcome)
        with pytest.raises(AlreadyFinished, match="has its reward"):
            store.reopen(key())
        assert store.outcome(key()) == outcome
        with pytest.raises(UnknownEpisode, match="not begun"):
            store.reopen(key(1))


REOPEN_ALL = """
import sys
from guiforge.store import Store
with Store(sys.argv[1]) as store:
    for episode in store.episodes():
        store.reopen(episode.key); print(episode.key.seed, flush=True)
"""


@pytest.mark.parametrize("lines_before_kill", [1, 17, 60])
def test_a_kill_while_episodes_are_reopened_leaves_each_whole(tmp_path: Path, lines_before_kill: int) -> None:
    count = 120
    with Store(tmp_path / "run") as store:
        for seed in range(count):
            ended(store, seed, FAULT)
    writer = subprocess.Popen(
        [sys.executable, "-c", REOPEN_ALL, str(tmp_path / "run")], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    said = [writer.stdout.readline() for _ in range(lines_before_kill)]
    writer.send_signal(signal.SIGKILL)
    said += writer.communicate()[0].splitlines()

    with RunReader(tmp_path / "run") as run:
        episodes = run.episodes()
    assert len(episodes) == count
    reopened = {e.key.seed for e in episodes if e.outcome is None}
    assert {int(line) for line in said if line.strip()} <= reopened
    for e in episodes:
        whole = (FAULT, "f" * 32, {"reset": 0.5}, True)
        assert (e.outcome, e.last_frame, e.timings, e.ended is not None) == (
            (None, None, {}, False) if e.key.seed in reopened else whole
        )
