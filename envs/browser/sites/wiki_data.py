"""What the site `wiki` holds: the handbook of a field station, made from a fixed random generator.

Invariant: equal arguments give equal pages. The facts are in the records below, and `text` of each is its page; a task
varies a fact by putting another edition of the page on top.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

ADMIN = "helmi"  # who the agent is
TEAMS = ("water", "birds", "soil", "weather", "workshop")
KINDS = ("water", "soil", "moss", "insect")  # of samples
Edition = dict[str, Any]  # page, text, user, summary, date (ISO, to the minute)


@dataclass(frozen=True)
class Person:
    """Somebody at the station."""

    id: str
    name: str
    team: str
    room: str
    extension: int
    since: date

    @property
    def page(self) -> str:
        """The page's name."""
        return f"people:{self.id}"

    @property
    def text(self) -> str:
        """The page."""
        return _page(
            self.name,
            f"{self.name} works in the **{self.team}** team.",
            table(("Room", self.room), ("Extension", self.extension), ("At the station since", day(self.since)),
                  ("Mail", f"{self.id}@halvard.example")),
            _section("Good to know", _chosen(self.id, _ABOUT, 3)),
            _section("See also", "  * [[people:start|All people]]\n  * [[handbook:phones|How to use the phones]]"),
        )  # fmt: skip


@dataclass(frozen=True)
class Instrument:
    """An instrument, kept by a person. price: in euros. calibrated: when last."""

    id: str
    name: str
    keeper: Person
    number: str
    room: str
    price: int
    bought: int
    calibrated: date

    @property
    def page(self) -> str:
        """The page's name."""
        return f"instruments:{self.id}"

    @property
    def text(self) -> str:
        """The page."""
        return _page(
            self.name,
            f"Our {self.name.lower()} is looked after by [[{self.keeper.page}|{self.keeper.name}]]. "
            "Ask before you take it out.",
            _section("Use", _chosen(self.id, _USE, 3)),
            _section("Record", table(("Inventory number", self.number), ("Place", f"room {self.room}"),
                                     ("Bought in", self.bought), ("Price", f"{self.price} EUR"),
                                     ("Last calibrated", day(self.calibrated)))),
            _section("After use", _chosen(self.id + "!", _AFTER, 2)),
        )  # fmt: skip


@dataclass(frozen=True)
class Plot:
    """A place where the station takes samples. altitude: metres. walk: minutes from the station."""

    id: str
    name: str
    altitude: int
    walk: int

    @property
    def page(self) -> str:
        """The page's name."""
        return f"plots:{self.id}"

    @property
    def text(self) -> str:
        """The page."""
        return _page(
            self.name,
            _chosen(self.id, _LAND, 2),
            table(("Altitude", f"{self.altitude} m"), ("Walk from the station", f"{self.walk} minutes")),
            _section("Getting there", _chosen(self.id + "!", _WAY, 3)),
        )


@dataclass(frozen=True)
class Trip:
    """A day out at a plot: who led it, how many samples of each kind came back."""

    id: str
    on: date
    plot: Plot
    leader: Person
    samples: tuple[int, ...]

    @property
    def page(self) -> str:
        """The page's name."""
        return f"trips:{self.id}"

    @property
    def title(self) -> str:
        """Its heading."""
        return f"Trip of {day(self.on)}"

    @property
    def text(self) -> str:
        """The page."""
        rows = "\n".join(f"| {kind} | {n} |" for kind, n in zip(KINDS, self.samples, strict=True))
        return _page(
            self.title,
            f"To [[{self.plot.page}|{self.plot.name}]], led by [[{self.leader.page}|{self.leader.name}]].",
            _chosen(self.id, _WEATHER, 2),
            _section("Samples", f"^ Kind ^ Number ^\n{rows}"),
            _section("Remarks", _chosen(self.id + "!", _REMARKS, 3)),
        )


def table(*rows: tuple[str, object]) -> str:
    """Two columns, the first of them headings."""
    return "\n".join(f"^ {name} | {value} |" for name, value in rows)


def day(when: date) -> str:
    """`3 May 2024`."""
    return f"{when.day} {when:%B %Y}"


def edition(page: str, text: str, user: str = "olavi", when: str = "2025-05-02T10:00", summary: str = "") -> Edition:
    """One edition of a page, as a task's records hold it; the latest of a page is what shows."""
    return {"page": page, "text": text, "user": user, "date": when, "summary": summary}


def _page(title: str, *parts: str) -> str:
    return f"====== {title} ======\n\n" + "\n\n".join(parts) + "\n"


def _section(title: str, text: str) -> str:
    return f"===== {title} =====\n\n{text}"


def _chosen(key: str, sentences: Sequence[str], n: int) -> str:
    return " ".join(random.Random(key).sample(sentences, n))


