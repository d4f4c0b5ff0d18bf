"""What the families of the shop site share: prices, stock and orders of a task, and the gestures of its pages."""

from __future__ import annotations

import calendar
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from envs.browser.sites.shop_data import (
    ADDRESSES,
    BY_UPC,
    CATEGORIES,
    CUSTOMER,
    PRODUCTS,
    REVIEWERS,
    SHIPPING,
    Product,
    listed,
)
from envs.browser.suites.common import (
    Oracle,
    choose,
    click,
    exactly,
    fill,
    follow,
    leave,
    make_task,
    press,
    reach,
    table,
    texts,
    typed,
)
from envs.browser.view import BrowserView
from guiforge.task import Task

SITE = "shop"
TABLES = ("basket", "saved_for_later", "basket_vouchers", "wish_lists", "addresses", "orders", "reviews", "votes",
          "stock_alerts")  # fmt: skip
BASKET, SAVED, _, WISHES, ADDRESS_BOOK, ORDERS, REVIEWS, VOTES, ALERTS = (table(SITE, name) for name in TABLES)
SHELVES = tuple(shelf for shelves in CATEGORIES.values() for shelf in shelves)
LIST_NAMES = ("Birthday", "New flat", "For the hut", "Summer", "From the raffle", "Mother", "Someday", "Team present")
PRAISE = ("As described", "Good value", "Does its work", "Rather small", "Better than the old one", "Mixed feelings")
BODIES = (
    "It came well wrapped and on the day they had named.",
    "I have used it for three weeks now, nearly every day.",
    "The colour differs a little from the picture.",
    "A present for my sister, who likes it.",
    "Nothing to add to what others wrote.",
)
USER = CUSTOMER["username"]
Order = dict[str, Any]  # as the site's records have it


class Goods:
    """What the shop sells in a task: each product at the task's own price, and with its own stock."""

    def __init__(self, random_: random.Random) -> None:
        self.random = random_
        self.price: dict[str, Decimal] = {}
        self.stock: dict[str, int] = {}
        for shelf in SHELVES:
            products = listed(shelf)
            for product, pieces in zip(products, random_.sample(range(9, 95), len(products)), strict=True):
                self.stock[product.upc] = pieces
                self.price[product.upc] = self._price(product)
        self._first_order = random_.randrange(100200, 100900)

    def _price(self, product: Product) -> Decimal:
        """Near the usual one, in steps of ten cents (so that every discount comes out even), no other product's."""
        while True:
            price = (Decimal(product.price) * self.random.randint(75, 135) / 100).quantize(Decimal("0.1"))
            if price not in self.price.values():
                return price.quantize(Decimal("0.01"))

    def sell_out(self, products: Iterable[Product]) -> None:
        """None of these is left."""
        self.stock |= {product.upc: 0 for product in products}

    def total(self, lines: Mapping[str, int]) -> Decimal:
        """What these pieces cost together, by UPC."""
        return sum((self.price[upc] * pieces for upc, pieces in lines.items()), Decimal(0))

    def pick(self, options: Sequence[Any]) -> Any:
        """One of them, by the task's own random numbers."""
        return self.random.choice(options)

    def some(self, many: int, *, besides: Iterable[Product] = ()) -> list[Product]:
        """That many products that are in stock, none of those in `besides`."""
        taken = {product.upc for product in besides}
        return self.random.sample([p for p in PRODUCTS if self.stock[p.upc] and p.upc not in taken], many)

    def records(self) -> dict[str, Any]:
        """For the site's seeder."""
        return {"prices": {upc: str(price) for upc, price in self.price.items()}, "stock": self.stock}

    def order(self, number: int, day: date, lines: Mapping[str, int], **fields: Any) -> Order:
        """An order that the customer once made, `number` places after the first; what is not given is drawn."""
        drawn = {
            "status": self.pick(("Shipped", "Pending")), "shipping": self.pick(list(SHIPPING)),
            "address": self.random.randrange(len(ADDRESSES)),
        }  # fmt: skip
        return {
            "number": str(self._first_order + number),
            "date": day.isoformat(),
            "lines": dict(lines),
            **drawn,
            **fields,
        }

    def days(self, first: date, last: date, many: int) -> list[date]:
        """That many different days from the first to the last, in order."""
        span = self.random.sample(range((last - first).days + 1), many)
        return [first + timedelta(days=days) for days in sorted(span)]

    def cost(self, order: Order) -> Decimal:
        """What an order came to, shipping included."""
        return self.total(order["lines"]) + Decimal(SHIPPING[order["shipping"]])


def shop_task(
    family: str, seed: int, level: str, instruction: str, goods: Goods, *, writes: tuple[str, ...] = (),
    records: Mapping[str, Any] | None = None, **params: Any,
) -> Task:  # fmt: skip
    """A task about the shop. records: what else the customer has; writes: tables it changes."""
    return make_task(
        family, seed, instruction, site=SITE, tags=(SITE, level), records={**goods.records(), **(records or {})},
        start="/catalogue/", steps=40, writable=writes, params=params,
    )  # fmt: skip


