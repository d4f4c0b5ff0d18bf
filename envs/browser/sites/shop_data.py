"""What the shop sells, and to whom: the base data, the same for every task.

Invariant: plain values, in a fixed order; a task's records change prices and stock, and add what a customer has.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Product:
    """A product of the shop. price: euros, as text. weight_g: grams."""

    upc: str
    title: str
    category: str
    price: str
    stock: int
    colour: str
    material: str
    weight_g: int


CATEGORIES = {
    "Kitchen": ("Mugs", "Pans", "Baking"),
    "Garden": ("Hand tools", "Seeds", "Planters"),
    "Desk": ("Notebooks", "Pens", "Lamps"),
    "Trail": ("Backpacks", "Bottles", "Camp cooking"),
}
# category: (title, price, stock, colour, material, grams)
_GOODS: dict[str, tuple[tuple[str, str, int, str, str, int], ...]] = {
    "Mugs": (
        ("Halden enamel mug", "9.80", 34, "blue", "enamelled steel", 180),
        ("Halden enamel mug, large", "12.40", 18, "blue", "enamelled steel", 240),
        ("Fjell stoneware mug", "14.90", 22, "grey", "stoneware", 390),
        ("Fjell stoneware espresso cup", "8.60", 41, "grey", "stoneware", 140),
        ("Orsa glass tea mug", "11.20", 9, "clear", "glass", 260),
        ("Tarn porcelain mug", "16.50", 15, "white", "porcelain", 310),
    ),
    "Pans": (
        ("Brask cast-iron skillet 24 cm", "39.90", 12, "black", "cast iron", 2100),
        ("Brask cast-iron skillet 28 cm", "48.50", 7, "black", "cast iron", 2800),
        ("Lune copper saucepan", "64.00", 5, "copper", "copper", 1150),
        ("Oda steel frying pan", "32.70", 16, "silver", "stainless steel", 1300),
        ("Oda steel stockpot", "54.20", 8, "silver", "stainless steel", 1900),
    ),
    "Baking": (
        ("Ravn loaf tin", "13.30", 27, "black", "carbon steel", 520),
        ("Ravn muffin tray", "17.80", 19, "black", "carbon steel", 610),
        ("Birk rolling pin", "15.60", 23, "brown", "beech", 480),
        ("Birk dough scraper", "6.40", 52, "brown", "beech", 70),
        ("Sol springform 26 cm", "21.90", 14, "red", "carbon steel", 740),
    ),
    "Hand tools": (
        ("Moss hand trowel", "12.90", 31, "green", "carbon steel", 290),
        ("Moss hand fork", "12.90", 28, "green", "carbon steel", 280),
        ("Klint pruning shears", "27.40", 17, "red", "carbon steel", 230),
        ("Klint hedge shears", "44.80", 6, "red", "carbon steel", 980),
        ("Ask dibber", "9.20", 36, "brown", "ash", 160),
    ),
    "Seeds": (
        ("Sugar pea seeds", "3.20", 120, "green", "seed", 25),
        ("Rainbow chard seeds", "2.90", 96, "red", "seed", 12),
        ("Black radish seeds", "2.60", 84, "black", "seed", 10),
        ("Meadow flower mix", "5.80", 63, "mixed", "seed", 40),
        ("Winter lettuce seeds", "2.40", 110, "green", "seed", 8),
    ),
    "Planters": (
        ("Terra pot 18 cm", "7.70", 44, "terracotta", "clay", 1200),
        ("Terra pot 26 cm", "13.10", 25, "terracotta", "clay", 2600),
        ("Vide window box", "22.60", 13, "grey", "zinc", 1700),
        ("Vide hanging basket", "18.40", 20, "grey", "zinc", 900),
        ("Lov raised bed", "79.00", 4, "brown", "larch", 9800),
    ),
    "Notebooks": (
        ("Skriv notebook, lined", "8.90", 60, "blue", "paper", 210),
        ("Skriv notebook, dotted", "9.40", 55, "blue", "paper", 210),
        ("Skriv notebook, squared", "8.70", 48, "green", "paper", 210),
        ("Lodd field journal", "14.60", 26, "brown", "paper and leather", 260),
        ("Lodd sketchbook", "19.20", 21, "black", "paper", 520),
    ),
    "Pens": (
        ("Rill fountain pen, fine", "34.50", 11, "black", "brass", 28),
        ("Rill fountain pen, broad", "34.50", 10, "red", "brass", 28),
        ("Rill ink, 50 ml", "9.70", 39, "blue", "ink", 140),
        ("Gran pencil set", "11.80", 33, "brown", "cedar", 95),
        ("Gran clutch pencil", "16.30", 24, "silver", "aluminium", 22),
    ),
    "Lamps": (
        ("Nova desk lamp", "59.00", 9, "white", "aluminium", 1600),
        ("Nova clip lamp", "37.40", 14, "white", "aluminium", 720),
        ("Ember reading lamp", "46.80", 8, "copper", "brass", 1100),
        ("Ember candle lamp", "24.90", 19, "copper", "brass", 640),
        ("Dusk paper lamp", "29.30", 12, "white", "paper", 410),
    ),
    "Backpacks": (
        ("Ridge daypack 18 l", "69.00", 13, "green", "canvas", 780),
        ("Ridge daypack 26 l", "84.50", 10, "green", "canvas", 940),
        ("Scree trekking pack 45 l", "139.00", 6, "grey", "nylon", 1650),
        ("Scree trekking pack 60 l", "159.00", 5, "grey", "nylon", 1880),
        ("Pebble hip bag", "28.60", 29, "blue", "nylon", 190),
    ),
    "Bottles": (
        ("Brook steel bottle 0.5 l", "19.40", 37, "silver", "stainless steel", 230),
        ("Brook steel bottle 1 l", "26.20", 24, "silver", "stainless steel", 340),
        ("Brook vacuum flask", "33.90", 16, "black", "stainless steel", 420),
        ("Loch folding bottle", "12.10", 42, "blue", "silicone", 110),
        ("Loch glass bottle", "17.50", 18, "clear", "glass", 460),
    ),
    "Camp cooking": (
        ("Spark gas stove", "42.30", 12, "red", "aluminium", 310),
        ("Spark wood stove", "55.70", 7, "silver", "stainless steel", 620),
        ("Cairn pot set", "38.80", 15, "silver", "aluminium", 540),
        ("Cairn folding cutlery", "14.20", 35, "silver", "stainless steel", 90),
        ("Cairn windshield", "18.90", 20, "silver", "aluminium", 170),
    ),
}
PRODUCTS = tuple(
    Product(f"KS-{1000 + 100 * row + 7 * column}", title, category, price, stock, colour, material, grams)
    for row, (category, goods) in enumerate(_GOODS.items())
    for column, (title, price, stock, colour, material, grams) in enumerate(goods)
)
BY_UPC = {product.upc: product for product in PRODUCTS}

CUSTOMER = {"username": "dana", "first_name": "Dana", "last_name": "Moreau", "email": "dana.moreau@post.test"}
ADDRESSES = (
    {"first_name": "Dana", "last_name": "Moreau", "line1": "14 Quay Street", "line4": "Eastport", "postcode": "20457"},
    {"first_name": "Dana", "last_name": "Moreau", "line1": "3 Mill Lane", "line4": "Norwick", "postcode": "71032"},
    {"first_name": "Theo", "last_name": "Moreau", "line1": "88 Orchard Road", "line4": "Vell", "postcode": "33518"},
)
VOUCHERS = {"percent 10": "SPRING10", "percent 20": "FRIEND20", "fixed 5": "FIVEOFF"}  # benefit: code, renamed by tasks
SHIPPING = {"Parcel": "4.90", "Express": "12.90", "Pick-up at the warehouse": "0.00"}
REVIEWERS = (
    ("ines", "Ines", "Falk"), ("jonas", "Jonas", "Okafor"), ("mirek", "Mirek", "Novy"), ("petra", "Petra", "Lind"),
    ("samir", "Samir", "Haddad"), ("tove", "Tove", "Aas"), ("wanda", "Wanda", "Brzoska"), ("yuki", "Yuki", "Mori"),
)  # fmt: skip


def listed(category: str) -> list[Product]:
    """The products of a category, in the shop's order."""
    return [product for product in PRODUCTS if product.category == category]


def base() -> dict[str, Any]:
    """All of it as JSON, for the script that fills the shop's database."""
    return {
        "categories": CATEGORIES,
        "products": [asdict(product) for product in PRODUCTS],
        "customer": CUSTOMER,
        "addresses": ADDRESSES,
        "vouchers": VOUCHERS,
        "reviewers": REVIEWERS,
    }
