"""The museum's site as its editors find it: the base data, the same for every task.

Invariant: plain values, in a fixed order; titles and names are never used twice. A task's records change fields of
pages, and who belongs to which group, and add redirects.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

CHIEF = "mara"
ROOMS = ("Great Hall", "Blue Room", "Lecture Theatre", "Courtyard", "Print Studio")
SECTIONS = ("Talks", "Workshops", "Concerts", "Tours")


@dataclass(frozen=True)
class Event:
    """An event's page. date: ISO; fee: euros, as text."""

    section: str
    title: str
    date: str
    room: str
    seats: int
    fee: str
    host: str

    @property
    def slug(self) -> str:
        """Its part of the address."""
        return slug(self.title)


@dataclass(frozen=True)
class Person:
    """Somebody with an account. groups: the console's own two, or none."""

    username: str
    first_name: str
    last_name: str
    groups: tuple[str, ...]

    @property
    def name(self) -> str:
        """First and last name."""
        return f"{self.first_name} {self.last_name}"


def slug(title: str) -> str:
    """A title as a part of an address."""
    kept = "".join(c if c.isalnum() else " " for c in title.lower().replace("'", ""))
    return "-".join(kept.split())


EVENTS = tuple(
    Event(*row)
    for row in (
        ("Talks", "Bridges that Fell", "2027-02-04", "Lecture Theatre", 120, "8.00", "Aurel Simic"),
        ("Talks", "Maps before Satellites", "2027-02-18", "Lecture Theatre", 110, "8.00", "Birgit Holm"),
        ("Talks", "How Clocks Keep Time", "2027-03-04", "Blue Room", 60, "6.50", "Casper Rook"),
        ("Talks", "The Salt Road", "2027-03-25", "Great Hall", 180, "9.50", "Delia Fonseca"),
        ("Talks", "Letters from the Ice", "2027-04-15", "Blue Room", 55, "6.50", "Edda Varga"),
        ("Talks", "A City's First Lamps", "2027-05-06", "Great Hall", 160, "9.50", "Fabio Lutz"),
        ("Workshops", "Linocut for Beginners", "2027-02-06", "Print Studio", 14, "32.00", "Greta Palm"),
        ("Workshops", "Bookbinding in a Day", "2027-02-20", "Print Studio", 12, "45.00", "Hugo Castell"),
        ("Workshops", "Paper Marbling", "2027-03-13", "Print Studio", 16, "28.00", "Ilka Toth"),
        ("Workshops", "Drawing Old Machines", "2027-03-27", "Courtyard", 24, "18.00", "Jory Penn"),
        ("Workshops", "Mending Ceramics", "2027-04-17", "Blue Room", 10, "52.00", "Kaja Lorenz"),
        ("Workshops", "Natural Dyes", "2027-05-08", "Courtyard", 20, "36.00", "Lino Marchetti"),
        ("Concerts", "Strings at Dusk", "2027-02-12", "Great Hall", 200, "22.00", "Meret Quartet"),
        ("Concerts", "Songs of the Harbour", "2027-02-26", "Courtyard", 140, "16.00", "Nils Ekberg"),
        ("Concerts", "Brass on the Stairs", "2027-03-19", "Great Hall", 220, "18.00", "Opal Brass"),
        ("Concerts", "One Piano, Four Hands", "2027-04-09", "Great Hall", 190, "24.00", "Pia and Quin Rasch"),
        ("Concerts", "Night Organ", "2027-04-23", "Great Hall", 170, "20.00", "Ruben Achter"),
        ("Concerts", "Accordion Breakfast", "2027-05-16", "Blue Room", 70, "14.00", "Sanne Vos"),
        ("Tours", "Behind the Storeroom Door", "2027-02-07", "Great Hall", 18, "7.00", "Tadeo Blum"),
        ("Tours", "The Roof and its Swifts", "2027-03-07", "Courtyard", 15, "7.50", "Una Grady"),
        ("Tours", "Ten Objects, Ten Hands", "2027-03-21", "Great Hall", 22, "5.00", "Viggo Munk"),
        ("Tours", "Cellars by Candle", "2027-04-11", "Courtyard", 12, "9.00", "Willa Stone"),
        ("Tours", "Museum for the Very Small", "2027-05-02", "Blue Room", 25, "4.00", "Xenia Prokop"),
        ("Tours", "A Walk along the Wall", "2027-05-23", "Courtyard", 30, "6.00", "Yorick Hald"),
    )
)
NEWS = (
    ("New Lift in the East Wing", "2026-09-14", "Nadia Bremer"),
    ("Free Entry on the First Sunday", "2026-10-02", "Olaf Winter"),
    ("A Gift of Nine Globes", "2026-10-21", "Petra Sand"),
    ("Cloakroom Closed for Repairs", "2026-11-05", "Nadia Bremer"),
    ("The Shop Has Moved", "2026-11-18", "Olaf Winter"),
    ("Winter Hours Begin", "2026-11-27", "Petra Sand"),
)
PLAIN = ("Opening Hours", "Getting Here", "Tickets", "Museum Cafe", "Accessibility", "Lost Property", "House Rules")
PEOPLE = (
    Person(CHIEF, "Mara", "Ostrow", ("Moderators",)),
    Person("nadia", "Nadia", "Bremer", ("Editors",)),
    Person("olaf", "Olaf", "Winter", ("Editors",)),
    Person("petra", "Petra", "Sand", ("Editors", "Moderators")),
    Person("rhea", "Rhea", "Castro", ("Moderators",)),
    Person("silas", "Silas", "Drummond", ()),
    Person("thea", "Thea", "Nyberg", ("Editors",)),
    Person("ugo", "Ugo", "Ferrante", ()),
    Person("vesna", "Vesna", "Kolar", ("Editors",)),
    Person("wim", "Wim", "Dekker", ("Moderators",)),
)
CONTACTS = (
    {"name": "Aino Berg", "role": "School visits", "phone": "555 0141", "office": "E 12"},
    {"name": "Bo Carrick", "role": "Press", "phone": "555 0187", "office": "N 03"},
    {"name": "Clio Danner", "role": "Room hire", "phone": "555 0129", "office": "N 07"},
    {"name": "Dov Eckert", "role": "Library", "phone": "555 0163", "office": "W 21"},
    {"name": "Elia Frost", "role": "Membership", "phone": "555 0118", "office": "E 04"},
    {"name": "Finn Galle", "role": "Photo permits", "phone": "555 0175", "office": "W 09"},
)
NOTICE = {"notice": "", "ticket_phone": "555 0100", "email": "post@museum.test"}
REDIRECTS = {"/hours": "Opening Hours", "/how-to-get-here": "Getting Here", "/eat": "Museum Cafe", "/prices": "Tickets"}
BY_TITLE = {event.title: event for event in EVENTS}


