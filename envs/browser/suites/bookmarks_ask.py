"""Task families that ask for what the bookmarks site says: fees, counts, days, comparisons, sums."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from envs.browser.sites.bookmarks_data import EXTRA_TAGS, HOBBIES, Bookmark, base, collection, described, fresh
from envs.browser.suites.bookmarks_pages import BOOKMARKS, SITE, fact, item, listed, records, search, tagged
from envs.browser.suites.common import Oracle, follow, make_task, reach, rng
from envs.browser.suites.families import Play, question
from envs.browser.view import BrowserView
from guiforge.task import Family, Task
from verifiers.answers import Day, Money, Number, SetOf, Text, Want
from verifiers.sites import edit_rows, set_columns

_MEDDLED = {BOOKMARKS: edit_rows(set_columns("1", title="Seen"))}


def _asked(
    family: str, seed: int, level: str, instruction: str, added: list[Bookmark], right: Sequence[str],
    wrong: Sequence[str], **params: Any,
) -> Task:  # fmt: skip
    return make_task(
        family, seed, instruction, site=SITE, tags=(SITE, level), records=records(*added),
        params={"right": list(right), "wrong": list(wrong), **params},
    )  # fmt: skip


def _ask(name: str, make: Callable[[int], Task], want: Callable[[Task], Want], look: Play, *wrong: str) -> Family:
    return question(SITE, name, make, want, look, wrong=wrong, meddled=_MEDDLED)


def _reads(view: BrowserView, task: Task, read: Callable[[dict[str, str]], str]) -> None:
    """Waits until what is read off the page is the answer. Raises OracleStuck: the site does not tell it."""
    right = task.params["right"][0]
    view.wait_until(lambda: read(listed(view)) == right, f"the page does not say {right!r}: {listed(view)}")


def _renewed(random_: random.Random, bookmark: Bookmark) -> Bookmark:
    """It with figures of the seed's own."""
    return replace(bookmark, description=described(random_, *bookmark.tags[:2]))


def _links(kind: str, hobby: str = "") -> list[Bookmark]:
    return tagged(base(), *([hobby, kind] if hobby else [kind]))


# -- one figure of one link --------------------------------------------------------------------------------------------


def _make_fee(seed: int) -> Task:
    random_ = rng("bookmarks_club_fee", seed)
    club, other = (_renewed(random_, b) for b in random_.sample(_links("club"), 2))
    instruction = random_.choice(
        (
            f"What does a year's membership of the {club.title} cost, according to the link collection?",
            f"I would like to join the {club.title}. Find out in my bookmarks what one year costs there.",
            f"Look up the entry of the {club.title} and tell me their yearly fee.",
        )
    )
    fee = fact(club, "fee")
    return _asked(
        "bookmarks_club_fee", seed, "easy", instruction, [club, other],
        [f"{fee} EUR", f"A year costs €{fee}.00."], [fact(club, "members"), f"{int(fee) + 1} EUR"], title=club.title,
        amount=fee,
    )  # fmt: skip


def _play_fee(task: Task, view: BrowserView) -> Oracle:
    yield from search(view, task.params["title"])
    _reads(view, task, lambda found: f"{fact(found[task.params['title']], 'fee')} EUR")


# -- how many ----------------------------------------------------------------------------------------------------------


def _make_count(seed: int) -> Task:
    random_ = rng("bookmarks_count_private", seed)
    tag = random_.choice([*EXTRA_TAGS, "club", "guide", "shop", "course"])
    added = fresh(random_, 14)
    having = tagged(collection(records(*added)), tag)
    private = [b for b in having if b.private]
    instruction = random_.choice(
        (
            f'How many of the bookmarks tagged "{tag}" are private?',
            f'Count the private bookmarks that carry the tag "{tag}".',
            f'Some bookmarks with the tag "{tag}" can be seen by the keeper alone. How many are they?',
        )
    )
    return _asked(
        "bookmarks_count_private", seed, "medium", instruction, added,
        [str(len(private)), f"There are {len(private)} such bookmarks."],
        [str(len(having)), str(len(private) + 1)], tag=tag, count=len(private),
    )  # fmt: skip


def _play_count(task: Task, view: BrowserView) -> Oracle:
    yield from follow(view, 'a[title="Only display private links"]')
    yield from search(view, tags=task.params["tag"])
    view.wait_for("#search-result-content", rf"{task.params['right'][0]} results? tagged.*with status\s+private")


