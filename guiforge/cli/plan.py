"""Plan: what was asked for on the command line, checked, as the specs to run and the parameters that a run keeps.

Invariant: a Plan that exists can start; everything wrong with the input was said before, with the valid choices.
"""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from guiforge import policies, registry
from guiforge.cli.options import BadInput, build, parse_options
from guiforge.report import parameter_text
from guiforge.store import NotARun, RunReader, is_run
from guiforge.task import Suite
from guiforge.trace import EpisodeKey, EpisodeSpec

DEFAULTS: dict[str, Any] = {
    "tasks": ["*"],
    "seeds": [0],
    "attempts": 1,
    "harness": "kimi",
    "policy": "oracle",
    "model": None,
    "key_env": None,
    "harness_options": {},
    "env_options": {},
    "max_steps": None,
    "size": None,
    "retries": 1,
    "suite_options": {},
}
LARGEST_SEED = 2**31 - 1  # what Gymnasium picks from
MOST_SEEDS = 100_000


@dataclass(frozen=True)
class Plan:
    """A run to start or to go on with. parameters: what `run.json` keeps and a resumed run must agree with.

    retry_faults: whether episodes of the run that ended without a reward are played again.  without_oracle: how many of
    the tasks asked for the oracle can't play, which the plan leaves out.
    """

    path: Path
    parameters: dict[str, Any]
    specs: list[EpisodeSpec]
    retry_faults: bool = False
    without_oracle: int = 0


