"""Bids: BrowserGym's calls that name an element by its bid, as Actions at the place where the element shows.

Invariant: an element is worked by mouse and keys alone. Before that the page is scrolled until it shows, or it is given
the keyboard, as Playwright does for BrowserGym. What can't be done is a ValueError that says why.
Source of names and arguments: BrowserGym's action documentation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from envs.browser.elements import Elements, NoElement
from guiforge.action import Action, ChooseFiles, Click, Drag, Move, Press, TypeText
from guiforge.dialects.base import Fields, make
from guiforge.dialects.browsergym import BUTTONS, chord

Meaning = Callable[[Fields, Elements], Sequence[Action]]
_ALL = Press(keys=("ctrl", "a"))
_EMPTY: tuple[Action, ...] = (_ALL, Press(keys=("Delete",)))


def _bid(fields: Fields, name: str = "bid") -> str:
    value = fields.get(name)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else fields.need_text(name)


def _at(elements: Elements, bid: str) -> dict[str, int]:
    x, y = elements.show(bid)
    return {"x": x, "y": y}


def _click(count: int) -> Meaning:
    def meaning(fields: Fields, elements: Elements) -> Sequence[Action]:
        button = fields.choice("button", BUTTONS, "left")
        at = _at(elements, _bid(fields))
        return [make(Click, **at, button=button, count=count, modifiers=fields.texts("modifiers"))]

    return meaning


def _hover(fields: Fields, elements: Elements) -> Sequence[Action]:
    return [Move(**_at(elements, _bid(fields)))]


def _fill(fields: Fields, elements: Elements) -> Sequence[Action]:
    bid, value = _bid(fields), fields.need_text("value")
    field = elements.ask(bid, "field")
    if not field["fillable"]:
        raise NoElement(f"element {bid!r} is a {field['kind']} that can't be filled")
    elements.focus(bid)
    if field["kind"] == "date":
        day = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", value)
        if value and day is None:
            raise NoElement(f"{value!r} is no date; a date is written as 2026-03-21")
        return [Press(keys=("BackSpace",)), *([TypeText(text=f"{day[2]}{day[3]}{day[1]}")] if day else [])]
    return [_ALL, TypeText(text=value)] if value else _EMPTY


def _clear(fields: Fields, elements: Elements) -> Sequence[Action]:
    elements.focus(_bid(fields))
    return _EMPTY


def _press(fields: Fields, elements: Elements) -> Sequence[Action]:
    keys = chord(fields.need_text("key_comb"))
    elements.focus(_bid(fields))
    return [make(Press, keys=keys)]


def _focus(fields: Fields, elements: Elements) -> Sequence[Action]:
    elements.focus(_bid(fields))
    return []


def _check(wanted: bool) -> Meaning:
    def meaning(fields: Fields, elements: Elements) -> Sequence[Action]:
        bid = _bid(fields)
        state = elements.ask(bid, "checked")
        if state is None:
            raise NoElement(f"element {bid!r} is no checkbox and no radio button")
        return [] if state is wanted else [Click(**_at(elements, bid))]

    return meaning


def _select(fields: Fields, elements: Elements) -> Sequence[Action]:
    bid, options = _bid(fields), fields.get("options")
    wanted = [options] if isinstance(options, str) else list(fields.texts("options"))
    known = elements.ask(bid, "choices", wanted)
    if known is None:
        raise NoElement(f"element {bid!r} is no list to choose from")
    for option, number in zip(wanted, known["found"], strict=True):
        if number < 0:
            raise NoElement(f"element {bid!r} has no option {option!r}; valid are: {', '.join(known['labels'])}")
    if not known["several"] and len(wanted) != 1:
        raise NoElement(f"element {bid!r} takes one option, not {len(wanted)}")
    if known["dropdown"]:
        (number,) = known["found"]
        elements.focus(bid)
        down = [Press(keys=("Down",))] * number
        return [Press(keys=("alt", "Down")), Press(keys=("Home",)), *down, Press(keys=("Return",))]
    changed = [number for number, chosen in enumerate(known["chosen"]) if chosen is not (number in known["found"])]
    held = ("ctrl",) if known["several"] else ()
    turned = [number for number in changed if known["several"] or number in known["found"]]
    places = [elements.show_option(bid, number) for number in turned]
    return [Click(x=x, y=y, modifiers=held) for x, y in places]


def _drag(fields: Fields, elements: Elements) -> Sequence[Action]:
    start, end = _bid(fields, "from_bid"), _bid(fields, "to_bid")
    elements.show(start)
    target = elements.show(end)  # which may have scrolled the first away
    return [Drag(path=(elements.show(start), target))]


def _upload(fields: Fields, elements: Elements) -> Sequence[Action]:
    files = fields.get("file")
    paths = (files,) if isinstance(files, str) else fields.texts("file")
    return [Click(**_at(elements, _bid(fields))), make(ChooseFiles, paths=paths)]


_CLICK = ("bid", "button", "modifiers")
BID_CALLS: Mapping[str, tuple[tuple[str, ...], Meaning]] = {
    "click": (_CLICK, _click(1)),
    "dblclick": (_CLICK, _click(2)),
    "hover": (("bid",), _hover),
    "fill": (("bid", "value"), _fill),
    "clear": (("bid",), _clear),
    "press": (("bid", "key_comb"), _press),
    "focus": (("bid",), _focus),
    "check": (("bid",), _check(True)),
    "uncheck": (("bid",), _check(False)),
    "select_option": (("bid", "options"), _select),
    "drag_and_drop": (("from_bid", "to_bid"), _drag),
    "upload_file": (("bid", "file"), _upload),
}
