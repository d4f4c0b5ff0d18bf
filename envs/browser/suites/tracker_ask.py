"""Task families of the tracker that ask: what tickets, milestones and wiki pages say."""

from __future__ import annotations

from envs.browser.sites import tracker_data as given
from envs.browser.suites.common import Oracle, answer, exactly, follow, rng
from envs.browser.suites.tracker_pages import (
    COMMENTS,
    TICKETS,
    asked,
    find_ticket,
    more,
    number_of,
    numbered,
    open_page,
    open_ticket,
    query,
    task,
)
from envs.browser.view import BrowserView
from guiforge.action import Answer
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Family, Task, Variant
from verifiers.answers import Name, Number, SetOf, Text
from verifiers.sites import add_row, edit_rows, set_columns


def _said(text: str) -> Variant:
    return Variant(end=Answer(text=text))


def _gold(task: Task) -> Variant:
    """The answer alone."""
    return _said(str(task.params["want"]))


def _and_commented(task: Task) -> Variant:
    """The right answer, but a comment was left on a ticket."""
    row = {"ticket": 3, "author": given.USER, "text": "Looked at this."}
    return Variant({COMMENTS: edit_rows(add_row(row, "3.9"))}, Answer(text=str(task.params["want"])))


def _and_accepted(task: Task) -> Variant:
    """The right answer, but a ticket was changed on the way."""
    change = set_columns("1", priority="blocker", keywords="seen")
    return Variant({TICKETS: edit_rows(change)}, Answer(text=str(task.params["want"])))


# -- how many open tickets -------------------------------------------------------------------------------------------


def _make_count(seed: int) -> Task:
    random_ = rng("tracker_count_open", seed)
    tickets = more(random_, 14)
    component, priority = random_.choice(list(given.COMPONENTS)), random_.choice(("major", "minor"))
    for ticket in tickets[: random_.randint(2, 5)]:
        ticket |= open_ticket(component=component, priority=priority)
    tickets[5] |= {"component": component, "priority": priority, "status": "closed", "resolution": "fixed"}
    random_.shuffle(tickets)
    fits = [t for t in numbered(tickets).values() if (t["component"], t["priority"]) == (component, priority)]
    instruction = random_.choice(
        (
            f"How many tickets of the component {component} that are not closed yet have the priority {priority}?",
            f"Count the open (that is: not closed) tickets with priority {priority} in the component {component}. "
            "Answer with the number.",
        )
    )
    params = {
        "component": component, "priority": priority, "want": sum(t["status"] != "closed" for t in fits),
        "all": len(fits),
    }  # fmt: skip
    return task("tracker_count_open", seed, instruction, "medium", tickets, params=params)


def _verify_number(task: Task, final: Final) -> Verdict:
    return asked(task, final, Number(task.params["want"]))


def _play_count(task: Task, view: BrowserView) -> Oracle:
    yield from query(view, {"Component": task.params["component"], "Priority": task.params["priority"]})
    matches = view.wait_for("#content h1 .numrows, #content h1").text
    yield answer(matches.partition("(")[2].split(" ")[0])


def _with_closed(task: Task) -> Variant:
    """Closed ones were counted too."""
    return _said(str(task.params["all"]))


# -- how far a milestone is ------------------------------------------------------------------------------------------


def _make_active(seed: int) -> Task:
    random_ = rng("tracker_milestone_left", seed)
    milestone = random_.choice(given.OPEN_MILESTONES[:3])
    tickets = more(random_, 12)
    for i, ticket in enumerate(tickets[: random_.randint(5, 9)]):
        closed = i % 3 == 0
        ticket |= {"milestone": milestone, "status": "closed" if closed else random_.choice(("new", "accepted"))}
        ticket |= {"resolution": "fixed" if closed else ""}
    random_.shuffle(tickets)
    fits = [t for t in numbered(tickets).values() if t["milestone"] == milestone]
    done = sum(t["status"] == "closed" for t in fits)
    instruction = random_.choice(
        (
            f"According to the roadmap, how many tickets of milestone {milestone} are still active?",
            f"How many tickets are left to be closed for the milestone {milestone}?",
        )
    )
    params = {"milestone": milestone, "want": len(fits) - done, "all": len(fits), "done": done}
    return task("tracker_milestone_left", seed, instruction, "easy", tickets, params=params)


