"""Task families about what a reader does with the library's books: read marks and shelves."""

from __future__ import annotations

from collections.abc import Callable

from envs.browser.suites.common import Oracle, click, exactly, fill, follow, reach, rng
from envs.browser.suites.families import Step, Way, changing, edited, impossible
from envs.browser.suites.library_pages import (
    MARKS,
    SHELF_NAMES,
    SHELVES,
    SITE,
    Catalogue,
    browse,
    close_details,
    details,
    find_book,
    library_task,
    mark,
    put_on_shelf,
    save,
    search,
    set_shelf,
    shelf_key,
    take_off_shelf,
    titles,
    toggle_read,
)
from envs.browser.view import BrowserView
from guiforge.env import StateReader
from guiforge.task import Task
from verifiers.sites import Added, Edited, Expected, add_row


def _shelf(*step: Callable[[Task], Step]) -> Way:
    """An end with these steps on the shelves."""
    return lambda task: edited(SITE, shelves=[make(task) for make in step])


def _holds(key: str, shelf: str = "shelf") -> Callable[[Task], Step]:
    """The shelf that one parameter names holds the titles of another."""
    return lambda task: set_shelf(task.params[shelf], task.params[key])


def _now_holds(task: Task, state: StateReader) -> list[Expected]:
    """The task's shelf holds just what it should."""
    shelf = shelf_key(state, task.params["shelf"])
    return [Edited("shelves", shelf, {"books": sorted(task.params["want"])})]


def _marks(key: str) -> Way:
    """An end in which the titles of a parameter are marked as read."""
    return lambda task: edited(SITE, marks=[add_row(mark(title), f"new {title}") for title in task.params[key]])


# -- read marks --------------------------------------------------------------------------------------------------------


def _make_mark(seed: int) -> Task:
    catalogue = Catalogue(rng("library_mark_read", seed))
    book, other, *read = titles(catalogue.random.sample(catalogue.all, 8))
    instruction = catalogue.pick(
        (
            f'I have finished "{book}". Mark it as read.',
            f'Set the read mark of the book "{book}".',
        )
    )
    return library_task(
        "library_mark_read", seed, "easy", instruction, catalogue, writes=(MARKS,), read=read, want=[book],
        other=[other], both=[book, other],
    )  # fmt: skip


def _make_mark_series(seed: int) -> Task:
    random_ = rng("library_mark_series", seed)
    while True:
        catalogue = Catalogue(random_, 20)
        series = catalogue.pick(catalogue.values("series"))
        found = titles(catalogue.having(series=series))
        if len(found) == 4:
            break
    read = found[:1]
    upto = found[2]
    others = titles(b for b in catalogue.random.sample(catalogue.all, 5) if b["series"] != series)
    instruction = catalogue.pick(
        (
            f'I have read the series "{series}" up to and including "{upto}". Mark every volume up to there as read '
            "that isn't marked yet.",
            f'Of "{series}", I finished all volumes from the first to "{upto}". See to it that each of them carries '
            "the read mark.",
        )
    )
    return library_task(
        "library_mark_series", seed, "medium", instruction, catalogue, writes=(MARKS,), read=[*read, *others],
        series=series, want=found[1:3], one=found[1:2], all=found[1:],
    )  # fmt: skip


def _marked(task: Task, state: StateReader) -> list[Expected]:
    return [Added("marks", mark(title)) for title in task.params["want"]]


def _play_mark(task: Task, view: BrowserView) -> Oracle:
    yield from find_book(view, task.params["want"][0])
    yield from toggle_read(view)


def _play_mark_series(task: Task, view: BrowserView) -> Oracle:
    yield from browse(view, "Series", task.params["series"])
    for title in task.params["want"]:
        yield from details(view, title)
        yield from toggle_read(view)
        yield from close_details(view)


# -- shelves -----------------------------------------------------------------------------------------------------------


def _make_put(seed: int) -> Task:
    catalogue = Catalogue(rng("library_put_on_shelf", seed))
    shelf, other = catalogue.random.sample(SHELF_NAMES, 2)
    new, wrong, *some = titles(catalogue.random.sample(catalogue.all, 8))
    on, beside = some[:3], some[3:]
    instruction = catalogue.pick(
        (
            f'Put "{new}" on my shelf "{shelf}".',
            f'Add the book "{new}" to the shelf "{shelf}", beside what is there already.',
        )
    )
    return library_task(
        "library_put_on_shelf", seed, "easy", instruction, catalogue, writes=(SHELVES,),
        named={shelf: on, other: beside}, shelf=shelf, other=other, title=new, want=[*on, new],
        beside=[*beside, new], without=[*on[1:], new], wrong=[*on, new, wrong],
    )  # fmt: skip


def _play_put(task: Task, view: BrowserView) -> Oracle:
    yield from find_book(view, task.params["title"])
    yield from put_on_shelf(view, task.params["shelf"])


def _make_author(seed: int) -> Task:
    random_ = rng("library_author_on_shelf", seed)
    while True:
        catalogue = Catalogue(random_, 20)
        author = catalogue.pick(catalogue.values("authors"))
        new = titles(catalogue.having(authors=author))
        if len(new) in (3, 4):
            break
    shelf = catalogue.pick(SHELF_NAMES)
    on = titles(b for b in catalogue.random.sample(catalogue.all, 4) if b["title"] not in new)
    instruction = catalogue.pick(
        (
            f'Put all books by {author} on the shelf "{shelf}".',
            f'I collect {author}: every book of that author in the library belongs on my shelf "{shelf}".',
        )
    )
    return library_task(
        "library_author_on_shelf", seed, "medium", instruction, catalogue, writes=(SHELVES,), named={shelf: on},
        author=author, shelf=shelf, want=[*on, *new], most=[*on, *new[1:]], only=new,
    )  # fmt: skip


