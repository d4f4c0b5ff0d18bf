"""Task families of the tracker that change what is planned and what the wiki says."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from envs.browser.sites import tracker_data as given
from envs.browser.suites.common import (
    DONE,
    Oracle,
    choose,
    click,
    exactly,
    fill,
    follow,
    leave,
    press,
    reach,
    rng,
    typed,
)
from envs.browser.suites.tracker_pages import (
    COMMENTS,
    ME,
    MILESTONES,
    PAGES,
    TICKETS,
    Step,
    comment_row,
    ends,
    more,
    numbered,
    only,
    open_page,
    open_ticket,
    task,
    unfold,
)
from envs.browser.view import BrowserView
from guiforge.action import Infeasible
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Family, Task, Variant
from verifiers.sites import (
    Added,
    Edited,
    Like,
    Rows,
    add_row,
    anything,
    remove_row,
    set_columns,
)

# -- many tickets to another milestone ---------------------------------------------------------------------------------


def _make_retarget(seed: int) -> Task:
    random_ = rng("tracker_retarget", seed)
    component = random_.choice(list(given.COMPONENTS))
    old, new = random_.sample(given.OPEN_MILESTONES[:3], 2)
    tickets = more(random_, 12)
    for ticket in tickets[: random_.randint(2, 3)]:
        ticket |= open_ticket(component=component, milestone=old)
    tickets[4] |= {"component": component, "milestone": old, "status": "closed", "resolution": "fixed"}
    other = next(name for name in given.COMPONENTS if name != component)
    tickets[5] |= open_ticket(component=other, milestone=old)
    random_.shuffle(tickets)
    fits = {n: t for n, t in numbered(tickets).items() if (t["component"], t["milestone"]) == (component, old)}
    numbers = [n for n, t in fits.items() if t["status"] != "closed"]
    instruction = (
        f"Everything of the component {component} that is planned for {old} and not closed has to wait: move these "
        f"tickets to milestone {new}. Closed tickets stay where they are."
    )
    params = {"component": component, "old": old, "new": new, "numbers": numbers, "all": sorted(fits)}
    return task("tracker_retarget", seed, instruction, "hard", tickets, params=params, writable=(TICKETS,), steps=60)


def _verify_retarget(task: Task, final: Final) -> Verdict:
    want = {"milestone": task.params["new"]}
    return only(final, *(Edited("tickets", str(number), want) for number in task.params["numbers"]))


def _play_retarget(task: Task, view: BrowserView) -> Oracle:
    p = task.params
    yield from open_page(view, "Custom query")
    for field in ("Component", "Milestone"):
        yield from choose(view, "#add_filter_0", field, stays=False)
        value = p["component"] if field == "Component" else p["old"]
        view.wait_for(f"[name='0_{field.lower()}']")
        yield from choose(view, f"[name='0_{field.lower()}']", value)
    yield from follow(view, "input[name=update]")
    for number in p["numbers"]:
        yield [click((yield from reach(view, f"input[name=selected_ticket][value='{number}']")))]
    yield from unfold(view, "Batch Modify", "#add_batchmod_field")
    yield from choose(view, "#add_batchmod_field", "Milestone", stays=False)
    view.wait_until(lambda: view.evaluate("!!document.querySelector('[name=batchmod_value_milestone]')"), "no field")
    yield from choose(view, "[name=batchmod_value_milestone]", p["new"])
    yield from follow(view, "#batchmod_submit")
    yield [DONE]


def _moved(which: Callable[[Task], list[int]]) -> Callable[[Task], Variant]:
    def edits(task: Task) -> Variant:
        return ends(tickets=[set_columns(str(number), milestone=task.params["new"]) for number in which(task)])

    return edits


# -- a line of a wiki page ---------------------------------------------------------------------------------------------


def _make_phone(seed: int) -> Task:
    random_ = rng("tracker_wiki_phone", seed)
    places = random_.sample(given.PLACES, 7)
    phones = [f"555-0{n}" for n in random_.sample(range(100, 999), 9)]
    rows = [
        (place, place[:3].upper(), f"{random_.randint(5, 8)}:{random_.choice(('00', '30'))}", phone)
        for place, phone in zip(places, phones, strict=False)
    ]
    at = random_.randrange(1, 6)
    old, new, after = phones[at], phones[8], phones[at + 1]
    page = f"= Harbours =\n\n{given.table(('Harbour', 'Code', 'Desk opens', 'Telephone'), rows)}"
    instruction = random_.choice(
        (
            f"The desk in {places[at]} has a new telephone number: {new}. Correct it in the wiki's list of harbours.",
            f"In the wiki page about the harbours, change the telephone number of {places[at]} to {new} and leave the "
            "rest of the page as it is.",
        )
    )
    params = {"page": page, "want": page.replace(old, new), "old": old, "new": new, "after": after}
    return task(
        "tracker_wiki_phone", seed, instruction, "medium", pages={"Harbours": page}, params=params, writable=(PAGES,)
    )


def _same_cells(text: str) -> Like:
    """The same wiki text, whatever blanks there are around words and cells."""

    def words(value: str) -> list[str]:
        return value.replace("||", " || ").replace("=", " = ").split()

    return Like(repr(text), lambda value: isinstance(value, str) and words(value) == words(text))


def _verify_phone(task: Task, final: Final) -> Verdict:
    return only(final, Edited("pages", "Harbours", {"text": _same_cells(task.params["want"])}))


def _play_phone(task: Task, view: BrowserView) -> Oracle:
    yield from open_page(view, "Harbours")
    yield from follow(view, "input[type=submit]", "Edit this page")
    yield from fill(view, "#text", task.params["want"])
    yield from follow(view, "#save")
    yield [DONE]


def _page(text: Callable[[Task], str]) -> Callable[[Task], Variant]:
    return lambda task: ends(pages=[set_columns("Harbours", text=text(task))])


def _another_harbour(task: Task) -> str:
    return str(task.params["page"].replace(task.params["after"], task.params["new"]))


def _beside_the_old(task: Task) -> str:
    return str(task.params["page"].replace(task.params["old"], f"{task.params['old']}, {task.params['new']}"))


def _phone_on_another_page(task: Task) -> Variant:
    """The number was noted on a page of its own."""
    return ends(pages=[add_row({"text": task.params["new"], "readonly": 0}, "HarbourTelephones")])


# -- a new milestone ---------------------------------------------------------------------------------------------------


def _make_milestone(seed: int) -> Task:
    random_ = rng("tracker_new_milestone", seed)
    name = f"{random_.choice(('2.3', '2.4', '3.0'))} {random_.choice(('Gangway', 'Halyard', 'Inlet', 'Jetty', 'Keel'))}"
    due = datetime.date(2032, 1, 1) + datetime.timedelta(days=random_.randrange(360))
    spoken = f"{due.day} {due:%B %Y}"
    instruction = random_.choice(
        (
            f"Add a milestone named “{name}” to the roadmap. It is due on {spoken}.",
            f"We plan another release: create the milestone “{name}”, due {spoken}.",
        )
    )
    params = {"name": name, "due": due.isoformat()}
    return task("tracker_new_milestone", seed, instruction, "medium", params=params, writable=(MILESTONES,))


def _verify_milestone(task: Task, final: Final) -> Verdict:
    return only(final, Added("milestones", {"due": task.params["due"], "completed": False}, key=task.params["name"]))


def _play_milestone(task: Task, view: BrowserView) -> Oracle:
    yield from follow(view, "#mainnav a", "ROADMAP")
    yield from follow(view, "input[type=submit]", "Add new milestone")
    yield from fill(view, "#name", task.params["name"])
    if not view.evaluate("document.querySelector('#due').checked"):
        yield [click((yield from reach(view, "#due")))]
    yield from fill(view, "#duedate", f"{task.params['due']}T18:00:00Z")
    yield from fill(view, "#name", task.params["name"])  # which closes the calendar
    yield from follow(view, "input[name=add]")
    yield [DONE]


def _milestone(**other: Any) -> Callable[[Task], Variant]:
    def edits(task: Task) -> Variant:
        row = {"due": task.params["due"], "completed": False, "description": "", **other}
        return ends(milestones=[add_row(row, task.params["name"])])

    return edits


def _day_after(task: Task) -> Variant:
    """It is due a day later."""
    due = datetime.date.fromisoformat(task.params["due"]) + datetime.timedelta(days=1)
    return _milestone(due=due.isoformat())(task)


# -- a milestone is done -----------------------------------------------------------------------------------------------


def _make_release(seed: int) -> Task:
    random_ = rng("tracker_release", seed)
    done, later = random_.sample(given.OPEN_MILESTONES[:3], 2)
    tickets = more(random_, 9)
    for i, ticket in enumerate(tickets[:5]):
        ticket |= {"milestone": done, "status": "closed" if i < 2 else "new", "resolution": "fixed" if i < 2 else ""}
    random_.shuffle(tickets)
    left = [n for n, t in numbered(tickets).items() if t["milestone"] == done and t["status"] != "closed"]
    instruction = random_.choice(
        (
            f"Milestone {done} is finished: mark it as completed, and move its tickets that are still open to the "
            f"milestone {later}.",
            f"We have released {done}. Complete that milestone; what is not closed goes to {later}.",
        )
    )
    params = {"done": done, "later": later, "left": left}
    writable = (TICKETS, COMMENTS, MILESTONES)
    return task("tracker_release", seed, instruction, "hard", tickets, params=params, writable=writable, steps=60)


def _verify_release(task: Task, final: Final) -> Verdict:
    p = task.params
    return only(
        final,
        Edited("milestones", p["done"], {"completed": True}),
        *(Edited("tickets", str(number), {"milestone": p["later"]}) for number in p["left"]),
        allowed=tuple(  # the page comments it
            Added("comments", {"ticket": number, "author": ME, "text": anything}) for number in p["left"]
        ),
    )


def _play_release(task: Task, view: BrowserView) -> Oracle:
    yield from follow(view, "#mainnav a", "ROADMAP")
    yield from follow(view, "h2 a", rf"Milestone: {exactly(task.params['done'])}")
    yield from follow(view, "input[type=submit]", "Edit milestone")
    yield [click((yield from reach(view, "#completed")))]
    view.wait_until(lambda: view.evaluate("!document.querySelector('#retarget').disabled"), "no retargeting")
    if not view.evaluate("document.querySelector('#retarget').checked"):
        yield [click((yield from reach(view, "#retarget")))]
    yield from choose(view, "#target", task.params["later"])
    yield from follow(view, "input[name=save]")
    yield [DONE]


def _complete(task: Task) -> list[Step]:
    return [set_columns(task.params["done"], completed=True)]


def _move(task: Task) -> list[Step]:
    return [set_columns(str(number), milestone=task.params["later"]) for number in task.params["left"]]


def _released(task: Task) -> Variant:
    """One after the other, without a comment."""
    return ends(milestones=_complete(task), tickets=_move(task))


def _released_in_one(task: Task) -> Variant:
    """On the milestone's own page, which comments each ticket."""
    said = [comment_row(number, "Ticket retargeted after milestone closed") for number in task.params["left"]]
    return ends(milestones=_complete(task), tickets=_move(task), comments=said)


