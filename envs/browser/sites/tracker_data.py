"""What the issue tracker holds before a task adds its own: people, components, milestones, tickets and wiki pages.

Invariant: everything here is the same in each process. `tickets(random, count, taken)` makes more of the same kind for
a task, with summaries that no other ticket has.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Collection, Sequence
from typing import Any

USER = "dana"  # whom the browser is signed in as
PEOPLE = ("dana", "amir", "bente", "carlos", "ewa", "farid", "greta", "hugo", "ines", "jonas")
COMPONENTS = {  # -> who owns it
    "accounts": "bente", "booking": "amir", "mobile": "ines", "payments": "carlos", "printing": "farid",
    "reports": "greta", "timetable": "hugo",
}  # fmt: skip
COMPONENT_NOTES = {
    "accounts": "Sign-in, crew roles, addresses", "booking": "From the search to the confirmed seat",
    "mobile": "The app for passengers", "payments": "Cards, refunds and invoices",
    "printing": "Boarding cards, labels, passes", "reports": "Numbers for the office",
    "timetable": "Departures, tides and delays",
}  # fmt: skip
MILESTONES = {  # -> (due, completed)
    "1.8 Breakwater": ("2025-01-31", True), "1.9 Capstan": ("2025-04-30", True), "2.0 Driftwood": ("2031-03-14", False),
    "2.1 Estuary": ("2031-06-20", False), "2.2 Foghorn": ("2031-10-03", False), "Someday": (None, False),
}  # fmt: skip
OPEN_MILESTONES = tuple(name for name, (_, completed) in MILESTONES.items() if not completed)
VERSIONS = {"1.7": "2024-10-01", "1.8": "2025-01-31", "1.9": "2025-04-30", "2.0-beta": "2025-06-02"}
PRIORITIES = ("blocker", "critical", "major", "minor", "trivial")
TYPES = ("defect", "enhancement", "task")
RESOLUTIONS = ("fixed", "wontfix", "duplicate", "worksforme", "invalid")
KEYWORDS = ("harbour", "winter", "printer", "privacy", "speed", "crew", "regression", "import", "danish", "tide")

_THINGS = {
    "accounts": ("password reset mail", "crew login", "role editor", "address form", "avatar upload", "session end"),
    "booking": ("seat map", "group booking form", "price preview", "voucher field", "passenger list", "return picker"),
    "mobile": ("offline ticket", "push message", "harbour map", "dark theme", "camera scan", "language switch"),
    "payments": ("refund job", "card terminal", "invoice number", "deposit rule", "currency rounding", "card payout"),
    "printing": ("boarding card", "label queue", "receipt layout", "barcode", "duplex setting", "season pass"),
    "reports": ("occupancy report", "fuel chart", "monthly export", "crew hours sheet", "lost property list", "dues"),
    "timetable": ("winter timetable", "tide import", "stop order", "holiday calendar", "delay banner", "pier display"),
}  # fmt: skip
_PATTERNS = {
    "defect": (
        "{} is empty after midnight", "{} shows the wrong year", "{} hangs on a slow network", "{} loses its last line",
        "{} cuts off long names", "{} ignores the chosen harbour", "{} opens twice", "{} fails on the first of a month",
        "{} sorts accents last", "{} is an hour off in winter", "{} forgets the cabin class", "{} is slow for crews",
    ),
    "enhancement": (
        "Let the {} remember the last choice", "Add a search box to the {}", "Allow the {} to be exported",
        "Translate the {} into Danish", "Show the vessel's name in the {}", "Make the {} work without a mouse",
    ),
    "task": (
        "Write tests for the {}", "Document the {}", "Clean up the code of the {}", "Measure how long the {} takes",
        "Review the wording of the {}",
    ),
}  # fmt: skip
_DESCRIPTIONS = (
    "Seen at the desk in {place} on a busy morning.", "Reported by phone from {place}.",
    "The office in {place} asks for it again and again.", "It came up in the call with {place}.",
    "Two crews from {place} stumbled over it.",
)  # fmt: skip
_DETAILS = (
    "It can be repeated with any account.", "Only the test server is affected so far.", "The desk has a screenshot.",
    "It used to be different.", "Nobody is held up by it.", "There is a way around it.", "It should not take long.",
)  # fmt: skip
_REMARKS = (
    "I can see it too.", "Needs a decision first.", "Tried it on the test server, same result.", "Next week, then.",
    "Talked to the desk about it.", "The log has nothing about it.", "Please have a second look.",
)  # fmt: skip
PLACES = ("Ardmouth", "Belhaven", "Corran", "Dunmore", "Eastquay", "Fairholm", "Garrow", "Holmsund")
_FIRST_DAY = datetime.date(2025, 2, 3)
_BASE_TICKETS = 46


def tickets(rng: random.Random, count: int, taken: Collection[str] = ()) -> list[dict[str, Any]]:
    """Tickets as `Tracker.seed` takes them, each with a summary that is neither taken nor another's."""
    seen, made = set(taken), list[dict[str, Any]]()
    while len(made) < count:
        kind = rng.choices(TYPES, (5, 3, 2))[0]
        component = rng.choice(list(COMPONENTS))
        thing, pattern = rng.choice(_THINGS[component]), rng.choice(_PATTERNS[kind])
        summary = pattern.format(thing)
        summary = summary[0].upper() + summary[1:]
        if summary in seen:
            continue
        seen.add(summary)
        made.append(_ticket(rng, kind, component, summary, len(made)))
    return made


