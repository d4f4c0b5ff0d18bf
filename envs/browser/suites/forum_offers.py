"""Questions to the forum that several offers answer together: what they cost in all, which costs least."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence

from envs.browser.sites import forum_data as data
from envs.browser.sites.forum_data import USERS
from envs.browser.suites.common import Oracle, back, exactly, follow, reach, rng, texts
from envs.browser.suites.families import says
from envs.browser.suites.forum_common import (
    NAMES,
    OTHERS,
    asks,
    ends_with,
    forum_task,
    open_topic,
    says_and_likes,
    search,
)  # fmt: skip
from envs.browser.view import BrowserView
from guiforge.action import Action
from guiforge.task import Family, Task
from verifiers.answers import Money, Name


def _make_offers(seed: int) -> Task:
    random_ = rng("forum_offer_total", seed)
    sellers = {t["comments"][0]["user"] for t in data.base() if t["category"] == "For sale"}
    user = random_.choice([u for u in OTHERS if u not in sellers])
    goods = random_.sample(data.GOODS[8:], 5)
    prices = random_.sample(range(12, 240), 5)
    others = [random_.choice([u for u in OTHERS if u != user]) for _ in range(2)]
    made = [
        data.offer(random_, seller, thing, price, [u for u in OTHERS if u != user])
        for seller, thing, price in zip((user, user, user, *others), goods, prices, strict=True)
    ]
    instruction = random_.choice(
        (
            f"What do all the things that {USERS[user]} offers in the category For sale cost together?",
            f"Add up the prices of everything that {USERS[user]} has put up for sale. What is the total?",
        )
    )
    random_.shuffle(made)
    return forum_task(
        "forum_offer_total", seed, "hard", instruction, made,
        params={"name": USERS[user], "goods": goods[:3], "prices": prices[:3], "wrong": sum(prices[:4])},
    )  # fmt: skip


def _price(view: BrowserView) -> Generator[Sequence[Action], None, int]:
    """Reads the price of an offer; a topic seen before opens where it was left."""
    box = yield from reach(view, "#c1 .js-comment-text")
    return int(re.search(r"Price: (\d+) EUR", box.text)[1])  # type: ignore[index]


def _play_offers(task: Task, view: BrowserView) -> Oracle:
    yield from open_topic(view, task.params["goods"][0])
    yield from follow(view, "#c1 a.comment__info__username__link")
    yield from follow(view, "a.nav__tabs__link", "Topics")
    total = 0
    for title in [text for text in texts(view, "a.topic__link") if text in data.GOODS]:
        yield from follow(view, "a.topic__link", exactly(title))
        total += yield from _price(view)
        yield from back(view)
    yield from ends_with(f"{total} EUR")


def _make_cheapest(seed: int) -> Task:
    random_ = rng("forum_cheapest", seed)
    thing = random_.choice(data.GOODS[8:])
    users, prices = random_.sample(OTHERS, 4), random_.sample(range(20, 300), 4)
    marks = random_.sample(("as new", "needs work", "two of them", "with a dent", "very old", "large"), 4)
    made = []
    for user, price, mark in zip(users, prices, marks, strict=True):
        offer = data.offer(random_, user, thing, price, [u for u in OTHERS if u not in users])
        made.append({**offer, "title": f"{thing}, {mark}"})
    ranked = sorted(zip(prices, users, strict=True))
    instruction = random_.choice(
        (
            f'Four members offer something whose title begins with "{thing}". Whose offer is the cheapest?',
            f'Who sells at the lowest price among the offers titled "{thing}, ..."?',
        )
    )
    return forum_task(
        "forum_cheapest", seed, "hard", instruction, made,
        params={"thing": thing, "name": USERS[ranked[0][1]], "second": USERS[ranked[1][1]],
                "dearest": USERS[ranked[3][1]]},
    )  # fmt: skip


def _play_cheapest(task: Task, view: BrowserView) -> Oracle:
    yield from search(view, task.params["thing"])
    found = []
    for title in [
        box.text for box in view.find_all("a.topic__link") if box.text.startswith(f"{task.params['thing']},")
    ]:
        yield from follow(view, "a.topic__link", exactly(title))
        price = yield from _price(view)
        found.append((price, view.wait_for("#c1 a.comment__info__username__link").text.strip()))
        yield from back(view)
    yield from ends_with(min(found)[1])


FAMILIES = (
    Family(
        "forum_offer_total",
        _make_offers,
        asks(lambda task: Money(str(sum(task.params["prices"])), "EUR")),
        _play_offers,
        solutions={
            "amount": says(lambda t: f"{sum(t.params['prices'])} EUR"),
            "sentence": says(lambda t: f"Together they cost €{sum(t.params['prices'])}.00."),
        },
        near_misses={
            "one more": says(lambda t: f"{t.params['wrong']} EUR"),
            "one less": says(lambda t: f"{sum(t.params['prices'][1:])} EUR"),
            "changed something": says_and_likes(lambda t: f"{sum(t.params['prices'])} EUR"),
        },
    ),
    Family(
        "forum_cheapest",
        _make_cheapest,
        asks(lambda task: Name(task.params["name"], others=NAMES)),
        _play_cheapest,
        solutions={
            "name": says(lambda t: t.params["name"]),
            "sentence": says(lambda t: f"The cheapest offer is {t.params['name']}'s."),
        },
        near_misses={
            "second": says(lambda t: t.params["second"]),
            "dearest": says(lambda t: t.params["dearest"]),
            "changed something": says_and_likes(lambda t: t.params["name"]),
        },
    ),
)
