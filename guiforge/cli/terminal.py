"""What the command line shows: a run while it goes on, and what came of it.

Invariant: everything shown that came from a task or a model is Text, never markup.
"""

from __future__ import annotations

import shlex
import time
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from guiforge.fleet import Event, Finished, Progress, Retried, Started
from guiforge.outcome import Outcome
from guiforge.report import tables
from guiforge.report.page import seconds
from guiforge.report.summary import PhaseTime, Summary
from guiforge.store import EpisodeRecord
from guiforge.task import Launch, Limits, MakeDir, OpenPage, PutFile, Run, SetupStep, StartSite
from guiforge.trace import EpisodeKey

MOST_WHY = 160  # characters of an episode's reasons on its line
_RECENT = 5  # finished episodes that stay in view
_COLOURS = {
    "solved": "green", "infeasible_ok": "green", "failed": "red", "truncated": "yellow", "timeout": "yellow",
    "policy_error": "magenta", "env_error": "magenta", "grader_error": "magenta",
}  # fmt: skip


@dataclass
class _Running:
    key: EpisodeKey
    began: float
    phase: str = "start"
    step: int = 0


@dataclass
class LiveRun:
    """A run as it goes on: a rich renderable fed with events. total: episodes in all; done: finished before.

    On a terminal it is shown live; elsewhere `on_event` prints a line an episode to `console`.
    """

    total: int
    done: int
    console: Console
    statuses: Counter[str] = field(default_factory=Counter)
    retried: int = 0
    _running: dict[str, _Running] = field(default_factory=dict)
    _recent: deque[Text] = field(default_factory=lambda: deque(maxlen=_RECENT))
    _began: float = field(default_factory=time.monotonic)

    def on_event(self, event: Event) -> None:
        """Take one event of the fleet in."""
        match event:
            case Started(key=key):
                self._running[key.id] = _Running(key, time.monotonic())
            case Progress(key=key, phase=phase, step=step):
                running = self._running[key.id]
                running.phase, running.step = phase, step
            case Retried(key=key, outcome=outcome):
                self.retried += 1
                self._tell(key, outcome, " (run again)")
            case Finished(key=key, outcome=outcome):
                self.done += 1
                self.statuses[str(outcome.status)] += 1
                self._tell(key, outcome)

    def _tell(self, key: EpisodeKey, outcome: Outcome, note: str = "") -> None:
        running = self._running.pop(key.id, None)
        took = seconds(time.monotonic() - running.began) if running else ""
        line = Text.assemble(
            f"{self.done:>4}/{self.total} ", status_text(str(outcome.status)), note, f"  {key}  {took}", style="default"
        )
        why = shorten(outcome.cause or "; ".join(outcome.reasons))
        if why:
            line.append(f"  {why}", style="dim")
        if self.console.is_terminal:
            line.truncate(self.console.width, overflow="ellipsis")
            self._recent.append(line)
        else:
            self.console.print(line, soft_wrap=True)

    def __rich__(self) -> RenderableType:
        now = time.monotonic()
        head = Text(f"{self.done} of {self.total} episodes, {seconds(now - self._began)}  ")
        head.append_text(counts_text(self.statuses))
        if self.retried:
            head.append(f"  {self.retried} run again", style="dim")
        table = make_table("task", "seed>", "attempt>", "phase", "step>", "time>")
        for r in self._running.values():
            table.add_row(
                Text(r.key.task), str(r.key.seed), str(r.key.attempt), r.phase, str(r.step + 1), seconds(now - r.began)
            )
        bar = ProgressBar(total=max(1, self.total), completed=self.done, width=min(60, self.console.width))
        return Group(head, bar, *self._recent, table)


def shorten(text: str) -> str:
    """A text on one line of MOST_WHY characters at most; the run keeps all of it."""
    line = " ".join(text.split())
    return line if len(line) <= MOST_WHY else line[: MOST_WHY - 1] + "…"


def setup_text(step: SetupStep) -> str:
    """What a step of a task's set-up does, on one line."""
    match step:
        case PutFile():
            return f"put file {step.path} ({len(step.data):,} bytes)"
        case MakeDir():
            return f"make folder {step.path}"
        case Run():
            return f"run {shlex.join(step.argv)}"
        case Launch():
            return shlex.join(["launch", step.app, *step.args]) + (", maximized" if step.maximize else "")
        case OpenPage():
            return f"open {step.url}"
        case StartSite():
            return f"start site {step.site}"


def limits_text(limits: Limits) -> str:
    """A task's limits: `30 steps; reset 120 s, step 60 s, ...`."""
    times = (f"{name.removesuffix('_s')} {value:g} s" for name, value in limits.model_dump().items() if name != "steps")
    return f"{limits.steps} steps; {', '.join(times)}"


def make_table(*columns: str, title: str | None = None) -> Table:
    """A table in the one style; a column whose name ends in `>` is aligned to the right."""
    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", pad_edge=False)
    for name in columns:
        table.add_column(name.removesuffix(">"), justify="right" if name.endswith(">") else "left", overflow="fold")
    return table


def print_table(console: Console, shown: tables.Table) -> None:
    """Print a table of figures."""
    table = make_table(*shown.columns, title=shown.title)
    for row in shown.rows:
        table.add_row(*map(Text, row))
    console.print(table)


def status_text(status: str) -> Text:
    """A status in its colour."""
    return Text(status, style=_COLOURS.get(status, "default"))


def counts_text(statuses: Counter[str]) -> Text:
    """`12 solved  3 failed`, coloured."""
    counted = (Text(f"{n} {name}", style=_COLOURS.get(name, "default")) for name, n in statuses.items())
    return Text("  ").join(counted)


def summary_tables(summary: Summary) -> RenderableType:
    """Success by application with counts by status, then times by phase."""
    success = make_table(
        "application", "episodes>", "passed>", "success (95%)", "status",
        title="Success by application",
    )  # fmt: skip
    for row in (*summary.rows, summary.total):
        if row is summary.total:
            success.add_section()
        success.add_row(
            Text(row.name), str(row.episodes), f"{row.rate.passed}/{row.rate.graded}", str(row.rate),
            counts_text(row.statuses),
        )  # fmt: skip
    return Group(success, *_phase_tables(("Times by phase", summary.phases), ("Inside the env", summary.detail)))


def fault_lines(episodes: Sequence[EpisodeRecord], retried: int) -> Iterable[Text]:
    """What to say of faults, if there were any: how many were run again, and which episodes carry no reward."""
    if retried:
        yield Text(f"{retried} {'fault was' if retried == 1 else 'faults were'} run again")
    unrewarded = [e.outcome for e in episodes if e.outcome is not None and e.outcome.reward is None]
    outcomes = [o for o in unrewarded if not o.unjudged]
    if len(unrewarded) > len(outcomes):
        yield Text(f"for a judge to see: {len(unrewarded) - len(outcomes)} of {len(episodes)} (guiforge judge)")
    if outcomes:
        kinds = Counter(f"{o.status} ({o.owner})" if o.owner else str(o.status) for o in outcomes)
        counted = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
        count = f"{len(outcomes)} of {len(episodes)}"
        yield Text(f"without a reward: {count} ({counted}); --resume --retry-faults plays them again")


def _phase_tables(*titled: tuple[str, tuple[PhaseTime, ...]]) -> Iterable[Table]:
    for title, phases in titled:
        if phases:
            table = make_table("phase", "share>", "median>", "90th percentile>", "total>", title=title)
            for p in phases:
                table.add_row(p.name, f"{p.share:.0%}", seconds(p.median_s), seconds(p.p90_s), seconds(p.total_s))
            yield table
