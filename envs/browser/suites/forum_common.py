"""What the forum's families share: their tasks, the numbers of topics and comments, and gestures.

Invariant: topics and comments are numbered as they were put in, those of a task after those of the base data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from envs.browser.sites import forum_data
from envs.browser.sites.forum_data import ADMIN, Topic
from envs.browser.suites import families
from envs.browser.suites.common import (
    Oracle,
    answer,
    click,
    exactly,
    follow,
    leave,
    make_task,
    press,
    reach,
    table,
    typed,
)  # fmt: skip
from envs.browser.view import BrowserView
from guiforge.action import Answer
from guiforge.task import StartSite, Task, Variant
from verifiers.sites import Added, Expected, Rows, add_row, edit_rows, same_text

SITE = "forum"
TOPICS, COMMENTS, LIKES, VOTES, INVITED, USERS, REPORTS = (
    table(SITE, name) for name in ("topics", "comments", "likes", "votes", "invited", "users", "reports")
)
OTHERS = tuple(user for user in forum_data.USERS if user != ADMIN)
NAMES = tuple(forum_data.USERS.values())
_BASE = forum_data.base()

Step = Callable[[Rows], None]


def forum_task(
    family: str, seed: int, level: str, instruction: str, topics: Sequence[Topic] = (), **fields: Any
) -> Task:
    """A task that starts at the forum's front page, with these topics beside those of the base data."""
    return make_task(
        family, seed, instruction, site=SITE, tags=(SITE, level), records={"topics": list(topics)}, **fields
    )


def topics(task: Task) -> list[Topic]:
    """All topics, in the order of their numbers."""
    step = task.setup[0]
    assert isinstance(step, StartSite)
    return [*_BASE, *step.records["topics"]]


def topic_number(task: Task, title: str) -> int:
    """The number of a topic."""
    return 1 + [topic["title"] for topic in topics(task)].index(title)


def comment_number(task: Task, title: str, place: int) -> int:
    """The number of a topic's comment, which is the first, second, ... in it (from 1)."""
    number = topic_number(task, title)
    return sum(len(topic["comments"]) for topic in topics(task)[: number - 1]) + place


def next_topic(task: Task) -> int:
    """The number that a new topic gets."""
    return len(topics(task)) + 1


# -- grading -----------------------------------------------------------------------------------------------------------


asks = partial(families.asks, SITE)
"""The verifier of a question about the forum, from what it wants."""


def changes(expected: Callable[[Task], Sequence[Expected]]) -> families.Verify:
    """A verifier of a change: exactly these changes of the forum."""
    return families.changes(SITE, lambda task, state: expected(task))


def says_and_likes(text: Callable[[Task], object]) -> Callable[[Task], Variant]:
    """An answer after the forum's first comment was liked."""
    return lambda task: Variant({LIKES: edit_rows(like(1))}, Answer(text=str(text(task))))


def tables(**steps: Callable[[Task], Sequence[Step]]) -> Callable[[Task], Variant]:
    """How an episode could have left some tables, by name."""
    return lambda task: Variant({table(SITE, name): edit_rows(*make(task)) for name, make in steps.items()})


def like(comment: int) -> Step:
    """The agent's like of a comment."""
    return add_row({"user": ADMIN, "comment": comment}, key=f"{ADMIN} {comment}")


def said(topic: int, text: str) -> Step:
    """The agent's comment in a topic."""
    return add_row({"topic": topic, "user": ADMIN, "text": text})


def says_in(topic: int, text: str) -> Added:
    """The expected comment of the agent in a topic."""
    return Added("comments", {"topic": topic, "user": ADMIN, "text": same_text(text)})


# -- gestures ----------------------------------------------------------------------------------------------------------


def menu(view: BrowserView, css: str, entry: str) -> Oracle:
    """Open a menu, and follow one of its links."""
    box = yield from reach(view, css)
    yield [click(box)]
    view.wait_for("a.menu_list__link", exactly(entry))
    yield from follow(view, "a.menu_list__link", exactly(entry))


def own_menu(view: BrowserView, entry: str) -> Oracle:
    """Use the menu behind the user's name."""
    yield from menu(view, "a.js-tab[data-related='.js-user-content']", entry)


def open_category(view: BrowserView, name: str) -> Oracle:
    """Go to a category, from the front page."""
    yield from menu(view, "a.dropdown_button", name)


def search(view: BrowserView, words: str) -> Oracle:
    """Search from the field at the top."""
    box = yield from reach(view, "a.js-tab[data-related='.js-search-content']")
    yield [click(box)]
    box = view.wait_for(".header__tab__search input[name=q]")
    yield [click(box), typed(words)]
    yield from leave(view, [press("Return")])


def open_topic(view: BrowserView, title: str) -> Oracle:
    """Go to a topic, by the search."""
    yield from search(view, title)
    yield from follow(view, "a.topic__link", exactly(title))


def write(view: BrowserView, text: str) -> Oracle:
    """Write into the editor and publish."""
    box = yield from reach(view, "#id_comment")
    yield [click(box), press("ctrl+a"), typed(text)]
    yield from follow(view, "input.comment__reply__actions__publish")


def ends_with(text: object) -> Oracle:
    """The last step: the answer."""
    yield answer(str(text))