def _play_active(task: Task, view: BrowserView) -> Oracle:
    yield from follow(view, "#mainnav a", "ROADMAP")
    yield from follow(view, "h2 a", rf"Milestone: {exactly(task.params['milestone'])}")
    counts = view.evaluate("document.querySelector('.info .legend, dl').innerText.match(/active:?\\s*(\\d+)/i)[1]")
    yield answer(f"{counts} tickets are still active.")


def _as_sentence(task: Task) -> Variant:
    """The answer as a sentence."""
    return _said(f"There are {task.params['want']} of them.")


def _all_of_it(task: Task) -> Variant:
    """All its tickets were counted."""
    return _said(str(task.params["all"]))


def _done_of_it(task: Task) -> Variant:
    """The closed ones were counted."""
    return _said(f"{task.params['done']} tickets")


# -- who reported ----------------------------------------------------------------------------------------------------


def _make_reporter(seed: int) -> Task:
    random_ = rng("tracker_reporter", seed)
    tickets = more(random_, 8)
    ticket = random_.choice(tickets)
    who, owner, other = random_.sample(given.PEOPLE[1:], 3)
    ticket |= {"reporter": who, "owner": owner, "comments": [[other, "I can see it too."]]}
    instruction = random_.choice(
        (
            f"Who reported the ticket “{ticket['summary']}”? Answer with the user name.",
            f"There is a ticket called “{ticket['summary']}”. Whose report was it?",
        )
    )
    params = {"summary": ticket["summary"], "want": who, "owner": owner, "other": other}
    return task("tracker_reporter", seed, instruction, "easy", tickets, params=params)


def _verify_name(task: Task, final: Final) -> Verdict:
    others = tuple(person for person in given.PEOPLE if person != task.params["want"])
    return asked(task, final, Name(task.params["want"], others=others))


def _play_reporter(task: Task, view: BrowserView) -> Oracle:
    yield from find_ticket(view, task.params["summary"])
    yield answer(view.wait_for("td[headers=h_reporter]").text)


def _owner(task: Task) -> Variant:
    """The owner was given."""
    return _said(task.params["owner"])


def _commenter(task: Task) -> Variant:
    """Whoever commented was given."""
    return _said(task.params["other"])


# -- who is on call --------------------------------------------------------------------------------------------------


def _make_rota(seed: int) -> Task:
    random_ = rng("tracker_on_call", seed)
    first_week = random_.randint(10, 40)
    rows: list[tuple[int, str, str]] = []
    while len(rows) < 9:
        first, second = random_.sample(given.PEOPLE[1:], 2)
        if not rows or not {first, second} & {*rows[-1][1:]}:
            rows.append((first_week + len(rows), first, second))
    at = random_.randrange(1, 8)
    week, first, second = rows[at]
    lead = "Whoever is on call keeps the telephone switched on from 18:00 to 8:00."
    page = f"= On-call rota =\n\n{lead}\n\n{given.table(('Week', 'First', 'Second'), rows)}\n"
    instruction = random_.choice(
        (
            f"Who is the second person on call in week {week}? Answer with the user name.",
            f"It is week {week}, and the first person on call does not answer the phone. Who is the second?",
        )
    )
    params = {"want": second, "first": first, "next": rows[at + 1][2], "week": week}
    return task("tracker_on_call", seed, instruction, "easy", pages={"OnCallRota": page}, params=params)


def _play_rota(task: Task, view: BrowserView) -> Oracle:
    yield from open_page(view, "On-call rota")
    row = view.wait_for("tr", rf"{task.params['week']}\s.*").text.split()
    yield answer(row[2])


def _first_on_call(task: Task) -> Variant:
    """The first person on call was given."""
    return _said(task.params["first"])


