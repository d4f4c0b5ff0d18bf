"""Marks: what on the screen can be acted on, numbered: boxes drawn on the frame, and the list of them as text.

Invariant: number n on the frame is line n of the list and entry n of the marks, each a place in screen pixels; no two
frames share their numbers.
Source: set-of-mark prompting (Yang et al. 2023, arXiv:2310.11441), as WebVoyager's agent uses it (arXiv:2401.13919).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from envs.browser.page import Page
from guiforge.frame import Frame

MOST = 300
SCRIPT = Path(__file__).with_name("scripts").joinpath("marks.js").read_text()
# of the boxes and their numbers, in turns, so that neighbours are told apart; white text can be read on each
_COLOURS = ("#d62828", "#0b7a3b", "#1d4ed8", "#9d3fc7", "#b45309", "#0f766e")
_FONT_PX = 12


@dataclass(frozen=True)
class Mark:
    """A numbered thing: its place in screen pixels, and what it is."""

    x: int
    y: int
    width: int
    height: int
    tag: str
    role: str
    name: str
    value: str

    @property
    def center(self) -> tuple[int, int]:
        """Where to click it."""
        return self.x + self.width // 2, self.y + self.height // 2

    def __str__(self) -> str:
        kind = f"{self.tag} {self.role}" if self.role not in ("", self.tag) else self.tag
        said = [f"<{kind}>", f'"{self.name}"' if self.name else "", f'value="{self.value}"' if self.value else ""]
        return " ".join([*filter(None, said), f"at {self.center}"])


def find(page: Page) -> list[Mark]:
    """What there is to act on, in the order of the document, MOST at most. Raises CdpError, Late, Gone."""
    return [Mark(**mark) for mark in page.evaluate(f"({SCRIPT})({MOST})")]


def listed(marks: Sequence[Mark]) -> str:
    """The list, a line a mark."""
    return "\n".join(f"[{number}] {mark}" for number, mark in enumerate(marks))


def drawn(frame: Frame, marks: Sequence[Mark]) -> Frame:
    """The frame with the numbered boxes on it."""
    image = frame.image.copy()
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(_FONT_PX)
    for number, mark in enumerate(marks):
        colour = _COLOURS[number % len(_COLOURS)]
        draw.rectangle((mark.x, mark.y, mark.x + mark.width - 1, mark.y + mark.height - 1), outline=colour, width=2)
    for number, mark in enumerate(marks):  # above every box
        _label(image, draw, font, mark, str(number), _COLOURS[number % len(_COLOURS)])
    marked = Frame.from_image(image, settled=frame.settled)
    marked.cursor = frame.cursor
    return marked


def _label(
    image: Image.Image, draw: ImageDraw.ImageDraw, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, mark: Mark,
    text: str, colour: str,
) -> None:  # fmt: skip
    """Above the box's left corner where there is room, else inside it."""
    width, height = round(draw.textlength(text, font)) + 4, _FONT_PX + 2
    x = min(mark.x, image.width - width)
    y = mark.y - height if mark.y >= height else mark.y
    draw.rectangle((x, y, x + width - 1, y + height - 1), fill=colour)
    draw.text((x + 2, y), text, fill="white", font=font)
