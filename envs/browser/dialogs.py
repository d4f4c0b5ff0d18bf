"""Dialogs: a page's alert, confirm, prompt or question before it is left, drawn on the frame and answered there.

Invariant: a headless page shows no dialog and draws nothing while one is open, so the box is ours: what is drawn is
what can be clicked, and the same dialog on the same frame gives the same pixels. Text that is all ASCII is drawn with
Pillow's own font, the same on every machine; other text with the system's font for it, as the page's text is.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace

from PIL import ImageDraw, ImageFont

from envs.browser.keyboard import CONTROL, NAMED
from guiforge.action import AnswerDialog, BaseAction, Click, Point, Press, TypeText
from guiforge.frame import Frame, Size

KEYS = {("Return",): True, ("Escape",): False}  # whether a dialog is accepted by it
_TITLES = {"alert": "Alert", "confirm": "Confirm", "prompt": "Prompt", "beforeunload": "Leave this page?"}
_UNSAVED = "Changes you made may not be saved."  # a page can't say anything of its own before it is left
_MOST = 2000  # characters of a message that are looked at
_WIDTH, _MARGIN, _PAD, _GAP = 440, 8, 20, 8  # pixels
_FONT_PX, _LINE_PX, _FIELD_PX = 14, 20, 28
_BUTTON: Size = (88, 32)
_BLUE, _GREY, _PALE = "#1967d2", "#767676", "#e8eaed"

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
Rect = tuple[int, int, int, int]
"""Left, top, right and bottom in screen pixels, all inside."""


@dataclass(frozen=True)
class Dialog:
    """An open dialog of a page. kind: alert, confirm, prompt or beforeunload.

    default: what a prompt proposes.  text: what its field holds; selected: all of it, so that typing replaces it.
    """

    kind: str
    message: str
    default: str = ""
    text: str = ""
    selected: bool = True


@dataclass(frozen=True)
class Layout:
    """Where a dialog's parts are. buttons: by whether they accept; an alert can't be refused."""

    box: Rect
    title: Point
    lines: tuple[tuple[Point, str], ...]
    field: Rect | None
    buttons: dict[bool, Rect]


def lay_out(dialog: Dialog, size: Size) -> Layout:
    """The box at the top of a screen, in the middle: its message as far as it fits, its buttons always."""
    width, most = min(_WIDTH, size[0] - 2 * _MARGIN), size[1] - 2 * _MARGIN
    left, top = (size[0] - width) // 2, _MARGIN
    inner = width - 2 * _PAD
    field_px = _FIELD_PX + _GAP if dialog.kind == "prompt" else 0
    around = 2 * _PAD + _LINE_PX + 2 * _GAP + field_px + _BUTTON[1]
    room = max(0, (most - around) // _LINE_PX)
    lines = list(itertools.islice(_wrapped(_message(dialog), inner, _font(dialog)), room + 1))
    if len(lines) > room:
        lines = [*lines[: max(0, room - 1)], "..."][:room]
    bottom = top + min(most, around + len(lines) * _LINE_PX) - 1
    first = top + _PAD + _LINE_PX + _GAP
    placed = tuple(((left + _PAD, first + i * _LINE_PX), line) for i, line in enumerate(lines))
    answers = (True,) if dialog.kind == "alert" else (True, False)
    button = min(_BUTTON[0], (width - 3 * _GAP) // 2)
    right, above = left + width - 1 - min(_PAD, _GAP * 2), bottom - _PAD - _BUTTON[1] + 1
    buttons = {}
    for i, accept in enumerate(reversed(answers)):
        x = right - (i + 1) * button - i * _GAP + 1
        buttons[accept] = (x, above, x + button - 1, above + _BUTTON[1] - 1)
    under = first + len(lines) * _LINE_PX + _GAP // 2
    field = (left + _PAD, under, left + width - 1 - _PAD, under + _FIELD_PX - 1) if field_px else None
    return Layout((left, top, left + width - 1, bottom), (left + _PAD, top + _PAD), placed, field, buttons)


def drawn(frame: Frame, dialog: Dialog) -> Frame:
    """The frame with the dialog on it."""
    image, at = frame.image.copy(), lay_out(dialog, frame.size)
    draw, font, own = ImageDraw.Draw(image), _font(dialog), _font_of("")
    draw.rectangle(at.box, fill="white", outline=_GREY)
    _say(draw, at.title, _TITLES.get(dialog.kind, dialog.kind), own, "black", bold=True)
    for point, line in at.lines:
        _say(draw, point, line, font, "black")
    if at.field is not None:
        _draw_field(draw, at.field, dialog, font)
    for accept, rect in at.buttons.items():
        said = ("Leave" if dialog.kind == "beforeunload" else "OK") if accept else "Cancel"
        draw.rounded_rectangle(rect, 4, fill=_BLUE if accept else _PALE)
        middle = (rect[0] + rect[2] + 1 - _width(said, own)) // 2
        _say(draw, (middle, rect[1] + (_BUTTON[1] - _LINE_PX) // 2), said, own, "white" if accept else "black")
    shown = Frame.from_image(image, settled=frame.settled)
    shown.cursor = frame.cursor
    return shown


def answer(dialog: Dialog, action: BaseAction, pointer: Point, size: Size) -> AnswerDialog | Dialog:
    """What an Action comes to: an answer, or the dialog as it is then. Raises ValueError naming what is valid.

    pointer: where the mouse is, for a click.
    """
    prompt = dialog.kind == "prompt"
    if isinstance(action, Click) and action.button == "left":
        at = lay_out(dialog, size)
        for accept, rect in at.buttons.items():
            if _inside(pointer, rect):
                return AnswerDialog(accept=accept)
        if at.field is not None and _inside(pointer, at.field):
            return replace(dialog, selected=action.count > 1)
    elif isinstance(action, Press):
        if action.keys in KEYS:
            return AnswerDialog(accept=KEYS[action.keys])
        if prompt and (edited := _pressed(dialog, action.keys)) is not None:
            return edited
    elif isinstance(action, TypeText) and prompt:
        text, entered, rest = action.text.replace("\r\n", "\n").partition("\n")
        if not rest and (text.isprintable() or not text):
            edited = replace(dialog, text=("" if dialog.selected else dialog.text) + text, selected=False)
            return AnswerDialog(accept=True, text=edited.text) if entered else edited
    raise ValueError(refusal(dialog))


def refusal(dialog: Dialog) -> str:
    """Why something else can't be done, and what can."""
    field = ", a line of text, BackSpace, Control+a" if dialog.kind == "prompt" else ""
    return (
        f"the page's {dialog.kind} dialog {dialog.message!r} is open and holds everything else back; valid are "
        f"answer_dialog, or the keys Return (OK) and Escape (Cancel), or a click on one of its buttons{field}"
    )


