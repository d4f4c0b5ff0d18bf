"""Task families that ask what the budget site's groups spent, owe and share."""

from __future__ import annotations

import random
from collections import Counter
from datetime import date
from functools import partial
from typing import Any

from envs.browser.sites.budget_data import KINDS, NAMES, Group, group
from envs.browser.suites.budget_pages import (
    BILLS,
    SITE,
    balances,
    day,
    group_task,
    money,
    month,
    names,
    one_bill,
    row,
    share,
    total,
    weights,
)  # fmt: skip
from envs.browser.suites.common import Oracle, choose, click, fill, follow, leave, reach, rng
from envs.browser.suites.families import question
from envs.browser.view import BrowserView
from guiforge.task import Task
from verifiers.answers import Day, Money, Number, OneOf, SetOf, Text, Want
from verifiers.sites import edit_rows, set_columns

CURRENCY = "EUR"
_MEDDLED = {BILLS: edit_rows(set_columns("1", amount=1.0))}


def _money(task: Task) -> Want:
    return Money(task.params["want"], CURRENCY)


def _number(task: Task) -> Want:
    return Number(task.params["want"])


def _money_texts(right: float, wrong: list[float], sentence: str) -> dict[str, Any]:
    """Params of a question for an amount; `sentence` has a place for it."""
    return {
        "want": f"{right:.2f}",
        "right": [money(right), sentence.format(f"€{money(right)}")],
        "wrong": [money(amount) for amount in wrong],
    }


def _see_last(task: Task, view: BrowserView) -> Oracle:
    """Scroll to the lowest bill that the answer depends on."""
    yield from reach(view, task.params["row"])


# -- one bill ----------------------------------------------------------------------------------------------------------


def _make_last_paid(seed: int) -> Task:
    random_ = rng("budget_last_paid", seed)
    made = group(random_, bills=32)
    pairs = Counter((bill["payer"], bill["what"]) for bill in made["bills"])
    most = max(pairs.values())
    payer, what = random_.choice(sorted(pair for pair in pairs if pairs[pair] == most))
    number = max(n for n, b in enumerate(made["bills"]) if (b["payer"], b["what"]) == (payer, what))
    bill = made["bills"][number]
    others = [day(b) for b in made["bills"] if b["what"] == what and b["date"] != bill["date"]]
    instruction = random_.choice(
        (
            f'In the open group "{made["name"]}": on which day did {payer} last pay for "{what}"?',
            f'When was the last time that {payer} paid a bill for "{what}" in {made["name"]}? Give the date.',
            f'Find the newest bill "{what}" that {payer} paid in this group, and tell me its date.',
        )
    )
    return group_task(
        "budget_last_paid", seed, "easy", instruction, made, want=bill["date"], row=row(made, number),
        right=[bill["date"], f"It was on {day(bill)}."],
        wrong=[others[0] if others else "1 January 2025", f"{day(bill)} or {day(made['bills'][0])}"],
    )  # fmt: skip


def _make_biggest(seed: int) -> Task:
    random_ = rng("budget_biggest", seed)
    while True:
        made = group(random_, bills=34)
        payer = random_.choice(names(made))
        paid = sorted((b for b in made["bills"] if b["payer"] == payer), key=lambda b: -b["amount"])
        if len(paid) > 3 and paid[0]["what"] != paid[1]["what"] and paid[0]["amount"] > paid[1]["amount"]:
            break
    number = made["bills"].index(paid[0])
    instruction = random_.choice(
        (
            f"What was the most expensive bill that {payer} paid in {made['name']} for?",
            f"Look through the bills of this group: what is the single highest amount that {payer} paid for?",
            f"Which of {payer}'s bills here is the biggest? Tell me what it was for.",
        )
    )
    return group_task(
        "budget_biggest", seed, "easy", instruction, made, want=paid[0]["what"], row=row(made, number),
        right=[paid[0]["what"], f'It was for "{paid[0]["what"]}".'],
        wrong=[paid[1]["what"], f"{paid[0]['what']} or {paid[1]['what']}"],
    )  # fmt: skip


def _titles(task: Task) -> Want:
    return Text(task.params["want"], others=tuple({what for _, purposes in KINDS.values() for what in purposes}))


# -- what pages sum up -------------------------------------------------------------------------------------------------


def _make_owes(seed: int) -> Task:
    random_ = rng("budget_owes", seed)
    made = group(random_, members=6, bills=26)
    balance = balances(made)
    name = random_.choice([n for n in names(made) if balance[n] < -1])
    owed = round(-float(balance[name]), 2)
    other = next(n for n in names(made) if n != name)
    instruction = random_.choice(
        (
            f"How much does {name} have to pay to be even with the group {made['name']}? (Amounts are euros.)",
            f"{name} wants to settle up in this group. How many euros do they owe altogether?",
            f"According to the balances of {made['name']}, what is {name}'s debt in euros?",
        )
    )
    return group_task(
        "budget_owes", seed, "easy", instruction, made, member=name,
        **_money_texts(owed, [abs(float(balance[other])) + 0.5, owed + 1], f"{name} owes {{}} in total."),
    )  # fmt: skip


