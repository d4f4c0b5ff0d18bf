"""Presentations read as values: titles, texts and notes of the slides, in order."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pptx
import pytest
from pptx.util import Cm

from verifiers.presentation import Deck, Slide, deck_difference, read_pptx


def deck(edit: Callable[[Any], None] = lambda source: None) -> Deck:
    """Two slides, edited."""
    source = pptx.Presentation()
    for title in ("One", "Two"):
        slide = source.slides.add_slide(source.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "alpha\nbeta"
    edit(source)
    out = io.BytesIO()
    source.save(out)
    return read_pptx(out.getvalue())


def test_a_slide_is_its_title_its_texts_and_its_notes() -> None:
    def edit(source: Any) -> None:
        source.slides[1].notes_slide.notes_text_frame.text = "Breathe."

    assert deck(edit) == Deck((Slide("One", ("alpha", "beta")), Slide("Two", ("alpha", "beta"), "Breathe.")))
    assert deck(edit).titles == ["One", "Two"]


def _title(source: Any) -> None:
    source.slides[0].shapes.title.text = "one"


def _line(source: Any) -> None:
    source.slides[0].placeholders[1].text = "alpha"


def _notes(source: Any) -> None:
    source.slides[0].notes_slide.notes_text_frame.text = "Breathe."


def _box(source: Any) -> None:
    source.slides[0].shapes.add_textbox(Cm(1), Cm(1), Cm(5), Cm(2)).text_frame.text = "gamma"


def _grouped_box(source: Any) -> None:
    group = source.slides[0].shapes.add_group_shape()
    group.shapes.add_textbox(Cm(1), Cm(1), Cm(5), Cm(2)).text_frame.text = "gamma"


def _another_slide(source: Any) -> None:
    source.slides.add_slide(source.slide_layouts[6])


def _order(source: Any) -> None:
    slides = source.slides._sldIdLst
    slides.insert(0, slides[1])


@pytest.mark.parametrize("edit", [_title, _line, _notes, _box, _grouped_box, _another_slide, _order])
def test_a_change_is_a_difference_both_ways(edit: Callable[[Any], None]) -> None:
    assert deck_difference(deck(edit), deck())
    assert deck_difference(deck(), deck(edit))


def test_an_empty_text_box_says_nothing() -> None:
    def edit(source: Any) -> None:
        source.slides[0].shapes.add_textbox(Cm(1), Cm(1), Cm(5), Cm(2))

    assert deck_difference(deck(edit), deck()) is None
