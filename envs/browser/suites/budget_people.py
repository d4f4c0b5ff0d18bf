"""Task families about the members of the budget site's groups: who counts for more, settles up, leaves, joins."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

from envs.browser.sites.budget_data import NAMES, Group, bill, group
from envs.browser.suites.budget_pages import (
    BILLS,
    MEMBERS,
    SITE,
    bill_key,
    bill_row,
    day,
    edit_bill,
    group_task,
    known,
    member,
    member_key,
    money,
    month,
    names,
    save,
    seeded,
    settlements,
    tick,
)  # fmt: skip
from envs.browser.suites.common import Oracle, click, fill, follow, reach, rng
from envs.browser.suites.families import Step, Way, change, changing, drop, edited, impossible
from envs.browser.view import BrowserView
from guiforge.action import Move
from guiforge.env import StateReader
from guiforge.task import Task
from verifiers.sites import Added, Edited, Expected, add_row, anything

Payment = list[Any]  # who pays, to whom, how much
_SIDEBAR = (160, 400)


def _ways(
    bills: Callable[[Task], list[Step]] = lambda task: [], members: Callable[[Task], list[Step]] = lambda task: []
) -> Way:
    """An end with these steps on both tables."""
    return lambda task: edited(SITE, bills=bills(task), members=members(task))


def _over_member(view: BrowserView, name: str) -> Oracle:
    """Point at a member, whose buttons show then."""
    x, y = (yield from reach(view, "td.balance-name", rf"{name}(\s*\(x.*\))?", at=_SIDEBAR)).center
    yield [Move(x=x, y=y)]


def _set_weight(view: BrowserView, name: str, weight: int) -> Oracle:
    yield from _over_member(view, name)
    yield from follow(view, "tr:hover form.edit button")
    yield from fill(view, "#weight", str(weight))
    yield from follow(view, ".actions button")


def _set(name: str, **columns: Any) -> Callable[[Task], list[Step]]:
    """The member that the task's parameter `name` names has other values."""
    return lambda task: [change(member(task, task.params[name]), **columns)]


# -- a member's weight -------------------------------------------------------------------------------------------------


def _make_weight(seed: int) -> Task:
    random_ = rng("budget_weight", seed)
    made = group(random_, members=6, bills=24, weights=True)
    name, other = random_.sample([m["name"] for m in made["members"] if m["weight"] == 1], 2)
    new = random_.choice((2, 3, 5))
    instruction = random_.choice(
        (
            f"In {made['name']}, {name} counts for {new} people from now on. Set their weight accordingly.",
            f"{name} comes with family: change their weight (number of shares) in this group to {new}.",
        )
    )
    return group_task(
        "budget_weight", seed, "easy", instruction, made, writes=(MEMBERS,), name=name, other=other, weight=new
    )  # fmt: skip


def _weighted(task: Task, state: StateReader) -> list[Expected]:
    name = task.params["name"]
    return [Edited("members", member_key(task, state, name), {"weight": task.params["weight"]})]


def _play_weight(task: Task, view: BrowserView) -> Oracle:
    yield from _set_weight(view, task.params["name"], task.params["weight"])


# -- settling up -------------------------------------------------------------------------------------------------------


def _close_to(amount: float) -> Callable[[object], bool]:
    """The site rounds what it proposes: a cent more or less is its own."""
    return lambda value: isinstance(value, float) and abs(value - amount) < 0.011


def _settled(task: Task, state: StateReader) -> list[Expected]:
    """Money from one member to another; what it is called and dated is left to the one who enters it."""
    ower, receiver, amount = task.params["payment"]
    new = bill("", ower, "", amount, [receiver], "REIMBURSEMENT")
    free = {"date": anything, "what": anything, "amount": _close_to(amount)}
    return [Added("bills", bill_row(task.params["group"], new, **free))]


def _pay(**columns: Any) -> Callable[[Task], list[Step]]:
    def steps(task: Task) -> list[Step]:
        ower, receiver, amount = task.params["payment"]
        made = bill(date.today().isoformat(), ower, "Settlement", amount, [receiver], "REIMBURSEMENT")
        return [add_row(bill_row(task.params["group"], made, **columns))]

    return steps


