"""Task families that set the metadata of the library's books right."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from envs.browser.sites.library_data import PUBLISHERS
from envs.browser.suites.common import Oracle, click, reach, rng
from envs.browser.suites.families import Step, Way, changing, edited
from envs.browser.suites.library_pages import (
    BOOKS,
    SITE,
    Catalogue,
    book_key,
    edit_book,
    fill_field,
    library_task,
    save,
    set_book,
)
from envs.browser.view import BrowserView
from guiforge.env import StateReader
from guiforge.task import Task
from verifiers.sites import Edited, Expected


def _ways(*steps: Callable[[Task], Step | Sequence[Step]]) -> Way:
    """An end with these steps on the books."""

    def way(task: Task) -> list[Step]:
        made = [step(task) for step in steps]
        return [one for some in made for one in ([some] if callable(some) else some)]

    return lambda task: edited(SITE, books=way(task))


def _set(column: str, value: str = "new", title: str = "title") -> Callable[[Task], Step]:
    """The book that one parameter names has the value of another."""
    return lambda task: set_book(task.params[title], **{column: task.params[value]})


def _edited(column: str) -> Callable[[Task, StateReader], list[Expected]]:
    """Just this column of the task's book is the new value."""
    return lambda task, state: [Edited("books", book_key(state, task.params["title"]), {column: task.params["new"]})]


def _play_field(field: str) -> Callable[[Task, BrowserView], Oracle]:
    def play(task: Task, view: BrowserView) -> Oracle:
        yield from edit_book(view, task.params["title"])
        yield from fill_field(view, field, str(task.params["new"]))
        yield from save(view)

    return play


# -- one field ---------------------------------------------------------------------------------------------------------


def _make_rate(seed: int) -> Task:
    catalogue = Catalogue(rng("library_rate", seed))
    book = catalogue.pick(catalogue.own)
    stars, wrong = catalogue.random.sample([n for n in (1, 2, 3, 4, 5) if n != book["rating"]], 2)
    other = catalogue.pick([b for b in catalogue.own if b["title"] != book["title"] and b["rating"] != stars])
    instruction = catalogue.pick(
        (
            f'Rate the book "{book["title"]}" with {stars} {"star" if stars == 1 else "stars"}.',
            f'Change the rating of "{book["title"]}" by {book["authors"][0]} to {stars} of 5 stars.',
        )
    )
    return library_task(
        "library_rate", seed, "easy", instruction, catalogue, writes=(BOOKS,), title=book["title"],
        other=other["title"], new=stars, wrong=wrong,
    )  # fmt: skip


def _play_rate(task: Task, view: BrowserView) -> Oracle:
    yield from edit_book(view, task.params["title"])
    yield [click((yield from reach(view, f".rating-input [data-value='{task.params['new']}']")))]
    yield from save(view)


def _make_publisher(seed: int) -> Task:
    catalogue = Catalogue(rng("library_publisher", seed))
    book, other = catalogue.random.sample(catalogue.own, 2)
    new = catalogue.pick([name for name in PUBLISHERS if name != book["publisher"]])
    wrong = catalogue.pick([name for name in PUBLISHERS if name not in (new, book["publisher"])])
    instruction = catalogue.pick(
        (
            f'"{book["title"]}" was not published by {book["publisher"]} but by {new}. Correct the entry.',
            f'Set the publisher of the book "{book["title"]}" to "{new}".',
        )
    )
    return library_task(
        "library_publisher", seed, "easy", instruction, catalogue, writes=(BOOKS,), title=book["title"],
        other=other["title"], new=new, wrong=wrong,
    )  # fmt: skip


# -- several fields ----------------------------------------------------------------------------------------------------


def _make_number(seed: int) -> Task:
    """Two volumes of a series carry the same number; the date of publication says which is the later."""
    random_ = rng("library_series_number", seed)
    while True:
        catalogue = Catalogue(random_, 20)
        series = sorted({book["series"] for book in catalogue.own if book["series"]})
        found = [b for b in catalogue.own if series and b["series"] == series[0]]
        if len(found) >= 4:
            break
    for book, date in zip(found, sorted(str(b["date"]) for b in found), strict=True):
        book["date"] = date
    at = catalogue.random.randrange(1, len(found) - 1)
    title, right = found[at]["title"], found[at]["index"]
    found[at]["index"] = right - 1
    instruction = catalogue.pick(
        (
            f'In the series "{series[0]}", two volumes carry the same number, and one number is missing. The volumes '
            "came out in the order of their numbers: find the one whose number is wrong, and correct it.",
            f'The volumes of "{series[0]}" should be numbered 1 to {len(found)} by their dates of publication, but one '
            "of them has the number of the volume before it. Put that right.",
        )
    )
    return library_task(
        "library_series_number", seed, "hard", instruction, catalogue, writes=(BOOKS,), title=title,
        other=found[at - 1]["title"], new=right, wrong=right + 1, series=series[0],
    )  # fmt: skip


