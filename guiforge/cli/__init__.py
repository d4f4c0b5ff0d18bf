"""`guiforge ...`: thin, one function a command.

Invariant: bad input is said before anything starts, with exit code 2 and no traceback; torch is never imported.
Commands import what they need themselves, so that `guiforge --help` is quick.
"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
from rich.console import Console

from guiforge.cli.arguments import (
    Concurrency,
    EnvOption,
    HarnessName,
    HarnessOption,
    JudgeName,
    KeyEnv,
    Labelled,
    MaxSteps,
    Model,
    OutDir,
    PolicyName,
    Resume,
    Retries,
    RetryFaults,
    Run,
    ScreenSize,
    Seeds,
    SuiteName,
    Tasks,
    TokensOf,
)
from guiforge.cli.calls import calls
from guiforge.cli.export import export
from guiforge.cli.model import app as model_app
from guiforge.cli.model import serve
from guiforge.cli.proxy import key, proxy
from guiforge.cli.shadow import OURS, shadowed

app = typer.Typer(
    help="Train agents that use a computer by sight.", no_args_is_help=True, add_completion=False,
    pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
LOG_WIDTH = 160  # columns, where the output is no terminal and so has no width

out = Console(highlight=False, width=None if sys.stdout.isatty() else LOG_WIDTH)
err = Console(stderr=True, highlight=False)

INTERRUPTED = 130  # 128 + SIGINT, as shells count
UNGRADED = 3  # nothing that was played, or is to be graded again, carries a verdict


@app.command()
def rollout(
    env: Annotated[
        str | None, typer.Option(metavar="SUITE", help="The suite to play, by its name; it says which env.")
    ] = None,
    tasks: Tasks = None, seeds: Seeds = None,
    attempts: Annotated[int | None, typer.Option(min=1, help="Tries of each task and seed. Default: 1.")] = None,
    harness: HarnessName = None, policy: PolicyName = None, model: Model = None, key_env: KeyEnv = None,
    harness_option: HarnessOption = None, env_option: EnvOption = None, max_steps: MaxSteps = None,
    size: ScreenSize = None, concurrency: Concurrency = 2, out_dir: OutDir = None, resume: Resume = False,
    retries: Retries = None, retry_faults: RetryFaults = False,
) -> None:  # fmt: skip
    """Play a suite's tasks, grade what the agent left, and keep all of it in a run folder.

    Exits with 0 when episodes carry a reward, whatever it is; 3 when none does; 2 for bad input, before anything
    starts; 1 when the run itself broke; 130 when it was stopped.
    """
    from guiforge.cli.plan import make_plan, requested
    from guiforge.cli.rollout import play

    asked = requested(
        env, tasks, seeds, attempts, harness, policy, model, key_env, harness_option, max_steps, size, retries,
        env_option,
    )  # fmt: skip
    raise typer.Exit(play(make_plan(asked, out_dir, resume, retry_faults), concurrency, out))


@app.command("tasks")
def list_tasks(suite: SuiteName = "osworld-like") -> None:
    """List a suite's tasks, with the instruction of seed 0."""
    from rich.text import Text

    from guiforge import registry
    from guiforge.cli.terminal import make_table

    table = make_table("task", "application", "steps>", "instruction (seed 0)")
    families = registry.suite(suite).families
    for name, family in families.items():
        task = family.make(0)
        note = Text(task.instruction)
        if not task.feasible:
            note.append("  (infeasible)", style="yellow")
        table.add_row(Text(name), Text(task.tags[0] if task.tags else ""), str(task.limits.steps), note)
    out.print(table)
    out.print(f"{len(families)} tasks")


@app.command()
def show(
    task: Annotated[str, typer.Argument(help="The task's id.", show_default=False)],
    suite: Annotated[str, typer.Option(help="Its suite.")] = "osworld-like",
    seed: Annotated[int, typer.Option(min=0, help="Its seed.")] = 0,
    out_file: Annotated[
        Path | None,
        typer.Option("--out", metavar="PNG", help="Where to save the first frame. Default: <task>-<seed>.png."),
    ] = None,
) -> None:
    """Print a task, set its world up, and save its first frame."""
    from guiforge import registry
    from guiforge.cli.terminal import limits_text, setup_text

    found = registry.suite(suite)
    shown = found.task(task, seed)
    gold = shown.model_dump(mode="json")["params"]
    path = out_file or Path(f"{task}-{seed}.png")
    _check_writable(path)
    facts = {
        "task": f"{found.name}/{task} seed {seed}",
        "instruction": shown.instruction,
        "feasible": "yes" if shown.feasible else "no",
        "tags": ", ".join(shown.tags),
        "set-up": "".join(f"\n  {setup_text(step)}" for step in shown.setup) or "none",
        "may write": ", ".join(shown.writable) or "nothing",
        "limits": limits_text(shown.limits),
        "gold": "".join(f"\n  {name}: {json.dumps(value, ensure_ascii=False)}" for name, value in gold.items())
        or "none",
    }
    for name, value in facts.items():
        out.print(f"[bold]{name}[/bold]  ", end="")
        out.print(value, markup=False, soft_wrap=True)
    world = registry.env_class(found.env)()
    with contextlib.closing(world):
        path.write_bytes(world.reset(shown).frame.encode("png").data)
    out.print(f"first frame  {path}", markup=False)