def _register(view: BrowserView, payment: Payment) -> Oracle:
    """Say on the page of settlements that a proposed payment was made."""
    yield from follow(view, "nav a.nav-link", "Settle")
    wanted = list(payment[:2])
    rows = view.find_all(".split_bills tbody tr")
    number = next(n for n, row in enumerate(rows, 1) if row.text.split()[:2] == wanted)
    yield from follow(view, f".split_bills tbody tr:nth-child({number}) button")


def _make_settle(seed: int) -> Task:
    random_ = rng("budget_settle", seed)
    made, payment = _with_payment(random_.choice, lambda: group(random_, members=6, bills=26))
    ower, receiver, _ = payment
    instruction = random_.choice(
        (
            f"{ower} has given {receiver} the money that is proposed for settling up in {made['name']}. Record that "
            "payment.",
            f"Register on the site that {ower} paid {receiver} what the settlement of this group asks for between the "
            "two.",
        )
    )
    return group_task("budget_settle", seed, "medium", instruction, made, writes=(BILLS,), payment=payment)


def _with_payment(choose: Callable[[list[Payment]], Payment], make: Callable[[], Group]) -> tuple[Group, Payment]:
    """A group, and a payment by somebody who is even after it."""
    while True:
        made = make()
        found = settlements(made)
        sole = [payment for payment in found if [p[0] for p in found].count(payment[0]) == 1 and payment[2] > 1]
        if len(found) > 2 and sole:
            return made, choose(sole)


def _play_settle(task: Task, view: BrowserView) -> Oracle:
    yield from _register(view, task.params["payment"])


def _back(task: Task) -> list[Step]:
    """The payment the wrong way round."""
    ower, receiver, _ = task.params["payment"]
    return _pay(payer=receiver, owers=[ower])(task)


# -- moving out --------------------------------------------------------------------------------------------------------


def _make_leave(seed: int) -> Task:
    random_ = rng("budget_leave", seed)
    made, payment = _with_payment(random_.choice, lambda: group(random_, members=5, bills=28))
    instruction = random_.choice(
        (
            f"{payment[0]} is leaving {made['name']} and has paid their debt as the settlement proposes. Record the "
            f"payment, then deactivate {payment[0]} in the group.",
            f"Let {payment[0]} go: first register the payment by which they are even with this group, then remove "
            "them from its active participants.",
        )
    )
    return group_task(
        "budget_leave", seed, "hard", instruction, made, writes=(BILLS, MEMBERS), payment=payment, name=payment[0],
        other=payment[1],
    )  # fmt: skip


def _left(task: Task, state: StateReader) -> list[Expected]:
    leaver = member_key(task, state, task.params["name"])
    return [*_settled(task, state), Edited("members", leaver, {"active": 0})]


def _play_leave(task: Task, view: BrowserView) -> Oracle:
    yield from _register(view, task.params["payment"])
    yield from follow(view, "nav a.nav-link", "Bills")
    yield from _over_member(view, task.params["name"])
    yield [click(view.wait_for("tr:hover form.delete button"))]
    yield from follow(view, "tr:hover form.delete button.confirm")


# -- joining -----------------------------------------------------------------------------------------------------------


def _make_join(seed: int) -> Task:
    random_ = rng("budget_join", seed)
    while True:
        made = group(random_, members=4, bills=24)
        what, since = random_.choice(made["bills"])["what"], random_.choice(made["bills"])
        later = [n for n, b in enumerate(made["bills"]) if b["what"] == what and b["date"] >= since["date"]]
        if len(later) == 2 and sum(b["what"] == what for b in made["bills"]) > 2:
            break
    name = random_.choice([n for n in NAMES if n not in names(made)])
    weight = random_.choice((2, 3))
    instruction = random_.choice(
        (
            f"{name} joins {made['name']}, with a weight of {weight}. Add them as a participant, and let them share "
            f'every bill for "{what}" dated {day(since)} or later, besides those who share it already.',
            f"Add {name} to this group and give them the weight {weight}. Then make {name} one more of those that each "
            f'bill "{what}" from {day(since)} on is for.',
        )
    )
    return group_task(
        "budget_join", seed, "hard", instruction, made, writes=(BILLS, MEMBERS), name=name, weight=weight, later=later
    )  # fmt: skip


