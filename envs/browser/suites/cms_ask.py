"""Task families that ask what the museum's pages say of its events."""

from __future__ import annotations

from datetime import date
from functools import partial
from typing import Any

from envs.browser.sites.cms_data import EVENTS, Event
from envs.browser.suites.cms_pages import (
    FRONT,
    HOSTS,
    MEDDLED,
    SITE,
    TITLES,
    Programme,
    cms_task,
    fields,
    open_page,
    open_section,
    rooms_with,
    titles,
    visit,
)
from envs.browser.suites.common import Oracle, follow, rng
from envs.browser.suites.families import question
from envs.browser.view import BrowserView
from guiforge.task import Task
from verifiers.answers import Day, Money, Name, Number, SetOf, Text, Want


def _others(task: Task, every: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(text for text in every if text != task.params["want"])


def _title(task: Task) -> Want:
    return Text(task.params["want"], others=_others(task, TITLES))


def _said(kind: str, event: Event) -> str:
    """A field of an event as people say it."""
    said = {"fee": f"{event.fee} EUR", "date": f"{date.fromisoformat(event.date):%-d %B %Y}"}
    return said.get(kind, str(getattr(event, kind)))


# -- one page ----------------------------------------------------------------------------------------------------------

_FACTS = {
    "fee": ("What does it cost to attend", "How high is the fee for"),
    "seats": ("How many seats are there for", "How many people can attend"),
    "host": ("Who hosts", "Who is the host of"),
    "date": ("On which day is", "What is the date of"),
}


def _make_fact(seed: int) -> Task:
    programme = Programme(rng("cms_event_fact", seed))
    kind = programme.pick(list(_FACTS))
    event, other = programme.random.sample(programme.events, 2)
    instruction = f'{programme.pick(_FACTS[kind])} "{event.title}"? It is one of the {event.section.lower()}.'
    right, wrong = _said(kind, event), _said(kind, other)
    return cms_task(
        "cms_event_fact", seed, "easy", instruction, records={"pages": programme.records}, start=FRONT, kind=kind,
        section=event.section, title=event.title, want=str(getattr(event, kind)),
        right=[right, f'For "{event.title}" it is {right}.'], wrong=[wrong, f"{right} or {wrong}"],
    )  # fmt: skip


def _fact(task: Task) -> Want:
    want = task.params["want"]
    match task.params["kind"]:
        case "fee":
            return Money(want, "EUR")
        case "seats":
            return Number(want)
        case "host":
            return Name(want, others=_others(task, HOSTS))
        case _:
            return Day(date.fromisoformat(want))


def _see_event(task: Task, view: BrowserView) -> Oracle:
    yield from visit(view, task.params["section"], task.params["title"])


# -- all pages of a section --------------------------------------------------------------------------------------------

_MOST: dict[tuple[str, bool], tuple[str, str]] = {
    ("fee", False): ("costs least", "has the lowest fee"),
    ("fee", True): ("costs most", "has the highest fee"),
    ("seats", False): ("has the fewest seats", "admits the fewest people"),
    ("seats", True): ("has the most seats", "can be attended by the most people"),
    ("date", False): ("takes place first", "has the earliest date"),
    ("date", True): ("takes place last", "has the latest date"),
}


def _value(event: Event, kind: str) -> Any:
    return float(event.fee) if kind == "fee" else getattr(event, kind)


def _make_extreme(seed: int) -> Task:
    programme = Programme(rng("cms_extreme_event", seed))
    kind, most = programme.pick(list(_MOST))
    ranked = titles(sorted(programme.events, key=lambda event: _value(event, kind), reverse=most))
    said = programme.pick(_MOST[kind, most])
    instruction = programme.pick(
        (
            f"Of all the events that the museum lists under {programme.section}, which one {said}?",
            f"Look through the section {programme.section} of the site. What is the title of the event that {said}?",
        )
    )
    return cms_task(
        "cms_extreme_event", seed, "medium", instruction, records={"pages": programme.records}, start=FRONT,
        section=programme.section, all=titles(programme.events), want=ranked[0],
        right=[ranked[0], f'The event that {said} is "{ranked[0]}".'], wrong=[ranked[1], ranked[-1]],
    )  # fmt: skip


def _see_all(task: Task, view: BrowserView) -> Oracle:
    for title in task.params["all"]:
        yield from visit(view, task.params["section"], title)


def _make_seats(seed: int) -> Task:
    random_ = rng("cms_seats_in_room", seed)
    room, rooms = rooms_with(random_, random_.choice((2, 3)))
    programme = Programme(random_, rooms)
    counted = [event.seats for event in programme.events if event.room == room]
    right, every = sum(counted), sum(event.seats for event in programme.events)
    instruction = programme.pick(
        (
            f"How many seats do those {programme.section.lower()} have altogether that take place in the {room}?",
            f'Add up the seats of every event in the section {programme.section} whose room is "{room}".',
        )
    )
    return cms_task(
        "cms_seats_in_room", seed, "hard", instruction, records={"pages": programme.records}, start=FRONT,
        section=programme.section, all=titles(programme.events), want=right,
        right=[str(right), f"Together they have {right} seats."], wrong=[str(every), str(sum(counted[1:]))],
    )  # fmt: skip


# -- what only the console shows ---------------------------------------------------------------------------------------


def _make_hidden(seed: int) -> Task:
    programme = Programme(rng("cms_not_live", seed))
    chosen = programme.random.sample(programme.events, 5)
    hidden = [event for event in programme.events if event in chosen[: programme.pick((2, 3))]]
    drafts = chosen[3:]
    records = programme.records
    for event in hidden:
        records[event.title]["live"] = False
    for event in drafts:
        records[event.title]["draft"] = {"host": programme.pick([host for host in HOSTS if host != event.host])}
    instruction = programme.pick(
        (
            f"Which pages in the section {programme.section} are not published, so that visitors can't see them at "
            "all? Give their titles.",
            f"List the titles of the {programme.section.lower()} whose pages visitors don't get to see, since no "
            "version of them is live.",
        )
    )
    right = titles(hidden)
    return cms_task(
        "cms_not_live", seed, "easy", instruction, records={"pages": records}, section=programme.section, want=right,
        right=["; ".join(right), "These are they:\n" + "\n".join(f"- {title}" for title in right)],
        wrong=["; ".join(right[1:]), "; ".join([*right, *titles(drafts)])],
    )  # fmt: skip


def _set(task: Task) -> Want:
    return SetOf(tuple(map(Text, task.params["want"])))


def _see_section(task: Task, view: BrowserView) -> Oracle:
    yield from open_section(view, task.params["section"])


def _make_draft(seed: int) -> Task:
    random_ = rng("cms_draft_fee", seed)
    event, *others = random_.sample([event for event in EVENTS if float(event.fee) >= 8], 4)
    up = random_.choice((1.5, 2.0, 2.5, 3.5, 4.5, 5.5))
    new = f"{float(event.fee) + up:.2f}"
    records: dict[str, Any] = {event.title: {**fields(event), "draft": {"fee": new, "seats": event.seats + 5}}}
    for other in others:
        records[other.title] = {**fields(other), "draft": {"fee": f"{float(other.fee) + 1:.2f}"}}
    instruction = random_.choice(
        (
            f'Somebody raised the fee of "{event.title}" but has not published that yet. By how many euros is the '
            "fee in the draft higher than the one that visitors see?",
            f'The page "{event.title}" has changes that are not live. If they were published, by how many euros would '
            "the fee rise?",
        )
    )
    right = f"{up:.2f}"
    return cms_task(
        "cms_draft_fee", seed, "medium", instruction, records={"pages": records}, title=event.title, want=right,
        right=[right, f"By {right} EUR."], wrong=[new, event.fee],
    )  # fmt: skip


def _see_both(task: Task, view: BrowserView) -> Oracle:
    yield from open_page(view, task.params["title"])
    yield from follow(view, "header a", "LIVE")


_asks = partial(question, SITE, meddled=MEDDLED)
FAMILIES = (
    _asks("cms_event_fact", _make_fact, _fact, _see_event, wrong=("another event's", "two of them")),
    _asks("cms_not_live", _make_hidden, _set, _see_section, wrong=("one missing", "drafts of live pages too")),
    _asks("cms_extreme_event", _make_extreme, _title, _see_all, wrong=("the second", "the opposite")),
    _asks(
        "cms_draft_fee", _make_draft, lambda task: Money(task.params["want"], "EUR"), _see_both,
        wrong=("the new fee", "the old fee"),
    ),
    _asks(
        "cms_seats_in_room", _make_seats, lambda task: Number(task.params["want"]), _see_all,
        wrong=("any room", "one missing"),
    ),
)  # fmt: skip
