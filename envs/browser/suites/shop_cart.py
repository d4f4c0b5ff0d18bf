"""Task families that put things into the shop's cart, and order them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from envs.browser.sites.shop_data import ADDRESSES, SHIPPING
from envs.browser.suites.common import Oracle, click, fill, follow, press, reach, rng
from envs.browser.suites.families import Step, Way, changing, edited
from envs.browser.suites.shop_pages import (
    BASKET,
    ORDERS,
    SAVED,
    SITE,
    Goods,
    add_to_cart,
    browse_orders,
    by_title,
    choose_address,
    find_product,
    money,
    open_cart,
    set_quantity,
    shop_task,
    take_out,
)
from envs.browser.view import BrowserView
from guiforge.env import StateReader
from guiforge.task import Task
from verifiers.sites import Added, Edited, Expected, Removed, add_row, remove_row, set_columns

_CODES = ("MAYDAY", "KESTREL", "HARVEST", "GOODNEIGHBOUR", "LANTERN", "NORTHWIND")
_BENEFITS = {"percent 10": Decimal("0.1"), "percent 20": Decimal("0.2"), "fixed 5": Decimal(5)}


def _put(key: str) -> Way:
    """An end in which the pieces that a parameter names were put into the cart."""
    return lambda task: edited(SITE, basket=_puts(task.params[key]))


def _puts(pieces: Mapping[str, int]) -> list[Step]:
    return [add_row({"quantity": many}, title) for title, many in pieces.items()]


def _now_in_cart(task: Task, state: StateReader) -> list[Expected]:
    return [Added("basket", {"quantity": many}, key=title) for title, many in task.params["want"].items()]


# -- the cart ----------------------------------------------------------------------------------------------------------


def _make_put(seed: int) -> Task:
    goods = Goods(rng("shop_put_in_cart", seed))
    new, other, there = goods.some(3)
    many = goods.pick((1, 2, 3, 4))
    count = ("one", "two", "three", "four")[many - 1]
    instruction = goods.pick(
        (
            f'Put {count} of the "{new.title}" into my cart, beside what is in it.',
            f'I need {count} x "{new.title}": into the cart with {"it" if many == 1 else "them"}. Don\'t order yet.',
            f'Add "{new.title}" to the cart, quantity {many}.',
        )
    )
    return shop_task(
        "shop_put_in_cart", seed, "easy", instruction, goods, writes=(BASKET,),
        records={"basket": {there.upc: 2}}, want={new.title: many}, more={new.title: many + 1},
        other={other.title: many}, both={new.title: many, other.title: 1},
    )  # fmt: skip


def _play_put(task: Task, view: BrowserView) -> Oracle:
    ((title, many),) = task.params["want"].items()
    yield from find_product(view, title)
    yield from add_to_cart(view)
    if many > 1:
        yield from open_cart(view)
        yield from set_quantity(view, title, many)


def _make_set(seed: int) -> Task:
    goods = Goods(rng("shop_set_cart", seed))
    more, out, later, stays = goods.some(4)
    cart = {p.upc: goods.pick((1, 2, 3)) for p in goods.random.sample([more, out, later, stays], 4)}
    many = goods.pick([n for n in (1, 2, 4, 5, 6) if n != cart[more.upc]])
    instruction = goods.pick(
        (
            f'Change my cart: {many} of "{more.title}", no "{out.title}" any more, and save "{later.title}" for later.',
            f'In the cart, set the quantity of "{more.title}" to {many}, remove "{out.title}" altogether, and put '
            f'"{later.title}" aside with "Save for later".',
        )
    )
    return shop_task(
        "shop_set_cart", seed, "medium", instruction, goods, writes=(BASKET, SAVED), records={"basket": cart},
        more=more.title, many=many, out=out.title, later=later.title, pieces=cart[later.upc],
    )  # fmt: skip


def _cart_set(task: Task, state: StateReader) -> list[Expected]:
    at = task.params
    return [
        Edited("basket", at["more"], {"quantity": at["many"]}),
        Removed("basket", at["out"]),
        Removed("basket", at["later"]),
        Added("saved_for_later", {"quantity": at["pieces"]}, key=at["later"]),
    ]


def _set(*, off: int = 0, out: bool = True, saved: bool = True) -> Way:
    """An end with that cart, or nearly so."""

    def way(task: Task) -> Any:
        at = task.params
        gone = [remove_row(at[key]) for key in ("out", "later") if out or key == "later"]
        aside = [add_row({"quantity": at["pieces"]}, at["later"])] if saved else []
        basket = [set_columns(at["more"], quantity=at["many"] + off), *gone]
        return edited(SITE, basket=basket, saved_for_later=aside)

    return way


def _play_set(task: Task, view: BrowserView) -> Oracle:
    at = task.params
    yield from open_cart(view)
    yield from set_quantity(view, at["more"], at["many"])
    yield from take_out(view, at["out"], "remove")
    yield from take_out(view, at["later"], "save")


def _make_again(seed: int) -> Task:
    goods = Goods(rng("shop_order_again", seed))
    products = goods.some(9)
    there = products[8]
    days = goods.days(date(2024, 4, 1), date(2025, 2, 20), 4)
    place = goods.random.randrange(len(ADDRESSES))
    at = goods.pick((0, 1, 2))  # not the newest
    orders = [
        goods.order(
            n * 8 + 5, day, {p.upc: goods.pick((1, 2, 3)) for p in products[2 * n : 2 * n + 2]}, status="Shipped",
            address=place if n == at else goods.pick([k for k in range(len(ADDRESSES)) if k != place]),
        )
        for n, day in enumerate(days)
    ]  # fmt: skip
    address = ADDRESSES[place]
    where = f"{address['line1']}, {address['line4']}"
    instruction = goods.pick(
        (
            f"One of my orders was sent to {where}. Put everything from it into my cart again, as many as then. "
            "What is in the cart stays.",
            f"Find the order that went to {where}, and add the same things in the same quantities to my cart. Don't "
            "place an order, and leave the rest of the cart as it is.",
        )
    )
    want = by_title(orders[at]["lines"])
    title, many = next(iter(want.items()))
    return shop_task(
        "shop_order_again", seed, "hard", instruction, goods, writes=(BASKET,),
        records={"orders": orders, "basket": {there.upc: 1}}, want=want,
        look=[order["number"] for order in orders[at:][::-1]], one={title: many}, more={**want, title: many + 1},
        other=by_title(orders[3]["lines"]),
    )  # fmt: skip


def _play_again(task: Task, view: BrowserView) -> Oracle:
    yield from browse_orders(view, task.params["look"])
    yield from follow(view, "form[id^=order_form] button", "Re-order all items")


# -- ordering ----------------------------------------------------------------------------------------------------------


def _make_order(seed: int) -> Task:
    goods = Goods(rng("shop_order", seed))
    cart = {product.upc: goods.pick((1, 2)) for product in goods.some(goods.pick((2, 3)))}
    (place, wrong_place), (way, wrong_way) = goods.random.sample(range(3), 2), goods.random.sample(list(SHIPPING), 2)
    benefit = goods.pick(list(_BENEFITS))
    code = f"{goods.pick(_CODES)}{goods.random.randint(11, 99)}"
    total, worth = goods.total(cart), _BENEFITS[benefit]
    less = worth if worth > 1 else total * worth
    lines = by_title(cart)

    def row(place: int, way: str, less: Decimal, *codes: str) -> dict[str, Any]:
        """The order, as the site's dump has it."""
        cost = total - less + Decimal(SHIPPING[way])
        return {
            "lines": dict(sorted(lines.items())), "status": "Pending", "total": f"{cost:.2f}", "shipping": way,
            **ADDRESSES[place], "vouchers": list(codes),
        }  # fmt: skip

    address = ADDRESSES[place]
    whose = f"{address['first_name']} {address['last_name']}, {address['line1']}"
    how = "to be picked up at the warehouse" if way.startswith("Pick") else f"sent by {way}"
    instruction = goods.pick(
        (
            f"Order everything in my cart, {how} (address: {whose}). Use the coupon code {code}.",
            f"Check out: all of the cart, {how}; as the address take {whose}, and redeem my coupon {code} first.",
        )
    )
    return shop_task(
        "shop_order", seed, "hard", instruction, goods, writes=(BASKET, ORDERS),
        records={"basket": cart, "vouchers": {benefit: code}}, place=place, way=list(SHIPPING).index(way), code=code,
        total=money(total), want=row(place, way, less, code), elsewhere=row(wrong_place, way, less, code),
        otherwise=row(place, wrong_way, less, code), dearer=row(place, way, Decimal(0)),
    )  # fmt: skip


