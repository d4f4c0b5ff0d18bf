"""What every task family is tested for: its makes, its grading, its ways without a world; and played, by the linter."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from envs.browser import sites
from envs.browser.sites import cache
from envs.browser.sites.site import copy_tree
from guiforge.action import Infeasible
from guiforge.bench.lint import lint
from guiforge.env import Snapshot, edited, state_of_files
from guiforge.grading import grade
from guiforge.outcome import Verdict
from guiforge.store import Store
from guiforge.task import Edits, Family, PutFile, StartSite, Suite, Task, Variant

SEEDS = range(12)
SEED = int(os.environ.get("GUIFORGE_SUITE_SEED", "0"))  # the one that is played, another each day in CI


def first_state(task: Task) -> tuple[Snapshot, dict[str, bytes]]:
    """The files that the task's set-up writes and the tables of the sites that it starts, as a snapshot."""
    return _first_state(task.model_dump_json())


@lru_cache(maxsize=4)
def _first_state(task: str) -> tuple[Snapshot, dict[str, bytes]]:
    setup = Task.model_validate_json(task).setup
    files = {step.path: step.data for step in setup if isinstance(step, PutFile)}
    for step in setup:
        if isinstance(step, StartSite):
            files |= _tables(step)
    return state_of_files(files, processes=[])


def _tables(step: StartSite) -> dict[str, bytes]:
    """What the site's own dump says of a copy of its data with the step's records in it."""
    site = sites.load(step.site)
    with tempfile.TemporaryDirectory() as place:
        data = Path(place) / "data"
        copy_tree(cache.prepare(site).data, data)
        site.seed(data, step.records)
        return {f"sites/{site.name}/{table}.json": json.dumps(rows).encode() for table, rows in site.dump(data).items()}


def verdict_on(family: Family, task: Task, made: Variant | Edits, end: Infeasible | None = None) -> Verdict:
    """The grade, the audit included, of the first state with these edits, after the variant's end (or another)."""
    variant = Variant.of(made)
    return grade(family, task, edited(*first_state(task), variant.edits), end or variant.end)


def check_family(family: Family, seed: int) -> None:
    """Same seed same task; nothing done 0; each solution 1, each near miss 0, twice the same; the linter's rules."""
    task = family.make(seed)
    assert task == family.make(seed), "the same seed gives another task"
    assert (task.id, task.seed) == (family.name, seed)
    assert Task.model_validate_json(task.model_dump_json()) == task, "the task is no plain data"
    assert verdict_on(family, task, {}).score == 0, "nothing was done, and it passes"
    if not task.feasible:
        assert verdict_on(family, task, {}, Infeasible()).passed
        return
    assert verdict_on(family, task, {}, Infeasible()).score == 0
    assert family.solutions and family.near_misses
    for name, solution in family.solutions.items():
        verdict = verdict_on(family, task, solution(task))
        assert verdict.passed, f"solution {name!r}: {verdict.reasons}"
        assert verdict == verdict_on(family, task, solution(task)), "graded twice, two verdicts"
    for name, near_miss in family.near_misses.items():
        verdict = verdict_on(family, task, near_miss(task))
        assert verdict.score == 0 and verdict.reasons, f"near miss {name!r} scores {verdict.score}"


def check_damaged(family: Family, content: bytes | None) -> None:
    """A solution whose file is missing (None) or has this content instead scores 0, for the file's sake."""
    task = family.make(0)
    solution = Variant.of(next(iter(family.solutions.values()))(task))
    found = verdict_on(family, task, Variant({**solution.edits, task.params["file"]: content}))
    assert found.score == 0
    assert any(reason.startswith("file: ") for reason in found.reasons)


def check_variety(families: Sequence[Family]) -> None:
    """Seeds vary the data: most seeds of a family give instructions and files of their own."""
    for family in families:
        tasks = [family.make(seed) for seed in SEEDS]
        worlds = {t.model_dump_json(include={"instruction", "setup"}) for t in tasks}
        assert len(worlds) >= len(tasks) * 3 // 4, f"{family.name} has {len(worlds)} worlds in {len(tasks)} seeds"


def parts(suite: Suite) -> dict[str, list[str]]:
    """The names of a suite's families by the first tag of their tasks: an application, a site."""
    found: dict[str, list[str]] = {}
    for name, family in suite.families.items():
        found.setdefault(family.make(SEED).tags[0], []).append(name)
    return found


def check_played(suite: Suite, ids: Sequence[str], folder: Path) -> None:
    """The linter plays one seed of these families and finds nothing: null 0, oracle 1, the same again, and so on."""
    with Store(folder / "run") as store:
        findings = lint(suite.name, store, ids=ids, seeds=[SEED])
    assert [str(finding) for finding in findings] == []
