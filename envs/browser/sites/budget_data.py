"""What the site `budget` holds: groups that share their expenses, made from a random generator.

Invariant: of one group every bill has another combination of date, payer and title, and every amount is a different
one, so a question about one bill has one answer.
"""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any

NAMES = (
    "Adela", "Bastian", "Carmen", "Dorian", "Elif", "Fabio", "Greta", "Hamid", "Ilse", "Jonas", "Katya", "Leif",
    "Marisol", "Niklas", "Orla", "Paolo", "Quinn", "Rosa", "Stellan", "Tamar", "Umberto", "Vera", "Wanda", "Xaver",
    "Yasmin", "Zeno",
)  # fmt: skip

# per kind of group: names for it, and what its bills are for with the range of an amount
KINDS: dict[str, tuple[tuple[str, ...], dict[str, tuple[int, int]]]] = {
    "flat": (
        ("Flat in Mill Lane", "Kiln Street 4", "Third floor left", "Orchard Road 19"),
        {
            "Rent": (900, 1400), "Electricity": (60, 140), "Internet": (25, 45), "Weekly shopping": (40, 160),
            "Cleaning things": (8, 40), "Light bulbs": (5, 25), "Repair of the boiler": (80, 260), "Bins": (15, 50),
            "New toaster": (20, 60), "House party": (50, 180), "Water": (30, 90), "Plants for the balcony": (12, 70),
        },
    ),
    "trip": (
        ("Hut week", "Coast by bike", "Two weeks in the dunes", "Canoe tour"),
        {
            "Petrol": (30, 95), "Train tickets": (60, 240), "Groceries": (20, 130), "Camp site": (35, 110),
            "Restaurant": (45, 190), "Ferry": (50, 160), "Museum": (15, 80), "Boat hire": (70, 220),
            "Ice cream": (6, 28), "Repair of a tyre": (15, 60), "Maps": (8, 35), "Breakfast": (12, 55),
        },
    ),
    "band": (
        ("The Copper Kettles", "Low Tide Quartet", "Brass on Sunday", "Paper Lanterns"),
        {
            "Rehearsal room": (80, 200), "Van hire": (90, 260), "Strings": (10, 60), "Posters": (20, 120),
            "Sound desk": (60, 240), "Drinks after the show": (25, 110), "Parking": (6, 30), "Mixing": (120, 400),
            "Cables": (12, 70), "Hotel": (110, 320), "T-shirts": (90, 310), "Petrol": (25, 90),
        },
    ),
    "garden": (
        ("Garden at the canal", "Allotment 27", "Hillside garden", "Beehive club"),
        {
            "Seeds": (6, 40), "Compost": (15, 70), "Water bill": (40, 120), "Fence posts": (60, 200),
            "Lease": (150, 400), "Tool hire": (20, 90), "Greenhouse glass": (70, 240), "Hoses": (15, 60),
            "Fruit trees": (45, 180), "Summer feast": (50, 210), "Paint for the shed": (18, 75), "Gravel": (30, 130),
        },
    ),
}  # fmt: skip

Group = dict[str, Any]


def slug(name: str) -> str:
    """A group's name as its address has it."""
    return "-".join(name.lower().split())


def group(
    random_: random.Random,
    kind: str | None = None,
    *,
    name: str | None = None,
    members: int = 5,
    bills: int = 30,
    weights: bool = False,
    start: date = date(2025, 2, 1),
    days: int = 100,
) -> Group:
    """A group: id, name, members (name, weight, active) and bills (date, payer, what, amount, owers, type).

    kind: of KINDS. weights: whether some members count for more than one. Bills run over so many `days`; about half
    of them are shared by all.
    """
    names, purposes = KINDS[kind or random_.choice(list(KINDS))]
    name = name or random_.choice(names)
    people = sorted(random_.sample(NAMES, members))
    weight = dict.fromkeys(people, 1)
    if weights:
        weight.update(zip(random_.sample(people, 2), random_.sample((2, 3, 4), 2), strict=True))
    made: list[dict[str, Any]] = []
    used: set[Any] = set()
    while len(made) < bills:
        what = random_.choice(list(purposes))
        day = (start + timedelta(days=random_.randrange(days))).isoformat()
        payer, amount = random_.choice(people), random_.randint(*(100 * limit for limit in purposes[what])) / 100
        if {amount, (day, payer), (day, what)} & used:
            continue
        used |= {amount, (day, payer), (day, what)}
        owers = people if random_.random() < 0.5 else sorted(random_.sample(people, random_.randint(2, members - 1)))
        made.append(bill(day, payer, what, amount, owers))
    return {
        "id": slug(name),
        "name": name,
        "members": [{"name": n, "weight": weight[n], "active": True} for n in people],
        "bills": sorted(made, key=lambda b: str(b["date"])),
    }


def bill(day: str, payer: str, what: str, amount: float, owers: list[str], kind: str = "EXPENSE") -> dict[str, Any]:
    """One bill; kind `EXPENSE`, or `REIMBURSEMENT` for money that one member gave another."""
    return {"date": day, "payer": payer, "what": what, "amount": amount, "owers": owers, "type": kind}


def base() -> list[Group]:
    """The groups that are there in every task."""
    random_ = random.Random("budget")
    plans = (
        ("flat", "Linden Court 12", 5, 42),
        ("trip", "Winter cabin", 6, 24),
        ("band", "The Slow Trains", 4, 30),
    )
    return [group(random_, kind, name=name, members=m, bills=n) for kind, name, m, n in plans]
