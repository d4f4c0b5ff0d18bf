"""`guiforge proxy` and `guiforge key`: the recording proxy by hand, and keys for further episodes of it.

Invariant: a key is shown to whoever asked for it on the terminal, and written nowhere else.
"""

from __future__ import annotations

import asyncio
import os
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from guiforge.cli.arguments import KeyEnv, Model, Run
from guiforge.cli.options import BadInput

if TYPE_CHECKING:
    from guiforge.proxy import HttpUpstreams, Opened
    from guiforge.store import RunReader
    from guiforge.task import Task
    from guiforge.trace import EpisodeKey

TASK, HARNESS = "proxy/session", "external"
_HOUR_S = 3600.0
Hours = Annotated[float, typer.Option("--hours", min=0.001, help="How long the key is good for.")]
HarnessLabel = Annotated[str, typer.Option("--harness", metavar="NAME", help="What the episode's harness is called.")]


def proxy(
    upstream: Annotated[
        list[str],
        typer.Option(metavar="URL", help="An OpenAI-compatible base URL; repeat for replicas.", show_default=False),
    ],
    run: Annotated[
        Path | None, typer.Option("--run", metavar="DIR", help="The run's folder. Default: runs/<date>-proxy.")
    ] = None,
    model: Model = None, key_env: KeyEnv = None,
    tokens: Annotated[
        bool | None,
        typer.Option("--tokens/--no-tokens", help="Ask for token ids as vLLM gives them. Default: as it says it is."),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to serve at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any that is free.")] = 0,
    hours: Hours = 24.0, harness: HarnessLabel = HARNESS,
) -> None:  # fmt: skip
    """Serve model calls of any harness from an endpoint, and record each; Ctrl-C ends it.

    Prints what to paste for harnesses that speak OpenAI's or Anthropic's protocol. Needs no suite: the calls are kept
    as one episode of task proxy/session; `guiforge key RUN` opens another.
    """
    from guiforge.policies import DEFAULT_KEY_ENV, EMBEDDED, resolve
    from guiforge.proxy import HttpUpstreams

    try:
        urls = [resolve(url) for url in upstream]
    except ValueError as error:
        raise BadInput(f"--upstream: {error}") from None
    for url in urls:
        if url in EMBEDDED:
            raise BadInput(
                f"--upstream {url}: an embedded policy has no URL; valid are such as http://localhost:8000/v1"
            )
    key = os.environ.get(key_env or DEFAULT_KEY_ENV, "")
    if key_env is not None and not key:
        raise BadInput(f"--key-env {key_env}: that variable is empty or not set")
    where = run or Path("runs") / f"{datetime.now():%Y%m%d-%H%M%S}-proxy"
    upstreams = HttpUpstreams(urls, key, model=model, tokens=tokens)
    try:
        asyncio.run(_serve(upstreams, urls, where, host, port, hours * _HOUR_S, harness))
    except KeyboardInterrupt:
        typer.echo(f"recorded in {where}")


def key(
    run: Run, hours: Hours = 24.0, harness: HarnessLabel = HARNESS,
    seed: Annotated[int, typer.Option(help="The episode's seed.")] = 0,
) -> None:  # fmt: skip
    """Open a further episode at the proxy that is recording into a run, and print its keys."""
    import httpx

    from guiforge.proxy import URL_FILE, Opened, admin_key
    from guiforge.store import RunReader

    with RunReader(run) as reader:
        try:
            base_url, admin = (reader.path / URL_FILE).read_text().strip(), admin_key(reader.path)
        except FileNotFoundError:
            raise BadInput(f"no proxy is recording into {run}; start one with guiforge proxy --run {run}") from None
        mine = next((e.key.policy for e in reader.episodes() if e.key.task == TASK), base_url)
        episode = _next_key(reader, seed, harness, mine)
    body = {
        "key": episode.model_dump(),
        "task": _task(seed).model_dump(mode="json"),
        "deadline_s": hours * _HOUR_S,
    }
    address = base_url.removesuffix("/v1")
    try:
        reply = httpx.post(
            f"{address}/admin/episodes", json=body, headers={"Authorization": f"Bearer {admin}"}, trust_env=False
        )
    except httpx.TransportError as error:
        raise BadInput(f"the proxy of {run} does not answer at {address}: {error}") from None
    if reply.status_code != 200:
        raise BadInput(f"the proxy refused: {reply.status_code} {reply.text}")
    given = reply.json()
    opened = Opened(given["episode"], given["completions_key"], given["worker_key"], given["deadline"])
    _show(base_url, opened)


async def _serve(
    upstreams: HttpUpstreams, urls: list[str], where: Path, host: str, port: int, deadline_s: float, harness: str
) -> None:
    from guiforge.proxy import Proxy
    from guiforge.store import Store

    with Store(where, parameters={"command": "proxy", "upstreams": urls}) as store:
        proxy = Proxy(store, upstreams)
        async with proxy.serving(host, port) as base_url:
            opened = proxy.open(_next_key(store, 0, harness, urls[0]), deadline_s, task=_task(0))
            models = await upstreams.models() if await upstreams.look() else None
            _say_upstream(urls, models, bool(upstreams.gives_tokens))
            typer.echo(f"recording into {where}; Ctrl-C ends it")
            _show(base_url, opened)
            await asyncio.Event().wait()


def _say_upstream(urls: list[str], models: list[str] | None, tokens: bool) -> None:
    if models is None:
        typer.echo(f"{', '.join(urls)} can't be reached yet", err=True)
        return
    served = f" serves {', '.join(models)}" if models else " names no models"
    exact = "gives token ids" if tokens else "gives no token ids: its calls can be used for supervised training only"
    typer.echo(f"{', '.join(urls)}{served}; it {exact}")


def _task(seed: int) -> Task:
    from guiforge.task import Task

    suite, _, id = TASK.partition("/")
    return Task(suite=suite, id=id, seed=seed, instruction="a session by hand")


def _next_key(reader: RunReader, seed: int, harness: str, policy: str) -> EpisodeKey:
    """The first attempt that the run does not have."""
    from guiforge.trace import EpisodeKey

    had = {e.key for e in reader.episodes()}
    attempt = 0
    while (found := EpisodeKey(task=TASK, seed=seed, attempt=attempt, harness=harness, policy=policy)) in had:
        attempt += 1
    return found


def _show(base_url: str, opened: Opened) -> None:
    until = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(opened.deadline))
    lines = (
        f"# episode {opened.episode}, until {until}",
        f"export OPENAI_BASE_URL={base_url}",
        f"export OPENAI_API_KEY={opened.completions_key}",
        f"export ANTHROPIC_BASE_URL={base_url.removesuffix('/v1')}",
        f"export ANTHROPIC_API_KEY={opened.completions_key}",
        f"# its worker key, for POST /worker/step and /worker/outcome: {opened.worker_key}",
    )
    typer.echo("\n".join(lines))
