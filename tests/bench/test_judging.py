"""A run's episodes are shown to a judge at a real endpoint; its errors are counted where a verifier knew better."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PIL import Image as Picture

from guiforge.action import Answer, Click
from guiforge.bench.judging import KEPT, errors, evidence, judge_run, labelled, pairs
from guiforge.frame import Frame
from guiforge.outcome import UNJUDGED, Outcome, Status
from guiforge.policies import Endpoint
from guiforge.report.summary import wilson
from guiforge.store import RunReader, Store
from guiforge.task import Task
from guiforge.trace import EpisodeKey, Step
from tests import endpoint as scripted
from tests.endpoint import fails, says
from verifiers.judges.webvoyager import WebVoyagerJudge

YES, NO = "Verdict: SUCCESS", "Verdict: NOT SUCCESS"
SOLVED = Outcome(status=Status.SOLVED, reward=1.0)
FAILED = Outcome(status=Status.FAILED, reward=0.0)
WAITING = Outcome.fault(Status.GRADER_ERROR, f"{UNJUDGED} yet")
BROKEN = Outcome.fault(Status.ENV_ERROR, "fell over")


def record(store: Store, number: int, outcome: Outcome) -> None:
    """An episode of two steps, its frames unlike any other's."""
    key = EpisodeKey(task="s/f", seed=number, attempt=0, harness="h", policy="p")
    store.begin(key, Task(suite="s", id="f", seed=number, instruction=f"Do number {number}.", tags=("shop",)))
    frames = []
    for n in range(3):
        encoded = Frame.from_image(Picture.new("RGB", (8, 8), (number, n, 0))).encode("png")
        frames.append(store.image(encoded.data, encoded.media_type))
    store.step(key, Step(index=0, frame=frames[0], actions=(Click(x=1, y=2),), error="missed", started=0.0))
    store.step(key, Step(index=1, frame=frames[1], actions=(Answer(text=f"it is {number}"),), started=1.0))
    store.finish(key, outcome, frames[2], {})


def run_of(path: Path, *outcomes: Outcome) -> Path:
    with Store(path, parameters={}) as store:
        for number, outcome in enumerate(outcomes):
            record(store, number, outcome)
    return path


@contextmanager
def served(*replies: str | scripted.Answer) -> Iterator[tuple[scripted.Endpoint, Endpoint]]:
    answers = [says(reply) if isinstance(reply, str) else reply for reply in replies]
    with scripted.Endpoint(*answers).serve() as server:
        yield server, Endpoint(server.url, "", "m")


def test_the_arithmetic_of_errors() -> None:
    said_and_true = [(True, True)] * 6 + [(False, True)] * 2 + [(True, False)] * 3 + [(False, False)] * 9
    found = errors(said_and_true)
    assert (found.false_positives.passed, found.false_positives.graded) == (3, 12)
    assert (found.false_negatives.passed, found.false_negatives.graded) == (2, 8)
    assert found.data()["false_positives"] == {"count": 3, "of": 12, "share": 0.25, "interval": wilson(3, 12)}
    assert found.known
    assert not errors([]).known


def test_a_judge_sees_the_episode_and_is_compared_with_its_verifier(tmp_path: Path) -> None:
    path = run_of(tmp_path / "run", SOLVED, FAILED, FAILED, SOLVED, BROKEN)
    with served(YES, YES, NO, NO) as (server, at), RunReader(path) as run:
        judged = judge_run(run, WebVoyagerJudge(), at, concurrency=1)
        assert [j.passed for j in judged] == [True, True, False, False], "and a fault of the world is not judged"
        found = errors(pairs(judged, labelled(run.episodes())))
    assert (found.false_positives.passed, found.false_positives.graded) == (1, 2)
    assert (found.false_negatives.passed, found.false_negatives.graded) == (1, 2)
    text = json.dumps(server.requests[1])
    assert "Do number 1." in text and "it is 1" in text
    assert text.count("data:image/png;base64") == 3
    assert server.requests[0]["model"] == "m" and server.requests[0]["temperature"] == 0


def test_evidence_holds_the_screens_before_each_step_and_the_last(tmp_path: Path) -> None:
    with RunReader(run_of(tmp_path / "run", SOLVED)) as run:
        seen = evidence(run, run.episodes()[0])
    assert [len(step) for step in seen.actions] == [1, 1]
    assert (seen.answer, seen.errors, len(set(seen.screens))) == ("it is 0", ("missed", None), 3)


def test_what_was_judged_is_not_asked_again_and_what_failed_is(tmp_path: Path) -> None:
    path = run_of(tmp_path / "run", SOLVED, FAILED)
    refusal = fails(400, "no", "invalid_request_error")
    with served(YES, refusal, NO) as (server, at), RunReader(path) as run:
        first = judge_run(run, WebVoyagerJudge(), at, concurrency=1)
        assert [j.passed for j in first] == [True, None]
        assert "no" in first[1].reason
        with (path / KEPT).open("a") as file:
            file.write('{"episode": "cut sho')  # as a kill leaves it
        assert [j.passed for j in judge_run(run, WebVoyagerJudge(), at, concurrency=1)] == [True, False]
        assert [j.passed for j in judge_run(run, WebVoyagerJudge(), at, concurrency=1)] == [True, False]
        assert len(server.requests) == 3
        other = Endpoint(at.base_url, "", "another model")
        judge_run(run, WebVoyagerJudge(), other, concurrency=1)
        assert len(server.requests) == 5


def test_an_episode_that_waits_gets_its_outcome_from_the_judge(tmp_path: Path) -> None:
    path = run_of(tmp_path / "run", WAITING, WAITING, SOLVED)
    with served(YES, NO, YES) as (_, at), Store(path, parameters={}) as store:
        judge_run(store, WebVoyagerJudge(), at, concurrency=1)
        outcomes = [e.outcome for e in store.episodes()]
    assert [(str(o.status), o.reward, o.components) for o in outcomes if o] == [
        ("solved", 1.0, {"judge webvoyager": 1.0}), ("failed", 0.0, {"judge webvoyager": 0.0}), ("solved", 1.0, {})
    ]  # fmt: skip
    with RunReader(path) as run:
        assert list(labelled(run.episodes())) == [run.episodes()[2].id], "a judge's own verdict is no label"


@pytest.mark.parametrize("answer", [fails(400, "no key", "auth"), says("Hm."), scripted.Answer("rubbish")])
def test_a_judge_that_fails_is_a_grader_error_and_never_a_zero(tmp_path: Path, answer: scripted.Answer) -> None:
    path = run_of(tmp_path / "run", WAITING)
    with served(answer) as (_, at), Store(path, parameters={}) as store:
        judge_run(store, WebVoyagerJudge(), at)
        (outcome,) = [e.outcome for e in store.episodes()]
        assert outcome is not None
        assert (outcome.status, outcome.reward, outcome.unjudged) == (Status.GRADER_ERROR, None, True)
        assert "webvoyager failed" in (outcome.cause or "")
    with served(YES) as (_, at), Store(path, parameters={}) as store:
        judge_run(store, WebVoyagerJudge(), at)
        assert [e.status for e in store.episodes()] == ["solved"]
