"""GIMP's settings files (gimprc and the like): parenthesised lists of a name and its values.

Invariant: a value is kept as it is written: a text without its quotes, any other atom as its characters.
Source: gimprc(5), section SYNTAX.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from verifiers.package import Unreadable

GIMPRC = "~/.config/GIMP/2.10/gimprc"

_TOKEN = re.compile(r'\s*(?:#[^\n]*|(?P<mark>[()])|"(?P<text>(?:[^"\\]|\\.)*)"|(?P<atom>[^\s()"#]+))', re.DOTALL)
_MAX_DEPTH = 20


def read_rc(data: bytes) -> Mapping[str, list[object]]:
    """name -> values of each list at the top; a later one replaces an earlier one, as GIMP does.

    A value is a str, or a list for a nested one: `(default-image (width 640))` gives
    `{"default-image": [["width", "640"]]}`. Raises Unreadable.
    """
    settings: dict[str, list[object]] = {}
    for entry in _lists(data.decode("utf-8", "replace").rstrip()):
        if isinstance(entry, list) and entry and isinstance(entry[0], str):
            settings[entry[0]] = entry[1:]
    return settings


def setting(settings: Mapping[str, list[object]], name: str, *inner: str) -> str | None:
    """The single value of a setting, or of one inside it (`"default-image", "width"`); None where it is not set."""
    values: list[object] = settings.get(name, [])
    for key in inner:
        nested = [v for v in values if isinstance(v, list) and v and v[0] == key]
        values = nested[-1][1:] if nested else []
    return values[0] if len(values) == 1 and isinstance(values[0], str) else None


def _lists(text: str) -> list[object]:
    stack: list[list[object]] = [[]]
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise Unreadable(f"not a settings file of GIMP: unended text at character {position}")
        position = token.end()
        if token["mark"] == "(":
            if len(stack) > _MAX_DEPTH:
                raise Unreadable("not a settings file of GIMP: lists are nested too deep")
            stack.append([])
        elif token["mark"] == ")":
            if len(stack) == 1:
                raise Unreadable(f"not a settings file of GIMP: a list ends that never began, at character {position}")
            done = stack.pop()
            stack[-1].append(done)
        elif token["text"] is not None:
            stack[-1].append(re.sub(r"\\(.)", r"\1", token["text"]))
        elif token["atom"] is not None:
            stack[-1].append(token["atom"])
    if len(stack) != 1:
        raise Unreadable("not a settings file of GIMP: a list never ends")
    return stack[0]
