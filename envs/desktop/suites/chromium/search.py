"""Task family of Chromium's search shortcuts: a search engine of one's own, and which one is the default."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from dataclasses import replace

from envs.desktop.suites import materials
from envs.desktop.suites.chromium.browser import enabled, go, preferences_file, two_pages
from envs.desktop.suites.common import DONE, click, make_task, press, typed
from envs.desktop.suites.gestures import Oracle
from envs.desktop.view import DesktopView
from guiforge.action import Scroll
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Edits, Family, Task
from verifiers.chromium import (
    PREFERENCES,
    WEB_DATA,
    SearchEngine,
    preference,
    read_preferences,
    read_search_engines,
)
from verifiers.files import checked

_DEFAULT = "default_search_provider_data.template_url_data.keyword"
_BUILT_IN = SearchEngine("DuckDuckGo", "duckduckgo.com", "https://duckduckgo.com/?q={searchTerms}")


def _make(seed: int) -> Task:
    family = "chromium_site_search"
    random_, _, _, files, launch = two_pages(family, seed)
    place = random_.choice(materials.PLACES)
    name, shortcut = f"{place} {random_.choice(('Library', 'Archive', 'Wiki', 'Shop'))}", place[:3].lower()
    url = f"https://{place.lower()}.example/{random_.choice(('find', 'search', 'lookup'))}?q=%s"
    default = random_.random() < 0.5
    instruction = random_.choice(
        (
            f"Add a site search to Chromium: name {name}, shortcut {shortcut}, URL {url}",
            f'Teach Chromium\'s address bar the shortcut "{shortcut}": it should search "{name}" at {url} '
            "(%s stands for what is searched).",
        )
    )
    if default:
        instruction = f"{instruction.removesuffix('.')}. Then make it the default search engine."
    return make_task(
        family,
        seed,
        instruction,
        tags=("chromium",),
        params={"name": name, "shortcut": shortcut, "url": url, "default": default},
        setup=(*files, launch),
        writable=(f"{PREFERENCES}*", f"{WEB_DATA}*"),
        flush=("chromium",),
    )


def _wanted(task: Task) -> SearchEngine:
    p = task.params
    return SearchEngine(p["name"], p["shortcut"], p["url"].replace("%s", "{searchTerms}"))


def _verify(task: Task, final: Final) -> Verdict:
    wanted = _wanted(task)

    def engines() -> str | None:
        found = [e for e in read_search_engines(final.state.read(WEB_DATA)) if e.keyword != _BUILT_IN.keyword]
        own = [e for e in found if e.keyword == wanted.keyword or ".example/" in e.url]
        return None if own == [wanted] else f"there is {own or 'none'}, wanted {wanted}"

    def default() -> str | None:
        settings = read_preferences(final.state.read(PREFERENCES))
        found = preference(settings, _DEFAULT, _BUILT_IN.keyword)
        expected = wanted.keyword if task.params["default"] else _BUILT_IN.keyword
        return None if found == expected else f"the default has the shortcut {found!r}, wanted {expected!r}"

    return Verdict.of(checked("shortcut", engines), checked("default", default))


def _play(task: Task, view: DesktopView) -> Oracle:
    p = task.params
    yield from go(view, "chrome://settings/searchEngines", "search engines")
    width, height = view.size
    view.wait_for("push button", "More actions for .+")  # a page that is still empty would not scroll
    yield [Scroll(x=width // 2, y=height * 3 // 4, dy=15)]  # the built-in engines come first
    yield [click(view.wait_for("push button", "Click to open Add Site Search dialog"))]
    view.wait_for("entry", "Name")
    yield [typed(p["name"]), press("Tab"), typed(p["shortcut"]), press("Tab"), typed(p["url"])]
    yield [click(enabled(view, "push button", "Add"))]
    more = f"More actions for {re.escape(p['name'])}"
    place = view.wait_for("push button", more)
    if p["default"]:
        yield [click(place)]
        yield [click(view.wait_for("menu item", "Make default"))]
        view.wait_until(lambda: view.find("push button", more) is None, "it is the default, and among the others")
    yield [DONE]


def _saved(task: Task, *engines: SearchEngine, default: bool | None = None) -> Edits:
    """The profile with these search engines beside the built-in one, the last of them the default or not."""
    is_default = task.params["default"] if default is None else default
    chosen = engines[-1].keyword if is_default and engines else _BUILT_IN.keyword
    return {WEB_DATA: _web_data(_BUILT_IN, *engines), PREFERENCES: preferences_file({_DEFAULT: chosen})}


def _web_data(*engines: SearchEngine) -> bytes:
    """A `Web Data` database that holds these search engines."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE keywords (id INTEGER PRIMARY KEY, short_name, keyword, url)")
        rows = [(engine.name, engine.keyword, engine.url) for engine in engines]
        connection.executemany("INSERT INTO keywords (short_name, keyword, url) VALUES (?, ?, ?)", rows)
        connection.commit()
        return connection.serialize()


def _other_default(task: Task) -> Edits:
    return _saved(task, _wanted(task), default=not task.params["default"])


FAMILIES = (
    Family(
        "chromium_site_search", _make, _verify, _play,
        solutions={"added": lambda task: _saved(task, _wanted(task))},
        near_misses={
            "other_shortcut": lambda task: _saved(task, replace(_wanted(task), keyword="xx")),
            "no_place_for_words": lambda task: _saved(task, replace(_wanted(task), url=task.params["url"])),
            "other_default": _other_default,
            "not_added": lambda task: _saved(task),
        },
    ),
)  # fmt: skip
