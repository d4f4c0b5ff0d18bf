"""The link collection that the bookmarks site begins with: shops, guides, courses and clubs of twelve hobbies, notes.

Invariant: the same rows in any process, newest last, ids from 1, no two of the same title or address.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

# hobby -> what its shop is called and sells, what its people are called, guides to it
HOBBIES = {
    "baking": ("Bakers' Supply", "Flour, proving baskets and baking stones", "Bakers", (
        "Sourdough Without Fuss", "The Patient Crumb", "Rye in Three Days")),
    "pottery": ("Clay Store", "Clay by the bag, glazes and kiln shelves", "Potters", (
        "Throwing Tall Forms", "A Glaze Notebook", "Kilns for Small Sheds")),
    "cycling": ("Wheelhouse", "Tyres, lamps and panniers", "Wheelers", (
        "Gears Explained Slowly", "Touring on Gravel", "Wheels You Can True Yourself")),
    "birdwatching": ("Optics", "Field glasses, tripods and nest boxes", "Birders", (
        "Waders of the Grey Coast", "Listening Before Looking", "Nest Boxes That Work")),
    "gardening": ("Seeds", "Old vegetables, meadow mixes and seed potatoes", "Growers", (
        "Beds Without Digging", "Pruning by the Month", "Compost in One Season")),
    "astronomy": ("Telescopes", "Mirrors, eyepieces and red torches", "Stargazers", (
        "Double Stars for City Skies", "Grinding a First Mirror", "The Moon by Evening")),
    "sailing": ("Chandlery", "Ropes, blocks and oilskins", "Sailors", (
        "Reading a Tide Table", "Knots in Bad Weather", "Coasting Under Jib Alone")),
    "woodworking": ("Timber Yard", "Sawn oak, hand planes and hide glue", "Joiners", (
        "Dovetails by Hand", "Sharpening on Stones", "A Bench in One Weekend")),
    "weaving": ("Yarn Room", "Wool on cones, shuttles and small looms", "Weavers", (
        "Twill for Blankets", "Warping on Your Own", "Plant Dyes of the Hedge")),
    "beekeeping": ("Hive Works", "Frames, veils and smokers", "Beekeepers", (
        "The First Swarm", "Wintering Weak Hives", "Heather Honey Calendar")),
    "hiking": ("Mountain Store", "Boots, gaiters and paper maps", "Ramblers", (
        "Ridges Without Ropes", "Huts of the Long Valley", "A Light Pack for Five Days")),
    "chess": ("Board Shop", "Weighted sets, clocks and score books", "Chess Players", (
        "Endings With One Pawn", "A Small Repertoire", "Traps in the Open Games")),
}  # fmt: skip
PLACES = (
    "Aldermoor", "Brackenford", "Corrie Bay", "Dunmarsh", "Eastwick", "Farrowdale", "Glasson", "Harrow Mill",
    "Inverlea", "Jarrowby", "Kelmscar", "Lowther End", "Millbank", "Netherby", "Orrin Cross", "Penhallow",
    "Quarrybridge", "Ravenscote", "Silverdyke", "Thornaby Green", "Underhill", "Vellan", "Westerholm", "Yarrowfield",
)  # fmt: skip
PEOPLE = (
    "Ada Brandreth", "Bruno Castellan", "Clara Dunning", "Dmitri Ekholm", "Edda Farrant", "Felix Gammon",
    "Greta Hollis", "Hamid Irvani", "Ines Jorgensen", "Jonas Kettle", "Katya Lindqvist", "Leon Marchetti",
    "Mira Nakamura", "Nils Oakden", "Olive Prentice", "Pavel Quist", "Rosa Standish", "Samir Tollan",
)  # fmt: skip
KINDS = ("shop", "club", "guide", "course")
EXTRA_TAGS = ("beginner", "gift", "local", "revisit", "winter")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
HALLS = ("village hall", "old school", "library cellar", "boat shed", "parish rooms", "tram depot")
NOTES = (
    ("Open day: who brings what", "Tables from the parish rooms, urn from Greta, leaflets from Samir.", ("planning",)),
    ("Words for the newsletter", "Ask each club for two lines. Pictures no wider than 900 pixels.", ("planning",)),
    ("Library loans", "The mirror book is due back on the third, the knot book can be kept.", ("revisit",)),
    ("Keys", "The tram depot opens with the brass key, the cellar with the long one.", ("local",)),
    ("Gift list", "Yarn for Edda, a score book for Jonas, gaiters for Mira.", ("gift",)),
    ("Winter programme", "Six evenings, one hobby each, soup at seven.", ("planning", "winter")),
)


@dataclass(frozen=True)
class Bookmark:
    """A row of the collection. url: empty for a note. created: ISO, UTC."""

    id: int
    url: str
    title: str
    description: str
    tags: tuple[str, ...]
    private: bool
    created: str
    sticky: bool = False

    def record(self) -> dict[str, Any]:
        """It as the site's seeder takes it: JSON."""
        return {**asdict(self), "tags": list(self.tags)}


