"""The command line as a person uses it, on a world small enough to break (tests/plugins)."""

from __future__ import annotations

import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil
import pytest

from guiforge.action import KINDS
from guiforge.cli import main
from guiforge.cli.options import BadInput
from guiforge.cli.plan import parse_seeds, parse_size
from guiforge.cli.terminal import setup_text, shorten
from guiforge.frame import Frame
from guiforge.store import RunReader
from guiforge.task import Launch, MakeDir, OpenPage, PutFile, Run, SetupStep
from guiforge.trace import EpisodeKey, EpisodeSpec
from tests.commands import GUIFORGE, PLUGINS, environment, guiforge, rolled, started

Cli = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Runs `guiforge` with arguments, in an empty folder."""

    return partial(guiforge, tmp_path)


def test_a_rollout_plays_grades_keeps_and_shows(cli: Cli, tmp_path: Path) -> None:
    done = cli(
        "rollout", "--env", "faultworld", "--tasks", "press", "--tasks", "never-ends,reset-br*", "--seeds", "0..1"
    )
    assert done.returncode == 0, done.stderr
    (run,) = (tmp_path / "runs").iterdir()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-faultworld-oracle", run.name)
    assert (
        sorted(status for status, _ in rolled(run).values()) == ["env_error"] * 2 + ["solved"] * 2 + ["truncated"] * 2
    )
    assert "6/6 " in done.stdout and re.search(
        r"button +6 +2/4 +50.0% \(15% to 85%\) +2 solved  2 truncated  2 env_error", done.stdout
    )
    assert str(run.relative_to(tmp_path)) in done.stdout
    assert (run / "report" / "index.html").is_file()


def test_a_fixed_number_of_tasks_is_spread_over_the_suite(cli: Cli, tmp_path: Path) -> None:
    done = cli("rollout", "--env", "faultworld", "--tasks", "2", "--policy", "null", "--max-steps", "1", "--out", "run")
    assert done.returncode == 0, done.stderr
    with RunReader(tmp_path / "run") as run:
        listed = re.findall(r"^\s*(\S+) .*Press the button", cli("tasks", "faultworld").stdout, re.MULTILINE)
        assert {e.key.task for e in run.episodes()} == {f"faultworld/{listed[i]}" for i in (0, len(listed) // 2)}
        assert run.parameters["max_steps"] == 1


def test_a_killed_run_resumed_repeats_nothing_that_was_finished(cli: Cli, tmp_path: Path) -> None:
    arguments = ["rollout", "--env", "faultworld", "--tasks", "press", "--seeds", "0..59", "--out", "run"]
    first = started(tmp_path, *arguments)
    assert first.stdout is not None
    for line in first.stdout:
        if line.strip().startswith("5/60"):
            break
    first.kill()
    first.communicate()
    before = {id: end for id, end in rolled(tmp_path / "run").items() if end[0] == "solved"}
    assert 5 <= len(before) < 60

    done = cli("rollout", "--resume", "--out", "run")
    assert done.returncode == 0, done.stderr
    after = rolled(tmp_path / "run")
    assert len(after) == 60 and {status for status, _ in after.values()} == {"solved"}
    assert {id: after[id] for id in before} == before


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_ends_its_workers_and_says_how_to_go_on(tmp_path: Path, how: signal.Signals) -> None:
    arguments = ["rollout", "--env", "faultworld", "--tasks", "press,policy-hangs", "--out", "run"]
    process = started(tmp_path, *arguments)
    assert process.stdout is not None
    while "solved" not in process.stdout.readline():
        assert process.poll() is None
    workers = psutil.Process(process.pid).children(recursive=True)
    assert workers
    process.send_signal(how)
    said = process.communicate(timeout=60)[0]
    assert process.returncode == 130
    assert "guiforge rollout --resume --out run" in said and "guiforge report run" in said and "Traceback" not in said
    assert not psutil.wait_procs(workers, timeout=20)[1]
    statuses = [status for status, _ in rolled(tmp_path / "run").values()]
    assert statuses.count("solved") == 1 and set(statuses) <= {"solved", "unfinished"}


BAD = [
    (["--env", "nope"], ["'nope'", "faultworld"]),
    ([], ["--env", "faultworld"]),
    (["--env", "faultworld", "--tasks", "press,zzz"], ["'zzz'", "never-ends"]),
    (["--env", "faultworld", "--tasks", "99"], ["--tasks 99", "1 to"]),
    (["--env", "faultworld", "--tasks", " , "], ["--tasks", "empty"]),
    (["--env", "faultworld", "--seeds", "1,x"], ["--seeds", "'x'", "0..2"]),
    (["--env", "faultworld", "--seeds", "5..2"], ["--seeds", "'5..2'"]),
    (["--env", "faultworld", "--attempts", "0"], ["--attempts"]),
    (["--env", "faultworld", "--concurrency", "0"], ["--concurrency"]),
    (["--env", "faultworld", "--max-steps", "0"], ["--max-steps"]),
    (["--env", "faultworld", "--harness", "x"], ["'x'", "kimi"]),
    (["--env", "faultworld", "--policy", "gpt"], ["'gpt'", "oracle, null, random", "http"]),
    (["--env", "faultworld", "--policy", "oracle", "--model", "m"], ["--model", "oracle"]),
    (["--env", "faultworld", "--policy", "http://h/v1", "--key-env", "NO_SUCH"], ["--key-env NO_SUCH"]),
    (["--env", "faultworld", "--policy", "http://me:secret@h/v1"], ["--policy", "--key-env"]),
    (["--env", "faultworld", "--harness-option", "heat=1"], ["--harness-option", "'heat'", "temperature"]),
    (["--env", "faultworld", "--harness-option", "temperature=hot"], ["temperature='hot'", "number"]),
    (["--env", "faultworld", "--harness-option", "image_format=gif"], ["image_format='gif'", "'png'"]),
    (["--env", "faultworld", "--harness", "react", "--harness-option", "images=0"], ["at least 1, not 0"]),
    (["--env", "faultworld", "--harness-option", "thinking"], ["--harness-option 'thinking'", "name=value"]),
    (["--env", "faultworld", "--retries", "-1"], ["--retries"]),
    (["--env", "faultworld", "--retry-faults"], ["--retry-faults", "--resume"]),
    (["--env", "faultworld", "--out", "/proc/none/run"], ["--out /proc/none/run", "No such file"]),
    (["--env", "faultworld", "--size", "12by9"], ["--size", "'12by9'", "1280x720"]),
    (["--env", "faultworld", "--size", "640x480"], ["--size", "faultworld"]),
    (["--env", "faultworld", "--out", "taken"], ["--out taken", "no run folder"]),
    (["--env", "faultworld", "--out", "taken/file"], ["--out taken/file"]),
    (["--env", "faultworld", "--resume"], ["--resume", "--out"]),
    (["--env", "faultworld", "--resume", "--out", "absent"], ["--resume", "no such folder"]),
    (["--resume", "--out", "taken"], ["--resume", "run.json"]),
    (["--frobnicate"], ["--frobnicate"]),
]


@pytest.mark.parametrize(("arguments", "says"), BAD, ids=[" ".join(a) for a, _ in BAD])
def test_bad_input_names_itself_and_the_valid_choices_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str],
    says: list[str],
) -> None:  # fmt: skip
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").write_text("x")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(PLUGINS))
    monkeypatch.setattr(sys, "argv", ["guiforge", "rollout", *arguments])
    with pytest.raises(SystemExit) as exit:
        main()
    assert exit.value.code == 2
    said = capsys.readouterr().err
    for text in says:
        assert text in said
    assert "secret" not in said
    assert [p.name for p in tmp_path.rglob("*")] == ["taken", "file"]


def test_a_run_is_gone_on_with_only_when_asked_and_as_it_was_made(cli: Cli, tmp_path: Path) -> None:
    assert cli("rollout", "--env", "faultworld", "--tasks", "press", "--out", "run").returncode == 0
    before = rolled(tmp_path / "run")
    again = cli("rollout", "--env", "faultworld", "--tasks", "press", "--out", "run")
    assert again.returncode == 2 and "--resume" in again.stderr
    other = cli("rollout", "--resume", "--out", "run", "--seeds", "0..3", "--policy", "null")
    assert other.returncode == 2
    assert "--seeds is 0 there, 0,1,2,3 here" in other.stderr and "--policy is oracle there" in other.stderr
    other = cli("rollout", "--resume", "--out", "run", "--max-steps", "3", "--harness-option", "temperature=0.2")
    assert "--max-steps is not set there, 3 here" in other.stderr
    assert "--harness-option is not set there, temperature=0.2 here" in other.stderr
    same = cli("rollout", "--resume", "--out", "run", "--env", "faultworld", "--tasks", "pres*")
    assert same.returncode == 0, same.stderr
    assert rolled(tmp_path / "run") == before


def test_a_package_that_hides_ours_stops_the_command(cli: Cli, tmp_path: Path) -> None:
    for name in ("verifiers", "envs"):
        other = tmp_path / f"other-{name}"
        (other / name).mkdir(parents=True)
        (other / name / "__init__.py").write_text("raise SystemExit('the wrong package was imported')")
        for command in (["tasks", "faultworld"], ["--help"]):
            done = cli(*command, paths=[other])
            assert done.returncode == 2 and not done.stdout
            assert f"'{name}'" in done.stderr and str(other / name) in done.stderr and "Uninstall" in done.stderr


def test_no_command_imports_torch_and_help_imports_nothing_heavy(cli: Cli, tmp_path: Path) -> None:
    for name in ("torch", "transformers"):
        (tmp_path / "trap" / name).mkdir(parents=True)
        (tmp_path / "trap" / name / "__init__.py").write_text(f"import os; os._exit(77)  # {name} was imported")
    for command in ("rollout --env faultworld --tasks press --out run", "verify run", "report run", "tasks faultworld"):
        assert cli(*command.split(), paths=[tmp_path / "trap"]).returncode == 0, command
    for name in ("numpy", "PIL", "jinja2", "aiohttp"):
        (tmp_path / "trap" / name).mkdir()
        (tmp_path / "trap" / name / "__init__.py").write_text("import os; os._exit(77)")
    assert cli("--help", paths=[tmp_path / "trap"]).returncode == 0
    assert cli("rollout", "--help", paths=[tmp_path / "trap"]).returncode == 0


def test_verify_tells_a_verdict_that_changed(cli: Cli, tmp_path: Path) -> None:
    cli(
        "rollout",
        "--env",
        "faultworld",
        "--tasks",
        "press,grader-breaks,reset-breaks",
        "--seeds",
        "0,1",
        "--out",
        "run",
    )
    done = cli("verify", "run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 graded again, 4 with the same verdict, 2 not to be graded" in done.stdout

    id = EpisodeKey(task="faultworld/press", seed=0, attempt=0, harness="kimi", policy="oracle").id
    with sqlite3.connect(tmp_path / "run" / "run.db") as db:
        db.execute(
            "UPDATE episodes SET outcome = replace(outcome, '\"reward\":1.0', '\"reward\":0.5') WHERE id = ?", [id]
        )
    assert (done := cli("verify", "run")).returncode == 1 and "differs" in done.stdout
    assert cli("verify", "run", id[:8]).returncode == 1
    other = EpisodeKey(task="faultworld/press", seed=1, attempt=0, harness="kimi", policy="oracle").id
    assert cli("verify", "run", other).returncode == 0
    done = cli("verify", "run", "zz")
    assert done.returncode == 2 and "'zz'" in done.stderr
    done = cli("verify", tmp_path)
    assert done.returncode == 2 and "no run folder" in done.stderr


def test_show_saves_the_first_frame(cli: Cli, tmp_path: Path) -> None:
    done = cli("show", "press", "--suite", "faultworld", "--seed", "3")
    assert done.returncode == 0, done.stderr
    assert "Press the button." in done.stdout
    assert "\n  button: [59, 41]\n" in done.stdout and "limits  9 steps; reset 1 s, step 1 s" in done.stdout
    assert Frame.from_encoded((tmp_path / "press-3.png").read_bytes()).size == (320, 200)
    done = cli("show", "pres", "--suite", "faultworld")
    assert done.returncode == 2 and "'pres'" in done.stderr and "press" in done.stderr
    done = cli("show", "press", "--suite", "faultworld", "--out", "no/such/x.png")
    assert done.returncode == 2 and "no/such" in done.stderr


def test_tasks_and_actions_list_all_there_are(cli: Cli) -> None:
    listed = cli("tasks", "faultworld").stdout
    assert "never-ends" in listed and f"{listed.count('Press the button.')} tasks" in listed
    actions = cli("actions").stdout
    assert all(re.search(rf"^{kind}\(", actions, re.MULTILINE) for kind in KINDS)


def test_one_episode_runs_from_a_spec_file(cli: Cli, tmp_path: Path) -> None:
    key = EpisodeKey(task="faultworld/press", seed=4, attempt=0, harness="kimi", policy="oracle")
    spec = EpisodeSpec(key=key, suite="faultworld", family="press")
    (tmp_path / "spec.json").write_text(spec.model_dump_json())
    assert cli("episode", "spec.json", "--out", "run").returncode == 0
    assert rolled(tmp_path / "run")[key.id][0] == "solved"

    for text, says in (
        ("{", "bad.json is no episode spec"),
        ('{"suite": 3}', "suite: Input should be a valid string"),
        (spec.model_copy(update={"suite": "nope"}).model_dump_json(), "unknown suite 'nope'"),
        (spec.model_copy(update={"family": "nope"}).model_dump_json(), "no task 'nope'"),
    ):
        (tmp_path / "bad.json").write_text(text)
        done = cli("episode", "bad.json", "--out", "other")
        assert done.returncode == 2 and says in done.stderr, done.stderr
        assert not (tmp_path / "other").exists()
    assert "No such file" in cli("episode", "absent.json", "--out", "other").stderr


def test_lint_names_what_does_not_hold(cli: Cli) -> None:
    done = cli("lint", "faultworld", "--tasks", "never-ends")
    assert done.returncode == 1
    assert "never-ends seed 0: oracle got 0" in done.stdout


def test_a_full_disk_stops_the_run_and_says_so(tmp_path: Path) -> None:
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("mount namespaces are not permitted here")
    script = """
        mkdir disk && mount -t tmpfs -o size=1m none disk && head -c 700000 /dev/zero > disk/ballast
        "$@" rollout --env faultworld --tasks press --seeds 0..99 --out disk/run; echo "exit $?"
        rm disk/ballast; "$@" verify disk/run; echo "exit $?"
    """
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", *GUIFORGE], cwd=tmp_path, env=environment(), capture_output=True,
        text=True, timeout=120,
    )  # fmt: skip
    assert re.findall(r"exit (\d+)", done.stdout) == ["1", "0"], done.stdout + done.stderr
    assert "is full" in done.stderr and "--resume" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("3", [3]),
        ("2147483647", [2**31 - 1]),
        ("0..2", [0, 1, 2]),
        ("0-2", [0, 1, 2]),
        ("0,1,5", [0, 1, 5]),
        ("1..2, 7, 2", [1, 2, 7]),
    ],
)
def test_seeds_are_read(text: str, seeds: list[int]) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0..99999999", "at most 100,000"), ("0..99999,100000", "at most 100,000"), ("5..2", "from low to high"),
        ("2147483648", "the largest seed is 2147483647"),
    ],
)  # fmt: skip
def test_seeds_that_are_refused_say_which_limit_it_was(text: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        parse_seeds(text)
    assert len(parse_seeds("0..99999")) == 100_000


@pytest.mark.parametrize("text", ["", "a", "1..", "..2", "-1", "1;2", "0..9999999", "1.5", "2..1"])
def test_seeds_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match="--seeds"):
        parse_seeds(text)


def test_what_a_task_sets_up_is_shown_as_a_person_reads_it() -> None:
    steps: dict[SetupStep, str] = {
        PutFile(path="~/a b.txt", data=b"x" * 1234): "put file ~/a b.txt (1,234 bytes)",
        MakeDir(path="~/d"): "make folder ~/d",
        Run(argv=("cp", "a b", "c")): "run cp 'a b' c",
        Launch(app="calc", args=("/home/user/s.xlsx",), window=r"s\.xlsx", maximize=True):
            "launch calc /home/user/s.xlsx, maximized",
        OpenPage(url="http://a/"): "open http://a/",
    }  # fmt: skip
    assert [setup_text(step) for step in steps] == list(steps.values())


def test_a_long_reason_is_cut_to_one_line() -> None:
    cut = shorten("first line\n" + "x" * 500)
    assert len(cut) == 160 and cut.startswith("first line x") and cut.endswith("x…")
    assert shorten("short") == "short"


def test_sizes_are_read() -> None:
    assert parse_size("1280x720") == [1280, 720]
