"""Judges from the command line: asked about a run's episodes, and measured where a verifier knew."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from guiforge import policies
from guiforge.bench import judging
from guiforge.bench.judging import JUDGES, Errors, Judged, judge_run, labelled, pairs
from guiforge.cli import UNGRADED
from guiforge.cli.options import BadInput
from guiforge.cli.rollout import check_endpoint
from guiforge.cli.terminal import print_table, shorten, status_text
from guiforge.policies import Endpoint
from guiforge.report.summary import Rate
from guiforge.report.tables import Table
from guiforge.store import EpisodeRecord, RunReader, Store
from verifiers.judges import Judge

DEFAULT_JUDGE = "webvoyager"
UNKNOWN = "unknown: no episode here was graded by a verifier; name a run that was with --labelled"


@dataclass(frozen=True)
class AskedJudge:
    """A judge at an endpoint, checked, and the labelled run that it is measured on besides the one it judges."""

    judge: Judge
    endpoint: Endpoint
    labelled: Path | None


def find_judge(
    name: str, url: str, model: str | None, key_env: str | None, labels: Path | None, option: str
) -> AskedJudge:
    """The judge that was asked for. option: what its URL was given with.

    Raises BadInput where there is none, or nothing answers at its URL; NotARun for `labels` that is none.
    """
    if name not in JUDGES:
        raise BadInput(f"--judge {name!r}: there is no such judge; valid are: {', '.join(JUDGES)}")
    try:
        policy = policies.resolve(url)
    except ValueError as error:
        raise BadInput(f"{option}: {error}") from None
    if policy in policies.EMBEDDED:
        raise BadInput(f"{option}: a judge is an endpoint, http(s)://host/v1, and not {policy!r}")
    if key_env is not None and not os.environ.get(key_env):
        raise BadInput(f"--key-env {key_env}: the environment has no such variable, or it is empty")
    if labels is not None:
        RunReader(labels).close()
    options = {k: v for k, v in (("model", model), ("api_key_env", key_env)) if v is not None}
    check_endpoint(policy, options, option)
    return AskedJudge(JUDGES[name](), policies.endpoint_at(policy, options), labels)


@dataclass(frozen=True)
class Judgements:
    """What a judge made of a run. errors: on this run's graded episodes, or the labelled run's where it has none."""

    judge: str
    model: str
    judged: list[Judged]
    errors: Errors
    measured_on: Path | None

    def __str__(self) -> str:
        if not self.errors.known:
            return f"{self.judge} by {self.model}; its errors are {UNKNOWN}"
        return (
            f"{self.judge} by {self.model}; measured on {self.measured_on}: false positives "
            f"{_error(self.errors.false_positives)}, of the failed episodes; false negatives "
            f"{_error(self.errors.false_negatives)}, of the passed ones"
        )


def judged(run: Path, asked: AskedJudge, concurrency: int, console: Console) -> Judgements:
    """Ask a judge about a run's episodes, giving an outcome to those that wait for one, and measure it.

    Raises NotARun, StoreLocked, StoreFull.
    """

    def tell(record: EpisodeRecord, found: Judged) -> None:
        status = "grader_error" if found.passed is None else "solved" if found.passed else "failed"
        line = Text.assemble(status_text(status), f"  {record.key}  ", (shorten(found.reason), "dim"))
        console.print(line, soft_wrap=True)

    def ask(reader: RunReader) -> list[Judged]:
        return judge_run(reader, asked.judge, asked.endpoint, concurrency=concurrency, on_judged=tell)

    with ExitStack() as stack:
        reader = stack.enter_context(RunReader(run))
        if any(e.outcome is not None and e.outcome.unjudged for e in reader.episodes()):
            reader = stack.enter_context(Store(run, parameters={}))
        found = ask(reader)
        both = pairs(found, labelled(reader.episodes()))
    measured_on = run
    if asked.labelled is not None:
        measured_on = asked.labelled
        with RunReader(asked.labelled) as other:
            both = pairs(ask(other), labelled(other.episodes()))
    errors = judging.errors(both)
    return Judgements(asked.judge.name, asked.endpoint.model, found, errors, measured_on if errors.known else None)


def comparison(episodes: Sequence[EpisodeRecord], found: Sequence[Judged]) -> Table:
    """By site what the judge and what the verifier made of the same episodes."""
    truth, by_id = labelled(episodes), {j.episode: j for j in found}
    rows = []
    for name in (*sorted({e.application for e in episodes}), "all"):
        ids = {e.id for e in episodes if name in ("all", e.application)}
        of_site = [by_id[id] for id in ids if id in by_id]
        said = [j.passed for j in of_site if j.passed is not None]
        known = [truth[id] for id in ids if id in truth]
        errors = judging.errors(pairs(of_site, truth))
        rows.append(
            (
                name, str(len(of_site)), str(len(of_site) - len(said)), str(Rate(sum(said), len(said))),
                str(Rate(sum(known), len(known))) if known else "unknown", _error(errors.false_positives),
                _error(errors.false_negatives),
            )
        )  # fmt: skip
    columns = ("site", "episodes>", "judge failed>", "judge", "verifier", "false positives", "false negatives")
    return Table("The judge beside the verifier", columns, rows)


def _error(rate: Rate) -> str:
    return f"{rate.passed} of {rate.graded}: {rate}" if rate.graded else "unknown"


def show_judge(run: Path, asked: AskedJudge, concurrency: int, console: Console) -> int:
    """Judge a run and print what came of it; UNGRADED where nothing could be judged."""
    found = judged(run, asked, concurrency, console)
    with RunReader(run) as reader:
        print_table(console, comparison(reader.episodes(), found.judged))
    console.print(f"judge: {found}", markup=False, soft_wrap=True)
    console.print(f"kept in {run / judging.KEPT}", markup=False, soft_wrap=True)
    return 0 if any(j.passed is not None for j in found.judged) else UNGRADED
