"""`guiforge calls`: what a model saw and said, call by call.

Invariant: what a harness or a model wrote is shown as text, never as markup.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from guiforge.cli.arguments import Run, TokensOf
from guiforge.cli.options import BadInput

if TYPE_CHECKING:
    from guiforge.report.calls import BranchView, CallView, Decode, Mask, Pictured
    from guiforge.samples import Message
    from guiforge.store import EpisodeRecord, RunReader

MOST = 2_000  # characters of a message that are shown without --full
_MASKS: dict[Mask, str] = {"prompt": "dim", "before": "cyan", "sampled": "bold green"}
_ROLES = {"system": "magenta", "user": "yellow", "assistant": "green", "tool": "blue"}


def calls(
    run: Run,
    episode: Annotated[
        str | None, typer.Argument(help="An episode's id, or how it begins. Default: a line for each.")
    ] = None,
    number: Annotated[int | None, typer.Option("--call", min=0, help="This call alone.")] = None,
    tokens: Annotated[bool, typer.Option("--tokens/--no-tokens", help="Token by token, coloured by mask.")] = True,
    logprobs: Annotated[bool, typer.Option("--logprobs", help="A log-probability behind each sampled token.")] = False,
    model: TokensOf = None,
    full: Annotated[bool, typer.Option("--full", help="Whole messages and prompts, also those shown before.")] = False,
) -> None:
    """Show what a model saw and said: an episode's calls, its tokens coloured by mask, and its branches.

    Of tokens: dim ones were shown to the model, cyan ones it had sampled in an earlier call of the branch, green ones
    in this call: these are trained.
    """
    from guiforge.cli import out as console
    from guiforge.report.calls import branches, trees_of, views
    from guiforge.store import RunReader

    with RunReader(run) as reader:
        if episode is None:
            console.print(_listed(reader))
            return
        record = _found(reader, episode)
        recorded = reader.calls(record.key)
        trees = trees_of(recorded)
        shown = views(recorded, trees, decoder(model))
        if number is not None and number not in [view.call.index for view in shown]:
            raise BadInput(f"--call {number}: the episode has {len(shown)} calls, from 0")
        console.print(Text.assemble((f"{record.key}", "bold"), f"  {record.key.harness}, {record.key.policy}"))
        console.print(_tree(branches(trees)))
        pictured = _pictured(reader)
        for view in shown:
            if number is None or view.call.index == number:
                _show(console, view, pictured, tokens=tokens, logprobs=logprobs, full=full)


def decoder(model: Path | None) -> Decode | None:
    """What the tokens of a model say, None without one. Raises BadInput."""
    from guiforge.report.calls import NoTokenizer, tokenizer

    try:
        return None if model is None else tokenizer(model)
    except NoTokenizer as error:
        raise BadInput(f"--model: {error}") from None


def _found(reader: RunReader, wanted: str) -> EpisodeRecord:
    """The episode whose id begins so. Raises BadInput naming some."""
    episodes = reader.episodes()
    fits = [record for record in episodes if record.id.startswith(wanted)]
    if len(fits) == 1:
        return fits[0]
    some = ", ".join(record.id for record in (fits or episodes)[:8]) or "none"
    what = f"{len(fits)} episodes begin so" if fits else "the run has no such episode"
    raise BadInput(f"{wanted!r}: {what}; it has {len(episodes)}, such as {some}")


def _listed(reader: RunReader) -> Table:
    from guiforge.report.calls import branches, trees_of

    table = Table(
        Column("episode", no_wrap=True),
        "task",
        "seed",
        "harness",
        "calls",
        "wire",
        "branches",
        "tokens sampled",
        "cut",
        "errors",
    )
    for record in reader.episodes():
        recorded = reader.calls(record.key)
        wires = ", ".join(sorted({call.wire for call in recorded}))
        sampled = sum(call.sampled for call in recorded)
        cells = (
            record.id, record.key.task, record.key.seed, record.key.harness, len(recorded), wires,
            len(branches(trees_of(recorded))), sampled, sum(call.cut for call in recorded),
            sum(call.error is not None for call in recorded),
        )  # fmt: skip
        table.add_row(*(Text(str(cell)) for cell in cells))
    return table


def _tree(found: list[BranchView]) -> Text:
    """A line a branch: the calls that are its own, after the call of another that it goes on from."""
    text = Text()
    for at, branch in enumerate(found):
        after = "" if branch.parent is None else f"after call {branch.parent}: "
        own = " → ".join(map(str, branch.calls))
        text.append(f"branch {at}  ", "bold").append(f"{after}{own}").append(f"  {branch.began}\n", "dim")
    return text


def _show(
    console: Console, view: CallView, pictured: Pictured, *, tokens: bool, logprobs: bool, full: bool
) -> None:  # fmt: skip
    from guiforge.report.page import seconds

    call = view.call
    facts = [call.wire, seconds(call.last_byte - call.queued), call.finish_reason or "", "cut" if call.cut else "",
             call.upstream, f"weights {call.policy_version}" if call.policy_version else "", view.began]  # fmt: skip
    console.rule(Text.assemble((f"call {call.index}", "bold"), f"  {', '.join(filter(None, facts))}"), align="left")
    if not full and view.fresh < len(view.messages):
        console.print(Text(f"{len(view.messages) - view.fresh} messages as before", "dim"))
    for message in view.messages if full else view.new_messages:
        console.print(_message(message, pictured, full))
    if view.said is not None:
        console.print(_message(view.said, pictured, full))
    if call.problem:
        console.print(Text(call.problem, "red"))
    if tokens and view.runs:
        console.print(_tokens(view, logprobs, full))


def _message(message: Message, pictured: Pictured, full: bool) -> Text:
    from guiforge.report.calls import message_text

    text = message_text(message, pictured)
    cut = "" if full or len(text) <= MOST else f"\n… {len(text) - MOST:,} more characters: --full shows them"
    style = _ROLES.get(message.role, "")
    return Text.assemble((f"{message.role}: ", f"bold {style}"), text if full else text[:MOST], (cut, "dim"))


def _pictured(reader: RunReader) -> Pictured:
    """Names a run's images by hash and size."""
    from guiforge.samples.exports.run import image_sizes
    from guiforge.store import StoreError

    size_of = image_sizes(reader)

    def name(hash: str) -> str:
        try:
            width, height = size_of(hash)
        except (StoreError, OSError):
            return f"[image {hash[:8]} damaged]"
        return f"[image {hash[:8]} {width}x{height}]"

    return name


def _tokens(view: CallView, logprobs: bool, full: bool) -> Text:
    text = Text()
    for run in view.runs:
        if run.mask != "sampled":
            shown = run.text if full or len(run.text) <= MOST // 4 else f"{run.text[:80]} … {run.text[-80:]}"
            text.append(shown, _MASKS[run.mask]).append(" ")
            continue
        for token in run.tokens:
            text.append(f"{token.id} " if token.text is None else token.text, _MASKS[run.mask])
            if logprobs and token.logprob is not None:
                text.append(f"{{{token.logprob:.2f}}}", "dim")
    return text
