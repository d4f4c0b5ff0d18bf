"""Task families that ask what the library's catalogue says of its books, authors, series and catalogue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import Any

from envs.browser.sites.library_data import Book
from envs.browser.suites.common import Oracle, click, follow, press, reach, rng, typed
from envs.browser.suites.families import question
from envs.browser.suites.library_pages import (
    BOOKS,
    LANGUAGES,
    SHELF_NAMES,
    SITE,
    Catalogue,
    browse,
    close_details,
    day,
    details,
    find_book,
    library_task,
    titles,
)
from envs.browser.view import BrowserView
from guiforge.task import Task
from verifiers.answers import Day, ListOf, Name, Number, SetOf, Text, Want
from verifiers.sites import edit_rows, set_columns

_MEDDLED = {BOOKS: edit_rows(set_columns("1", rating=1.0))}


def _number(task: Task) -> Want:
    return Number(task.params["want"])


def _numbers(right: int, wrong: Sequence[int], sentence: str) -> dict[str, Any]:
    """Params of a question for a number; `sentence` has a place for it."""
    return {
        "want": right,
        "right": [str(right), sentence.format(right)],
        "wrong": [str(number if number != right else right + 2) for number in wrong],
    }


def _lists(right: Sequence[str], other: str) -> dict[str, Any]:
    """Params of a question for titles, of which `other` is none."""
    return {
        "want": list(right),
        "right": ["; ".join(right), "These are they:\n" + "\n".join(f"{n}. {t}" for n, t in enumerate(right, 1))],
        "wrong": ["; ".join(right[1:]), "; ".join([*right, other])],
    }


def _set(task: Task) -> Want:
    return SetOf(tuple(map(Text, task.params["want"])))


def _oldest(found: Sequence[Book]) -> list[Book]:
    return sorted(found, key=lambda book: str(book["date"]))


# -- one book ----------------------------------------------------------------------------------------------------------


def _make_published(seed: int) -> Task:
    catalogue = Catalogue(rng("library_published", seed))
    book, other = catalogue.random.sample(catalogue.own, 2)
    instruction = catalogue.pick(
        (
            f'When was "{book["title"]}" published, according to the library?',
            f'Look up the publication date of "{book["title"]}" by {book["authors"][0]}.',
            f'On which day did the book "{book["title"]}" come out?',
        )
    )
    return library_task(
        "library_published", seed, "easy", instruction, catalogue, title=book["title"], want=book["date"],
        right=[book["date"], f"It came out on {day(book)}."], wrong=[day(other), day(book)[:-4] + "1984"],
    )  # fmt: skip


def _see_book(task: Task, view: BrowserView) -> Oracle:
    yield from find_book(view, task.params["title"])


def _make_first(seed: int) -> Task:
    random_ = rng("library_first_of_tag", seed)
    while True:
        catalogue = Catalogue(random_)
        tag = catalogue.pick(catalogue.values("tags"))
        found = _oldest(catalogue.having(tags=tag))
        if 5 <= len(found) <= 16:
            break
    instruction = catalogue.pick(
        (
            f'Of the books in the category "{tag}", which one was published first?',
            f"What is the title of the library's oldest {tag} book, by publication date?",
            f'Find the book tagged "{tag}" with the earliest date of publication.',
        )
    )
    return library_task(
        "library_first_of_tag", seed, "medium", instruction, catalogue, tag=tag, want=found[0]["title"],
        others=titles(catalogue.all), right=[found[0]["title"], f'The first of them was "{found[0]["title"]}".'],
        wrong=[found[1]["title"], found[-1]["title"]],
    )  # fmt: skip


def _title(task: Task) -> Want:
    others = tuple(title for title in task.params["others"] if title != task.params["want"])
    return Text(task.params["want"], others=others)


def _see_tag_by_date(task: Task, view: BrowserView) -> Oracle:
    yield from browse(view, "Categories", task.params["tag"])
    yield from follow(view, "#pub_old")


# -- lists and counts --------------------------------------------------------------------------------------------------


def _make_series(seed: int) -> Task:
    random_ = rng("library_series_order", seed)
    while True:
        catalogue = Catalogue(random_)
        names = sorted({book["series"] for book in catalogue.own if book["series"]})
        series = catalogue.pick(names) if names else None
        found = catalogue.having(series=series)
        if series and len(found) >= 3:
            break
    instruction = catalogue.pick(
        (
            f'List the titles of the series "{series}" in the order of their volumes.',
            f'Which books make up the series "{series}"? Give all titles, first volume first.',
        )
    )
    ordered = titles(found)
    listed = _lists(ordered, "")
    listed["wrong"] = ["; ".join([*ordered[1:], ordered[0]]), "; ".join(ordered[:-1])]
    return library_task("library_series_order", seed, "easy", instruction, catalogue, series=series, **listed)


def _ordered(task: Task) -> Want:
    return ListOf(tuple(map(Text, task.params["want"])))


def _see_series(task: Task, view: BrowserView) -> Oracle:
    yield from browse(view, "Series", task.params["series"])


def _make_most(seed: int) -> Task:
    random_ = rng("library_most_books", seed)
    while True:
        catalogue = Catalogue(random_, 22)
        language = catalogue.pick(("deu", "fra", "ita"))
        counts = Counter(b["authors"][0] for b in catalogue.having(language=language))
        (first, most), (second, less), *_ = *counts.most_common(2), ("", 0), ("", 0)
        if most > less > 0:
            break
    instruction = catalogue.pick(
        (
            f"Which author has the most {LANGUAGES[language]} books in this library?",
            f"Look at the books in {LANGUAGES[language]}: who wrote the most of them?",
        )
    )
    return library_task(
        "library_most_books", seed, "medium", instruction, catalogue, language=LANGUAGES[language], want=first,
        others=catalogue.values("authors"), right=[first, f"It is {first}, with {most} books."],
        wrong=[second, f"{first} or {second}"],
    )  # fmt: skip


def _author(task: Task) -> Want:
    others = tuple(name for name in task.params["others"] if name != task.params["want"])
    return Name(task.params["want"], others=others)


def _see_language(task: Task, view: BrowserView) -> Oracle:
    yield from browse(view, "Languages", task.params["language"])
    yield from follow(view, "#auth_az")


def _make_starred(seed: int) -> Task:
    random_ = rng("library_starred", seed)
    while True:
        catalogue = Catalogue(random_)
        publisher, stars = catalogue.pick(catalogue.values("publisher")), catalogue.pick((4, 5))
        found = catalogue.having(publisher=publisher, rating=stars)
        if 2 <= len(found) <= 5:
            break
    other = catalogue.pick([b for b in catalogue.having(publisher=publisher) if b["rating"] != stars])
    instruction = catalogue.pick(
        (
            f"Which books of the publisher {publisher} are rated with exactly {stars} stars?",
            f"List the titles by {publisher} that have {stars} of 5 stars, no more and no fewer.",
        )
    )
    return library_task(
        "library_starred", seed, "medium", instruction, catalogue, publisher=publisher,
        **_lists(titles(found), other["title"]),
    )  # fmt: skip


def _see_publisher(task: Task, view: BrowserView) -> Oracle:
    yield from browse(view, "Publishers", task.params["publisher"])
    yield from reach(view, ".book:last-of-type .title")


def _make_count(seed: int) -> Task:
    random_ = rng("library_count", seed)
    while True:
        catalogue = Catalogue(random_, 22)
        tag, language = catalogue.pick(catalogue.values("tags")), catalogue.pick(catalogue.values("language"))
        tagged, both = catalogue.having(tags=tag), catalogue.having(tags=tag, language=language)
        if 2 <= len(both) < len(tagged):
            break
    instruction = catalogue.pick(
        (
            f'How many books in {LANGUAGES[language]} are in the category "{tag}"?',
            f'Count the {LANGUAGES[language]} books that carry the tag "{tag}".',
        )
    )
    return library_task(
        "library_count", seed, "medium", instruction, catalogue, tag=tag, language=LANGUAGES[language],
        **_numbers(len(both), [len(tagged), len(both) + 1], "There are {} of them."),
    )  # fmt: skip


def _see_advanced(task: Task, view: BrowserView) -> Oracle:
    yield from follow(view, "#advanced_search")
    for css, name in (("include_tag", task.params["tag"]), ("include_language", task.params["language"])):
        yield [click((yield from reach(view, f".bootstrap-select button[data-id='{css}']")))]
        view.wait_for(".bootstrap-select.open .bs-searchbox input")
        yield [typed(name)]
        yield [click(view.wait_for(".bootstrap-select.open li a", name))]
        yield [press("Escape")]
    yield from follow(view, "#adv_submit")


# -- what must be put together -----------------------------------------------------------------------------------------


def _make_unread(seed: int) -> Task:
    catalogue = Catalogue(rng("library_unread_of_series", seed), 20)
    counts = Counter(book["series"] for book in catalogue.all if book["series"])
    series = catalogue.pick([name for name, many in counts.items() if many >= 4])
    found = titles(catalogue.having(series=series))
    read = sorted(catalogue.random.sample(found, catalogue.random.randint(1, len(found) - 2)))
    extra = titles(catalogue.random.sample(catalogue.all, 6))
    instruction = catalogue.pick(
        (
            f'Which volumes of "{series}" have I not marked as read yet?',
            f'I am reading the series "{series}". List the titles in it that don\'t carry a read mark.',
        )
    )
    unread = [title for title in found if title not in {*read, *extra}]
    if not unread:
        extra, unread = [], [title for title in found if title not in read]
    return library_task(
        "library_unread_of_series", seed, "medium", instruction, catalogue, read={*read, *extra}, series=series,
        **_lists(unread, read[0]),
    )  # fmt: skip


def _make_pages(seed: int) -> Task:
    catalogue = Catalogue(rng("library_pages", seed))
    on, beside = catalogue.random.sample(SHELF_NAMES, 2)
    holds = catalogue.random.sample(catalogue.all, catalogue.pick((3, 4)))
    pages = [book["pages"] for book in holds]
    instruction = catalogue.pick(
        (
            f'How many pages do the books on my shelf "{on}" have altogether? Their descriptions say it.',
            f'Add up the page counts of all books on the shelf "{on}"; each is given in the book\'s description.',
        )
    )
    return library_task(
        "library_pages", seed, "hard", instruction, catalogue, shelf=on, holds=titles(holds),
        named={on: titles(holds), beside: titles(catalogue.random.sample(catalogue.all, 3))},
        **_numbers(sum(pages), [sum(pages[1:]), max(pages)], "Together they have {} pages."),
    )  # fmt: skip


def _see_shelf(task: Task, view: BrowserView) -> Oracle:
    yield from browse(view, task.params["shelf"])
    for title in task.params["holds"]:
        yield from details(view, title)
        yield from reach(view, "#bookDetailsModal .comments")
        yield from close_details(view)


_asks = partial(question, SITE, meddled=_MEDDLED)
FAMILIES = (
    _asks(
        "library_published", _make_published, lambda task: Day(date.fromisoformat(task.params["want"]), with_year=True),
        _see_book, wrong=("another book's day", "another year"),
    ),
    _asks("library_series_order", _make_series, _ordered, _see_series, wrong=("another order", "one missing")),
    _asks("library_first_of_tag", _make_first, _title, _see_tag_by_date, wrong=("the second", "the newest")),
    _asks("library_most_books", _make_most, _author, _see_language, wrong=("the second", "two authors")),
    _asks("library_starred", _make_starred, _set, _see_publisher, wrong=("one missing", "one too many")),
    _asks("library_count", _make_count, _number, _see_advanced, wrong=("any language", "one too many")),
    _asks("library_unread_of_series", _make_unread, _set, _see_series, wrong=("one missing", "one too many")),
    _asks("library_pages", _make_pages, _number, _see_shelf, wrong=("one missing", "only the longest")),
)  # fmt: skip
