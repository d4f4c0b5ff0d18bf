"""Many episodes on end: what is left of them, and whether memory grows. Exit status 1 where anything is left.

    python benchmarks/soak.py --episodes 100 --concurrency 4 --tasks 'editor_*,terminal_*'
    python benchmarks/soak.py --suite miniwob --episodes 1000 --own [--in-process]

Counts processes of this machine that were not there before, displays and temporary directories, and fits a line
through the memory of this process, of its workers (each measured as a worker starts an episode) and of all that those
started. `--own` counts the descendants of this process alone, for a machine where others work. `--in-process` plays
with the suite's env in this process, without harness, recording and workers.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import itertools
import os
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

import psutil

from guiforge import registry
from guiforge.action import Action
from guiforge.env import Env, SnapshotState
from guiforge.episode import load
from guiforge.fleet import Event, Finished, Started, run_episodes
from guiforge.grading import grade
from guiforge.store import Store
from guiforge.trace import EpisodeKey, EpisodeSpec

EVERY = 100  # episodes between two looks at everything that was started
LEFTOVERS = ("/tmp/.X11-unix/*", "/tmp/.X*-lock", "/tmp/guiforge-*/*", "/dev/shm/guiforge-*")


def plan(suite_name: str, patterns: list[str], episodes: int) -> list[EpisodeSpec]:
    """So many oracle episodes, the seeds rising as the tasks come round again."""
    suite = registry.suite(suite_name)
    ids = [name for name in suite.select(patterns) if suite.family(name).oracle is not None]
    rounds = ((name, seed) for seed in itertools.count() for name in ids)
    return [
        EpisodeSpec(
            key=EpisodeKey(task=f"{suite_name}/{name}", seed=seed, attempt=0, harness="kimi", policy="oracle"),
            suite=suite_name,
            family=name,
        )
        for name, seed in itertools.islice(rounds, episodes)
    ]


def left_behind() -> set[str]:
    """Names of displays, locks and directories that desktops use."""
    return {str(path) for pattern in LEFTOVERS for path in Path("/").glob(pattern.lstrip("/"))}


def processes() -> set[tuple[int, str]]:
    """(pid, name) of every process that has a command line: neither the kernel's own threads nor zombies have one."""
    return {(p.pid, p.info["name"]) for p in psutil.process_iter(["name", "cmdline"]) if p.info["cmdline"]}


