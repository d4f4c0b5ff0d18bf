"""Questions to the wiki: what a page says, what its link leads to, what a page said before."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from datetime import date

from envs.browser.sites import wiki_data as data
from envs.browser.sites.wiki_data import Person, day, edition
from envs.browser.suites.common import Oracle, follow, rng, texts
from envs.browser.suites.families import says
from envs.browser.suites.wiki_common import (
    CONTENT,
    asks,
    ends_with,
    open_page,
    says_and_edits,
    search,
    tool,
    wiki_task,
)  # fmt: skip
from envs.browser.view import BrowserView
from guiforge.action import Infeasible
from guiforge.task import Family, Task
from verifiers.answers import Day, Money, Name, Number

NAMES = tuple(person.name for person in data.PEOPLE)


def _person(name: str) -> Person:
    return next(person for person in data.PEOPLE if person.name == name)


def _day_before(random_: random.Random, year: int) -> date:
    return date(year, random_.randint(1, 12), random_.randint(1, 28))


# -- one page ----------------------------------------------------------------------------------------------------------


def _make_extension(seed: int) -> Task:
    random_ = rng("wiki_extension", seed)
    person = random_.choice(data.PEOPLE)
    extension = random_.choice([n for n in range(500, 900) if n != person.extension])
    instruction = random_.choice(
        (
            f"Which extension does {person.name} have?",
            f"I want to call {person.name} within the house. Which number do I dial?",
            f"Look up the telephone extension of {person.name} and tell me.",
        )
    )
    return wiki_task(
        "wiki_extension", seed, "easy", instruction,
        [edition(person.page, replace(person, extension=extension).text, person.id, summary="new phone")],
        params={"name": person.name, "extension": extension, "old": person.extension},
    )  # fmt: skip


def _play_extension(task: Task, view: BrowserView) -> Oracle:
    yield from open_page(view, "People", task.params["name"])
    yield from ends_with(re.search(r"Extension\s+(\d+)", view.wait_for(f"{CONTENT} table").text)[1])  # type: ignore[index]


# -- from page to page -------------------------------------------------------------------------------------------------


def _make_keeper(seed: int) -> Task:
    random_ = rng("wiki_keeper_since", seed)
    thing, keeper = random_.choice(data.INSTRUMENTS), random_.choice(data.PEOPLE)
    since = _day_before(random_, random_.randint(2004, 2023))
    instruction = random_.choice(
        (
            f"Since what date has the person who looks after the {thing.name.lower()} been at the station?",
            f"Find out who keeps the {thing.name.lower()} and tell me the day that person came to the station.",
        )
    )
    return wiki_task(
        "wiki_keeper_since", seed, "medium", instruction,
        [
            edition(thing.page, replace(thing, keeper=keeper).text, summary="handed over"),
            edition(keeper.page, replace(keeper, since=since).text, keeper.id, "2025-05-03T09:00"),
        ],
        params={"thing": thing.name, "keeper": keeper.name, "since": since.isoformat(),
                "other": thing.keeper.since.isoformat(), "calibrated": thing.calibrated.isoformat()},
    )  # fmt: skip


def _play_keeper(task: Task, view: BrowserView) -> Oracle:
    yield from open_page(view, "Instruments", task.params["thing"])
    yield from follow(view, f"{CONTENT} p a")
    row = view.wait_for(f"{CONTENT} table").text
    yield from ends_with(re.search(r"At the station since\s+([^\n]+)", row)[1].strip())  # type: ignore[index]


# -- what was before ---------------------------------------------------------------------------------------------------


def _make_old_price(seed: int) -> Task:
    random_ = rng("wiki_price_before", seed)
    thing, changer = random_.choice(data.INSTRUMENTS), random_.choice(data.PEOPLE)
    first, second, third = random_.sample([n for n in range(90, 5200, 5) if n != thing.price], 3)
    instruction = random_.choice(
        (
            f"{changer.name} was the last to correct the price on the page of the {thing.name.lower()}. Which price "
            "stood there before that correction?",
            f"The price of the {thing.name.lower()} was changed by {changer.name} in the latest edition of its page. "
            "What was it in the edition right before?",
        )
    )
    return wiki_task(
        "wiki_price_before", seed, "medium", instruction,
        [
            edition(thing.page, replace(thing, price=first).text, "sven", "2025-05-02T10:12", "price"),
            edition(thing.page, replace(thing, price=second).text, "petra", "2025-05-04T15:40", "price"),
            edition(thing.page, replace(thing, price=third).text, changer.id, "2025-05-06T08:05", "price"),
        ],
        params={"thing": thing.name, "before": second, "now": third, "first": first},
    )  # fmt: skip


def _play_old_price(task: Task, view: BrowserView) -> Oracle:
    yield from open_page(view, "Instruments", task.params["thing"])
    yield from tool(view, "revs")
    yield from follow(view, f"{CONTENT} li:nth-child(2) a.wikilink1")
    row = next(text for text in texts(view, f"{CONTENT} table") if "Price" in text)
    yield from ends_with(re.search(r"Price\s+(\d+ EUR)", row)[1])  # type: ignore[index]


def _make_who_added(seed: int) -> Task:
    random_ = rng("wiki_who_added", seed)
    name = random_.choice(list(data.HANDBOOK))
    title, rules = data.HANDBOOK[name]
    extra = random_.sample(_RULES, 4)
    writers = random_.sample(data.PEOPLE, 4)
    asked = random_.randrange(3)
    editions, text = [], data.guide(name)
    for n, (rule, writer) in enumerate(zip(extra, writers, strict=True)):
        last = [*rules, *extra][len(rules) + n - 1]
        text = text.replace(f"  - {last}\n", f"  - {last}\n  - {rule}\n")
        editions.append(edition(f"handbook:{name}", text, writer.id, f"2025-05-0{2 + n}T1{n}:20", "one more rule"))
    instruction = random_.choice(
        (
            f'Who wrote the rule "{extra[asked]}" into the page "{title}"?',
            f'On the page "{title}" of the handbook it says "{extra[asked]}" Who of us added that?',
        )
    )
    return wiki_task(
        "wiki_who_added", seed, "hard", instruction, editions,
        params={"title": title, "rule": extra[asked], "writer": writers[asked].name, "next": writers[asked + 1].name,
                "last": writers[3].name},
    )  # fmt: skip


_RULES = (
    "Wipe the floor afterwards.", "Ask before you lend it to guests.", "Leave the light on in the hall.",
    "On Sundays nobody is on duty.", "Dogs stay outside.", "Take the list with you.", "Shut both doors.",
    "Whoever is last checks the windows.", "Report what is broken at once.", "No phones at the table.",
)  # fmt: skip


def _play_who_added(task: Task, view: BrowserView) -> Oracle:
    yield from open_page(view, "Handbook", task.params["title"])
    yield from tool(view, "revs")
    writers = texts(view, f"{CONTENT} li .user")
    for older in range(2, len(writers) + 1):  # its glasses show what came after it
        yield from follow(view, f"{CONTENT} li:nth-child({older}) a.diff_link")
        if any(task.params["rule"] in text for text in texts(view, f"{CONTENT} td.diff-addedline")):
            break
        yield from tool(view, "revs")
    yield from ends_with(writers[older - 2].split(" (")[0])


# -- what there is not -------------------------------------------------------------------------------------------------


_FIRST = ("Tuomas", "Viveca", "Yrsa", "Zacharias", "Wilma", "Oskar", "Tilda", "Anders", "Hedda")
_LAST = ("Ahlgren", "Dahl", "Falk", "Grand", "Hjelm", "Ros")  # nobody at the station


def _make_nobody(seed: int) -> Task:
    random_ = rng("wiki_infeasible_nobody", seed)
    first, last = random_.choice(_FIRST), random_.choice(_LAST)
    instruction = random_.choice(
        (
            f"Which extension does {first} {last} have?",
            f"On which page does the wiki give the room of {first} {last}, and which room is it?",
        )
    )
    return wiki_task(
        "wiki_infeasible_nobody", seed, "medium", instruction, params={"name": f"{first} {last}"}, feasible=False
    )


def _play_nobody(task: Task, view: BrowserView) -> Oracle:
    yield from search(view, task.params["name"].split()[1])
    yield [Infeasible(reason=f"the wiki knows no {task.params['name']}")]


FAMILIES = (
    Family(
        "wiki_extension",
        _make_extension,
        asks(lambda task: Number(task.params["extension"])),
        _play_extension,
        solutions={
            "number": says(lambda t: t.params["extension"]),
            "sentence": says(lambda t: f"{t.params['name']} has extension {t.params['extension']}."),
        },
        near_misses={
            "before": says(lambda t: t.params["old"]),
            "both": says(lambda t: f"{t.params['old']} or {t.params['extension']}"),
            "changed something": says_and_edits(lambda t: t.params["extension"]),
        },
    ),
    Family(
        "wiki_keeper_since",
        _make_keeper,
        asks(lambda task: Day(date.fromisoformat(task.params["since"]), with_year=True)),
        _play_keeper,
        solutions={
            "day": says(lambda t: day(date.fromisoformat(t.params["since"]))),
            "iso": says(lambda t: t.params["since"]),
        },
        near_misses={
            "calibration": says(lambda t: t.params["calibrated"]),
            "no year": says(lambda t: day(date.fromisoformat(t.params["since"])).rsplit(" ", 1)[0]),
            "changed something": says_and_edits(lambda t: t.params["since"]),
        },
    ),
    Family(
        "wiki_price_before",
        _make_old_price,
        asks(lambda task: Money(str(task.params["before"]), "EUR")),
        _play_old_price,
        solutions={
            "amount": says(lambda t: f"{t.params['before']} EUR"),
            "sentence": says(lambda t: f"Before that it was €{t.params['before']}.00."),
        },
        near_misses={
            "now": says(lambda t: f"{t.params['now']} EUR"),
            "first": says(lambda t: f"{t.params['first']} EUR"),
            "changed something": says_and_edits(lambda t: f"{t.params['before']} EUR"),
        },
    ),
    Family(
        "wiki_who_added",
        _make_who_added,
        asks(lambda task: Name(task.params["writer"], others=NAMES)),
        _play_who_added,
        solutions={
            "name": says(lambda t: t.params["writer"]),
            "sentence": says(lambda t: f"It was added by {t.params['writer']}."),
        },
        near_misses={
            "next": says(lambda t: t.params["next"]),
            "last": says(lambda t: t.params["last"]),
            "changed something": says_and_edits(lambda t: t.params["writer"]),
        },
    ),
    Family("wiki_infeasible_nobody", _make_nobody, None, _play_nobody),
)  # fmt: skip
