"""Task families that put the pages of the museum's events in their places: new ones, moved ones, deleted ones."""

from __future__ import annotations

from typing import Any

from envs.browser.sites.cms_data import ROOMS, SECTIONS, Event, slug
from envs.browser.suites.cms_pages import (
    HOSTS,
    ORDER_ROWS,
    PAGE_ROWS,
    SITE,
    Programme,
    children,
    choose_page,
    cms_task,
    confirm,
    drop_page,
    fields,
    fill_form,
    more_actions,
    open_page,
    open_section,
    page_key,
    page_menu,
    set_order,
    set_page,
    titles,
    with_ticked,
)
from envs.browser.suites.common import Oracle, follow, rng
from envs.browser.suites.families import Way, changing, edited
from envs.browser.view import BrowserView
from guiforge.env import StateReader
from guiforge.task import Task, Variant
from verifiers.sites import Added, Edited, Expected, Removed, add_row, anything, one_of

# -- moved and deleted -------------------------------------------------------------------------------------------------


def _make_archive(seed: int) -> Task:
    programme = Programme(rng("cms_to_archive", seed))
    first, second, other = programme.random.sample(titles(programme.events), 3)
    instruction = programme.pick(
        (
            f'"{first}" and "{second}" are over. Move both pages into the section Archive.',
            f'Move the pages of two past {programme.section.lower()}, "{first}" and "{second}", to Archive.',
        )
    )
    return cms_task(
        "cms_to_archive", seed, "medium", instruction, records={"pages": programme.records},
        writes=(PAGE_ROWS, ORDER_ROWS), section=programme.section, titles=[first, second], other=other,
    )  # fmt: skip


def _archived(task: Task, state: StateReader) -> list[Expected]:
    moved = task.params["titles"]
    return [
        *(Edited("pages", page_key(state, title), {"parent": "Archive"}) for title in moved),
        Edited(
            "order", task.params["section"], {"pages": children(state, task.params["section"], without=moved)}
        ),
        Added("order", {"pages": one_of(moved, moved[::-1])}, key="Archive"),
    ]  # fmt: skip


def _moved(*, of: slice = slice(None), other: bool = False, to: str = "Archive") -> Way:
    """An end in which these of the task's pages, or another besides, are in another section."""

    def way(task: Task) -> Variant:
        moved = [*task.params["titles"][of], *([task.params["other"]] if other else [])]
        target = to if to != task.params["section"] else "Visit"
        order = [set_order(task.params["section"], without=moved), set_order(target, more=moved)]
        return edited(SITE, pages=[set_page(title, parent=target) for title in moved], order=order)

    return way


def _play_archive(task: Task, view: BrowserView) -> Oracle:
    yield from open_section(view, task.params["section"])
    yield from with_ticked(view, task.params["titles"], "Move")
    yield from choose_page(view, "Archive")
    yield from confirm(view, "Yes, move these pages")


def _make_delete(seed: int) -> Task:
    programme = Programme(rng("cms_delete_event", seed))
    title, other = programme.random.sample(titles(programme.events), 2)
    instruction = programme.pick(
        (
            f'"{title}" is cancelled for good. Delete its page; to unpublish it is not enough.',
            f'Remove the page "{title}" from the section {programme.section} altogether.',
        )
    )
    return cms_task(
        "cms_delete_event", seed, "easy", instruction, records={"pages": programme.records},
        writes=(PAGE_ROWS, ORDER_ROWS), section=programme.section, title=title, other=other,
    )  # fmt: skip


def _gone(task: Task, state: StateReader) -> list[Expected]:
    title, section = task.params["title"], task.params["section"]
    return [
        Removed("pages", page_key(state, title)),
        Edited("order", section, {"pages": children(state, section, without=[title])}),
    ]


def _deleted(*names: str) -> Way:
    """An end in which the pages that these parameters name are gone."""

    def way(task: Task) -> Variant:
        gone = [task.params[name] for name in names]
        order = [set_order(task.params["section"], without=gone)]
        return edited(SITE, pages=[drop_page(title) for title in gone], order=order)

    return way