_ABOUT = (
    "Prefers a call to a mail.", "On Mondays mostly out in the field.", "Knows where the spare boots are.",
    "Keeps the tea shelf filled.", "Speaks Finnish, English and a little Estonian.", "Has the key to the boat house.",
    "Runs the quiz in the common room once a month.", "Please knock twice, the door sticks.",
    "Takes the early bus and leaves at four.", "Collects old maps of the bay.",
)  # fmt: skip
_USE = (
    "Let it warm up for ten minutes before the first reading.", "Note each reading in the log book at once.",
    "Two people are needed to carry it.", "It does not like rain: take the cover along.",
    "Rinse it with clean water between two readings.", "The battery lasts about six hours in the cold.",
    "The cable is in the drawer below.", "Readings below the mark are not to be trusted.",
)  # fmt: skip
_AFTER = (
    "Dry it and put it back into its case.", "Charge the battery overnight.", "Enter the hours of use in the list.",
    "Tell its keeper about every scratch.", "Leave the case open until the foam is dry.",
)  # fmt: skip
_LAND = (
    "Open ground with heather and single pines.", "A wet hollow between two ridges.", "Old spruce forest, hardly cut.",
    "A stony slope above the water.", "Meadow that is mown once a year.", "A mire with a boardwalk through it.",
)  # fmt: skip
_WAY = (
    "Follow the yellow marks from the jetty.", "At the fork keep left.", "The last part is steep and slippery.",
    "The gate has to be closed behind you.", "In spring the ford can be too deep.", "There is no signal on the way.",
    "A bench stands half way.",
)  # fmt: skip
_WEATHER = (
    "Dry, with a light wind from the west.", "Drizzle all morning, sun after noon.", "Cold and clear.",
    "Fog until eleven.", "Warm, and many midges.", "A shower on the way back.",
)  # fmt: skip
_REMARKS = (
    "Two bottles broke on the way.", "The boardwalk needs a new plank.", "We saw a crane.", "The map was of no use.",
    "Next time take the long rope.", "One label came off and was written again.", "Lunch was forgotten at the station.",
    "The post with the number had fallen over.",
)  # fmt: skip


def _people() -> tuple[Person, ...]:
    names = (
        "Aino Salmela", "Bertil Ek", "Carola Fink", "Dagny Holm", "Edvard Lund", "Fanny Berg", "Gustav Rahm",
        "Helmi Korpi", "Ingrid Vass", "Jarl Nyman", "Kaisa Laine", "Ludvig Strand", "Maija Toivo", "Nils Hagen",
        "Olavi Rinne", "Petra Sund", "Ragna Moe", "Sven Palm",
    )  # fmt: skip
    random_ = random.Random("wiki people")
    extensions = random_.sample(range(200, 500), len(names))
    return tuple(
        Person(
            name.split()[0].lower(), name, TEAMS[n % len(TEAMS)], f"{random_.choice('ABC')}{random_.randint(10, 39)}",
            extensions[n], date(random_.randint(2004, 2023), random_.randint(1, 12), random_.randint(1, 28)),
        )
        for n, name in enumerate(names)
    )  # fmt: skip


def _instruments(people: Sequence[Person]) -> tuple[Instrument, ...]:
    names = (
        "Flow meter", "Turbidity probe", "Echo sounder", "Spotting scope", "Sound recorder", "Ringing kit",
        "Soil corer", "Drying oven", "Field balance", "Rain gauge", "Wind mast", "Sunshine recorder", "Bench drill",
        "Soldering station", "Plankton net", "Light trap",
    )  # fmt: skip
    random_ = random.Random("wiki instruments")
    numbers, prices = random_.sample(range(1000, 9999), len(names)), random_.sample(range(120, 4800), len(names))
    keepers = random_.sample(people, 8)
    return tuple(
        Instrument(
            name.lower().replace(" ", "_"), name, keepers[n % len(keepers)], f"HB-{numbers[n]}",
            f"{random_.choice('DE')}{random_.randint(1, 9)}", prices[n], random_.randint(2008, 2023),
            date(2024, random_.randint(1, 12), random_.randint(1, 28)),
        )
        for n, name in enumerate(names)
    )  # fmt: skip


def _plots() -> tuple[Plot, ...]:
    names = ("Alder Hollow", "Birch Point", "Crane Mire", "Ferry Meadow", "Kettle Ridge", "North Spit", "Otter Brook",
             "Pine Shelf", "Raven Slope", "Swan Pond")  # fmt: skip
    random_ = random.Random("wiki plots")
    altitudes, walks = random_.sample(range(4, 320), len(names)), random_.sample(range(8, 140), len(names))
    return tuple(Plot(name.lower().replace(" ", "_"), name, altitudes[n], walks[n]) for n, name in enumerate(names))


