"""The browser side by side with BrowserGym and plain Playwright, in one run, as medians.

    make bench                                  # or: scripts/bench browser --trials 15

Writes benchmarks/results/browser.json and browser.md; benchmarks/README.md says how to read the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import browser_frames
import browser_sites
from report import Figures, headline, machine, table, write

from envs.browser.miniwob.server import Server

HERE = Path(__file__).parent
GYM_PYTHON = HERE.parent / ".venv-browsergym" / "bin" / "python"
CORES = sorted(os.sched_getaffinity(0))[:2]


class Row:
    """A side with its options. trials: by how much it plays fewer episodes than the fastest."""

    def __init__(self, name: str, side: str, slower: int = 1, **options: Any) -> None:
        self.name, self.side, self.slower, self.options = name, side, slower, options

    def argv(self, what: str, url: str, amount: float) -> list[str]:
        """The command that measures it (see browser_loops)."""
        python = str(GYM_PYTHON) if self.side == "browsergym" else sys.executable
        return [python, str(HERE / "browser_loops.py"), self.side, json.dumps(self.options), what, url, str(amount)]


GUIFORGE, GYM = "guiforge", "BrowserGym"
EXPLICIT, CAPTURE = "Playwright, explicit frames", "Playwright, captureScreenshot"
# what an observation is, the class of reset -> who is compared
COMPARED: dict[tuple[str, str], list[Row]] = {
    ("pixels", "in-page"): [
        Row(GUIFORGE, "guiforge"),
        Row(EXPLICIT, "playwright", frames="explicit"),
        Row(CAPTURE, "playwright", frames="capture"),
        Row("Playwright, its screenshot", "playwright", frames="screenshot"),
    ],
    ("pixels", "document"): [
        Row(GUIFORGE, "guiforge", 2, reset="document"),
        Row(EXPLICIT, "playwright", 2, frames="explicit", reset="document"),
    ],
    ("pixels", "context"): [
        Row(GUIFORGE, "guiforge", 4, reset="context"),
        Row(EXPLICIT, "playwright", 4, frames="explicit", reset="context"),
        Row(CAPTURE, "playwright", 4, frames="capture", reset="context"),
    ],
    ("pixels", "browser"): [
        Row(GUIFORGE, "guiforge", 5, reset="browser"),
        Row(EXPLICIT, "playwright", 5, frames="explicit", reset="browser"),
        Row(CAPTURE, "playwright", 5, frames="capture", reset="browser"),
        Row(f"{GYM}, no delay", "browsergym", 5, delay_s=0),
        Row(f"{GYM}, its delay", "browsergym", 5),
    ],
    ("pixels, DOM, accessibility", "in-page"): [
        Row(GUIFORGE, "guiforge", text=True),
        Row(EXPLICIT, "playwright", frames="explicit", text=True),
        Row(CAPTURE, "playwright", frames="capture", text=True),
    ],
    ("pixels, DOM, accessibility", "browser"): [
        Row(GUIFORGE, "guiforge", 5, reset="browser", text=True),
        Row(f"{GYM}, no delay", "browsergym", 5, delay_s=0, text=True),
        Row(f"{GYM}, its delay", "browsergym", 5, text=True),
    ],
}
CHEAPEST = [*COMPARED["pixels", "in-page"][:3], *COMPARED["pixels", "browser"][3:]]


def measure_steps(url: str, trials: int) -> Figures:
    """By observation and class of reset: each side's reset and step, one side after the other."""
    figures: Figures = {}
    for (observation, reset), rows in COMPARED.items():
        for row in rows:
            argv = row.argv("steps", url, max(1, trials // row.slower))
            figures.setdefault(f"{observation}; {reset}", {})[row.name] = _said(subprocess.run(argv, **_piped()))
    return figures


def measure_episodes(url: str, seconds: float) -> Figures:
    """Episodes a second of each side at its cheapest: a world on one core, one on two, two on one each."""
    figures: Figures = {}
    first, both = [CORES[:1]], [CORES]
    for row in CHEAPEST:
        found = figures[row.name] = {}
        for name, places in {
            "one core": first,
            "two cores": both,
            "two cores, two worlds": [CORES[:1], CORES[1:]],
        }.items():
            found[name] = _together(row, url, seconds, places)
    return figures


def _together(row: Row, url: str, seconds: float, places: list[list[int]]) -> float:
    """Episodes a second of all worlds, each with all of its processes kept to its cores."""
    worlds = []
    try:
        for cores in places:
            argv = ["taskset", "-c", ",".join(map(str, cores)), *row.argv("episodes", url, seconds)]
            worlds.append(subprocess.Popen(argv, stdin=subprocess.PIPE, **_piped()))
        for world in worlds:
            assert world.stdout is not None and world.stdout.readline().strip() == "ready"
        for world in worlds:
            assert world.stdin is not None
            world.stdin.write("go\n")
            world.stdin.flush()
        ended = [(world, *world.communicate()) for world in worlds]
    finally:
        for world in worlds:
            world.kill()
            world.wait()
    said = [_said(subprocess.CompletedProcess(w.args, w.returncode, out, err)) for w, out, err in ended]
    if any(one["solved"] < 1 for one in said):
        raise RuntimeError(f"{row.name} did not solve every episode: {said}")
    return round(sum(one["episodes"] / one["seconds"] for one in said), 1)


def measure_memory(url: str, count: int) -> Figures:
    """MiB of what a side starts for its first world, and for each further one."""
    return {
        row.name: _said(subprocess.run(row.argv("memory", url, count), **_piped()))
        for row in CHEAPEST
        if row.name != CAPTURE
    }


def _piped() -> dict[str, Any]:
    return {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}


def _said(done: subprocess.CompletedProcess[str]) -> Figures:
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, done.args))}: {done.stderr}")
    said: Figures = json.loads(done.stdout.strip().splitlines()[-1])
    print(" ".join(map(str, done.args[-5:])), said, file=sys.stderr, flush=True)  # a run is long
    return said


