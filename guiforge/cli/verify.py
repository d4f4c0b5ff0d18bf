"""Grading again what a run kept: the same final state must give the same verdict.

Invariant: reads the run, and never writes to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from guiforge import registry
from guiforge.cli import UNGRADED
from guiforge.cli.terminal import make_table, status_text
from guiforge.env import SnapshotState, Timings
from guiforge.episode import regrade
from guiforge.outcome import Outcome, Status
from guiforge.session import PhaseClock, PhaseTimeout
from guiforge.store import EpisodeRecord, RunReader, UnknownEpisode
from guiforge.trace import Call, Step, end_action


def verify_run(path: Path, episode: str | None, console: Console) -> int:
    """Grade one episode or all again and print the comparison: 0 where every verdict is the same, 1 where one is not.

    UNGRADED where there was nothing to grade.
    Raises NotARun, UnknownEpisode, registry.Unknown.
    """
    with RunReader(path) as run:
        episodes = [run.episode(episode)] if episode is not None else run.episodes()
        for suite in {_suite(record) for record in episodes}:
            registry.suite(
                suite, run.parameters.get("suite_options")
            )  # one that is not there is said before anything is graded
        table = make_table("episode", "task", "seed>", "attempt>", "recorded", "again", "")
        same = graded = 0
        for record in episodes:
            again = grade_again(run, record)
            verdict = _compare(record.outcome, again)
            graded += isinstance(again, Outcome)
            same += verdict == "same"
            table.add_row(
                record.id, Text(record.key.task), str(record.key.seed), str(record.key.attempt), _shown(record.outcome),
                _shown(again), Text(verdict, style={"same": "green", "differs": "bold red"}.get(verdict, "dim")),
            )  # fmt: skip
            if verdict == "differs" and isinstance(again, Outcome):
                why = "; ".join(again.reasons) or again.cause or "no reasons"
                table.add_row("", Text(f"now: {why}", style="red"), "", "", "", "", "")
    console.print(table)
    console.print(f"{graded} graded again, {same} with the same verdict, {len(episodes) - graded} not to be graded")
    return UNGRADED if not graded else int(same != graded)


def grade_again(run: RunReader, record: EpisodeRecord) -> Outcome | str:
    """The outcome that the stored final state gives now, or why it can't be graded.

    A verifier that is not done within the task's limit makes a timeout of the grader.
    """
    recorded = record.outcome
    if recorded is None or not recorded.final:
        return "unfinished"
    if recorded.reward is None and recorded.status is not Status.GRADER_ERROR:
        return "no verdict"
    steps = run.steps(record.key)
    if _ended_by_replies(recorded, steps, run.calls(record.key)):
        return "ended by its replies"
    try:
        snapshot, blobs = run.snapshot(record.key)
    except UnknownEpisode:
        return "no final state"
    try:
        suite = registry.suite(_suite(record), run.parameters.get("suite_options"))
        task = run.task(record.key)
        if not suite.family(task.id).gradable(task):
            return "for a judge"
        with PhaseClock(Timings(), lambda phase, limit_s, step: None).phase("grade", task.limits.grade_s):
            return regrade(suite, task, SnapshotState(snapshot, blobs), steps)
    except PhaseTimeout as error:
        return Outcome.timed_out("grader", str(error))
    except Exception as error:  # a verifier may raise anything, and that is a finding
        return Outcome.fault(Status.GRADER_ERROR, f"{type(error).__name__}: {error}")


def _ended_by_replies(recorded: Outcome, steps: Sequence[Step], calls: Sequence[Call]) -> bool:
    """Whether the harness gave an episode up for replies that it could not use: no verifier was asked then."""
    return recorded.status is Status.FAILED and end_action(steps) is None and bool(calls and calls[-1].problem)


def _suite(record: EpisodeRecord) -> str:
    return record.key.task.partition("/")[0]


def _compare(recorded: Outcome | None, again: Outcome | str) -> str:
    if recorded is None or isinstance(again, str):
        return "skipped"
    verdicts = [(o.reward, o.components, o.reasons) for o in (recorded, again)]
    both_broken = recorded.status is again.status is Status.GRADER_ERROR
    return "same" if verdicts[0] == verdicts[1] and (recorded.reward is not None or both_broken) else "differs"


def _shown(outcome: Outcome | str | None) -> Text:
    if outcome is None or isinstance(outcome, str):
        return Text(outcome or "unfinished", style="dim")
    text = status_text(str(outcome.status))
    return text if outcome.reward is None else text.append(f" {outcome.reward:g}")
