"""What the families of the bookmarks site share: facts of a link's description, and the gestures of its pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from envs.browser.sites.bookmarks_data import Bookmark
from envs.browser.suites.common import Oracle, click, fill, follow, leave, make_task, press, reach, table, texts
from envs.browser.suites.families import Step, edited
from envs.browser.view import BrowserView
from guiforge.task import Task, Variant
from verifiers.sites import remove_row, set_columns

SITE = "bookmarks"
BOOKMARKS = table(SITE, "bookmarks")
FACTS = {
    "fee": r"a year costs (\d+) EUR",
    "members": r"(\d+) members",
    "delivery": r"Delivery costs ([\d.]+) EUR",
    "chapters": r"(\d+) chapters",
    "minutes": r"(\d+) minutes",
    "price": r"course costs ([\d.]+) EUR",
}
_SEARCH = "#search-linklist"


def fact(text: Bookmark | str, name: str) -> str:
    """A figure of a bookmark, or of what is said of it."""
    found = re.search(FACTS[name], text if isinstance(text, str) else text.description)
    if found is None:
        raise ValueError(f"{text!r} has no {name}")
    return found[1]


def records(*bookmarks: Bookmark) -> list[dict[str, Any]]:
    """Bookmarks as the site's seeder takes them."""
    return [bookmark.record() for bookmark in bookmarks]


def tagged(bookmarks: Iterable[Bookmark], *tags: str) -> list[Bookmark]:
    """Those that have all these tags."""
    return [b for b in bookmarks if set(tags) <= set(b.tags)]


def item(number: int, within: str = "") -> str:
    """The selector of a bookmark's row in a list, or of a part of it."""
    return f'.linklist-item[data-id="{number}"] {within}'.strip()


def listed(view: BrowserView) -> dict[str, str]:
    """What the page says of each link that it lists, by title."""
    found = texts(view, ".linklist-link"), texts(view, ".linklist-item-description")
    return dict(zip(*found, strict=True))


def search(view: BrowserView, text: str = "", tags: str = "") -> Oracle:
    """List what has this text and these tags, from a page that shows a list."""
    if text:
        yield from fill(view, f'{_SEARCH} [name="searchterm"]', text)
    if tags:
        yield from fill_tags(view, f'{_SEARCH} [name="searchtags"]', tags)
    yield from follow(view, f"{_SEARCH} .search-button")


def fill_tags(view: BrowserView, css: str, tags: str) -> Oracle:
    """Fill a field of tags, and close the list of proposals that opens over what is below it."""
    yield from fill(view, css, tags)
    yield [press("Escape")]


def edit(view: BrowserView, number: int) -> Oracle:
    """Open the form of a listed bookmark."""
    yield from follow(view, item(number, ".ctrl-edit a"))


def add(view: BrowserView, url: str, title: str, tags: Sequence[str] = (), text: str = "", *, private: bool) -> Oracle:
    """Add a bookmark; without an address it is a note."""
    yield from follow(view, "#shaarli-menu-shaare")
    if url:
        yield from fill(view, "#shaare", url)
    yield from follow(view, '.addform [type="submit"]')
    yield from fill(view, "#lf_title", title)
    if text:
        yield from fill(view, "#lf_description", text)
    if tags:
        yield from fill_tags(view, "#lf_tags", " ".join(tags))
    if private:
        yield [click((yield from reach(view, "#lf_private")))]
    yield from save(view)


def save(view: BrowserView) -> Oracle:
    """Send the form of a bookmark, new or old."""
    yield from follow(view, "#button-save-edit")


# -- families that change the site ------------------------------------------------------------------------------------


def changed(
    family: str, seed: int, level: str, instruction: str, added: Sequence[Bookmark] = (), **params: Any
) -> Task:
    """A task that may change bookmarks, `added` ones put into the collection or changed before it."""
    return make_task(
        family, seed, instruction, site=SITE, tags=(SITE, level), records=records(*added), params=params,
        writable=(BOOKMARKS,),
    )  # fmt: skip


def edits(*steps: Step) -> Variant:
    """An episode that ended with these changes of the table of bookmarks."""
    return edited(SITE, bookmarks=steps)


def removes(*numbers: int) -> Variant:
    """These bookmarks are gone."""
    return edits(*(remove_row(str(n)) for n in numbers))


def sets(numbers: Sequence[int], **columns: Any) -> Variant:
    """New values of columns, the same for all these bookmarks."""
    return edits(*(set_columns(str(n), **columns) for n in numbers))


def confirmed(view: BrowserView, css: str) -> Oracle:
    """Click what asks whether one is sure, and say yes."""
    box = yield from reach(view, css)
    yield from leave(view, [click(box), press("Return")])
