"""PDF files: text by page, and whether two say the same."""

from __future__ import annotations

import io

import pytest
from pypdf import PdfWriter

from envs.desktop.suites.materials import pdf
from guiforge.env import SnapshotState, state_of_files
from verifiers.package import Unreadable
from verifiers.pdf import check_same_pdf, page_texts

PAGES = [("First", ["Nails\t12", "Ropes\t3"]), ("Second", ["Nothing more."])]
PDF = pdf(PAGES, "t")


def same(data: bytes | None) -> tuple[str, bool, str]:
    return check_same_pdf(
        "t", SnapshotState(*state_of_files({} if data is None else {"~/x.pdf": data})), "~/x.pdf", PDF
    )


def test_a_pages_text_is_told_in_order() -> None:
    assert page_texts(PDF) == ["First Nails 12 Ropes 3 Page 1 of 2", "Second Nothing more. Page 2 of 2"]


def test_the_same_pages_written_by_another_program_are_the_same() -> None:
    buffer = io.BytesIO()
    writer = PdfWriter(clone_from=io.BytesIO(PDF))
    writer.compress_identical_objects()
    writer.write(buffer)
    assert buffer.getvalue() != PDF
    assert same(buffer.getvalue()) == ("t", True, "")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (pdf(PAGES[:1], "t"), "1 pages, not 2"),
        (pdf([PAGES[0], ("Second", ["Nothing less."])], "t"), "page 2"),
        (None, "no file"),
        (b"Nails 12", "not a PDF"),
        (b"%PDF-1.4\nrubbish", "not a readable PDF"),
        (PDF[: len(PDF) // 2], "not a readable PDF"),
    ],
)
def test_anything_else_is_not(data: bytes | None, said: str) -> None:
    _, passed, reason = same(data)
    assert not passed and said in reason


def test_what_is_no_pdf_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        page_texts(b"")