def _joined(task: Task, state: StateReader) -> list[Expected]:
    made = seeded(task)["bills"]
    return [
        Added("members", {**member(task, task.params["name"]), "weight": task.params["weight"], "active": 1}),
        *(
            Edited("bills", bill_key(task, state, n), {"owers": sorted([*made[n]["owers"], task.params["name"]])})
            for n in task.params["later"]
        ),
    ]


def _play_join(task: Task, view: BrowserView) -> Oracle:
    name = task.params["name"]
    yield from fill(view, "#add-member-form #name", name)
    yield from follow(view, "#add-member-form button")
    yield from _set_weight(view, name, task.params["weight"])
    for number in task.params["later"]:
        yield from edit_bill(view, seeded(task), number)
        yield from tick(view, [name])
        yield from save(view)


def _newcomer(**columns: Any) -> Callable[[Task], list[Step]]:
    return lambda task: [
        add_row({**member(task, task.params["name"]), "weight": task.params["weight"], "active": 1, **columns})
    ]


def _shared(task: Task) -> list[Step]:
    made = seeded(task)["bills"]
    return [
        change(known(task, n), owers=sorted([*made[n]["owers"], task.params["name"]])) for n in task.params["later"]
    ]


# -- what it can't do --------------------------------------------------------------------------------------------------


def _make_limit(seed: int) -> Task:
    random_ = rng("budget_limit", seed)
    made = group(random_, bills=24)
    limit, what = random_.choice((150, 250, 400, 600)), random_.choice(made["bills"])["what"]
    instruction = random_.choice(
        (
            f"Set a spending limit of {money(limit)} a month for {made['name']}, so that the site refuses bills beyond "
            "it.",
            f'Make the bill "{what}" repeat by itself on the first day of each month in {made["name"]}.',
            f"Lock {made['name']}'s bills of {month(made['bills'][0])}, so that nobody can change them any more.",
        )
    )
    return group_task("budget_limit", seed, "easy", instruction, made).model_copy(update={"feasible": False})


def _look_at_settings(task: Task, view: BrowserView) -> Oracle:
    yield [click((yield from reach(view, "#new-bill a")))]
    yield [click(view.wait_for("#bill-form summary"))]


FAMILIES = (
    changing(
        SITE, "budget_weight", _make_weight, _weighted, _play_weight,
        solutions={"set": _ways(members=lambda task: _set("name", weight=float(task.params["weight"]))(task))},
        near_misses={
            "another member": _ways(members=lambda task: _set("other", weight=float(task.params["weight"]))(task)),
            "another weight": _ways(members=_set("name", weight=4.0)),
            "deactivated": _ways(members=lambda task: _set("name", weight=task.params["weight"], active=0)(task)),
        },
    ),
    changing(
        SITE, "budget_settle", _make_settle, _settled, _play_settle,
        solutions={"registered": _ways(_pay()), "by hand": _ways(_pay(what="Paid back", date="2025-06-01"))},
        near_misses={
            "the wrong way round": _ways(_back),
            "as an expense": _ways(_pay(type="EXPENSE")),
            "a part": _ways(_pay(amount=0.5)),
        },
    ),
    changing(
        SITE, "budget_leave", _make_leave, _left, _play_leave,
        solutions={"paid and gone": _ways(_pay(), _set("name", active=0))},
        near_misses={
            "not paid": _ways(members=_set("name", active=0)),
            "still there": _ways(_pay()),
            "another one gone": _ways(_pay(), _set("other", active=0)),
            "removed": _ways(_pay(), lambda task: [drop(member(task, task.params["name"]))]),
        },
    ),
    changing(
        SITE, "budget_join", _make_join, _joined, _play_join,
        solutions={"joined": _ways(_shared, _newcomer())},
        near_misses={
            "weight forgotten": _ways(_shared, _newcomer(weight=1.0)),
            "one bill forgotten": _ways(lambda task: _shared(task)[1:], _newcomer()),
            "only added": _ways(members=_newcomer()),
        },
    ),
    impossible("budget_limit", _make_limit, _look_at_settings),
)  # fmt: skip