def address(title: str) -> str:
    """Where a link of this title leads."""
    return f"https://{'-'.join(''.join(c for c in title.lower() if c.isalnum() or c == ' ').split())}.example/"


def extra_tags(random_: random.Random) -> list[str]:
    """None to two of the tags that say nothing of a hobby or kind."""
    return random_.sample(EXTRA_TAGS, random_.randint(0, 2))


def titled(hobby: str, kind: str, place: str) -> str:
    """What a link of a kind (shop, club, guide, course) is called that is of a place."""
    wares, _, people, _ = HOBBIES[hobby]
    return {
        "shop": f"{place} {wares}",
        "club": f"{place} {people}",
        "guide": f"{hobby.capitalize()} Notes From {place}",
        "course": f"{place} School of {hobby.capitalize()}",
    }[kind]


def described(random_: random.Random, hobby: str, kind: str) -> str:
    """What is said of a link of a kind, with figures of its own."""
    if kind == "shop":
        return (
            f"{HOBBIES[hobby][1]}. Delivery costs {random_.randrange(290, 890, 10) / 100:.2f} EUR, "
            f"free of charge from {random_.randrange(30, 95, 5)} EUR. "
            f"Orders placed by {random_.randint(9, 15)}:30 leave on the same day."
        )
    if kind == "club":
        meets = (
            f"Meets every {random_.choice(WEEKDAYS)} at {random_.randint(17, 20)}:{random_.choice(('00', '15', '30'))} "
            f"in the {random_.choice(HALLS)}."
        )
        members, fee = random_.randint(11, 96), random_.randint(12, 78)
        while fee == members:  # who takes one for the other must be wrong
            fee = random_.randint(12, 78)
        return f"{meets} {members} members; a year costs {fee} EUR."
    if kind == "guide":
        revised = datetime(2019, 1, 1, tzinfo=UTC) + timedelta(days=random_.randrange(1800))
        return (
            f"{random_.randint(6, 41)} chapters by {random_.choice(PEOPLE)}, free to read. "
            f"Last revised on {revised.day} {revised:%B %Y}."
        )
    return (
        f"{random_.randint(5, 28)} lessons with {random_.choice(PEOPLE)}, {random_.randint(60, 900)} minutes in all. "
        f"The whole course costs {random_.randrange(1250, 7900, 50) / 100:.2f} EUR."
    )


def _entries(random_: random.Random) -> Iterator[tuple[str, str, str]]:
    """Hobby, kind and title of each link."""
    for hobby, (_, _, _, guides) in HOBBIES.items():
        places = random_.sample(PLACES, 5)
        yield from ((hobby, "shop", titled(hobby, "shop", place)) for place in places[:2])
        yield from ((hobby, "club", titled(hobby, "club", place)) for place in places[2:])
        yield from ((hobby, "guide", title) for title in guides)
        yield hobby, "course", f"{hobby.capitalize()} From Scratch"
        yield hobby, "course", f"{hobby.capitalize()}: The Second Year"


@cache
def base() -> tuple[Bookmark, ...]:
    """The whole collection: 120 links and a few notes."""
    random_ = random.Random("bookmarks")
    links = [
        (address(title), title, described(random_, hobby, kind), (hobby, kind, *extra_tags(random_)))
        for hobby, kind, title in _entries(random_)
    ]
    rows = [*links, *(("", *note) for note in NOTES)]
    random_.shuffle(rows)
    days = sorted(random_.sample(range(540), len(rows)))
    start = datetime(2024, 1, 8, 8, 0, tzinfo=UTC)
    return tuple(
        Bookmark(
            number, url, title, text, tags, url == "" or random_.random() < 0.2,
            (start + timedelta(days=day, minutes=random_.randrange(720))).isoformat(),
        )
        for number, (day, (url, title, text, tags)) in enumerate(zip(days, rows, strict=True), 1)
    )  # fmt: skip


def fresh(random_: random.Random, count: int, *, hobby: str = "", kind: str = "") -> list[Bookmark]:
    """Links that the collection does not have yet, added after its last: of a hobby and a kind, or of any."""
    taken = {bookmark.title for bookmark in base()}
    rows: list[Bookmark] = []
    start = datetime(2025, 7, 2, 9, 0, tzinfo=UTC)
    while len(rows) < count:
        its = hobby or random_.choice(list(HOBBIES)), kind or random_.choice(KINDS)
        title = titled(*its, random_.choice(PLACES))
        if title not in taken:
            taken.add(title)
            created = start + timedelta(days=2 * len(rows), minutes=random_.randrange(600))
            tags = (*its, *extra_tags(random_))
            text, private = described(random_, *its), random_.random() < 0.3
            rows.append(
                Bookmark(len(base()) + 1 + len(rows), address(title), title, text, tags, private, created.isoformat())
            )
    return rows


def collection(records: list[dict[str, Any]] | None) -> list[Bookmark]:
    """What the site holds with these records, newest first, as it lists them."""
    rows = {b.id: b for b in base()} | {r["id"]: Bookmark(**{**r, "tags": tuple(r["tags"])}) for r in records or []}
    return sorted(rows.values(), key=lambda bookmark: bookmark.created, reverse=True)
