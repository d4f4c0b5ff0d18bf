"""Faults on the command line: retried as asked, counted, graded again with care, stopped tidily, never a traceback."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest

from guiforge.store import RunReader, Store, is_run
from guiforge.trace import EpisodeKey, EpisodeSpec
from tests.commands import GUIFORGE, environment, guiforge, rolled, started
from tests.endpoint import Endpoint, says
from tests.proxy.world import eventually


def key(task: str, seed: int = 0) -> EpisodeKey:
    return EpisodeKey(task=f"faultworld/{task}", seed=seed, attempt=0, harness="kimi", policy="oracle")


def rewrite(run: Path, of: EpisodeKey, reward: float | None, **outcome: Any) -> None:
    """Put another outcome in an episode's place, as a run that ended so would have it."""
    whole = {"status": "solved", "reward": reward, **outcome}
    with sqlite3.connect(run / "run.db") as db:
        changed = db.execute(
            "UPDATE episodes SET status = ?, reward = ?, outcome = ? WHERE id = ?",
            (whole["status"], reward, json.dumps(whole), of.id),
        )
        assert changed.rowcount == 1


@pytest.mark.parametrize(("retries", "again"), [(None, 1), (0, 0), (2, 2)])
def test_a_fault_is_run_again_as_often_as_was_asked_and_counted(
    tmp_path: Path, retries: int | None, again: int
) -> None:
    option = [] if retries is None else ["--retries", retries]
    done = guiforge(
        tmp_path, "rollout", "--env", "faultworld", "--tasks", "press,reset-breaks", "--out", "run", *option
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("(run again)") == again
    assert "without a reward: 1 of 2 (1 env_error)" in done.stdout
    counted = re.search(r"(\d+) faults? w\w+ run again", done.stdout)
    assert (int(counted[1]) if counted else 0) == again
    with RunReader(tmp_path / "run") as run:
        assert run.parameters["retries"] == (1 if retries is None else retries)


def test_a_run_in_which_nothing_was_graded_does_not_end_as_a_success(tmp_path: Path) -> None:
    done = guiforge(tmp_path, "rollout", "--env", "faultworld", "--tasks", "reset-breaks", "--out", "run")
    assert done.returncode == 3 and "without a reward: 1 of 1" in done.stdout, done.stderr
    failed = guiforge(tmp_path, "rollout", "--env", "faultworld", "--tasks", "press", "--policy", "null", "--out", "r2")
    assert failed.returncode == 0, failed.stderr
    spec = _spec(tmp_path, family="reset-breaks", key=key("reset-breaks").model_dump())
    assert guiforge(tmp_path, "episode", spec, "--out", "one").returncode == 3


def test_a_run_without_faults_says_nothing_of_them(tmp_path: Path) -> None:
    done = guiforge(tmp_path, "rollout", "--env", "faultworld", "--tasks", "press", "--out", "run")
    assert "run again" not in done.stdout and "without a reward" not in done.stdout


def test_faults_of_a_run_are_played_again_when_asked_and_rewarded_episodes_are_kept(tmp_path: Path) -> None:
    run = tmp_path / "run"
    guiforge(tmp_path, "rollout", "--env", "faultworld", "--tasks", "press", "--seeds", "0..3", "--out", "run")
    rewrite(run, key("press", 1), None, status="env_error", cause="Xvfb died")
    rewrite(run, key("press", 2), None, status="timeout", owner="grader", cause="hung")
    before = rolled(run)
    plain = guiforge(tmp_path, "rollout", "--resume", "--out", "run")
    assert plain.returncode == 0 and rolled(run) == before
    assert "without a reward: 2 of 4 (1 env_error, 1 timeout (grader)); --resume --retry-faults" in plain.stdout

    done = guiforge(tmp_path, "rollout", "--resume", "--retry-faults", "--out", "run")
    assert done.returncode == 0, done.stderr
    after = rolled(run)
    assert {status for status, _ in after.values()} == {"solved"} and "without a reward" not in done.stdout
    kept = {key("press", 0).id, key("press", 3).id}
    assert {id for id in after if after[id] == before[id]} == kept


def test_options_of_the_harness_reach_it_and_are_kept(tmp_path: Path) -> None:
    rubbish = Endpoint(says("no action at all"))
    with rubbish.serve():
        done = guiforge(
            tmp_path, "rollout", "--env", "faultworld", "--tasks", "press", "--policy", rubbish.url, "--out", "run",
            "--harness-option", "temperature=0.25", "--harness-option", "password=open sesame",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        resumed = guiforge(tmp_path, "rollout", "--resume", "--out", "run", "--harness-option", "temperature=0.5")
    assert rubbish.requests[0]["temperature"] == 0.25
    assert "open sesame" in rubbish.requests[0]["messages"][0]["content"]
    assert resumed.returncode == 2 and "--harness-option is temperature=0.25" in resumed.stderr
    with RunReader(tmp_path / "run") as run:
        assert run.parameters["harness_options"] == {"temperature": 0.25, "password": "open sesame"}

    done = guiforge(tmp_path, "verify", "run")  # no verifier was asked of an episode that unreadable replies ended
    assert done.returncode == 3 and "ended by its replies" in done.stdout
    assert [status for status, _ in rolled(tmp_path / "run").values()] == ["failed"]


def test_options_of_the_env_reach_it_and_wrong_ones_are_said(tmp_path: Path) -> None:
    asked = ("rollout", "--env", "faultworld", "--tasks", "flaky", "--retries", "0")
    done = guiforge(tmp_path, *asked, "--env-option", f"marks={tmp_path}", "--out", "run")
    assert done.returncode == 3 and (tmp_path / "flaky-0").exists()  # which the world makes where it was told to
    with RunReader(tmp_path / "run") as run:
        assert run.parameters["env_options"] == {"marks": str(tmp_path)}
    other = guiforge(tmp_path, "rollout", "--resume", "--out", "run", "--env-option", "marks=elsewhere")
    assert other.returncode == 2 and "--env-option is marks=" in other.stderr
    wrong = guiforge(tmp_path, *asked, "--env-option", "colour=red")
    assert wrong.returncode == 2
    assert "--env-option (env faultworld): unknown option 'colour'; valid are: marks" in wrong.stderr


def test_what_has_no_verdict_is_not_graded_again_and_a_component_named_reply_is(tmp_path: Path) -> None:
    run = tmp_path / "run"
    guiforge(tmp_path, "rollout", "--env", "faultworld", "--tasks", "press", "--seeds", "0..2", "--out", "run")
    rewrite(run, key("press", 0), None, status="timeout", owner="env", cause="the episode passed its limit of 20 s")
    done = guiforge(tmp_path, "verify", "run")
    assert done.returncode == 0 and "no verdict" in done.stdout
    assert "2 graded again, 2 with the same verdict, 1 not to be graded" in done.stdout
    rewrite(run, key("press", 1), 0.0, status="failed", components={"reply": 0.0}, reasons=["it was not said"])
    done = guiforge(tmp_path, "verify", "run")
    assert done.returncode == 1 and "differs" in done.stdout and "ended by its replies" not in done.stdout


def test_a_verifier_that_hangs_is_a_difference_and_not_the_end_of_verify(tmp_path: Path) -> None:
    guiforge(
        tmp_path, "rollout", "--env", "faultworld", "--tasks", "press,grader-hangs", "--retries", "0", "--out", "run"
    )
    rewrite(tmp_path / "run", key("grader-hangs"), 1.0, components={"pressed": 1.0})
    done = guiforge(tmp_path, "verify", "run")
    assert done.returncode == 1, done.stderr
    assert "now: phase grade passed its limit of 1 s" in done.stdout
    assert "2 graded again, 1 with the same verdict" in done.stdout


def _spec(folder: Path, **changed: Any) -> Path:
    """A spec file of `press` with some fields changed."""
    spec = EpisodeSpec(key=key("press"), suite="faultworld", family="press").model_dump(mode="json")
    path = folder / "spec.json"
    path.write_text(json.dumps({**spec, **changed}))
    return path


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_episode_ends_and_leaves_its_run_free(tmp_path: Path, how: signal.Signals) -> None:
    stuck = key("policy-hangs")
    spec = _spec(tmp_path, family="policy-hangs", key=stuck.model_dump(), limits={"policy_s": 60, "episode_s": 90})
    process = started(tmp_path, "episode", spec, "--out", "run")
    eventually(lambda: is_run(tmp_path / "run") and _steps(tmp_path / "run", stuck) == 1)
    process.send_signal(how)
    process.communicate(timeout=30)
    assert process.returncode == 130
    with Store(tmp_path / "run") as store:
        assert store.episode(stuck).outcome is None and len(store.calls(stuck)) >= 1


def _steps(run: Path, of: EpisodeKey) -> int:
    with RunReader(run) as reader:
        return len(reader.steps(of)) if reader.episodes() else 0


SPECS: list[tuple[dict[str, Any], list[str]]] = [
    ({"key": {**key("press").model_dump(), "policy": "zz"}}, ["'zz'", "oracle, null, random"]),
    ({"key": {**key("press").model_dump(), "harness": "zz"}}, ["'zz'", "kimi"]),
    ({"policy_options": {"modle": "m"}}, ["'modle'", "model"]),
    ({"harness_options": {"heat": 1}}, ["harness_options", "'heat'", "temperature"]),
    ({"harness_options": {"image_format": "gif"}}, ["harness_options", "'gif'", "'png'"]),
    ({"env_options": {"marks": 3}}, ["env_options", "marks=3", "string"]),
    ({"env_options": {"size": [1, 1]}}, ["env_options", "'size'", "marks"]),
    (
        {"suite": "osworld-like", "family": "files_rename", "env_options": {"size": [1, 1]}},
        ["env_options: a screen of 1x1", "320x240"],
    ),
]


@pytest.mark.parametrize(("wrong", "named"), SPECS, ids=[str(wrong) for wrong, _ in SPECS])
def test_a_wrong_spec_names_what_is_wrong_and_starts_nothing(
    tmp_path: Path, wrong: dict[str, Any], named: list[str]
) -> None:
    done = guiforge(tmp_path, "episode", _spec(tmp_path, **wrong), "--out", "run")
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    for text in named:
        assert text in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_place_that_cannot_be_written_is_said_before_the_world_is_set_up(tmp_path: Path) -> None:
    show = ("show", "reset-breaks", "--suite", "faultworld")
    for place in ("/proc/first.png", "."):
        done = guiforge(tmp_path, *show, "--out", place)
        assert done.returncode == 2 and f"--out {place}: " in done.stderr and "fell off" not in done.stderr
    (tmp_path / "before.png").write_bytes(b"kept")
    for place in ("before.png", "new.png"):
        done = guiforge(tmp_path, *show, "--out", place)
        assert done.returncode == 1 and "the world failed: button: fell off" in done.stderr
        assert "Traceback" not in done.stderr
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("before.png", b"kept")]
    done = guiforge(tmp_path, "lint", "faultworld", "--tasks", "press", "--out", "/proc/none/run")
    assert done.returncode == 2 and "--out /proc/none/run: No such file" in done.stderr


def test_a_page_that_cannot_be_written_is_said_with_its_place(tmp_path: Path) -> None:
    assert guiforge(tmp_path, "episode", _spec(tmp_path), "--out", "run").returncode == 0
    (tmp_path / "run" / "report").write_text("in the way")
    done = guiforge(tmp_path, "report", "run")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert re.fullmatch(r"guiforge: \S+/run/report: File exists\n", done.stderr)


@pytest.mark.parametrize("content", [b"", b"no database", None], ids=["empty", "text", "cut"])
def test_a_broken_database_is_said_with_its_place(tmp_path: Path, content: bytes | None) -> None:
    guiforge(tmp_path, "rollout", "--env", "faultworld", "--tasks", "press", "--seeds", "0..3", "--out", "run")
    database = tmp_path / "run" / "run.db"
    whole = database.read_bytes()
    database.write_bytes(whole[:6000] if content is None else content)
    for command in (("verify", "run"), ("report", "run"), ("rollout", "--resume", "--retry-faults", "--out", "run")):
        done = guiforge(tmp_path, *command)
        assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
        assert f"{database} can't be read" in done.stderr and "damaged" in done.stderr


def test_a_broken_manifest_and_a_file_are_called_what_they_are(tmp_path: Path) -> None:
    guiforge(tmp_path, "episode", _spec(tmp_path), "--out", "run")
    done = guiforge(tmp_path, "verify", "run/run.json")
    assert done.returncode == 2 and "it is a file" in done.stderr and "no such folder" not in done.stderr
    (tmp_path / "run" / "run.json").write_text("{")
    for command in (("report", "run"), ("rollout", "--resume", "--out", "run")):
        done = guiforge(tmp_path, *command)
        assert done.returncode == 2 and "run.json, what the run was started with, is damaged" in done.stderr
        assert "leave --resume out" not in done.stderr


def test_a_run_that_cannot_be_written_is_said_when_its_page_is_asked_for(tmp_path: Path) -> None:
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("mount namespaces are not permitted here")
    guiforge(tmp_path, "episode", _spec(tmp_path), "--out", "run")
    script = 'mount --bind -o ro run run && mount -o remount,bind,ro run && "$@" report run'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", *GUIFORGE], cwd=tmp_path, env=environment(), capture_output=True,
        text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert f"{tmp_path / 'run' / 'report'}: Read-only file system" in done.stderr


BROKEN = {
    "suites": ("broken_plugin:SUITE", "SUITE = 'no suite'", ("tasks", "broken"), "gives a str; it must be a guiforge"),
    "suites-lost": ("broken_plugin:SUITE", "", ("tasks", "broken"), "has no attribute 'SUITE'"),
    "suites-absent": ("no_such_module:SUITE", "", ("tasks", "broken"), "No module named 'no_such_module'"),
    "suites-factory": ("broken_plugin:make", "def make(): import lost_part", ("tasks", "broken"), "'lost_part'"),
    "harnesses": ("no_such_module:H", "", ("lint", "faultworld", "--harness", "broken"), "'no_such_module'"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_is_named_with_its_package(tmp_path: Path, case: str) -> None:
    value, code, command, says_ = BROKEN[case]
    group = case.partition("-")[0]
    info = tmp_path / "p" / "broken_plugin-0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugin\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text(f"[guiforge.{group}]\nbroken = {value}\n")
    (tmp_path / "p" / "broken_plugin.py").write_text(code)
    done = guiforge(tmp_path, *command, paths=[tmp_path / "p"])
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert f"entry point broken = '{value}' (guiforge.{group}) of package broken-plugin" in done.stderr
    assert says_ in done.stderr and "extra" not in done.stderr


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_lint_ends_its_workers_and_leaves_no_folder(tmp_path: Path, how: signal.Signals) -> None:
    process = started(tmp_path, "lint", "faultworld", "--tasks", "press,policy-hangs", TMPDIR=str(tmp_path))
    assert process.stdout is not None
    while "solved" not in process.stdout.readline():
        assert process.poll() is None
    workers = psutil.Process(process.pid).children(recursive=True)
    assert workers and any(tmp_path.iterdir())
    process.send_signal(how)
    said = process.communicate(timeout=60)[0]
    assert process.returncode == 130 and re.search(r"stopped: \d of 4 episodes were played", said)
    assert not psutil.wait_procs(workers, timeout=20)[1]
    assert list(tmp_path.iterdir()) == []
