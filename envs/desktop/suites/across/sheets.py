"""Across two applications, one of them Calc: a note into a sheet, a sheet into a text, an invoice into a sheet."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Any

import openpyxl

from envs.desktop.suites import materials
from envs.desktop.suites.calc.tables import goto
from envs.desktop.suites.common import DONE, make_task, rng, typed
from envs.desktop.suites.gestures import (
    Oracle,
    editor,
    focus,
    name_of,
    office,
    save_as,
    viewer,
    wait_solved,
)  # fmt: skip
from envs.desktop.suites.materials import put
from envs.desktop.suites.office import save, saved
from envs.desktop.view import DesktopView
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Edits, Family, Task
from verifiers.compare import Check, check, sequence_difference
from verifiers.files import check_lines, put_files
from verifiers.package import judge
from verifiers.spreadsheet import Book, content_difference, read_xlsx

_DOCS = "~/Documents/"


def _book(rows: list[list[Any]], title: str = "List") -> bytes:
    book = openpyxl.Workbook()
    book.active.title = title
    book.active.column_dimensions["A"].width = 24
    for row in rows:
        book.active.append(row)
    return saved(book)


def _with_cells(data: bytes, cells: Mapping[str, Any]) -> bytes:
    book = openpyxl.load_workbook(io.BytesIO(data))
    for reference, value in cells.items():
        book.active[reference] = value
    return saved(book)


def _verify_cells(task: Task, final: Final) -> Verdict:
    """The sheet is the first one with `params["cells"]` written into it, and nothing else changed."""
    path = task.params["sheet"]
    want = read_xlsx(_with_cells(put_files(task)[path], task.params["cells"]))

    def checks(found: Book) -> list[Check]:
        difference = content_difference(found.first, want.first)
        return [check("sheets", sequence_difference(found.names, want.names)), check("cells", difference)]

    return judge(final, path, read_xlsx, checks)


def _cells_set(task: Task, cells: Mapping[str, Any] | None = None) -> Edits:
    path = task.params["sheet"]
    return {path: _with_cells(put_files(task)[path], task.params["cells"] if cells is None else cells)}


def _first_cell_only(task: Task) -> Edits:
    reference, value = next(iter(task.params["cells"].items()))
    return _cells_set(task, {reference: value})


def _as_text(task: Task) -> Edits:
    """The numbers are texts."""
    return _cells_set(task, {r: f"'{v}" for r, v in task.params["cells"].items()})


# -- numbers of a note into a sheet ------------------------------------------------------------------------------------


def _make_note(seed: int) -> Task:
    random_ = rng("across_note_to_sheet", seed)
    stations = random_.sample(materials.PLACES, 6)
    values = {s: random_.randint(101, 4999) / 10 for s in stations}
    noted = random_.sample(stations, 4)
    talk = random_.sample(materials.NOTES, 5)
    note = "\n".join(f"{talk[n]}\n{s}: {values[s]} mm" for n, s in enumerate(noted)) + f"\n{talk[4]}\n"
    known = {s: values[s] for s in stations if s not in noted}
    rows: list[list[Any]] = [["Station", "Rain (mm)"], *([s, known.get(s)] for s in stations)]
    cells = {f"B{n}": values[s] for n, s in enumerate(stations, 2) if s in noted}
    sheet, text = f"{_DOCS}rain.xlsx", f"{_DOCS}rounds.txt"
    instruction = random_.choice(
        (
            "The note that is open has the rain of four stations. Enter these numbers into the empty cells of the "
            "sheet rain.xlsx, each beside its station, and save the sheet.",
            "Fill the gaps in column B of rain.xlsx with the readings in rounds.txt (the number alone, without the "
            "unit) and save the workbook.",
        )
    )
    return make_task(
        "across_note_to_sheet",
        seed,
        instruction,
        tags=("across", "editor", "calc"),
        params={"sheet": sheet, "cells": cells},
        setup=(*put({sheet: _book(rows), text: note}), editor(text), office("calc", sheet)),
        writable=(sheet,),
    )


def _play_cells(task: Task, view: DesktopView) -> Oracle:
    yield from focus(view, re.escape(name_of(task.params["sheet"])))
    for reference, value in task.params["cells"].items():
        yield from goto(reference)
        yield [typed(f"{value}\n")]
    yield from save(view, task.params["sheet"])
    wait_solved(view, task, _verify_cells)
    yield [DONE]


def _shifted(task: Task) -> Edits:
    """The numbers stand beside the wrong stations."""
    cells = task.params["cells"]
    values = list(cells.values())
    return _cells_set(task, dict(zip(cells, values[1:] + values[:1], strict=True)))


# -- rows of a sheet into a text ---------------------------------------------------------------------------------------


def _make_order(seed: int) -> Task:
    random_ = rng("across_sheet_to_text", seed)
    goods = random_.sample(materials.GOODS, 12)
    low = set(random_.sample(goods, random_.randint(3, 5)))
    least = random_.choice((20, 30, 50))
    stock = {g: random_.randint(0, least - 1) if g in low else random_.randint(least, 4 * least) for g in goods}
    stock[next(g for g in goods if g not in low)] = least
    rows: list[list[Any]] = [["Goods", "Stock", "Shelf"]]
    rows += [[g, stock[g], f"{random_.choice('ABC')}{random_.randint(1, 9)}"] for g in goods]
    sheet, answer = f"{_DOCS}store.xlsx", f"{_DOCS}{random_.choice(('order', 'missing', 'shopping'))}.txt"
    instruction = random_.choice(
        (
            f"Which goods in the open sheet have a stock below {least}? Write their names, one a line and nothing "
            f"else, into a new text file {answer.removeprefix('~/')}.",
            f"Make the text file {answer.removeprefix('~/')} with a line for each of the goods in store.xlsx of which "
            f"fewer than {least} are in stock: just the name.",
        )
    )
    return make_task(
        "across_sheet_to_text",
        seed,
        instruction,
        tags=("across", "calc", "editor"),
        params={
            "answer": answer,
            "goods": [g for g in goods if g in low],
            "edge": [g for g in goods if stock[g] <= least],
        },
        setup=(*put({sheet: _book(rows)}), editor(), office("calc", sheet)),
        writable=(answer,),
    )


def _verify_order(task: Task, final: Final) -> Verdict:
    return Verdict.of(check_lines("names", final.state, task.params["answer"], task.params["goods"], ordered=False))


def _play_order(task: Task, view: DesktopView) -> Oracle:
    yield from focus(view, "Mousepad")
    yield [typed("\n".join(task.params["goods"]) + "\n")]
    yield from save_as(view, task.params["answer"])
    wait_solved(view, task, _verify_order)
    yield [DONE]


def _lines(task: Task, lines: list[str]) -> Edits:
    return {task.params["answer"]: "".join(f"{line}\n" for line in lines).encode()}


# -- an invoice's total into a sheet -----------------------------------------------------------------------------------


def _make_invoice(seed: int) -> Task:
    random_ = rng("across_invoice_to_sheet", seed)
    firms = random_.sample(materials.NAMES, 5)
    numbers = [materials.code(random_) for _ in firms]
    goods = random_.sample(materials.GOODS, 5)
    counts, prices = [random_.randint(2, 30) for _ in goods], [random_.randint(150, 9900) for _ in goods]
    net = sum(c * p for c, p in zip(counts, prices, strict=True))
    freight = random_.randint(500, 4000)
    lines = [f"Invoice {numbers[2]}\t{firms[2]} & Co", ""]
    lines += [f"{c} {g}\t{c * p / 100:.2f}" for c, g, p in zip(counts, goods, prices, strict=True)]
    lines += ["", f"Sum of goods\t{net / 100:.2f}", f"Freight\t{freight / 100:.2f}"]
    lines += [f"Total to pay\t{(net + freight) / 100:.2f}"]
    conditions = [
        *materials.prose(random_, 4).splitlines(),
        f"Deposit paid before\t{random_.randint(100, 999) / 100:.2f}",
    ]
    pdf = materials.pdf([("Invoice", lines), ("Conditions", conditions)], "invoice")
    rows: list[list[Any]] = [["Number", "Firm", "Total"]]
    rows += [
        [n, f, None if i == 2 else random_.randint(1000, 99999) / 100]
        for i, (n, f) in enumerate(zip(numbers, firms, strict=True))
    ]
    random_.shuffle(rows[1:])
    order = rows[1:]
    random_.shuffle(order)
    rows = [rows[0], *order]
    cell = f"C{next(n for n, row in enumerate(rows, 1) if row[2] is None)}"
    sheet, invoice = f"{_DOCS}payments.xlsx", "~/Downloads/invoice.pdf"
    instruction = random_.choice(
        (
            "Enter the total to pay of the open invoice into the Total column of payments.xlsx, in the row of that "
            "invoice, and save the sheet.",
            "One invoice in payments.xlsx has no total yet. Look it up in the PDF (the total to pay), enter it, "
            "and save.",
        )
    )
    return make_task(
        "across_invoice_to_sheet",
        seed,
        instruction,
        tags=("across", "pdf", "calc"),
        params={"sheet": sheet, "cells": {cell: (net + freight) / 100}, "net": net / 100},
        setup=(
            *put({sheet: _book(rows), invoice: pdf}),
            viewer("pdf", invoice, title="invoice"),
            office("calc", sheet),
        ),
        writable=(sheet,),
    )


def _net_instead(task: Task) -> Edits:
    """The sum without the freight."""
    return _cells_set(task, dict.fromkeys(task.params["cells"], task.params["net"]))


def _wrong_row(task: Task) -> Edits:
    """The total stands below the list."""
    return _cells_set(task, {"C8": next(iter(task.params["cells"].values()))})


FAMILIES = (
    Family(
        "across_note_to_sheet",
        _make_note,
        _verify_cells,
        _play_cells,
        solutions={"entered": _cells_set},
        near_misses={"shifted": _shifted, "first only": _first_cell_only, "as texts": _as_text},
    ),
    Family(
        "across_sheet_to_text",
        _make_order,
        _verify_order,
        _play_order,
        solutions={
            "in order": lambda task: _lines(task, task.params["goods"]),
            "sorted": lambda task: _lines(task, sorted(task.params["goods"])),
        },
        near_misses={
            "one missing": lambda task: _lines(task, task.params["goods"][1:]),
            "edge counted": lambda task: _lines(task, task.params["edge"]),
        },
    ),
    Family(
        "across_invoice_to_sheet",
        _make_invoice,
        _verify_cells,
        _play_cells,
        solutions={"entered": _cells_set},
        near_misses={"without freight": _net_instead, "wrong row": _wrong_row, "as text": _as_text},
    ),
)
