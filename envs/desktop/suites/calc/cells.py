"""Calc tasks about the content and the look of cells: a total, a formula filled down, replacing, formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import mean
from typing import Any

from openpyxl.styles import Font

from envs.desktop.suites.calc.tables import edited, first_book, goto, table, untouched, writing
from envs.desktop.suites.common import DONE, press, rng, typed
from envs.desktop.suites.office import Steps, document_task, opened, replace_all, save, saved
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Edits, Family, Task
from verifiers.compare import Check, check, number_difference, sequence_difference
from verifiers.package import judge
from verifiers.spreadsheet import Book, content_difference, is_number_format, read_xlsx, style_difference

SUMMARIES: dict[str, tuple[str, Callable[[Iterable[float]], float]]] = {
    "SUM": ("sum", sum),
    "AVERAGE": ("average", lambda values: mean(list(values))),
    "MAX": ("largest value", max),
    "MIN": ("smallest value", min),
}


# --- calc_summary: one figure of one column, in a given cell


def make_summary(seed: int) -> Task:
    """Put the sum, average, largest or smallest value of a column into a named cell."""
    random = rng("calc_summary", seed)
    data = table(random)
    role, function = random.choice(("count", "price")), random.choice(tuple(SUMMARIES))
    column = data.columns[role]
    cell = random.choice((f"{column}{data.last + 2}", "H2", "G4", f"{column}{data.last + 1}"))
    phrase = SUMMARIES[function][0]
    instruction = random.choice(
        (
            f"Put the {phrase} of the {data.title(role)!r} column into cell {cell} of the open sheet, then save it.",
            f"What is the {phrase} of all entries under {data.title(role)!r}? Write it into {cell} of the sheet, as a "
            "formula or as a number, and save the file in place.",
            f"I need the {phrase} of the column {data.title(role)!r} in cell {cell}. Change nothing else, then save.",
        )
    )
    return document_task(
        "calc_summary", seed, instruction, app="calc", name=f"{data.trade.file}.xlsx", data=saved(data.book()),
        params={"cell": cell, "value": SUMMARIES[function][1](data.values(role)),
                "formula": f"={function}({column}2:{column}{data.last})", "last": f"{column}{data.last}"},
    )  # fmt: skip


def verify_summary(task: Task, final: Final) -> Verdict:
    """The cell shows the figure (a hundredth of rounding allowed), and nothing else changed."""
    cell = task.params["cell"]

    def checks(book: Book) -> list[Check]:
        value = number_difference(book.first.value(cell), task.params["value"], abs_tol=0.0051)
        return [check("value", value and f"cell {cell}: {value}"), *untouched(task, book, ignore=[cell])]

    return judge(final, task.params["file"], read_xlsx, checks)


def oracle_summary(task: Task, view: Any) -> Steps:
    """Name Box, formula, save."""
    opened(view)
    yield from goto(task.params["cell"])
    yield [typed(task.params["formula"] + "\n")]
    yield from save(view, task.params["file"])
    yield [DONE]


SUMMARY = Family(
    "calc_summary", make_summary, verify_summary, oracle_summary,
    solutions={
        "number": writing(lambda t: {t.params["cell"]: t.params["value"]}),
        "rounded": writing(lambda t: {t.params["cell"]: round(t.params["value"], 2)}),
        "formula": writing(
            lambda t: {t.params["cell"]: t.params["formula"]}, lambda t: {t.params["cell"]: t.params["value"]}
        ),
    },
    near_misses={
        "another cell": writing(lambda t: {"I3": t.params["value"]}),
        "wrong value": writing(lambda t: {t.params["cell"]: t.params["value"] + 1}),
        "a text": writing(lambda t: {t.params["cell"]: str(t.params["value"])}),
        "never calculated": writing(lambda t: {t.params["cell"]: t.params["formula"]}),
        "data damaged": writing(lambda t: {t.params["cell"]: t.params["value"], t.params["last"]: 1}),
    },
)  # fmt: skip


# --- calc_fill: a column computed from two others, for every row


def make_fill(seed: int) -> Task:
    """Fill a prepared empty column with the product of two others."""
    random = rng("calc_fill", seed)
    data = table(random)
    book = data.book()
    target = chr(ord("A") + len(data.order))
    book.active[f"{target}1"] = data.trade.total
    a, b = data.title("count"), data.title("price")
    instruction = random.choice(
        (
            f"Fill the empty column {data.trade.total!r}: in each row it is {a!r} times {b!r}. Save the spreadsheet.",
            f"For every row compute {a} × {b} in the column {data.trade.total!r}, then save the file.",
            f"The column {data.trade.total!r} is still empty. Multiply {a!r} by {b!r} row by row and save the result "
            "in the same file.",
        )
    )
    products = [n * price for n, price in zip(data.values("count"), data.values("price"), strict=True)]
    return document_task(
        "calc_fill", seed, instruction, app="calc", name=f"{data.trade.file}.xlsx", data=saved(book),
        params={"column": target, "values": products,
                "formula": f"={data.columns['count']}{{row}}*{data.columns['price']}{{row}}"},
    )  # fmt: skip


def _fill_cells(task: Task) -> dict[str, float]:
    return {f"{task.params['column']}{n}": value for n, value in enumerate(task.params["values"], 2)}


def verify_fill(task: Task, final: Final) -> Verdict:
    """Every row's product is there, and nothing else changed."""
    cells = _fill_cells(task)

    def checks(book: Book) -> list[Check]:
        found = [book.first.value(cell) for cell in cells]

        def same(a: Any, b: float) -> str | None:
            return number_difference(a, b, abs_tol=0.0051)

        values = sequence_difference(found, list(cells.values()), "row of data", same)
        return [check("values", values), *untouched(task, book, ignore=cells)]

    return judge(final, task.params["file"], read_xlsx, checks)


