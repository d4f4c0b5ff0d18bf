"""What the site `forum` holds: a forum of people who repair old houses, made from a fixed random generator.

Invariant: titles are all different, and so are comments within a topic. Topics are JSON values; a task adds its own by
the same functions.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

ADMIN = "marten"  # who the agent is: moderator and administrator
USERS = {
    "marten": "Marten Quill", "agnes": "Agnes Holloway", "bruno": "Bruno Carrick", "celia": "Celia Marsh",
    "dirk": "Dirk Oster", "esme": "Esme Tarrant", "felix": "Felix Yarrow", "greta": "Greta Lund",
    "hugo": "Hugo Penrose", "irma": "Irma Voss", "jonas": "Jonas Webb", "kitty": "Kitty Sloane",
    "lorenz": "Lorenz Pike", "mabel": "Mabel Thorne",
}  # fmt: skip
PLACES = (
    "Arvika", "Coimbra", "Dornbirn", "Esbjerg", "Fulda", "Girona", "Haarlem", "Kotor", "Lucerne", "Narvik", "Porvoo",
    "Quimper", "Rovinj", "Silkeborg", "Trogir", "Visby",
)  # fmt: skip
CATEGORIES = {
    "Roofs and gutters": "Slates, tiles, leaks",
    "Windows and doors": "Sashes, locks, draughts",
    "Heating": "Stoves, boilers, chimneys",
    "Gardens": "Walls, ponds, paths",
    "For sale": "Offers among members; put the price into the first post",
    "House talk": "Everything else",
}
_TITLES = {
    "Roofs and gutters": (
        "Moss on the north side", "Lead or zinc for the valley?", "Slates slipping after the storm",
        "How steep is too steep?", "Gutter brackets that hold", "Skylight drips in the morning",
        "Thatch and mice", "Ridge tiles loose again",
    ),
    "Windows and doors": (
        "Sash cord keeps snapping", "Draught under the front door", "Putty that does not crack",
        "Old lock, no key", "Shutters: paint or oil?", "Double glazing in thin frames", "Door sticks in wet weather",
        "Bubbles in old glass",
    ),
    "Heating": (
        "Tiled stove smokes when lit", "Radiator cold at the top", "Which wood burns longest?",
        "Chimney sweep found a crack", "Boiler ticks at night", "Stove door glass turns black",
        "Pipes knock in the wall", "Warm floor under old boards",
    ),
    "Gardens": (
        "Dry stone wall leans", "Pond loses water", "Pear tree against the house", "Gravel path full of weeds",
        "Gate sinks on its hinges", "Rain barrel with a lid", "Compost too close to the wall", "Ivy: friend or foe?",
    ),
    "House talk": (
        "What did you find under the floor?", "House names", "Photos of your stairs", "Lime plaster for beginners",
        "Woodworm or just old holes?", "Best tool you ever bought", "Neighbours and noise",
        "Cellar smells in summer",
    ),
}  # fmt: skip
GOODS = (
    "Cast iron radiator", "Oak beam, three metres", "Bath with feet", "Box of brass handles", "Stack of clay tiles",
    "Enamel kitchen stove", "Pair of shutters", "Marble window sill", "Cement mixer", "Roll of lead sheet",
    "Ladder, extendable", "Pine floor boards", "Copper kettle", "Stained glass panel", "Cart wheel", "Garden bench",
    "Stone trough", "Set of chisels",
)  # fmt: skip
REPLIES = (
    "Same here, I gave up after two years.", "Photos would help.", "Have you tried linseed oil?",
    "Ask the man at the timber yard, he knows.", "Mine is from 1890 and still fine.", "Do not use foam, please.",
    "I would wait for dry weather.", "That worked for my aunt.", "Is it the original one?",
    "Get a second opinion before you pay.", "We had that in the kitchen.", "Lime, not cement. Always.",
    "It took me a whole weekend.", "Check the flashing first.", "Thanks, I will try that.",
    "Which side does the wind come from?", "Wrap it in hemp and it holds.", "I have one left over, come and get it.",
    "A drop of candle wax does wonders.", "You need longer screws.", "Mark the spot before it dries.",
    "Start at the bottom and work up.",
)  # fmt: skip
OPENINGS = (
    "It has been like this since we moved in.", "I do not know where to begin.", "Every autumn the same story.",
    "My grandfather would have known.", "Before I call somebody: what do you think?",
    "I read three books and am none the wiser.", "It was fine until last week.", "There must be a simple way.",
)  # fmt: skip
Topic = dict[str, Any]
Comment = dict[str, Any]


def comment(
    user: str, text: str, likes: Sequence[str] = (), poll: Mapping[str, Sequence[str]] | None = None
) -> Comment:
    """A comment. likes: who likes it. poll: who voted for what, by choice, in the order of the choices."""
    return {"user": user, "text": text, "likes": list(likes), "poll": None if poll is None else dict(poll)}


def topic(title: str, category: str, comments: Sequence[Comment], when: str = "2025-05-02T10:00", **more: Any) -> Topic:
    """A topic, begun by who wrote its first comment; the others follow an hour apart.

    more: `closed`, `pinned`; `to`, the users invited to a private one (its category is then left out of account).
    """
    return {"title": title, "category": category, "comments": list(comments), "date": when, **more}


def chatter(random_: random.Random, users: Sequence[str], n: int) -> list[Comment]:
    """Replies that say nothing in particular, some of them liked."""
    made = []
    for text in random_.sample(REPLIES, n):
        user = random_.choice(users)
        likes = random_.sample([u for u in users if u != user], random_.choice((0, 0, 0, 1, 2)))
        made.append(comment(user, text, likes))
    return made


def offer(random_: random.Random, user: str, goods: str, price: int, users: Sequence[str], n: int = 2) -> Topic:
    """A topic of `For sale`."""
    first = comment(user, f"{goods}, to be fetched in {random_.choice(PLACES)}. Price: {price} EUR.")
    return topic(goods, "For sale", [first, *chatter(random_, users, n)], moment(random_))


def moment(random_: random.Random) -> str:
    """Some time in which the forum's topics were begun, ISO to the minute."""
    return (datetime(2025, 1, 2, 8) + timedelta(minutes=random_.randrange(60 * 24 * 120))).isoformat("T", "minutes")


def locations() -> dict[str, str]:
    """Where everybody lives, by user."""
    return dict(zip(USERS, random.Random("forum places").sample(PLACES, len(USERS)), strict=True))


def base() -> list[Topic]:
    """The topics that are there in every task; none is the agent's."""
    random_, users = random.Random("forum"), [user for user in USERS if user != ADMIN]
    made = []
    for category, titles in _TITLES.items():
        for title in titles:
            first = comment(
                random_.choice(users), random_.choice(OPENINGS), random_.sample(users, random_.randint(0, 3))
            )
            replies = chatter(random_, users, random_.randint(0, 9))
            made.append(topic(title, category, [first, *replies], moment(random_)))
    made += [
        offer(random_, random_.choice(users), goods, random_.randint(5, 180), users, random_.randint(0, 3))
        for goods in GOODS[:8]
    ]
    return sorted(made, key=lambda made_: str(made_["date"]))