def ratios(steps: Figures, episodes: Figures) -> dict[str, float]:
    """What was aimed at, as measured: times faster than BrowserGym, times the time of the floor, episodes a second."""
    cheap, same = steps["pixels; in-page"], steps["pixels; browser"]
    read, read_same = steps["pixels, DOM, accessibility; in-page"], steps["pixels, DOM, accessibility; browser"]
    found = {}
    for name in (f"{GYM}, no delay", f"{GYM}, its delay"):
        for what, ours, theirs in (("pixels", cheap, same), ("pixels, DOM, accessibility", read, read_same)):
            for measured in ("reset", "step"):
                found[f"{measured} against {name} ({what})"] = theirs[name][measured] / ours[GUIFORGE][measured]
        found[f"reset against {name} (pixels, a new browser on both)"] = same[name]["reset"] / same[GUIFORGE]["reset"]
    for floor in (EXPLICIT, CAPTURE):
        for measured in ("reset", "step"):
            found[f"{measured} in the time of {floor}"] = cheap[GUIFORGE][measured] / cheap[floor][measured]
    found["one-click episodes a second, one core"] = episodes[GUIFORGE]["one core"]
    found["one-click episodes a second, two cores"] = max(episodes[GUIFORGE].values())
    return {name: round(value, 2) for name, value in found.items()}


def markdown(figures: Figures) -> str:
    """All figures as Markdown."""
    parts = [headline(figures["machine"])]
    for name, rows in figures["steps"].items():
        tasks = list(next(iter(rows.values()))["tasks"])
        cells = [
            [side, f"{row['reset']}, {row['step']}", f"{row['solved']:.0%}"]
            + [f"{row['tasks'][task]['reset']}, {row['tasks'][task]['step']}" for task in tasks]
            for side, row in rows.items()
        ]
        observation, reset = name.split("; ")
        title = f"### Reset ({reset}) and step, ms: {observation}\n"
        parts += [title, table(["side", "all", "solved", *tasks], cells)]
    for title, key in (("One-click episodes a second", "episodes"), ("Memory (MiB, PSS)", "memory")):
        rows = figures[key]
        parts += [
            f"### {title}\n",
            table(["side", *next(iter(rows.values()))], [[n, *r.values()] for n, r in rows.items()]),
        ]
    parts += ["### Aims\n", table(["measure", "is"], [list(item) for item in figures["ratios"].items()])]
    for size, rows in figures["frames"].items():
        cells = [[name, *row.values()] for name, row in rows.items()]
        parts += [f"### Click to picture, {size}\n", table(["way", *next(iter(rows.values()))], cells)]
    sites = figures["sites"]["sites"]
    head = list(next(iter(sites.values())))
    cells = [[name, *row.values()] for name, row in sites.items()]
    cells.append(["all", *[figures["sites"]["all"].get(name, "") for name in head]])
    return "\n".join([*parts, "### webvoyager-like (ms)\n", table(["site", *head], cells)])


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=15, help="episodes a task and side; slower sides play fewer")
    parser.add_argument("--seconds", type=float, default=10, help="of each measurement of episodes a second")
    parser.add_argument("--families", type=int, default=4, help="of each site that are played")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    figures: Figures = {"machine": machine()}
    figures["sites"] = browser_sites.measure(max(1, options.trials // 3), options.families)
    figures["frames"] = browser_frames.measure(options.trials)
    server = Server()
    try:
        url = f"http://{server.address}/miniwob/"
        figures["steps"] = measure_steps(url, options.trials)
        figures["episodes"] = measure_episodes(url, options.seconds)
        figures["memory"] = measure_memory(url, 3)
    finally:
        server.close()
    figures["ratios"] = ratios(figures["steps"], figures["episodes"])
    write(options.out, "browser", figures, markdown(figures))


if __name__ == "__main__":
    main()
