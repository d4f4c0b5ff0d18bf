"""Task families about what the shop's customer writes: reviews and addresses; and about what it can't do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from envs.browser.sites.shop_data import ADDRESSES, REVIEWERS
from envs.browser.suites.common import Oracle, click, fill, follow, reach, rng
from envs.browser.suites.families import Way, change, changing, edited, impossible, key_of
from envs.browser.suites.shop_pages import (
    ADDRESS_BOOK,
    BODIES,
    PRAISE,
    REVIEWS,
    SITE,
    USER,
    VOTES,
    Goods,
    browse_orders,
    find_product,
    open_account,
    review,
    reviewer,
    shop_task,
)
from envs.browser.view import BrowserView
from guiforge.env import StateReader
from guiforge.task import Task
from verifiers.sites import Added, Edited, Expected, add_row, rows_before, same_text

# -- reviews -----------------------------------------------------------------------------------------------------------


def _make_review(seed: int) -> Task:
    goods = Goods(rng("shop_review", seed))
    product, other = goods.some(2)
    score, wrong = goods.random.sample((1, 2, 3, 4, 5), 2)
    title, body = goods.pick(PRAISE), goods.pick(BODIES)
    there = review(product, "tove", goods.pick((3, 4)), "Fine", "Would buy it again.", date(2025, 1, 9))
    stars = "1 star" if score == 1 else f"{score} stars"
    instruction = goods.pick(
        (
            f'Write a review of "{product.title}" for me: {stars}, title "{title}", text "{body}"',
            f'Give the "{product.title}" {stars} in a review, under the title "{title}". Let it say: "{body}"',
        )
    )
    return shop_task(
        "shop_review", seed, "medium", instruction, goods, writes=(REVIEWS,), records={"reviews": [there]},
        other=other.title, wrong=wrong,
        want={"product": product.title, "user": USER, "score": score, "title": title, "body": body},
    )  # fmt: skip


def _reviewed(task: Task, state: StateReader) -> list[Expected]:
    want = task.params["want"]
    return [Added("reviews", {**want, "title": same_text(want["title"]), "body": same_text(want["body"])})]


def _written(**other: Callable[[Mapping[str, Any]], object]) -> Way:
    """An end with the review, of which some columns are other ones: told of the task's params."""
    return lambda task: edited(
        SITE,
        reviews=[add_row({**task.params["want"], **{name: value(task.params) for name, value in other.items()}})],
    )


def _play_review(task: Task, view: BrowserView) -> Oracle:
    want = task.params["want"]
    yield from find_product(view, want["product"])
    yield from follow(view, "#write_review")
    yield from fill(view, "#add_review_form #id_title", want["title"])
    yield [click((yield from reach(view, f".reviewrating .star-rating i:nth-of-type({want['score']})")))]
    yield from fill(view, "#add_review_form #id_body", want["body"])
    yield from follow(view, "#add_review_form button", "Save review")


def _make_vote(seed: int) -> Task:
    goods = Goods(rng("shop_vote", seed))
    product, other = goods.some(2)
    people = goods.random.sample([name for name, _, _ in REVIEWERS], 4)
    days = goods.days(date(2024, 6, 1), date(2025, 2, 10), 4)
    written = [
        review(
            product if n < 3 else other, who, goods.random.randint(1, 5), goods.pick(PRAISE), goods.pick(BODIES), day
        )
        for n, (who, day) in enumerate(zip(people, days, strict=True))
    ]
    delta = goods.pick((1, 1, -1))
    meant, beside = goods.random.sample(range(3), 2)
    name, word = reviewer(people[meant]), "helpful" if delta > 0 else "not helpful"
    instruction = goods.pick(
        (
            f'I find {name}\'s review of "{product.title}" {word}. Vote so in the shop.',
            f'Among the reviews of "{product.title}", mark the one by {name} as {word}.',
        )
    )
    return shop_task(
        "shop_vote", seed, "easy", instruction, goods, writes=(VOTES,), records={"reviews": written},
        title=product.title, delta=delta, user=people[meant], beside=people[beside], number=meant + 1,
        other=beside + 1,
    )  # fmt: skip


def _voted(task: Task, state: StateReader) -> list[Expected]:
    place = {"product": task.params["title"], "user": task.params["user"]}
    number = int(key_of(rows_before(state, SITE, "reviews"), **place))
    return [Added("votes", {"review": number, "delta": task.params["delta"], "user": USER})]


def _vote(key: str = "number", sign: int = 1) -> Way:
    return lambda task: edited(
        SITE, votes=[add_row({"review": task.params[key], "delta": sign * task.params["delta"], "user": USER})]
    )


