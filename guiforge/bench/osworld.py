"""OSWorld's task files, read and checked: a file, a folder of them, or `test_all.json` beside its `examples/`.

Invariant: a file is read whole or is a list of Problems that name file and field. Nothing is downloaded or run: what
of the format is known here is listed, and its evaluator is not a part of this version.

Source: OSWorld (Xie et al. 2024), evaluation_examples.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from guiforge.bench.published import Problem, field_problem

STEPS = frozenset(
    (
        "download", "upload_file", "change_wallpaper", "open", "launch", "execute", "command", "sleep",
        "execute_with_verification", "activate_window", "close_window", "chrome_open_tabs", "chrome_close_tabs",
        "update_browse_history", "googledrive", "login", "proxy", "tidy_desktop", "act", "replay",
    )
)  # fmt: skip
INFEASIBLE = "infeasible"


class Step(BaseModel):
    """A step of set-up, or one after the agent stopped: `{"type", "parameters"}`."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    type: str = Field(min_length=1)
    parameters: dict[str, Any] = {}


class Getter(BaseModel):
    """What a metric compares: `{"type", ...}`, the other fields being the getter's own."""

    model_config = ConfigDict(frozen=True, extra="allow")
    type: str = Field(min_length=1)


def _listed(value: Any) -> Any:
    """One of a thing, or several, as a list; an empty object is none."""
    entries = value if isinstance(value, list) else [] if value is None else [value]
    return [None if entry == {} else entry for entry in entries]


class Evaluator(BaseModel):
    """`{"func", "conj", "result", "expected", "options", "postconfig"}`: one metric, or a list of them.

    Each of result, expected and options stands once a metric or not at all; a metric that needs none has null.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")
    func: Annotated[list[str], BeforeValidator(_listed), Field(min_length=1)]
    conj: Literal["and", "or"] = "and"
    result: Annotated[list[Getter | None], BeforeValidator(_listed)] = []
    expected: Annotated[list[Getter | None], BeforeValidator(_listed)] = []
    options: Annotated[list[dict[str, Any] | None], BeforeValidator(_listed)] = []
    postconfig: list[Step] = []

    @property
    def getters(self) -> list[str]:
        """Types of the getters, of results and of expectations."""
        return [getter.type for getter in (*self.result, *self.expected) if getter is not None]

    @model_validator(mode="after")
    def _sides_agree(self) -> Evaluator:
        for name in ("result", "expected", "options"):
            side = getattr(self, name)
            if any(side) and len(side) != len(self.func):
                raise ValueError(f"{name} has {len(side)} entries for {len(self.func)} metrics")
        for n, metric in enumerate(self.func):
            if metric != INFEASIBLE and (n >= len(self.result) or self.result[n] is None):
                raise ValueError(f"metric {metric!r} has no result to read")
        return self


class OsworldTask(BaseModel):
    """One task file. domain: the folder that it lies in."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    id: str = Field(min_length=1)
    instruction: str = Field(min_length=1)
    evaluator: Evaluator
    snapshot: str = ""
    source: str | list[str] = ""
    related_apps: list[str] = []
    config: list[Step] = []
    domain: str = ""

    @property
    def feasible(self) -> bool:
        """Whether the task can be done; the others are solved by saying that they can't."""
        return INFEASIBLE not in self.evaluator.func


@dataclass(frozen=True)
class Use:
    """A part of the format that tasks use: how many do, and whether it is known here."""

    part: Literal["set-up", "metric", "getter"]
    name: str
    tasks: int
    known: bool | None  # None: nothing here reads it yet


def read(path: Path) -> tuple[list[OsworldTask], list[Problem]]:
    """The tasks of a file, a folder or an index, and what is wrong with the others. Raises OSError."""
    tasks: dict[str, OsworldTask] = {}
    problems: list[Problem] = []
    for file, domain in _files(path, problems):
        try:
            data = json.loads(file.read_bytes())
            task = OsworldTask.model_validate({**data, "domain": domain} if isinstance(data, dict) else data)
        except FileNotFoundError:
            problems.append(Problem(file, "", "", f"there is no such file, and {path} names it"))
        except ValidationError as error:
            problems += [Problem(file, "", *field_problem(e)) for e in error.errors()]
        except ValueError as error:
            problems.append(Problem(file, "", "", f"it is no JSON: {error}"))
        else:
            if task.id in tasks:
                problems.append(Problem(file, "", "id", f"{task.id!r} was there before"))
            tasks.setdefault(task.id, task)
    if not tasks and not problems:
        problems.append(Problem(path, "", "", "it holds no task"))
    return list(tasks.values()), problems


def _files(path: Path, problems: list[Problem]) -> Iterator[tuple[Path, str]]:
    """Each task's file and its domain."""
    if path.is_dir():
        index = path / "test_all.json"
        if index.is_file():
            yield from _files(index, problems)
        else:
            yield from ((file, file.parent.name) for file in sorted(path.rglob("*.json")))
        return
    try:
        data = json.loads(path.read_bytes())
    except ValueError:
        data = None  # which is said when it is read as a task
    if not isinstance(data, dict) or "evaluator" in data or "instruction" in data:
        yield path, path.parent.name
        return
    for domain, ids in data.items():
        if not isinstance(ids, list) or not all(isinstance(id, str) for id in ids):
            problems.append(Problem(path, "", domain, "it is no list of task ids"))
            continue
        yield from ((path.parent / "examples" / domain / f"{id}.json", domain) for id in ids)


def uses(tasks: Sequence[OsworldTask]) -> list[Use]:
    """What of the format these tasks use, the most used first."""
    found: Counter[tuple[Literal["set-up", "metric", "getter"], str]] = Counter()
    for task in tasks:
        found.update({("set-up", step.type) for step in (*task.config, *task.evaluator.postconfig)})
        found.update({("metric", name) for name in task.evaluator.func})
        found.update({("getter", name) for name in task.evaluator.getters})
    order = ("set-up", "metric", "getter")
    listed = sorted(found.items(), key=lambda item: (order.index(item[0][0]), -item[1], item[0][1]))
    return [Use(part, name, n, name in STEPS if part == "set-up" else _known(name)) for (part, name), n in listed]


def _known(name: str) -> bool | None:
    return True if name == INFEASIBLE else None
