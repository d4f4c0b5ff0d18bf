"""Script verifiers: what they are given, how they are bounded, and that their own faults are never a zero."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from guiforge.action import Done
from guiforge.env import Final, SnapshotState, state_of_files
from guiforge.outcome import Verdict
from guiforge.task import Task
from verifiers.script import ScriptFailed, run_script, script_verifier

TASK = Task(suite="s", id="t", seed=1, instruction="i", params={"want": "42"})
FILES = {"~/Documents/answer.txt": b"42\n", "~/Documents/sub/ümlaut 1.bin": bytes(range(256)), "~/Music/a.ogg": b"x"}
PASS = "print('{\"score\": 1}')"


def judge(tmp_path: Path, code: str, *, name: str = "check.py", **options: Any) -> Verdict:
    script = tmp_path / name
    script.write_text(code)
    return run_script(script, TASK, Final(SnapshotState(*state_of_files(FILES)), Done()), **options)


def test_a_script_judges_files_and_parameters(tmp_path: Path) -> None:
    code = """
import json, pathlib, sys
state = pathlib.Path(sys.argv[1])
facts = json.loads((state / "state.json").read_text())
answer = (state / "home/Documents/answer.txt").read_text().strip()
blob = (state / "home/Documents/sub/ümlaut 1.bin").read_bytes() == bytes(range(256))
ok = answer == facts["params"]["want"] and blob and facts["files"] == facts["before"]
print(json.dumps({"score": int(ok), "components": {"answer": int(ok)}, "reasons": [f"{len(facts['files'])} files"]}))
"""
    assert judge(tmp_path, code) == Verdict(score=1, components={"answer": 1}, reasons=("3 files",))


def test_a_script_is_given_only_the_files_asked_for(tmp_path: Path) -> None:
    code = """
import json, pathlib, sys
names = sorted(p.name for p in pathlib.Path(sys.argv[1], "home").rglob("*") if p.is_file())
print(json.dumps({"score": 0, "reasons": names}))
"""
    assert judge(tmp_path, code, include=("~/Music/*",)).reasons == ("a.ogg",)


def test_a_program_that_is_no_python_is_executed(tmp_path: Path) -> None:
    code = """#!/bin/sh
read -r answer < "$1/home/Documents/answer.txt"
[ "$answer" = 42 ] && echo '{"score": 1.0}'
"""
    assert judge(tmp_path, code, name="check.sh").passed


def test_a_family_may_grade_by_a_script(tmp_path: Path) -> None:
    (tmp_path / "check.py").write_text(PASS)
    verify = script_verifier(tmp_path / "check.py", timeout_s=20)
    assert verify(TASK, Final(SnapshotState(*state_of_files(FILES)), Done())).passed


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise ValueError('boom')", "status 1.*boom"),
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV|status 139"),
        ("print('all is well')", "no verdict"),
        ("print('{\"score\": 2}')", "no verdict"),
        ("print('{\"score\": NaN}')", "no verdict"),
        ('print(\'{"score": 1, "bonus": 3}\')', "no verdict"),
        ("print('[1]')", "no verdict"),
        ("pass", "no verdict"),
        (f"{PASS}; print('and more')", "no verdict"),
        (f"{PASS}; raise SystemExit(3)", "status 3"),
    ],
)
def test_a_script_without_a_verdict_is_a_fault_and_never_a_zero(tmp_path: Path, code: str, said: str) -> None:
    with pytest.raises(ScriptFailed, match=rf"(?s)check\.py.*({said})"):
        judge(tmp_path, code)


def test_a_script_past_its_time_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    mark = f"guiforge-mark-{os.getpid()}"
    code = f"""