def _ordered(task: Task, state: StateReader) -> list[Expected]:
    want = task.params["want"]
    return [Added("orders", want), *(Removed("basket", title) for title in want["lines"])]


def _order(key: str, *, twice: bool = False, kept: bool = False) -> Way:
    """An end with the order that a parameter describes. kept: the cart is as it was, which no order leaves."""

    def way(task: Task) -> Any:
        row = task.params[key]
        placed = [add_row(row, f"10000{n}") for n in ((1, 2) if twice else (1,))]
        return edited(SITE, orders=placed, basket=[] if kept else [remove_row(title) for title in row["lines"]])

    return way


def _play_order(task: Task, view: BrowserView) -> Oracle:
    yield from open_cart(view)
    yield [press("End")]
    yield [click((yield from reach(view, "#voucher_form_link a")))]
    view.wait_for("#voucher_form #id_code")
    yield from fill(view, "#voucher_form #id_code", task.params["code"])
    yield from follow(view, "#voucher_form button", "Add coupon")
    yield from choose_address(view, task.params["place"])
    code = ("parcel", "express", "pickup")[task.params["way"]]
    yield from follow(view, f"form:has(input[value='{code}']) button")
    yield from follow(view, "#view_preview")
    yield from follow(view, "#place-order")


FAMILIES = (
    changing(
        SITE, "shop_put_in_cart", _make_put, _now_in_cart, _play_put,
        solutions={"put": _put("want")},
        near_misses={"one too many": _put("more"), "another product": _put("other"), "two products": _put("both")},
    ),
    changing(
        SITE, "shop_set_cart", _make_set, _cart_set, _play_set,
        solutions={"set": _set()},
        near_misses={
            "another quantity": _set(off=1), "one not removed": _set(out=False), "removed, not saved": _set(saved=False)
        },
    ),
    changing(
        SITE, "shop_order_again", _make_again, _now_in_cart, _play_again,
        solutions={"put": _put("want")},
        near_misses={"one product": _put("one"), "more pieces": _put("more"), "the newest order": _put("other")},
    ),
    changing(
        SITE, "shop_order", _make_order, _ordered, _play_order,
        solutions={"ordered": _order("want")},
        near_misses={
            "to another address": _order("elsewhere"),
            "another way": _order("otherwise"),
            "without the coupon": _order("dearer"),
            "twice": _order("want", twice=True),
            "the cart still full": _order("want", kept=True),
        },
    ),
)  # fmt: skip
