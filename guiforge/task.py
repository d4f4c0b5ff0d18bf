"""Task: an instruction, how to set the world up, how to grade it, its limits; made from a seed.

Invariant: a Task is plain data, equal for equal (id, seed); everything needed to set its world up is in it.
A Family makes the tasks of one kind and knows how to grade and to solve them; a Suite is a named list of families.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

from pydantic import BaseModel, ConfigDict, Field

from guiforge.action import Action, Done
from guiforge.outcome import Verdict

if TYPE_CHECKING:
    from guiforge.env import Final


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64")


class PutFile(_Data):
    """Set-up: write a file (parents made). `path` starts with `~/`."""

    type: Literal["put_file"] = "put_file"
    path: str
    data: bytes
    mode: int = 0o644


class MakeDir(_Data):
    """Set-up: make a directory. `path` starts with `~/`."""

    type: Literal["make_dir"] = "make_dir"
    path: str


class Run(_Data):
    """Set-up: run a command to its end as the desktop's user, before the agent starts; a non-zero exit is a fault."""

    type: Literal["run"] = "run"
    argv: tuple[str, ...]
    timeout_s: float = 20


class Launch(_Data):
    """Set-up: start an application and wait until its window is mapped and the screen has settled.

    app: a name of the env's application table (it adds profile and flags), args: what it opens.
    window: regular expression found in the title of the window to wait for.
    """

    type: Literal["launch"] = "launch"
    app: str
    args: tuple[str, ...] = ()
    window: str = "."
    timeout_s: float = 60
    maximize: bool = False


class OpenPage(_Data):
    """Set-up: open an address in a tab of its own (the first in the one there is), and wait until it has loaded."""

    type: Literal["open_page"] = "open_page"
    url: str
    timeout_s: float = 30


class StartSite(_Data):
    """Set-up: serve a web application at `http://SITE.test/`, on a fresh copy of its data with the task's own added.

    site: a name of the env's table of sites. records: what the site's seeder puts in, as JSON.
    """

    type: Literal["start_site"] = "start_site"
    site: str
    records: Any = None


SetupStep = Annotated[Union[PutFile, MakeDir, Run, Launch, OpenPage, StartSite], Field(discriminator="type")]


class Command(_Data):
    """What a verifier asks of the world: a command that runs at the end as the desktop's user, its result kept.

    Its output is the agent's to influence (it runs where the agent acted), so a file's bytes are the better witness.
    """

    name: str
    argv: tuple[str, ...]
    timeout_s: float = Field(10, gt=0)


class Limits(_Data):
    """Bounds of an episode; seconds are wall-clock. Past `steps` or `episode_s` the verifier still runs."""

    steps: int = Field(30, ge=1)
    reset_s: float = Field(120, gt=0)
    step_s: float = Field(60, gt=0)
    policy_s: float = Field(300, gt=0, description="one model call, its retries included")
    grade_s: float = Field(60, gt=0)
    episode_s: float = Field(1800, gt=0)


class Task(_Data):
    """One task. `id` is `family` within a suite; (suite, id, seed) determine everything else.

    params: what the template was filled with, gold values included: never shown to an agent (see `public`).
    writable: glob patterns (`~/Documents/report.xlsx`, `~/.config/vlc/**`) of what solving it may change.
    flush: names of applications that are asked to quit before the final state is taken, so that they write it.
    commands: run before that; a verifier reads their results by name.
    hosts: what a browser may reach, and nothing else (the notations: envs.browser.network).
    tags: e.g. the applications; the first is the one a summary groups by.
    """

    suite: str
    id: str
    seed: int
    instruction: str
    params: dict[str, Any] = {}
    setup: tuple[SetupStep, ...] = ()
    writable: tuple[str, ...] = ()
    flush: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()
    hosts: tuple[str, ...] = ()
    feasible: bool = True
    limits: Limits = Limits()
    tags: tuple[str, ...] = ()
    screen: tuple[int, int] = (1920, 1080)

    def public(self) -> Task:
        """The task as a harness may see it: no parameters, no set-up."""
        return self.model_copy(
            update={
                "params": {},
                "setup": (),
                "writable": (),
                "flush": (),
                "commands": (),
                "hosts": (),
                "feasible": True,
            }
        )

    def worded(self, instruction: str | None) -> Task:
        """The task with its instruction as the world words it; None where the world has no words of its own."""
        return self if instruction is None else self.model_copy(update={"instruction": instruction})

    def may_write(self, path: str) -> bool:
        """Whether `path` (starting with `~/`) is a declared writable place. `**` and `*` both cross slashes."""
        return any(fnmatch.fnmatchcase(path, pattern) for pattern in self.writable)


class OracleView:
    """Base of what an env lets an oracle look at (never act through); each env derives its own."""


Edits = Mapping[str, "bytes | None"]  # path -> new content, None removes it
Edit = Union[bytes, Callable[[bytes], bytes], None]  # new content, or what makes it of the present one


@dataclass(frozen=True)
class Variant:
    """A way an episode could have ended: edits of the first state's files, and the action that ended it."""

    edits: Mapping[str, Edit] = field(default_factory=dict)
    end: Action = field(default_factory=Done)

    @classmethod
    def of(cls, made: Variant | Edits) -> Variant:
        """What a family gave, edits alone meaning an agent that said it was done."""
        return made if isinstance(made, Variant) else cls(made)


Variants = Mapping[str, "Callable[[Task], Variant | Edits]"]


@dataclass(frozen=True)
class Family:
    """A kind of task: template, parameters, grading and a scripted solution.

    make(seed) -> Task.  verify(task, final) -> Verdict of the final state of a feasible task (an infeasible one is
    graded by how it ended), None where there is no state to read and a judge has to see the episode.
    oracle(task, view), None where nobody wrote one: yields the Actions of one step at a time and is resumed after the
    env carried them out.  solutions and near_misses: named ends of an episode, for tests and the linter: each solution
    must grade 1 (one a legitimate way to do it), each near miss 0.
    """

    name: str
    make: Callable[[int], Task]
    verify: Callable[[Task, Final], Verdict] | None
    oracle: Callable[[Task, Any], Iterator[Sequence[Action]]] | None
    solutions: Variants = field(default_factory=dict)
    near_misses: Variants = field(default_factory=dict)

    def gradable(self, task: Task) -> bool:
        """Whether a task of this family can be graded by its final state."""
        return self.verify is not None or not task.feasible


class UnknownTask(KeyError):
    """A task or suite that does not exist; the text names the valid ones."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Suite:
    """A named list of task families of one env (`env` is a name of entry-point group `guiforge.envs`)."""

    name: str
    env: str
    families: Mapping[str, Family]

    def family(self, task_id: str) -> Family:
        """The family of a task id. Raises UnknownTask naming the valid ones."""
        try:
            return self.families[task_id]
        except KeyError:
            raise UnknownTask(
                f"suite {self.name!r} has no task {task_id!r}; valid are: {', '.join(sorted(self.families))}"
            ) from None

    def task(self, task_id: str, seed: int) -> Task:
        """The task of an id and a seed."""
        return self.family(task_id).make(seed)

    def select(self, patterns: Sequence[str]) -> list[str]:
        """Ids matching any of the glob patterns, in the suite's order. Raises UnknownTask for one that matches none."""
        for pattern in patterns:
            if not fnmatch.filter(self.families, pattern):
                raise UnknownTask(
                    f"no task of suite {self.name!r} matches {pattern!r}; valid are: {', '.join(sorted(self.families))}"
                )
        return [name for name in self.families if any(fnmatch.fnmatchcase(name, p) for p in patterns)]
