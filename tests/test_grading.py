"""From a final state to an Outcome."""

from __future__ import annotations

import pytest

from guiforge.action import Action, Answer, Done, Infeasible
from guiforge.env import Final, SnapshotState, edited, state_of_files
from guiforge.grading import grade, outcome_of
from guiforge.outcome import Status, Verdict
from guiforge.task import Family, Task

TASK = Task(suite="s", id="f", seed=0, instruction="Write yes.", writable=("~/answer",))


def _verify(task: Task, final: Final) -> Verdict:
    found = final.state.files("~/answer")
    return Verdict.of(("answer", bool(found) and final.state.read("~/answer") == b"yes", "the file does not say yes"))


FAMILY = Family("f", lambda seed: TASK, _verify, lambda task, view: iter(()))


def _state(**files: bytes) -> SnapshotState:
    before, blobs = state_of_files({"~/letter": b"dear", "~/answer": b""})
    return edited(before, blobs, {f"~/{name}": data for name, data in files.items()})


def test_a_passing_state_is_solved_whether_the_agent_ended_or_a_limit_did() -> None:
    verdict = grade(FAMILY, TASK, _state(answer=b"yes"), Done())
    assert verdict.passed
    assert outcome_of(TASK, verdict, at_limit=False).status is Status.SOLVED
    assert outcome_of(TASK, verdict, at_limit=True).status is Status.SOLVED


def test_any_other_state_is_failed_or_at_a_limit_truncated_with_a_reward_of_zero() -> None:
    verdict = grade(FAMILY, TASK, _state(answer=b"no"), Done())
    for at_limit, status in ((False, Status.FAILED), (True, Status.TRUNCATED)):
        outcome = outcome_of(TASK, verdict, at_limit=at_limit)
        assert (outcome.status, outcome.reward) == (status, 0.0)


def test_damage_outside_the_declared_places_fails_a_task_whose_goal_is_met() -> None:
    verdict = grade(FAMILY, TASK, _state(answer=b"yes", letter=b"gone"), Done())
    assert not verdict.passed
    assert (verdict.components["answer"], verdict.components["side_effects"]) == (1.0, 0.0)
    assert any("~/letter" in reason for reason in verdict.reasons)


@pytest.mark.parametrize("end", [Done(), Answer(text="it can't be done"), None])
def test_an_infeasible_task_is_solved_only_by_saying_so(end: Action | None) -> None:
    task = TASK.model_copy(update={"feasible": False})
    assert not grade(FAMILY, task, _state(), end).passed
    said = grade(FAMILY, task, _state(), Infeasible(reason="no such menu"))
    assert outcome_of(task, said, at_limit=False).status is Status.INFEASIBLE_OK


def test_a_feasible_task_called_infeasible_is_not_solved_whatever_the_state() -> None:
    assert not grade(FAMILY, TASK, _state(answer=b"yes"), Infeasible()).passed


def test_an_infeasible_task_with_damage_done_is_not_solved() -> None:
    task = TASK.model_copy(update={"feasible": False})
    assert not grade(FAMILY, task, _state(letter=b"gone"), Infeasible()).passed
