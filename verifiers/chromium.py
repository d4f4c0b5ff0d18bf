"""Chromium's profile: its settings, bookmarks and search engines, as it writes them when it quits.

Invariant: what Chromium has never written has Chromium's own default; a file that it could not have written is
Unreadable.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from guiforge.env import StateMissing, StateReader
from verifiers.package import Unreadable, opening

PROFILE = "~/.config/chromium/Default"
PREFERENCES = f"{PROFILE}/Preferences"
BOOKMARKS = f"{PROFILE}/Bookmarks"
WEB_DATA = f"{PROFILE}/Web Data"
_ROOTS = ("bookmark_bar", "other", "synced")


@dataclass(frozen=True)
class Bookmark:
    """A bookmark, or a folder (its url None). place: names of its folders, from the root `bookmark_bar` or `other`."""

    place: tuple[str, ...]
    name: str
    url: str | None


def read_preferences(data: bytes) -> Mapping[str, Any]:
    """The settings as nested objects. Raises Unreadable."""
    return _object(data, "settings of Chromium")


def preference(settings: Mapping[str, Any], name: str, default: Any = None) -> Any:
    """A setting by its dotted name (`session.startup_urls`), or the default where it is not set."""
    value: Any = settings
    for key in name.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return default
        value = value[key]
    return value


def read_bookmarks(data: bytes) -> list[Bookmark]:
    """All bookmarks and folders in order, a folder before what is in it. Raises Unreadable."""
    roots = _object(data, "bookmarks of Chromium").get("roots")
    if not isinstance(roots, dict):
        raise Unreadable("not a readable bookmarks of Chromium: no roots")
    with opening("bookmarks of Chromium"):
        return [found for root in _ROOTS if root in roots for found in _below(roots[root], (root,))]


def state_bookmarks(state: StateReader) -> list[Bookmark]:
    """The bookmarks of a final state: none where Chromium never wrote any. Raises Unreadable."""
    try:
        return read_bookmarks(state.read(BOOKMARKS))
    except StateMissing:
        return []


@dataclass(frozen=True)
class SearchEngine:
    """A search engine of the address bar. url: with `{searchTerms}` for what is searched."""

    name: str
    keyword: str
    url: str


def read_search_engines(data: bytes) -> list[SearchEngine]:
    """The search engines in a `Web Data` database. Raises Unreadable."""
    if not data:
        raise Unreadable("the database of Chromium is empty")
    with opening("database of Chromium"):
        connection = sqlite3.connect(":memory:")
        try:
            connection.deserialize(data)
            rows = connection.execute("SELECT short_name, keyword, url FROM keywords ORDER BY id").fetchall()
        finally:
            connection.close()
    return [SearchEngine(str(name), str(keyword), str(url)) for name, keyword, url in rows]


def _object(data: bytes, what: str) -> dict[str, Any]:
    with opening(what):
        value = json.loads(data)
    if not isinstance(value, dict):
        raise Unreadable(f"not a readable {what}: no object")
    return value


def _below(node: Mapping[str, Any], place: tuple[str, ...]) -> Iterator[Bookmark]:
    for child in node.get("children", ()):
        name = str(child["name"])
        yield Bookmark(place, name, None if child["type"] == "folder" else str(child["url"]))
        yield from _below(child, (*place, name))