def listed(section: str) -> list[Event]:
    """The events of a section, in the site's order."""
    return [event for event in EVENTS if event.section == section]


def _event(event: Event) -> dict[str, Any]:
    return {**asdict(event), "kind": "event", "slug": event.slug, "owner": "thea"}


def _page(kind: str, title: str, owner: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "title": title, "slug": slug(title), "owner": owner, **more}


def base() -> dict[str, Any]:
    """All of it as JSON, for the script that fills the site's database."""
    events = {
        section: [{k: v for k, v in _event(event).items() if k != "section"} for event in listed(section)]
        for section in SECTIONS
    }
    news = [_page("news", title, "nadia", date=date, author=author) for title, date, author in NEWS]
    plain = [_page("plain", title, "petra", body=f"{title}: ask at the desk.") for title in PLAIN]
    children = [
        *(
            _page("section", section, "thea", intro=f"{section} this spring.", children=events[section])
            for section in SECTIONS
        ),
        _page("section", "News", "nadia", children=news),
        _page("section", "Visit", "petra", children=plain),
        _page("section", "Archive", "petra", intro="What is over."),
    ]
    return {
        "chief": CHIEF,
        "people": [asdict(person) for person in PEOPLE],
        "home": _page("section", "Larkfield Museum", CHIEF, intro="A museum of making.", children=children),
        "notice": NOTICE,
        "contacts": CONTACTS,
        "redirects": REDIRECTS,
    }
