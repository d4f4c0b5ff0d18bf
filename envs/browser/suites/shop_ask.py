"""Task families that ask what the shop sells at which price, and what its customer has ordered and wished for."""

from __future__ import annotations

import calendar
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any

from envs.browser.sites.shop_data import ADDRESSES, REVIEWERS, SHIPPING, listed
from envs.browser.suites.common import Oracle, exactly, follow, reach, rng
from envs.browser.suites.families import question
from envs.browser.suites.shop_pages import (
    ADDRESS_BOOK,
    BODIES,
    LIST_NAMES,
    PRAISE,
    SHELVES,
    SITE,
    Goods,
    browse_orders,
    choose_address,
    find_product,
    in_words,
    money,
    open_account,
    open_cart,
    open_shelf,
    picture,
    review,
    reviewer,
    shop_task,
    sort_by,
    titles,
)
from envs.browser.view import BrowserView
from guiforge.task import Task
from verifiers.answers import Day, Money, Name, SetOf, Text, Want
from verifiers.sites import edit_rows, set_columns

_SHOWN = 3  # reviews on a product's own page; all are on another
_MEDDLED = {ADDRESS_BOOK: edit_rows(set_columns("2", line1="5 Mill Lane"))}


def _money(task: Task) -> Want:
    return Money(task.params["want"], "EUR")


def _amounts(right: Decimal, wrong: Sequence[Decimal], sentence: str) -> dict[str, Any]:
    """Params of a question for an amount; `sentence` has a place for it."""
    return {
        "want": f"{right:.2f}",
        "right": [f"{right:.2f}", sentence.format(money(right))],
        "wrong": [money(amount if amount != right else right + 1) for amount in wrong],
    }


def _title(task: Task) -> Want:
    others = tuple(title for title in task.params["others"] if title != task.params["want"])
    return Text(task.params["want"], others=others)


# -- products ----------------------------------------------------------------------------------------------------------


def _make_price(seed: int) -> Task:
    goods = Goods(rng("shop_price", seed))
    product, other = goods.some(2)
    instruction = goods.pick(
        (
            f'What does the "{product.title}" cost in this shop?',
            f'Look up the price of "{product.title}".',
            f'I think of buying one "{product.title}". How much is it, without shipping?',
        )
    )
    price = goods.price[product.upc]
    wrong = [goods.price[other.upc], Decimal(product.price)]
    return shop_task(
        "shop_price", seed, "easy", instruction, goods, title=product.title, **_amounts(price, wrong, "It costs {}.")
    )


def _see_product(task: Task, view: BrowserView) -> Oracle:
    yield from find_product(view, task.params["title"])


def _make_cheapest(seed: int) -> Task:
    goods = Goods(rng("shop_cheapest", seed))
    shelf = goods.pick(SHELVES)
    products = sorted(listed(shelf), key=lambda product: goods.price[product.upc])
    gone = goods.pick((1, 2))
    goods.sell_out(products[:gone])
    best = products[gone]
    instruction = goods.pick(
        (
            f'Which product under "{shelf}" is the cheapest of those that are in stock?',
            f'I want something from the category "{shelf}" that can be sent at once. What is the cheapest I can get?',
            f'Of what is not sold out under "{shelf}", which product has the lowest price?',
        )
    )
    return shop_task(
        "shop_cheapest", seed, "medium", instruction, goods, shelf=shelf, want=best.title, others=titles(products),
        right=[best.title, f'That is the "{best.title}", for {money(goods.price[best.upc])}.'],
        wrong=[products[0].title, products[gone + 1].title],
    )  # fmt: skip


def _see_cheapest(task: Task, view: BrowserView) -> Oracle:
    yield from open_shelf(view, task.params["shelf"])
    yield from sort_by(view, "Price low to high")
    yield from follow(view, ".product_pod:has(.instock) img")


def _make_most(seed: int) -> Task:
    goods = Goods(rng("shop_most_in_stock", seed))
    shelf = goods.pick(SHELVES)
    products = sorted(listed(shelf), key=lambda product: -goods.stock[product.upc])
    many, least = goods.pick((("most", False), ("fewest", True)))
    best, second = products[::-1][:2] if least else products[:2]
    instruction = goods.pick(
        (
            f'Of which product under "{shelf}" are the {many} pieces available? Each product\'s page says how many.',
            f'Compare the stock of all products in the category "{shelf}": which has the {many} pieces left?',
        )
    )
    return shop_task(
        "shop_most_in_stock", seed, "hard", instruction, goods, shelf=shelf, want=best.title, others=titles(products),
        all=titles(listed(shelf)), right=[best.title, f'"{best.title}", with {goods.stock[best.upc]} pieces.'],
        wrong=[second.title, f"{best.title} or {second.title}"],
    )  # fmt: skip


