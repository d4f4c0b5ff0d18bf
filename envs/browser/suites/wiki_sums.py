"""Questions to the wiki that several pages answer together: counted, added up, picked out."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from datetime import date

from envs.browser.sites import wiki_data as data
from envs.browser.sites.wiki_data import Instrument, Person, Trip, day, edition
from envs.browser.suites.common import Oracle, back, exactly, follow, rng, texts
from envs.browser.suites.families import says
from envs.browser.suites.wiki_common import CONTENT, asks, ends_with, open_page, says_and_edits, tool, wiki_task
from envs.browser.view import BrowserView
from guiforge.task import Family, Task
from verifiers.answers import Number, SetOf, Text


def _make_led(seed: int) -> Task:
    random_ = rng("wiki_trips_led", seed)
    leader = random_.choice(sorted({trip.leader for trip in data.TRIPS}, key=lambda p: p.id))
    given = random_.sample([trip for trip in data.TRIPS if trip.leader != leader], random_.randint(1, 4))
    count = sum(trip.leader == leader for trip in data.TRIPS) + len(given)
    instruction = random_.choice(
        (
            f"How many of the trips did {leader.name} lead?",
            f"Count the trips that were led by {leader.name}, as the wiki has them.",
        )
    )
    return wiki_task(
        "wiki_trips_led", seed, "medium", instruction,
        [edition(trip.page, replace(trip, leader=leader).text, summary="leader corrected") for trip in given],
        params={"name": leader.name, "count": count, "base": count - len(given)},
    )  # fmt: skip


def _play_led(task: Task, view: BrowserView) -> Oracle:
    yield from open_page(view, "People", task.params["name"])
    yield from tool(view, "backlink")
    yield from ends_with(sum(text.startswith("Trip of ") for text in texts(view, f"{CONTENT} li a")))


def _make_total(seed: int) -> Task:
    random_ = rng("wiki_sample_total", seed)
    plots = [p for p in data.PLOTS if 2 <= sum(trip.plot == p for trip in data.TRIPS) <= 4]
    plot, kind = random_.choice(plots), random_.randrange(len(data.KINDS))
    trips = [data.trip(random_, trip.on, plot, trip.leader) for trip in data.TRIPS if trip.plot == plot]
    numbers = [trip.samples[kind] for trip in trips]
    instruction = random_.choice(
        (
            f"How many {data.KINDS[kind]} samples came back from {plot.name} on all trips together?",
            f"Add up the {data.KINDS[kind]} samples of every trip to {plot.name}. What is the total?",
        )
    )
    return wiki_task(
        "wiki_sample_total", seed, "hard", instruction, [_counted(trip) for trip in trips],
        params={"plot": plot.name, "kind": data.KINDS[kind], "numbers": numbers,
                "all": sum(map(sum, (trip.samples for trip in trips)))},
    )  # fmt: skip


def _counted(trip: Trip) -> data.Edition:
    return edition(trip.page, trip.text, trip.leader.id, summary="counted again")


def _play_total(task: Task, view: BrowserView) -> Oracle:
    yield from open_page(view, "Plots", task.params["plot"])
    yield from tool(view, "backlink")
    total = 0
    for page in [text for text in texts(view, f"{CONTENT} li a") if text.startswith("Trip of ")]:
        yield from follow(view, f"{CONTENT} li a", exactly(page))
        table = next(text for text in texts(view, f"{CONTENT} table") if "Kind" in text)
        total += int(re.search(rf"{task.params['kind']}\s+(\d+)", table)[1])  # type: ignore[index]
        yield from back(view)
    yield from ends_with(total)


def _make_overdue(seed: int) -> Task:
    random_ = rng("wiki_overdue", seed)
    keeper = random_.choice(data.PEOPLE)
    limit = date(2024, random_.randint(4, 9), 1)
    things = random_.sample(data.INSTRUMENTS, random_.randint(4, 5))
    overdue = set(random_.sample(range(len(things)), random_.randint(2, 3)))
    kept = [_calibrated(random_, thing, keeper, limit, n in overdue) for n, thing in enumerate(things)]
    others = [i for i in data.INSTRUMENTS if i.keeper == keeper and i not in things]
    names = [thing.name for n, thing in enumerate(things) if n in overdue]
    names += [i.name for i in others if i.calibrated < limit]
    instruction = random_.choice(
        (
            f"Which of the instruments that {keeper.name} looks after were last calibrated before {day(limit)}? "
            "Name them all.",
            f"List every instrument kept by {keeper.name} whose last calibration was earlier than {day(limit)}.",
        )
    )
    return wiki_task(
        "wiki_overdue", seed, "hard", instruction,
        [edition(thing.page, thing.text, keeper.id, summary="record") for thing in kept],
        params={"keeper": keeper.name, "limit": limit.isoformat(), "overdue": sorted(names),
                "kept": sorted([*(t.name for t in things), *(i.name for i in others)])},
        steps=40,
    )  # fmt: skip


def _calibrated(random_: random.Random, thing: Instrument, keeper: Person, limit: date, overdue: bool) -> Instrument:
    days = random_.randint(3, 90)
    return replace(thing, keeper=keeper, calibrated=date.fromordinal(limit.toordinal() + (-days if overdue else days)))


def _play_overdue(task: Task, view: BrowserView) -> Oracle:
    found = []
    yield from open_page(view, "People", task.params["keeper"])
    yield from tool(view, "backlink")
    pages = [text for text in texts(view, f"{CONTENT} li a") if text in {i.name for i in data.INSTRUMENTS}]
    for page in pages:
        yield from follow(view, f"{CONTENT} li a", exactly(page))
        row = next(text for text in texts(view, f"{CONTENT} table") if "calibrated" in text)
        when = re.search(r"Last calibrated\s+(\d+) (\w+) (\d+)", row)
        assert when
        month = next(m for m in range(1, 13) if f"{date(2000, m, 1):%B}" == when[2])
        if date(int(when[3]), month, int(when[1])) < date.fromisoformat(task.params["limit"]):
            found.append(page)
        yield from back(view)
    yield from ends_with(", ".join(found))


FAMILIES = (
    Family(
        "wiki_trips_led",
        _make_led,
        asks(lambda task: Number(task.params["count"])),
        _play_led,
        solutions={
            "number": says(lambda t: t.params["count"]),
            "sentence": says(lambda t: f"{t.params['name']} led {t.params['count']} trips."),
        },
        near_misses={
            "one more": says(lambda t: t.params["count"] + 1),
            "before": says(lambda t: t.params["base"]),
            "changed something": says_and_edits(lambda t: t.params["count"]),
        },
    ),
    Family(
        "wiki_sample_total",
        _make_total,
        asks(lambda task: Number(sum(task.params["numbers"]))),
        _play_total,
        solutions={
            "number": says(lambda t: sum(t.params["numbers"])),
            "sentence": says(lambda t: f"Altogether {sum(t.params['numbers'])} samples came back."),
        },
        near_misses={
            "one trip less": says(lambda t: sum(t.params["numbers"][1:])),
            "all kinds": says(lambda t: t.params["all"]),
            "changed something": says_and_edits(lambda t: sum(t.params["numbers"])),
        },
    ),
    Family(
        "wiki_overdue",
        _make_overdue,
        asks(lambda task: SetOf(tuple(map(Text, task.params["overdue"])))),
        _play_overdue,
        solutions={
            "list": says(lambda t: ", ".join(t.params["overdue"])),
            "sentence": says(lambda t: "These: " + " and ".join(reversed(t.params["overdue"]))),
        },
        near_misses={
            "all": says(lambda t: ", ".join(t.params["kept"])),
            "one missing": says(lambda t: ", ".join(t.params["overdue"][1:])),
            "changed something": says_and_edits(lambda t: ", ".join(t.params["overdue"])),
        },
    ),
)
