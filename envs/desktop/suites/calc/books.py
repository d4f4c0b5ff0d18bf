"""Calc tasks about the workbook: its sheets, its frozen header, a copy as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

from envs.desktop.suites.calc.tables import edited, first_book, goto, table, untouched
from envs.desktop.suites.common import DONE, press, rng, typed
from envs.desktop.suites.office import DOCUMENTS, Steps, document_task, menu, opened, save, saved
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Edits, Family, Task
from verifiers.compare import Check, check, sequence_difference
from verifiers.package import judge
from verifiers.spreadsheet import Book, read_csv, read_xlsx, rows_of, sheet_difference, table_difference

# --- calc_sheets: a sheet renamed, another added at the end


def make_sheets(seed: int) -> Task:
    """Rename the sheet and add an empty one after it."""
    random = rng("calc_sheets", seed)
    data = table(random)
    new = f"{data.trade.sheet} {random.randint(2019, 2031)}"
    added = random.choice(("Summary", "Notes", "Archive", "Checks", "Sources"))
    instruction = random.choice(
        (
            f"Rename the sheet {data.trade.sheet!r} to {new!r}, add an empty sheet named {added!r} after it, and save.",
            f"In the open spreadsheet, give the sheet the name {new!r} and append a new blank sheet {added!r} at the "
            "end. Save the file in place.",
        )
    )
    return document_task(
        "calc_sheets", seed, instruction, app="calc", name=f"{data.trade.file}.xlsx", data=saved(data.book()),
        params={"names": [new, added]},
    )  # fmt: skip


def verify_sheets(task: Task, final: Final) -> Verdict:
    """Two sheets of these names in this order; the first as it was, the second empty."""

    def checks(book: Book) -> list[Check]:
        return [
            check("names", sequence_difference(book.names, task.params["names"], "sheet")),
            check("data", sheet_difference(book.first, first_book(task).first)),
            ("shown", not any(sheet.hidden for sheet in book.sheets), "a sheet is hidden"),
            ("empty", all(not sheet.cells for sheet in book.sheets[1:]), "the new sheet is not empty"),
        ]

    return judge(final, task.params["file"], read_xlsx, checks)


def oracle_sheets(task: Task, view: Any) -> Steps:
    """The Sheet menu's two dialogs, and save."""
    opened(view)
    new, added = task.params["names"]
    yield from menu(view, "alt+s", "Rename Sheet...")
    view.wait_window("Rename Sheet")
    yield [press("ctrl+a"), typed(new + "\n")]
    view.wait_window("Rename Sheet", gone=True)
    yield from menu(view, "alt+s", "Insert Sheet at End...")
    view.wait_window("Append Sheet")
    yield [press("ctrl+a"), typed(added + "\n")]
    view.wait_window("Append Sheet", gone=True)
    yield from save(view, task.params["file"])
    yield [DONE]


def _sheets(names: Callable[[list[str]], list[str | None]]) -> Callable[[Task], Edits]:
    def edit(book: Any, task: Task) -> None:
        first, *more = names(task.params["names"])
        if first:
            book.active.title = first
        for name in more:
            book.create_sheet(name)

    return edited(edit)


def _before(book: Any, task: Task) -> None:
    book.active.title, added = task.params["names"]
    book.create_sheet(added, 0)


SHEETS = Family(
    "calc_sheets", make_sheets, verify_sheets, oracle_sheets,
    solutions={"both": _sheets(lambda names: [*names])},
    near_misses={
        "renamed only": _sheets(lambda names: [names[0]]), "added only": _sheets(lambda names: [None, names[1]]),
        "the wrong way round": _sheets(lambda names: [*names[::-1]]), "added in front": edited(_before),
    },
)  # fmt: skip


# --- calc_freeze: the header (and perhaps the first column) kept in view


def make_freeze(seed: int) -> Task:
    """Freeze the first row, or the first row and the first column."""
    random = rng("calc_freeze", seed)
    data = table(random, range(14, 17))
    columns = random.choice((0, 1))
    what = "the header row and the first column" if columns else "the header row"
    instruction = random.choice(
        (
            f"Freeze {what} so that scrolling leaves {'them' if columns else 'it'} in view, and save the spreadsheet.",
            f"When I scroll in this sheet, {what} should stay visible{'' if columns else ' (rows only, no column)'}. "
            "Set that up and save.",
        )
    )
    return document_task(
        "calc_freeze", seed, instruction, app="calc", name=f"{data.trade.file}.xlsx", data=saved(data.book()),
        params={"frozen": [1, columns]},
    )  # fmt: skip


