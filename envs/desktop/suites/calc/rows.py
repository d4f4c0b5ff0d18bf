"""Calc tasks about whole rows: an order, rows removed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from envs.desktop.suites.calc.tables import first_book, first_workbook, goto, table
from envs.desktop.suites.common import DONE, press, rng
from envs.desktop.suites.office import Steps, document_task, menu, opened, save, saved
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Edits, Family, Task
from verifiers.compare import Check, check, sequence_difference
from verifiers.package import judge
from verifiers.spreadsheet import Book, read_xlsx, rows_of

Rows = Sequence[Sequence[Any]]


def with_rows(change: Callable[[Task, list[list[Any]]], Rows]) -> Callable[[Task], Edits]:
    """The task's file with the rows under its header replaced."""

    def edits(task: Task) -> Edits:
        book = first_workbook(task)
        header, *rows = ([cell.value for cell in row] for row in book.active.iter_rows())
        book.active.delete_rows(1, book.active.max_row)
        for row in (header, *change(task, rows)):
            book.active.append(list(row))
        return {task.params["file"]: saved(book)}

    return edits


def verify_rows(task: Task, final: Final, wanted: Callable[[list[list[Any]]], Rows]) -> Verdict:
    """The first sheet holds its header and the wanted rows (made of the first ones), in order, from A1, and no more."""
    first = first_book(task)
    header, *rows = rows_of(first.first)

    def checks(book: Book) -> list[Check]:
        found = rows_of(book.first)

        def same(a: Sequence[Any], b: Sequence[Any]) -> str | None:
            return sequence_difference(a, b, "cell")

        return [
            check("sheets", sequence_difference(book.names, first.names, "sheet")),
            check("header", same(found[0] if found else [], header)),
            check("rows", sequence_difference(found[1:], wanted(rows), "row of data", same)),
        ]

    return judge(final, task.params["file"], read_xlsx, checks)


# --- calc_sort: rows put in order of a column, each staying whole


def make_sort(seed: int) -> Task:
    """Sort the rows by a column of distinct values, up or down."""
    random = rng("calc_sort", seed)
    data = table(random)
    role, descending = random.choice(("name", "count", "price")), random.choice((True, False))
    ways = {
        ("name", False): "alphabetically, from A to Z,", ("name", True): "in reverse alphabetical order (Z to A)",
        ("count", False): "from the smallest to the largest", ("count", True): "from the largest to the smallest",
        ("price", False): "in ascending order", ("price", True): "in descending order",
    }  # fmt: skip
    instruction = random.choice(
        (
            f"Sort the table by {data.title(role)!r} {ways[role, descending]} and save the spreadsheet. Rows must "
            "stay together, and the titles stay on top.",
            f"Put the rows of the open sheet in order of the column {data.title(role)!r}, "
            f"{ways[role, descending].rstrip(',')}, and save.",
        )
    )
    return document_task(
        "calc_sort", seed, instruction, app="calc", name=f"{data.trade.file}.xlsx", data=saved(data.book()),
        params={"column": data.columns[role], "index": data.order.index(role), "descending": descending},
    )  # fmt: skip


def _sorted(task: Task, rows: Rows, *, turned: bool = False) -> list[Sequence[Any]]:
    return sorted(rows, key=lambda row: row[task.params["index"]], reverse=task.params["descending"] != turned)


def _only_that_column(task: Task, rows: list[list[Any]]) -> Rows:
    index = task.params["index"]
    keys = [row[index] for row in _sorted(task, rows)]
    return [[*row[:index], key, *row[index + 1 :]] for row, key in zip(rows, keys, strict=True)]


def verify_sort(task: Task, final: Final) -> Verdict:
    """The same rows in the wanted order."""
    return verify_rows(task, final, lambda rows: _sorted(task, rows))


def oracle_sort(task: Task, view: Any) -> Steps:
    """With the cursor in the column, Data > Sort takes the table around it."""
    opened(view)
    yield from goto(f"{task.params['column']}2")
    yield from menu(view, "alt+d", "Sort Descending" if task.params["descending"] else "Sort Ascending")
    yield from save(view, task.params["file"])
    yield [DONE]


SORT = Family(
    "calc_sort", make_sort, verify_sort, oracle_sort,
    solutions={"sorted": with_rows(_sorted)},
    near_misses={
        "the other way": with_rows(lambda task, rows: _sorted(task, rows, turned=True)),
        "only that column": with_rows(_only_that_column),
        "last row left out": with_rows(lambda task, rows: [*_sorted(task, rows[:-1]), rows[-1]][::-1]),
        "a row lost": with_rows(lambda task, rows: _sorted(task, rows)[:-1]),
    },
)  # fmt: skip


# --- calc_delete_rows: the rows of one state removed


def make_delete(seed: int) -> Task:
    """Delete every row whose state is a given one."""
    random = rng("calc_delete_rows", seed)
    data = table(random)
    state = random.choice(data.trade.state[1])
    column = data.title("state")
    instruction = random.choice(
        (
            f"Delete all rows whose {column!r} is {state!r}, leaving no empty rows behind, and save the spreadsheet.",
            f"Remove every {state!r} entry (column {column!r}) from the table. The other rows close up and keep their "
            "order. Save the file.",
        )
    )
    return document_task(
        "calc_delete_rows", seed, instruction, app="calc", name=f"{data.trade.file}.xlsx", data=saved(data.book()),
        params={"index": data.order.index("state"), "state": state,
                "rows": [n for n, value in enumerate(data.values("state"), 2) if value == state]},
    )  # fmt: skip


def _kept(task: Task, rows: Rows) -> list[Sequence[Any]]:
    return [row for row in rows if row[task.params["index"]] != task.params["state"]]


def _blanked(task: Task, rows: list[list[Any]]) -> Rows:
    return [row if row in _kept(task, rows) else [] for row in rows]


def _all_but_one(task: Task, rows: list[list[Any]]) -> Rows:
    doomed = [row for row in rows if row not in _kept(task, rows)]
    return [row for row in rows if row not in doomed[1:]]


def verify_delete(task: Task, final: Final) -> Verdict:
    """The other rows, in their order, one below the other."""
    return verify_rows(task, final, lambda rows: _kept(task, rows))


def oracle_delete(task: Task, view: Any) -> Steps:
    """Each row from the lowest up: select it whole, Ctrl+minus."""
    opened(view)
    for n in reversed(task.params["rows"]):
        yield from goto(f"{n}:{n}")
        yield [press("ctrl+minus")]
    yield from save(view, task.params["file"])
    yield [DONE]


DELETE = Family(
    "calc_delete_rows", make_delete, verify_delete, oracle_delete,
    solutions={"deleted": with_rows(_kept)},
    near_misses={
        "emptied, not deleted": with_rows(_blanked), "one left": with_rows(_all_but_one),
        "one too many": with_rows(lambda task, rows: _kept(task, rows)[1:]),
        "in another order": with_rows(lambda task, rows: _kept(task, rows)[::-1]),
    },
)  # fmt: skip
