"""Spreadsheets as plain values: xlsx workbooks and CSV files that an application saved.

Invariant: a Book holds what a person sees in the cells (values as the application last calculated them) and how the
cells are shown; where and in which variant the file keeps it makes no difference.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import openpyxl
from openpyxl.utils import column_index_from_string
from openpyxl.utils.cell import coordinate_to_tuple

from verifiers.compare import mapping_difference, value_difference
from verifiers.package import Unreadable, check_package, opening

MAX_MERGED = 100_000
_MERGE = re.compile(rb'<(?:\w+:)?mergeCell\b[^>]*?\bref\s*=\s*["\']\$?([A-Z]{1,3})\$?(\d+):\$?([A-Z]{1,3})\$?(\d+)')

Value = Any  # str, int, float, bool, datetime or None


@dataclass(frozen=True)
class Cell:
    """One cell with content. value: as last calculated; formula: without blanks, in capitals, or None."""

    value: Value
    formula: str | None = None
    number_format: str = "General"
    bold: bool = False
    italic: bool = False
    fill: str | None = None  # RRGGBB of a solid background


@dataclass(frozen=True)
class Sheet:
    """One sheet: its cells by reference (`B7`), empty ones left out; frozen: (rows, columns) that stay in view."""

    name: str
    cells: Mapping[str, Cell]
    frozen: tuple[int, int] = (0, 0)
    hidden: bool = False

    def value(self, reference: str) -> Value:
        """A cell's value, None where it is empty."""
        cell = self.cells.get(reference)
        return None if cell is None else cell.value


