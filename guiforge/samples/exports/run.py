"""A run's episodes into one file of a format.

Invariant: the file appears under its name when it is whole; a run that goes on is exported as far as it is finished.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal, Protocol, get_args

from PIL import Image

from guiforge.frame import Size
from guiforge.samples.exports import rows
from guiforge.samples.exports.rows import ImagesAs, Pictures, Row
from guiforge.samples.fidelity import Fidelity
from guiforge.samples.images import ImageTokens
from guiforge.samples.sample import counted_texts, samples_of, text_samples_of
from guiforge.store import EpisodeRecord, RunReader

Format = Literal["parquet", "trl", "verl", "messages"]
FORMATS: tuple[Format, ...] = get_args(Format)


@dataclass(frozen=True)
class Options:
    """How to export.

    images_as: their bytes in the file, or their paths in the run.  passed: only episodes whose task was solved.
    gamma: of rewards.  images: which tokens are images', where calls hold both.  max_tokens: of a `parquet` row.
    """

    images_as: ImagesAs = "embed"
    passed: bool = False
    gamma: float = 1.0
    images: ImageTokens | None = None
    max_tokens: int | None = None


@dataclass
class Exported:
    """What an export came to.

    episodes: those in the file.  unrewarded, unsolved, empty: those left out, the latter since they have no reply.
    unmarkable: branches left out of `verl`, since a text in them reads as an image.  repeated: replies that verl trains
    again.
    """

    episodes: int = 0
    rows: int = 0
    unrewarded: int = 0
    unsolved: int = 0
    empty: int = 0
    unmarkable: int = 0
    repeated: int = 0
    fidelity: Fidelity = field(default_factory=Fidelity)


class _Sink(Protocol):
    def write(self, rows: list[Row]) -> None: ...


def export_run(run: RunReader, format: Format, out: Path, options: Options) -> Exported:
    """Write a run's rewarded episodes to `out`.

    Raises NeedsImageTokens, StoreError and OSError, after which `out` is as before.
    """
    pictures = Pictures(options.images_as, lambda hash: run.image_path(hash).resolve())
    done = Exported()
    partial = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        with _sink(format, partial, options.images_as) as sink:
            for record in run.episodes():
                if _wanted(record, options.passed, done):
                    found = list(_rows(run, record, format, options, pictures, done))
                    sink.write(found)
                    done.rows += len(found)
                    done.episodes += bool(found)
                    done.empty += not found
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)
    return done


def image_sizes(run: RunReader) -> Callable[[str], Size]:
    """Gives width and height in pixels of a run's image by content hash."""

    @lru_cache(maxsize=100_000)
    def size_of(hash: str) -> Size:
        return Image.open(io.BytesIO(run.image_bytes(hash))).size

    return size_of


def _wanted(record: EpisodeRecord, passed: bool, done: Exported) -> bool:
    if record.outcome is None or record.outcome.reward is None:
        done.unrewarded += 1
        return False
    if passed and not record.outcome.passed:
        done.unsolved += 1
        return False
    return True


def _rows(
    run: RunReader, record: EpisodeRecord, format: Format, options: Options, pictures: Pictures, done: Exported
) -> Iterator[Row]:
    calls = run.calls(record.key)
    if format == "parquet":
        made = samples_of(
            record.key, calls, record.outcome, size_of=image_sizes(run), images=options.images, gamma=options.gamma,
            max_tokens=options.max_tokens,
        )  # fmt: skip
        done.fidelity += made.fidelity
        yield from (rows.of_sample(sample, record, pictures) for sample in made.samples)
        yield from (rows.of_text(text, record, pictures) for text in made.texts)
        return
    texts, tree = text_samples_of(record.key, calls, record.outcome, options.gamma)
    silent = len(calls) - len(tree.calls)
    done.fidelity += counted_texts(tree, texts) + Fidelity(calls=len(calls), silent=silent)
    for text in texts:
        if format == "trl":
            yield from rows.of_reply(text, record, pictures)
        elif format == "messages":
            yield rows.of_line(text, record, pictures)
        elif (row := rows.of_branch(text, record, pictures)) is None:
            done.unmarkable += 1
        else:
            done.repeated += row[1]
            yield row[0]


def _sink(format: Format, path: Path, images_as: ImagesAs) -> AbstractContextManager[_Sink]:
    if format == "messages":
        return _lines(path)
    from guiforge.samples.exports import tables  # pyarrow comes with an extra

    schemas = {"parquet": tables.PARQUET, "trl": tables.TRL, "verl": tables.verl(images_as == "embed")}
    return tables.Table(path, schemas[format])


@contextmanager
def _lines(path: Path) -> Iterator[_Lines]:
    with path.open("w", encoding="utf-8") as file:
        yield _Lines(file)


class _Lines:
    def __init__(self, file: io.TextIOBase) -> None:
        self._file = file

    def write(self, rows: list[Row]) -> None:
        for row in rows:
            # plain ASCII: a model may have written what is no valid UTF-8
            self._file.write(json.dumps(row) + "\n")