def _only_completed(task: Task) -> Variant:
    """The tickets were left in it."""
    return ends(milestones=_complete(task))


def _deleted(task: Task) -> Variant:
    """The milestone was deleted, not completed."""
    return ends(milestones=[remove_row(task.params["done"])], tickets=_move(task))


def _all_moved(task: Task) -> Variant:
    """The closed ones were moved too."""

    def every(rows: Rows) -> None:
        for row in rows.values():
            if row["milestone"] == task.params["done"]:
                row["milestone"] = task.params["later"]

    return ends(milestones=_complete(task), tickets=[every])


# -- what can't be done ------------------------------------------------------------------------------------------------


def _make_missing(seed: int) -> Task:
    random_ = rng("tracker_missing_ticket", seed)
    *tickets, missing = more(random_, 9)
    instruction = f"Close the ticket “{missing['summary']}” as fixed. Mind that others may sound like it."
    params = {"summary": missing["summary"]}
    return task("tracker_missing_ticket", seed, instruction, "medium", tickets, params=params, feasible=False)


def _play_missing(task: Task, view: BrowserView) -> Oracle:
    yield [click(view.wait_for("#proj-search")), typed(task.params["summary"])]
    yield from leave(view, [press("Return")])
    view.wait_for("#notfound")
    yield [Infeasible()]


