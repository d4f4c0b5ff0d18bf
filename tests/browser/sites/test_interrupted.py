"""A run that is interrupted or killed leaves no site, no browser and no worker behind."""

from __future__ import annotations

import signal
from pathlib import Path

import psutil
import pytest

from tests.commands import started


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_run_leaves_no_process_of_its_sites(tmp_path: Path, how: signal.Signals) -> None:
    arguments = ["--env", "webvoyager-like", "--tasks", "bookmarks_club_fee", "--policy", "oracle", "--seeds", "0..19"]
    run = started(tmp_path, "rollout", *arguments, "--concurrency", 1, "--out", "run")
    assert run.stdout is not None
    while "solved" not in (line := run.stdout.readline()):
        assert line, "the run ended"
    processes = psutil.Process(run.pid).children(recursive=True)
    names = " ".join(process.name() for process in processes if process.is_running())
    assert "php" in names and "chromium" in names, names
    run.send_signal(how)
    run.communicate(timeout=60)
    assert not psutil.wait_procs(processes, timeout=30)[1]
