"""Text documents as plain values: docx files that an application saved.

Invariant: formatting is the effective one (run, then styles, then the document's defaults), so it makes no difference
where in the file an application keeps it, nor how it cuts a text into runs.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import docx
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_UNDERLINE
from docx.exceptions import InvalidXmlError
from docx.oxml.ns import qn
from docx.shared import Length
from docx.table import Table as DocxTable
from docx.text.paragraph import Paragraph as DocxParagraph
from docx.text.run import Run as DocxRun

from verifiers.compare import normal, sequence_difference
from verifiers.package import Unreadable, check_package, opening

Alignment = Literal["left", "center", "right", "justify"]
_ALIGNMENTS: dict[Any, Alignment] = {
    WD_ALIGN_PARAGRAPH.CENTER: "center",
    WD_ALIGN_PARAGRAPH.RIGHT: "right",
    WD_ALIGN_PARAGRAPH.JUSTIFY: "justify",
}


@dataclass(frozen=True)
class Look:
    """How characters look. size_pt: points."""

    bold: bool = False
    italic: bool = False
    underline: bool = False
    size_pt: float = 10.0


@dataclass(frozen=True)
class Paragraph:
    """A paragraph. looks: one a character of text.  line_spacing: multiples of a line, or points as a `pt` text.

    new_page: whether a page break, of whatever kind, makes it start a page (the document's first does not count).
    """

    text: str
    style: str
    alignment: Alignment
    line_spacing: float | str
    looks: tuple[Look, ...]
    new_page: bool = False


@dataclass(frozen=True)
class Table:
    """A table: the text of its cells by row; paragraphs of a cell are joined by a newline."""

    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Document:
    """A document's body in order."""

    blocks: tuple[Paragraph | Table, ...]

    @property
    def content(self) -> list[Paragraph | Table]:
        """Paragraphs with text, and tables, in order; an empty paragraph is spacing."""
        return [b for b in self.blocks if isinstance(b, Table) or normal(b.text)]


def read_docx(data: bytes) -> Document:
    """A Document of a docx file's bytes. Raises verifiers.package.Unreadable."""
    check_package(data)
    with opening("docx document"):
        source = docx.Document(io.BytesIO(data))
        blocks = list(source.iter_inner_content())
    try:
        return Document(tuple(_blocks(blocks, _Defaults(source))))
    except (InvalidXmlError, ValueError) as error:  # python-docx checks attributes when they are read
        raise Unreadable(f"not a readable docx document: {error}") from error


def _blocks(source: list[DocxParagraph | DocxTable], defaults: _Defaults) -> Iterator[Paragraph | Table]:
    breaks = False  # whether what comes next starts a page
    for block in source:
        if isinstance(block, DocxTable):
            yield Table(tuple(tuple(cell.text for cell in row.cells) for row in block.rows))
            breaks = False
            continue
        style, characters = block.style, _characters(block)
        text = "".join(c for c, _ in characters).strip(" \t\n\r")
        starts = breaks or text.startswith("\f") or bool(_resolve(style, block.paragraph_format, "page_break_before"))
        yield _paragraph(block, style, [(c, run) for c, run in characters if c != "\f"], starts, defaults)
        # an empty paragraph hands its page break on
        breaks = text.endswith("\f") or _ends_section(block) or (not text.strip("\f \t\n\r") and starts)


def _characters(paragraph: DocxParagraph) -> list[tuple[str, DocxRun]]:
    """Each character with its run; a page break is a form feed."""
    found: list[tuple[str, DocxRun]] = []
    for item in paragraph.iter_inner_content():
        for run in [item] if isinstance(item, DocxRun) else item.runs:
            for child in run._r:
                if child.tag == qn("w:br") and child.get(qn("w:type")) == "page":
                    found.append(("\f", run))
                elif child.tag in (qn("w:t"), qn("w:tab"), qn("w:br"), qn("w:cr"), qn("w:noBreakHyphen")):
                    found += [(c, run) for c in str(child)]
    return found


def _ends_section(paragraph: DocxParagraph) -> bool:
    """Whether a section ends with this paragraph and the next starts on a new page."""
    properties = paragraph._p.pPr
    section = None if properties is None else properties.find(qn("w:sectPr"))
    if section is None:
        return False
    kind = section.find(qn("w:type"))
    return kind is None or kind.get(qn("w:val")) not in ("continuous", "nextColumn")


def _paragraph(
    source: DocxParagraph, style: Any, characters: list[tuple[str, DocxRun]], new_page: bool, defaults: _Defaults
) -> Paragraph:
    layout = source.paragraph_format
    spacing = _resolve(style, layout, "line_spacing", defaults.line_spacing)
    looks: dict[int, Look] = {}
    for _, run in characters:
        if id(run) not in looks:
            looks[id(run)] = _look(style, run, defaults)
    return Paragraph(
        text="".join(c for c, _ in characters),
        style=style.name if style is not None else "",
        alignment=_ALIGNMENTS.get(_resolve(style, layout, "alignment"), "left"),
        line_spacing=f"{spacing.pt:g}pt" if isinstance(spacing, Length) else round(float(spacing), 2),
        looks=tuple(looks[id(run)] for _, run in characters),
        new_page=new_page,
    )


def _look(paragraph_style: Any, run: DocxRun, defaults: _Defaults) -> Look:
    run_style = run.style if run._r.style is not None else None

    def effective(attribute: str) -> Any:
        own = _resolve(run_style, run.font, attribute)
        return own if own is not None else _resolve(paragraph_style, None, attribute)

    size = effective("size")
    return Look(
        bold=bool(effective("bold")),
        italic=bool(effective("italic")),
        underline=effective("underline") not in (None, False, WD_UNDERLINE.NONE),
        size_pt=size.pt if size is not None else defaults.size_pt,
    )


def _resolve(style: Any, own: Any, attribute: str, default: Any = None) -> Any:
    """A property of `own`, else of the nearest style in the chain that sets it, else the default."""
    value = getattr(own, attribute) if own is not None else None
    while value is None and style is not None:
        source = style.font if hasattr(style.font, attribute) else getattr(style, "paragraph_format", None)
        value = getattr(source, attribute, None)
        style = style.base_style
    return default if value is None else value


class _Defaults:
    """The document's defaults, which python-docx leaves out: character size and line spacing."""

    def __init__(self, source: Any) -> None:
        root = source.styles.element.find(qn("w:docDefaults"))
        size = _attribute(root, "w:rPrDefault/w:rPr/w:sz", "w:val")
        line = _attribute(root, "w:pPrDefault/w:pPr/w:spacing", "w:line")
        self.size_pt = int(size) / 2 if size else 10.0
        self.line_spacing = int(line) / 240 if line else 1.0


def _attribute(root: Any, path: str, name: str) -> str | None:
    found = None if root is None else root.find("/".join(qn(tag) for tag in path.split("/")))
    return None if found is None else found.get(qn(name))


def paragraph_difference(found: Paragraph, wanted: Paragraph) -> str | None:
    """The first way in which two paragraphs differ: text, style, layout, or the look of a stretch of characters."""
    if normal(found.text) != normal(wanted.text):
        return f"its text is {found.text[:80]!r}; wanted {wanted.text[:80]!r}"
    for what in ("style", "alignment", "line_spacing", "new_page"):
        a, b = getattr(found, what), getattr(wanted, what)
        if a != b:
            return f"the {what.replace('_', ' ')} of {wanted.text[:40]!r} is {a}; wanted {b}"
    for character, look, want in zip(found.text, found.looks, wanted.looks, strict=False):
        if look != want and not character.isspace():
            return f"the look of {wanted.text[:40]!r} is {look}; wanted {want}"
    return None


def document_difference(found: Document, wanted: Document) -> str | None:
    """The first paragraph with text, or table, in which two documents differ; empty paragraphs are spacing."""
    return sequence_difference(found.content, wanted.content, "paragraph or table", _block_difference)


def _block_difference(found: Paragraph | Table, wanted: Paragraph | Table) -> str | None:
    if isinstance(found, Table) and isinstance(wanted, Table):
        return table_difference(found, wanted)
    if isinstance(found, Paragraph) and isinstance(wanted, Paragraph):
        return paragraph_difference(found, wanted)
    return f"it is a {type(found).__name__.lower()}; wanted a {type(wanted).__name__.lower()}"


def table_difference(found: Table, wanted: Table) -> str | None:
    """The first row or cell in which two tables differ."""
    return sequence_difference(found.rows, wanted.rows, "row", lambda a, b: sequence_difference(a, b, "cell"))