def _week_after(task: Task) -> Variant:
    """The row below was read."""
    return _said(task.params["next"])


# -- which vessel ----------------------------------------------------------------------------------------------------

_VESSELS = ("Avocet", "Bittern", "Curlew", "Dunlin", "Egret", "Fulmar", "Gannet", "Heron", "Knot", "Lapwing")


def _make_vessel(seed: int) -> Task:
    random_ = rng("tracker_vessel", seed)
    while True:
        seats, cars = random_.randrange(150, 350, 10), random_.randrange(20, 50, 5)
        fleet = [
            (name, random_.randrange(90, 460, 10), random_.randrange(6, 72, 2), random_.randint(1985, 2020))
            for name in random_.sample(_VESSELS, 8)
        ]
        fits = [vessel for vessel in fleet if vessel[1] >= seats and vessel[2] >= cars]
        built = sorted(vessel[3] for vessel in fits)
        if 3 <= len(fits) < len(fleet) and built[0] < built[1] and built[-1] > built[-2]:
            break
    oldest, newest = min(fits, key=lambda v: v[3])[0], max(fits, key=lambda v: v[3])[0]
    by_age = sorted(fleet, key=lambda v: v[3])
    kind, want, other = random_.choice((("oldest", oldest, newest), ("newest", newest, oldest)))
    page = f"= Vessels =\n\n{given.table(('Vessel', 'Seats', 'Cars', 'Built'), fleet)}\n"
    instruction = (
        f"Look up the vessels in the wiki: which is the {kind} of those that have at least {seats} seats and room for "
        f"at least {cars} cars?"
    )
    overall = by_age[0][0] if kind == "oldest" else by_age[-1][0]
    unfit = next(v[0] for v in fleet if v not in fits)
    params = {"want": want, "other": other, "unfit": overall if overall != want else unfit}
    return task("tracker_vessel", seed, instruction, "medium", pages={"Vessels": page}, params=params)


def _verify_text(task: Task, final: Final) -> Verdict:
    return asked(task, final, Text(task.params["want"]))


def _play_vessel(task: Task, view: BrowserView) -> Oracle:
    yield from open_page(view, "Vessels")
    view.wait_for("td", exactly(task.params["want"]))
    yield answer(task.params["want"])


def _other_end(task: Task) -> Variant:
    """The other end of the ages."""
    return _said(task.params["other"])


def _unfit(task: Task) -> Variant:
    """A vessel that is too small."""
    return _said(task.params["unfit"])


# -- a duplicate's owner ---------------------------------------------------------------------------------------------


def _make_original(seed: int) -> Task:
    random_ = rng("tracker_original_owner", seed)
    tickets = more(random_, 9)
    copy, original, decoy = random_.sample(tickets, 3)
    owners = random_.sample(given.PEOPLE[1:], 3)
    for ticket, owner in zip((copy, original, decoy), owners, strict=True):
        ticket |= open_ticket(owner=owner)
    remark = f"Looks related to #{number_of(tickets, decoy)}, but is not the same."
    copy |= {"status": "closed", "resolution": "duplicate", "milestone": given.OPEN_MILESTONES[0]}
    copy |= {"comments": [[owners[2], remark], [owners[0], f"The same as #{number_of(tickets, original)}."]]}
    instruction = random_.choice(
        (
            f"The ticket “{copy['summary']}” was closed as a duplicate. Who owns the ticket that it is a duplicate of?",
            f"“{copy['summary']}” turned out to be the same as another ticket. To whom does that other one belong? "
            "Give the owner's user name.",
        )
    )
    params = {
        "summary": copy["summary"], "original": number_of(tickets, original), "want": owners[1], "copy": owners[0],
        "decoy": owners[2],
    }  # fmt: skip
    return task("tracker_original_owner", seed, instruction, "hard", tickets, params=params)


def _play_original(task: Task, view: BrowserView) -> Oracle:
    yield from find_ticket(view, task.params["summary"])
    yield from follow(view, ".comment a", rf"#{task.params['original']}")
    yield answer(view.wait_for("td[headers=h_owner]").text)


