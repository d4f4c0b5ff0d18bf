"""The recording proxy side by side with no proxy, a bare pass-through, LiteLLM and rllm-model-gateway, in one run.

    scripts/bench proxy            # makes the peers' environments first
    scripts/bench proxy --quick    # shorter rounds, wider noise

Everything is on this machine: a scripted upstream, the side that is measured, and the load, each a process of its own.
Sides take turns, round by round, and figures are medians over the rounds. What guiforge's proxy does besides is
recorded in a run folder as ever: each image decoded, checked and stored, each call committed before its reply ends.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from PIL import Image, ImageDraw
from report import headline, machine, table, write
from rich.progress import track

HERE = Path(__file__).parent
RESULTS = HERE / "results"
SIDES = ("none", "passthrough", "guiforge", "litellm", "rllm")
BODIES = {"2 KB": 0, "200 KB": 1, "1.5 MB": 5}  # how many screenshots each holds
IN_FLIGHT = (1, 32, 256)
RATE, REPLY_S = 64, 0.5
SESSIONS = 32
START_S = 120


@dataclass
class Side:
    """A server that runs. path: where it takes chat completions, below its URL."""

    url: str
    process: subprocess.Popen[str]
    keys: list[str] = field(default_factory=list)
    path: str = "/v1/chat/completions"

    def memory_mb(self) -> float:
        """Resident memory of the process and what it started."""
        own = psutil.Process(self.process.pid)
        with suppress(psutil.NoSuchProcess):
            return sum(p.memory_info().rss for p in (own, *own.children(recursive=True))) / 2**20
        return 0.0


@contextmanager
def started(*argv: str, env: dict[str, str] | None = None, pipe: bool = True) -> Iterator[subprocess.Popen[str]]:
    """A process that is ended with the context."""
    process = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE if pipe else subprocess.DEVNULL, text=True,
        stderr=None if pipe else subprocess.DEVNULL, env={**os.environ, **(env or {})}, start_new_session=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        assert process.stdin is not None
        process.stdin.close()
        if not pipe:
            process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def ours(*argv: str) -> Iterator[Side]:
    """A side of proxy_sides.py."""
    with started(sys.executable, str(HERE / "proxy_sides.py"), *argv) as process:
        assert process.stdout is not None
        line = json.loads(process.stdout.readline())
        yield Side(line["url"], process, line.get("keys", []))


@contextmanager
def peer(name: str, upstream: str, scratch: Path) -> Iterator[Side]:
    """LiteLLM's proxy, or rLLM's gateway with its SQLite store."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    if name == "litellm":
        config = scratch / "litellm.yaml"
        params = f"{{model: openai/m, api_base: '{upstream}/v1', api_key: x}}"
        config.write_text(f"model_list:\n  - model_name: m\n    litellm_params: {params}\n")
        argv = [".venv-litellm/bin/litellm", "--config", str(config), "--host", "127.0.0.1", "--port", port]
        path, ready = "/v1/chat/completions", "/health/liveliness"
    else:
        store = str(scratch / f"rllm-{time.time_ns()}.db")
        argv = [".venv-rllm/bin/rllm-model-gateway", "--host", "127.0.0.1", "--port", port, "--worker", upstream,
                "--store", "sqlite", "--db-path", store, "--log-level", "error"]  # fmt: skip
        path, ready = "/sessions/s/v1/chat/completions", "/health"
    key = "sk-0123456789abcdef0123456789abcdef"  # of this run's own proxy; it asks for one
    env = {
        "LITELLM_MASTER_KEY": key,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_TELEMETRY": "False",
        "LITELLM_LOG": "ERROR",
    }
    with started(*argv, env=env, pipe=False) as process:
        url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + START_S
        while True:
            with suppress(OSError):
                urllib.request.urlopen(url + ready, timeout=2).close()
                break
            if time.monotonic() > deadline or process.poll() is not None:
                raise RuntimeError(f"{name} did not start")
            time.sleep(0.2)
        yield Side(url, process, [key], path)


