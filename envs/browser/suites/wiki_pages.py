"""Changes of several of the wiki's pages at once: a new guide, a guide gone, a plot renamed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from envs.browser.sites import wiki_data as data
from envs.browser.suites.common import DONE, Oracle, exactly, follow, press, reach, rng, typed
from envs.browser.suites.common import click as clicked
from envs.browser.suites.wiki_common import (
    CONTENT,
    EDITOR,
    PAGES,
    Page,
    add_item,
    changes,
    edited,
    open_page,
    pages,
    remove_line,
    replace_line,
    save,
    text_of,
    tool,
    wiki_task,
)  # fmt: skip
from envs.browser.view import BrowserView
from guiforge.task import Family, Task, Variant
from verifiers.sites import (
    Added,
    Edited,
    Expected,
    Removed,
    Rows,
    add_row,
    anything,
    edit_rows,
    remove_row,
    set_columns,
)  # fmt: skip

_LIST = "handbook:start"
_BASE = {made["page"]: str(made["text"]) for made in data.base()}


# -- a new guide -------------------------------------------------------------------------------------------------------

_GUIDES = (
    ("sauna", "Using the sauna", "Heat it for an hour and leave the hatch open afterwards."),
    ("bikes", "Station bicycles", "Each has a number on the frame; hang the key back on its hook."),
    ("post", "Letters and parcels", "The van comes at ten, what is to go must be in the box by nine."),
    ("snow", "After snowfall", "Clear the steps first, then the way to the boat house."),
    ("printer", "The printer", "Switch it on at the wall and wait until the lamp stops blinking."),
    ("library", "Borrowing books", "Put the card of the book into the tray with your name on it."),
)  # fmt: skip


def _make_guide(seed: int) -> Task:
    random_ = rng("wiki_new_guide", seed)
    name, title, sentence = random_.choice(_GUIDES)
    sentence += f" Questions go to {random_.choice(data.PEOPLE).name}."
    instruction = random_.choice(
        (
            f'Write a new page handbook:{name} in the wiki. Its heading, of the first level, is "{title}", and below '
            f"stands one paragraph: {sentence} Then add a link to it, with its heading as text, as the last item of "
            "the list on the page Handbook.",
            f'The handbook lacks a page "{title}". Create it as handbook:{name} with that as its main heading (level '
            f"1) and this text below: {sentence} The list on the Handbook page must end with a link to the new page "
            "that shows its heading.",
        )
    )
    page = f"====== {title} ======\n\n{sentence}\n"
    return wiki_task(
        "wiki_new_guide", seed, "hard", instruction, writable=(PAGES,), steps=40,
        params={"page": f"handbook:{name}", "name": name, "title": title, "text": page,
                "low": page.replace("======", "====="), "item": f"[[handbook:{name}|{title}]]"},
    )  # fmt: skip


def _listed(item: str) -> str:
    return f"{_BASE[_LIST].rstrip()}\n  * {item}\n"


def _links(task: Task) -> list[str]:
    """The ways to write the link: absolute, relative, and without a text, since the wiki then shows the heading."""
    p = task.params
    targets = (f"handbook:{p['name']}", f":handbook:{p['name']}", p["name"], f".:{p['name']}", f".{p['name']}")
    return [f"[[{target}{text}]]" for target in targets for text in (f"|{p['title']}", "")]


def _new_guide(task: Task) -> Sequence[Expected]:
    p = task.params
    return (
        Added("pages", {"page": p["page"], "text": Page((p["text"],)), "summary": anything}),
        Edited("pages", _LIST, edited(*map(_listed, _links(task)))),
    )


def _add_guide(text: str = "text", page: str = "page") -> Callable[[Task], Callable[[Rows], None]]:
    """Names of parameters that hold its text and name."""
    return lambda t: add_row({"page": t.params[page], "text": t.params[text], "summary": "created"}, key=t.params[page])


def _list_guide(item: int = 0) -> Callable[[Task], Callable[[Rows], None]]:
    return lambda t: set_columns(_LIST, text=_listed(_links(t)[item]), summary="")


def _play_guide(task: Task, view: BrowserView) -> Oracle:
    p = task.params
    yield from follow(view, "#dokuwiki__aside a", "Handbook")
    yield from tool(view, "edit")
    yield from add_item(view, _BASE[_LIST].rstrip().splitlines()[-1], p["item"])
    yield from save(view)
    yield from follow(view, f"{CONTENT} a", exactly(p["title"]))
    yield from tool(view, "create")
    box = yield from reach(view, EDITOR)
    yield [clicked(box), typed(p["text"].rstrip())]
    yield from save(view)
    yield [DONE]


# -- a guide gone ------------------------------------------------------------------------------------------------------


def _make_delete(seed: int) -> Task:
    random_ = rng("wiki_delete_guide", seed)
    name, other = random_.sample(list(data.HANDBOOK), 2)
    title = data.HANDBOOK[name][0]
    instruction = random_.choice(
        (
            f'The page "{title}" is out of date: delete it from the wiki, and take its entry out of the list on the '
            "page Handbook.",
            f'We do not need "{title}" any more. Remove the entry from the list of the handbook and delete the page '
            "itself.",
        )
    )
    item = f"  * [[handbook:{name}|{title}]]"
    return wiki_task(
        "wiki_delete_guide", seed, "medium", instruction, writable=(PAGES,),
        params={"page": f"handbook:{name}", "title": title, "item": item, "list": _LIST, "other": f"handbook:{other}",
                "text": _BASE[_LIST].replace(f"{item}\n", ""), "empty": ""},
    )  # fmt: skip


def _play_delete(task: Task, view: BrowserView) -> Oracle:
    p = task.params
    yield from open_page(view, "Handbook", p["title"])
    yield from tool(view, "edit")
    box = yield from reach(view, EDITOR)
    yield [clicked(box), press("ctrl+a"), press("Delete")]
    yield from save(view)
    yield from follow(view, ".breadcrumbs .trace a, .breadcrumbs a", "Handbook")
    yield from tool(view, "edit")
    yield from remove_line(view, p["item"])
    yield from save(view)
    yield [DONE]


# -- a plot renamed ----------------------------------------------------------------------------------------------------

_NEW_NAMES = ("Bell Hollow", "Amber Point", "Heron Marsh", "Long Meadow", "Hermit Ridge", "Seal Spit", "Old Ford")


def _make_rename(seed: int) -> Task:
    random_ = rng("wiki_rename_plot", seed)
    plot = random_.choice([p for p in data.PLOTS if sum(trip.plot == p for trip in data.TRIPS) in (2, 3)])
    trips = [trip for trip in data.TRIPS if trip.plot == plot]
    new = random_.choice(_NEW_NAMES)
    instruction = random_.choice(
        (
            f"The plot {plot.name} is called {new} from now on. Change the name wherever the wiki shows it: in the "
            "heading of its page, in the list of plots, and on the page of each trip that went there. The pages' own "
            "addresses stay as they are.",
            f'Rename the plot "{plot.name}" to "{new}" in all texts of the wiki: its own page, the list of plots and '
            "the trips that mention it. Do not move pages; what links point to must not change.",
        )
    )
    texts = {page: _BASE[page].replace(plot.name, new) for page in (plot.page, "plots:start", *(t.page for t in trips))}
    return wiki_task(
        "wiki_rename_plot", seed, "hard", instruction, writable=(PAGES,), steps=60,
        params={"old": plot.name, "new": new, "page": plot.page, "texts": texts, "trips": [t.title for t in trips]},
    )  # fmt: skip


def _renamed(count: int | None = None, **more: str) -> Callable[[Task], Variant]:
    """The first so many of the pages renamed, or all; texts of other pages."""

    def make(task: Task) -> Variant:
        texts: dict[str, Any] = {**dict(list(task.params["texts"].items())[:count]), **more}
        steps = (set_columns(page, text=text, summary="renamed") for page, text in texts.items())
        return Variant({PAGES: edit_rows(*steps)})

    return make


def _play_rename(task: Task, view: BrowserView) -> Oracle:
    p = task.params
    texts = p["texts"]
    places = [("Plots", p["old"], p["page"]), ("Plots", None, "plots:start")]
    places += [("Trips", title, page) for title, page in zip(p["trips"], list(texts)[2:], strict=True)]
    for section, name, page in places:
        yield from follow(view, "#dokuwiki__aside a", section)
        if name:
            yield from follow(view, f"{CONTENT} a", exactly(name))
        yield from tool(view, "edit")
        for old, new in zip(_BASE[page].splitlines(), texts[page].splitlines(), strict=True):
            if old != new:
                yield from replace_line(view, old, new)
        yield from save(view)
    yield [DONE]


FAMILIES = (
    Family(
        "wiki_new_guide",
        _make_guide,
        changes(_new_guide),
        _play_guide,
        solutions={
            "written": pages(_add_guide(), _list_guide()),
            "link without text": pages(_add_guide(), _list_guide(5)),
        },
        near_misses={
            "not linked": pages(_add_guide()),
            "lower heading": pages(_add_guide("low"), _list_guide()),
            "elsewhere": pages(_add_guide(page="name"), _list_guide()),
        },
    ),
    Family(
        "wiki_delete_guide",
        _make_delete,
        changes(lambda t: [Removed("pages", t.params["page"]), Edited("pages", _LIST, edited(t.params["text"]))]),
        _play_delete,
        solutions={"deleted": pages(lambda t: remove_row(t.params["page"]), text_of("list", "text"))},
        near_misses={
            "still listed": pages(lambda t: remove_row(t.params["page"])),
            "unlisted only": pages(text_of("list", "text")),
            "another": pages(lambda t: remove_row(t.params["other"]), text_of("list", "text")),
        },
    ),
    Family(
        "wiki_rename_plot",
        _make_rename,
        changes(lambda t: [Edited("pages", page, edited(text)) for page, text in t.params["texts"].items()]),
        _play_rename,
        solutions={"renamed": _renamed()},
        near_misses={
            "its page only": _renamed(1),
            "one trip forgotten": _renamed(-1),
            "the front page too": _renamed(start="====== Renamed ======\n"),
        },
    ),
)
