"""Task families of the tracker that change a ticket, or file one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from envs.browser.sites import tracker_data as given
from envs.browser.suites.common import (
    DONE,
    Oracle,
    choose,
    click,
    fill,
    follow,
    reach,
    rng,
)
from envs.browser.suites.tracker_pages import (
    COMMENTS,
    ME,
    TICKETS,
    comment_row,
    ends,
    find_ticket,
    more,
    number_of,
    only,
    open_ticket,
    submit_ticket,
    task,
    ticket_end,
    unfold,
)
from envs.browser.view import BrowserView
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Family, Task, Variant
from verifiers.sites import (
    Added,
    Edited,
    add_row,
    one_of,
    same_text,
    set_columns,
)

# -- a new ticket ------------------------------------------------------------------------------------------------------


def _make_new(seed: int) -> Task:
    random_ = rng("tracker_new_ticket", seed)
    (ticket,) = more(random_, 1)
    kind = random_.choice(("enhancement", "task"))
    component = random_.choice([name for name in given.COMPONENTS if name != "booking"])
    priority = random_.choice([name for name in given.PRIORITIES if name != "major"])
    milestone = random_.choice(given.OPEN_MILESTONES)
    row = {"summary": ticket["summary"], "type": kind, "component": component, "priority": priority}
    row |= {"milestone": milestone, "description": ticket["description"]}
    instruction = random_.choice(
        (
            f"File a new ticket: summary “{row['summary']}”, type {kind}, component {component}, priority {priority}, "
            f"milestone {milestone}. Its description is “{row['description']}” Leave everything else as it is.",
            f"Please open a ticket of type {kind} for {component}, called “{row['summary']}”. Describe it with the "
            f"sentences “{row['description']}”, give it priority {priority}, and plan it for milestone {milestone}. "
            "Touch no other field.",
        )
    )
    return task("tracker_new_ticket", seed, instruction, "medium", params={"row": row}, writable=(TICKETS,))


def _new_row(task: Task) -> dict[str, Any]:
    row: dict[str, Any] = task.params["row"]
    return {**row, "status": "new", "owner": given.COMPONENTS[row["component"]], "reporter": ME}


def _verify_new(task: Task, final: Final) -> Verdict:
    row = _new_row(task)
    texts = {name: same_text(row[name]) for name in ("summary", "description")}
    return only(final, Added("tickets", {**row, **texts}))


def _play_new(task: Task, view: BrowserView) -> Oracle:
    row = task.params["row"]
    yield from follow(view, "#mainnav a", "NEW TICKET")
    yield from fill(view, "#field-summary", row["summary"])
    yield from fill(view, "#field-description", row["description"])
    for name in ("type", "priority", "milestone", "component"):
        yield from choose(view, f"#field-{name}", row[name])
    yield from follow(view, "input[name=submit]")
    yield [DONE]


def _new(**other: Any) -> Callable[[Task], Variant]:
    def edits(task: Task) -> Variant:
        return ends(tickets=[add_row({**_new_row(task), **other})])

    return edits


def _new_default_component(task: Task) -> Variant:
    """The component was left at its default."""
    return _new(component="booking", owner=given.COMPONENTS["booking"])(task)


def _new_twice(task: Task) -> Variant:
    """The ticket was filed twice."""
    return ends(tickets=[add_row(_new_row(task))] * 2)


# -- a duplicate -------------------------------------------------------------------------------------------------------


def _make_duplicate(seed: int) -> Task:
    random_ = rng("tracker_close_duplicate", seed)
    tickets = more(random_, 9)
    copy, original = random_.sample(tickets, 2)
    for ticket in (copy, original):
        ticket |= open_ticket()
    comment = f"Same as #{number_of(tickets, original)}."
    instruction = random_.choice(
        (
            f"Close the ticket “{copy['summary']}” as a duplicate, with the comment “{comment}”",
            f"“{copy['summary']}” reports what another ticket does already. Resolve it as duplicate and comment it "
            f"with exactly: {comment}",
        )
    )
    params = {
        "summary": copy["summary"], "ticket": number_of(tickets, copy), "comment": comment,
        "original": number_of(tickets, original),
    }  # fmt: skip
    return task(
        "tracker_close_duplicate", seed, instruction, "medium", tickets, params=params, writable=(TICKETS, COMMENTS)
    )


def _verify_duplicate(task: Task, final: Final) -> Verdict:
    p = task.params
    return only(
        final,
        Edited("tickets", str(p["ticket"]), {"status": "closed", "resolution": "duplicate"}),
        Added("comments", {"ticket": p["ticket"], "author": ME, "text": same_text(p["comment"])}),
    )


def _play_duplicate(task: Task, view: BrowserView) -> Oracle:
    yield from find_ticket(view, task.params["summary"])
    yield from unfold(view, "Modify Ticket", "#action_resolve")
    yield [click((yield from reach(view, "#action_resolve")))]
    yield from choose(view, "#action_resolve_resolve_resolution", "duplicate")
    yield from fill(view, "#comment", task.params["comment"])
    yield from submit_ticket(view)
    yield [DONE]


def _closed_as(resolution: str, ticket: str = "ticket") -> Callable[[Task], Variant]:
    def edits(task: Task) -> Variant:
        number = task.params[ticket]
        closed = set_columns(str(number), status="closed", resolution=resolution)
        return ends(tickets=[closed], comments=[comment_row(number, task.params["comment"])])

    return edits


def _without_comment(task: Task) -> Variant:
    """Closed without a word."""
    return ticket_end(task.params["ticket"], status="closed", resolution="duplicate")


def _only_commented(task: Task) -> Variant:
    """The comment alone."""
    return ends(comments=[comment_row(task.params["ticket"], task.params["comment"])])


# -- priority and milestone --------------------------------------------------------------------------------------------


def _make_replan(seed: int) -> Task:
    random_ = rng("tracker_replan", seed)
    tickets = more(random_, 9)
    ticket, other = random_.sample(tickets, 2)
    old, new = random_.sample(given.OPEN_MILESTONES, 2)
    before, priority = random_.sample(given.PRIORITIES, 2)
    for each in (ticket, other):
        each |= open_ticket(milestone=old, priority=before)
    instruction = random_.choice(
        (
            f"The ticket “{ticket['summary']}” should have priority {priority} and belong to milestone {new}. Change "
            "that, and nothing else of it.",
            f"Move “{ticket['summary']}” to the milestone {new} and set its priority to {priority}. No comment, "
            "please, and no other change.",
        )
    )
    params = {
        "summary": ticket["summary"], "ticket": number_of(tickets, ticket), "other": number_of(tickets, other),
        "want": {"priority": priority, "milestone": new},
    }  # fmt: skip
    return task("tracker_replan", seed, instruction, "medium", tickets, params=params, writable=(TICKETS,))


def _verify_replan(task: Task, final: Final) -> Verdict:
    return only(final, Edited("tickets", str(task.params["ticket"]), task.params["want"]))


def _play_replan(task: Task, view: BrowserView) -> Oracle:
    yield from find_ticket(view, task.params["summary"])
    yield from unfold(view, "Modify Ticket", "#field-priority")
    for name, value in task.params["want"].items():
        yield from choose(view, f"#field-{name}", value)
    yield from submit_ticket(view)
    yield [DONE]


def _replanned(task: Task) -> Variant:
    return ticket_end(task.params["ticket"], **task.params["want"])


def _half_replanned(task: Task) -> Variant:
    """Only the milestone was changed."""
    return ticket_end(task.params["ticket"], milestone=task.params["want"]["milestone"])


def _other_replanned(task: Task) -> Variant:
    """Another ticket was changed."""
    return ticket_end(task.params["other"], **task.params["want"])


def _replanned_and_closed(task: Task) -> Variant:
    """It was closed as well."""
    return ticket_end(task.params["ticket"], **task.params["want"], status="closed", resolution="fixed")


# -- another owner -----------------------------------------------------------------------------------------------------


def _make_reassign(seed: int) -> Task:
    random_ = rng("tracker_reassign", seed)
    tickets = more(random_, 8)
    ticket = random_.choice(tickets)
    old, new = random_.sample(given.PEOPLE[1:], 2)
    ticket |= open_ticket(owner=old)
    instruction = random_.choice(
        (
            f"Reassign the ticket “{ticket['summary']}” from {old} to {new}.",
            f"{new} takes over “{ticket['summary']}” from {old}: make {new} the owner of that ticket.",
        )
    )
    params = {"summary": ticket["summary"], "ticket": number_of(tickets, ticket), "new": new}
    return task("tracker_reassign", seed, instruction, "easy", tickets, params=params, writable=(TICKETS,))


def _verify_reassign(task: Task, final: Final) -> Verdict:
    want = {"owner": task.params["new"], "status": one_of("new", "assigned")}
    return only(final, Edited("tickets", str(task.params["ticket"]), want))


def _play_reassign(task: Task, view: BrowserView) -> Oracle:
    yield from find_ticket(view, task.params["summary"])
    yield from unfold(view, "Modify Ticket", "#action_reassign")
    yield [click((yield from reach(view, "#action_reassign")))]
    yield from fill(view, "#action_reassign_reassign_owner", task.params["new"])
    yield from submit_ticket(view)
    yield [DONE]


def _reassigned(task: Task) -> Variant:
    return ticket_end(task.params["ticket"], owner=task.params["new"], status="assigned")


def _owner_alone(task: Task) -> Variant:
    """Its status stays new, as where the owner is a field."""
    return ticket_end(task.params["ticket"], owner=task.params["new"])


def _taken_by_me(task: Task) -> Variant:
    """Assigned to whom the form proposes."""
    return ticket_end(task.params["ticket"], owner=ME, status="assigned")


def _reporter_changed(task: Task) -> Variant:
    """The reporter was changed instead."""
    return ticket_end(task.params["ticket"], reporter=task.params["new"])


FAMILIES = (
    Family(
        "tracker_new_ticket", _make_new, _verify_new, _play_new,
        solutions={"filed": _new()},
        near_misses={
            "default component": _new_default_component, "twice": _new_twice,
            "assigned": _new(status="assigned", owner=ME),
            "not planned": _new(milestone=""),
        },
    ),
    Family(
        "tracker_close_duplicate", _make_duplicate, _verify_duplicate, _play_duplicate,
        solutions={"closed": _closed_as("duplicate")},
        near_misses={
            "fixed": _closed_as("fixed"), "the original": _closed_as("duplicate", "original"),
            "no comment": _without_comment, "comment alone": _only_commented,
        },
    ),
    Family(
        "tracker_replan", _make_replan, _verify_replan, _play_replan,
        solutions={"changed": _replanned},
        near_misses={
            "milestone alone": _half_replanned, "another ticket": _other_replanned, "closed too": _replanned_and_closed,
        },
    ),
    Family(
        "tracker_reassign", _make_reassign, _verify_reassign, _play_reassign,
        solutions={"reassigned": _reassigned, "without a workflow": _owner_alone},
        near_misses={"to me": _taken_by_me, "reporter": _reporter_changed},
    ),
)  # fmt: skip
