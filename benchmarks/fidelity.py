"""How exactly calls become training samples: many-turn episodes with screenshots, counted.

    python benchmarks/fidelity.py [--episodes 64] [--out DIR]

Each harness of guiforge plays pages against a real, tiny model behind `guiforge serve`, through the recording proxy;
and a command-line agent of npm (pi) talks with the same model over screenshots, turn by turn. The weights are random,
so what the model may say is given with each request: some actions, and at times what is none, in the harness's own
format; which of them, and in which tokens, the model draws. Then the recorded calls are made Samples and counted.
Exit status 1 where a call was tokenised anew, images and placeholders disagree, or a token would be trained twice.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import aiohttp
from aiohttp import web
from report import headline, machine, table, write
from rich.progress import track

from guiforge import registry
from guiforge.action import Action
from guiforge.fleet import Finished, run_episodes
from guiforge.frame import Size
from guiforge.outcome import Outcome, Status
from guiforge.policies.scripted import RandomPolicy
from guiforge.proxy import HttpUpstreams, Proxy
from guiforge.samples import Fidelity, ImageTokens, image_tokens, samples_of
from guiforge.samples.exports.run import image_sizes
from guiforge.store import RunReader, Store
from guiforge.task import Task
from guiforge.trace import EpisodeKey, EpisodeSpec
from guiforge.wire import Reply

RESULTS = Path(__file__).with_name("results")
HARNESSES = ("react", "kimi", "molmoweb")
PAGES = ("enter-text", "click-checkboxes", "use-autocomplete", "choose-list", "click-tab-2")
SCREEN: Size = (160, 210)
LIMITS = {"steps": 6, "episode_s": 600, "policy_s": 120}
OFFERED, NONSENSE = 3, 0.1
AGENT, AGENT_TURNS = "@mariozechner/pi-coding-agent@0.73.1", 4
AGENT_SAYS = ("I see a page.", '<tool_call>\n{"name": "bash", "arguments": {"command": "echo  hello"}}\n</tool_call>')

Offer = Callable[[], list[str]]


def as_text(reply: Reply) -> str:
    """A reply as the tiny model writes it."""
    if isinstance(reply, str):
        return reply
    calls = [
        {"name": call.function.name, "arguments": json.loads(str(call.function.arguments))}
        for call in reply.tool_calls or ()
    ]
    return reply.text + "".join(f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in calls)


def offers_of(harness: str, seed: int) -> Offer:
    """What a harness's model may say to a request."""
    render: Callable[[tuple[Action, ...], Size], Reply] = registry.harness(harness).render
    policy, chance = RandomPolicy(seed, render, SCREEN, steps=10**9), random.Random(seed)

    def offer() -> list[str]:
        if chance.random() < NONSENSE:
            return ["Hm.", "I do not know."]
        return [as_text(policy()) for _ in range(OFFERED)]

    return offer