def _check_writable(path: Path) -> None:
    """Raises BadInput where `path` can't be written; leaves what is there as it is."""
    from guiforge.cli.options import BadInput

    was_there = path.exists()
    try:
        path.open("ab").close()
    except OSError as error:
        raise BadInput(f"--out {path}: {error.strerror}") from None
    if not was_there:
        path.unlink()


@app.command()
def verify(
    run: Run,
    episode: Annotated[str | None, typer.Argument(help="An episode's id, or its beginning.")] = None,
) -> None:
    """Grade stored final states again, and say whether the verdicts are the same.

    Exits with 1 where one differs, with 3 where there is nothing to grade.
    """
    from guiforge.cli.verify import verify_run

    raise typer.Exit(verify_run(run, episode, out))


@app.command()
def report(run: Run, model: TokensOf = None) -> None:
    """Write the pages of a run, and print where they are."""
    from guiforge.cli.calls import decoder
    from guiforge.report import write_page

    out.print(str(write_page(run, decoder(model))), markup=False, soft_wrap=True)


@app.command()
def lint(
    suite: SuiteName,
    tasks: Tasks = None,
    seeds: Seeds = None,
    harness: HarnessName = None,
    concurrency: Concurrency = 2,
    out_dir: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Keep the run there (goes on with one). Default: none is kept."),
    ] = None,
) -> None:
    """Check what must hold of every task: null scores 0, the oracle 1, same seed same task, and so on."""
    from guiforge.cli.plan import parse_seeds
    from guiforge.cli.rollout import check_tasks

    chosen = parse_seeds(seeds or "0")
    raise typer.Exit(check_tasks(suite, tasks or ["*"], chosen, harness or "kimi", concurrency, out_dir, out))


@app.command()
def bench(
    suite: Annotated[
        str, typer.Argument(metavar="SUITE", help="A suite, or webvoyager, online-mind2web, osworld with --data.")
    ],
    k: Annotated[int | None, typer.Option("-k", min=1, help="Tries of each task and seed. Default: 1.")] = None,
    data: Annotated[Path | None, typer.Option(metavar="FILE", help="A benchmark's file, as it was published.")] = None,
    hosts: Annotated[
        str, typer.Option(metavar="site|*", help="What a benchmark's pages may reach: their site, or everything.")
    ] = "site",
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave records out that can't be read.")] = False,
    tasks: Tasks = None, seeds: Seeds = None, harness: HarnessName = None, policy: PolicyName = None,
    model: Model = None, key_env: KeyEnv = None, harness_option: HarnessOption = None, env_option: EnvOption = None,
    max_steps: MaxSteps = None, size: ScreenSize = None, concurrency: Concurrency = 2, out_dir: OutDir = None,
    resume: Resume = False,
    retries: Retries = None, retry_faults: RetryFaults = False, judge: JudgeName = None,
    judge_endpoint: Annotated[str | None, typer.Option(metavar="URL", help="Where the judge's model is.")] = None,
    judge_model: Annotated[str | None, typer.Option(help="The model's name there.")] = None,
    judge_key_env: Annotated[str | None, typer.Option(metavar="NAME", help="Variable with the key.")] = None,
    labelled: Labelled = None,
) -> None:  # fmt: skip
    """Play a suite k times a task: pass@1, pass@k and pass^k with intervals, by site and level.

    A published benchmark has no state to read: a judge (--judge-endpoint) has to see its episodes. Exits as `rollout`.
    """
    from guiforge.cli.bench import DEFAULT_JUDGES, OSWORLD, bench_suite, benchmark_options, check_osworld
    from guiforge.cli.judge import DEFAULT_JUDGE, find_judge
    from guiforge.cli.plan import make_plan, requested

    if suite == OSWORLD:
        raise typer.Exit(check_osworld(data, skip_bad, out))
    options = None if data is None else benchmark_options(suite, data, hosts, skip_bad, out)
    asked = requested(
        suite, tasks, seeds, k, harness, policy, model, key_env, harness_option, max_steps, size, retries,
        env_option, options,
    )  # fmt: skip
    plan = make_plan(asked, out_dir, resume, retry_faults)
    name = judge or DEFAULT_JUDGES.get(suite, DEFAULT_JUDGE)
    found = None
    if judge_endpoint is not None:
        found = find_judge(name, judge_endpoint, judge_model, judge_key_env, labelled, "--judge-endpoint")
    raise typer.Exit(bench_suite(plan, found, concurrency, out))