def _play_author(task: Task, view: BrowserView) -> Oracle:
    yield from search(view, task.params["author"])
    yield [click((yield from reach(view, "#add-to-shelf")))]
    yield from follow(view, "#add-to-shelves a", exactly(task.params["shelf"]))


def _make_new(seed: int) -> Task:
    catalogue = Catalogue(rng("library_new_shelf", seed))
    name, other = catalogue.random.sample(SHELF_NAMES, 2)
    on = titles(catalogue.random.sample(catalogue.all, 2))
    instruction = catalogue.pick(
        (
            f'Create a shelf "{name}" for myself alone and put "{on[0]}" and "{on[1]}" on it.',
            f'I need a new, private shelf named "{name}" that holds "{on[0]}" and "{on[1]}".',
        )
    )
    beside = titles(catalogue.random.sample(catalogue.all, 3))
    return library_task(
        "library_new_shelf", seed, "medium", instruction, catalogue, writes=(SHELVES,), named={other: beside},
        shelf=name, other=other, want=on,
    )  # fmt: skip


def _made(task: Task, state: StateReader) -> list[Expected]:
    return [Added("shelves", {"name": task.params["shelf"], "public": 0, "books": sorted(task.params["want"])})]


def _new(off: int = 0, **columns: object) -> Callable[[Task], Step]:
    def make(task: Task) -> Step:
        books = sorted(task.params["want"][off:])
        return add_row({"name": task.params["shelf"], "public": 0, "books": books, **columns})

    return make


def _play_new(task: Task, view: BrowserView) -> Oracle:
    yield from browse(view, "Create a Shelf")
    yield from fill(view, "#title", task.params["shelf"])
    yield from save(view)
    for title in task.params["want"]:
        yield from find_book(view, title)
        yield from put_on_shelf(view, task.params["shelf"])
        yield from close_details(view)


def _make_clear(seed: int) -> Task:
    catalogue = Catalogue(rng("library_clear_shelf", seed))
    shelf, other = catalogue.random.sample(SHELF_NAMES, 2)
    some = titles(catalogue.random.sample(catalogue.all, 9))
    on, beside = some[:6], some[6:]
    read = catalogue.random.sample(on, catalogue.pick((2, 3)))
    stay = [title for title in on if title not in read]
    instruction = catalogue.pick(
        (
            f'Take every book that I have read already off the shelf "{shelf}". The others stay on it.',
            f'Some books on my shelf "{shelf}" carry the read mark. Remove those from the shelf, and only from it.',
        )
    )
    return library_task(
        "library_clear_shelf", seed, "hard", instruction, catalogue, writes=(SHELVES,), read=[*read, *beside[:2]],
        named={shelf: on, other: beside}, shelf=shelf, off=read, want=stay, most=[*stay, *read[1:]], rest=stay[1:],
    )  # fmt: skip


def _play_clear(task: Task, view: BrowserView) -> Oracle:
    for title in task.params["off"]:
        yield from browse(view, task.params["shelf"])
        yield from details(view, title)
        yield from take_off_shelf(view, task.params["shelf"])
        yield from close_details(view)


# -- what it can't do --------------------------------------------------------------------------------------------------


def _make_impossible(seed: int) -> Task:
    catalogue = Catalogue(rng("library_not_allowed", seed))
    book = catalogue.pick(titles(catalogue.own))
    instruction = catalogue.pick(
        (
            f'Delete the book "{book}" from the library altogether.',
            f'Read "{book}" in the browser and stop at chapter 3.',
            f'Reserve "{book}" for next week, so that nobody else borrows it.',
        )
    )
    return library_task("library_not_allowed", seed, "easy", instruction, catalogue, title=book).model_copy(
        update={"feasible": False}
    )


def _look_at_book(task: Task, view: BrowserView) -> Oracle:
    yield from find_book(view, task.params["title"])


FAMILIES = (
    changing(
        SITE, "library_mark_read", _make_mark, _marked, _play_mark,
        solutions={"marked": _marks("want")},
        near_misses={"another book": _marks("other"), "two books": _marks("both")},
    ),
    changing(
        SITE, "library_mark_series", _make_mark_series, _marked, _play_mark_series,
        solutions={"marked": _marks("want")},
        near_misses={"only one": _marks("one"), "all volumes": _marks("all")},
    ),
    changing(
        SITE, "library_put_on_shelf", _make_put, _now_holds, _play_put,
        solutions={"put": _shelf(_holds("want"))},
        near_misses={
            "another shelf": _shelf(_holds("beside", "other")),
            "one for another": _shelf(_holds("without")),
            "another book too": _shelf(_holds("wrong")),
        },
    ),
    changing(
        SITE, "library_author_on_shelf", _make_author, _now_holds, _play_author,
        solutions={"put": _shelf(_holds("want"))},
        near_misses={"one forgotten": _shelf(_holds("most")), "nothing else left": _shelf(_holds("only"))},
    ),
    changing(
        SITE, "library_new_shelf", _make_new, _made, _play_new,
        solutions={"made": _shelf(_new())},
        near_misses={
            "for everyone": _shelf(_new(public=1)),
            "one missing": _shelf(_new(off=1)),
            "on the old one": _shelf(_holds("want", "other")),
        },
    ),
    changing(
        SITE, "library_clear_shelf", _make_clear, _now_holds, _play_clear,
        solutions={"taken off": _shelf(_holds("want"))},
        near_misses={"one left": _shelf(_holds("most")), "nearly all": _shelf(_holds("rest"))},
    ),
    impossible("library_not_allowed", _make_impossible, _look_at_book),
)  # fmt: skip
