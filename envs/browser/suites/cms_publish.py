"""Task families that change the pages of the museum's events: what they say, whether they are live, where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from envs.browser.sites.cms_data import ROOMS
from envs.browser.suites.cms_pages import (
    HOSTS,
    PAGE_ROWS,
    SITE,
    Programme,
    cms_task,
    confirm,
    drop_page,
    fill_form,
    more_actions,
    open_page,
    open_section,
    page_key,
    rooms_with,
    save_draft,
    set_order,
    set_page,
    titles,
    with_ticked,
)
from envs.browser.suites.common import Oracle, exactly, follow, rng
from envs.browser.suites.families import Step, Way, changing, edited
from envs.browser.view import BrowserView
from guiforge.env import StateReader
from guiforge.task import Task
from verifiers.sites import Edited, Expected


def _ways(*steps: Callable[[Task], Step | Sequence[Step]]) -> Way:
    """An end with these steps on the pages."""

    def way(task: Task) -> list[Step]:
        made = [step(task) for step in steps]
        return [one for some in made for one in ([some] if callable(some) else some)]

    return lambda task: edited(SITE, pages=way(task))


def _set(column: str, value: str = "new", title: str = "title") -> Callable[[Task], Step]:
    """The page that one parameter names has the value of another."""
    return lambda task: set_page(task.params[title], **{column: task.params[value]})


def _draft(column: str, value: str = "new", title: str = "title") -> Callable[[Task], Step]:
    """The same in its unpublished version alone."""
    return lambda task: set_page(task.params[title], draft={column: task.params[value]})


def _edited(column: str, *, draft: bool = False) -> Callable[[Task, StateReader], list[Expected]]:
    """Just this of the task's page is the new value."""

    def expected(task: Task, state: StateReader) -> list[Expected]:
        values = {column: task.params["new"]}
        return [Edited("pages", page_key(state, task.params["title"]), {"draft": values} if draft else values)]

    return expected


# -- what a page says --------------------------------------------------------------------------------------------------


def _make_fee(seed: int) -> Task:
    programme = Programme(rng("cms_new_fee", seed))
    event = programme.pick(programme.events)
    new, wrong = (f"{float(event.fee) + up:.2f}" for up in programme.random.sample((1.5, 2.0, 3.0, 4.5, 6.0), 2))
    other = programme.pick([one for one in programme.events if one.fee not in (event.fee, new)])
    instruction = programme.pick(
        (
            f'From now on "{event.title}" costs {new} EUR. Change the fee on its page, and publish the page.',
            f'Set the fee of the event "{event.title}" to {new} EUR, so that visitors see the new one.',
        )
    )
    return cms_task(
        "cms_new_fee", seed, "easy", instruction, records={"pages": programme.records}, writes=(PAGE_ROWS,),
        title=event.title, other=other.title, new=new, wrong=wrong,
    )  # fmt: skip


def _play_fee(task: Task, view: BrowserView) -> Oracle:
    yield from open_page(view, task.params["title"])
    yield from fill_form(view, {"fee": task.params["new"]})
    yield from more_actions(view, "Publish")


def _make_host(seed: int) -> Task:
    programme = Programme(rng("cms_keep_as_draft", seed))
    event, other = programme.random.sample(programme.events, 2)
    new, wrong = programme.random.sample([h for h in HOSTS if h not in {e.host for e in programme.events}], 2)
    instruction = programme.pick(
        (
            f'{new} is going to host "{event.title}" instead of {event.host}, but that is not official yet. Enter it '
            "on the page and save a draft; visitors must go on seeing the present host.",
            f'Prepare a change of the page "{event.title}": its host will be {new}. Only save it, don\'t publish it.',
        )
    )
    return cms_task(
        "cms_keep_as_draft", seed, "medium", instruction, records={"pages": programme.records}, writes=(PAGE_ROWS,),
        title=event.title, other=other.title, new=new, wrong=wrong,
    )  # fmt: skip


def _play_host(task: Task, view: BrowserView) -> Oracle:
    yield from open_page(view, task.params["title"])
    yield from fill_form(view, {"host": task.params["new"]})
    yield from save_draft(view)


def _make_room(seed: int) -> Task:
    random_ = rng("cms_change_room", seed)
    room, rooms = rooms_with(random_, 2)
    programme = Programme(random_, rooms)
    inside = [event for event in programme.events if event.room == room]
    other = programme.pick([event for event in programme.events if event.room != room])
    new = programme.pick([one for one in ROOMS if one not in (room, other.room)])
    instruction = programme.pick(
        (
            f"The {room} is closed for repairs. Find the {programme.section.lower()} that are to take place there, set "
            f'their room to "{new}", and publish each of them.',
            f'Every event in the section {programme.section} whose room is "{room}" moves to the room "{new}". Put '
            "that on their pages, and publish the changes.",
        )
    )
    return cms_task(
        "cms_change_room", seed, "hard", instruction, records={"pages": programme.records}, writes=(PAGE_ROWS,),
        section=programme.section, titles=titles(inside), other=other.title, new=new,
    )  # fmt: skip


def _room_changed(task: Task, state: StateReader) -> list[Expected]:
    return [Edited("pages", page_key(state, title), {"room": task.params["new"]}) for title in task.params["titles"]]