def oracle_fill(task: Task, view: Any) -> Steps:
    """Select the column's cells, type the first row's formula, and fill the selection with it."""
    opened(view)
    cells = list(_fill_cells(task))
    yield from goto(f"{cells[0]}:{cells[-1]}")
    yield [typed(task.params["formula"].format(row=2))]
    yield [press("alt+Return")]
    yield from save(view, task.params["file"])
    yield [DONE]


def _some(rows: slice, factor: float = 1) -> Callable[[Task], dict[str, float]]:
    return lambda task: {cell: value * factor for cell, value in list(_fill_cells(task).items())[rows]}


def _low(task: Task) -> dict[str, float]:
    return {f"{task.params['column']}{n}": value for n, value in enumerate(task.params["values"], 3)}


def _formulas(task: Task) -> dict[str, str]:
    return {cell: task.params["formula"].format(row=n) for n, cell in enumerate(_fill_cells(task), 2)}


FILL = Family(
    "calc_fill", make_fill, verify_fill, oracle_fill,
    solutions={"numbers": writing(_fill_cells), "formulas": writing(_formulas, _fill_cells)},
    near_misses={
        "first row only": writing(_some(slice(1))), "last row left out": writing(_some(slice(-1))),
        "one row too low": writing(_low), "wrong figures": writing(_some(slice(None), factor=2)),
    },
)  # fmt: skip


# --- calc_replace: a value of one column replaced, the same word elsewhere left alone


def make_replace(seed: int) -> Task:
    """Replace one kind by another word in its column; the word stands in another column too, where it stays."""
    random = rng("calc_replace", seed)
    data = table(random)
    old = random.choice(data.trade.kind[1])
    new = random.choice(("Depot", "Hillside", "Riverside", "Old mill", "Quay"))
    book = data.book()
    remarks = chr(ord("A") + len(data.order))
    book.active[f"{remarks}1"] = "Remarks"
    remarked = [f"{remarks}{n}" for n in random.sample(range(2, data.last + 1), 3)]
    for cell in remarked:
        book.active[cell] = f"moved from {old}"
    column = data.title("kind")
    instruction = random.choice(
        (
            f"In the column {column!r}, replace every {old!r} by {new!r}. Leave the other columns alone and save.",
            f"{old!r} is now called {new!r}. Update the {column!r} column accordingly (not the remarks) and save the "
            "spreadsheet.",
        )
    )
    rows = [n for n, value in enumerate(data.values("kind"), 2) if value == old]
    return document_task(
        "calc_replace", seed, instruction, app="calc", name=f"{data.trade.file}.xlsx", data=saved(book),
        params={"column": data.columns["kind"], "rows": rows, "old": old, "new": new, "last": data.last,
                "remarks": remarked, "beside": remarks},
    )  # fmt: skip


def verify_replace(task: Task, final: Final) -> Verdict:
    """Each such cell of the column holds the new word, and nothing else changed."""
    cells = [f"{task.params['column']}{n}" for n in task.params["rows"]]

    def checks(book: Book) -> list[Check]:
        found = [book.first.value(cell) for cell in cells]
        values = sequence_difference(found, [task.params["new"]] * len(cells), "replaced cell")
        return [check("replaced", values), *untouched(task, book, ignore=cells)]

    return judge(final, task.params["file"], read_xlsx, checks)


