"""Task families of Chromium's settings: start page, home button, appearance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from envs.desktop.suites.chromium.browser import SITE, address, enabled, go, preferences_file, two_pages
from envs.desktop.suites.common import DONE, click, make_task, press, typed
from envs.desktop.suites.gestures import Oracle
from envs.desktop.view import DesktopView
from guiforge.action import Scroll
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Edits, Family, Task
from verifiers.chromium import PREFERENCES, preference, read_preferences
from verifiers.package import judge

_WRITABLE = (f"{PREFERENCES}*",)
# settings that these families ask for or that lie beside them, with Chromium's defaults
_DEFAULTS: Mapping[str, Any] = {
    "session.restore_on_startup": 5,
    "session.startup_urls": [],
    "browser.show_home_button": False,
    "homepage": "",
    "homepage_is_newtabpage": True,
    "bookmark_bar.show_on_all_tabs": False,
    "webkit.webprefs.default_font_size": 16,
    "download.prompt_for_download": False,
}


def _verify(task: Task, final: Final) -> Verdict:
    """Every setting is as wanted, or as it was."""
    wanted = {**_DEFAULTS, **task.params["wanted"]}
    return judge(
        final,
        PREFERENCES,
        read_preferences,
        lambda settings: [
            (
                name,
                (found := preference(settings, name, _DEFAULTS.get(name))) == value,
                f"it is {found!r}, wanted {value!r}",
            )
            for name, value in wanted.items()
        ],
    )


def _preferences(settings: Mapping[str, Any]) -> Edits:
    return {PREFERENCES: preferences_file(settings)}


def _saved(task: Task) -> Edits:
    return _preferences(task.params["wanted"])


def _without(name: str) -> Callable[[Task], Edits]:
    return lambda task: _preferences({k: v for k, v in task.params["wanted"].items() if k != name})


def _with(**changes: Any) -> Callable[[Task], Edits]:
    """The wanted settings with changes; `__` stands for a dot."""
    return lambda task: _preferences({**task.params["wanted"], **{k.replace("__", "."): v for k, v in changes.items()}})


# -- start page --------------------------------------------------------------------------------------------------------


def _make_startup(seed: int) -> Task:
    family = "chromium_startup_page"
    random_, url, title, files, launch = two_pages(family, seed)
    instruction = random_.choice(
        (
            f"Set Chromium up so that it opens exactly one page when it starts: {url}",
            f"Whenever I start Chromium it should show the page {url} ({title}) and nothing else. Change the setting.",
        )
    )
    return make_task(
        family,
        seed,
        instruction,
        tags=("chromium",),
        params={"wanted": {"session.restore_on_startup": 4, "session.startup_urls": [url]}},
        setup=(*files, launch),
        writable=_WRITABLE,
        flush=("chromium",),
    )


def _urls(task: Task) -> list[str]:
    urls: list[str] = task.params["wanted"]["session.startup_urls"]
    return urls


def _play_startup(task: Task, view: DesktopView) -> Oracle:
    yield from go(view, "chrome://settings/onStartup", "On startup")
    yield [click(view.wait_for("radio button", "Open a specific page or set of pages"))]
    yield [click(view.wait_for("link", "Add a new page"))]
    view.wait_for("entry", "Site URL")
    yield [typed(_urls(task)[0])]
    yield [click(enabled(view, "push button", "Add"))]
    view.wait_for("push button", "More actions for .*")
    yield [DONE]


# -- home button -------------------------------------------------------------------------------------------------------


def _make_home(seed: int) -> Task:
    family = "chromium_home_button"
    random_, url, title, files, launch = two_pages(family, seed)
    instruction = random_.choice(
        (
            f"Show the home button in Chromium's toolbar and make it open {url}",
            f"I want a home button in Chromium that leads to {url} ({title}). Set it up; it should open nothing else.",
        )
    )
    return make_task(
        family,
        seed,
        instruction,
        tags=("chromium",),
        params={"wanted": {"browser.show_home_button": True, "homepage": url, "homepage_is_newtabpage": False}},
        setup=(*files, launch),
        writable=_WRITABLE,
        flush=("chromium",),
    )


def _play_home(task: Task, view: DesktopView) -> Oracle:
    yield from go(view, "chrome://settings/appearance", "Appearance")
    yield [click(view.wait_for("toggle button", "Show home button"))]
    view.wait_for("entry", "Enter custom web address")
    yield [click(view.wait_for("radio button", ""))]
    yield [
        click(view.wait_for("entry", "Enter custom web address")),
        press("ctrl+a"),
        typed(task.params["wanted"]["homepage"]),
    ]
    yield [press("Tab")]
    yield [DONE]


# -- appearance --------------------------------------------------------------------------------------------------------

_FONT_SIZES = {"Small": 12, "Large": 20, "Very large": 24}


def _make_appearance(seed: int) -> Task:
    family = "chromium_appearance"
    random_, _, _, files, launch = two_pages(family, seed)
    size = random_.choice(list(_FONT_SIZES))
    instruction = random_.choice(
        (
            f'In Chromium\'s appearance settings, always show the bookmarks bar and set the font size to "{size}".',
            f'Set Chromium\'s font size to "{size}" and show the bookmarks bar on every page, not on new tabs alone.',
        )
    )
    return make_task(
        family,
        seed,
        instruction,
        tags=("chromium",),
        params={
            "wanted": {
                "bookmark_bar.show_on_all_tabs": True,
                "webkit.webprefs.default_font_size": _FONT_SIZES[size],
            },
            "size": size,
        },
        setup=(*files, launch),
        writable=_WRITABLE,
        flush=("chromium",),
    )


def _play_appearance(task: Task, view: DesktopView) -> Oracle:
    yield from go(view, "chrome://settings/appearance", "Appearance")
    yield from _choose(view, "Bookmarks bar", "Always show")
    width, height = view.size
    yield [Scroll(x=width // 2, y=height // 2, dy=10)]
    yield from _choose(view, "Font size", task.params["size"])
    yield [DONE]


def _choose(view: DesktopView, name: str, choice: str) -> Oracle:
    """Pick from a drop-down list by typing the choice."""
    yield [click(view.wait_for("combo box", name))]
    yield [typed(choice), press("Return")]


FAMILIES = (
    Family(
        "chromium_startup_page", _make_startup, _verify, _play_startup,
        solutions={"saved": _saved},
        near_misses={
            "list_alone": _without("session.restore_on_startup"),
            "as_home_page": lambda task: _preferences(
                {"homepage": _urls(task)[0], "homepage_is_newtabpage": False}
            ),
            "second_page": lambda task: _preferences(
                {**task.params["wanted"], "session.startup_urls": [*_urls(task), address(f"{SITE}/start.html")]}
            ),
        },
    ),
    Family(
        "chromium_home_button", _make_home, _verify, _play_home,
        solutions={"saved": _saved},
        near_misses={
            "hidden": _without("browser.show_home_button"),
            "new_tab_page": _without("homepage_is_newtabpage"),
            "other_page": _with(homepage=address(f"{SITE}/start.html")),
        },
    ),
    Family(
        "chromium_appearance", _make_appearance, _verify, _play_appearance,
        solutions={"saved": _saved},
        near_misses={
            "font_alone": _without("bookmark_bar.show_on_all_tabs"),
            "bar_alone": _without("webkit.webprefs.default_font_size"),
            "home_button_too": _with(browser__show_home_button=True),
        },
    ),
)  # fmt: skip