def _numbers(task: Task) -> list[int]:
    return list(task.params["numbers"])


FAMILIES = (
    Family(
        "tracker_retarget", _make_retarget, _verify_retarget, _play_retarget,
        solutions={"moved": _moved(_numbers)},
        near_misses={
            "closed too": _moved(lambda task: list(task.params["all"])),
            "not all": _moved(lambda task: _numbers(task)[1:]),
        },
    ),
    Family(
        "tracker_wiki_phone", _make_phone, _verify_phone, _play_phone,
        solutions={
            "edited": _page(lambda task: task.params["want"]),
            "other blanks": _page(lambda task: task.params["want"].replace("|| ", "||") + "\n\n"),
        },
        near_misses={
            "another harbour": _page(_another_harbour),
            "added": _page(_beside_the_old),
            "another page": _phone_on_another_page,
        },
    ),
    Family(
        "tracker_new_milestone", _make_milestone, _verify_milestone, _play_milestone,
        solutions={"added": _milestone()},
        near_misses={"a day late": _day_after, "no date": _milestone(due=""), "completed": _milestone(completed=True)},
    ),
    Family(
        "tracker_release", _make_release, _verify_release, _play_release,
        solutions={"one by one": _released, "in one": _released_in_one},
        near_misses={"completed alone": _only_completed, "deleted": _deleted, "closed ones too": _all_moved},
    ),
    Family("tracker_missing_ticket", _make_missing, None, _play_missing),
)  # fmt: skip