def verify_freeze(task: Task, final: Final) -> Verdict:
    """Exactly those rows and columns are frozen, and no cell changed."""
    rows, columns = task.params["frozen"]

    def checks(book: Book) -> list[Check]:
        found = book.first.frozen
        reason = f"{found[0]} rows and {found[1]} columns are frozen; wanted {rows} and {columns}"
        return [("frozen", found == (rows, columns), reason), *untouched(task, book)]

    return judge(final, task.params["file"], read_xlsx, checks)


def oracle_freeze(task: Task, view: Any) -> Steps:
    """View > Freeze Rows and Columns freezes what lies above and left of the cursor."""
    opened(view)
    yield from goto("B2" if task.params["frozen"][1] else "A2")
    yield from menu(view, "alt+v", "Freeze Rows and Columns", role="check menu item")
    yield from save(view, task.params["file"])
    yield [DONE]


def _frozen(rows: Callable[[int], int], columns: Callable[[int], int]) -> Callable[[Task], Edits]:
    def edit(book: Any, task: Task) -> None:
        down, right = task.params["frozen"]
        book.active.freeze_panes = book.active.cell(rows(down) + 1, columns(right) + 1)

    return edited(edit)


FREEZE = Family(
    "calc_freeze", make_freeze, verify_freeze, oracle_freeze,
    solutions={"frozen": _frozen(lambda n: n, lambda n: n)},
    near_misses={
        "two rows": _frozen(lambda n: 2, lambda n: n), "the other columns": _frozen(lambda n: n, lambda n: 1 - n),
        "no row": _frozen(lambda n: 0, lambda n: 1),
    },
)  # fmt: skip


# --- calc_csv: a copy as CSV beside the workbook


def make_csv(seed: int) -> Task:
    """Save a copy as CSV under a given name in the same folder."""
    random = rng("calc_csv", seed)
    data = table(random)
    name = random.choice((f"{data.trade.file}.csv", f"{data.trade.file}_export.csv", "for_import.csv"))
    instruction = random.choice(
        (
            f"Save a copy of this sheet as a comma-separated text file named {name} in the same folder. Keep the "
            "spreadsheet itself as it is.",
            f"I need the open table as CSV: write it, with commas between the fields, to {name} next to the "
            "spreadsheet.",
        )
    )
    return document_task(
        "calc_csv", seed, instruction, app="calc", name=f"{data.trade.file}.xlsx", data=saved(data.book()),
        params={"csv": f"{DOCUMENTS}/{name}"}, makes=[name],
    )  # fmt: skip


def verify_csv(task: Task, final: Final) -> Verdict:
    """The CSV file holds the table's rows, and the workbook is unchanged."""
    wanted = rows_of(first_book(task).first)
    copied = judge(final, task.params["csv"], read_csv, lambda rows: [check("csv", table_difference(rows, wanted))])
    kept = judge(final, task.params["file"], read_xlsx, lambda book: untouched(task, book))
    return copied.also(kept)


def oracle_csv(task: Task, view: Any) -> Steps:
    """File > Save a Copy takes the format from the name's ending."""
    opened(view)
    yield from menu(view, "alt+f", "Save a Copy...")
    view.wait_window("Save a Copy")
    yield [press("ctrl+a"), typed(task.params["csv"].rpartition("/")[2] + "\n")]
    view.wait_window("Export Text File")
    yield [press("Return")]
    view.wait_until(lambda: bool(view.state.files(task.params["csv"])), "the CSV file to be written")
    view.wait_window("Export Text File", gone=True)
    yield [DONE]


def _csv(
    change: Callable[[list[list[Any]]], list[list[Any]]] = list, separator: str = ",", name: str | None = None
) -> Callable[[Task], Edits]:
    def edits(task: Task) -> Edits:
        text = io.StringIO()
        csv.writer(text, delimiter=separator).writerows(change(rows_of(first_book(task).first)))
        return {name or task.params["csv"]: text.getvalue().encode()}

    return edits


CSV = Family(
    "calc_csv", make_csv, verify_csv, oracle_csv,
    solutions={
        "commas": _csv(), "two decimals": _csv(lambda rows: [[_two(v) for v in row] for row in rows]),
    },
    near_misses={
        "no header": _csv(lambda rows: rows[1:]), "a row short": _csv(lambda rows: rows[:-1]),
        "semicolons": _csv(separator=";"), "another name": _csv(name=f"{DOCUMENTS}/table.csv"),
    },
)  # fmt: skip


def _two(value: Any) -> Any:
    return f"{value:.2f}" if isinstance(value, float) else value