def requested(
    suite: str | None, tasks: list[str] | None, seeds: str | None, attempts: int | None, harness: str | None,
    policy: str | None, model: str | None, key_env: str | None, harness_option: list[str] | None, max_steps: int | None,
    size: str | None, retries: int | None, env_option: list[str] | None = None,
    suite_options: dict[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """What was asked on a command line, as `make_plan` takes it. Raises BadInput."""
    return {
        "suite": suite,
        "tasks": tasks,
        "seeds": None if seeds is None else parse_seeds(seeds),
        "attempts": attempts,
        "harness": harness,
        "policy": policy,
        "model": model,
        "key_env": key_env,
        "max_steps": max_steps,
        "size": None if size is None else parse_size(size),
        "harness_options": None if harness_option is None else parse_options("--harness-option", harness_option),
        "env_options": None if env_option is None else parse_options("--env-option", env_option),
        "retries": retries,
        "suite_options": suite_options,
    }


def make_plan(asked: dict[str, Any], out: Path | None, resume: bool, retry_faults: bool = False) -> Plan:
    """The plan of what was asked; a value of None was not asked, and is the resumed run's or the default.

    asked: `suite` and the keys of DEFAULTS; `suite_options` are those of a benchmark that is read from a file.
    Raises BadInput, registry.Unknown, UnknownTask, StoreError.
    """
    if retry_faults and not resume:
        raise BadInput("--retry-faults plays episodes of a run again: add --resume, and name the run with --out")
    given = {name: value for name, value in asked.items() if value is not None}
    if resume:
        before = _parameters_of(out)
        wanted = {**before, **given}
        parameters = checked(wanted)
        differing = [name for name in parameters if parameters[name] != before.get(name)]
        if differing:
            said = "; ".join(
                f"--{_option(n)} is {parameter_text(n, before.get(n))} there, {parameter_text(n, parameters[n])} here"
                for n in differing
            )
            raise BadInput(f"run {out} was made with other parameters: {said}. Leave them out, or make a new run")
    else:
        if "suite" not in given:
            raise BadInput(f"--env names no suite; valid are: {', '.join(registry.names('suites'))}")
        wanted = {**DEFAULTS, **given}
        parameters = checked(wanted)
        if out is not None and is_run(out):
            raise BadInput(f"--out {out} is a run already: add --resume to go on with it, or name another folder")
        if out is not None and out.exists() and not (out.is_dir() and not any(out.iterdir())):
            raise BadInput(f"--out {out} exists and is no run folder; name a new or empty folder")
    left_out = len(select_tasks(registry.suite(wanted["suite"], wanted["suite_options"]), wanted["tasks"])) - len(
        parameters["tasks"]
    )
    return Plan(out or default_path(parameters), parameters, make_specs(parameters), retry_faults, left_out)


def checked(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters with tasks as ids and the policy resolved. Raises as `make_plan` does."""
    suite = registry.suite(parameters["suite"], parameters["suite_options"])
    harness = registry.harness_class(parameters["harness"])
    build(harness, parameters["harness_options"], f"--harness-option (harness {parameters['harness']})")
    try:
        policy = policies.resolve(parameters["policy"])
    except ValueError as error:
        raise BadInput(f"--policy: {error}") from None
    for option in ("model", "key_env"):
        if parameters[option] is not None and policy in policies.EMBEDDED:
            raise BadInput(f"--{_option(option)} is for a policy that is a URL; --policy is {policy}")
    if parameters["key_env"] is not None and not os.environ.get(parameters["key_env"]):
        raise BadInput(f"--key-env {parameters['key_env']}: the environment has no such variable, or it is empty")
    if parameters["env_options"]:
        env = registry.env_class(suite.env)
        build(env, parameters["env_options"], f"--env-option (env {suite.env})").close()
    if parameters["size"] is not None:
        _check_size(suite, parameters["size"])
    tasks = select_tasks(suite, parameters["tasks"])
    if policy == "oracle":
        tasks = [name for name in tasks if suite.family(name).oracle is not None]
        if not tasks:
            raise BadInput("--policy oracle: none of these tasks has an oracle")
    return {"suite": suite.name, **parameters, "tasks": tasks, "policy": policy}


def make_specs(parameters: dict[str, Any]) -> list[EpisodeSpec]:
    """One spec an episode; the attempts at one task and seed stand together."""
    options = {"model": parameters["model"], "api_key_env": parameters["key_env"]}
    env_options = {**parameters["env_options"], **({} if parameters["size"] is None else {"size": parameters["size"]})}
    limits = {} if parameters["max_steps"] is None else {"steps": float(parameters["max_steps"])}
    return [
        EpisodeSpec(
            key=EpisodeKey(
                task=f"{parameters['suite']}/{name}",
                seed=seed,
                attempt=attempt,
                harness=parameters["harness"],
                policy=parameters["policy"],
            ),
            suite=parameters["suite"],
            family=name,
            harness_options=parameters["harness_options"],
            policy_options={k: v for k, v in options.items() if v is not None},
            limits=limits,
            suite_options=parameters["suite_options"],
            env_options=env_options,
        )
        for name in parameters["tasks"]
        for seed in parameters["seeds"]
        for attempt in range(parameters["attempts"])
    ]


def select_tasks(suite: Suite, patterns: Sequence[str]) -> list[str]:
    """Task ids for patterns: globs (commas separate several), or a number: so many, spread evenly over the suite.

    Raises BadInput, UnknownTask.
    """
    words = [word.strip() for pattern in patterns for word in pattern.split(",") if word.strip()]
    if not words:
        raise BadInput("--tasks is empty; give globs, ids or a number")
    if len(words) > 1 or not words[0].isdecimal() or words[0] in suite.families:
        return suite.select(words)
    names, wanted = list(suite.families), int(words[0])
    if not 1 <= wanted <= len(names):
        raise BadInput(f"--tasks {wanted}: suite {suite.name!r} has 1 to {len(names)} tasks to take")
    return [names[i * len(names) // wanted] for i in range(wanted)]


def parse_seeds(text: str) -> list[int]:
    """Seeds from `0..2`, `0-2` (both ends included), `0,1,5`, or a mixture; each once. Raises BadInput."""
    seeds: dict[int, None] = {}
    for word in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,20})(?:\s*(?:\.\.|-)\s*(\d{1,20}))?\s*", word)
        wrong = f"--seeds {text!r}: {word.strip()!r}"
        if match is None:
            raise BadInput(f"{wrong} is no seed; valid are 3, 0..2, and such with commas")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise BadInput(f"{wrong} is no range of seeds; it runs from low to high")
        if last > LARGEST_SEED:
            raise BadInput(f"{wrong} is too large; the largest seed is {LARGEST_SEED}")
        seeds |= dict.fromkeys(range(first, min(last, first + MOST_SEEDS) + 1))
        if len(seeds) > MOST_SEEDS:
            raise BadInput(f"{wrong} makes too many seeds; a run has at most {MOST_SEEDS:,}")
    return list(seeds)


def parse_size(text: str) -> list[int]:
    """[width, height] from `1280x720`. Raises BadInput."""
    match = re.fullmatch(r"(\d{1,6})x(\d{1,6})", text)
    if match is None:
        raise BadInput(f"--size {text!r} is no screen size; valid are such as 1280x720 (width x height in pixels)")
    return [int(match[1]), int(match[2])]


def _check_size(suite: Suite, size: list[int]) -> None:
    try:
        registry.env_class(suite.env)(size=size).close()
    except ValueError as error:
        raise BadInput(f"--size: {error}") from None
    except TypeError:
        raise BadInput(f"--size: the screens of env {suite.env!r} (suite {suite.name!r}) have one size only") from None


def default_path(parameters: dict[str, Any]) -> Path:
    """`runs/<date>-<suite>-<policy>`, numbered where that exists."""
    policy = parameters["policy"]
    name = policy if policy in policies.EMBEDDED else re.sub(r"[^\w.-]+", "-", urlsplit(policy).netloc)
    first = Path("runs") / f"{time.strftime('%Y-%m-%d')}-{parameters['suite']}-{name}"
    numbered = (first.with_name(f"{first.name}-{number}") for number in itertools.count(2))
    return next(path for path in itertools.chain([first], numbered) if not path.exists())


def _parameters_of(out: Path | None) -> dict[str, Any]:
    if out is None:
        raise BadInput("--resume goes on with a run: name its folder with --out")
    try:
        with RunReader(out) as run:
            return {**DEFAULTS, **run.parameters}
    except NotARun as error:
        raise BadInput(f"--resume: {error}; leave --resume out to make a new run") from None


_OPTIONS = {"suite": "env", "harness_options": "harness-option", "env_options": "env-option", "suite_options": "data"}


def _option(name: str) -> str:
    return _OPTIONS.get(name, name.replace("_", "-"))