def _see_all_of_shelf(task: Task, view: BrowserView) -> Oracle:
    first, *rest = task.params["all"]
    yield from open_shelf(view, task.params["shelf"])
    yield from follow(view, picture(first, ".product_pod"))
    for title in rest:
        yield from follow(view, ".breadcrumb a", exactly(task.params["shelf"]))
        yield from follow(view, picture(title, ".product_pod"))


def _make_reviewers(seed: int) -> Task:
    goods = Goods(rng("shop_reviewers", seed))
    product, other = goods.some(2)
    people = goods.random.sample([name for name, _, _ in REVIEWERS], 6)
    scores = [*goods.random.choices((1, 2), k=goods.pick((2, 3))), 3, *goods.random.choices((4, 5), k=3)][:6]
    while min(scores[_SHOWN:]) > 2:
        goods.random.shuffle(scores)
    days = goods.days(date(2024, 5, 1), date(2025, 2, 20), 6)
    written = [
        review(product, who, score, goods.pick(PRAISE), goods.pick(BODIES), day)
        for who, score, day in zip(people, scores, days, strict=True)
    ]
    beside = [review(other, who, 1, goods.pick(PRAISE), goods.pick(BODIES), date(2025, 1, 9)) for who in people[:2]]
    low = [reviewer(who) for who, score in zip(people, scores, strict=True) if score < 3]
    middle = reviewer(people[scores.index(3)])
    instruction = goods.pick(
        (
            f'Who gave the "{product.title}" fewer than three stars in a review? Name all of them.',
            f'Name everybody whose review of "{product.title}" has only one or two stars.',
        )
    )
    return shop_task(
        "shop_reviewers", seed, "medium", instruction, goods, records={"reviews": [*written, *beside]},
        title=product.title, want=low, last=reviewer(people[-1]),
        right=["; ".join(low), "They are:\n" + "\n".join(f"{n}. {name}" for n, name in enumerate(low, 1))],
        wrong=["; ".join(low[1:]), "; ".join([*low, middle])],
    )  # fmt: skip


def _names(task: Task) -> Want:
    everybody = {f"{first} {last}": first for _, first, last in REVIEWERS}
    return SetOf(
        tuple(
            Name(name, aliases=(everybody[name],), others=tuple(other for other in everybody if other != name))
            for name in task.params["want"]
        )
    )


def _see_reviews(task: Task, view: BrowserView) -> Oracle:
    yield from find_product(view, task.params["title"])
    yield from follow(view, "a", "See all reviews")
    yield from reach(view, "article.review strong", exactly(task.params["last"]))


# -- orders, cart and wish lists ---------------------------------------------------------------------------------------


def _make_last_ordered(seed: int) -> Task:
    goods = Goods(rng("shop_last_ordered", seed))
    wanted, *others = goods.some(9)
    days = goods.days(date(2024, 3, 1), date(2025, 2, 25), 5)
    holds = [[wanted, others[0]], [others[1]], [others[2], wanted], [others[3], others[4]], others[5:7]]
    orders = [
        goods.order(n * 7 + 3, day, {p.upc: goods.pick((1, 2, 3)) for p in products})
        for n, (day, products) in enumerate(zip(days, holds, strict=True))
    ]
    instruction = goods.pick(
        (
            f'On which day did I last order the "{wanted.title}"? Give day, month and year.',
            f'I have bought "{wanted.title}" more than once. What is the full date of my latest order of it?',
        )
    )
    return shop_task(
        "shop_last_ordered", seed, "medium", instruction, goods, records={"orders": orders},
        want=days[2].isoformat(), look=[order["number"] for order in orders[4:1:-1]],
        right=[days[2].isoformat(), f"It was on {in_words(days[2])}."], wrong=[in_words(days[0]), in_words(days[4])],
    )  # fmt: skip


def _see_orders(task: Task, view: BrowserView) -> Oracle:
    yield from browse_orders(view, task.params["look"])


