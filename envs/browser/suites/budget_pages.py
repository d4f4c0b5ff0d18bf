"""What the families of the budget site share: sums over a group, and the gestures of its pages."""

from __future__ import annotations

import calendar
import random
from collections import defaultdict
from collections.abc import Iterable
from datetime import date
from fractions import Fraction
from typing import Any

from envs.browser.sites.budget_data import Group
from envs.browser.suites.common import Oracle, choose, click, fill, follow, leave, make_task, reach, table, typed
from envs.browser.suites.families import key_of
from envs.browser.view import BrowserView
from guiforge.action import Click
from guiforge.env import StateReader
from guiforge.task import Task
from verifiers.sites import rows_before

SITE = "budget"
BILLS, MEMBERS = table(SITE, "bills"), table(SITE, "members")
_ROWS = "#bill_table tbody tr"
_MONTH_PX = 20  # from a date field's left edge into its month

Bill = dict[str, Any]


def group_task(
    family: str, seed: int, level: str, instruction: str, group: Group, *more: Group, writes: tuple[str, ...] = (),
    **params: Any,
) -> Task:  # fmt: skip
    """A task about a group of its own, opened at its bills. writes: tables that it changes."""
    return make_task(
        family, seed, instruction, site=SITE, tags=(SITE, level), records=[group, *more],
        start=f"/{group['id']}/", writable=writes, params={"group": group["id"], **params},
    )  # fmt: skip


# -- sums --------------------------------------------------------------------------------------------------------------


def money(amount: float) -> str:
    """An amount as the pages show it."""
    return f"{amount:,.2f}"


def day(bill: Bill) -> str:
    """A bill's day in words: `5 March 2025`."""
    found = date.fromisoformat(bill["date"])
    return f"{found.day} {calendar.month_name[found.month]} {found.year}"


def month(bill: Bill) -> str:
    """A bill's month in words: `March 2025`."""
    return day(bill).split(" ", 1)[1]


def names(group: Group) -> list[str]:
    """Every member's name."""
    return [member["name"] for member in group["members"]]


def total(bills: Iterable[Bill]) -> float:
    """What they cost altogether."""
    return round(sum(float(bill["amount"]) for bill in bills), 2)


def weights(group: Group) -> dict[str, int]:
    """Each member's weight."""
    return {member["name"]: member["weight"] for member in group["members"]}


def share(group: Group, bill: Bill, name: str) -> Fraction:
    """What of a bill is a member's to carry."""
    weight = weights(group)
    return Fraction(str(bill["amount"])) * weight[name] / sum(weight[ower] for ower in bill["owers"])


def balances(group: Group) -> dict[str, Fraction]:
    """What each member has paid, less what of all bills was theirs to carry."""
    balance: dict[str, Fraction] = defaultdict(Fraction, {name: Fraction(0) for name in names(group)})
    for bill in group["bills"]:
        balance[bill["payer"]] += Fraction(str(bill["amount"]))
        for ower in bill["owers"]:
            balance[ower] -= share(group, bill, ower)
    return dict(balance)


def settlements(group: Group) -> list[list[Any]]:
    """Who pays whom how much, as the site proposes it: again and again the smallest debt to the smallest credit."""
    balance = balances(group)
    owing = sorted((n for n in balance if balance[n] < 0), key=lambda n: balance[n])
    due = sorted((n for n in balance if balance[n] > 0), key=lambda n: -balance[n])
    found = []
    while owing and due:
        ower, receiver = owing.pop(), due.pop()
        amount = min(-balance[ower], balance[receiver])
        found.append([ower, receiver, round(float(amount), 2)])
        balance[ower] += amount
        balance[receiver] -= amount
        owing = sorted([*owing, ower] if balance[ower] < 0 else owing, key=lambda n: balance[n])
        due = sorted([*due, receiver] if balance[receiver] > 0 else due, key=lambda n: -balance[n])
    return found


def one_bill(random_: random.Random, group: Group) -> tuple[int, Bill]:
    """A bill that lies outside the first screen, and its place in the group's list."""
    number = random_.randrange(len(group["bills"]) * 2 // 3)
    return number, group["bills"][number]


# -- gestures ----------------------------------------------------------------------------------------------------------


def row(group: Group, number: int, within: str = "") -> str:
    """The selector of a bill on the page of bills, by its place in the group's list: the newest is on top."""
    return f"{_ROWS}:nth-child({len(group['bills']) - number}) {within}".strip()


def edit_bill(view: BrowserView, group: Group, number: int) -> Oracle:
    """Open the form of a bill, from the page of bills."""
    yield from follow(view, row(group, number, "a.edit"))


def add_bill(view: BrowserView, bill: Bill, everyone: Iterable[str]) -> Oracle:
    """Enter a bill, from the page of bills."""
    yield [click((yield from reach(view, "#new-bill a")))]
    view.wait_for("#bill-form #what")
    yield from fill_bill(view, what=bill["what"], amount=bill["amount"], day=bill["date"], payer=bill["payer"])
    yield from tick(view, set(everyone) ^ set(bill["owers"]))
    yield from save(view)


def fill_bill(
    view: BrowserView, *, what: str = "", amount: float | None = None, day: str = "", payer: str = ""
) -> Oracle:
    """Fill fields of the form of a bill, new or old."""
    if day:
        field = view.wait_for("fieldset #date")
        year, month_, day_ = day.split("-")
        yield [Click(x=field.x + _MONTH_PX, y=field.center[1]), typed(month_ + day_ + year)]
    if what:
        yield from fill(view, "fieldset #what", what)
    if payer:
        yield from choose(view, "fieldset #payer", payer)
    if amount is not None:
        yield from fill(view, "fieldset #amount", f"{amount:.2f}")


def tick(view: BrowserView, people: Iterable[str]) -> Oracle:
    """Click people's boxes in the form of a bill."""
    for name in sorted(people):
        yield [click((yield from reach(view, "fieldset label.form-check-label", name)))]


def save(view: BrowserView) -> Oracle:
    """Send the form of a bill."""
    button = yield from reach(view, "#submit")
    yield from leave(view, [click(button)])


# -- rows --------------------------------------------------------------------------------------------------------------


def seeded(task: Task) -> Group:
    """The group that the task is about, as it was seeded."""
    found: Group = task.setup[0].records[0]  # type: ignore[union-attr]
    return found


def bill_row(group_id: str, bill: Bill, **columns: object) -> dict[str, object]:
    """A bill as the site's table has it."""
    return {"group": group_id, "link": "", **bill, "owers": sorted(bill["owers"]), **columns}


def known(task: Task, number: int) -> dict[str, object]:
    """What a bill of the group is found by in the site's table."""
    bill = seeded(task)["bills"][number]
    return {"group": task.params["group"], **{c: bill[c] for c in ("date", "payer", "what", "amount")}}


def member(task: Task, name: str) -> dict[str, object]:
    """What a member of the group is found by in the site's table."""
    return {"group": task.params["group"], "name": name}


def bill_key(task: Task, state: StateReader, number: int) -> str:
    """The key of a bill of the group."""
    return key_of(rows_before(state, SITE, "bills"), **known(task, number))


def member_key(task: Task, state: StateReader, name: str) -> str:
    """The key of a member of the group."""
    return key_of(rows_before(state, SITE, "members"), **member(task, name))