import subprocess, sys, time
for new_session in (False, True):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "{mark}"], start_new_session=new_session)
time.sleep(600)
"""
    start = time.monotonic()
    with pytest.raises(ScriptFailed, match="did not finish within 1 s"):
        judge(tmp_path, code, timeout_s=1)
    assert time.monotonic() - start < 60
    escaped_too = os.geteuid() == 0  # elsewhere a process that left the group is out of reach
    left = [p for p in psutil.process_iter(["cmdline"]) if mark in (p.info["cmdline"] or [])]
    try:
        assert len(left) == (0 if escaped_too else 1)
    finally:
        for process in left:
            process.kill()


def test_a_script_can_not_use_more_memory_than_it_may(tmp_path: Path) -> None:
    with pytest.raises(ScriptFailed, match="MemoryError"):
        judge(tmp_path, f"x = bytearray(1 << 30)\n{PASS}", memory_mb=256)


def test_a_script_can_not_fill_the_disk(tmp_path: Path) -> None:
    with pytest.raises(ScriptFailed):
        judge(tmp_path, "print('x' * (64 << 20))")


def test_a_script_sees_nothing_of_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUIFORGE_SECRET", "s3cret")
    monkeypatch.setenv("DISPLAY", ":1")
    code = "import json, os\nprint(json.dumps({'score': 1, 'reasons': sorted(os.environ)}))"
    assert set(judge(tmp_path, code).reasons) <= {"PATH", "LC_ALL", "HOME", "PWD", "SHLVL", "_"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run a script as another user")
def test_started_by_root_a_script_is_nobody_without_a_network(tmp_path: Path) -> None:
    code = """
import json, os, pathlib
networks = [line.split(":")[0].strip() for line in pathlib.Path("/proc/self/net/dev").read_text().splitlines()[2:]]
print(json.dumps({"score": 1, "reasons": [str(os.getuid()), str(os.getgroups()), *networks]}))
"""
    assert judge(tmp_path, code).reasons[:2] == ("65534", "[]")
    with pytest.raises(ScriptFailed, match="PermissionError"):
        judge(tmp_path, f"import pathlib\npathlib.Path('/etc/shadow').read_text()\n{PASS}")


def test_links_in_the_state_are_told_and_not_made(tmp_path: Path) -> None:
    snapshot, blobs = state_of_files(FILES)
    entry = snapshot.after["~/Music/a.ogg"].model_copy(update={"link": "/etc/shadow"})
    linked = snapshot.model_copy(update={"after": {**snapshot.after, "~/Music/a.ogg": entry}})
    code = """
import json, pathlib, sys
state = pathlib.Path(sys.argv[1])
link = json.loads((state / "state.json").read_text())["files"]["~/Music/a.ogg"]["link"]
print(json.dumps({"score": int(not (state / "home/Music").exists()), "reasons": [link]}))
"""
    script = tmp_path / "check.py"
    script.write_text(code)
    verdict = run_script(script, TASK, Final(SnapshotState(linked, blobs), Done()))
    assert verdict == Verdict(score=1, reasons=("/etc/shadow",))


@pytest.mark.parametrize(
    "path",
    ["~/" + "\\xff" * 255, "~/" + "\\xff" * 255 + "/a", "~/" + "d" * 200 + "/d" * 2500, "~/Music/a.ogg/b", "~/Music"],
)
def test_a_file_whose_name_can_not_be_made_is_only_listed(tmp_path: Path, path: str) -> None:
    state = SnapshotState(*state_of_files({**FILES, path: b"1"}))
    code = """
import json, pathlib, sys
state = pathlib.Path(sys.argv[1])
made = [p for p in (state / "home").rglob("*") if p.is_file()]
listed = json.loads((state / "state.json").read_text())["files"]
print(json.dumps({"score": int(len(made) == 3), "reasons": list(listed)}))
"""
    script = tmp_path / "check.py"
    script.write_text(code)
    verdict = run_script(script, TASK, Final(state, Done()))
    assert verdict.passed and path in verdict.reasons


def test_nothing_is_left_on_the_disk(tmp_path: Path) -> None:
    code = "import json, sys\nprint(json.dumps({'score': 1, 'reasons': [sys.argv[1]]}))"
    (state,) = judge(tmp_path, code).reasons
    assert not Path(state).exists() and not Path(state).parent.exists()