def _make_spent(seed: int) -> Task:
    goods = Goods(rng("shop_spent", seed))
    month = goods.pick((9, 10, 11, 12))
    days = goods.days(date(2024, month, 1), date(2024, month, 28), 4)
    days = [date(2024, month - 1, 20), *days, date(2024, month + 1, 9) if month < 12 else date(2025, 1, 9)]
    states = ["Shipped", *goods.random.sample(["Shipped", "Shipped", "Pending", "Cancelled"], 4), "Shipped"]
    orders = [
        goods.order(n * 9 + 2, day, {p.upc: goods.pick((1, 2)) for p in goods.some(goods.pick((1, 2)))}, status=state)
        for n, (day, state) in enumerate(zip(days, states, strict=True))
    ]
    meant = [order for order in orders[1:5] if order["status"] != "Cancelled"]
    right = sum(map(goods.cost, meant), Decimal(0))
    name = f"{calendar.month_name[month]} 2024"
    instruction = goods.pick(
        (
            f"How much did my orders of {name} come to altogether, shipping included? Leave out what was cancelled.",
            f"Add up the order totals of all orders that I placed in {name} and that weren't cancelled.",
        )
    )
    wrong = [sum(map(goods.cost, orders[1:5]), Decimal(0)), sum((goods.total(o["lines"]) for o in meant), Decimal(0))]
    return shop_task(
        "shop_spent", seed, "hard", instruction, goods, records={"orders": orders},
        look=[order["number"] for order in orders[1:5]], **_amounts(right, wrong, "You spent {} in that month."),
    )  # fmt: skip


def _make_by_express(seed: int) -> Task:
    goods = Goods(rng("shop_by_express", seed))
    cart = {product.upc: goods.pick((1, 2, 3)) for product in goods.some(3)}
    place = goods.random.randrange(len(ADDRESSES))
    way = goods.pick(("Express", "Pick-up at the warehouse"))
    total, parcel = goods.total(cart), Decimal(SHIPPING["Parcel"])
    cost = Decimal(SHIPPING[way])
    how = "sent by Express" if way == "Express" else "made ready for pick-up at the warehouse"
    street = ADDRESSES[place]["line1"]
    instruction = goods.pick(
        (
            f"What would I have to pay for everything in my cart, if I had it {how}? Don't order anything yet.",
            f"If my cart were {how}, what would the order total be? I only want to know it: place no order.",
            f'Before I order: what would all of my cart come to, {how} (address: "{street}")? Don\'t place the order.',
        )
    )
    wrong = [total + parcel, total if cost else total + Decimal(SHIPPING["Express"])]
    return shop_task(
        "shop_by_express", seed, "medium", instruction, goods, records={"basket": cart}, place=place,
        **_amounts(total + cost, wrong, "All in all {}."),
    )  # fmt: skip


def _see_ways(task: Task, view: BrowserView) -> Oracle:
    yield from open_cart(view)
    yield from choose_address(view, task.params["place"])


def _make_wish_total(seed: int) -> Task:
    goods = Goods(rng("shop_wish_total", seed))
    name, other = goods.random.sample(LIST_NAMES, 2)
    wished = goods.some(goods.pick((3, 4)))
    beside = goods.some(2, besides=wished)
    prices = [goods.price[product.upc] for product in wished]
    instruction = goods.pick(
        (
            f'What do the products on my wish list "{name}" cost together, one piece of each?',
            f'Add up the prices of everything on the wish list "{name}", each taken once.',
        )
    )
    lists = {name: [p.upc for p in wished], other: [p.upc for p in beside]}
    return shop_task(
        "shop_wish_total", seed, "hard", instruction, goods, records={"wish_lists": lists}, name=name,
        titles=titles(wished), **_amounts(sum(prices, Decimal(0)), [sum(prices[1:], Decimal(0)), max(prices)],
                                          "Together they cost {}."),
    )  # fmt: skip


def _see_wishes(task: Task, view: BrowserView) -> Oracle:
    name, (first, *rest) = task.params["name"], task.params["titles"]
    yield from open_account(view, "Wish Lists", name)
    yield from follow(view, picture(first, "table"))
    for title in rest:
        yield from follow(view, ".product_main a", exactly(f"'{name}'"))
        yield from follow(view, picture(title, "table"))


_asks = partial(question, SITE, meddled=_MEDDLED)
FAMILIES = (
    _asks("shop_price", _make_price, _money, _see_product, wrong=("another product's", "the usual price")),
    _asks("shop_cheapest", _make_cheapest, _title, _see_cheapest, wrong=("sold out", "the second")),
    _asks("shop_most_in_stock", _make_most, _title, _see_all_of_shelf, wrong=("the second", "two products")),
    _asks("shop_reviewers", _make_reviewers, _names, _see_reviews, wrong=("one missing", "three stars too")),
    _asks(
        "shop_last_ordered", _make_last_ordered,
        lambda task: Day(date.fromisoformat(task.params["want"]), with_year=True), _see_orders,
        wrong=("the first time", "the newest order"),
    ),
    _asks("shop_spent", _make_spent, _money, _see_orders, wrong=("the cancelled too", "without shipping")),
    _asks("shop_by_express", _make_by_express, _money, _see_ways, wrong=("by parcel", "another way")),
    _asks("shop_wish_total", _make_wish_total, _money, _see_wishes, wrong=("one missing", "only the dearest")),
)  # fmt: skip
