"""What fixtures are made of: word lists, and PDF files and pictures drawn by code.

Invariant: equal arguments give equal bytes, in any process.
"""

from __future__ import annotations

import io
import random
from collections.abc import Mapping, Sequence

from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from guiforge.task import PutFile

NAMES = (
    "Alvarez", "Bianchi", "Castell", "Dvorak", "Eriksen", "Fontaine", "Grabner", "Hollis", "Ivanova", "Jansen",
    "Kowalski", "Lindqvist", "Moreau", "Novak", "Okafor", "Petrov", "Quintero", "Rossi", "Sandoval", "Takahashi",
    "Ulrich", "Varga", "Weiss", "Yilmaz", "Zeman",
)  # fmt: skip

PLACES = (
    "Arvika", "Bergamo", "Coimbra", "Dornbirn", "Esbjerg", "Fulda", "Girona", "Haarlem", "Inari", "Jihlava",
    "Kotor", "Lucerne", "Mostar", "Narvik", "Olomouc", "Porvoo", "Quimper", "Rovinj", "Silkeborg", "Trogir",
)  # fmt: skip

TOPICS = (
    "Garden", "Harbour", "Kitchen", "Library", "Museum", "Orchard", "Railway", "School", "Theatre", "Workshop",
    "Bakery", "Cinema",
)  # fmt: skip

GOODS = (
    "bolts", "brushes", "candles", "clamps", "drills", "envelopes", "funnels", "gloves", "hinges", "kettles",
    "lamps", "magnets", "nails", "pulleys", "ropes", "scissors", "staples", "trays", "valves", "wrenches",
)  # fmt: skip

NOTES = (
    "The delivery came a day late and two boxes were open.",
    "Please check the lights in the corridor before the weekend.",
    "We agreed to meet again when the samples are back.",
    "The new shelves fit, the old ones go to the cellar.",
    "Nobody has seen the second key since the open day.",
    "The heating was off all morning, it runs again now.",
    "Two visitors asked for a map, we have none left.",
    "The printer needs paper of the heavier kind.",
    "Both windows on the north side have to be sealed.",
    "The bill for the van is still open.",
)  # fmt: skip

COLOURS = {
    "red": "#d62828",
    "green": "#2a9d3a",
    "blue": "#1d5fd1",
    "orange": "#f28c13",
    "purple": "#7b2cbf",
}
SHAPES = ("circle", "square", "triangle", "star")

_SIZE = (640, 480)


def put(files: Mapping[str, str | bytes]) -> tuple[PutFile, ...]:
    """Set-up steps that write files, by `~/` path; text as UTF-8."""
    return tuple(PutFile(path=p, data=d.encode() if isinstance(d, str) else d) for p, d in files.items())


def code(random_: random.Random, letters: int = 2, digits: int = 4) -> str:
    """A code such as `KT-4821`, without letters and digits that look alike."""
    return (
        "".join(random_.choices("ACDEFHJKLMNPRTUVWXY", k=letters)) + "-" + "".join(random_.choices("2346789", k=digits))
    )


def prose(random_: random.Random, lines: int = 3) -> str:
    """Some sentences, one a line."""
    return "\n".join(random_.sample(NOTES, lines)) + "\n"


def pdf(pages: Sequence[tuple[str, Sequence[str]]], title: str) -> bytes:
    """A PDF file in A4: (heading, lines) a page, with page numbers; a tab in a line starts its right column."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.setTitle(title)
    width, height = A4
    for number, (heading, lines) in enumerate(pages, 1):
        canvas.setFont("Helvetica-Bold", 22)
        canvas.drawString(70, height - 90, heading)
        canvas.setFont("Helvetica", 14)
        for row, line in enumerate(lines):
            left, _, right = line.partition("\t")
            canvas.drawString(70, height - 140 - 26 * row, left)
            canvas.drawRightString(width - 90, height - 140 - 26 * row, right)
        canvas.drawCentredString(width / 2, 50, f"Page {number} of {len(pages)}")
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def shape_picture(shape: str, colour: str, background: str = "#f4f1e8") -> bytes:
    """A PNG of 640x480 with one shape of SHAPES in a colour of COLOURS."""
    image = Image.new("RGB", _SIZE, background)
    draw, fill = ImageDraw.Draw(image), COLOURS[colour]
    x0, y0, x1, y1 = 200, 120, 440, 360
    if shape == "circle":
        draw.ellipse((x0, y0, x1, y1), fill=fill)
    elif shape == "square":
        draw.rectangle((x0, y0, x1, y1), fill=fill)
    elif shape == "triangle":
        draw.polygon(((320, y0), (x1, y1), (x0, y1)), fill=fill)
    elif shape == "star":
        draw.polygon(
            ((320, 110), (350, 200), (445, 200), (370, 258), (398, 350), (320, 293), (242, 350), (270, 258),
             (195, 200), (290, 200)),
            fill=fill,
        )  # fmt: skip
    else:
        raise ValueError(f"unknown shape {shape!r}; valid are {', '.join(SHAPES)}")
    return _png(image)


def text_picture(lines: Sequence[str]) -> bytes:
    """A PNG of 640x480 that looks like a photographed label: lines of large text in a frame."""
    image = Image.new("RGB", _SIZE, "#dfe7ee")
    draw = ImageDraw.Draw(image)
    draw.rectangle((60, 70, 580, 410), fill="#ffffff", outline="#333333", width=6)
    font = ImageFont.load_default(44)
    for row, line in enumerate(lines):
        draw.text((320, 140 + 80 * row), line, font=font, fill="#111111", anchor="mm")
    return _png(image)


def _png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()