def slope_kb(samples: list[float]) -> float:
    """KB an episode by which resident memory grows: a line through the samples after the first fifth (warm-up)."""
    warm = samples[len(samples) // 5 :]
    if len(warm) < 3:
        return 0.0
    return statistics.linear_regression(range(len(warm)), warm).slope * 1e3


def memory_mb(process: psutil.Process) -> float:
    """Resident memory of a process, 0 where it has ended."""
    try:
        return float(process.memory_info().rss) / 1e6
    except psutil.NoSuchProcess:
        return 0.0


class Watch:
    """What this process and its descendants hold, and which of those have been."""

    def __init__(self) -> None:
        self.me = psutil.Process()
        self.own_mb: list[float] = []
        self.worker_mb: dict[int, list[float]] = defaultdict(list)
        self.below_mb: list[float] = []
        self.seen: set[psutil.Process] = set()
        self._begun = self._last = time.monotonic()

    def look(self, episode: int) -> None:
        """Measure, as an episode is about to begin; all descendants before each hundredth."""
        self.own_mb.append(memory_mb(self.me))
        for child in self.me.children():
            self.worker_mb[child.pid].append(memory_mb(child))
        if episode % EVERY:
            return
        below = self.me.children(recursive=True)
        self.seen.update(below)
        workers = set(self.me.children())
        count = len(below) - len(workers)
        self.below_mb.append(sum(memory_mb(process) for process in below if process not in workers))
        now = time.monotonic()
        rate = EVERY / (now - self._last) if episode else 0.0
        self._last = now
        print(
            f"episode {episode}: this process {self.own_mb[-1]:.0f} MB, its {len(workers)} children "
            f"{sum(map(memory_mb, workers)):.0f} MB, {count} below them {self.below_mb[-1]:.0f} MB; "
            f"{rate:.1f} episodes a second, load {os.getloadavg()[0]:.1f}", flush=True,
        )  # fmt: skip

    def left(self) -> list[tuple[int, str]]:
        """(pid, name) of descendants that still run."""
        found = {*self.seen, *self.me.children(recursive=True)}
        return [(p.pid, p.name()) for p in found if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


def play_in_fleet(specs: list[EpisodeSpec], concurrency: int, watch: Watch, statuses: Counter[str]) -> None:
    """Play as `guiforge rollout` does."""
    numbers = itertools.count()

    def on_event(event: Event) -> None:
        if isinstance(event, Started):
            watch.look(next(numbers))
        elif isinstance(event, Finished):
            statuses[str(event.outcome.status)] += 1
            if not event.outcome.passed:
                print(f"{event.outcome.status} {event.key} {event.outcome.cause or '; '.join(event.outcome.reasons)}")

    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "run") as store:
        asyncio.run(run_episodes(specs, store, concurrency=concurrency, on_event=on_event))


def play_here(specs: list[EpisodeSpec], watch: Watch, statuses: Counter[str]) -> None:
    """Play with the env alone."""
    suite = registry.suite(specs[0].suite)
    env: Env = registry.env_class(suite.env)()
    with contextlib.closing(env):
        for number, spec in enumerate(specs):
            watch.look(number)
            family, task = load(spec)
            seen = env.reset(task)
            assert family.oracle is not None
            end: Action | None = None
            for actions in family.oracle(task, env.oracle_view()):
                end = next((action for action in actions if action.is_end), None)
                if end is not None:
                    break
                seen = env.step(*actions)
                if seen.over:
                    break
            verdict = grade(family, task, SnapshotState(*env.snapshot()), end)
            statuses["solved" if verdict.passed else "failed"] += 1
            if not verdict.passed:
                print(f"failed {spec.key} {'; '.join(verdict.reasons)}")


def main() -> int:
    """Run the soak and print what it found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", default="osworld-like")
    parser.add_argument("--tasks", default="*", help="globs, commas between them")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--own", action="store_true", help="count this process's descendants alone")
    parser.add_argument("--in-process", action="store_true", help="the env alone, in this process")
    options = parser.parse_args()
    specs = plan(options.suite, options.tasks.split(","), options.episodes)
    before, places = processes(), left_behind()
    watch, statuses = Watch(), Counter[str]()
    started = time.monotonic()
    if options.in_process:
        play_here(specs, watch, statuses)
    else:
        play_in_fleet(specs, options.concurrency, watch, statuses)
    took_s = time.monotonic() - started
    left = (watch.left(), []) if options.own else (sorted(processes() - before), sorted(left_behind() - places))
    how = "in this process" if options.in_process else f"at concurrency {options.concurrency}"
    print(f"{len(specs)} episodes {how} in {took_s:.0f} s, {len(specs) / took_s:.1f} a second: {dict(statuses)}")
    print(f"processes left: {left[0] or 'none'}")
    if not options.own:
        print(f"displays, locks, directories left: {left[1] or 'none'}")
    ctypes.CDLL(None).malloc_trim(0)
    own = watch.own_mb
    print(
        f"memory of this process: {own[0]:.0f} to {own[-1]:.0f} MB, {slope_kb(own):+.0f} KB an episode; "
        f"{memory_mb(watch.me):.0f} MB once the allocator's free pages are given back"
    )
    for pid, samples in watch.worker_mb.items():
        print(f"memory of child {pid}: {samples[0]:.0f} to {samples[-1]:.0f} MB, {slope_kb(samples):+.0f} KB a sample")
    return 1 if left[0] or left[1] else 0


if __name__ == "__main__":
    raise SystemExit(main())