def _rooms(most: int | None = None) -> Callable[[Task], list[Step]]:
    return lambda task: [set_page(title, room=task.params["new"]) for title in task.params["titles"][:most]]


def _room_drafts(task: Task) -> list[Step]:
    return [set_page(title, draft={"room": task.params["new"]}) for title in task.params["titles"]]


def _play_room(task: Task, view: BrowserView) -> Oracle:
    for title in task.params["titles"]:
        yield from open_section(view, task.params["section"])
        yield from follow(view, "main table .title a", exactly(title))
        yield from fill_form(view, {"room": task.params["new"]})
        yield from more_actions(view, "Publish")


# -- whether it is live ------------------------------------------------------------------------------------------------


def _make_down(seed: int) -> Task:
    programme = Programme(rng("cms_take_down", seed))
    event, other = programme.random.sample(programme.events, 2)
    instruction = programme.pick(
        (
            f'Take the page "{event.title}" off the public site. Don\'t delete it: it will be published again later.',
            f'Visitors should not see the event "{event.title}" for now. Unpublish its page, but keep it.',
        )
    )
    return cms_task(
        "cms_take_down", seed, "easy", instruction, records={"pages": programme.records}, writes=(PAGE_ROWS,),
        title=event.title, other=other.title, section=programme.section, new=0,
    )  # fmt: skip


def _deleted(task: Task) -> Any:
    """The page is gone."""
    title, section = task.params["title"], task.params["section"]
    return edited(SITE, pages=[drop_page(title)], order=[set_order(section, without=[title])])


def _play_down(task: Task, view: BrowserView) -> Oracle:
    yield from open_page(view, task.params["title"])
    yield from more_actions(view, "Unpublish")
    yield from confirm(view, "Yes, unpublish it")


def _make_up(seed: int) -> Task:
    programme = Programme(rng("cms_publish_waiting", seed))
    chosen = programme.random.sample(programme.events, 5)
    waiting, drafts = titles(chosen[: programme.pick((2, 3))]), chosen[3:]
    records = programme.records
    for title in waiting:
        records[title]["live"] = False
    for event in drafts:
        records[event.title]["draft"] = {"seats": event.seats + programme.pick((5, 10, 15))}
    instruction = programme.pick(
        (
            f"Some pages in the section {programme.section} are not live at all. Publish all of those. Pages that are "
            "live and have a draft besides stay as they are.",
            f"Publish every one of the {programme.section.lower()} that visitors can't see yet; don't publish the "
            "drafts of pages that are live already.",
        )
    )
    return cms_task(
        "cms_publish_waiting", seed, "medium", instruction, records={"pages": records}, writes=(PAGE_ROWS,),
        section=programme.section, titles=waiting, draft=drafts[0].title,
        seats=records[drafts[0].title]["draft"]["seats"],
    )  # fmt: skip


def _published(task: Task, state: StateReader) -> list[Expected]:
    return [Edited("pages", page_key(state, title), {"live": 1}) for title in task.params["titles"]]


def _live(most: int | None = None) -> Callable[[Task], list[Step]]:
    return lambda task: [set_page(title, live=1) for title in task.params["titles"][:most]]


def _draft_too(task: Task) -> Step:
    return set_page(task.params["draft"], seats=task.params["seats"], draft={})


def _play_up(task: Task, view: BrowserView) -> Oracle:
    yield from open_section(view, task.params["section"])
    yield from with_ticked(view, task.params["titles"], "Publish")
    yield from confirm(view, "Yes, publish")


FAMILIES = (
    changing(
        SITE, "cms_new_fee", _make_fee, _edited("fee"), _play_fee,
        solutions={"published": _ways(_set("fee"))},
        near_misses={
            "not published": _ways(_draft("fee")),
            "another event": _ways(_set("fee", title="other")),
            "another amount": _ways(_set("fee", "wrong")),
            "two events": _ways(_set("fee"), _set("fee", title="other")),
        },
    ),
    changing(
        SITE, "cms_keep_as_draft", _make_host, _edited("host", draft=True), _play_host,
        solutions={"saved": _ways(_draft("host"))},
        near_misses={
            "published": _ways(_set("host")),
            "another event": _ways(_draft("host", title="other")),
            "somebody else": _ways(_draft("host", "wrong")),
        },
    ),
    changing(
        SITE, "cms_take_down", _make_down, _edited("live"), _play_down,
        solutions={"unpublished": _ways(_set("live"))},
        near_misses={
            "deleted": _deleted,
            "another event": _ways(_set("live", title="other")),
            "two events": _ways(_set("live"), _set("live", title="other")),
        },
    ),
    changing(
        SITE, "cms_publish_waiting", _make_up, _published, _play_up,
        solutions={"published": _ways(_live())},
        near_misses={"one forgotten": _ways(_live(-1)), "a draft too": _ways(_live(), _draft_too)},
    ),
    changing(
        SITE, "cms_change_room", _make_room, _room_changed, _play_room,
        solutions={"changed": _ways(_rooms())},
        near_misses={
            "one forgotten": _ways(_rooms(-1)),
            "not published": _ways(_room_drafts),
            "one too many": _ways(_rooms(), _set("room", title="other")),
        },
    ),
)  # fmt: skip
