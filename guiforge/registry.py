"""Finds envs, suites, benchmarks and harnesses by name, by entry points, so that another package can add its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

from guiforge.env import Env
from guiforge.harness import Harness
from guiforge.task import Suite


class Unknown(LookupError):
    """A name that no package registers; the text names the valid ones."""


class BrokenPlugin(Exception):
    """What a package registers can't be loaded or is not what it should be; the text names entry point and package."""


def _points(group: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=f"guiforge.{group}")}


def names(group: str) -> list[str]:
    """Registered names of a group: `envs`, `suites`, `benchmarks` or `harnesses`."""
    return sorted(_points(group))


def _load(group: str, kind: str, name: str) -> Any:
    points = _points(group)
    if name not in points:
        raise Unknown(
            f"unknown {kind} {name!r}; valid are: {', '.join(sorted(points)) or 'none (is guiforge installed?)'}"
        )
    return _used(points[name], points[name].load)


def _used(point: EntryPoint, use: Callable[[], Any]) -> Any:
    """What a use of an entry point gives. A part that guiforge's own lacks is an extra's, and passes.

    Raises BrokenPlugin for another package's import that fails.
    """
    try:
        return use()
    except (ImportError, AttributeError, SyntaxError) as error:
        if point.dist is not None and point.dist.name == "guiforge" and isinstance(error, ImportError):
            raise
        raise BrokenPlugin(f"{_described(point)} can't be loaded: {type(error).__name__}: {error}") from error


def _described(point: EntryPoint) -> str:
    package = point.dist.name if point.dist is not None else "unknown"
    return f"entry point {point.name} = {point.value!r} ({point.group}) of package {package}"


def env_class(name: str) -> Callable[..., Env]:
    """The constructor of an env."""
    return cast("Callable[..., Env]", _load("envs", "env", name))


def suite(name: str, options: Mapping[str, Any] | None = None) -> Suite:
    """A suite; a registered factory is called. With options: a benchmark, read from the file that they name.

    Raises Unknown, BrokenPlugin, and what a benchmark raises for a file that it can't read.
    """
    group, kind = ("benchmarks", "benchmark") if options else ("suites", "suite")
    if not options and name in _points("benchmarks"):
        raise Unknown(f"{name!r} is read from a file as it was published: guiforge bench {name} --data FILE")
    found = _load(group, kind, name)
    point = _points(group)[name]
    made = _used(point, partial(found, **(options or {}))) if callable(found) else found
    if not isinstance(made, Suite):
        raise BrokenPlugin(
            f"{_described(point)} gives a {type(made).__name__}; it must be a guiforge.task.Suite, or a function that "
            "gives one"
        )
    return made


def harness_class(name: str) -> Callable[..., Harness]:
    """The constructor of a harness."""
    return cast("Callable[..., Harness]", _load("harnesses", "harness", name))


def harness(name: str, **options: Any) -> Harness:
    """A harness with its options. Raises TypeError for an option it does not know."""
    return harness_class(name)(**options)
