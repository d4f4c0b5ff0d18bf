"""PDF files: their text by page, and whether two are the same document.

Invariant: bytes that are no PDF raise Unreadable (the policy's mistake); nothing of a file is executed or followed.
"""

from __future__ import annotations

import io
import re
import unicodedata

from pypdf import PdfReader

from guiforge.env import StateReader
from verifiers.compare import Check
from verifiers.files import checked
from verifiers.package import Unreadable, opening


def page_texts(data: bytes) -> list[str]:
    """The text of each page, ligatures spelled out (NFKC), runs of white space made one blank. Raises Unreadable."""
    if not data.startswith(b"%PDF-"):
        raise Unreadable("not a PDF file")
    with opening("PDF file"):
        pages = [page.extract_text() for page in PdfReader(io.BytesIO(data)).pages]
    return [re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text)).strip() for text in pages]


def check_same_pdf(name: str, state: StateReader, path: str, want: bytes) -> Check:
    """The file is a PDF whose pages say the same as those of `want` (a program that saves a copy may rewrite it)."""

    def fault() -> str | None:
        got, expected = page_texts(state.read(path)), page_texts(want)
        if len(got) != len(expected):
            return f"{path} has {len(got)} pages, not {len(expected)}"
        wrong = [str(n) for n, (a, b) in enumerate(zip(got, expected, strict=True), 1) if a != b]
        return f"{path} says something else on page {', '.join(wrong)}" if wrong else None

    return checked(name, fault)