@dataclass(frozen=True)
class Book:
    """A workbook: its sheets in order."""

    sheets: tuple[Sheet, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The sheets' names in order."""
        return tuple(sheet.name for sheet in self.sheets)

    @property
    def first(self) -> Sheet:
        """The first sheet."""
        return self.sheets[0]


def read_xlsx(data: bytes) -> Book:
    """A Book of an xlsx file's bytes. Raises verifiers.package.Unreadable."""
    check_package(data)
    _check_merges(data)
    with opening("xlsx workbook"):
        shown = openpyxl.load_workbook(io.BytesIO(data), data_only=True)
        written = openpyxl.load_workbook(io.BytesIO(data))
    if not shown.worksheets:
        raise Unreadable("a workbook without sheets")
    return Book(tuple(_sheet(a, b) for a, b in zip(shown.worksheets, written.worksheets, strict=True)))


def _check_merges(data: bytes) -> None:
    """Refuse merged ranges that openpyxl would unfold into millions of cells. Raises Unreadable."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                for left, top, right, bottom in _MERGE.findall(archive.read(name)):
                    columns = column_index_from_string(right.decode()) - column_index_from_string(left.decode()) + 1
                    if columns * (int(bottom) - int(top) + 1) > MAX_MERGED:
                        raise Unreadable(f"{name} merges more than {MAX_MERGED} cells into one")


def _sheet(shown: Any, written: Any) -> Sheet:
    # `_cells` holds the cells that the file has; the public iterators visit every one of a sheet's billions
    cells = {
        cell.coordinate: _cell(shown[cell.coordinate].value, cell)
        for cell in written._cells.values()
        if cell.value not in (None, "")
    }
    pane = written.sheet_view.pane
    still = pane is not None and pane.state in ("frozen", "frozenSplit")
    frozen = (int(pane.ySplit or 0), int(pane.xSplit or 0)) if still else (0, 0)
    return Sheet(written.title, dict(sorted(cells.items())), frozen, written.sheet_state != "visible")


def _cell(value: Value, cell: Any) -> Cell:
    fill = cell.fill.fgColor.rgb if cell.fill.fill_type == "solid" else None
    formula = str(getattr(cell.value, "text", cell.value)) if cell.data_type == "f" else None
    return Cell(
        value=value,
        formula=re.sub(r"\s", "", formula).upper() if formula else None,
        number_format=cell.number_format,
        bold=bool(cell.font.b),
        italic=bool(cell.font.i),
        fill=fill[-6:].upper() if isinstance(fill, str) else None,
    )


def read_csv(data: bytes, *, separator: str = ",") -> list[list[str]]:
    """The rows of a CSV file in UTF-8 (with or without mark), empty ones left out. Raises Unreadable."""
    with opening("CSV file"):
        text = io.StringIO(data.decode("utf-8-sig"), newline="")
        return [row for row in csv.reader(text, delimiter=separator) if any(row)]


def rows_of(sheet: Sheet) -> list[list[Value]]:
    """The sheet's values as rows from A1 to the last used cell (None where empty)."""
    places = {reference: coordinate_to_tuple(reference) for reference in sheet.cells}
    height = max((row for row, _ in places.values()), default=0)
    rows: list[list[Value]] = [[] for _ in range(height)]
    for reference, (row, column) in places.items():
        line = rows[row - 1]
        line.extend([None] * (column - len(line)))
        line[column - 1] = sheet.cells[reference].value
    return rows


def content_difference(found: Sheet, wanted: Sheet, *, ignore: Collection[str] = ()) -> str | None:
    """The first cell whose content differs, those in `ignore` aside.

    A formula must still be that formula, a constant that constant: a formula in its place counts as a change.
    """
    return mapping_difference(_content(found, ignore), _content(wanted, ignore), "cell", _same_content)


def style_difference(found: Sheet, wanted: Sheet, *, ignore: Collection[str] = ()) -> str | None:
    """The first cell that is shown otherwise (number format, bold, italic, background), those in `ignore` aside."""

    def style(cell: Cell) -> tuple[object, ...]:
        return plain_format(cell.number_format), cell.bold, cell.italic, cell.fill

    def look(sheet: Sheet) -> dict[str, tuple[object, ...]]:
        return {r: style(c) for r, c in sheet.cells.items() if r not in ignore}

    return mapping_difference(look(found), look(wanted), "the look of cell")


def sheet_difference(found: Sheet, wanted: Sheet, *, ignore: Collection[str] = ()) -> str | None:
    """The first difference of content or look, cells in `ignore` aside."""
    return content_difference(found, wanted, ignore=ignore) or style_difference(found, wanted, ignore=ignore)


def _content(sheet: Sheet, ignore: Collection[str]) -> dict[str, Cell]:
    return {reference: cell for reference, cell in sheet.cells.items() if reference not in ignore}


def _same_content(found: Cell, wanted: Cell) -> str | None:
    if found.formula or wanted.formula:
        return value_difference(found.formula, wanted.formula)
    return value_difference(found.value, wanted.value)


def plain_format(code: str) -> str:
    """A number format's section for positive numbers without its decoration: escapes, quotes, padding, colours.

    `#,##0.00_);[Red]\\(#,##0.00\\)` and `#,##0.00` both give `#,##0.00`.
    """
    section = code.split(";")[0]
    return re.sub(r'_.|\*.|\\|"|\[(?!\$)[^\]]*\]|\s', "", section)


def is_number_format(code: str, *, decimals: int, grouped: bool) -> bool:
    """Whether a format shows plain numbers with exactly so many decimals, with or without thousands separators."""
    match = re.fullmatch(r"(?P<whole>[#0,]*[0#])(?:\.(?P<part>0*))?", plain_format(code))
    return match is not None and len(match["part"] or "") == decimals and ("," in match["whole"]) == grouped


def table_difference(found: Sequence[Sequence[str]], wanted: Sequence[Sequence[Value]]) -> str | None:
    """The first field of a CSV table that differs from the wanted values; a number may be written in any way."""
    for n, (row, want) in enumerate(zip(found, wanted, strict=False), 1):
        for column, value in enumerate(want):
            text = row[column] if column < len(row) else ""
            if difference := value_difference(_as_like(text, value), value):
                return f"row {n}, field {column + 1}: {difference}"
        if any(row[len(want) :]):
            return f"row {n} has more than {len(want)} fields"
    return None if len(found) == len(wanted) else f"{len(found)} rows; wanted {len(wanted)}"


def _as_like(text: str, value: Value) -> Value:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(text)
        except ValueError:
            return text
    return text
