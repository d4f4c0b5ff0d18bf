"""What the families of the library site share: its books and what is known of them, and the gestures of its pages."""

from __future__ import annotations

import calendar
import json
import random
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from envs.browser.sites.library_data import SERIES, Book, base, books
from envs.browser.suites.common import Oracle, click, exactly, fill, follow, make_task, press, reach, table
from envs.browser.suites.families import Step, change, key_of
from envs.browser.view import BrowserView
from guiforge.env import StateReader
from guiforge.task import Task
from verifiers.sites import rows_before

SITE = "library"
BOOKS, MARKS, SHELVES = (table(SITE, name) for name in ("books", "marks", "shelves"))
LANGUAGES = {"eng": "English", "deu": "German", "fra": "French", "ita": "Italian"}
SHELF_NAMES = ("Holidays", "For the train", "Lent to Mira", "Reading circle", "Bedside", "To sell", "Rainy days")
_SIDEBAR = (120, 400)
_DETAILS = "#bookDetailsModal"


class Catalogue:
    """All books of a task: those that are always there, and those of its own (of three more series)."""

    def __init__(self, random_: random.Random, many: int = 16) -> None:
        always = base()
        self.random = random_
        self.own: list[Book] = books(random_, many, taken=always, series=SERIES[5:])
        self.all = [*always, *self.own]

    def having(self, **values: object) -> list[Book]:
        """The books that have each of these values, or have it among others (`tags="Travel"`)."""
        return [book for book in self.all if all(value in _several(book[field]) for field, value in values.items())]

    def values(self, field: str) -> list[Any]:
        """Every value of a field that there is, each once."""
        found = [
            item for book in self.all for item in (book[field] if isinstance(book[field], list) else [book[field]])
        ]
        return sorted({item for item in found if item})

    def pick(self, options: Sequence[Any]) -> Any:
        """One of them, by the task's own random numbers."""
        return self.random.choice(options)


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def library_task(
    family: str, seed: int, level: str, instruction: str, catalogue: Catalogue, *, writes: tuple[str, ...] = (),
    read: Iterable[str] = (), named: dict[str, list[str]] | None = None, **params: Any,
) -> Task:  # fmt: skip
    """A task about the library. read: titles marked as read; named: shelves of titles; writes: tables it changes."""
    records = {"books": catalogue.own, "read": sorted(read), "shelves": named or {}}
    return make_task(
        family, seed, instruction, site=SITE, tags=(SITE, level), records=records, writable=writes, params=params
    )  # fmt: skip


def titles(found: Iterable[Book]) -> list[str]:
    """Their titles, in this order."""
    return [book["title"] for book in found]


def day(book: Book) -> str:
    """When it was published, in words: `5 March 1998`."""
    found = date.fromisoformat(book["date"])
    return f"{found.day} {calendar.month_name[found.month]} {found.year}"


# -- rows --------------------------------------------------------------------------------------------------------------


def book_key(state: StateReader, title: str) -> str:
    """The key of a book, and of its marks."""
    return key_of(rows_before(state, SITE, "books"), title=title)


def shelf_key(state: StateReader, name: str) -> str:
    """The key of a shelf."""
    return key_of(rows_before(state, SITE, "shelves"), name=name)


def set_book(title: str, **columns: object) -> Step:
    """A step of an end: the book has other values."""
    return change({"title": title}, **columns)


def set_shelf(name: str, holds: Iterable[str]) -> Step:
    """A step of an end: the shelf holds just these titles."""
    return change({"name": name}, books=sorted(holds))


def mark(title: str) -> dict[str, object]:
    """The row of a book that is read."""
    return {"book": title, "read": 1, "archived": 0}


# -- gestures ----------------------------------------------------------------------------------------------------------


def search(view: BrowserView, text: str) -> Oracle:
    """List what has this text in its title, author or series."""
    yield from fill(view, "#query", text)
    yield from follow(view, "#query_submit")


def browse(view: BrowserView, *names: str) -> Oracle:
    """Follow a link of the side bar, then links of the lists that it leads to."""
    yield from reach(view, "#scnd-nav a", rf"{exactly(names[0])}(\s+\d+)?", at=_SIDEBAR)
    yield from follow(view, "#scnd-nav a", rf"{exactly(names[0])}(\s+\d+)?")
    for name in names[1:]:
        yield from follow(view, ".container-fluid a", exactly(name))


def details(view: BrowserView, title: str) -> Oracle:
    """Open the details of a book that the page lists, over the page."""
    yield [click((yield from reach(view, ".meta p.title", exactly(title))))]
    view.wait_for(f"{_DETAILS} h2", exactly(title))
    view.wait_for(f"{_DETAILS} #have_read_cb")


def close_details(view: BrowserView) -> Oracle:
    """Close the details, and wait until the page below takes clicks again."""
    yield [click((yield from reach(view, f"{_DETAILS} .modal-header button.close")))]
    view.wait_until(
        lambda: view.evaluate("!document.querySelector('.modal-backdrop, body.modal-open')"), "the details stay open"
    )


def find_book(view: BrowserView, title: str) -> Oracle:
    """Open a book's details by searching for it."""
    yield from search(view, title)
    yield from details(view, title)


def toggle_read(view: BrowserView) -> Oracle:
    """Change the read mark of the book whose details are open."""
    yield [click((yield from reach(view, f"{_DETAILS} #have_read_cb")))]


def edit_book(view: BrowserView, title: str) -> Oracle:
    """Open the form of a book's metadata."""
    yield from find_book(view, title)
    yield from follow(view, f"{_DETAILS} #edit_book")


def fill_field(view: BrowserView, field: str, text: str) -> Oracle:
    """Fill a field of that form, and close the list of proposals that opens over what is below it."""
    yield from fill(view, f"#{field}", text)
    yield [press("Escape")]


def save(view: BrowserView) -> Oracle:
    """Send that form, or a shelf's."""
    yield from follow(view, "button#submit")


def put_on_shelf(view: BrowserView, shelf: str) -> Oracle:
    """Put the book whose details are open on a shelf."""
    yield [click((yield from reach(view, f"{_DETAILS} #add-to-shelf")))]
    listed = f"{_DETAILS} #add-to-shelves a"
    yield [click(view.wait_for(listed, exactly(shelf)))]
    _wait_gone(view, listed, shelf)


def take_off_shelf(view: BrowserView, shelf: str) -> Oracle:
    """Take the book whose details are open off a shelf."""
    listed = f"{_DETAILS} #remove-from-shelves a"
    yield [click((yield from reach(view, listed, exactly(shelf))))]
    _wait_gone(view, listed, shelf)


def _wait_gone(view: BrowserView, css: str, text: str) -> None:
    """Until the page has taken a shelf out of a list, shown or not: the site has then done what was asked."""
    script = (
        f"![...document.querySelectorAll({json.dumps(css)})].some((a) => a.textContent.trim() === {json.dumps(text)})"
    )
    view.wait_until(lambda: view.evaluate(script), f"{text} is still listed in {css}")
