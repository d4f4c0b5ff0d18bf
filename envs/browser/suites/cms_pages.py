"""What the families of the museum's site share: the events of a task, rows, and the gestures of console and pages."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from envs.browser.sites.cms_data import EVENTS, NEWS, PEOPLE, PLAIN, ROOMS, SECTIONS, Event, listed
from envs.browser.suites.common import (
    Oracle,
    click,
    exactly,
    fill,
    follow,
    leave,
    make_task,
    press,
    reach,
    table,
    typed,
)  # fmt: skip
from envs.browser.suites.families import Step, change, drop, key_of
from envs.browser.view import BrowserView
from guiforge.action import Scroll
from guiforge.env import StateReader
from guiforge.task import Task
from verifiers.sites import Rows, edit_rows, rows_before

SITE = "cms"
PAGE_ROWS, ORDER_ROWS, ACCOUNT_ROWS, CONTACT_ROWS, NOTICE_ROWS, REDIRECT_ROWS = (
    table(SITE, name) for name in ("pages", "order", "people", "contacts", "notices", "redirects")
)
CONSOLE, FRONT = "/admin/", "/"
TITLES = (
    *(event.title for event in EVENTS),
    *(news[0] for news in NEWS),
    *PLAIN,
    *SECTIONS,
    "News",
    "Visit",
    "Archive",
)
NAMES = tuple(person.name for person in PEOPLE)
HOSTS = tuple(event.host for event in EVENTS if event.section != "Concerts")  # each a first and a last name
_FIRST_DAY, _DAYS = date(2027, 2, 1), 150
_NOTCHES = 4  # of the wheel: more than the bar is high


class Programme:
    """The events of one section as a task has them: in any order, no two with the same day, seats, fee or host.

    rooms: where they take place; None leaves each where it always is.
    """

    def __init__(self, random_: random.Random, rooms: Sequence[str] | None = None) -> None:
        self.random = random_
        self.section: str = random_.choice(SECTIONS)
        always = listed(self.section)
        many = len(always)
        days, seats = random_.sample(range(_DAYS), many), random_.sample(range(8, 240), many)
        halves, hosts = random_.sample(range(8, 120), many), random_.sample(HOSTS, many)
        self.events = [
            replace(
                event, date=(_FIRST_DAY + timedelta(days[n])).isoformat(), seats=seats[n], fee=f"{halves[n] / 2:.2f}",
                host=hosts[n], room=event.room if rooms is None else rooms[n],
            )
            for n, event in enumerate(always)
        ]  # fmt: skip

    @property
    def records(self) -> dict[str, Any]:
        """What the site's seeder is given of them."""
        return {event.title: fields(event) for event in self.events}

    def pick(self, options: Sequence[Any]) -> Any:
        """One of them, by the task's own random numbers."""
        return self.random.choice(options)


def fields(event: Event) -> dict[str, Any]:
    """What stands on an event's page."""
    return {name: getattr(event, name) for name in ("date", "room", "seats", "fee", "host")}


def rooms_with(random_: random.Random, many: int) -> tuple[str, list[str]]:
    """A room, and the rooms of a section's six events, of which so many are in that one."""
    room = random_.choice(ROOMS)
    rooms = [room] * many + random_.choices([other for other in ROOMS if other != room], k=6 - many)
    random_.shuffle(rooms)
    return room, rooms


def titles(events: Iterable[Event]) -> list[str]:
    """Their titles, in this order."""
    return [event.title for event in events]


def cms_task(
    family: str, seed: int, level: str, instruction: str, *, records: dict[str, Any] | None = None,
    start: str = CONSOLE, writes: tuple[str, ...] = (), **params: Any,
) -> Task:  # fmt: skip
    """A task about the museum. records: as the site's seeder takes them; writes: tables that it changes."""
    return make_task(
        family, seed, instruction, site=SITE, tags=(SITE, level), records=records or {}, start=start, writable=writes,
        params=params,
    )  # fmt: skip


# -- rows --------------------------------------------------------------------------------------------------------------


def page_key(state: StateReader, title: str) -> str:
    """The key of a page."""
    return key_of(rows_before(state, SITE, "pages"), title=title)


def set_page(title: str, **columns: object) -> Step:
    """A step of an end: the page has other values."""
    return change({"title": title}, **columns)


def drop_page(title: str) -> Step:
    """A step of an end: the page is gone."""
    return drop({"title": title})


def children(state: StateReader, section: str, *, without: Sequence[str] = (), more: Sequence[str] = ()) -> list[str]:
    """The pages of a section as they were, without some and with more at the end."""
    before = rows_before(state, SITE, "order").get(section, {"pages": []})
    return [*(title for title in before["pages"] if title not in without), *more]


def set_order(section: str, *, without: Sequence[str] = (), more: Sequence[str] = ()) -> Step:
    """A step of an end: the section's pages without some and with more at the end; a section of none has no row."""

    def step(rows: Rows) -> None:
        before = rows.setdefault(section, {"pages": []})
        before["pages"] = [*(title for title in before["pages"] if title not in without), *more]

    return step


