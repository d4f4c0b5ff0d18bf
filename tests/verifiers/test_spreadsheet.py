"""Workbooks read as values: content and look, whatever way the file keeps them."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import openpyxl
import pytest
from openpyxl.styles import Font, PatternFill

from verifiers.spreadsheet import (
    Book,
    content_difference,
    is_number_format,
    read_csv,
    read_xlsx,
    rows_of,
    sheet_difference,
    table_difference,
)


def book(edit: Callable[[Any], None] = lambda sheet: None) -> Book:
    """A small workbook, edited."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for row in (["Item", "Units"], ["Rope", 3], ["Lamp", 4.5], [None, "=SUM(B2:B3)"]):
        sheet.append(row)
    edit(sheet)
    out = io.BytesIO()
    workbook.save(out)
    return read_xlsx(out.getvalue())


@pytest.mark.parametrize(
    ("reference", "value"), [("B2", 4), ("B2", "3"), ("A3", "lamp"), ("C1", "new"), ("B3", None), ("B4", 7.5)]
)
def test_any_changed_cell_is_a_difference(reference: str, value: object) -> None:
    def edit(sheet: Any) -> None:
        sheet[reference] = value

    difference = sheet_difference(book(edit).first, book().first)
    assert difference is not None and reference in difference
    assert sheet_difference(book(edit).first, book().first, ignore=[reference]) is None


def test_how_a_formula_is_spelt_makes_no_difference() -> None:
    def edit(sheet: Any) -> None:
        sheet["B4"] = "=sum( B2:B3 )"

    assert content_difference(book(edit).first, book().first) is None


@pytest.mark.parametrize(
    "style",
    [{"font": Font(bold=True)}, {"font": Font(italic=True)}, {"number_format": "0.00"},
     {"fill": PatternFill("solid", fgColor="FFFF00")}],
    ids=["bold", "italic", "number format", "background"],
)  # fmt: skip
def test_a_changed_look_is_a_difference_of_the_sheet_but_not_of_its_content(style: dict[str, Any]) -> None:
    def edit(sheet: Any) -> None:
        for name, value in style.items():
            setattr(sheet["B2"], name, value)

    assert "B2" in (sheet_difference(book(edit).first, book().first) or "")
    assert content_difference(book(edit).first, book().first) is None


@pytest.mark.parametrize(
    "code", ["#,##0.00", "#,##0.00;[RED]-#,##0.00", r"#,##0.00_);[Red]\(#,##0.00\)", "_-* #,##0.00_-;-* #,##0.00_-"]
)
def test_variants_of_a_number_format_are_one(code: str) -> None:
    assert is_number_format(code, decimals=2, grouped=True)


@pytest.mark.parametrize(
    "code", ["General", "0.00", "#,##0", "#,##0.000", "[$€-407]#,##0.00", '#,##0.00" kg"', "0.00%", "yyyy-mm-dd", "@"]
)
def test_other_number_formats_are_not_it(code: str) -> None:
    assert not is_number_format(code, decimals=2, grouped=True)


def test_frozen_rows_and_columns_and_hidden_sheets_are_seen() -> None:
    def edit(sheet: Any) -> None:
        sheet.freeze_panes = "B3"
        sheet.parent.create_sheet("Aside").sheet_state = "hidden"

    found = book(edit)
    assert found.first.frozen == (2, 1)
    assert [sheet.hidden for sheet in found.sheets] == [False, True]
    assert book().first.frozen == (0, 0)


def test_a_far_away_cell_costs_no_walk_through_the_sheet() -> None:
    def edit(sheet: Any) -> None:
        sheet["XFD1048576"] = 1

    assert book(edit).first.value("XFD1048576") == 1


def test_rows_are_those_of_the_sheet() -> None:
    assert rows_of(book().first) == [["Item", "Units"], ["Rope", 3], ["Lamp", 4.5], [None, None]]


def test_csv_numbers_agree_however_they_are_written_and_texts_as_they_are() -> None:
    wanted: list[list[object]] = [["Item", "Units"], ["Rope, thick", 3], ["Lamp", 4.5]]
    assert table_difference(read_csv(b'\xef\xbb\xbfItem,Units\r\n"Rope, thick",3.00\r\nLamp,4.5\r\n'), wanted) is None
    assert "row 2, field 2" in (table_difference(read_csv(b'Item,Units\n"Rope, thick",30\nLamp,4.5\n'), wanted) or "")
    assert "more than 2" in (table_difference(read_csv(b'Item,Units\n"Rope, thick",3,x\nLamp,4.5\n'), wanted) or "")
    assert table_difference(read_csv(b'Item,Units\n"Rope, thick",3\n'), wanted) == "2 rows; wanted 3"
    assert table_difference(read_csv(b"Item;Units\n"), wanted[:1]) is not None
