"""Judging: a run's episodes shown to a judge, and how often the judge errs where a verifier knew better.

Invariant: a judge that failed has judged nothing: it is counted, and is in no rate. What a judge said is kept in the
run's `judgements.jsonl` and not asked again; an episode that was played again since is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from guiforge.grading import outcome_of
from guiforge.harness import PolicyFailed, PolicyTimedOut
from guiforge.harness.chat import Chat
from guiforge.outcome import UNJUDGED, Outcome, Status, Verdict
from guiforge.policies import Endpoint
from guiforge.report.summary import Rate
from guiforge.store import EpisodeRecord, RunReader, Store
from guiforge.trace import end_action
from guiforge.wire import ChatMessage
from verifiers.judges import Ask, Evidence, Image, Judge, JudgeFailed, Message
from verifiers.judges.webjudge import WebJudge
from verifiers.judges.webvoyager import WebVoyagerJudge

JUDGES: dict[str, Callable[[], Judge]] = {"webvoyager": WebVoyagerJudge, "webjudge": WebJudge}
COMPONENT = "judge "  # how the component of an outcome begins that a judge gave
KEPT = "judgements.jsonl"
CALL_S = 180.0  # one model call, its retries included
MOST_TOKENS = 2048


class Judged(BaseModel):
    """What a judge made of one episode. passed: None where it failed, `reason` then says how.

    ended: when the episode ended, so that another try at it is another thing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    episode: str
    ended: float | None
    judge: str
    model: str
    passed: bool | None
    reason: str
    calls: int = 0


@dataclass(frozen=True)
class Errors:
    """How a judge compares with verifiers on the episodes that both saw.

    false_positives: of the episodes that the verifier failed, those that the judge passed.  false_negatives: of those
    that the verifier passed, those that the judge failed.
    """

    false_positives: Rate
    false_negatives: Rate

    @property
    def known(self) -> bool:
        """Whether any episode tells of an error."""
        return bool(self.false_positives.graded or self.false_negatives.graded)

    def data(self) -> dict[str, Any]:
        """As JSON takes it."""
        return {
            name: {"count": rate.passed, "of": rate.graded, "share": rate.share, "interval": rate.interval}
            for name, rate in (("false_positives", self.false_positives), ("false_negatives", self.false_negatives))
        }


def errors(pairs: Sequence[tuple[bool, bool]]) -> Errors:
    """The errors of a judge from (what it said, what the verifier said) of each episode."""
    failed = [said for said, truth in pairs if not truth]
    passed = [said for said, truth in pairs if truth]
    return Errors(Rate(sum(failed), len(failed)), Rate(len(passed) - sum(passed), len(passed)))


def labelled(records: Sequence[EpisodeRecord]) -> dict[str, bool]:
    """By episode id whether it passed, of the episodes that a verifier graded (and not a judge)."""
    return {
        r.id: r.outcome.passed
        for r in records
        if r.outcome is not None and r.outcome.reward is not None and not any(map(_is_judges, r.outcome.components))
    }


def _is_judges(component: str) -> bool:
    return component.startswith(COMPONENT)


def pairs(judged: Sequence[Judged], truth: dict[str, bool]) -> list[tuple[bool, bool]]:
    """What the judge and what the verifier said of each episode that both saw."""
    return [(j.passed, truth[j.episode]) for j in judged if j.passed is not None and j.episode in truth]


def judgeable(record: EpisodeRecord) -> bool:
    """Whether a judge can say something of an episode: it was graded, or waits for a judge."""
    return record.outcome is not None and (record.outcome.reward is not None or record.outcome.unjudged)


def evidence(run: RunReader, record: EpisodeRecord) -> Evidence:
    """What a judge may see of an episode."""
    steps = run.steps(record.key)
    hashes = [step.frame for step in steps] + ([record.last_frame] if record.last_frame else [])
    return Evidence(
        instruction=record.instruction,
        actions=tuple(step.actions for step in steps),
        screens=tuple(_image(run, name) for name in hashes),
        errors=tuple(step.error for step in steps),
    )


def _image(run: RunReader, name: str) -> Image:
    return Image(run.image_bytes(name), f"image/{run.image_path(name).suffix.removeprefix('.')}")


@contextmanager
def asking(endpoint: Endpoint) -> Iterator[Ask]:
    """A judge's model calls at an endpoint, usable from any thread."""
    with Chat(endpoint.base_url, endpoint.api_key) as chat:

        def ask(messages: Sequence[Message]) -> str:
            body = {"model": endpoint.model, "messages": messages, "temperature": 0.0, "max_tokens": MOST_TOKENS}
            try:
                reply: ChatMessage = chat.complete(body, CALL_S).choices[0].message
            except (PolicyFailed, PolicyTimedOut) as error:
                raise JudgeFailed(str(error)) from None
            return reply.text

        yield ask


def judge_run(
    run: RunReader, judge: Judge, endpoint: Endpoint, *, concurrency: int = 4,
    on_judged: Callable[[EpisodeRecord, Judged], None] = lambda record, judged: None,
) -> list[Judged]:  # fmt: skip
    """Judge every episode of a run that can be judged, and was not by this judge and model.

    A Store gives the outcomes of episodes that wait for a judge; a RunReader only tells. Raises StoreFull, Damaged.
    """
    kept = {(j.episode, j.ended): j for j in _kept(run.path) if (j.judge, j.model) == (judge.name, endpoint.model)}
    records = [record for record in run.episodes() if judgeable(record)]
    left = [r for r in records if (found := kept.get((r.id, r.ended))) is None or found.passed is None]
    with asking(endpoint) as ask, ThreadPoolExecutor(concurrency) as pool, (run.path / KEPT).open("a") as file:
        tried = pool.map(lambda record: _judge(run, record, judge, endpoint.model, ask), left)
        for record, judged in zip(left, tried, strict=True):
            kept[record.id, record.ended] = judged
            file.write(f"\n{judged.model_dump_json()}")  # a line that a kill cut short stays a line of its own
            file.flush()
            on_judged(record, judged)
    if isinstance(run, Store):
        for record in records:
            if record.outcome is not None and record.outcome.unjudged:
                run.judge(record.key, outcome(run, record, kept[record.id, record.ended]))
    return [kept[record.id, record.ended] for record in records]


def _judge(run: RunReader, record: EpisodeRecord, judge: Judge, model: str, ask: Ask) -> Judged:
    about = {"episode": record.id, "ended": record.ended, "judge": judge.name, "model": model}
    try:
        found = judge(evidence(run, record), ask)
    except JudgeFailed as error:
        return Judged(**about, passed=None, reason=str(error))
    return Judged(**about, passed=found.passed, reason=found.reason, calls=found.calls)


def outcome(run: RunReader, record: EpisodeRecord, judged: Judged) -> Outcome:
    """The outcome that a judgement makes of an episode; a judge's failure is a fault of the grader."""
    if judged.passed is None:
        return Outcome.fault(Status.GRADER_ERROR, f"{UNJUDGED}: {judged.judge} failed: {judged.reason}")
    verdict = Verdict.of((f"{COMPONENT}{judged.judge}", judged.passed, judged.reason))
    return outcome_of(run.task(record.key), verdict, at_limit=end_action(run.steps(record.key)) is None)


def _kept(path: Path) -> list[Judged]:
    """The judgements that a run keeps; a line that a kill cut short is left out."""
    file = path / KEPT
    found = []
    for line in filter(None, file.read_text().split("\n") if file.is_file() else []):
        try:
            found.append(Judged.model_validate(json.loads(line)))
        except (ValueError, ValidationError):
            continue
    return found