MEDDLED = {PAGE_ROWS: edit_rows(set_page("House Rules", body="None."))}  # what no question asks for


# -- gestures of the console -------------------------------------------------------------------------------------------


def open_section(view: BrowserView, name: str) -> Oracle:
    """List the pages of a section, by the console's menu of pages."""
    yield [click(view.wait_for(".sidebar-page-explorer-item > button"))]
    yield [click(view.wait_for(".c-page-explorer a", "View child pages of 'Larkfield Museum'"))]
    yield from leave(view, [click(view.wait_for(".c-page-explorer a", exactly(name)))])


def open_page(view: BrowserView, title: str) -> Oracle:
    """Open the form of a page, by searching for it."""
    yield from leave(view, [click(view.wait_for("#menu-search-q")), press("ctrl+a"), typed(title), press("Return")])
    yield from follow(view, "main table .title a", exactly(title))


def page_menu(view: BrowserView, name: str) -> Oracle:
    """Choose from the menu beside the title of the page whose form is open: Move, Delete, History."""
    yield [click(view.wait_for("header [aria-label=Actions]"))]
    yield from leave(view, [click(view.wait_for(".tippy-box .w-dropdown__content a", name))])


def save_draft(view: BrowserView) -> Oracle:
    """Send the page's form without publishing."""
    yield from leave(view, [click(view.wait_for("footer button", "Save draft"))])


def more_actions(view: BrowserView, name: str) -> Oracle:
    """Choose from the menu that opens beside `Save draft`: Publish, Unpublish."""
    yield [click(view.wait_for("footer .w-dropdown__toggle"))]
    yield from leave(view, [click(view.wait_for("footer a, footer button", name))])


def menu(view: BrowserView, *names: str) -> Oracle:
    """Choose from the console's menu at the left: `Settings`, then one of its items; or an item at once."""
    for name in names[:-1]:
        yield [click(view.wait_for(".sidebar-sub-menu-item > button", name))]
    yield from leave(view, [click(view.wait_for("aside a", names[-1]))])


def confirm(view: BrowserView, label: str) -> Oracle:
    """Send a form by the button of this label: `Save`, `Yes, delete it`."""
    yield from leave(view, [click(view.wait_for("main [type=submit]", label))])


def choose_page(view: BrowserView, title: str) -> Oracle:
    """Choose a page for a field that asks for one, whether or not it has one already."""
    if empty := view.find(".chooser button", "Choose a page"):
        yield [click(empty)]
    else:
        yield [click((yield from reach(view, ".chooser button")))]
        yield [click(view.wait_for(".tippy-box button", "Choose another page"))]
    field = view.wait_for(".modal #id_q")
    open_ = "document.querySelector('.modal').contains(document.activeElement)"  # once it is, it takes the focus
    view.wait_until(lambda: view.evaluate(open_), "the list of pages does not open")
    yield [click(field), typed(title)]
    view.wait_for(".modal h2", r"There (is|are) \d+ match(es)?")
    yield [click(view.wait_for(".modal a.choose-page", exactly(title)))]
    view.wait_until(
        lambda: view.evaluate("!document.querySelector('.modal, .modal-backdrop')"), "the list of pages stays open"
    )


def with_ticked(view: BrowserView, chosen: Sequence[str], name: str) -> Oracle:
    """Tick pages in the list of a section, and do something with all of them: Move, Delete, Publish, Unpublish."""
    spans = "[...document.querySelectorAll('main tbody .title a span')]"
    for title in chosen:
        place = view.evaluate(f"{spans}.find((one) => one.innerText.trim() === {json.dumps(title)}).id")
        yield [click((yield from reach(view, f"td.bulk-action-checkbox-cell:has([aria-describedby='{place}'])")))]
    yield from leave(view, [click(view.wait_for(".footer a", name))])


def toggle(view: BrowserView, css: str) -> Oracle:
    """Click a box of a form to tick it, above the bar that lies over the form's end."""
    box, bar = (yield from reach(view, css)), view.wait_for("footer")
    if box.y + box.height > bar.y:
        yield [Scroll(x=view.size[0] // 2, y=view.size[1] // 2, dy=_NOTCHES)]
    yield [click(view.wait_for(css))]


def fill_form(view: BrowserView, values: dict[str, Any]) -> Oracle:
    """Fill fields of a form, by name."""
    for name, value in values.items():
        yield from fill(view, f"#id_{name}", str(value))


# -- gestures of the site ----------------------------------------------------------------------------------------------


def visit(view: BrowserView, section: str, title: str | None = None) -> Oracle:
    """Open a section's page as visitors do, and one of its pages."""
    yield from follow(view, "nav a", exactly(section))
    if title is not None:
        yield from follow(view, "main a", exactly(title))