def oracle_replace(task: Task, view: Any) -> Steps:
    """Select the column's data; Find and Replace then works on the selection alone."""
    opened(view)
    column = task.params["column"]
    yield from goto(f"{column}2:{column}{task.params['last']}")
    yield from replace_all(view, task.params["old"], task.params["new"])
    yield from save(view, task.params["file"])
    yield [DONE]


def _replaced(rows: slice = slice(None), column: str = "column") -> Callable[[Task], dict[str, str]]:
    return lambda t: {f"{t.params[column]}{n}": t.params["new"] for n in t.params["rows"][rows]}


def _remarks_too(task: Task) -> dict[str, str]:
    return {**_replaced()(task), **dict.fromkeys(task.params["remarks"], f"moved from {task.params['new']}")}


REPLACE = Family(
    "calc_replace", make_replace, verify_replace, oracle_replace,
    solutions={"replaced": writing(_replaced())},
    near_misses={
        "remarks too": writing(_remarks_too), "one left": writing(_replaced(slice(1, None))),
        "in the wrong column": writing(_replaced(column="beside")),
    },
)  # fmt: skip


# --- calc_format: a number format for a column and a bold header


def make_format(seed: int) -> Task:
    """Show a column with two decimals and thousands separators, and make the header row bold."""
    random = rng("calc_format", seed)
    data = table(random)
    instruction = random.choice(
        (
            f"Show the numbers under {data.title('price')!r} with two decimals and a thousands separator, make the "
            "header row bold, and save.",
            f"Make the column titles in row 1 bold and format the {data.title('price')!r} column like 1,234.50. Save "
            "the spreadsheet.",
        )
    )
    column = data.columns["price"]
    return document_task(
        "calc_format", seed, instruction, app="calc", name=f"{data.trade.file}.xlsx", data=saved(data.book()),
        params={"cells": [f"{column}{n}" for n in range(2, data.last + 1)],
                "header": [f"{letter}1" for letter in sorted(data.columns.values())]},
    )  # fmt: skip


def verify_format(task: Task, final: Final) -> Verdict:
    """The cells have such a format (in any variant), the titles are bold; no content and no other look changed."""
    cells, header = task.params["cells"], task.params["header"]

    def checks(book: Book) -> list[Check]:
        found, first = book.first.cells, first_book(task).first
        shown = {c: found[c].number_format for c in cells if c in found}
        wrong = [c for c, code in shown.items() if not is_number_format(code, decimals=2, grouped=True)]
        plain = [c for c in header if c in found and not found[c].bold]
        looks = style_difference(book.first, first, ignore=[*cells, *header])
        heavy = [c for c in cells if c in found and found[c].bold]
        return [
            ("format", not wrong, f"cell {wrong[0]} is shown as {shown[wrong[0]]!r}" if wrong else ""),
            ("bold", not plain, f"cell {plain[0]} is not bold" if plain else ""),
            ("others", not heavy and not looks, looks or f"{heavy} bold too"),
            check("content", content_difference(book.first, first)),
            check("sheets", sequence_difference(book.names, (first.name,), "sheet")),
        ]

    return judge(final, task.params["file"], read_xlsx, checks)


def oracle_format(task: Task, view: Any) -> Steps:
    """Ctrl+Shift+1 is that number format, Ctrl+B bold."""
    opened(view)
    cells, header = task.params["cells"], task.params["header"]
    yield from goto(f"{cells[0]}:{cells[-1]}")
    yield [press("ctrl+shift+1")]
    yield from goto(f"{header[0]}:{header[-1]}")
    yield [press("ctrl+b")]
    yield from save(view, task.params["file"])
    yield [DONE]


def _formatted(code: str = "#,##0.00", skip: int = 0, bold: str = "header") -> Callable[[Task], Edits]:
    def edit(book: Any, task: Task) -> None:
        for cell in task.params["cells"][skip:]:
            book.active[cell].number_format = code
        for cell in task.params["header"] + (task.params["cells"] if bold == "all" else []):
            book.active[cell].font = Font(bold=bold != "none")

    return edited(edit)


FORMAT = Family(
    "calc_format", make_format, verify_format, oracle_format,
    solutions={"plain": _formatted(), "accounting": _formatted("#,##0.00_);[Red]\\(#,##0.00\\)")},
    near_misses={
        "three decimals": _formatted("#,##0.000"), "no separator": _formatted("0.00"),
        "a currency": _formatted("[$$-409]#,##0.00"), "one cell left": _formatted(skip=1),
        "header not bold": _formatted(bold="none"), "column bold too": _formatted(bold="all"),
    },
)  # fmt: skip
