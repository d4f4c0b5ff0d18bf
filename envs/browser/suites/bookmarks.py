"""Task families of the bookmarks site: questions, changes, and one thing that it can't do."""

from __future__ import annotations

from envs.browser.sites.bookmarks_data import fresh
from envs.browser.suites import bookmarks_ask, bookmarks_many, bookmarks_one
from envs.browser.suites.bookmarks_pages import SITE, records
from envs.browser.suites.common import Oracle, follow, make_task, rng
from envs.browser.suites.families import impossible
from envs.browser.view import BrowserView
from guiforge.task import Task


def _make_account(seed: int) -> Task:
    random_ = rng("bookmarks_second_account", seed)
    who = random_.choice(("Mira", "Jonas", "Edda", "Pavel", "Olive"))
    instruction = random_.choice(
        (
            f'Create a second account "{who.lower()}" for this link collection, so that {who} can log in with a '
            "password of their own and add bookmarks.",
            f"Invite {who} as another editor of the collection, with a user name of their own: {who.lower()}.",
        )
    )
    return make_task(
        "bookmarks_second_account", seed, instruction, site=SITE, tags=(SITE, "medium"), feasible=False,
        records=records(*fresh(random_, 5)),
    )  # fmt: skip


def _see_tools(task: Task, view: BrowserView) -> Oracle:
    yield from follow(view, "#shaarli-menu-tools a")


FAMILIES = (
    *bookmarks_ask.FAMILIES,
    *bookmarks_one.FAMILIES,
    *bookmarks_many.FAMILIES,
    impossible("bookmarks_second_account", _make_account, _see_tools),
)