def _make_join_series(seed: int) -> Task:
    random_ = rng("library_join_series", seed)
    while True:
        catalogue = Catalogue(random_, 20)
        book, other = catalogue.random.sample([b for b in catalogue.own if not b["series"]], 2)
        series = catalogue.pick(catalogue.values("series"))
        number = len(catalogue.having(series=series)) + 1
        if number > 3:
            break
    instruction = catalogue.pick(
        (
            f'"{book["title"]}" is the next volume of the series "{series}". Enter that in its metadata: the series, '
            "and the number after that of the last volume there is.",
            f'Make "{book["title"]}" the last volume of "{series}", numbered one higher than the highest so far.',
        )
    )
    return library_task(
        "library_join_series", seed, "hard", instruction, catalogue, writes=(BOOKS,), title=book["title"],
        other=other["title"], series=series, new=number, wrong=1,
    )  # fmt: skip


def _joined(task: Task, state: StateReader) -> list[Expected]:
    values = {"series": task.params["series"], "index": task.params["new"]}
    return [Edited("books", book_key(state, task.params["title"]), values)]


def _play_join(task: Task, view: BrowserView) -> Oracle:
    yield from edit_book(view, task.params["title"])
    yield from fill_field(view, "series", task.params["series"])
    yield from fill_field(view, "series_index", str(task.params["new"]))
    yield from save(view)


# -- a tag of several books --------------------------------------------------------------------------------------------


def _make_retag(seed: int) -> Task:
    catalogue = Catalogue(rng("library_retag", seed))
    wrong, right = catalogue.pick(
        (("Sea-faring", "Seafaring"), ("Sci-Fi", "Science Fiction"), ("Cooking", "Cookery"), ("Thriller", "Crime"))
    )
    many = catalogue.pick((2, 3))
    chosen = catalogue.random.sample([book for book in catalogue.own if right not in book["tags"]], many)
    for book in chosen:
        book["tags"] = sorted([*book["tags"][:1], wrong])
    after = {book["title"]: sorted([*(tag for tag in book["tags"] if tag != wrong), right]) for book in chosen}
    instruction = catalogue.pick(
        (
            f'Some books carry the tag "{wrong}". Give each of them the tag "{right}" instead; their other tags stay.',
            f'The category "{wrong}" should not exist beside "{right}": retag its books, keeping their other tags.',
        )
    )
    return library_task(
        "library_retag", seed, "hard", instruction, catalogue, writes=(BOOKS,), after=after,
        both={title: sorted([*tags, wrong]) for title, tags in after.items()}, bare=right,
    )  # fmt: skip


def _retagged(task: Task, state: StateReader) -> list[Expected]:
    return [Edited("books", book_key(state, title), {"tags": tags}) for title, tags in task.params["after"].items()]


def _play_retag(task: Task, view: BrowserView) -> Oracle:
    for title, tags in task.params["after"].items():
        yield from edit_book(view, title)
        yield from fill_field(view, "tags", ", ".join(tags))
        yield from save(view)


def _retag(key: str, most: int | None = None) -> Callable[[Task], list[Step]]:
    return lambda task: [set_book(title, tags=tags) for title, tags in list(task.params[key].items())[:most]]


def _only_tag(task: Task) -> list[Step]:
    return [set_book(title, tags=[task.params["bare"]]) for title in task.params["after"]]


FAMILIES = (
    changing(
        SITE, "library_rate", _make_rate, _edited("rating"), _play_rate,
        solutions={"rated": _ways(_set("rating"))},
        near_misses={
            "another book": _ways(_set("rating", title="other")),
            "other stars": _ways(_set("rating", "wrong")),
            "two books": _ways(_set("rating"), _set("rating", title="other")),
        },
    ),
    changing(
        SITE, "library_publisher", _make_publisher, _edited("publisher"), _play_field("publisher"),
        solutions={"corrected": _ways(_set("publisher"))},
        near_misses={
            "another book": _ways(_set("publisher", title="other")),
            "another one": _ways(_set("publisher", "wrong")),
            "as the author": _ways(lambda task: set_book(task.params["title"], authors=[task.params["new"]])),
        },
    ),
    changing(
        SITE, "library_series_number", _make_number, _edited("index"), _play_field("series_index"),
        solutions={"corrected": _ways(_set("index"))},
        near_misses={
            "the one before": _ways(_set("index", title="other")),
            "another number": _ways(_set("index", "wrong")),
        },
    ),
    changing(
        SITE, "library_join_series", _make_join_series, _joined, _play_join,
        solutions={"joined": _ways(_set("series", "series"), _set("index"))},
        near_misses={
            "without a number": _ways(_set("series", "series")),
            "another number": _ways(_set("series", "series"), _set("index", "wrong")),
            "another book": _ways(_set("series", "series", "other"), _set("index", title="other")),
        },
    ),
    changing(
        SITE, "library_retag", _make_retag, _retagged, _play_retag,
        solutions={"retagged": _ways(_retag("after"))},
        near_misses={
            "one forgotten": _ways(_retag("after", -1)),
            "the old one kept": _ways(_retag("both")),
            "the others lost": _ways(_only_tag),
        },
    ),
)  # fmt: skip
