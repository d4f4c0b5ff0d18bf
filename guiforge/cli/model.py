"""`guiforge model` and `guiforge serve`: the local model. It alone of the commands needs torch, and imports it late."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from guiforge.cli.options import BadInput

app = typer.Typer(help="Make a local model.", no_args_is_help=True)
KINDS = ("tiny",)


@app.command("init")
def init(
    kind: Annotated[str, typer.Argument(metavar="tiny", help="What to make: tiny.", show_default=False)],
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where to, a new folder.", show_default=False)],
    seed: Annotated[int, typer.Option(min=0, help="Of its random weights.")] = 0,
) -> None:
    """Make a tiny random Qwen3-VL with its own tokenizer and processor, to try everything with on a CPU."""
    if kind not in KINDS:
        raise BadInput(f"no model of kind {kind!r} can be made; valid are: {', '.join(KINDS)}")
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise BadInput(f"{directory} exists and is not an empty folder")
    from transformers.utils.logging import disable_progress_bar

    from guiforge.harness.kimi import system_prompt
    from vlm import tiny

    disable_progress_bar()
    tiny.make(directory, texts=[system_prompt("password", thinking) for thinking in (False, True)], seed=seed)
    Console(highlight=False).print(f"{directory}: serve it with `guiforge serve {directory}`", soft_wrap=True)


def serve(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model's folder.", show_default=False)],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for a free one.")] = 8000,
    name: Annotated[str, typer.Option(help="What requests call it. Default: its folder's name.")] = "",
    device: Annotated[str, typer.Option(help="Where it runs, as torch names it.")] = "cpu",
    dtype: Annotated[str, typer.Option(help="Of its weights, as torch names it. Default: as saved.")] = "auto",
) -> None:
    """Serve a local model as OpenAI chat completions, with images, log-probabilities and token ids."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads that spin for work starve the harness beside them
    from transformers.utils.logging import disable_progress_bar

    from vlm.loading import UnusableModel, load
    from vlm.serve import serving

    disable_progress_bar()
    try:
        loaded = load(model, name=name, device=device, dtype=dtype)
    except UnusableModel as error:
        raise BadInput(str(error)) from None

    async def run() -> None:
        async with serving(loaded, host, port) as url:
            print(f"serving {loaded.name} at {url}", flush=True)
            await asyncio.Event().wait()

    asyncio.run(run())