def _owed(task: Task) -> Want:
    """The site rounds a balance and each payment on its own: a cent more or less is its own."""
    return Number(task.params["want"], tolerance=0.011)


def _see_settle(task: Task, view: BrowserView) -> Oracle:
    yield from follow(view, "nav a.nav-link", "Settle")
    yield from reach(view, "td.balance-name", task.params["member"])


def _make_months(seed: int) -> Task:
    random_ = rng("budget_months", seed)
    made = group(random_, bills=36)
    sums = {m: total(b for b in made["bills"] if month(b) == m) for m in map(month, made["bills"])}
    more, less = sorted(random_.sample(list(sums), 2), key=lambda m: -sums[m])
    instruction = random_.choice(
        (
            f"How much more did {made['name']} spend in {more} than in {less}? (Amounts are euros.)",
            f"By how many euros were this group's expenses of {more} higher than those of {less}?",
            f"Compare the monthly expenses of {made['name']}: what is the difference between {more} and {less}?",
        )
    )
    return group_task(
        "budget_months", seed, "medium", instruction, made,
        **_money_texts(
            round(sums[more] - sums[less], 2), [sums[more], round(sums[more] + sums[less], 2)], "They spent {} more."
        ),
    )  # fmt: skip


def _see_statistics(task: Task, view: BrowserView) -> Oracle:
    yield from follow(view, "nav a.nav-link", "Statistics")
    yield from reach(view, "#monthly_stats tbody tr:last-child")


# -- sums and counts over bills ----------------------------------------------------------------------------------------


def _show_filters(view: BrowserView) -> Oracle:
    yield [click(view.wait_for("#toggle-filters"))]
    view.wait_for("#filterCollapse button")


def _filter(view: BrowserView) -> Oracle:
    button = yield from reach(view, "#filterCollapse button")
    yield from leave(view, [click(button)])


def _make_spent_on(seed: int) -> Task:
    random_ = rng("budget_spent_on", seed)
    made = group(random_, bills=44)
    counts = Counter(bill["what"] for bill in made["bills"])
    what = random_.choice([w for w, n in counts.most_common() if n >= 4])
    paid = [b for b in made["bills"] if b["what"] == what]
    first, last = paid[1], paid[-1]
    wanted = paid[1:] if first["date"] != paid[0]["date"] else paid
    instruction = random_.choice(
        (
            f'How many euros did {made["name"]} spend on "{what}" altogether from {day(first)} on (that day included)?',
            f'Add up all bills for "{what}" of this group that are dated {day(first)} or later. What is the sum in '
            "euros?",
        )
    )
    return group_task(
        "budget_spent_on", seed, "medium", instruction, made, what=what, last=last["date"],
        **_money_texts(total(wanted), [total(paid) + (wanted == paid), total(wanted[1:])], "They spent {} on it."),
    )  # fmt: skip


def _see_search(task: Task, view: BrowserView) -> Oracle:
    yield from _show_filters(view)
    yield from fill(view, "#search", task.params["what"])
    yield from _filter(view)


def _make_count(seed: int) -> Task:
    random_ = rng("budget_count_paid", seed)
    made = group(random_, members=6, bills=48)
    payer = random_.choice(names(made))
    limit = random_.choice((30, 40, 50, 60, 75, 90))
    paid = [b for b in made["bills"] if b["payer"] == payer]
    above = sum(b["amount"] > limit for b in paid)
    instruction = random_.choice(
        (
            f"How many bills of more than {limit}.00 did {payer} pay in {made['name']}?",
            f"Count the bills in this group that {payer} paid and that are over {limit}.00 each.",
        )
    )
    return group_task(
        "budget_count_paid", seed, "medium", instruction, made, payer=payer, limit=limit, want=above,
        right=[str(above), f"{payer} paid {above} such bills."],
        wrong=[str(len(paid) if len(paid) != above else above + 2), str(above + 1)],
    )  # fmt: skip


def _see_payer(task: Task, view: BrowserView) -> Oracle:
    yield from _show_filters(view)
    yield from choose(view, "#filterCollapse #payer", task.params["payer"])
    yield from fill(view, "#amount_min", str(task.params["limit"]))
    yield from _filter(view)


def _make_left_out(seed: int) -> Task:
    random_ = rng("budget_left_out", seed)
    while True:
        made = group(random_, members=5, bills=36)
        when, name = month(random_.choice(made["bills"])), random_.choice(names(made))
        of_month = [b for b in made["bills"] if month(b) == when]
        out = [b["what"] for b in of_month if name not in b["owers"]]
        taken = {b["what"] for b in of_month if name in b["owers"]}
        if 2 <= len(out) <= 4 and len(set(out)) == len(out) and taken - set(out):
            break
    lowest = made["bills"].index(of_month[0])
    other = random_.choice(sorted(taken - set(out)))
    instruction = random_.choice(
        (
            f"Which bills of {when} does {name} not take part in? List what they were for.",
            f'In {made["name"]}, {name} had no share in some of the bills of {when}. What were those for (the "For '
            'what?" column)?',
        )
    )
    return group_task(
        "budget_left_out", seed, "medium", instruction, made, want=out, row=row(made, lowest),
        right=[", ".join(out), "They are:\n" + "\n".join(f"- {what}" for what in reversed(out))],
        wrong=[", ".join(out[1:]), ", ".join([*out, other])],
    )  # fmt: skip