@app.command("judge")
def judge_run(
    run: Run,
    endpoint: Annotated[str, typer.Option(metavar="URL", help="OpenAI-compatible base URL.", show_default=False)],
    judge: JudgeName = None,
    model: Model = None,
    key_env: KeyEnv = None,
    labelled: Labelled = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Episodes judged at once.")] = 4,
) -> None:
    """Let a model judge a run's episodes, beside their verifier, or where there is none to give them their outcome.

    Exits with 3 where nothing could be judged.
    """
    from guiforge.cli.judge import DEFAULT_JUDGE, find_judge, show_judge

    found = find_judge(judge or DEFAULT_JUDGE, endpoint, model, key_env, labelled, "--endpoint")
    raise typer.Exit(show_judge(run, found, concurrency, out))


@app.command()
def actions() -> None:
    """What an agent can do: every action, its fields, and what they mean."""
    from guiforge.action import describe

    out.print(describe(), markup=False, soft_wrap=True)


@app.command()
def episode(
    spec: Annotated[Path, typer.Argument(metavar="SPEC.json", help="An EpisodeSpec as JSON.", show_default=False)],
    out_dir: Annotated[Path, typer.Option("--out", metavar="DIR", help="The run's folder, made where there is none.")],
) -> None:
    """Run one episode in this process, from a spec to its outcome in a run folder; exits with 3 without a reward."""
    from guiforge.cli.rollout import play_one

    raise typer.Exit(play_one(spec, out_dir, out))


@app.command(hidden=True)
def worker(fd: Annotated[int, typer.Option(help="An inherited stream socket.")]) -> None:
    """Play the episodes that the owner of a socket sends (started by a scheduler)."""
    from guiforge.fleet.worker import main as serve

    serve(fd)


@app.command()
def doctor() -> None:
    """Check what this machine needs, and print the command that mends each lack."""
    from guiforge.doctor import run

    raise typer.Exit(run())


@app.command()
def profiles() -> None:
    """Warm the applications' profiles, from which every desktop gets a copy."""
    from envs.desktop.warming import warm_all

    for name in warm_all():
        out.print(name, markup=False)


@app.command("sites")
def set_up_sites(
    names: Annotated[list[str] | None, typer.Argument(metavar="[SITE]...", help="Sites. Default: all.")] = None,
) -> None:
    """Install the web applications that browser suites use, and make their base data; does only what is missing."""
    from guiforge.cli.sites import set_up

    raise typer.Exit(set_up(names or [], out))


for command in (calls, export, proxy, key, serve):
    app.command()(command)
app.add_typer(model_app, name="model")


def main() -> None:
    """Entry of the `guiforge` command."""
    problem = shadowed()
    if problem is not None:
        _stop(problem, 2)
    try:
        with terminable():
            app()
    except Exception as error:
        explained = _explained(error)
        if explained is None:
            raise
        _stop(*explained)


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """In the block SIGTERM is taken as Ctrl-C is: what runs is cancelled, and every cleanup on the way is done."""

    def as_interrupt(signum: int, frame: FrameType | None) -> None:
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # ignored, as in a background job
            raise KeyboardInterrupt
        handler(signal.SIGINT, frame)  # asyncio's own where it runs

    before = signal.signal(signal.SIGTERM, as_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _explained(error: Exception) -> tuple[str, int] | None:
    """What to say of an error that is no bug, and the exit code: 2 where the input was wrong, else 1."""
    from guiforge.bench.published import BadBenchmark
    from guiforge.cli.options import BadInput
    from guiforge.env import EnvError
    from guiforge.registry import BrokenPlugin, Unknown
    from guiforge.store import StoreError, StoreFull
    from guiforge.task import UnknownTask

    if isinstance(error, (StoreFull, BrokenPlugin)):
        return str(error), 1
    if isinstance(error, (BadInput, BadBenchmark, Unknown, UnknownTask, StoreError)):
        return str(error), 2
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] not in OURS:
        return f"{error.name} is not installed; an extra brings it: pip install 'guiforge[desktop,browser,train]'", 1
    if isinstance(error, EnvError):
        return f"the world failed: {error}", 1
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror, 1
    return None


def _stop(problem: str, code: int) -> None:
    err.print(f"guiforge: {problem}", markup=False, soft_wrap=True, style="red")
    sys.exit(code)
