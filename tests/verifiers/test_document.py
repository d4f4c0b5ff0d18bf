"""Documents read as values: effective formatting and page starts, wherever the file keeps them."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import docx
import pytest
from docx.enum.section import WD_SECTION
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_BREAK
from docx.shared import Pt

from verifiers.document import Document, Paragraph, document_difference, read_docx


def document(edit: Callable[[Any], None] = lambda source: None) -> Document:
    """Three paragraphs, edited."""
    source = docx.Document()
    for text in ("First", "Second one", "Third"):
        source.add_paragraph(text)
    edit(source)
    out = io.BytesIO()
    source.save(out)
    return read_docx(out.getvalue())


def second(found: Document) -> Paragraph:
    """The paragraph in the middle."""
    paragraphs = [b for b in found.content if isinstance(b, Paragraph)]
    return next(p for p in paragraphs if p.text.startswith("Second"))


def _bold_run(source: Any) -> None:
    source.paragraphs[1].runs[0].bold = True


def _bold_character_style(source: Any) -> None:
    source.paragraphs[1].runs[0].style = "Strong"


def _bold_paragraph_style(source: Any) -> None:
    base = source.styles.add_style("Base", 1)
    base.font.bold = True
    derived = source.styles.add_style("Derived", 1)
    derived.base_style = base
    source.paragraphs[1].style = derived


@pytest.mark.parametrize("edit", [_bold_run, _bold_character_style, _bold_paragraph_style])
def test_bold_is_bold_wherever_it_comes_from(edit: Callable[[Any], None]) -> None:
    assert all(look.bold for look in second(document(edit)).looks)
    assert not any(look.bold for look in second(document()).looks)


def test_a_run_overrules_its_style() -> None:
    def edit(source: Any) -> None:
        _bold_paragraph_style(source)
        source.paragraphs[1].runs[0].bold = False

    assert not any(look.bold for look in second(document(edit)).looks)


def test_how_a_text_is_cut_into_runs_makes_no_difference() -> None:
    def edit(source: Any) -> None:
        source.paragraphs[1].text = ""
        for part in ("Sec", "ond ", "one"):
            source.paragraphs[1].add_run(part)

    assert document_difference(document(edit), document()) is None


def _style(source: Any) -> None:
    source.paragraphs[1].style = "Heading 2"


def _text(source: Any) -> None:
    source.paragraphs[1].text = "Second One"


def _alignment(source: Any) -> None:
    source.paragraphs[1].alignment = WD_ALIGN_PARAGRAPH.CENTER


def _spacing(source: Any) -> None:
    source.paragraphs[1].paragraph_format.line_spacing = 2.0


def _size(source: Any) -> None:
    source.paragraphs[1].runs[0].font.size = Pt(20)


def _underline(source: Any) -> None:
    source.paragraphs[1].runs[0].underline = True


def _table(source: Any) -> None:
    source.add_table(1, 1)


@pytest.mark.parametrize("edit", [_style, _text, _alignment, _spacing, _size, _underline, _bold_run, _table])
def test_a_change_is_a_difference_both_ways(edit: Callable[[Any], None]) -> None:
    assert document_difference(document(edit), document())
    assert document_difference(document(), document(edit))


def test_empty_paragraphs_are_spacing() -> None:
    def edit(source: Any) -> None:
        source.paragraphs[1].insert_paragraph_before()
        source.add_paragraph("  ")

    assert document_difference(document(edit), document()) is None


def _break_property(source: Any) -> None:
    source.paragraphs[1].paragraph_format.page_break_before = True


def _break_in_style(source: Any) -> None:
    source.styles.add_style("New page", 1).paragraph_format.page_break_before = True
    source.paragraphs[1].style = "New page"


def _break_at_its_start(source: Any) -> None:
    source.paragraphs[1].text = ""
    source.paragraphs[1].add_run().add_break(WD_BREAK.PAGE)
    source.paragraphs[1].add_run("Second one")


def _break_ends_the_last(source: Any) -> None:
    source.paragraphs[0].add_run().add_break(WD_BREAK.PAGE)


def _break_between(source: Any) -> None:
    source.paragraphs[1].insert_paragraph_before().add_run().add_break(WD_BREAK.PAGE)


def _break_and_empty_line(source: Any) -> None:
    _break_between(source)
    source.paragraphs[2].insert_paragraph_before()


def _section(source: Any) -> None:
    third = source.paragraphs[2]._p
    source.add_section(WD_SECTION.NEW_PAGE)
    ends = source.paragraphs[-1]._p  # the section's properties lie in a paragraph of their own
    third.getprevious().addprevious(ends)


@pytest.mark.parametrize(
    "edit",
    [_break_property, _break_in_style, _break_at_its_start, _break_ends_the_last, _break_between,
     _break_and_empty_line, _section],
)  # fmt: skip
def test_every_kind_of_page_break_starts_a_page(edit: Callable[[Any], None]) -> None:
    found = document(edit)
    assert second(found).new_page
    assert not any(b.new_page for b in found.content if isinstance(b, Paragraph) and b != second(found))


def test_a_line_break_or_a_break_inside_a_paragraph_starts_none() -> None:
    def edit(source: Any) -> None:
        source.paragraphs[0].add_run().add_break(WD_BREAK.LINE)
        source.paragraphs[1].add_run().add_break(WD_BREAK.PAGE)
        source.paragraphs[1].add_run("more")

    assert not any(b.new_page for b in document(edit).content if isinstance(b, Paragraph))