def _trips(people: Sequence[Person], plots: Sequence[Plot]) -> tuple[Trip, ...]:
    random_ = random.Random("wiki trips")
    days = sorted(random_.sample(range(date(2024, 4, 1).toordinal(), date(2025, 4, 20).toordinal()), 30))
    leaders = random_.sample(people, 6)
    return tuple(
        trip(random_, date.fromordinal(number), random_.choice(plots), random_.choice(leaders)) for number in days
    )


def trip(random_: random.Random, on: date, plot: Plot, leader: Person) -> Trip:
    """A trip with numbers of samples of its own."""
    return Trip(on.isoformat(), on, plot, leader, tuple(random_.randint(2, 28) for _ in KINDS))


PEOPLE = _people()
INSTRUMENTS = _instruments(PEOPLE)
PLOTS = _plots()
TRIPS = _trips(PEOPLE, PLOTS)


def _list(title: str, intro: str, entries: Sequence[tuple[str, str]]) -> str:
    return _page(title, intro, "\n".join(f"  * [[{page}|{name}]]" for page, name in entries))


HANDBOOK = {
    "phones": ("How to use the phones", ("Dial 0 for a line out.", "Extensions have three digits.",
               "The phone in the boat house rings twice and gives up.", "Put the receiver back properly.")),
    "boats": ("Taking a boat", ("Never alone.", "Life vests hang behind the door.",
              "Write your time of return on the board.", "The red boat leaks and is not to be used.",
              "Fill the tank when you are back.")),
    "keys": ("Keys", ("Keys are given out at the office until four.", "Each has a number; sign for it.",
             "A lost key is to be told the same day.")),
    "samples": ("Labelling samples", ("Plot, date, number, in this order.", "Pencil only, ink runs.",
                "One label inside, one outside.", "Bring them to the cold room within two hours.")),
    "kitchen": ("Kitchen rules", ("Who cooks does not wash up.", "Label what is yours.",
                "The oven is slow at the back.", "The list for the shop hangs on the fridge.")),
    "visitors": ("Visitors", ("Announce them a week ahead.", "They sleep in the attic room.", "Boots are for hire.",
                 "A tour takes an hour.")),
    "first_aid": ("First aid", ("Boxes are in the office, the workshop and each boat.",
                  "Call 112, then the office.", "Write every accident down.")),
    "waste": ("Waste", ("Glass and metal go to the shed.", "Solvents are collected in room D4.",
              "Compost is behind the sauna.")),
}  # fmt: skip


def guide(name: str) -> str:
    """A page of the handbook."""
    title, rules = HANDBOOK[name]
    return _page(title, "\n".join(f"  - {rule}" for rule in rules), "Questions? Ask in the [[people:start|office]].")


def base() -> list[Edition]:
    """The pages that are there in every task; some have older editions."""
    random_ = random.Random("wiki base")
    pages = {
        "start": _page(
            "Halvard Bay Field Station",
            "This is what we know and how we do things. Change what is wrong; say in the summary what you changed.",
            "  * [[people:start|People]]\n  * [[instruments:start|Instruments]]\n  * [[plots:start|Plots]]\n"
            "  * [[trips:start|Trips]]\n  * [[handbook:start|Handbook]]",
            _section("News", "The ice is gone since April. The summer course begins in June."),
        ),
        "sidebar": "  * [[start|Front page]]\n  * [[people:start|People]]\n  * [[instruments:start|Instruments]]\n"
        "  * [[plots:start|Plots]]\n  * [[trips:start|Trips]]\n  * [[handbook:start|Handbook]]\n",
        "people:start": _list("People", "Everybody at the station.", [(p.page, p.name) for p in PEOPLE]),
        "instruments:start": _list("Instruments", "What can be borrowed.", [(i.page, i.name) for i in INSTRUMENTS]),
        "plots:start": _list("Plots", "Where we take samples.", [(p.page, p.name) for p in PLOTS]),
        "trips:start": _list("Trips", "What each day out brought.", [(t.page, t.title) for t in TRIPS]),
        "handbook:start": _list("Handbook", "How we do it.", [(f"handbook:{n}", t) for n, (t, _) in HANDBOOK.items()]),
        **{f"handbook:{name}": guide(name) for name in HANDBOOK},
        **{p.page: p.text for p in PEOPLE},
        **{i.page: i.text for i in INSTRUMENTS},
        **{p.page: p.text for p in PLOTS},
        **{t.page: t.text for t in TRIPS},
    }  # fmt: skip
    writers = [p.id for p in random_.sample(PEOPLE, 7)]
    made = []
    for page, text in pages.items():
        when = f"2025-{random_.randint(1, 4):02}-{random_.randint(1, 28):02}T{random_.randint(8, 17):02}:"
        made.append(edition(page, text, random_.choice(writers), f"{when}{random_.randint(0, 29):02}", "created"))
    return made