def _pressed(dialog: Dialog, keys: tuple[str, ...]) -> Dialog | None:
    """A prompt after keys were pressed in its field, the caret at the end of it; None for keys that do nothing."""
    last = keys[-1]
    held = [NAMED[key].modifier if key in NAMED else 0 for key in keys[:-1]]
    if held == [CONTROL] and last.lower() == "a":
        return replace(dialog, selected=True)
    if held:
        return None
    if last in ("BackSpace", "Delete"):
        kept = "" if dialog.selected else dialog.text[:-1] if last == "BackSpace" else dialog.text
        return replace(dialog, text=kept, selected=False)
    if last == "End":
        return replace(dialog, selected=False)
    typed = " " if last == "space" else last if len(last) == 1 else ""
    return replace(dialog, text=("" if dialog.selected else dialog.text) + typed, selected=False) if typed else None


def _inside(point: Point, rect: Rect) -> bool:
    return rect[0] <= point[0] <= rect[2] and rect[1] <= point[1] <= rect[3]


def _draw_field(draw: ImageDraw.ImageDraw, rect: Rect, dialog: Dialog, font: Font) -> None:
    """The field of a prompt: the end of its text where not all fits, and a caret or the selection."""
    draw.rectangle(rect, fill="white", outline=_BLUE)
    text = _shown(dialog.text[-_WIDTH:])
    while text and _width(text, font) > rect[2] - rect[0] - 12:
        text = text[1:]
    x, y, end = rect[0] + 6, rect[1] + (_FIELD_PX - _LINE_PX) // 2, rect[0] + 6 + _width(text, font)
    selected = dialog.selected and text != ""
    if selected:
        draw.rectangle((x - 1, y, end, y + _LINE_PX - 1), fill=_BLUE)
    else:
        draw.line((end + 1, y + 2, end + 1, y + _LINE_PX - 3), fill="black")
    _say(draw, (x, y), text, font, "white" if selected else "black")


def _say(
    draw: ImageDraw.ImageDraw, point: Point, text: str, font: Font, colour: str, *, bold: bool = False
) -> None:  # fmt: skip
    place = (point[0], point[1] + (_LINE_PX - _FONT_PX) // 2 - 1)
    draw.text(place, text, fill=colour, font=font, stroke_width=0.4 if bold else 0, stroke_fill=colour)


def _width(text: str, font: Font) -> int:
    return round(font.getlength(text))


def _message(dialog: Dialog) -> str:
    """What is drawn of its message."""
    if dialog.kind == "beforeunload":
        return dialog.message or _UNSAVED
    return "\n".join(map(_shown, dialog.message[:_MOST].expandtabs(4).splitlines()))


def _shown(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)


def _wrapped(text: str, width: int, font: Font) -> Iterator[str]:
    """The text in lines of so many pixels, broken between words, and within one that is longer than a line."""
    for paragraph in text.splitlines():
        line = ""
        for word in paragraph.split(" "):
            if line and _width(f"{line} {word}", font) <= width:
                line = f"{line} {word}"
                continue
            if line:
                yield line
            while _width(word, font) > width and len(word) > 1:
                fits = _fitting(word, width, font)
                yield word[:fits]
                word = word[fits:]
            line = word
        yield line


def _fitting(text: str, width: int, font: Font) -> int:
    """How many characters from the first on fit, at least one."""
    lengths = range(1, min(len(text), width) + 1)
    return max(1, bisect.bisect_right(lengths, width, key=lambda count: _width(text[:count], font)))


def _font(dialog: Dialog) -> Font:
    return _font_of("".join(sorted({c for c in _message(dialog) + _shown(dialog.text[-_WIDTH:]) if c > "\x7f"})))


@functools.lru_cache(64)
def _font_of(characters: str) -> Font:
    """A font that has these characters besides ASCII: Pillow's own for none, else the one that fontconfig names."""
    own = ImageFont.load_default(_FONT_PX)
    if not characters:
        return own
    wanted = " ".join(f"{ord(character):x}" for character in characters)
    asked = ["fc-match", "--format", "%{file}\n%{index}", f"sans-serif:charset=41 {wanted}"]
    try:
        file, index = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=10).stdout.split("\n")
        return ImageFont.truetype(file, _FONT_PX, int(index), layout_engine=ImageFont.Layout.BASIC)
    except (OSError, subprocess.SubprocessError, ValueError):  # no fontconfig here, or a font of pictures
        return own
