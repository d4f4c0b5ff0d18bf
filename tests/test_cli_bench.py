"""`guiforge bench` and `guiforge judge` as a person uses them: on a world small enough to break, and on local pages."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from guiforge.store import RunReader
from tests.browser import rig
from tests.commands import guiforge
from tests.endpoint import Answer, Endpoint, fails, says

Cli = Callable[..., "subprocess.CompletedProcess[str]"]
YES, NO = says("Verdict: SUCCESS"), says("Verdict: NOT SUCCESS")


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Runs `guiforge` with arguments, in an empty folder."""
    return partial(guiforge, tmp_path)


@pytest.fixture
def bench(cli: Cli) -> Cli:
    """Runs `guiforge bench faultworld` on two tasks that work and one whose world breaks."""
    return partial(
        cli, "bench", "faultworld", "--tasks", "press,never-ends,reset-breaks", "--retries", "0", "--out", "run"
    )


def told(run: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((run / "bench.json").read_text())
    return data


def test_a_bench_prints_and_keeps_scores_in_which_no_fault_counts(bench: Cli, tmp_path: Path) -> None:
    done = bench("-k", "2")
    assert done.returncode == 0, done.stderr
    run = tmp_path / "run"
    total = told(run)["scores"]["total"]
    assert (total["graded"], total["ungraded"], total["tasks"], total["scored"], total["short"]) == (4, 2, 3, 2, 1)
    assert [total[name]["value"] for name in ("pass_1", "pass_k", "pass_hat_k")] == [0.5, 0.5, 0.5]
    assert total["statuses"] == {"solved": 2, "truncated": 2, "env_error": 2}
    row = r"all +2 of 3 +4 +2 +50\.0% \(0% to 100%\) +50\.0% .* 2 solved +2 truncated +2 env_error"
    assert re.search(row, done.stdout), done.stdout
    assert "| all | 2 of 3 | 4 | 2 | 50.0% (0% to 100%) |" in (run / "bench.md").read_text()
    page = (run / "report" / "bench.html").read_text()
    assert "50.0% (0% to 100%)" in page and "never a zero" in page and "<script" not in page
    assert (run / "report" / "index.html").is_file()


def test_a_stopped_bench_goes_on_and_repeats_nothing(bench: Cli, tmp_path: Path) -> None:
    assert bench("-k", "1").returncode == 0
    with RunReader(tmp_path / "run") as run:
        before = {e.id: e.ended for e in run.episodes()}
    again = bench("--resume")
    assert again.returncode == 0, again.stderr
    with RunReader(tmp_path / "run") as run:
        assert {e.id: e.ended for e in run.episodes()} == before
    other = bench("--resume", "-k", "3")
    assert other.returncode == 2 and "--attempts is 1 there, 3 here" in other.stderr


def test_a_bench_in_which_nothing_was_graded_is_no_success(cli: Cli) -> None:
    done = cli("bench", "faultworld", "--tasks", "reset-breaks", "--retries", "0", "--out", "run")
    assert done.returncode == 3, done.stderr
    assert re.search(r"all +0 of 1 +0 +1 +– ", done.stdout)


def test_a_judge_stands_beside_the_verifier_with_its_errors(bench: Cli, cli: Cli, tmp_path: Path) -> None:
    assert bench("-k", "2").returncode == 0
    with Endpoint(YES).serve() as judge:
        done = cli("judge", "run", "--endpoint", judge.url, "--model", "m")
        assert done.returncode == 0, done.stderr
        assert len(judge.requests) == 4, "faults of the world are not judged"
        assert re.search(
            r"all +4 +0 +100\.0% \(51% to 100%\) +50\.0% .* 2 of 2: 100\.0% .* 0 of 2: 0\.0%", done.stdout
        ), done.stdout
        assert "measured on run: false positives 2 of 2" in done.stdout
        cli("judge", "run", "--endpoint", judge.url, "--model", "m")
        assert len(judge.requests) == 4, "nothing is asked twice"
        scored = bench("--resume", "--judge-endpoint", judge.url, "--judge-model", "m")
    assert scored.returncode == 0, scored.stderr
    kept = told(tmp_path / "run")["judge"]
    assert (kept["name"], kept["judged"], kept["failed"]) == ("webvoyager", 4, 0)
    assert kept["errors"]["false_positives"]["share"] == 1.0
    assert kept["errors"]["false_negatives"]["share"] == 0.0
    assert "false positives 2 of 2" in (tmp_path / "run" / "bench.md").read_text()


def test_a_judge_that_can_not_be_asked_is_said_before_anything_starts(bench: Cli, cli: Cli, tmp_path: Path) -> None:
    for option, value, said in (
        ("--judge-endpoint", "http://127.0.0.1:9/v1", "can't be reached"),
        ("--judge-endpoint", "oracle", "a judge is an endpoint"),
        ("--judge-endpoint", "ftp://x", "unknown policy"),
    ):
        done = bench(option, value)
        assert done.returncode == 2 and said in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
    with Endpoint(YES).serve() as judge:
        done = bench("--judge-endpoint", judge.url, "--judge", "jury")
        assert done.returncode == 2 and "webvoyager, webjudge" in done.stderr
        done = bench("--judge-endpoint", judge.url, "--labelled", "nowhere")
        assert done.returncode == 2 and "no run folder" in done.stderr
        assert not judge.requests
    assert not (tmp_path / "run").exists()
    assert cli("judge", "nowhere", "--endpoint", judge.url).returncode == 2


# -- benchmarks of others ----------------------------------------------------------------------------------------------

VOYAGER = {"web_name": "Local", "id": "Local--0", "ques": "How many buttons are there?"}
MIND = {"task_id": "m1", "confirmed_task": "Press the red button.", "reference_length": 1, "level": "easy"}


def answer(text: str) -> Answer:
    """MolmoWeb's reply that answers the user."""
    return says(json.dumps({"thought": "", "action": {"name": "send_msg_to_user", "msg": f"[ANSWER] {text}"}}))


def click(x: float, y: float) -> Answer:
    return says(json.dumps({"thought": "", "action": {"name": "click", "x": x, "y": y}}))


@pytest.mark.browser
def test_webvoyagers_tasks_are_played_on_their_site_and_judged(cli: Cli, tmp_path: Path) -> None:
    with rig.site() as site, Endpoint(click(50, 50), answer("four")).serve() as agent:
        page = f"http://{site.host}/buttons.html"
        (tmp_path / "d.jsonl").write_text(json.dumps({**VOYAGER, "web": page}) + "\n")
        play = partial(
            cli,
            "bench",
            "webvoyager",
            "--data",
            "d.jsonl",
            "--harness",
            "molmoweb",
            "--policy",
            agent.url,
            "--out",
            "run",
        )
        done = play()
        assert done.returncode == 3, done.stderr
        assert "/buttons.html" in site.asked
        assert len(agent.requests) == 2
        assert "for a judge to see: 1 of 1 (guiforge judge)" in done.stdout
        with RunReader(tmp_path / "run") as run:
            (episode,) = run.episodes()
            assert (episode.key.task, episode.status) == ("webvoyager/Local--0", "grader_error")

        with Endpoint(fails(400, "out of order", "x"), YES).serve() as judge:
            broken = play("--resume", "--judge-endpoint", judge.url)
            assert broken.returncode == 3, "a judge that fails gives no zero"
            assert told(tmp_path / "run")["scores"]["total"]["graded"] == 0
            done = play("--resume", "--judge-endpoint", judge.url)
        assert done.returncode == 0, done.stderr
        assert len(agent.requests) == 2, "and nothing was played again"
        shown = json.dumps(judge.requests[-1])
        assert VOYAGER["ques"] in shown and "four" in shown and shown.count("data:image/png") == 3
    assert "its errors are unknown" in done.stdout
    kept = told(tmp_path / "run")
    assert (kept["scores"]["sites"][0]["name"], kept["scores"]["total"]["pass_1"]["value"]) == ("Local", 1.0)
    assert kept["judge"]["errors"] is None
    verified = cli("verify", "run")
    assert verified.returncode == 3 and "for a judge" in verified.stdout


@pytest.mark.browser
def test_online_mind2web_is_judged_by_webjudge_whose_errors_come_from_a_labelled_run(
    bench: Cli, cli: Cli, tmp_path: Path
) -> None:
    assert bench().returncode == 0
    (tmp_path / "run").rename(tmp_path / "labels")
    each = says('1. the red one\nScore: 4\nStatus: "success"')  # of the three questions each reads its own line
    with rig.site() as site, Endpoint(answer("done")).serve() as agent, Endpoint(each).serve() as judge:
        records = [{**MIND, "website": f"http://{site.host}/buttons.html"}]
        (tmp_path / "d.json").write_text(json.dumps(records))
        done = cli(
            "bench", "online-mind2web", "--data", "d.json", "--harness", "molmoweb", "--policy", agent.url,
            "--judge-endpoint", judge.url, "--labelled", "labels", "--concurrency", "1", "--out", "run",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    kept = told(tmp_path / "run")
    assert [row["name"] for row in kept["scores"]["levels"]] == ["easy"]
    assert (kept["judge"]["name"], kept["judge"]["measured_on"]) == ("webjudge", "labels")
    assert kept["scores"]["total"]["pass_1"]["value"] == 1.0
    errors = kept["judge"]["errors"]
    assert [(errors[name]["count"], errors[name]["of"]) for name in ("false_positives", "false_negatives")] == [
        (1, 1), (0, 1),
    ]  # fmt: skip
    assert "false positives 1 of 1" in done.stdout


def test_a_broken_line_is_named_and_skipped_only_when_asked(cli: Cli, tmp_path: Path) -> None:
    good = {**VOYAGER, "web": "http://127.0.0.1:9/"}
    (tmp_path / "d.jsonl").write_text(f'{json.dumps(good)}\n{{"id": "x"\n{json.dumps({**VOYAGER, "id": "y"})}\n')
    stopped = cli("bench", "webvoyager", "--data", "d.jsonl", "--policy", "null", "--out", "run")
    assert stopped.returncode == 2
    assert "d.jsonl, line 2: it is no JSON" in stopped.stderr
    assert "d.jsonl, line 3, field 'web': it is missing" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert not (tmp_path / "run").exists()
    gone = cli("bench", "webvoyager", "--data", "d.jsonl", "--skip-bad", "--tasks", "Amazon*", "--out", "run")
    assert gone.stdout.count("skipped: ") == 2
    assert gone.returncode == 2 and "valid are: Local--0" in gone.stderr


def test_what_is_wrong_with_the_data_is_said(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text(json.dumps({**VOYAGER, "web": "http://127.0.0.1:9/"}))
    for arguments, said in (
        (("webvoyager",), "guiforge bench webvoyager --data FILE"),
        (("webvoyager", "--data", "nowhere"), "no such file"),
        (("webvoyager", "--data", "d.jsonl", "--hosts", "all"), "valid are site"),
        (("webvoyager", "--data", "d.jsonl", "--policy", "oracle"), "none of these tasks has an oracle"),
        (
            ("faultworld", "--data", "d.jsonl"),
            "--data is for published benchmarks: online-mind2web, webvoyager, osworld",
        ),
        (("osworld",), "--data names the benchmark's file"),
        (("nothing",), "unknown suite 'nothing'"),
    ):
        done = cli("bench", *arguments)
        assert done.returncode == 2 and said in done.stderr, (arguments, done.stderr)
        assert "Traceback" not in done.stderr


def test_osworlds_files_are_read_and_listed(cli: Cli, tmp_path: Path) -> None:
    task = {"id": "t", "instruction": "Fly.", "config": [{"type": "sleep", "parameters": {"seconds": 1}}]}
    folder = tmp_path / "examples" / "os"
    folder.mkdir(parents=True)
    (folder / "t.json").write_text(json.dumps({**task, "evaluator": {"func": "infeasible"}}))
    done = cli("bench", "osworld", "--data", "examples")
    assert done.returncode == 0, done.stderr
    assert re.search(r"set-up +sleep +1 +yes", done.stdout)
    assert "1 tasks are well formed (1 of them infeasible)" in done.stdout
    (folder / "u.json").write_text(json.dumps(task))
    bad = cli("bench", "osworld", "--data", "examples")
    assert bad.returncode == 2 and "u.json, field 'evaluator': it is missing" in bad.stderr
    assert cli("bench", "osworld", "--data", "examples", "--skip-bad").returncode == 0