def _play_vote(task: Task, view: BrowserView) -> Oracle:
    yield from find_product(view, task.params["title"])
    review = f"article.review:has(a[href$='/reviews/{task.params['number']}/'])"
    yield from follow(view, f"{review} form button", "Yes" if task.params["delta"] > 0 else "No")


# -- addresses --------------------------------------------------------------------------------------------------------


def _make_address(seed: int) -> Task:
    goods = Goods(rng("shop_correct_address", seed))
    place, other = goods.random.sample(range(len(ADDRESSES)), 2)
    address = ADDRESSES[place]
    street = f"{goods.random.randint(4, 99)} {goods.pick(('Harbour Row', 'Sand Lane', 'Tanner Street', 'Elm Walk'))}"
    postcode = str(goods.random.randint(21000, 69999))
    instruction = goods.pick(
        (
            f"We have moved within {address['line4']}: in my address book, that address is now {street}, with the post "
            f"code {postcode}. Change it there, and add no new one.",
            f"Correct the address in {address['line4']} in my address book: the street is {street} now instead of "
            f"{address['line1']}, the post code {postcode}.",
        )
    )
    return shop_task(
        "shop_correct_address", seed, "medium", instruction, goods, writes=(ADDRESS_BOOK,), place=place, old=address,
        other=ADDRESSES[other]["line1"], want={"line1": street, "postcode": postcode},
    )  # fmt: skip


def _corrected(task: Task, state: StateReader) -> list[Expected]:
    key = key_of(rows_before(state, SITE, "addresses"), line1=task.params["old"]["line1"])
    return [Edited("addresses", key, task.params["want"])]


def _correct(*columns: str, other: bool = False) -> Way:
    """An end with these columns of the address set right, or those of another one."""

    def way(task: Task) -> Any:
        line = task.params["other"] if other else task.params["old"]["line1"]
        return edited(SITE, addresses=[change({"line1": line}, **{c: task.params["want"][c] for c in columns})])

    return way


def _new_address(task: Task) -> Any:
    return edited(SITE, addresses=[add_row({**task.params["old"], **task.params["want"]})])


def _play_address(task: Task, view: BrowserView) -> Oracle:
    yield from open_account(view, "Address Book")
    yield from follow(view, f"td a[href='/accounts/addresses/{task.params['place'] + 1}/']", "Edit")
    for field, text in task.params["want"].items():
        yield from fill(view, f"#id_{field}", text)
    yield from follow(view, "form button", "Save")


# -- what it can't do --------------------------------------------------------------------------------------------------


def _make_impossible(seed: int) -> Task:
    goods = Goods(rng("shop_not_offered", seed))
    days = goods.days(date(2024, 8, 1), date(2025, 2, 26), 3)
    orders = [
        goods.order(n * 6 + 4, day, {p.upc: goods.pick((1, 2)) for p in goods.some(2)}, status="Pending", shipping=way)
        for n, (day, way) in enumerate(zip(days, ("Express", "Parcel", "Parcel"), strict=True))
    ]
    number = orders[2]["number"]
    instruction = goods.pick(
        (
            f"Cancel my order {number}; it hasn't been sent yet.",
            f"Change order {number}, which is placed already, from Parcel to Express.",
            f"Have my order {number} sent to another address of mine than the one that I gave when I placed it.",
        )
    )
    return shop_task(
        "shop_not_offered", seed, "easy", instruction, goods, records={"orders": orders}, look=[number]
    ).model_copy(update={"feasible": False})


def _look_at_order(task: Task, view: BrowserView) -> Oracle:
    yield from browse_orders(view, task.params["look"])


FAMILIES = (
    changing(
        SITE, "shop_review", _make_review, _reviewed, _play_review,
        solutions={"written": _written()},
        near_misses={
            "other stars": _written(score=lambda at: at["wrong"]),
            "another product": _written(product=lambda at: at["other"]),
            "only the title": _written(body=lambda at: at["want"]["title"]),
        },
    ),
    changing(
        SITE, "shop_vote", _make_vote, _voted, _play_vote,
        solutions={"voted": _vote()},
        near_misses={"the contrary": _vote(sign=-1), "another review": _vote("other")},
    ),
    changing(
        SITE, "shop_correct_address", _make_address, _corrected, _play_address,
        solutions={"corrected": _correct("line1", "postcode")},
        near_misses={
            "the old post code": _correct("line1"),
            "another address": _correct("line1", "postcode", other=True),
            "a new one": _new_address,
        },
    ),
    impossible("shop_not_offered", _make_impossible, _look_at_order),
)  # fmt: skip
