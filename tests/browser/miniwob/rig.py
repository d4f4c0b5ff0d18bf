"""Playing and grading a page of MiniWoB without a harness."""

from __future__ import annotations

from envs.browser.miniwob.env import MiniWobEnv
from envs.browser.miniwob.families import FAMILIES
from envs.browser.miniwob.view import MiniWobView
from guiforge.env import Observation, SnapshotState
from guiforge.grading import grade
from guiforge.outcome import Verdict
from guiforge.task import Task


def begin(env: MiniWobEnv, name: str, seed: int = 0) -> Observation:
    """The first observation of a page's episode."""
    return env.reset(FAMILIES[name].make(seed))


def verdict(env: MiniWobEnv, task: Task) -> Verdict:
    """The grade of what the page is now."""
    return grade(FAMILIES[task.id], task, SnapshotState(*env.snapshot()), None)


def score(env: MiniWobEnv, name: str, seed: int = 0) -> float:
    """The reward for what the page is now."""
    return verdict(env, FAMILIES[name].make(seed)).score


def solve(env: MiniWobEnv, name: str, seed: int = 0) -> tuple[Verdict, int]:
    """The grade of an episode that the page's solution played, and how many actions that took."""
    family = FAMILIES[name]
    task = family.make(seed)
    env.reset(task)
    assert family.oracle is not None
    count = 0
    for actions in family.oracle(task, env.oracle_view()):
        seen = env.step(*actions)
        assert seen.error is None
        count += max(1, len(actions))
        if seen.over:
            break
    return verdict(env, task), count


def view(env: MiniWobEnv) -> MiniWobView:
    """What can be looked at of the episode that is on."""
    return env.oracle_view()
