"""What the wiki's families share: their tasks, what a page's text is compared by, and an editor's gestures.

Invariant: texts are compared as the wiki reads them; blanks around a table's cells and a heading, and more than one
empty line, are no difference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from envs.browser.sites.wiki_data import Edition
from envs.browser.suites import families
from envs.browser.suites.common import (
    Oracle,
    answer,
    click,
    exactly,
    fill,
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
from guiforge.task import Task, Variant
from verifiers.sites import Expected, Rows, anything, edit_rows, set_columns

SITE = "wiki"
PAGES, USERS, RIGHTS = (table(SITE, name) for name in ("pages", "users", "rights"))
CONTENT, ASIDE, EDITOR = "#dokuwiki__content", "#dokuwiki__aside", "#wiki__text"


def wiki_task(
    family: str, seed: int, level: str, instruction: str, editions: Sequence[Edition] = (), **fields: Any
) -> Task:
    """A task that starts at the wiki's front page, with these editions of pages on top of the base data."""
    return make_task(
        family, seed, instruction, site=SITE, tags=(SITE, level), records={"editions": list(editions)},
        start="/doku.php?id=start", **fields,
    )  # fmt: skip


@dataclass(frozen=True)
class Page:
    """Whether a page's text is one of these; for expected changes."""

    texts: tuple[str, ...]

    def __call__(self, value: object) -> bool:
        """Whether it is."""
        return isinstance(value, str) and _read(value) in map(_read, self.texts)


def _read(text: str) -> str:
    lines = []
    for line in text.splitlines():
        cells = line.lstrip().startswith(("|", "^"))
        line = re.sub(r"[ \t]*([|^])[ \t]*", r"\1", line).strip() if cells else line.rstrip()
        lines.append(re.sub(r"^(={2,6}) *(.*?) *(={2,6})$", r"\1 \2 \3", line))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines).strip("\n"))


def edited(*texts: str, summary: Any = anything) -> dict[str, Any]:
    """The columns of an edited page, whose text is one of these."""
    return {"text": Page(texts), "summary": summary}


# -- questions ---------------------------------------------------------------------------------------------------------


asks = partial(families.asks, SITE)
"""The verifier of a question about the wiki, from what it wants."""


def says_and_edits(text: Callable[[Task], object]) -> Callable[[Task], Variant]:
    """An answer after the front page was changed."""
    step = set_columns("start", summary="was here")
    return lambda task: Variant({PAGES: edit_rows(step)}, Answer(text=str(text(task))))


# -- changes -----------------------------------------------------------------------------------------------------------


def changes(expected: Callable[[Task], Sequence[Expected]]) -> families.Verify:
    """A verifier of a change: exactly these changes of the wiki."""
    return families.changes(SITE, lambda task, state: expected(task))


def pages(*steps: Callable[[Task], Callable[[Rows], None]]) -> Callable[[Task], Variant]:
    """How an episode could have left the pages."""
    return lambda task: Variant({PAGES: edit_rows(*(step(task) for step in steps))})


def text_of(page: str, text: str, summary: str = "") -> Callable[[Task], Callable[[Rows], None]]:
    """Names of parameters that hold a page and its new text."""
    return lambda task: set_columns(task.params[page], text=task.params[text], summary=summary)


# -- gestures ----------------------------------------------------------------------------------------------------------


def open_page(view: BrowserView, section: str, name: str) -> Oracle:
    """Go to a page by the sidebar's section and its list."""
    yield from follow(view, f"{ASIDE} a", exactly(section))
    yield from follow(view, f"{CONTENT} a", exactly(name))


def tool(view: BrowserView, name: str) -> Oracle:
    """Use one of the page's tools at the right: edit, revs, backlink."""
    yield from follow(view, f"#dokuwiki__pagetools .{name} a")


def search(view: BrowserView, words: str) -> Oracle:
    """Search from the field at the top."""
    yield from fill(view, "#qsearch__in", words)
    yield from leave(view, [press("Return")])


def to_line(view: BrowserView, line: str) -> Oracle:
    """Put the editor's cursor at the start of this line; no line up to there may be so long that it wraps."""
    lines = view.wait_for(EDITOR).value.splitlines()
    box = yield from reach(view, EDITOR)
    yield [click(box), press("ctrl+Home"), *[press("Down")] * lines.index(line), press("Home")]


def replace_line(view: BrowserView, old: str, new: str) -> Oracle:
    """In the editor, write a line anew."""
    yield from to_line(view, old)
    yield [press("shift+End"), typed(new)]


def remove_line(view: BrowserView, line: str) -> Oracle:
    """In the editor, take a line out."""
    yield from to_line(view, line)
    yield [press("shift+Down"), press("Delete")]


def add_item(view: BrowserView, last: str, text: str) -> Oracle:
    """In the editor, add an item to a list after its last line; the editor makes the item's mark itself."""
    yield from to_line(view, last)
    yield [press("End"), typed(f"\n{text}")]


def save(view: BrowserView, summary: str = "") -> Oracle:
    """Save what is in the editor."""
    if summary:
        yield from fill(view, "#edit__summary", summary)
    yield from follow(view, "#edbtn__save")


def ends_with(text: object) -> Oracle:
    """The last step: the answer."""
    yield answer(str(text))
