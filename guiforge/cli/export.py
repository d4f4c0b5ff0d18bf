"""`guiforge export`: a run as training data, in one file."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from guiforge.cli.arguments import Run
from guiforge.cli.options import BadInput

if TYPE_CHECKING:
    from guiforge.samples import Fidelity, ImageTokens
    from guiforge.samples.exports import Exported, Format, ImagesAs

NOTHING = 3  # exit code: no row was written


def export(
    run: Run,
    format: Annotated[str, typer.Option(metavar="parquet|trl|verl|messages", help="Exact tokens, or text for others.")],
    out_file: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Default: in RUN/export/.")] = None,
    images: Annotated[str, typer.Option(metavar="embed|path", help="Images in the file, or where they lie.")] = "embed",
    model: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The model that sampled; tells which tokens are images.")
    ] = None,
    passed: Annotated[bool, typer.Option("--passed", help="Only episodes that were solved.")] = False,
    gamma: Annotated[float, typer.Option(min=0, max=1, help="Discount of the reward for each call left.")] = 1.0,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Cut longer samples, whole images only.")] = None,
) -> None:
    """Write a run's rewarded episodes as training data, and count how exactly. Exits with 3 where there is none."""
    from guiforge.samples import NeedsImageTokens
    from guiforge.samples.exports import Options, export_run
    from guiforge.store import RunReader

    kind, images_as = _format(format), _images_as(images)
    if kind != "messages" and find_spec("pyarrow") is None:
        raise BadInput(f"--format {kind} needs pyarrow: pip install 'guiforge[export]'; messages does without")
    options = Options(images_as, passed, gamma, _tokens(model), max_tokens)
    with RunReader(run) as reader:
        path = out_file or run / "export" / _file_name(kind)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            done = export_run(reader, kind, path, options)
        except NeedsImageTokens:
            raise BadInput(
                f"--format {kind} needs --model DIR, the model that sampled: its config.json names the tokens that "
                "stand for images"
            ) from None
    for line in _told(done, kind, path):
        Console(highlight=False).print(line, markup=False, soft_wrap=True)
    raise typer.Exit(0 if done.rows else NOTHING)


def _format(name: str) -> Format:
    from guiforge.samples.exports import FORMATS

    for format in FORMATS:
        if format == name:
            return format
    raise BadInput(f"--format {name}: valid are {', '.join(FORMATS)}")


def _images_as(name: str) -> ImagesAs:
    if name in ("embed", "path"):
        return "embed" if name == "embed" else "path"
    raise BadInput(f"--images {name}: valid are embed, path")


def _tokens(model: Path | None) -> ImageTokens | None:
    from guiforge.samples import image_tokens

    try:
        return None if model is None else image_tokens(model)
    except (OSError, ValueError) as error:
        raise BadInput(f"--model {model}: {error}") from None


def _file_name(format: Format) -> str:
    return {"parquet": "samples.parquet", "messages": "messages.jsonl"}.get(format, f"{format}.parquet")


def _told(done: Exported, format: Format, path: Path) -> list[str]:
    notes = {
        "episodes without a reward, left out": done.unrewarded,
        "episodes not solved, left out": done.unsolved,
        "episodes without a reply, left out": done.empty,
        "branches whose text reads as an image, left out": done.unmarkable,
        "replies that verl trains again, since other branches share them": done.repeated,
    }
    return [
        f"{done.rows:,} rows of {done.episodes:,} episodes  {path}",
        *(f"  {number:,} {what}" for what, number in notes.items() if number),
        *(f"  {line}" for line in fidelity_lines(done.fidelity, tokens=format == "parquet")),
    ]


def fidelity_lines(counts: Fidelity, tokens: bool) -> list[str]:
    """The counts for a person. tokens: whether those of tokens are among them."""
    reasons = ", ".join(f"{reason} {number:,}" for reason, number in counts.reasons.most_common())
    lines = [
        f"calls {counts.calls:,}: first {counts.first:,}, extended {counts.extended:,}, branched {counts.branched:,}, "
        f"realigned {counts.realigned:,}, silent {counts.silent:,}; branches {counts.branches:,}",
        *([f"branches start since: {reasons}"] if reasons else []),
    ]
    if tokens:
        lines += [
            f"samples {counts.samples:,} of tokens, {counts.text_samples:,} of text (for SFT only)",
            f"re-tokenised calls {counts.retokenised:,}, image parity failures {counts.image_parity_failures:,}, "
            f"sampled image tokens {counts.sampled_image_tokens:,}",
            f"tokens sampled {counts.sampled_tokens:,}, trained {counts.trained_tokens:,}, left out "
            f"{counts.left_out:,}, trained twice {counts.share_trained_twice:.2%}",
        ]
    return lines