def load(side: Side, bodies: Path, **asked: Any) -> dict[str, Any]:
    """What the load generator measured."""
    given = {"url": side.url + side.path, "keys": side.keys, "bodies": str(bodies), **asked}
    argv = [sys.executable, str(HERE / "proxy_load.py")]
    done = subprocess.run(argv, input=json.dumps(given), capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def screenshots(count: int) -> list[str]:
    """Data URLs of screens with text, windows and a photograph, each another one; about 200 KB."""
    chance, urls = random.Random(0), []
    base = Image.new("RGB", (1280, 720), "#f4f4f6")
    draw = ImageDraw.Draw(base)
    for row in range(44):
        draw.text((10, 8 + 16 * row), " ".join(chance.choice("the button window file edit view").split() * 12), "#222")
    for _ in range(30):
        x, y = chance.randrange(1100), chance.randrange(600)
        draw.rectangle(
            (x, y, x + chance.randrange(40, 160), y + chance.randrange(20, 90)), f"#{chance.randrange(2**24):06x}"
        )
    for number in range(count):
        shot = base.copy()
        shot.paste(Image.frombytes("RGB", (210, 200), chance.randbytes(210 * 200 * 3)), (chance.randrange(1000), 300))
        ImageDraw.Draw(shot).text((1180, 4), f"{number:06d}", "#000")
        data = io.BytesIO()
        shot.save(data, "PNG", compress_level=4)
        urls.append(f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}")
    return urls


def write_bodies(folder: Path, shots: list[str], held: int, stream: bool) -> Path:
    """Requests with so many screenshots, a history: each has one new and those before."""
    folder.mkdir()
    for number in range(max(0, len(shots) - held) + 1 if held else 1):
        parts: list[dict[str, Any]] = [{"type": "text", "text": "What now? " * 180}]
        parts += [{"type": "image_url", "image_url": {"url": url}} for url in shots[number : number + held]]
        body = {"model": "m", "stream": stream, "messages": [{"role": "user", "content": parts}]}
        (folder / f"{number:05d}").write_bytes(json.dumps(body).encode())
    return folder


class Bench:
    """One run. sides: those that can be started here."""

    def __init__(self, scratch: Path, options: argparse.Namespace) -> None:
        self.scratch, self.rounds, self.seconds = scratch, options.rounds, options.seconds
        self.sides = [s for s in SIDES if s in ("none", "passthrough", "guiforge") or Path(f".venv-{s}").exists()]
        shots = screenshots(options.screenshots)
        self.bodies = {
            (name, stream): write_bodies(
                scratch / f"{held}-{stream}", shots[: len(shots) if held < 2 else len(shots) // 3], held, stream
            )
            for name, held in BODIES.items()
            for stream in (False, True)
        }

    @contextmanager
    def side(self, name: str, upstream: str) -> Iterator[Side]:
        """A side before an upstream."""
        with ExitStack() as stack:
            if name == "none":
                yield Side(upstream, subprocess.Popen(["true"], text=True))
            elif name == "passthrough":
                yield stack.enter_context(ours("passthrough", upstream))
            elif name == "guiforge":
                run = self.scratch / f"run-{time.time_ns()}"
                yield stack.enter_context(ours("guiforge", upstream, str(run), str(SESSIONS)))
                stack.close()
                shutil.rmtree(run)
            else:
                yield stack.enter_context(peer(name, upstream, self.scratch))

    def throughput(self) -> dict[str, Any]:
        """Calls a second at zero delay, by side, body, streaming and calls in flight."""
        found: dict[str, list[float]] = {}
        with ours("upstream", "0") as upstream:
            for turn in track([(r, s) for r in range(self.rounds) for s in self.sides], "throughput"):
                with self.side(turn[1], upstream.url) as side:
                    load(side, self.bodies["2 KB", False], in_flight=4, seconds=0.5)
                    for (name, stream), bodies in self.bodies.items():
                        for in_flight in IN_FLIGHT:
                            done = load(side, bodies, in_flight=in_flight, seconds=self.seconds)
                            key = f"{name}, {'stream' if stream else 'whole'}, {in_flight}|{turn[1]}"
                            rate = done["calls"] / done["seconds"] if not done["failed"] else float("nan")
                            found.setdefault(key, []).append(rate)
        return {key: median(rates) for key, rates in found.items()}

    def added(self) -> dict[str, Any]:
        """Latency in ms, open loop, by side, body and streaming: [p50, p99]."""
        found: dict[str, list[tuple[float, float]]] = {}
        with ours("upstream", str(REPLY_S)) as upstream:
            for turn in track([(r, s) for r in range(self.rounds) for s in self.sides], "latency"):
                with self.side(turn[1], upstream.url) as side:
                    load(side, self.bodies["2 KB", False], in_flight=4, seconds=0.5)
                    for (name, stream), bodies in self.bodies.items():
                        done = load(side, bodies, rate=RATE, seconds=2 * self.seconds + 2)
                        key = f"{name}, {'stream' if stream else 'whole'}|{turn[1]}"
                        found.setdefault(key, []).append((done["p50"], done["p99"]))
        return {key: [median(p for p, _ in each), median(p for _, p in each)] for key, each in found.items()}

    def steady(self, calls: int) -> dict[str, float]:
        """Memory of guiforge's proxy: over so many calls, with 4,000 in flight, large bodies and 2,000 sessions."""
        told: dict[str, float] = {}
        with ours("upstream", "0") as upstream, self.side("guiforge", upstream.url) as side:
            small, points = self.bodies["2 KB", False], list[tuple[int, float]]()
            for done in track(range(0, calls, calls // 20), "memory"):
                load(side, small, in_flight=32, calls=calls // 20)
                points.append((done + calls // 20, side.memory_mb()))
            tail = points[len(points) // 4 :]
            told["slope_mb_per_1000_calls"] = 1000 * _slope(tail)
            told["memory_mb_after"] = points[-1][1]
            before = side.memory_mb()
            large = self.scratch / "large"
            large.mkdir(exist_ok=True)
            filler = {"role": "user", "content": "x" * (30 << 20)}
            (large / "0").write_bytes(json.dumps({"model": "m", "messages": [filler]}).encode())
            load(side, large, in_flight=4, calls=40)
            told["memory_mb_after_40_bodies_of_30_mb"] = side.memory_mb() - before
        with ours("upstream", "2") as upstream:
            for in_flight in (1000, 4000):
                with self.side("guiforge", upstream.url) as side:
                    done = load(side, self.bodies["2 KB", False], in_flight=in_flight, calls=in_flight)
                    told[f"completed_of_{in_flight}"] = done["calls"]
                    told[f"p99_ms_{in_flight}"] = done["p99"] - 2000
            run = str(self.scratch / "sessions")
            with ours("guiforge", upstream.url, run, "1") as one:
                alone = one.memory_mb()
            with ours("guiforge", upstream.url, f"{run}-2000", "2000") as many:
                told["kb_a_session"] = (many.memory_mb() - alone) / 2000 * 1024
        return told


def _slope(points: list[tuple[int, float]]) -> float:
    mean_x, mean_y = (sum(p[i] for p in points) / len(points) for i in (0, 1))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread


def shown(figures: dict[str, Any], sides: list[str]) -> str:
    """The figures as Markdown, each beside the pass-through's."""
    rates, latencies, steady = figures["throughput"], figures["latency_ms"], figures["steady"]
    rows = []
    for what in dict.fromkeys(key.partition("|")[0] for key in rates):
        values = {side: rates.get(f"{what}|{side}", float("nan")) for side in sides}
        ratios = (values["passthrough"] / values["guiforge"], *(values["guiforge"] / values[s] for s in sides[3:]))
        rows.append([what, *(f"{values[side]:,.0f}" for side in sides), *(f"{r:.1f}" for r in ratios)])
    head = ["body, reply, in flight", *sides, "pass-through / guiforge", *(f"guiforge / {s}" for s in sides[3:])]
    text = "Calls a second at zero delay:\n\n" + table(head, rows)
    rows = []
    for what in dict.fromkeys(key.partition("|")[0] for key in latencies):
        own = latencies[f"{what}|none"]
        added = {side: latencies.get(f"{what}|{side}", [float("nan")] * 2) for side in sides[1:]}
        rows.append([what, *(f"{added[s][0] - own[0]:.1f} / {added[s][1] - own[1]:.1f}" for s in sides[1:])])
    text += f"\nAdded latency in ms, p50 / p99, {RATE} requests a second, replies of {1000 * REPLY_S:.0f} ms:\n\n"
    text += table(["body, reply", *sides[1:]], rows)
    return (
        text
        + "\nguiforge alone:\n\n"
        + table(["what", ""], [[k.replace("_", " "), f"{v:,.2f}"] for k, v in steady.items()])
    )


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each throughput figure in a round")
    parser.add_argument("--screenshots", type=int, default=300, help="different ones")
    parser.add_argument("--calls", type=int, default=20_000, help="over which memory is watched")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds, options.screenshots, options.calls = 1, 1.5, 90, 4_000
    figures = machine()
    with tempfile.TemporaryDirectory(prefix="guiforge-proxy-") as scratch:
        bench = Bench(Path(scratch), options)
        figures |= {
            "throughput": bench.throughput(),
            "latency_ms": bench.added(),
            "steady": bench.steady(options.calls),
        }
    write(options.out, "proxy", figures, headline(figures) + "\n" + shown(figures, bench.sides))


if __name__ == "__main__":
    main()
