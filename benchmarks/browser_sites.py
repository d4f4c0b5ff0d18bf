"""The suite webvoyager-like: what a reset of each site takes, and a step of its scripted solutions."""

from __future__ import annotations

import time
from collections import defaultdict
from itertools import islice
from statistics import median
from typing import Any

from envs.browser.env import BrowserEnv
from guiforge import registry
from guiforge.task import Family, Suite

_PHASES = ("sites", "context", "setup", "settle", "snapshot")


def measure(trials: int, families: int) -> dict[str, Any]:
    """By site, and over all: milliseconds of a reset and of its phases, and of a step; steps a second.

    trials: resets of each site's first family, one after another.
    families: how many of each site are played once, of those with a step.
    """
    suite = registry.suite("webvoyager-like", {})
    rows: dict[str, Any] = {}
    every: list[float] = []
    for site, found in _by_site(suite).items():
        env = BrowserEnv()
        try:
            rows[site] = _resets(env, found[0], trials)
            played = (seconds for family in found if (seconds := _steps(env, family)))  # some answer without a step
            took = [one for seconds in islice(played, families) for one in seconds]
        finally:
            env.close()
        rows[site] |= _said(took)
        every += took
    return {"sites": rows, "all": _said(every)}


def _by_site(suite: Suite) -> dict[str, list[Family]]:
    """The families that are on one site, by its name."""
    found = defaultdict(list)
    for family in suite.families.values():
        task = family.make(0)
        if len(task.hosts) == 1 and family.oracle is not None:
            found[task.hosts[0].partition(".")[0]].append(family)
    return found


def _said(took: list[float]) -> dict[str, float]:
    return {"steps": len(took), "step": round(median(took) * 1000, 1), "steps/s": round(len(took) / sum(took), 1)}


def _resets(env: BrowserEnv, family: Family, trials: int) -> dict[str, float]:
    """Medians; the first, which starts browser and server, apart."""
    took: list[float] = []
    phases: dict[str, list[float]] = defaultdict(list)
    for seed in range(trials + 1):
        start = time.perf_counter()
        env.reset(family.make(seed))
        took.append(time.perf_counter() - start)
        for name in _PHASES:
            phases[name].append(env.timings().get(name, 0.0))
    medians = {name: round(median(values[1:]) * 1000, 1) for name, values in phases.items()}
    return {"first": round(took[0] * 1000), "reset": round(median(took[1:]) * 1000), **medians}


def _steps(env: BrowserEnv, family: Family) -> list[float]:
    """Seconds of each step of the scripted solution."""
    task = family.make(0)
    env.reset(task)
    assert family.oracle is not None
    took = []
    for actions in family.oracle(task, env.oracle_view()):
        acted = [action for action in actions if not action.is_end]
        if acted:
            start = time.perf_counter()
            env.step(*acted)
            took.append(time.perf_counter() - start)
    return took
