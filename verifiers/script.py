"""Script verifiers: a script apart from the agent judges a copy of the final state and prints its verdict as JSON.

Invariant: a script gives a Verdict or the grading fails with ScriptFailed; a crash, bad JSON or a passed deadline is
never a 0. Nothing that a script starts outlives it, and it sees neither the agent's desktop nor our environment.

What a script gets: `argv[1]` is a folder with `home/` (the files of the state, as regular files; one whose name
can't be made here, since bytes that are no UTF-8 stand escaped in it, is only listed) and `state.json`:
`params` (the task's), `files` and `before` (path -> hash, size, mode, mtime, link). It prints one JSON object
`{"score": 0..1, "components": {...}, "reasons": [...]}` and exits 0. A `.py` script runs under the system's Python
with `-I` (standard library alone), anything else is executed. Started by root, it runs as `nobody`, and where the
kernel allows in its own PID, network and IPC namespaces.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Task

_NOBODY = 65534
# what an escaped name may be: too long, or that of another file or directory
_NO_NAME = (errno.ENAMETOOLONG, errno.EEXIST, errno.ENOTDIR, errno.EISDIR)
_OUTPUT_BYTES = 1 << 20
_PYTHON = shutil.which("python3", path=os.defpath) or sys.executable
_NAMESPACES = ("unshare", "--pid", "--net", "--ipc", "--fork", "--kill-child")


class ScriptFailed(Exception):
    """A script verifier gave no verdict: a fault of the grader, named with the script and what it said."""


def script_verifier(
    script: Path, *, include: Sequence[str] = ("~/*",), timeout_s: float = 30, memory_mb: int = 1024
) -> Callable[[Task, Final], Verdict]:
    """A family's `verify` that runs `script`. include: globs of the files that it is given."""

    def verify(task: Task, final: Final) -> Verdict:
        return run_script(script, task, final, include=include, timeout_s=timeout_s, memory_mb=memory_mb)

    return verify


def run_script(
    script: Path,
    task: Task,
    final: Final,
    *,
    include: Sequence[str] = ("~/*",),
    timeout_s: float = 30,
    memory_mb: int = 1024,
) -> Verdict:
    """The script's verdict on a final state. Raises ScriptFailed."""
    by_root = os.geteuid() == 0
    with tempfile.TemporaryDirectory(prefix="guiforge-verify-", dir="/tmp" if by_root else None) as name:
        root = Path(name)
        if by_root:  # TMPDIR may be a place that nobody can't reach
            os.chown(root, _NOBODY, _NOBODY)  # and it stays 0700: the state holds gold values
        program = root / f"verify{script.suffix}"
        program.write_bytes(script.read_bytes())
        program.chmod(0o755)
        state = _materialise(root / "state", task, final, include)
        command = [_PYTHON, "-I", str(program)] if script.suffix == ".py" else [str(program)]
        output, errors = root / "stdout", root / "stderr"
        code = _run([*_wrapper(timeout_s, memory_mb), *command, str(state)], output, errors, timeout_s)
        said = errors.read_text(errors="replace").strip()[-2000:]
        if code is None:
            raise ScriptFailed(f"{script.name} did not finish within {timeout_s:g} s. {said}".strip())
        if code:
            raise ScriptFailed(f"{script.name} ended with {_exit_name(code)}: {said or 'it said nothing'}")
        try:
            return Verdict.model_validate_json(output.read_bytes())
        except ValidationError as error:
            raise ScriptFailed(f"{script.name} printed no verdict: {error}") from error


def _materialise(root: Path, task: Task, final: Final, include: Sequence[str]) -> Path:
    """Write the state as a folder that anyone may read. Links are listed in state.json and not made."""
    entries = {path: entry for pattern in include for path, entry in final.state.files(pattern).items()}
    (root / "home").mkdir(parents=True)
    for path, entry in entries.items():
        parts = PurePosixPath(path).parts
        if parts[0] != "~" or ".." in parts:
            raise ScriptFailed(f"the state names a file outside the home folder: {path!r}")
        if entry.link is None:
            target = root.joinpath("home", *parts[1:])
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(final.state.read(path))
            except OSError as problem:
                if problem.errno not in _NO_NAME:
                    raise
    before = {p: e.model_dump() for p, e in final.state.before().items()}
    facts = {"params": task.params, "files": {p: e.model_dump() for p, e in entries.items()}, "before": before}
    (root / "state.json").write_text(json.dumps(facts))
    for made in (root, *root.rglob("*")):
        made.chmod(0o755 if made.is_dir() else 0o644)
    return root


def _wrapper(timeout_s: float, memory_mb: int) -> list[str]:
    """What stands before the command: namespaces and another user where we are root, and limits always."""
    limits = [
        "prlimit",
        f"--as={memory_mb << 20}",
        f"--cpu={int(timeout_s) + 1}",
        f"--fsize={_OUTPUT_BYTES}",
        "--core=0",
        "--nofile=256",
        "--",
    ]
    if os.geteuid() != 0:
        return limits
    identity = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", "--no-new-privs"]
    return [*(_NAMESPACES if _has_namespaces() else ()), *identity, *limits]


@functools.cache
def _has_namespaces() -> bool:
    """Whether this root may make namespaces (in a container without CAP_SYS_ADMIN it may not)."""
    return subprocess.run([*_NAMESPACES, "true"], capture_output=True, check=False).returncode == 0


def _run(command: list[str], output: Path, errors: Path, timeout_s: float) -> int | None:
    """Run to the end or the deadline; the exit status, None past the deadline. Its whole group is ended either way."""
    with output.open("wb") as out, errors.open("wb") as err:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=output.parent,
            env={"PATH": os.defpath, "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"},
            start_new_session=True,
        )
        try:
            return process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _exit_name(code: int) -> str:
    """`status 1`, or the signal's name."""
    return signal.Signals(-code).name if code < 0 else f"status {code}"
