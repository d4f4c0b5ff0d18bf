"""The site `shop`: django-oscar, where a customer looks for products, keeps wish lists, reviews and orders.

Invariant: what its customer can change is in one SQLite file. Stock that an order sets aside, mails that it causes and
ratings that a review moves follow from orders and reviews, so they are no rows of their own; recently viewed products
and searches are what a visit leaves.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from envs.browser.sites import shop_data
from envs.browser.sites.django_site import IMAGES, DjangoSite, insert
from envs.browser.sites.site import Tables, others_of, rows_of

_ADDRESS = "title, first_name, last_name, line1, line2, line3, line4, state, postcode, phone_number AS phone"
_BASKET = """SELECT p.title, sum(l.quantity) AS quantity FROM basket_line l JOIN basket_basket b ON b.id = l.basket_id
    JOIN catalogue_product p ON p.id = l.product_id WHERE b.status = '{}' GROUP BY p.title"""
_BASKET_VOUCHERS = """SELECT v.code FROM basket_basket_vouchers bv JOIN voucher_voucher v ON v.id = bv.voucher_id
    JOIN basket_basket b ON b.id = bv.basket_id WHERE b.status = 'Open'"""
_WISH_LISTS = "SELECT id, name, visibility FROM wishlists_wishlist"
_WISHES = """SELECT l.wishlist_id, p.title, l.quantity FROM wishlists_line l
    JOIN catalogue_product p ON p.id = l.product_id ORDER BY p.title"""
_ADDRESSES = f"""SELECT id, {_ADDRESS}, notes, is_default_for_shipping AS default_shipping,
    is_default_for_billing AS default_billing FROM address_useraddress"""
_ORDERS = f"""SELECT o.number, o.id AS lines, o.status, printf('%.2f', o.total_incl_tax) AS total,
    o.shipping_method AS shipping, {_ADDRESS}, notes FROM order_order o
    LEFT JOIN order_shippingaddress a ON a.id = o.shipping_address_id"""
_LINES = "SELECT order_id, title, sum(quantity) AS quantity FROM order_line GROUP BY order_id, title ORDER BY title"
_DISCOUNTS = "SELECT order_id, voucher_code FROM order_orderdiscount ORDER BY voucher_code"
_REVIEWS = """SELECT r.id, p.title AS product, u.username AS user, r.score, r.title, r.body, r.name
    FROM reviews_productreview r JOIN catalogue_product p ON p.id = r.product_id
    LEFT JOIN auth_user u ON u.id = r.user_id"""
_VOTES = """SELECT v.id, v.review_id AS review, v.delta, u.username AS user FROM reviews_vote v
    JOIN auth_user u ON u.id = v.user_id"""
_ALERTS = """SELECT a.id, p.title AS product, a.email, a.status FROM customer_productalert a
    JOIN catalogue_product p ON p.id = a.product_id"""
# dumped; followed from orders, baskets and reviews; left by a visit
_KNOWN = """basket_* order_* wishlists_line wishlists_wishlist address_useraddress reviews_* customer_productalert
    auth_user partner_stockrecord partner_stockalert catalogue_product voucher_voucher voucher_voucherapplication
    offer_conditionaloffer payment_source payment_transaction payment_sourcetype communication_* django_session
    analytics_*"""
_PEOPLE = "SELECT username, first_name, last_name, email, password FROM auth_user"


class Shop(DjangoSite):
    """See Site. records: an object of which each member may be left out; products go by UPC.

    prices, stock: {UPC: "12.50"}, {UPC: 7}.  basket: {UPC: pieces}.  wish_lists: {name: [UPC, ...]}.
    vouchers: {benefit of `shop_data.VOUCHERS`: its code}.  addresses: rows as in `shop_data.ADDRESSES`.
    reviews: [{"upc", "user", "score", "title", "body", "date"}].
    orders: [{"number", "date", "status", "lines": {UPC: pieces}, "shipping", "address": its place in ADDRESSES}].
    """

    name = "shop"
    ready = "/catalogue/"
    requirements = tuple((IMAGES / "shop.txt").read_text().split())
    user = shop_data.CUSTOMER["username"]

    def base(self) -> Any:
        """See DjangoSite."""
        return shop_data.base()

    def seed(self, data: Path, records: Any) -> None:
        """See Site."""
        with self.open(data, write=True) as base:
            _Seeder(base).seed(records or {})

    def dump(self, data: Path) -> Tables:
        """See Site. Baskets by product, orders by number; wish lists and orders name the pieces of each product."""
        with self.open(data) as base:
            orders = rows_of(base, _ORDERS, "number")
            lines, codes = _grouped(base, _LINES), _grouped(base, _DISCOUNTS)
            for order in orders.values():
                place = order["lines"]
                order.update(lines=dict(lines.get(place, ())), vouchers=[code for (code,) in codes.get(place, ())])
            wishes = _grouped(base, _WISHES)
            lists = rows_of(base, _WISH_LISTS)
            return {
                "basket": rows_of(base, _BASKET.format("Open"), "title"),
                "saved_for_later": rows_of(base, _BASKET.format("Saved"), "title"),
                "basket_vouchers": rows_of(base, _BASKET_VOUCHERS, "code"),
                "wish_lists": {k: {**row, "products": dict(wishes.get(int(k), ()))} for k, row in lists.items()},
                "addresses": rows_of(base, _ADDRESSES),
                "orders": orders,
                "reviews": rows_of(base, _REVIEWS),
                "votes": rows_of(base, _VOTES),
                "stock_alerts": rows_of(base, _ALERTS),
                "people": rows_of(base, _PEOPLE, "username"),
                "others": others_of(base, _KNOWN),
            }


class _Seeder:
    """Puts records into a shop's database."""

    def __init__(self, base: sqlite3.Connection) -> None:
        self.base = base
        self.product = dict(base.execute("SELECT upc, id FROM catalogue_product").fetchall())
        self.stock = dict(base.execute("SELECT partner_sku, id FROM partner_stockrecord").fetchall())
        self.person = dict(base.execute("SELECT username, id FROM auth_user").fetchall())
        self.price: dict[str, Decimal] = {}
        self.owner = self.person[shop_data.CUSTOMER["username"]]

    def seed(self, records: Mapping[str, Any]) -> None:
        """All of a task's records."""
        for column, kind in (("price", "prices"), ("num_in_stock", "stock")):
            self.base.executemany(
                f"UPDATE partner_stockrecord SET {column} = ? WHERE partner_sku = ?",
                [(value, upc) for upc, value in records.get(kind, {}).items()],
            )
        for benefit, code in records.get("vouchers", {}).items():
            self.base.execute("UPDATE voucher_voucher SET code = ? WHERE code = ?", (code, shop_data.VOUCHERS[benefit]))
        self.price = {
            upc: Decimal(str(p)) for upc, p in self.base.execute("SELECT partner_sku, price FROM partner_stockrecord")
        }
        self._basket(records.get("basket", {}))
        for name, upcs in records.get("wish_lists", {}).items():
            self._wish_list(name, upcs)
        for address in records.get("addresses", ()):
            self._address(address)
        for order in records.get("orders", ()):
            self._order(order)
        self._reviews(records.get("reviews", ()))

    def _basket(self, pieces: Mapping[str, int]) -> None:
        (basket,) = self.base.execute("SELECT id FROM basket_basket WHERE status = 'Open'").fetchone()
        for upc, quantity in pieces.items():
            product, stock, price = self.product[upc], self.stock[upc], str(self.price[upc])
            insert(
                self.base,
                "basket_line",
                {
                    "line_reference": f"{product}_{stock}",
                    "quantity": quantity,
                    "price_currency": "EUR",
                    "price_excl_tax": price,
                    "price_incl_tax": price,
                    "basket_id": basket,
                    "product_id": product,
                    "stockrecord_id": stock,
                },
            )

    def _wish_list(self, name: str, upcs: Sequence[str]) -> None:
        number = insert(
            self.base, "wishlists_wishlist", {"name": name, "visibility": "Private", "owner_id": self.owner}
        )
        self.base.execute("UPDATE wishlists_wishlist SET key = ? WHERE id = ?", (f"WL{number:04}", number))
        for upc in upcs:
            row = {"quantity": 1, "title": shop_data.BY_UPC[upc].title, "product_id": self.product[upc]}
            insert(self.base, "wishlists_line", {**row, "wishlist_id": number})

    def _address(self, address: Mapping[str, str]) -> None:
        text = " ".join(address.values())
        row = {**address, "search_text": text, "hash": str(sum(map(ord, text))), "country_id": "IE"}
        insert(self.base, "address_useraddress", {**row, "user_id": self.owner})

    def _order(self, order: Mapping[str, Any]) -> None:
        shipping = Decimal(shop_data.SHIPPING[order["shipping"]])
        goods = sum((self.price[upc] * pieces for upc, pieces in order["lines"].items()), Decimal(0))
        address = insert(
            self.base, "order_shippingaddress", {**shop_data.ADDRESSES[order["address"]], "country_id": "IE"}
        )
        number = insert(
            self.base,
            "order_order",
            {
                "number": order["number"],
                "currency": "EUR",
                "status": order["status"],
                "date_placed": f"{order['date']} 10:24:00",
                "site_id": 1,
                "user_id": self.owner,
                "shipping_address_id": address,
                "shipping_method": order["shipping"],
                **_both("total_", goods + shipping),
                **_both("shipping_", shipping),
            },
        )
        for upc, pieces in order["lines"].items():
            insert(
                self.base,
                "order_line",
                {
                    "partner_name": "Kestrel warehouse",
                    "partner_sku": upc,
                    "title": shop_data.BY_UPC[upc].title,
                    "upc": upc,
                    "quantity": pieces,
                    "status": order["status"],
                    "order_id": number,
                    "partner_id": 1,
                    "product_id": self.product[upc],
                    "stockrecord_id": self.stock[upc],
                    **_both("line_price_", self.price[upc] * pieces),
                    **_both("unit_price_", self.price[upc]),
                    **_both("line_price_before_discounts_", self.price[upc] * pieces),
                },
            )

    def _reviews(self, reviews: Sequence[Mapping[str, Any]]) -> None:
        for review in reviews:
            insert(
                self.base,
                "reviews_productreview",
                {
                    "product_id": self.product[review["upc"]],
                    "user_id": self.person[review["user"]],
                    "score": review["score"],
                    "title": review["title"],
                    "body": review["body"],
                    "status": 1,
                    "date_created": f"{review['date']} 12:00:00",
                },
            )
        self.base.execute(
            "UPDATE catalogue_product SET rating = "
            "(SELECT avg(score) FROM reviews_productreview r WHERE r.product_id = catalogue_product.id)"
        )


def _both(column: str, amount: Decimal) -> dict[str, str]:
    """The two columns of an amount: with tax and without, which are the same here."""
    return {f"{column}incl_tax": str(amount), f"{column}excl_tax": str(amount)}


def _grouped(base: sqlite3.Connection, query: str) -> dict[Any, list[Any]]:
    """A query's rows by their first column, which is left out of them."""
    found: dict[Any, list[Any]] = {}
    for key, *rest in base.execute(query):
        found.setdefault(key, []).append(tuple(rest))
    return found


SITE = Shop()
