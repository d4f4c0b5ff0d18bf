"""What is measured of one side of the browser's comparison, in a process of its own.

Invariant: the tasks, where to click, the clock and the order are one for all sides (see `browser_sides`). Results are
printed as JSON.

    browser_loops.py SIDE OPTIONS steps URL EPISODES        medians over so many episodes of each task
    browser_loops.py SIDE OPTIONS episodes URL SECONDS      episodes in this time, once a line is on standard input
    browser_loops.py SIDE OPTIONS memory URL COUNT          of the first world and of so many more in it

SIDE is a name in SIDES, OPTIONS its keyword arguments as JSON, URL where the pages are.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from statistics import median
from typing import Any

import psutil
from browser_sides import HEIGHT, SIDES, WIDTH, Side

BLOCK = 16  # episodes of one task before the next: those of a group, as training plays them

# Tasks that one click solves, and what is to be clicked; `words` is what the page asks for.
_NAMED = "[...document.querySelectorAll('#area %s')].find((one) => one.textContent === words.match(/\"(.*)\"/)[1])"
TASKS = {
    "click-test": "document.querySelector('#subbtn')",
    "click-test-2": "document.querySelector('#subbtn')",
    "click-button": _NAMED % "button",
    "click-link": _NAMED % ".alink",
    "click-dialog": "document.querySelector('.ui-dialog-titlebar-close')",
    "focus-text": "document.querySelector('#tt')",
}
_WHERE = """(() => {{
    const said = core.getUtterance(), words = said.utterance ?? said;
    const node = {element}, box = node.getClientRects()[0];
    for (const [u, v] of [[.5, .5], [.2, .2], [.8, .8], [.2, .8], [.8, .2]]) {{
        const x = Math.round(box.left + u * (box.width - 1)), y = Math.round(box.top + v * (box.height - 1));
        if (node.contains(document.elementFromPoint(x, y))) return [x, y];  // another may be above it
    }}
}})()"""


def play(side: Side, task: str, seed: int) -> tuple[float, float, bool]:
    """Seconds of an episode's reset and of its one step, and whether it was solved. Raises where pixels are amiss."""
    start = time.perf_counter()
    side.reset(task, seed)
    reset_s = time.perf_counter() - start
    x, y = side.evaluate(_WHERE.format(element=TASKS[task]))
    start = time.perf_counter()
    solved = side.click(x, y)
    step_s = time.perf_counter() - start
    if side.seen is None or side.seen.shape != (HEIGHT, WIDTH, 3):
        raise RuntimeError(f"no picture of {WIDTH}x{HEIGHT}: {side.seen if side.seen is None else side.seen.shape}")
    return reset_s, step_s, solved


def steps(side: Side, episodes: int) -> dict[str, Any]:
    """Medians in milliseconds by task and over all, of the episodes after each task's first; share that was solved."""
    took: dict[str, list[tuple[float, float, bool]]] = {}
    for task in TASKS:
        took[task] = [play(side, task, seed) for seed in range(episodes + 1)][1:]
    every = [one for episode in took.values() for one in episode]

    def medians(found: list[tuple[float, float, bool]]) -> dict[str, float]:
        return {name: round(median(t[i] for t in found) * 1000, 1) for i, name in enumerate(("reset", "step"))}

    solved = sum(one[2] for one in every) / len(every)
    return {**medians(every), "solved": solved, "tasks": {task: medians(found) for task, found in took.items()}}


def episodes(side: Side, seconds: float) -> dict[str, float]:
    """How many one-click episodes were played, in how many seconds; the first, and the side's start, not counted."""
    order = itertools.cycle(task for task in TASKS for _ in range(BLOCK))
    play(side, next(order), 0)
    print("ready", flush=True)
    sys.stdin.readline()
    start, count, solved = time.perf_counter(), 0, 0
    while time.perf_counter() - start < seconds:
        count += 1
        solved += play(side, next(order), count)[2]
    return {"episodes": count, "seconds": time.perf_counter() - start, "solved": solved / count}


def memory(side: Side, count: int) -> dict[str, float]:
    """MiB (PSS) of what the side has started: for its first world, and for each of so many further ones."""

    def now() -> float:
        return float(sum(p.memory_full_info().pss for p in psutil.Process().children(recursive=True)) / 2**20)

    play(side, "click-test", 0)
    first = now()
    for _ in range(count):
        side.more()
    return {"first": round(first), "each further": round((now() - first) / count, 1)}


def main(argv: list[str]) -> dict[str, Any]:
    """What the command line asks for, as measured."""
    name, options, what, url, amount = argv
    side = SIDES[name](url, **json.loads(options))
    try:
        if what == "steps":
            return steps(side, int(amount))
        return episodes(side, float(amount)) if what == "episodes" else memory(side, int(amount))
    finally:
        side.close()


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
