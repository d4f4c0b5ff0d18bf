"""Runs from the command line: played live, summed up, and where they are."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from rich.console import Console
from rich.live import Live

from guiforge import policies, registry
from guiforge.bench import lint
from guiforge.cli import INTERRUPTED, UNGRADED
from guiforge.cli.options import BadInput, build
from guiforge.cli.plan import Plan, select_tasks
from guiforge.cli.terminal import LiveRun, fault_lines, status_text, summary_tables
from guiforge.env import Env
from guiforge.episode import load
from guiforge.fleet import run_episodes, run_here
from guiforge.harness import PolicyFailed
from guiforge.harness.chat import Chat
from guiforge.report import summarise, write_page
from guiforge.store import EpisodeRecord, RunReader, Store, is_run
from guiforge.trace import EpisodeKey, EpisodeSpec


def play(plan: Plan, concurrency: int, console: Console) -> int:
    """Play a plan and sum it up; the exit code, UNGRADED where no episode of it has a reward. Raises as `run_plan`."""
    shown = run_plan(plan, concurrency, console)
    if shown is None:
        return INTERRUPTED
    episodes = episodes_of(plan)
    console.print(summary_tables(summarise(episodes)))
    for line in fault_lines(episodes, shown.retried):
        console.print(line, soft_wrap=True)
    console.print(f"run   {plan.path}\npage  {write_page(plan.path)}", markup=False, soft_wrap=True)
    return 0 if any(e.outcome is not None and e.outcome.reward is not None for e in episodes) else UNGRADED


def run_plan(
    plan: Plan, concurrency: int, console: Console, command: str = "guiforge rollout"
) -> LiveRun | None:  # fmt: skip
    """Play what a plan's run has not finished, live; None where it was stopped, which has been said then.

    command: what goes on with a stopped run.
    Raises BadInput, StoreError, StoreFull.
    """
    keys = {spec.key for spec in plan.specs}
    if plan.retry_faults or not is_run(plan.path) or not keys <= _finished(plan.path):
        check_endpoint(plan.specs[0].key.policy, plan.specs[0].policy_options)
    with open_run(plan.path, plan.parameters) as store:
        if plan.retry_faults:
            for episode in store.episodes():
                outcome = episode.outcome
                if episode.key in keys and outcome is not None and outcome.reward is None and not outcome.unjudged:
                    store.reopen(episode.key)
        finished = store.finished_keys()
        left = [spec for spec in plan.specs if spec.key not in finished]
        shown = LiveRun(total=len(plan.specs), done=len(plan.specs) - len(left), console=console)
        console.print(f"run {store.path}", markup=False, soft_wrap=True)
        if plan.without_oracle:
            console.print(f"left out: {plan.without_oracle} tasks that have no oracle")
        retries = plan.parameters["retries"]
        try:
            with live(shown):
                asyncio.run(
                    run_episodes(left, store, concurrency=concurrency, on_event=shown.on_event, retries=retries)
                )
        except (KeyboardInterrupt, asyncio.CancelledError):
            console.print(
                f"stopped: {shown.done} of {shown.total} episodes are finished; go on with\n"
                f"  {command} --resume --out {plan.path}\nor write the page of those with\n"
                f"  guiforge report {plan.path}", markup=False, soft_wrap=True,
            )  # fmt: skip
            return None
    return shown


def episodes_of(plan: Plan) -> list[EpisodeRecord]:
    """The episodes of a plan that its run has. Raises StoreError."""
    keys = {spec.key for spec in plan.specs}
    with RunReader(plan.path) as run:
        return [episode for episode in run.episodes() if episode.key in keys]


def _finished(path: Path) -> set[EpisodeKey]:
    with RunReader(path) as run:
        return run.finished_keys()


def check_endpoint(policy: str, options: Mapping[str, Any], option: str = "--policy") -> None:
    """Raises BadInput where a policy is a URL at which no endpoint answers, or one that refuses the key.

    options: as in policies.endpoint_at.  option: what it was asked for with.
    """
    if policy in policies.EMBEDDED:
        return
    endpoint = policies.endpoint_at(policies.resolve(policy), options)
    try:
        with Chat(endpoint.base_url, endpoint.api_key) as chat:
            chat.reach()
    except PolicyFailed as error:
        name = options.get("api_key_env", policies.DEFAULT_KEY_ENV)
        key = f"the key in {name}" if endpoint.api_key else f"no key ({name} is not set)"
        raise BadInput(f"{option}: {error}; asked with {key}") from None


def open_run(path: Path, parameters: Mapping[str, Any]) -> Store:
    """The run at `--out`, made where there is none. Raises BadInput where it can't be, StoreError, StoreFull."""
    try:
        return Store(path, parameters=parameters)
    except OSError as error:
        raise BadInput(f"--out {path}: {error.strerror}") from None


