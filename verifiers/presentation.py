"""Presentations as plain values: pptx files that an application saved.

Invariant: a Deck holds what each slide says, in the slides' order; placeholders that nobody filled say nothing.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pptx
from pptx.enum.shapes import PP_PLACEHOLDER

from verifiers.compare import normal, sequence_difference, text_difference
from verifiers.package import Unreadable, check_package, opening

_TITLES = (PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE)
_FURNITURE = (PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.SLIDE_NUMBER)


@dataclass(frozen=True)
class Slide:
    """One slide. texts: the paragraphs of every other text, in drawing order; notes: the speaker's notes."""

    title: str
    texts: tuple[str, ...] = ()
    notes: str = ""


@dataclass(frozen=True)
class Deck:
    """A presentation: its slides in order."""

    slides: tuple[Slide, ...]

    @property
    def titles(self) -> list[str]:
        """The slides' titles in order."""
        return [slide.title for slide in self.slides]


def read_pptx(data: bytes) -> Deck:
    """A Deck of a pptx file's bytes. Raises verifiers.package.Unreadable."""
    check_package(data)
    with opening("pptx presentation"):
        source = pptx.Presentation(io.BytesIO(data))
        slides = list(source.slides)
    try:
        return Deck(tuple(_slide(slide) for slide in slides))
    except (KeyError, ValueError) as error:  # python-pptx resolves relations and checks attributes when they are read
        raise Unreadable(f"not a readable pptx presentation: {type(error).__name__}: {error}") from error


def _slide(source: Any) -> Slide:
    title, texts = "", []
    for shape in _shapes(source.shapes):
        kind = shape.placeholder_format.type if shape.is_placeholder else None
        if kind in _FURNITURE:
            continue
        lines = [normal(p.text) for p in shape.text_frame.paragraphs if normal(p.text)]
        if kind in _TITLES and not title:
            title = " ".join(lines)
        else:
            texts += lines
    notes = source.notes_slide.notes_text_frame if source.has_notes_slide else None
    return Slide(title, tuple(texts), normal(notes.text) if notes is not None else "")


def _shapes(shapes: Any) -> Iterator[Any]:
    """Shapes with a text frame, those in groups too."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        elif shape.has_text_frame:
            yield shape


def slide_difference(found: Slide, wanted: Slide) -> str | None:
    """The first way in which two slides differ: title, texts or notes."""
    if difference := text_difference(found.title, wanted.title):
        return f"title: {difference}"
    if difference := sequence_difference(found.texts, wanted.texts, "text"):
        return f"of {wanted.title!r}, {difference}"
    if difference := text_difference(found.notes, wanted.notes):
        return f"of {wanted.title!r}, notes: {difference}"
    return None


def deck_difference(found: Deck, wanted: Deck) -> str | None:
    """The first slide in which two presentations differ."""
    return sequence_difference(found.slides, wanted.slides, "slide", slide_difference)
