"""Task families of Chromium's bookmarks."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence

from envs.desktop.a11y import Node
from envs.desktop.suites import materials
from envs.desktop.suites.chromium.browser import SITE, Tree, address, bookmarks_file, browser, go, page
from envs.desktop.suites.common import DONE, click, make_task, press, rng, typed
from envs.desktop.suites.gestures import Oracle
from envs.desktop.suites.materials import put
from envs.desktop.view import DesktopView
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Edits, Family, Task
from verifiers.chromium import BOOKMARKS, Bookmark, read_bookmarks, state_bookmarks
from verifiers.files import checked, put_files

_WRITABLE = ("~/.config/chromium/Default/Bookmarks*",)


def _verify(task: Task, final: Final, wanted: Sequence[Bookmark]) -> Verdict:
    """All bookmarks are those wanted, in whatever order."""

    def fault() -> str | None:
        found, expected = Counter(state_bookmarks(final.state)), Counter(wanted)
        missing, extra = list((expected - found).elements()), list((found - expected).elements())
        parts = (("missing", missing), ("not wanted", extra))
        return "; ".join(f"{what}: {', '.join(map(_told, some[:6]))}" for what, some in parts if some) or None

    return Verdict.of(checked("bookmarks", fault))


def _told(bookmark: Bookmark) -> str:
    return f"{'/'.join((*bookmark.place, bookmark.name))} ({bookmark.url or 'folder'})"


def _first(task: Task) -> list[Bookmark]:
    return read_bookmarks(put_files(task)[BOOKMARKS])


def _edited(task: Task, remove: Sequence[Bookmark], add: Sequence[Bookmark] = ()) -> Edits:
    """The first bookmarks without some and with others, at the end of their folders."""
    kept = [*(b for b in _first(task) if b not in remove), *add]

    def inside(place: tuple[str, ...]) -> Tree:
        return {b.name: b.url or inside((*place, b.name)) for b in kept if b.place == place}

    return {BOOKMARKS: bookmarks_file(inside(("bookmark_bar",)), inside(("other",)))}


# -- bookmark the open page in a folder --------------------------------------------------------------------------------


def _make_add(seed: int) -> Task:
    random_ = rng("chromium_bookmark_page", seed)
    topics, places = random_.sample(materials.TOPICS, 3), random_.sample(materials.PLACES, 4)
    path = f"{SITE}/{places[0].lower()}.html"
    title = f"{places[0]} {random_.choice(('timetable', 'opening hours', 'price list', 'visitor guide'))}"
    name = f"{random_.choice(('Plan for', 'All about', 'Look up'))} {places[0]} {random_.randint(11, 99)}"
    bar = {
        topic: {f"{place} {topic.lower()}": f"https://{place.lower()}.example/{topic.lower()}" for place in places[1:3]}
        for topic in topics
    }
    folder = random_.choice(topics)
    instruction = random_.choice(
        (
            f'Bookmark the open page as "{name}" in the folder {folder} of the bookmarks bar.',
            f'Add this page to my bookmarks: into the existing folder {folder}, under the name "{name}".',
        )
    )
    lines = "".join(f"<p>{html.escape(line)}</p>" for line in materials.prose(random_, 4).splitlines())
    return make_task(
        "chromium_bookmark_page",
        seed,
        instruction,
        tags=("chromium",),
        params={
            "path": path,
            "title": title,
            "name": name,
            "folder": folder,
            "other": next(t for t in topics if t != folder),
        },
        setup=(*put({path: page(title, lines), BOOKMARKS: bookmarks_file(bar)}), browser(path, title)),
        writable=_WRITABLE,
        flush=("chromium",),
    )


def _new(task: Task, *, folder: str | None = None, name: str | None = None) -> Bookmark:
    p = task.params
    return Bookmark(("bookmark_bar", folder or p["folder"]), name or p["name"], address(p["path"]))


def _verify_add(task: Task, final: Final) -> Verdict:
    return _verify(task, final, [*_first(task), _new(task)])


def _play_add(task: Task, view: DesktopView) -> Oracle:
    yield [press("ctrl+d")]
    view.wait_for("push button", "Done")
    yield [press("ctrl+a"), typed(task.params["name"])]
    yield [click(view.wait_for("combo box", "(?i).*folder.*"))]
    yield [click(view.wait_for("check menu item", re.escape(task.params["folder"])))]
    yield [click(view.wait_for("push button", "Done"))]
    view.wait_until(lambda: view.find("push button", "Done") is None, "the bookmark's bubble is closed")
    yield [DONE]


# -- delete bookmarks --------------------------------------------------------------------------------------------------


def _make_delete(seed: int) -> Task:
    random_ = rng("chromium_bookmark_delete", seed)
    topics, places = random_.sample(materials.TOPICS, 3), random_.sample(materials.PLACES, 4)
    years = random_.sample(range(2012, 2026), 3)
    bar = {
        topic: {
            f"{place} {topic.lower()} {y}": f"https://{place.lower()}.example/{y}" for place in places for y in years
        }
        for topic in topics
    }
    gone = [(topic, f"{random_.choice(places)} {topic.lower()} {random_.choice(years)}") for topic in topics[:2]]
    path = f"{SITE}/start.html"
    instruction = random_.choice(
        (
            f'Delete the bookmarks "{gone[0][1]}" and "{gone[1][1]}". Keep all others.',
            f'I no longer need two bookmarks, "{gone[0][1]}" in the folder {gone[0][0]} and "{gone[1][1]}" in the '
            f"folder {gone[1][0]}. Remove them.",
        )
    )
    return make_task(
        "chromium_bookmark_delete",
        seed,
        instruction,
        tags=("chromium",),
        params={"gone": [list(pair) for pair in gone]},
        setup=(*put({path: page("Start", "<p>Welcome.</p>"), BOOKMARKS: bookmarks_file(bar)}), browser(path, "Start")),
        writable=_WRITABLE,
        flush=("chromium",),
    )


def _gone(task: Task) -> list[Bookmark]:
    gone = {(folder, name) for folder, name in task.params["gone"]}
    return [b for b in _first(task) if (b.place[-1], b.name) in gone]


def _verify_delete(task: Task, final: Final) -> Verdict:
    gone = _gone(task)
    return _verify(task, final, [b for b in _first(task) if b not in gone])


def _play_delete(task: Task, view: DesktopView) -> Oracle:
    yield from go(view, "chrome://bookmarks", "Bookmarks")
    for _, name in task.params["gone"]:
        yield [click(view.wait_for("entry", "Search bookmarks")), press("ctrl+a"), typed(name)]
        view.wait_until(lambda: len(_rows(view)) == 1, "the search leaves one bookmark")
        yield [click(_rows(view)[0])]
        yield [press("Delete")]
        view.wait_until(lambda: not _rows(view), "the bookmark is deleted")
    yield [DONE]


def _rows(view: DesktopView) -> Sequence[Node]:
    return view.find_all("table row", r".*\d{4}")


def _neighbour(task: Task) -> list[Bookmark]:
    """The first of the two, and another year's bookmark in place of the second."""
    first, second = _gone(task)
    others = [b for b in _first(task) if b.place == second.place and b != second]
    return [first, others[0]]


FAMILIES = (
    Family(
        "chromium_bookmark_page", _make_add, _verify_add, _play_add,
        solutions={"added": lambda task: _edited(task, [], [_new(task)])},
        near_misses={
            "default_name": lambda task: _edited(task, [], [_new(task, name=task.params["title"])]),
            "other_folder": lambda task: _edited(task, [], [_new(task, folder=task.params["other"])]),
            "twice": lambda task: _edited(task, [], [_new(task), _new(task, folder=task.params["other"])]),
        },
    ),
    Family(
        "chromium_bookmark_delete", _make_delete, _verify_delete, _play_delete,
        solutions={"deleted": lambda task: _edited(task, _gone(task))},
        near_misses={
            "one_alone": lambda task: _edited(task, _gone(task)[:1]),
            "neighbour": lambda task: _edited(task, _neighbour(task)),
            "all": lambda task: {BOOKMARKS: None},
        },
    ),
)  # fmt: skip