def titles(products: Iterable[Product]) -> list[str]:
    """Their titles, in this order."""
    return [product.title for product in products]


def by_title(lines: Mapping[str, int]) -> dict[str, int]:
    """Pieces by the product's title instead of its UPC, as the site's dump has them."""
    return {BY_UPC[upc].title: pieces for upc, pieces in lines.items()}


def money(amount: Decimal) -> str:
    """As the shop writes it: `€12.50`."""
    return f"€{amount:.2f}"


def in_words(day: date) -> str:
    """`5 March 2025`."""
    return f"{day.day} {calendar.month_name[day.month]} {day.year}"


def reviewer(username: str) -> str:
    """A reviewer's full name."""
    return next(f"{first} {last}" for name, first, last in REVIEWERS if name == username)


def review(product: Product, user: str, score: int, title: str, body: str, day: date) -> dict[str, Any]:
    """A review, as the site's records have it."""
    return {
        "upc": product.upc, "user": user, "score": score, "title": title, "body": body, "date": day.isoformat()
    }  # fmt: skip


# -- gestures ----------------------------------------------------------------------------------------------------------


def find_product(view: BrowserView, title: str) -> Oracle:
    """Open a product's page by searching for it."""
    field = yield from reach(view, "#id_q")
    yield from leave(view, [click(field), press("ctrl+a"), typed(title), press("Return")])
    yield from follow(view, picture(title, ".product_pod"))


def picture(title: str, within: str) -> str:
    """The selector of a product's picture, which leads to its page; its title may break between two lines."""
    return f"{within} img[alt={json.dumps(title)}]"


def open_shelf(view: BrowserView, shelf: str) -> Oracle:
    """List a category's products."""
    yield from follow(view, "header .h1 a")
    yield from follow(view, ".side_categories a", exactly(shelf))


def sort_by(view: BrowserView, order: str) -> Oracle:
    """Sort the products that are listed."""
    yield from choose(view, "#id_sort_by", order, leaves=True)


def open_account(view: BrowserView, part: str, name: str | None = None) -> Oracle:
    """Open a part of the customer's account, then what its table names."""
    yield from follow(view, "#top_page a[href='/accounts/']")
    yield from back_to(view, part)
    if name is not None:
        yield from follow(view, "table td a", exactly(name))


def back_to(view: BrowserView, part: str) -> Oracle:
    """Another part of the account, from inside of it."""
    yield from follow(view, "aside.sidebar a.nav-link", exactly(part))


def browse_orders(view: BrowserView, numbers: Sequence[str]) -> Oracle:
    """Open orders one after the other."""
    yield from open_account(view, "Order History", numbers[0])
    for number in numbers[1:]:
        yield from back_to(view, "Order History")
        yield from follow(view, "table td a", number)


def open_cart(view: BrowserView) -> Oracle:
    """Open the cart."""
    button = yield from reach(view, ".basket-mini button", "View cart")
    yield from leave(view, [click(button)])


def add_to_cart(view: BrowserView) -> Oracle:
    """Put one piece of the product whose page is open into the cart."""
    yield from follow(view, "#add_to_basket_form button")


def set_quantity(view: BrowserView, title: str, pieces: int) -> Oracle:
    """Change how many pieces of a product are in the cart, which is open."""
    field = _in_cart(title, "input[type=number]")
    yield from fill(view, field, str(pieces))
    yield [click((yield from reach(view, _in_cart(title, "button"), "Update")))]
    now = f"{field}[value='{pieces}']"  # what the server says, unlike what the field holds
    view.wait_until(lambda: texts(view, now), f"the cart does not hold {pieces} of {title}")


def take_out(view: BrowserView, title: str, how: str) -> Oracle:
    """Take a product out of the cart, which is open. how: `remove` or `save` (for later)."""
    link = _in_cart(title, f"a[data-behaviours='{how}']")
    yield [click((yield from reach(view, link)))]
    view.wait_until(lambda: not texts(view, link), f"{title} is still in the cart")


def _in_cart(title: str, css: str) -> str:
    """The selector of a part of a product's line in the cart."""
    return f".basket-items:has(img[alt={json.dumps(title)}]) {css}"


def wish_for(view: BrowserView, name: str) -> Oracle:
    """Put the product whose page is open on a wish list that it isn't on."""
    yield [click((yield from reach(view, ".btn-wishlist .dropdown-toggle")))]
    yield from follow(view, ".btn-wishlist .dropdown-item", exactly(f"Add to '{name}' wish list"))


def choose_address(view: BrowserView, place: int) -> Oracle:
    """From the cart on, check out to an address: its place in ADDRESSES. The ways to send it are listed then."""
    yield [press("End")]
    yield from follow(view, "a[href='/checkout/']", "Proceed to checkout")
    yield from follow(view, f"#select_shipping_address_{place + 1} button.ship-address")
