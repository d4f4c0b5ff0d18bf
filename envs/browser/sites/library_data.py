"""What the site `library` holds: books of authors, series and publishers that do not exist.

Invariant: every title is a different one (an article apart), every author belongs to one language and one or two tags,
and volumes of a series are numbered from 1 without a gap.
"""

from __future__ import annotations

import random
from typing import Any

Book = dict[str, Any]

_FIRST = (
    "Agnes", "Bela", "Cosima", "Dag", "Edda", "Florin", "Gesine", "Henk", "Ines", "Jarmila", "Kees", "Lidia",
    "Matteo", "Nanni", "Osvald", "Petra", "Ruben", "Sanne", "Tilda", "Urs", "Viola", "Willem", "Ysolde", "Zoltan",
)  # fmt: skip
_LAST = (
    "Abramczik", "Bellweather", "Corvino", "Dunkeld", "Eskildsen", "Farrow", "Greenwald", "Halloran", "Iversen",
    "Jessop", "Kovalik", "Lindqvist", "Marchetti", "Norgard", "Oyelaran", "Pemberly", "Quist", "Rosenthal",
    "Savory", "Tremaine", "Ulvang", "Vandermeer", "Wexford", "Yardley",
)  # fmt: skip
_THINGS = (
    "Lantern", "Harbour", "Orchard", "Compass", "Clockmaker", "Glacier", "Sparrow", "Viaduct", "Cartographer",
    "Meadow", "Lighthouse", "Telegraph", "Quarry", "Ferryman", "Beekeeper", "Archive", "Tide", "Signal", "Loom",
    "Cellar", "Bridge", "Almanac", "Foundry", "Pilgrim",
)  # fmt: skip
_KINDS = (
    "Salt", "Copper", "Winter", "Paper", "Silent", "Northern", "Glass", "Hollow", "Amber", "Crooked", "Distant",
    "Painted", "Midnight", "Borrowed", "Iron", "Last",
)  # fmt: skip
_PATTERNS = ("The {kind} {thing}", "A {thing} for {first}", "{kind} {thing}", "The {thing} of {last}")
TAGS = (
    "Adventure", "Biography", "Cookery", "Crime", "Essays", "Fantasy", "Gardening", "History", "Mountaineering",
    "Poetry", "Romance", "Science Fiction", "Seafaring", "Travel",
)  # fmt: skip
PUBLISHERS = ("Blue Heron", "Copperplate", "Fjord & Sons", "Kiln House", "Marginalia", "Two Bridges", "Vesper Press")
LANGUAGES = ("eng", "deu", "fra", "ita")
SERIES = (
    "Annals of the Weir", "Harbour Watch", "Inspector Quill", "The Cinder Road", "Letters from Brask", "Seven Ferries",
    "The Moss Gate", "Under Slow Stars",
)  # fmt: skip


def books(
    random_: random.Random, many: int, *, taken: list[Book] | None = None, series: tuple[str, ...] = SERIES
) -> list[Book]:
    """So many books: title, authors, series, index, tags, rating (0 none, to 5), publisher, language,
    date, pages, about.

    taken: books that are there already, whose titles and authors are not used again.  series: names for series.
    """
    titles = {book["title"].removeprefix("The ") for book in taken or ()}
    authors = {author for book in taken or () for author in book["authors"]}
    made: list[Book] = []
    unused = list(series)
    while len(made) < many:
        author = f"{random_.choice(_FIRST)} {random_.choice(_LAST)}"
        if author in authors:
            continue
        authors.add(author)
        tags = sorted(random_.sample(TAGS, random_.choice((1, 2, 2))))
        language = random_.choice(("eng", "eng", *LANGUAGES))
        of = unused.pop() if unused and random_.random() < 0.4 else None
        for index in range(1, min(random_.randint(3, 5) if of else random_.randint(1, 3), many - len(made)) + 1):
            pages = random_.randint(90, 640)
            made.append(
                {
                    "title": _title(random_, titles),
                    "authors": [author],
                    "series": of,
                    "index": index if of else 1,
                    "tags": tags if of or len(tags) == 1 else sorted(random_.sample(tags, random_.randint(1, 2))),
                    "rating": random_.choice((0, 0, 2, 3, 3, 4, 4, 5)),
                    "publisher": random_.choice(PUBLISHERS),
                    "language": language,
                    "date": f"{random_.randint(1985, 2024)}-{random_.randint(1, 12):02}-{random_.randint(1, 28):02}",
                    "pages": pages,
                    "about": _about(random_, pages),
                }
            )
    return made


def _title(random_: random.Random, titles: set[str]) -> str:
    while True:
        words = {
            "kind": random_.choice(_KINDS),
            "thing": random_.choice(_THINGS),
            "first": random_.choice(_FIRST),
            "last": random_.choice(_LAST),
        }
        title = random_.choice(_PATTERNS).format(**words)
        if title.removeprefix("The ") not in titles:
            titles.add(title.removeprefix("The "))
            return title


def _about(random_: random.Random, pages: int) -> str:
    where = random_.choice(("a valley without roads", "a town on stilts", "an island of weavers", "the salt flats"))
    return f"{random_.choice(('Set in', 'A tale from', 'Notes from'))} {where}. {pages} pages."


def base() -> list[Book]:
    """The books that are there in every task."""
    return books(random.Random("library"), 80, series=SERIES[:5])