# -- when --------------------------------------------------------------------------------------------------------------


def _make_day(seed: int) -> Task:
    random_ = rng("bookmarks_added_day", seed)
    moment = (
        datetime(2025, 7, 3, 8, 0, tzinfo=UTC).timestamp() + random_.randrange(80) * 86400 + random_.randrange(36000)
    )
    added = [
        replace(b, created=datetime.fromtimestamp(moment + n * 86400 * 3, tz=UTC).isoformat())
        for n, b in enumerate(fresh(random_, 8, kind=random_.choice(("guide", "course"))))
    ]
    link, other = random_.sample(added, 2)
    days = [datetime.fromisoformat(b.created).date() for b in (link, other)]
    instruction = random_.choice(
        (
            f'On which day was "{link.title}" added to the collection?',
            f'When did I save the bookmark "{link.title}"? Give the date.',
            f'Find the date on which "{link.title}" was put into the link collection.',
        )
    )
    return _asked(
        "bookmarks_added_day", seed, "easy", instruction, added,
        [f"{days[0]:%B} {days[0].day}, {days[0].year}", f"It was added on {days[0].isoformat()}."],
        [days[1].isoformat(), days[0].replace(year=2024).isoformat()], title=link.title, number=link.id,
        day=days[0].isoformat(),
    )  # fmt: skip


def _play_day(task: Task, view: BrowserView) -> Oracle:
    yield from search(view, task.params["title"])
    yield from reach(view, item(task.params["number"], ".linkdate"), rf"\s*{task.params['right'][0]} at .*")


# -- which has most, which costs least ---------------------------------------------------------------------------------


def _make_longest(seed: int) -> Task:
    random_ = rng("bookmarks_longest_guide", seed)
    hobby = random_.choice(list(HOBBIES))
    old = [_renewed(random_, b) for b in _links("guide", hobby)]
    added = fresh(random_, 2, hobby=hobby, kind="guide")
    guides = sorted((*old, *added), key=lambda b: (int(fact(b, "chapters")), b.id), reverse=True)
    if fact(guides[0], "chapters") == fact(guides[1], "chapters"):
        guides[0] = replace(guides[0], description=guides[0].description.replace(fact(guides[0], "chapters"), "44", 1))
    instruction = random_.choice(
        (
            f'Which of the guides tagged "{hobby}" has the most chapters? Give its title.',
            f"I want the most thorough {hobby} guide in the collection, the one with most chapters. What is it called?",
            f'Compare the guides about {hobby} (tags "{hobby}" and "guide") and name the one with the most chapters.',
        )
    )
    return _asked(
        "bookmarks_longest_guide", seed, "medium", instruction, guides,
        [guides[0].title, f'The guide with the most chapters is "{guides[0].title}".'],
        [guides[1].title, guides[-1].title], tags=f"{hobby} guide", others=[b.title for b in guides[1:]],
    )  # fmt: skip


def _play_longest(task: Task, view: BrowserView) -> Oracle:
    yield from search(view, tags=task.params["tags"])
    _reads(view, task, lambda found: max(found, key=lambda title: int(fact(found[title], "chapters"))))


def _make_cheapest(seed: int) -> Task:
    random_ = rng("bookmarks_cheapest_course", seed)
    tag = random_.choice(EXTRA_TAGS)
    courses = [
        replace(_renewed(random_, b), tags=(*(t for t in b.tags if t != tag), *([tag] if n < 4 else [])))
        for n, b in enumerate(random_.sample(tagged(base(), "course"), 8))
    ]
    ranked = sorted(
        tagged(collection(records(*courses)), "course", tag), key=lambda b: (Decimal(fact(b, "price")), b.id)
    )
    price = fact(ranked[0], "price")  # less, for two may cost the same
    best = replace(ranked[0], description=ranked[0].description.replace(price, f"{Decimal(price) - 1:.2f}"))
    courses = [*(b for b in courses if b.id != best.id), best]
    instruction = random_.choice(
        (
            f'Of the courses that are also tagged "{tag}", which one costs the least? Tell me its title.',
            f'I look for the cheapest course among those with the tag "{tag}". What is its title?',
            f'Among the bookmarks tagged both "course" and "{tag}", which has the lowest price? Give its title.',
        )
    )
    return _asked(
        "bookmarks_cheapest_course", seed, "hard", instruction, courses,
        [best.title, f"“{best.title}” costs the least."], [ranked[1].title, ranked[-1].title], tags=f"course {tag}",
        others=[b.title for b in ranked[1:]],
    )  # fmt: skip


