"""From a final state to a Verdict: the family's verifier, how the agent ended, and the audit of side effects.

Invariant: grading reads a stored Snapshot alone, so grading it twice gives the same.
"""

from __future__ import annotations

from guiforge.action import Action, Infeasible
from guiforge.env import Final, SnapshotState
from guiforge.outcome import Outcome, Status, Verdict
from guiforge.task import Family, Task
from verifiers.audit import audit


def grade(family: Family, task: Task, state: SnapshotState, end: Action | None) -> Verdict:
    """The verdict on a stored final state. `end` is the action that ended the episode, or None at a limit.

    An infeasible task is solved by saying so, and a feasible one called infeasible is not (OSWorld's rule). What
    was changed outside the task's declared places fails the task. Raises whatever the family's verifier raises: a
    crashed grader is a fault of ours.
    """
    said_infeasible = isinstance(end, Infeasible)
    side_effects = audit(task, state.snapshot, state.blobs)
    if not task.feasible:
        goal = Verdict.of(("infeasible", said_infeasible, "the task can't be done, and the agent did not say so"))
    elif said_infeasible:
        goal = Verdict.of(("goal", False, "the task can be done, and the agent called it infeasible"))
    else:
        assert family.verify is not None, f"family {family.name} is feasible and has no verifier"
        goal = family.verify(task, Final(state, end))
    return goal.also(side_effects)


def outcome_of(task: Task, verdict: Verdict, *, at_limit: bool) -> Outcome:
    """The Outcome of an episode that ran to its end or to a limit of steps: a passing state is solved either way."""
    if verdict.passed:
        status = Status.SOLVED if task.feasible else Status.INFEASIBLE_OK
    else:
        status = Status.TRUNCATED if at_limit else Status.FAILED
    return Outcome(status=status, reward=verdict.score, components=verdict.components, reasons=verdict.reasons)
