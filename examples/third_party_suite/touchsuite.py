"""A suite of one task, made from a seed: make an empty file in the terminal. `pip install` this folder, then

guiforge lint touch && guiforge rollout --env touch --policy oracle
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from guiforge.action import Action, Done, Press, TypeText
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Edits, Family, Launch, OracleView, Suite, Task


def make(seed: int) -> Task:
    """The task of a seed; `params` is for the functions below, and never shown to an agent."""
    path = f"~/note-{seed}.txt"
    return Task(
        suite="touch", id="touch_file", seed=seed, instruction=f"Make an empty file {path}.", params={"path": path},
        setup=(Launch(app="terminal"),), writable=(path,), tags=("terminal",),
    )  # fmt: skip


def verify(task: Task, final: Final) -> Verdict:
    """Whether the final state has the file."""
    return Verdict.of(("made", bool(final.state.files(task.params["path"])), "there is no such file"))


def oracle(task: Task, view: OracleView) -> Iterator[Sequence[Action]]:
    """Solves it on the screen, a step at a time."""
    yield [TypeText(text=f"touch {task.params['path']}"), Press(keys=("Return",))]
    yield [Done()]


def solved(task: Task) -> Edits:
    """An edit of the first state that must score 1."""
    return {task.params["path"]: b""}


def misnamed(task: Task) -> Edits:
    """An edit that comes near, and must score 0."""
    return {"~/note.txt": b""}


def suite() -> Suite:
    """What the entry point names: the env's registered name, and the families by name."""
    family = Family("touch_file", make, verify, oracle, {"solved": solved}, {"misnamed": misnamed})
    return Suite("touch", "desktop", {family.name: family})
