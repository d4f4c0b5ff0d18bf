"""Fills a new shop from a JSON object on standard input (envs/browser/sites/shop_data.py says what is in it)."""

# ruff: noqa: E402 (Django is set up before its models are imported)
import datetime
import json
import os
import sys
from decimal import Decimal
from io import BytesIO
from typing import Any

os.environ["DJANGO_SETTINGS_MODULE"] = "settings"

import django

django.setup()

from django.contrib.auth.models import User
from django.contrib.sites.models import Site
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.db import transaction
from oscar.apps.catalogue.categories import create_from_breadcrumbs
from oscar.core.loading import get_model
from PIL import Image, ImageDraw

CLOCK = datetime.datetime(2025, 3, 3, 9, 0, tzinfo=datetime.UTC)
COLOURS = {
    "blue": "#3b6ea5",
    "grey": "#8b9096",
    "clear": "#cfe3e8",
    "white": "#f4f1ea",
    "black": "#2b2b2e",
    "copper": "#b8703f",
    "silver": "#b9bec4",
    "brown": "#8a5f3c",
    "red": "#b03a3a",
    "green": "#4f7d4a",
    "mixed": "#c9a227",
    "terracotta": "#c0673f",
}
# Outlines on a canvas of 100 by 100, one a category: enough to tell the shelves apart.
SHAPES = {
    "Mugs": [(25, 25), (70, 25), (70, 40), (84, 40), (84, 62), (70, 62), (70, 78), (25, 78)],
    "Pans": [(8, 45), (62, 45), (62, 52), (94, 46), (94, 54), (60, 62), (54, 72), (16, 72)],
    "Baking": [(12, 38), (88, 38), (78, 70), (22, 70)],
    "Hand tools": [(44, 6), (56, 6), (56, 52), (68, 60), (60, 94), (40, 94), (32, 60), (44, 52)],
    "Seeds": [(26, 14), (74, 14), (74, 86), (26, 86)],
    "Planters": [(20, 30), (80, 30), (80, 42), (74, 42), (68, 84), (32, 84), (26, 42), (20, 42)],
    "Notebooks": [(24, 12), (78, 18), (78, 90), (24, 84)],
    "Pens": [(14, 80), (68, 20), (80, 30), (26, 88), (10, 92)],
    "Lamps": [(36, 12), (64, 12), (80, 46), (54, 46), (54, 80), (68, 88), (32, 88), (46, 80), (46, 46), (20, 46)],
    "Backpacks": [(32, 14), (68, 14), (80, 34), (80, 88), (20, 88), (20, 34)],
    "Bottles": [(42, 8), (58, 8), (58, 24), (68, 36), (68, 92), (32, 92), (32, 36), (42, 24)],
    "Camp cooking": [(20, 34), (80, 34), (80, 54), (66, 74), (74, 90), (26, 90), (34, 74), (20, 54)],
}


def picture(product: dict[str, Any]) -> ContentFile:
    """A small drawing: the category's outline in the product's colour."""
    image = Image.new("RGB", (200, 200), "#e9ece6")
    outline = [(2 * x, 2 * y) for x, y in SHAPES[product["category"]]]
    ImageDraw.Draw(image).polygon(outline, fill=COLOURS[product["colour"]], outline="#55585c", width=3)
    file = BytesIO()
    image.quantize(16).save(file, "PNG", optimize=True)
    return ContentFile(file.getvalue(), f"{product['upc'].lower()}.png")


def fill_catalogue(base: dict[str, Any]) -> None:
    """Categories, and the products with stock, price, attributes and a picture."""
    partner = get_model("partner", "Partner").objects.create(name="Kestrel warehouse", code="warehouse")
    kind = get_model("catalogue", "ProductClass").objects.create(name="Goods", track_stock=True)
    attributes = [
        kind.attributes.create(name=name, code=code, type="text")
        for name, code in (("Colour", "colour"), ("Material", "material"), ("Weight", "weight"))
    ]
    shelf = {}
    for parent, children in base["categories"].items():
        for child in children:
            shelf[child] = create_from_breadcrumbs(f"{parent} > {child}")
    for number, data in enumerate(base["products"]):
        product = get_model("catalogue", "Product").objects.create(
            product_class=kind,
            title=data["title"],
            upc=data["upc"],
            description=f"<p>From our own range. Made of {data['material']}, {data['colour']}.</p>",
        )
        type(product).objects.filter(pk=product.pk).update(date_created=CLOCK + datetime.timedelta(hours=number))
        values = (data["colour"], data["material"], f"{data['weight_g']} g")
        for attribute, value in zip(attributes, values, strict=True):
            attribute.save_value(product, value)
        product.productcategory_set.create(category=shelf[data["category"]])
        product.stockrecords.create(
            partner=partner,
            partner_sku=data["upc"],
            price=Decimal(data["price"]),
            price_currency="EUR",
            num_in_stock=data["stock"],
        )
        product.images.create(original=picture(data), display_order=0)


def fill_customers(base: dict[str, Any]) -> None:
    """The customer with addresses and an empty basket, and those who write reviews."""
    country = get_model("address", "Country").objects.create(
        iso_3166_1_a2="IE", iso_3166_1_a3="IRL", iso_3166_1_numeric="372", printable_name="Ireland", name="IRELAND",
        is_shipping_country=True,
    )  # fmt: skip
    customer = User.objects.create_user(**base["customer"])
    for address in base["addresses"]:
        get_model("address", "UserAddress").objects.create(user=customer, country=country, **address)
    get_model("basket", "Basket").objects.create(owner=customer)
    for username, first, last in base["reviewers"]:
        User.objects.create_user(username, f"{username}@post.test", first_name=first, last_name=last)


def fill_vouchers(base: dict[str, Any]) -> None:
    """Each with an offer of its own on everything in the shop."""
    everything = get_model("offer", "Range").objects.create(name="Everything", includes_all_products=True)
    Condition, Benefit = get_model("offer", "Condition"), get_model("offer", "Benefit")
    for number, (what, code) in enumerate(base["vouchers"].items()):
        kind, value = what.split()
        offer = get_model("offer", "ConditionalOffer").objects.create(
            name=f"Voucher {number + 1}",
            offer_type="Voucher",
            condition=Condition.objects.create(range=everything, type=Condition.COUNT, value=1),
            benefit=Benefit.objects.create(
                range=everything, type=Benefit.PERCENTAGE if kind == "percent" else Benefit.FIXED, value=Decimal(value)
            ),
        )
        voucher = get_model("voucher", "Voucher").objects.create(
            name=f"Voucher {number + 1}",
            code=code,
            usage="Multi-use",
            start_datetime=CLOCK,
            end_datetime=CLOCK.replace(year=2125),
        )
        voucher.offers.add(offer)


call_command("migrate", run_syncdb=True, verbosity=0)
with transaction.atomic():
    Site.objects.filter(pk=1).update(domain="shop.test", name="Kestrel Supply")
    base = json.load(sys.stdin)
    fill_catalogue(base)
    fill_customers(base)
    fill_vouchers(base)