@contextlib.contextmanager
def live(shown: LiveRun) -> Iterator[None]:
    """Shows a run while it goes on, where there is a terminal to show it on."""
    if shown.console.is_terminal:
        with Live(shown, console=shown.console, refresh_per_second=4, transient=True):
            yield
    else:
        yield


def check_tasks(
    suite_name: str, patterns: Sequence[str], seeds: Sequence[int], harness: str, concurrency: int, path: Path | None,
    console: Console,
) -> int:  # fmt: skip
    """Lint tasks and print what does not hold of them; 1 where something does not. Raises BadInput, StoreFull."""
    suite = registry.suite(suite_name)
    ids = select_tasks(suite, patterns)
    registry.harness(harness)
    shown = LiveRun(total=len(lint.plan(suite, ids, seeds, harness)), done=0, console=console)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="guiforge-lint-") as scratch,
            open_run(path or Path(scratch) / "run", {"suite": suite_name, "lint": True}) as store,
            live(shown),
        ):
            findings = lint.lint(
                suite_name, store, ids=ids, seeds=seeds, harness=harness, concurrency=concurrency,
                on_event=shown.on_event,
            )  # fmt: skip
    except (KeyboardInterrupt, asyncio.CancelledError):
        console.print(f"stopped: {shown.done} of {shown.total} episodes were played")
        return INTERRUPTED
    for finding in findings:
        console.print(str(finding), markup=False, soft_wrap=True, style="red")
    if without := [name for name in ids if suite.family(name).oracle is None]:
        console.print(f"without an oracle, null alone: {', '.join(without)}", markup=False, soft_wrap=True)
    console.print(f"{len(ids)} tasks, {len(seeds)} seeds, {len(findings)} findings")
    return 1 if findings else 0


def play_one(spec_file: Path, path: Path, console: Console) -> int:
    """Run the episode of a spec file in this process; the exit code, UNGRADED where it carries no reward.

    Raises BadInput, registry.Unknown, UnknownTask, StoreError.
    """
    spec, env = read_spec(spec_file)
    check_endpoint(spec.key.policy, spec.policy_options)
    with contextlib.closing(env), open_run(path, {"suite": spec.suite}) as store:
        outcome = run_here(spec, env, store)
    console.print(status_text(str(outcome.status)), outcome.cause or "; ".join(outcome.reasons), spec.key.id)
    return UNGRADED if outcome.reward is None else 0


def read_spec(file: Path) -> tuple[EpisodeSpec, Env]:
    """The spec in a file, checked, and the env it asks for. Raises BadInput, registry.Unknown, UnknownTask."""
    try:
        spec = EpisodeSpec.model_validate_json(file.read_bytes())
        load(spec)
        policies.resolve(spec.key.policy)
        policies.check_options(spec.policy_options)
    except OSError as error:
        raise BadInput(f"{file}: {error.strerror}") from None
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'the file'}: {e['msg']}" for e in error.errors())
        raise BadInput(f"{file} is no episode spec: {wrong}") from None
    except ValueError as error:
        raise BadInput(f"{file}: {error}") from None
    build(registry.harness_class(spec.key.harness), spec.harness_options, f"{file}: harness_options")
    make = registry.env_class(registry.suite(spec.suite, spec.suite_options).env)
    return spec, build(make, spec.env_options, f"{file}: env_options")