def _all_of(task: Task) -> Want:
    return SetOf(tuple(Text(what) for what in task.params["want"]))


# -- what must be worked out -------------------------------------------------------------------------------------------


def _make_share(seed: int) -> Task:
    random_ = rng("budget_share", seed)
    while True:
        made = group(random_, members=5, bills=30, weights=True)
        number, bill = one_bill(random_, made)
        heavy = [name for name in bill["owers"] if weights(made)[name] > 1]
        if heavy and len(bill["owers"]) > 1:
            break
    name = random_.choice(heavy)
    part = share(made, bill, name)
    each = round(float(part / weights(made)[name]), 2)
    shown = weights(made)[name] * each
    equal = round(bill["amount"] / len(bill["owers"]), 2)
    plain = bill["amount"] if equal in (round(float(part), 2), round(shown, 2)) else equal
    instruction = random_.choice(
        (
            f'What is {name}\'s share (in euros) of the bill for "{bill["what"]}" of {day(bill)}? In this group some '
            "members count for several people: their weights stand beside their names.",
            f'How many euros of the bill "{bill["what"]}" ({day(bill)}) does {name} have to carry, given the weights '
            f"of the members of {made['name']}?",
        )
    )
    return group_task(
        "budget_share", seed, "hard", instruction, made, row=row(made, number),
        rounded=f"{shown:.2f}", **_money_texts(round(float(part), 2), [each, plain], f"{name} carries {{}}."),
    )  # fmt: skip


def _share(task: Task) -> Want:
    """To the cent, or so many times what the page shows a single weight to carry."""
    return OneOf(Money(task.params["want"], CURRENCY), Money(task.params["rounded"], CURRENCY))


def _make_all_groups(seed: int) -> Task:
    random_ = rng("budget_all_groups", seed)
    name = random_.choice(NAMES)
    made = [_with(random_, kind, name) for kind in random_.sample(sorted(KINDS), 3)]
    paid = [total(b for b in g["bills"] if b["payer"] == name) for g in made]
    instruction = random_.choice(
        (
            f"How much has {name} paid for bills altogether in the groups {', '.join(g['name'] for g in made[:2])} and "
            f"{made[2]['name']}? Give one sum in euros.",
            f"{name} is in three groups of mine: {', '.join(g['name'] for g in made)}. Add up what {name} paid in all "
            "three, in euros.",
        )
    )
    return group_task(
        "budget_all_groups", seed, "hard", instruction, *made, groups=[g["name"] for g in made],
        **_money_texts(round(sum(paid), 2), [paid[0], round(paid[0] + paid[1], 2)], f"{name} paid {{}} in all."),
    )  # fmt: skip


def _with(random_: random.Random, kind: str, name: str) -> Group:
    """A group of which somebody is a member who paid something."""
    while True:
        made = group(random_, kind, bills=22)
        if name in {bill["payer"] for bill in made["bills"]}:
            return made


def _see_groups(task: Task, view: BrowserView) -> Oracle:
    yield from follow(view, "nav a.nav-link", "Statistics")
    for name in task.params["groups"][1:]:
        yield [click(view.wait_for("#navbarProjectsLinks"))]
        yield from follow(view, ".dropdown-menu a.dropdown-item", f"switch to {name}")
        yield from follow(view, "nav a.nav-link", "Statistics")


_asks = partial(question, SITE, meddled=_MEDDLED)
FAMILIES = (
    _asks(
        "budget_last_paid", _make_last_paid, lambda task: Day(date.fromisoformat(task.params["want"])), _see_last,
        wrong=("another bill's day", "two days"),
    ),
    _asks("budget_biggest", _make_biggest, _titles, _see_last, wrong=("the second", "two of them")),
    _asks("budget_owes", _make_owes, _owed, _see_settle, wrong=("somebody else's", "a euro more")),
    _asks("budget_months", _make_months, _money, _see_statistics, wrong=("one month", "the sum")),
    _asks("budget_spent_on", _make_spent_on, _money, _see_search, wrong=("before it too", "one left out")),
    _asks("budget_count_paid", _make_count, _number, _see_payer, wrong=("cheap ones too", "one too many")),
    _asks("budget_left_out", _make_left_out, _all_of, _see_last, wrong=("one missing", "one too many")),
    _asks("budget_share", _make_share, _share, _see_last, wrong=("a single weight", "weights forgotten")),
    _asks("budget_all_groups", _make_all_groups, _money, _see_groups, wrong=("one group", "two groups")),
)  # fmt: skip
