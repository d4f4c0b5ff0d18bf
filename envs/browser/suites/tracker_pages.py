"""What the tracker's task families share: its tickets with a task's own among them, and its pages' gestures."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

from envs.browser.sites import tracker_data as given
from envs.browser.suites.common import (
    Oracle,
    choose,
    click,
    exactly,
    follow,
    leave,
    make_task,
    press,
    reach,
    table,
    typed,
)
from envs.browser.view import BrowserView
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Task, Variant
from verifiers.answers import Want, check_answer
from verifiers.sites import Expected, Rows, add_row, check_only, edit_rows, set_columns, unchanged

SITE = "tracker"
ME = given.USER
TICKETS, COMMENTS, PAGES = (table(SITE, name) for name in ("tickets", "comments", "pages"))
MILESTONES = table(SITE, "milestones")
CLOSED = "1.9 Capstan"  # a milestone of which no open ticket is left
NO_TEXT = {"severity": "", "cc": ""}
Ticket = dict[str, Any]
Step = Callable[[Rows], None]


def task(
    family: str, seed: int, instruction: str, level: str, tickets: Sequence[Ticket] = (),
    pages: dict[str, str] | None = None, writable: Sequence[str] = (), **fields: Any,
) -> Task:  # fmt: skip
    """A Task of the tracker with these tickets and pages besides its base."""
    records = {"tickets": list(tickets), "pages": pages or {}}
    return make_task(
        family, seed, instruction, site=SITE, tags=(SITE, level), records=records, writable=tuple(writable), **fields
    )


def more(rng: random.Random, count: int, **fields: Any) -> list[Ticket]:
    """New tickets, as the base's but for these fields."""
    return [ticket | fields for ticket in given.tickets(rng, count, given.SUMMARIES)]


def open_ticket(**fields: Any) -> Ticket:
    """Fields that make a ticket an open one, and others."""
    return {"status": "new", "resolution": "", **fields}


def numbered(tickets: Sequence[Ticket]) -> dict[int, Ticket]:
    """All tickets of the tracker by number, those of a task after the base's."""
    return dict(enumerate([*given.TICKETS, *tickets], 1))


def number_of(tickets: Sequence[Ticket], ticket: Ticket) -> int:
    """The number that a task's ticket gets."""
    return len(given.TICKETS) + 1 + list(tickets).index(ticket)


def asked(task: Task, final: Final, want: Want) -> Verdict:
    """The answer is this, and nothing on the site changed."""
    return Verdict.of(
        check_answer("answer", final.end, want, given=task.instruction),
        unchanged("only looked", final.state, SITE),
    )


def only(final: Final, *expected: Expected, allowed: tuple[Expected, ...] = ()) -> Verdict:
    """Exactly these changes came about on the tracker."""
    return Verdict.of(check_only("changes", final.state, SITE, expected, allowed=allowed))


def ends(**steps: Sequence[Step]) -> Variant:
    """An end at which tables were changed so."""
    return Variant({table(SITE, name): edit_rows(*each) for name, each in steps.items()})


def ticket_end(number: object, **columns: Any) -> Variant:
    """One ticket's columns were changed."""
    return ends(tickets=[set_columns(str(number), **columns)])


def comment_row(number: int, text: str) -> Step:
    """The step that adds our comment to a ticket."""
    return add_row({"ticket": number, "author": ME, "text": text}, f"{number}.7")


# -- gestures ----------------------------------------------------------------------------------------------------------


def find_ticket(view: BrowserView, summary: str) -> Oracle:
    """Search for a ticket by its summary, and open it."""
    yield [click(view.wait_for("#proj-search")), typed(summary)]
    yield from leave(view, [press("Return")])
    yield from follow(view, "#content a", rf"#\d+: \w+: {exactly(summary)} \(.*\)")


def open_page(view: BrowserView, link: str) -> Oracle:
    """Follow a link of the wiki's first page."""
    yield from follow(view, "#wikipage a", exactly(link))


def query(view: BrowserView, filters: dict[str, str]) -> Oracle:
    """Ask for the open tickets that fit, from the wiki's first page. filters: a field as the page names it -> value."""
    yield from open_page(view, "Custom query")
    for label, value in filters.items():
        yield from choose(view, "#add_filter_0", label, stays=False)
        name = f"[name='0_{label.lower()}']"
        if view.wait_for(name).tag == "select":
            yield from choose(view, name, value)
        else:
            yield [click((yield from reach(view, name))), typed(value)]
    yield from follow(view, "input[name=update]")


def unfold(view: BrowserView, heading: str, field: str) -> Oracle:
    """Open a part of a page that is folded: that below a heading, which has this field."""
    open_now = f"document.querySelector({json.dumps(field)}).checkVisibility()"
    if not view.evaluate(open_now):
        yield [click((yield from reach(view, ".foldable a", rf"{exactly(heading)}.*")))]
        view.wait_until(lambda: view.evaluate(open_now), f"{heading} did not open")


def submit_ticket(view: BrowserView) -> Oracle:
    """Send what was changed of a ticket."""
    yield from follow(view, "input[name=submit]")
