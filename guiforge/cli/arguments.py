"""The arguments and options that commands share, with their help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Run = Annotated[Path, typer.Argument(help="The run's folder.", show_default=False)]
SuiteName = Annotated[str, typer.Argument(metavar="SUITE", help="A suite's name.")]
Tasks = Annotated[
    list[str] | None,
    typer.Option("--tasks", metavar="GLOB|N", help="Globs of task ids (repeat, or commas), or how many. Default: all."),
]
Seeds = Annotated[str | None, typer.Option(metavar="0..2", help="Seeds: 0..2, 0,1,5. Default: 0.")]
HarnessName = Annotated[str | None, typer.Option(help="The program around the model. Default: kimi.")]
HarnessOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="An option of the harness (repeat): JSON, or else text."),
]
TokensOf = Annotated[
    Path | None, typer.Option("--model", metavar="DIR", help="The model that sampled: says what its tokens are.")
]
EnvOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="An option of the suite's env (repeat), as its class takes it."),
]
PolicyName = Annotated[
    str | None,
    typer.Option(metavar="NAME|URL", help="oracle (default), null, random, or an OpenAI-compatible base URL."),
]
Model = Annotated[str | None, typer.Option(help="The model's name at the policy's URL.")]
KeyEnv = Annotated[
    str | None, typer.Option(metavar="NAME", help="Variable that holds the URL's key. Default: OPENAI_API_KEY.")
]
MaxSteps = Annotated[int | None, typer.Option(min=1, help="Steps an episode, instead of the task's.")]
ScreenSize = Annotated[
    str | None, typer.Option(metavar="WxH", help="Size of the screens in pixels, instead of the task's.")
]
Concurrency = Annotated[int, typer.Option(min=1, help="Episodes at once.")]
OutDir = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="The run's folder. Default: runs/<date>-<suite>-<policy>."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")]
Retries = Annotated[
    int | None,
    typer.Option(min=0, help="How often an episode that a fault of ours ended is played afresh. Default: 1."),
]
RetryFaults = Annotated[
    bool, typer.Option("--retry-faults", help="With --resume: play again what ended without a reward.")
]
JudgeName = Annotated[
    str | None, typer.Option(metavar="NAME", help="webvoyager or webjudge. Default: the benchmark's own.")
]
Labelled = Annotated[
    Path | None,
    typer.Option(metavar="RUN", help="A run of a suite with verifiers, to measure the judge's errors on."),
]