@asynccontextmanager
async def offering(model_url: str, offer: Offer, session: aiohttp.ClientSession) -> AsyncIterator[str]:
    """An endpoint before the model's that says what may be said, and passes all else on as it comes; gives its URL."""

    async def chat(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        body |= {"structured_outputs": {"choice": offer()}, "max_tokens": 400}
        body.pop("max_completion_tokens", None)
        async with session.post(f"{model_url}/chat/completions", json=body) as answer:
            response = web.StreamResponse(
                status=answer.status, headers={"Content-Type": answer.headers["Content-Type"]}
            )
            await response.prepare(request)
            async for piece in answer.content.iter_any():
                await response.write(piece)
            await response.write_eof()
            return response

    async def models(request: web.Request) -> web.Response:
        async with session.get(f"{model_url}/models") as answer:
            return web.json_response(await answer.json())

    app = web.Application(client_max_size=1 << 28)
    app.router.add_post("/v1/chat/completions", chat)
    app.router.add_get("/v1/models", models)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def tiny_model(folder: Path) -> AsyncIterator[str]:
    """`guiforge serve` of a new tiny model, in a process of its own; gives its URL."""
    guiforge = str(Path(sys.executable).with_name("guiforge"))
    subprocess.run([guiforge, "model", "init", "tiny", str(folder)], check=True, stdout=subprocess.DEVNULL)
    process = await asyncio.create_subprocess_exec(
        guiforge, "serve", str(folder), "--port", "0", stdout=asyncio.subprocess.PIPE, start_new_session=True
    )
    try:
        assert process.stdout is not None
        yield (await process.stdout.readline()).decode().split()[-1]
    finally:
        process.terminate()
        await process.wait()


async def play_harnesses(store: Store, model_url: str, episodes: int, session: aiohttp.ClientSession) -> None:
    """The episodes of our own harnesses, in equal parts."""
    async with AsyncExitStack() as stack:
        urls = {
            name: await stack.enter_async_context(offering(model_url, offers_of(name, seed), session))
            for seed, name in enumerate(HARNESSES)
        }
        specs = []
        for number in range(episodes):
            harness, page = HARNESSES[number % len(HARNESSES)], PAGES[number // len(HARNESSES) % len(PAGES)]
            key = EpisodeKey(task=f"miniwob/{page}", seed=number, attempt=0, harness=harness, policy=urls[harness])
            specs.append(EpisodeSpec(key=key, suite="miniwob", family=page, limits=LIMITS))
        bar = iter(track(range(episodes), "episodes"))
        next(bar)
        await run_episodes(
            specs, store, concurrency=2, on_event=lambda e: next(bar, None) if isinstance(e, Finished) else None
        )


async def play_agent(
    store: Store, shots: Iterator[bytes], model_url: str, episodes: int, session: aiohttp.ClientSession, home: Path
) -> None:
    """The agent's episodes: it is shown one screenshot after another, in one conversation."""
    pi, chance = installed(home / "agent"), random.Random(0)
    async with offering(model_url, lambda: [AGENT_SAYS[0], chance.choice(AGENT_SAYS)], session) as url:
        proxy = Proxy(store, HttpUpstreams([url]))
        async with proxy.serving() as base_url:
            for number in track(range(episodes), "agent"):
                key = EpisodeKey(task="proxy/session", seed=number, attempt=0, harness="pi (npm)", policy="tiny")
                task = Task(suite="proxy", id="session", seed=number, instruction="screenshots, turn by turn")
                opened = proxy.open(key, 600, task=task)
                await talk(pi, base_url, opened.completions_key, shots, home / f"pi-{number}")
                await proxy.seal(key)
                store.finish(key, Outcome(status=Status.FAILED, reward=0.0), None, {})


async def talk(pi: Path, base_url: str, api_key: str, shots: Iterator[bytes], home: Path) -> None:
    """One conversation of the agent. Raises RuntimeError with what it said where it fails."""
    model = {
        "id": "tiny", "name": "tiny", "reasoning": False, "input": ["text", "image"], "contextWindow": 200_000,
        "maxTokens": 400, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
    }  # fmt: skip
    provider = {"baseUrl": base_url, "api": "openai-completions", "apiKey": "AGENT_KEY", "models": [model]}
    (home / ".pi" / "agent").mkdir(parents=True)
    (home / ".pi" / "agent" / "models.json").write_text(json.dumps({"providers": {"here": provider}}))
    for turn in range(AGENT_TURNS):
        shot = home / f"screen-{turn}.png"
        shot.write_bytes(next(shots))
        goes_on = ["-c"] if turn else []
        agent = await asyncio.create_subprocess_exec(
            pi, "-p", *goes_on, "--provider", "here", "--model", "tiny", f"@{shot}", "What now?", cwd=home,
            env={"PATH": os.environ["PATH"], "HOME": str(home), "AGENT_KEY": api_key}, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        said, _ = await asyncio.wait_for(agent.communicate(), 120)
        if agent.returncode:
            raise RuntimeError(f"the agent ended with {agent.returncode}: {said.decode()[-500:]}")


def installed(home: Path) -> Path:
    """The agent's command, installed by npm. Raises CalledProcessError."""
    command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(home), AGENT]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return home / "node_modules" / ".bin" / "pi"


def screenshots(run: RunReader) -> Iterator[bytes]:
    """What was seen in a run, each once."""
    seen: set[str] = set()
    for episode in run.episodes():
        for step in run.steps(episode.key):
            if step.frame not in seen:
                seen.add(step.frame)
                yield run.image_bytes(step.frame)


def count(run: RunReader, images: ImageTokens) -> dict[str, tuple[int, Fidelity]]:
    """Of each harness how many episodes there are, and what became of their calls."""
    counts: dict[str, tuple[int, Fidelity]] = {}
    size_of = image_sizes(run)
    for record in run.episodes():
        made = samples_of(record.key, run.calls(record.key), record.outcome, size_of=size_of, images=images)
        episodes, so_far = counts.get(record.key.harness, (0, Fidelity()))
        counts[record.key.harness] = episodes + 1, so_far + made.fidelity
    return counts


def shown(counts: dict[str, tuple[int, Fidelity]]) -> str:
    """The counts as Markdown: a row a harness, and why branches began."""
    head = ["harness", "episodes", "calls", "first", "extended", "branched", "realigned", "samples", "tokens sampled",
            "re-tokenised", "image parity failures", "trained twice", "left out"]  # fmt: skip
    rows, reasons = [], []
    for harness, (episodes, found) in counts.items():
        rows.append(
            [harness, episodes, found.calls, found.first, found.extended, found.branched, found.realigned,
             found.samples, found.sampled_tokens, found.retokenised, found.image_parity_failures,
             f"{found.share_trained_twice:.1%}", found.left_out]
        )  # fmt: skip
        reasons.append([harness, ", ".join(f"{n} {reason}" for reason, n in found.reasons.most_common()) or "none"])
    return table(head, rows) + "\n" + table(["harness", "why branches began"], reasons)


def main() -> int:
    """Play, count, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=64, help="in all; a sixteenth of them the agent's")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    options = parser.parse_args()
    figures, counts = machine(), dict[str, tuple[int, Fidelity]]()
    agents = options.episodes // 16 if shutil.which("npm") else 0

    async def play(scratch: Path) -> None:
        async with tiny_model(scratch / "tiny") as url, aiohttp.ClientSession() as session:
            images = image_tokens(scratch / "tiny")
            with Store(scratch / "run") as store:
                await play_harnesses(store, url, options.episodes - agents, session)
                counts.update(count(store, images))
                if agents:
                    with Store(scratch / "agent-run") as other:
                        await play_agent(other, screenshots(store), url, agents, session, scratch)
                        counts.update(count(other, images))

    with tempfile.TemporaryDirectory(prefix="guiforge-fidelity-") as scratch:
        asyncio.run(play(Path(scratch)))
    whole = sum((found for _, found in counts.values()), Fidelity())
    counts["all"] = options.episodes, whole
    figures["harnesses"] = {
        name: {**vars(found), "episodes": episodes, "retokenised": found.retokenised}
        for name, (episodes, found) in counts.items()
    }
    write(options.out, "fidelity", figures, headline(figures) + "\n" + shown(counts))
    return int(bool(whole.retokenised or whole.image_parity_failures or whole.trained_twice))


if __name__ == "__main__":
    sys.exit(main())
