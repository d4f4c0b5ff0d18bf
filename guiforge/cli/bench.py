"""`guiforge bench`: a suite or a published benchmark played k times a task, its scores printed and kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from guiforge import registry
from guiforge.bench import osworld, published
from guiforge.bench.published import BadBenchmark, Problem
from guiforge.bench.scores import Row, Scores, Try
from guiforge.cli import INTERRUPTED, UNGRADED
from guiforge.cli.judge import AskedJudge, Judgements, comparison, judged
from guiforge.cli.options import BadInput
from guiforge.cli.plan import Plan
from guiforge.cli.rollout import episodes_of, run_plan
from guiforge.cli.terminal import fault_lines, print_table
from guiforge.report import parameter_text, write_page
from guiforge.report.tables import Table, markdown, write_tables
from guiforge.store import EpisodeRecord, RunReader

OSWORLD = "osworld"
KINDS: dict[str, type[published.Record]] = {
    "webvoyager": published.WebVoyagerRecord,
    "online-mind2web": published.Mind2WebRecord,
}
DEFAULT_JUDGES = {"webvoyager": "webvoyager", "online-mind2web": "webjudge"}
HOW_TO_READ = (
    "A score is the mean over tasks of the mean over their seeds; its 95% interval comes from resampling tasks, and "
    "is too narrow where there are few of them or all came out alike.",
    "pass@k: at least one of k tries passes; pass^k: all k do; both are unbiased estimates, and need k graded tries.",
    "An episode without a reward (a fault of ours or of the policy's endpoint, or no judgement) is counted under "
    "'no reward' and is in no score: it is never a zero.",
)


def benchmark_options(name: str, data: Path | None, hosts: str, skip_bad: bool, console: Console) -> dict[str, Any]:
    """The options with which a benchmark's file is read, what is skipped in it said. Raises BadInput, BadBenchmark."""
    if name not in registry.names("benchmarks"):
        raise BadInput(f"--data is for published benchmarks: {', '.join([*registry.names('benchmarks'), OSWORLD])}")
    if hosts not in ("site", "*"):
        raise BadInput(f"--hosts {hosts!r}; valid are site (its host and subdomains) and * (everything)")
    file = _existing(data)
    if name in KINDS:
        _say_problems(published.read(KINDS[name], file)[1], skip_bad, console)
    return {"data": str(file), "hosts": hosts, "skip_bad": skip_bad}


def _existing(data: Path | None) -> Path:
    if data is None:
        raise BadInput("--data names the benchmark's file, as it was published")
    if not data.exists():
        raise BadInput(f"--data {data}: there is no such file")
    return data.resolve()


def _say_problems(problems: Sequence[Problem], skip_bad: bool, console: Console) -> None:
    """Raises BadBenchmark for problems that are not to be skipped."""
    if problems and not skip_bad:
        raise BadBenchmark(tuple(problems))
    for problem in problems:
        console.print(f"skipped: {problem}", markup=False, soft_wrap=True, style="yellow")


def bench_suite(plan: Plan, judge: AskedJudge | None, concurrency: int, console: Console) -> int:
    """Play a plan, let the judge see it, print the scores and write them into the run; the exit code.

    UNGRADED where no episode carries a reward. Raises BadInput, StoreError, StoreFull.
    """
    shown = run_plan(plan, concurrency, console, f"guiforge bench {plan.parameters['suite']}")
    if shown is None:
        return INTERRUPTED
    judgements = judged(plan.path, judge, concurrency, console) if judge is not None else None
    episodes = episodes_of(plan)
    scores = Scores.of(tries(plan.path, episodes), plan.parameters["attempts"])
    tables = score_tables(scores)
    if judgements is not None:
        tables.append(comparison(episodes, judgements.judged))
    for table in tables:
        print_table(console, table)
    for line in fault_lines(episodes, shown.retried):
        console.print(line, soft_wrap=True)
    for name, path in write_scores(plan, scores, tables, judgements).items():
        console.print(f"{name:<9} {path}", markup=False, soft_wrap=True)
    if judgements is not None:
        console.print(f"judge: {judgements}", markup=False, soft_wrap=True)
    return 0 if scores.total.graded else UNGRADED


