"""The tables that the Calc tasks are about: five trades, each with a name, a kind, a count, a price and a state a row.

Invariant: names, counts and prices are distinct within a table, so an order by any of them is one order.
"""

from __future__ import annotations

import io
import random
import re
import zipfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import openpyxl
from openpyxl.utils import get_column_letter

from envs.desktop.suites.common import press, typed
from envs.desktop.suites.office import Steps, first_bytes, saved
from guiforge.task import Edits, Task
from verifiers.compare import Check, check, sequence_difference
from verifiers.spreadsheet import Book, read_xlsx, sheet_difference


@dataclass(frozen=True)
class Trade:
    """What a table is about. Each column is (header, what its values are taken from)."""

    file: str
    sheet: str
    name: tuple[str, tuple[str, ...]]
    kind: tuple[str, tuple[str, ...]]
    count: tuple[str, range]
    price: tuple[str, range]  # in hundredths
    state: tuple[str, tuple[str, ...]]
    total: str


TRADES = (
    Trade(
        "seedlings", "Spring stock",
        ("Plant", ("Basil", "Chard", "Dill", "Endive", "Fennel", "Garlic", "Hyssop", "Kale", "Leek", "Mint", "Okra",
                   "Parsley", "Rocket", "Sage", "Thyme", "Yarrow")),
        ("Bed", ("Meadow", "Terrace", "Orchard", "Greenhouse")), ("Trays", range(4, 95)),
        ("Price", range(125, 2400, 5)), ("Condition", ("healthy", "wilted", "sold out")), "Value",
    ),
    Trade(
        "workshop_parts", "Parts",
        ("Part", ("Axle", "Bearing", "Cable", "Derailleur", "Fork", "Grip", "Hub", "Inner tube", "Lamp", "Mudguard",
                  "Pedal", "Rim", "Saddle", "Spoke", "Tyre", "Valve")),
        ("Shelf", ("North wall", "South wall", "Cellar", "Van")), ("Quantity", range(3, 240)),
        ("Unit cost", range(90, 8900, 5)), ("Status", ("in stock", "reserved", "recalled")), "Stock value",
    ),
    Trade(
        "ferry_bookings", "Bookings",
        ("Passenger", ("Abara", "Bianchi", "Costa", "Dvorak", "Eriksen", "Fontaine", "Grau", "Horvat", "Ito", "Jansen",
                       "Kowal", "Lindqvist", "Moreau", "Novak", "Okafor", "Petrov")),
        ("Route", ("Harbour loop", "Island east", "Island west", "Lighthouse")), ("Seats", range(1, 48)),
        ("Fare", range(450, 9900, 10)), ("Booking", ("paid", "open", "cancelled")), "Revenue",
    ),
    Trade(
        "course_fees", "Autumn term",
        ("Course", ("Algebra", "Botany", "Ceramics", "Drawing", "Economics", "French", "Geology", "History", "Italian",
                    "Jazz", "Knitting", "Logic", "Music", "Optics", "Poetry", "Statistics")),
        ("Room", ("Annex", "Library", "Main hall", "Studio")), ("Students", range(5, 64)),
        ("Fee", range(2000, 41000, 50)), ("Enrolment", ("confirmed", "waiting", "dropped")), "Income",
    ),
    Trade(
        "museum_loans", "Loans",
        ("Object", ("Amulet", "Bowl", "Casket", "Dagger", "Etching", "Figurine", "Goblet", "Helmet", "Inkwell", "Jug",
                    "Lantern", "Medal", "Necklace", "Plate", "Scroll", "Tapestry")),
        ("Lender", ("City archive", "Guild house", "Old abbey", "Private")), ("Days", range(7, 180)),
        ("Daily rate", range(300, 12500, 25)), ("Loan", ("running", "returned", "overdue")), "Charge",
    ),
)  # fmt: skip

ROLES = ("name", "kind", "count", "price", "state")