def _copys_owner(task: Task) -> Variant:
    """Whoever owns the duplicate."""
    return _said(task.params["copy"])


def _decoys_owner(task: Task) -> Variant:
    """Whoever owns the ticket that is only related."""
    return _said(task.params["decoy"])


# -- which tickets ---------------------------------------------------------------------------------------------------


def _make_keyword(seed: int) -> Task:
    random_ = rng("tracker_keyword_tickets", seed)
    keyword, owner = random_.choice(given.KEYWORDS), random_.choice(given.PEOPLE[1:])
    tickets = more(random_, 12)
    for ticket in tickets[: random_.randint(2, 3)]:
        ticket |= open_ticket(owner=owner, keywords=f"{keyword} review")
    tickets[4] |= {"owner": owner, "keywords": keyword, "status": "closed", "resolution": "fixed"}
    tickets[5] |= open_ticket(owner="dana", keywords=keyword)
    random_.shuffle(tickets)
    fits = {n: t for n, t in numbered(tickets).items() if t["owner"] == owner and keyword in t["keywords"].split()}
    want = [n for n, t in fits.items() if t["status"] != "closed"]
    instruction = (
        f"Which tickets that are not closed does {owner} own that have the keyword {keyword}? Answer with "
        "their numbers."
    )
    params = {"keyword": keyword, "owner": owner, "numbers": want, "want": ", ".join(f"#{n}" for n in want)}
    return task("tracker_keyword_tickets", seed, instruction, "hard", tickets, params=params | {"all": sorted(fits)})


def _verify_numbers(task: Task, final: Final) -> Verdict:
    return asked(task, final, SetOf(tuple(Number(n) for n in task.params["numbers"])))


def _play_keyword(task: Task, view: BrowserView) -> Oracle:
    yield from query(view, {"Owner": task.params["owner"], "Keywords": task.params["keyword"]})
    yield answer(", ".join(box.text for box in view.find_all("td.id a")))


def _listed(task: Task) -> Variant:
    """Bare numbers, in another order."""
    return _said(" and ".join(str(n) for n in reversed(task.params["numbers"])))


def _one_missing(task: Task) -> Variant:
    """One is missing."""
    return _said(", ".join(str(n) for n in task.params["numbers"][1:]) or "none")


def _closed_too(task: Task) -> Variant:
    """The closed one is listed too."""
    return _said(", ".join(str(n) for n in task.params["all"]))


FAMILIES = (
    Family(
        "tracker_count_open", _make_count, _verify_number, _play_count,
        solutions={"number": _gold, "sentence": _as_sentence},
        near_misses={"closed too": _with_closed, "commented": _and_commented},
    ),
    Family(
        "tracker_milestone_left", _make_active, _verify_number, _play_active,
        solutions={"number": _gold, "sentence": _as_sentence},
        near_misses={"all": _all_of_it, "closed": _done_of_it},
    ),
    Family(
        "tracker_reporter", _make_reporter, _verify_name, _play_reporter,
        solutions={"name": _gold},
        near_misses={"owner": _owner, "commenter": _commenter, "changed a ticket": _and_accepted},
    ),
    Family(
        "tracker_on_call", _make_rota, _verify_name, _play_rota,
        solutions={"name": _gold},
        near_misses={"first": _first_on_call, "row below": _week_after},
    ),
    Family(
        "tracker_vessel", _make_vessel, _verify_text, _play_vessel,
        solutions={"name": _gold},
        near_misses={"other end": _other_end, "unfit": _unfit},
    ),
    Family(
        "tracker_original_owner", _make_original, _verify_name, _play_original,
        solutions={"name": _gold},
        near_misses={"of the copy": _copys_owner, "of a related one": _decoys_owner},
    ),
    Family(
        "tracker_keyword_tickets", _make_keyword, _verify_numbers, _play_keyword,
        solutions={"list": _gold, "other order": _listed},
        near_misses={"one missing": _one_missing, "closed too": _closed_too},
    ),
)  # fmt: skip