def _ticket(rng: random.Random, kind: str, component: str, summary: str, number: int) -> dict[str, Any]:
    status = rng.choices(("new", "assigned", "accepted", "closed"), (4, 2, 2, 3))[0]
    closed = status == "closed"
    return {
        "type": kind,
        "component": component,
        "priority": rng.choices(PRIORITIES, (1, 2, 6, 4, 2))[0],
        "owner": COMPONENTS[component] if rng.random() < 0.6 else rng.choice(PEOPLE[1:]),
        "reporter": rng.choice(PEOPLE[1:]),
        "version": rng.choice(list(VERSIONS)),
        "milestone": rng.choice(list(MILESTONES)[:2] if closed else OPEN_MILESTONES),
        "status": status,
        "resolution": rng.choices(RESOLUTIONS, (6, 1, 1, 1, 1))[0] if closed else "",
        "summary": summary,
        "description": f"{rng.choice(_DESCRIPTIONS).format(place=rng.choice(PLACES))} {rng.choice(_DETAILS)}",
        "keywords": " ".join(rng.sample(KEYWORDS, rng.randint(0, 2))),
        "day": (_FIRST_DAY + datetime.timedelta(days=2 * number + rng.randint(0, 1))).isoformat(),
        "comments": [[rng.choice(PEOPLE[1:]), rng.choice(_REMARKS)] for _ in range(rng.choice((0, 0, 1, 2)))],
    }


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Trac's wiki text."""
    lines = ["||= " + " =||= ".join(heads) + " =||", *("|| " + " || ".join(map(str, row)) + " ||" for row in rows)]
    return "\n".join(lines)


TICKETS = tickets(random.Random("tracker"), _BASE_TICKETS)
SUMMARIES = frozenset(ticket["summary"] for ticket in TICKETS)
PAGES = {
    "WikiStart": """= Tidewater, the ferry booking system =

This is where the team keeps its tickets and its notes.

== Pages ==
 * [wiki:OnCallRota On-call rota]: who is called at night
 * [wiki:Harbours Harbours]: desks, telephones, opening hours
 * [wiki:Vessels Vessels]: seats, car deck, year of building
 * [wiki:TestServers Test servers]: what runs where
 * [wiki:ReleaseChecklist Release checklist]
 * [wiki:BookingRules Booking rules]
 * [wiki:PrinterSetup Setting up a printer]
 * [wiki:StyleGuide Style guide], [wiki:Glossary Glossary], [wiki:MeetingNotes Meeting notes]

== Tickets ==
 * [report:1 Active tickets], [report:2 Active tickets by version], [report:3 Active tickets by milestone]
 * [query:status=!closed Custom query]
 * [wiki:TicketRules How we use tickets]
""",
    "OnCallRota": "= On-call rota =\n\nWhoever is on call keeps the telephone switched on from 18:00 to 8:00.\n\n"
    + table(("Week", "First", "Second"), [(20 + i, PEOPLE[1 + i % 9], PEOPLE[1 + (i + 4) % 9]) for i in range(8)]),
    "Harbours": "= Harbours =\n\n"
    + table(
        ("Harbour", "Code", "Desk opens", "Telephone"),
        [(place, place[:3].upper(), f"{6 + i % 3}:30", f"555-01{20 + 7 * i}") for i, place in enumerate(PLACES)],
    ),
    "Vessels": "= Vessels =\n\n"
    + table(
        ("Vessel", "Seats", "Cars", "Built"),
        [("Avocet", 180, 24, 1998), ("Bittern", 240, 36, 2004), ("Curlew", 96, 8, 1989), ("Dunlin", 310, 52, 2015),
         ("Egret", 150, 20, 2001), ("Fulmar", 420, 70, 2019)],
    ),
    "TestServers": "= Test servers =\n\n"
    + table(
        ("Server", "Runs", "For", "Looked after by"),
        [("quay1", "2.0-beta", "daily builds", "amir"), ("quay2", "1.9", "support", "ewa"),
         ("quay3", "1.8", "old printers", "farid"), ("quay4", "2.0-beta", "load tests", "hugo")],
    ),
    "ReleaseChecklist": """= Release checklist =

 1. No open ticket of the milestone is a blocker.
 1. The tide import has run on quay1 for three nights.
 1. Printed boarding cards were scanned on two vessels.
 1. The desks were told a week before.
 1. The milestone is closed, and what is left has moved on.
""",
    "BookingRules": """= Booking rules =

 * A group has 10 passengers or more.
 * A seat is held for 15 minutes.
 * Bicycles travel free on weekdays.
 * A booking can be changed until 2 hours before departure.
 * Refunds below 5.00 are given as vouchers.
""",
    "PrinterSetup": """= Setting up a printer =

 1. Connect it to the desk's own network.
 1. Print a test label from the label queue.
 1. Set duplex to off for boarding cards.
 1. Stick the inventory number on its back.
""",
    "StyleGuide": "= Style guide =\n\n * Say //desk//, not //counter//.\n * Times have two digits: 08:05.\n"
    " * Name vessels without MS.\n",
    "Glossary": "= Glossary =\n\n desk:: the office of a harbour\n leg:: one crossing of a booking\n"
    " no-show:: a passenger who did not come\n slack:: the hour around high or low tide\n",
    "MeetingNotes": "= Meeting notes =\n\n== 12 May 2025 ==\n * Driftwood needs two more weeks.\n"
    " * ines shows the dark theme next time.\n * The lost property list moves to reports.\n",
    "TicketRules": """= How we use tickets =

 * One thing a ticket.
 * A duplicate is closed as such, with a comment that names the other ticket.
 * Whoever works on a ticket accepts it first.
 * Priority //blocker// is for what stops a release.
""",
}  # fmt: skip