def _play_cheapest(task: Task, view: BrowserView) -> Oracle:
    yield from search(view, tags=task.params["tags"])
    _reads(view, task, lambda found: min(found, key=lambda title: Decimal(fact(found[title], "price"))))


def _title(task: Task) -> Want:
    return Text(task.params["right"][0], others=tuple(task.params["others"]))


# -- sums and sets -----------------------------------------------------------------------------------------------------


def _make_total(seed: int) -> Task:
    random_ = rng("bookmarks_delivery_total", seed)
    hobbies = random_.sample(list(HOBBIES), 2)
    shops = [_renewed(random_, b) for hobby in hobbies for b in _links("shop", hobby)]
    total = sum((Decimal(fact(b, "delivery")) for b in shops), Decimal())
    first = sum((Decimal(fact(b, "delivery")) for b in shops[:2]), Decimal())
    instruction = random_.choice(
        (
            f"I order once from each {hobbies[0]} shop and once from each {hobbies[1]} shop in the collection. What do "
            "the deliveries cost together?",
            f'Add up the delivery costs of all shops tagged "{hobbies[0]}" or "{hobbies[1]}". What is the total?',
        )
    )
    return _asked(
        "bookmarks_delivery_total", seed, "hard", instruction, shops,
        [f"{total} EUR", f"Together they cost {total} euros."], [f"{first} EUR", f"{total + Decimal('0.10')} EUR"],
        hobbies=hobbies, amount=str(total),
    )  # fmt: skip


def _play_total(task: Task, view: BrowserView) -> Oracle:
    seen: dict[str, str] = {}
    for hobby in task.params["hobbies"]:
        yield from search(view, tags=f"{hobby} shop")
        seen |= listed(view)
    _reads(view, task, lambda _: f"{sum(Decimal(fact(text, 'delivery')) for text in seen.values())} EUR")


def _make_set(seed: int) -> Task:
    random_ = rng("bookmarks_private_links", seed)
    hobby = random_.choice(list(HOBBIES))
    links = random_.sample(tagged(base(), hobby), 10)
    count = random_.randint(2, 4)
    links = [replace(b, private=n < count) for n, b in enumerate(links)]
    titles = [b.title for b in sorted(links[:count], key=lambda b: b.created, reverse=True)]
    instruction = random_.choice(
        (
            f'Which of the bookmarks tagged "{hobby}" are private? List their titles.',
            f"Give me the titles of all private bookmarks about {hobby}.",
        )
    )
    return _asked(
        "bookmarks_private_links", seed, "medium", instruction, links,
        ["; ".join(titles), "They are:\n" + "\n".join(f"- {title}" for title in titles)],
        ["; ".join(titles[1:]), "; ".join([*titles, links[-1].title])], tag=hobby, titles=titles,
    )  # fmt: skip


def _play_set(task: Task, view: BrowserView) -> Oracle:
    yield from follow(view, 'a[title="Only display private links"]')
    yield from search(view, tags=task.params["tag"])
    _reads(view, task, "; ".join)


FAMILIES = (
    _ask(
        "bookmarks_club_fee", _make_fee, lambda task: Money(task.params["amount"], "EUR"), _play_fee,
        "the number of members", "one more",
    ),
    _ask(
        "bookmarks_added_day", _make_day, lambda task: Day(date.fromisoformat(task.params["day"])), _play_day,
        "another's day", "another year",
    ),
    _ask(
        "bookmarks_count_private", _make_count, lambda task: Number(task.params["count"]), _play_count,
        "all of them", "one more",
    ),
    _ask("bookmarks_longest_guide", _make_longest, _title, _play_longest, "the second", "the shortest"),
    _ask(
        "bookmarks_private_links", _make_set, lambda task: SetOf(tuple(map(Text, task.params["titles"]))), _play_set,
        "one missing", "a public one too",
    ),
    _ask("bookmarks_cheapest_course", _make_cheapest, _title, _play_cheapest, "the second", "the dearest"),
    _ask(
        "bookmarks_delivery_total", _make_total, lambda task: Money(task.params["amount"], "EUR"), _play_total,
        "one hobby's", "ten cents more",
    ),
)  # fmt: skip
