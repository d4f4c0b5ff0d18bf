"""The scheduler, with real worker processes and a world that breaks in every way."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from guiforge.bench.lint import lint
from guiforge.env import FileEntry, Snapshot
from guiforge.episode import load
from guiforge.fleet import Event, Finished, Retried, Started, run_episodes
from guiforge.fleet.channel import AsyncChannel, Channel
from guiforge.fleet.desk import Desk, Served
from guiforge.fleet.worker import ChannelLink, ChannelRecorder
from guiforge.frame import content_hash
from guiforge.outcome import Outcome, Status
from guiforge.store import Store
from guiforge.trace import EpisodeSpec, Step
from tests.fleet.conftest import MakeSpec


def run(store: Store, specs: Sequence[EpisodeSpec], concurrency: int = 2, retries: int = 0) -> list[Event]:
    events: list[Event] = []
    asyncio.run(run_episodes(specs, store, concurrency=concurrency, on_event=events.append, retries=retries))
    return events


def outcome(store: Store, spec: EpisodeSpec) -> Outcome:
    found = store.episode(spec.key).outcome
    assert found is not None
    return found


def workers() -> list[psutil.Process]:
    return [
        p for p in psutil.Process().children(recursive=True)
        if p.status() != psutil.STATUS_ZOMBIE and "guiforge.fleet.worker" in " ".join(p.cmdline())
    ]  # fmt: skip


def test_the_oracle_solves_and_the_null_policy_does_not_and_no_worker_is_left(spec: MakeSpec, tmp_path: Path) -> None:
    specs = [spec("press", seed, policy=policy) for seed in range(3) for policy in ("oracle", "null")]
    with Store(tmp_path / "run") as store:
        run(store, specs)
        for s in specs:
            want = Status.SOLVED if s.key.policy == "oracle" else Status.FAILED
            assert outcome(store, s).status is want
            assert outcome(store, s).reward == float(want is Status.SOLVED)
            steps, calls = store.steps(s.key), store.calls(s.key)
            assert len(steps) == len(calls) == (2 if want is Status.SOLVED else 1)
            assert all(len(store.image_bytes(step.frame)) > 0 for step in steps)
    assert workers() == []


@pytest.mark.parametrize(
    ("family", "status", "owner", "reward"),
    [
        ("reset-breaks", Status.ENV_ERROR, None, None),
        ("reset-hangs", Status.TIMEOUT, "env", None),
        ("step-hangs", Status.TIMEOUT, "env", None),
        ("step-has-a-bug", Status.ENV_ERROR, None, None),
        ("close-breaks", Status.ENV_ERROR, None, None),
        ("worker-dies", Status.ENV_ERROR, None, None),
        ("grader-breaks", Status.GRADER_ERROR, None, None),
        ("grader-hangs", Status.TIMEOUT, "grader", None),
        ("policy-breaks", Status.POLICY_ERROR, None, None),
        ("never-ends", Status.TRUNCATED, None, 0.0),
    ],
)
def test_each_fault_ends_with_its_status_and_only_the_policys_own_with_a_reward(
    spec: MakeSpec, tmp_path: Path, family: str, status: Status, owner: str | None, reward: float | None
) -> None:
    broken, whole = spec(family), spec("press")
    with Store(tmp_path / "run") as store:
        run(store, [broken, whole], concurrency=1)
        found = outcome(store, broken)
        assert (found.status, found.owner, found.reward) == (status, owner, reward)
        assert outcome(store, whole).status is Status.SOLVED, "the next episode is untouched"


def test_a_passing_state_is_solved_though_the_policy_then_ran_out_of_time(spec: MakeSpec, tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store:
        run(store, [spec("policy-hangs")])
        assert outcome(store, spec("policy-hangs")).status is Status.SOLVED


def test_a_wait_that_the_policy_asks_for_is_no_fault_of_the_world(spec: MakeSpec, tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store:
        run(store, [spec("policy-waits")])
        assert outcome(store, spec("policy-waits")).status is Status.SOLVED


@pytest.mark.parametrize(
    ("family", "owner", "reward"), [("policy-waits-on", "policy", 0.0), ("step-is-slow", "env", None)]
)
def test_the_wall_clock_is_charged_to_who_used_it(
    spec: MakeSpec, tmp_path: Path, family: str, owner: str, reward: float | None
) -> None:
    with Store(tmp_path / "run") as store:
        run(store, [spec(family)])
        found = outcome(store, spec(family))
        assert (found.status, found.owner, found.reward) == (Status.TIMEOUT, owner, reward)


def test_a_harness_that_goes_on_whatever_happens_takes_no_step_after_the_end(spec: MakeSpec, tmp_path: Path) -> None:
    done, broken = spec("press", harness="deaf"), spec("step-has-a-bug", harness="deaf")
    with Store(tmp_path / "run") as store:
        run(store, [done, broken])
        assert outcome(store, done).status is Status.FAILED
        assert outcome(store, broken).status is Status.ENV_ERROR
        assert [len(store.steps(s.key)) for s in (done, broken)] == [1, 1]


def test_what_broke_is_told_though_the_worker_then_breaks_too(spec: MakeSpec, tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store:
        run(store, [spec("close-breaks"), spec("press")], concurrency=1, retries=1)
        assert outcome(store, spec("close-breaks")).cause == "button: fell off"
        assert outcome(store, spec("press")).status is Status.SOLVED


def test_a_harness_that_never_comes_back_is_a_timeout_of_the_policy(spec: MakeSpec, tmp_path: Path) -> None:
    stuck = spec("press", harness="stubborn")
    with Store(tmp_path / "run") as store:
        run(store, [stuck])
        found = outcome(store, stuck)
        assert (found.status, found.owner, found.reward) == (Status.TIMEOUT, "policy", 0.0)


def test_a_fault_is_tried_afresh_and_then_kept(spec: MakeSpec, tmp_path: Path) -> None:
    flaky, broken = spec("flaky"), spec("reset-breaks")
    with Store(tmp_path / "run") as store:
        events = run(store, [flaky, broken], retries=1)
        assert outcome(store, flaky).status is Status.SOLVED
        assert outcome(store, broken).status is Status.ENV_ERROR
    assert [e.key.task for e in events if isinstance(e, Retried)].count("faultworld/flaky") == 1
    assert sum(isinstance(e, Finished) for e in events) == 2
    assert sum(isinstance(e, Started) for e in events) == 4


def test_no_concurrency_is_refused(spec: MakeSpec, tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store, pytest.raises(ValueError, match="concurrency"):
        run(store, [spec("press")], concurrency=0)


_RUN = """
import asyncio, sys
from guiforge.fleet import run_episodes
from guiforge.store import Store
from guiforge.trace import EpisodeSpec
specs = [EpisodeSpec.model_validate_json(line) for line in open(sys.argv[2])]
with Store(sys.argv[1]) as store:
    todo = [s for s in specs if s.key not in store.finished_keys()]
    asyncio.run(run_episodes(todo, store, concurrency=2, on_event=lambda e: print(e, flush=True)))
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_leaves_no_worker_and_resumed_repeats_nothing_finished(
    spec: MakeSpec, tmp_path: Path, how: signal.Signals
) -> None:
    specs = [spec("press", seed) for seed in range(12)]
    (tmp_path / "specs").write_text("\n".join(s.model_dump_json() for s in specs))
    command = [sys.executable, "-c", _RUN, str(tmp_path / "run"), str(tmp_path / "specs")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    finished = 0
    for line in process.stdout:
        finished += line.startswith("Finished")
        if finished == 3:
            break
    children = psutil.Process(process.pid).children(recursive=True)
    os.kill(process.pid, how)
    process.stdout.close()
    process.wait(20)
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []
    with Store(tmp_path / "run") as store:
        before = {e.key: e.ended for e in store.episodes() if e.outcome is not None}
        assert len(before) >= 3
    assert subprocess.run(command, stdout=subprocess.DEVNULL, timeout=120).returncode == 0
    with Store(tmp_path / "run") as store:
        assert {e.key for e in store.episodes()} == {s.key for s in specs}
        assert all(e.outcome is not None and e.outcome.status is Status.SOLVED for e in store.episodes())
        assert all(store.episode(key).ended == ended for key, ended in before.items()), "none was played again"


def test_what_a_model_said_and_a_program_named_reaches_the_store_as_it_was(spec: MakeSpec, tmp_path: Path) -> None:
    """Lone surrogates are no UTF-8, and come all the same: in file names, and in what a model writes."""
    key, odd = spec("press").key, "\udcff said \ud800"
    entry = FileEntry(hash=content_hash(b"x"), size=1, mode=0o644, mtime=0.0)
    snapshot = Snapshot(before={f"~/{odd}": entry}, after={f"~/{odd}": entry}, queries={"windows": [odd]})
    step = Step(index=0, frame=entry.hash, text=odd, started=1.0)
    ours, theirs = socket.socketpair()
    with Store(tmp_path / "run") as store:

        async def serve() -> None:
            channel = AsyncChannel(*await asyncio.open_connection(sock=ours))
            async with Desk(store).serving() as desk:
                served = Served(desk, spec("press"), channel, keep_faults=True)
                for _ in range(5):
                    await served.attend(await channel.receive())
            channel.close()

        server = threading.Thread(target=lambda: asyncio.run(serve()))
        server.start()
        channel = Channel(theirs)
        recorder = ChannelRecorder(channel)
        recorder.begin(key, load(spec("press"))[1])
        ChannelLink(channel).open(key)
        recorder.image(b"x", "image/png")
        recorder.step(key, step)
        recorder.state(key, snapshot, {entry.hash: b"x"})
        server.join(10)
        theirs.close()
        assert store.steps(key) == [step]
        assert store.snapshot(key)[0] == snapshot


def test_the_linter_names_what_does_not_hold_and_goes_on(spec: MakeSpec, tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store:
        found = lint("faultworld", store, ids=["press", "reset-breaks", "never-ends", "lies-about-itself"])
    told = {name: "; ".join(f.what for f in found if f.task == name) for name in {f.task for f in found}}
    assert "press" not in told
    assert "oracle got None" in told["reset-breaks"] and "null got None" in told["reset-breaks"]
    assert "oracle got 0.0" in told["never-ends"]
    assert "calls itself faultworld/press" in told["lies-about-itself"]


def test_a_crash_of_a_verifier_says_where(spec: MakeSpec, tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store:
        run(store, [spec("grader-breaks")])
        assert "ZeroDivisionError: a verifier's bug (__init__.py:" in str(outcome(store, spec("grader-breaks")).cause)
        assert "in _verify" in (store.path / "workers.log").read_text()
