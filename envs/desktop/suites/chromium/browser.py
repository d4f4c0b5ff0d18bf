"""What the Chromium families share: local pages made by code, a profile's bookmarks, and the way around the browser.

Invariant: pages lie below `~/Public/site` and need no network; addresses are `file://` ones.
"""

from __future__ import annotations

import html
import json
import re
import uuid
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from envs.desktop.a11y import Node
from envs.desktop.suites import materials
from envs.desktop.suites.common import press, rng, typed
from envs.desktop.suites.gestures import Oracle, absolute
from envs.desktop.suites.materials import put
from envs.desktop.view import DesktopView
from guiforge.task import Launch, PutFile

SITE = "~/Public/site"
_STYLE = (
    "body{font:17px/1.5 'DejaVu Sans',sans-serif;max-width:900px;margin:30px auto;color:#222;background:#fbfaf7}"
    "h1{color:#234}table{border-collapse:collapse}td,th{padding:6px 16px;border:1px solid #bbb;text-align:left}"
    "label{display:block;margin:14px 0}input,select,button{font:inherit;padding:3px 8px}"
)
_EPOCH = "13350000000000000"  # microseconds since 1601: the date of every bookmark
_ROOT_GUIDS = {
    "bookmark_bar": ("0bc5d13f-2cba-5d74-951f-3f233fe6c908", "Bookmarks bar"),
    "other": ("82b081ec-3dd3-529c-8475-ab6c344590dd", "Other bookmarks"),
    "synced": ("4cf2e351-0e85-532b-bb37-df045d8f8d0f", "Mobile bookmarks"),
}
Tree = Mapping[str, "str | Tree"]  # name -> address, or what is in the folder


def page(title: str, body: str) -> str:
    """An HTML page; `body` is HTML already."""
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>\n'
        f"<style>{_STYLE}</style>\n<body><h1>{html.escape(title)}</h1>\n{body}\n</body></html>\n"
    )


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An HTML table; the cells of `rows` are HTML already."""
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f"<table><tr>{head}</tr>\n{body}</table>"


def address(path: str) -> str:
    """The address of a `~/` file."""
    return f"file://{absolute(path)}"


def browser(path: str, title: str) -> Launch:
    """Set-up: the browser with a `~/` page."""
    return Launch(app="chromium", args=(address(path),), window=re.escape(title), maximize=True)


def bookmarks_file(bar: Tree, other: Tree | None = None) -> bytes:
    """Chromium's `Bookmarks` file with these on the bookmarks bar and among the other bookmarks."""
    count = len(_ROOT_GUIDS)

    def node(name: str, content: str | Tree) -> dict[str, object]:
        nonlocal count
        count += 1
        common = {
            "date_added": _EPOCH, "date_last_used": "0", "guid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{count} {name}")),
            "id": str(count), "name": name,
        }  # fmt: skip
        if isinstance(content, str):
            return {**common, "type": "url", "url": content}
        children = [node(child, inner) for child, inner in content.items()]
        return {**common, "type": "folder", "date_modified": _EPOCH, "children": children}

    roots = {}
    for number, (root, content) in enumerate((("bookmark_bar", bar), ("other", other or {}), ("synced", {})), 1):
        guid, name = _ROOT_GUIDS[root]
        roots[root] = {
            "children": [node(child, inner) for child, inner in content.items()], "date_added": _EPOCH,
            "date_last_used": "0", "date_modified": "0", "guid": guid, "id": str(number), "name": name,
            "type": "folder",
        }  # fmt: skip
    return json.dumps({"roots": roots, "version": 1}, indent=3).encode()


def go(view: DesktopView, url: str, title: str) -> Oracle:
    """Type an address into the address bar and wait for the page whose title the regular expression is found in."""
    yield [press("ctrl+l")]
    yield [typed(url), press("Delete"), press("Return")]  # Delete drops what the address bar would add
    view.wait_window(title)
    view.wait_settled()


def preferences_file(settings: Mapping[str, Any]) -> bytes:
    """Chromium's `Preferences` with these settings, by dotted name."""
    root: dict[str, Any] = {"browser": {"has_seen_welcome_page": True}}
    for name, value in settings.items():
        *outer, last = name.split(".")
        inside = root
        for key in outer:
            inside = inside.setdefault(key, {})
        inside[last] = value
    return json.dumps(root).encode()


def two_pages(family: str, seed: int) -> tuple[Random, str, str, tuple[PutFile, ...], Launch]:
    """(random numbers, address of a page, its title, set-up of two pages, the browser on the other one)."""
    random_ = rng(family, seed)
    place, topic = random_.choice(materials.PLACES), random_.choice(materials.TOPICS)
    path, start = f"{SITE}/{place.lower()}-{topic.lower()}.html", f"{SITE}/start.html"
    title = f"{topic} {place}"
    files = put({path: page(title, "<p>All there is to know.</p>"), start: page("Start", "<p>Welcome.</p>")})
    return random_, address(path), title, files, browser(start, "Start")


def enabled(view: DesktopView, role: str, name: str) -> Node:
    """A widget once it can be used: the browser checks what was entered before it lets a button be pressed."""
    view.wait_until(
        lambda: (node := view.find(role, name)) is not None and "enabled" in node.states, f"{role} {name!r} can be used"
    )
    return view.wait_for(role, name)