def tries(path: Path, episodes: Sequence[EpisodeRecord]) -> list[Try]:
    """A run's episodes as scores see them."""
    with RunReader(path) as run:
        return [_try(run, episode) for episode in episodes]


def _try(run: RunReader, episode: EpisodeRecord) -> Try:
    site, level, *_ = (*run.task(episode.key).tags, "", "")
    graded = episode.outcome is not None and episode.outcome.reward is not None
    return Try(
        task=episode.key.task,
        seed=episode.key.seed,
        site=site or "other",
        level=level,
        status=episode.status,
        passed=episode.outcome.passed if graded and episode.outcome else None,
        steps=len(run.steps(episode.key)),
    )


def score_tables(scores: Scores) -> list[Table]:
    """The scores as tables: by site, and by level where tasks have one."""
    parts = [("site", scores.sites), ("level", scores.levels)]
    return [_table(part, rows, scores) for part, rows in parts if rows]


def _table(part: str, rows: Sequence[Row], scores: Scores) -> Table:
    k = scores.k
    repeated = (f"pass@{k}", f"pass^{k}") if k > 1 else ()
    columns = (part, "tasks>", "graded>", "no reward>", "pass@1 (95%)", *repeated, "steps>", "status")
    return Table(f"By {part}", columns, [_cells(row, k) for row in (*rows, scores.total)])


def _cells(row: Row, k: int) -> list[str]:
    repeated = [str(row.pass_k), str(row.pass_hat_k)] if k > 1 else []
    steps = "–" if row.steps is None else f"{row.steps:g}"
    status = "  ".join(f"{n} {name}" for name, n in row.statuses.items())
    tasks = str(row.tasks) if row.scored == row.tasks else f"{row.scored} of {row.tasks}"
    return [row.name, tasks, str(row.graded), str(row.ungraded), str(row.pass_1), *repeated, steps, status]


def write_scores(plan: Plan, scores: Scores, tables: Sequence[Table], judgements: Judgements | None) -> dict[str, Path]:
    """Write `bench.json`, `bench.md` and the page into the run; their paths by what they are. Raises StoreFull."""
    parameters, path = plan.parameters, plan.path
    title = f"{parameters['suite']}, {scores.k} tries a task"
    facts = {name.replace("_", " "): parameter_text(name, value) for name, value in parameters.items() if value}
    notes = [*HOW_TO_READ]
    if scores.total.short:
        notes.append(
            f"{scores.total.short} tasks and seeds have less than {scores.k} graded tries, and are in pass@1 alone."
        )
    if judgements is not None:
        notes.append(f"Judge: {judgements}.")
    judge = None
    if judgements is not None:
        judge = {
            "name": judgements.judge,
            "model": judgements.model,
            "judged": sum(j.passed is not None for j in judgements.judged),
            "failed": sum(j.passed is None for j in judgements.judged),
            "errors": judgements.errors.data() if judgements.errors.known else None,
            "measured_on": judgements.measured_on and str(judgements.measured_on),
        }
    page = write_page(path)
    data = {"parameters": parameters, "scores": scores.data(), "judge": judge}
    (path / "bench.json").write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    (path / "bench.md").write_text(markdown(title, facts, tables, notes))
    bench_page = write_tables(page.with_name("bench.html"), title, facts, tables, notes)
    return {"json": path / "bench.json", "markdown": path / "bench.md", "page": bench_page, "episodes": page}


def check_osworld(data: Path | None, skip_bad: bool, console: Console) -> int:
    """Read OSWorld's task files, and print what of the format they use. Raises BadInput, BadBenchmark."""
    tasks, problems = osworld.read(_existing(data))
    _say_problems(problems, skip_bad, console)
    if not tasks:
        raise BadBenchmark(tuple(problems))
    known = {True: "yes", False: "no: not of the published format", None: "its evaluator comes later"}
    rows = [(use.part, use.name, str(use.tasks), known[use.known]) for use in osworld.uses(tasks)]
    print_table(console, Table("What these tasks use", ("part", "name", "tasks>", "known here"), rows))
    infeasible = sum(not task.feasible for task in tasks)
    console.print(
        f"{len(tasks)} tasks are well formed ({infeasible} of them infeasible). They are read and checked, and not "
        "played: OSWorld's evaluator is not a part of this version",
        soft_wrap=True,
    )
    return 0