@dataclass(frozen=True)
class Table:
    """A trade's table as it stands in a sheet from A1: a header, then `rows`. columns: role -> letter."""

    trade: Trade
    order: tuple[str, ...]  # the roles from left to right
    rows: tuple[tuple[Any, ...], ...]

    @property
    def columns(self) -> dict[str, str]:
        """The letter of each role's column."""
        return {role: get_column_letter(n) for n, role in enumerate(self.order, 1)}

    @property
    def header(self) -> list[str]:
        """The headers from left to right."""
        return [getattr(self.trade, role)[0] for role in self.order]

    @property
    def last(self) -> int:
        """The number of the last row."""
        return len(self.rows) + 1

    def title(self, role: str) -> str:
        """The header of a role's column."""
        return str(getattr(self.trade, role)[0])

    def values(self, role: str) -> list[Any]:
        """A role's values from top to bottom."""
        n = self.order.index(role)
        return [row[n] for row in self.rows]

    def book(self) -> openpyxl.Workbook:
        """A workbook of it."""
        book = openpyxl.Workbook()
        sheet = book.active
        sheet.title = self.trade.sheet
        for row in (self.header, *self.rows):
            sheet.append(row)
        return book


def table(source: random.Random, rows: range = range(8, 15)) -> Table:
    """A table of a random trade, its columns in random order; every state and kind has at least one row of its own."""
    trade = source.choice(TRADES)
    size = source.choice(rows)
    order = source.sample(ROLES, len(ROLES))
    columns = {
        "name": source.sample(trade.name[1], size),
        "kind": _every(source, trade.kind[1], size),
        "count": source.sample(trade.count[1], size),
        "price": [cents / 100 for cents in source.sample(trade.price[1], size)],
        "state": _every(source, trade.state[1], size),
    }
    return Table(trade, tuple(order), tuple(zip(*(columns[role] for role in order), strict=True)))


def _every(source: random.Random, choices: tuple[str, ...], size: int) -> list[str]:
    values = [*choices, *(source.choice(choices) for _ in range(size - len(choices)))]
    source.shuffle(values)
    return values


def first_workbook(task: Task) -> Any:
    """The task's workbook as the agent finds it, to be edited with openpyxl."""
    return openpyxl.load_workbook(io.BytesIO(first_bytes(task)))


def first_book(task: Task) -> Book:
    """The task's workbook as the agent finds it, as a verifier reads it."""
    return read_xlsx(first_bytes(task))


def edited(edit: Callable[[Any, Task], None]) -> Callable[[Task], Edits]:
    """The task's file after an openpyxl edit of its workbook."""

    def edits(task: Task) -> Edits:
        book = first_workbook(task)
        edit(book, task)
        return {task.params["file"]: saved(book)}

    return edits


def writing(
    cells: Callable[[Task], Mapping[str, Any]], results: Callable[[Task], Mapping[str, float]] | None = None
) -> Callable[[Task], Edits]:
    """The task's file with these cells of its first sheet written; results: what formulas among them have given."""

    def edits(task: Task) -> Edits:
        book = first_workbook(task)
        for cell, value in cells(task).items():
            book.worksheets[0][cell] = value
        return {task.params["file"]: calculated(saved(book), results(task) if results else {})}

    return edits


def untouched(task: Task, found: Book, *, ignore: Collection[str] = ()) -> list[Check]:
    """Checks that the sheets are the same as at first, in content and look, but for the cells in `ignore`."""
    first = first_book(task)
    return [
        check("sheets", sequence_difference(found.names, first.names, "sheet")),
        check("rest", sheet_difference(found.first, first.first, ignore=ignore)),
    ]


def calculated(package: bytes, values: Mapping[str, float]) -> bytes:
    """A workbook whose formulas in the first sheet carry these results, as an application would have saved them."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as source, zipfile.ZipFile(out, "w") as target:
        for part in source.infolist():
            data = source.read(part).decode() if part.filename.endswith("sheet1.xml") else source.read(part)
            if isinstance(data, str):
                for cell, value in values.items():
                    formula = rf'(<c r="{cell}"[^>]*><f>[^<]*</f>)(?:<v></v>|<v\s*/>)'
                    data = re.sub(formula, rf"\g<1><v>{value!r}</v>", data)
            target.writestr(part, data)
    return out.getvalue()


def goto(cells: str) -> Steps:
    """Select cells (`D13`, `A2:C9`, `5:5`) through the Name Box."""
    yield [press("ctrl+shift+t")]
    yield [typed(cells), press("Return")]