def _play_delete(task: Task, view: BrowserView) -> Oracle:
    yield from open_page(view, task.params["title"])
    yield from page_menu(view, "Delete")
    yield from confirm(view, "Yes, delete it")


# -- a new page --------------------------------------------------------------------------------------------------------

_NEW = ("Ink and Iron", "The Last Ferry", "Glass and Fire", "Wool on the Wheel", "Voices from the Attic", "Early Maps",
        "Sundials", "The Quiet Machine", "Looms and Ledgers", "Salt, Smoke, Sugar")  # fmt: skip


def _make_new(seed: int) -> Task:
    random_ = rng("cms_new_event", seed)
    section, other = random_.sample(SECTIONS, 2)
    event = Event(
        section, random_.choice(_NEW), f"2027-06-{random_.randint(1, 30):02}", random_.choice(ROOMS),
        random_.randint(10, 200), f"{random_.randint(8, 80) / 2:.2f}", random_.choice(HOSTS),
    )  # fmt: skip
    instruction = random_.choice(
        (
            f'Publish a new event in the section {section}: "{event.title}", on {event.date} in the room {event.room}, '
            f"with {event.seats} seats, for {event.fee} EUR, hosted by {event.host}.",
            f'{section} has one event more. Create a page for it and make it live. Title: "{event.title}"; date: '
            f"{event.date}; room: {event.room}; seats: {event.seats}; fee: {event.fee} EUR; host: {event.host}.",
        )
    )
    return cms_task(
        "cms_new_event", seed, "hard", instruction, writes=(PAGE_ROWS, ORDER_ROWS), section=section, other=other,
        title=event.title, slug=slug(event.title), values=fields(event),
    )  # fmt: skip


def _row(task: Task, **other: Any) -> dict[str, Any]:
    p = task.params
    return {
        "kind": "event", "parent": p["section"], "title": p["title"], "slug": p["slug"], "live": 1, "draft": {},
        **p["values"], **other,
    }  # fmt: skip


def _added(task: Task, state: StateReader) -> list[Expected]:
    section, title = task.params["section"], task.params["title"]
    return [
        Added("pages", _row(task, slug=anything)),
        Edited("order", section, {"pages": children(state, section, more=[title])}),
    ]


def _new(section: str = "section", **other: Any) -> Way:
    """An end with the new page, some of it different."""

    def way(task: Task) -> Variant:
        row = _row(task, parent=task.params[section], **other)
        return edited(SITE, pages=[add_row(row)], order=[set_order(row["parent"], more=[row["title"]])])

    return way


def _play_new(task: Task, view: BrowserView) -> Oracle:
    p = task.params
    yield from open_section(view, p["section"])
    yield from follow(view, "header a[aria-label='Add child page']")
    yield from follow(view, "main a", "Event page")
    yield from fill_form(view, {"title": p["title"], **p["values"]})
    yield from more_actions(view, "Publish")


FAMILIES = (
    changing(
        SITE, "cms_delete_event", _make_delete, _gone, _play_delete,
        solutions={"deleted": _deleted("title")},
        near_misses={
            "only unpublished": lambda task: edited(SITE, pages=[set_page(task.params["title"], live=0)]),
            "another event": _deleted("other"),
            "two events": _deleted("title", "other"),
        },
    ),
    changing(
        SITE, "cms_to_archive", _make_archive, _archived, _play_archive,
        solutions={"moved": _moved(), "the other way round": _moved(of=slice(None, None, -1))},
        near_misses={
            "only one": _moved(of=slice(1)),
            "another too": _moved(other=True),
            "elsewhere": _moved(to="Talks"),
        },
    ),
    changing(
        SITE, "cms_new_event", _make_new, _added, _play_new,
        solutions={"published": _new(), "under another address": _new(slug="event")},
        near_misses={
            "not published": _new(live=0),
            "another section": _new("other"),
            "another fee": _new(fee="99.00"),
            "no host": _new(host=""),
        },
    ),
)  # fmt: skip
