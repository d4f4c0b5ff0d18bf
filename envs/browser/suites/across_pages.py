"""What families across two sites share: a task on both, the tabs that they are in, and a club of the link collection.

Invariant: the first site is in front and the other in the other tab; only one of them may be changed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from envs.browser.sites import bookmarks_data
from envs.browser.sites.bookmarks_data import Bookmark
from envs.browser.suites import bookmarks_pages
from envs.browser.suites.common import DONE, Oracle, make_task, press, reach, url
from envs.browser.suites.families import Play, Way
from envs.browser.view import BrowserView
from guiforge.env import Final, StateReader
from guiforge.outcome import Verdict
from guiforge.task import Family, OpenPage, StartSite, Task
from verifiers.sites import Expected, check_only, unchanged

BOOKMARKS, BUDGET, FORUM, TRACKER, WIKI = "bookmarks", "budget", "forum", "tracker", "wiki"
_STEPS = 40


def across_task(
    family: str, seed: int, level: str, instruction: str, pages: Mapping[str, str], records: Mapping[str, Any],
    writes: Sequence[str] = (), **params: Any,
) -> Task:  # fmt: skip
    """A task on two sites. pages: where each is opened, the one in front first.  writes: tables that it changes."""
    made = make_task(
        family, seed, instruction, site=tuple(pages), tags=("across", level, *pages), records=records, steps=_STEPS,
        writable=tuple(writes), params=params,
    )  # fmt: skip
    starts = [step for step in made.setup if isinstance(step, StartSite)]
    opened = [OpenPage(url=url(site, path)) for site, path in reversed(list(pages.items()))]
    return made.model_copy(update={"setup": (*starts, *opened)})


def entering(
    name: str, make: Callable[[int], Task], source: str, target: str,
    expected: Callable[[Task, StateReader], Expected], play: Play, solutions: Mapping[str, Way],
    near_misses: Mapping[str, Way],
) -> Family:  # fmt: skip
    """A family that is done by just this change of the target, the source being as it was."""

    def verify(task: Task, final: Final) -> Verdict:
        return Verdict.of(
            check_only(target, final.state, target, [expected(task, final.state)]),
            unchanged(source, final.state, source),
        )

    def oracle(task: Task, view: BrowserView) -> Oracle:
        yield from play(task, view)
        yield [DONE]

    return Family(name, make, verify, oracle, solutions, near_misses)


def other_tab() -> Oracle:
    """Turn to the tab that is not in front."""
    yield [press("ctrl+Tab")]


def some_club(random_: random.Random) -> Bookmark:
    """A club of the link collection, with figures of the seed's own."""
    found = random_.choice(bookmarks_pages.tagged(bookmarks_data.base(), "club"))
    return replace(found, description=bookmarks_data.described(random_, found.tags[0], "club"))


def see_club(task: Task, view: BrowserView) -> Oracle:
    """Look at the task's club in the link collection."""
    yield from bookmarks_pages.search(view, task.params["club"])
    yield from reach(view, bookmarks_pages.item(task.params["number"]))
