"""Task families that set the budget site's bills right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from envs.browser.sites.budget_data import bill, group
from envs.browser.suites.budget_pages import (
    BILLS,
    SITE,
    add_bill,
    bill_key,
    bill_row,
    day,
    edit_bill,
    fill_bill,
    group_task,
    known,
    money,
    names,
    one_bill,
    row,
    save,
    seeded,
)  # fmt: skip
from envs.browser.suites.common import DONE, Oracle, click, follow, reach, rng
from envs.browser.suites.families import Step, Way, change, changing, drop, edited
from envs.browser.view import BrowserView
from guiforge.env import Final, StateReader
from guiforge.outcome import Verdict
from guiforge.task import Family, Task
from verifiers.sites import Added, Edited, Expected, Removed, Rows, add_row, check_only, rows_before


def _bills(*steps: Callable[[Task], Step]) -> Way:
    """An end with these steps on the table of bills."""
    return lambda task: edited(SITE, bills=[step(task) for step in steps])


def _amount(new: Callable[[Task], float], off: int = 0) -> Callable[[Task], Step]:
    """The task's bill, or one so many places after it, has another amount."""
    return lambda task: change(known(task, task.params["number"] + off), amount=new(task))


def _enter(**columns: Any) -> Callable[[Task], Step]:
    """The task's new bill is there, with these columns different."""
    return lambda task: add_row(bill_row(task.params["group"], task.params["new"], **columns))


def _new_amount(task: Task) -> float:
    amount: float = task.params["amount"]
    return amount


# -- the amount of a bill ----------------------------------------------------------------------------------------------


def _make_fix_amount(seed: int) -> Task:
    random_ = rng("budget_fix_amount", seed)
    made = group(random_, bills=30)
    number, found = one_bill(random_, made)
    new = round(found["amount"] + random_.choice((-1, 1)) * random_.choice((0.9, 2.7, 3.6, 4.5)), 2)
    instruction = random_.choice(
        (
            f'The bill for "{found["what"]}" of {day(found)} in {made["name"]} was {money(new)}, not '
            f"{money(found['amount'])}. Correct it.",
            f'Change the amount of the bill "{found["what"]}" dated {day(found)} to {money(new)}.',
            f'Somebody mistyped: on {day(found)}, "{found["what"]}" cost {money(new)}. Set the bill right, and nothing '
            "else.",
        )
    )
    return group_task(
        "budget_fix_amount", seed, "easy", instruction, made, writes=(BILLS,), number=number, amount=new
    )  # fmt: skip


def _fixed_amount(task: Task, state: StateReader) -> list[Expected]:
    return [Edited("bills", bill_key(task, state, task.params["number"]), {"amount": task.params["amount"]})]


def _play_fix_amount(task: Task, view: BrowserView) -> Oracle:
    yield from edit_bill(view, seeded(task), task.params["number"])
    yield from fill_bill(view, amount=task.params["amount"])
    yield from save(view)


# -- a new bill --------------------------------------------------------------------------------------------------------


def _make_add_bill(seed: int) -> Task:
    random_ = rng("budget_add_bill", seed)
    made = group(random_, members=5, bills=26)
    owers = sorted(random_.sample(names(made), random_.randint(2, 4)))
    what = random_.choice(("Concert tickets", "Taxi home", "Locksmith", "Birthday cake", "First-aid kit", "Padlock"))
    amount = random_.randint(1100, 9900) / 100
    new = bill(f"2025-05-{random_.randint(12, 30)}", random_.choice(names(made)), what, amount, owers)
    whom = " and ".join([", ".join(owers[:-1]), owers[-1]])
    instruction = random_.choice(
        (
            f'Enter a bill in {made["name"]}: on {day(new)} {new["payer"]} paid {money(amount)} for "{what}". It is '
            f"shared by {whom} only.",
            f'Please add this expense to the group: "{what}", {money(amount)}, paid by {new["payer"]} on {day(new)}, '
            f"for {whom} (nobody else).",
        )
    )
    return group_task("budget_add_bill", seed, "medium", instruction, made, writes=(BILLS,), new=new)


def _added_bill(task: Task, state: StateReader) -> list[Expected]:
    return [Added("bills", bill_row(task.params["group"], task.params["new"]))]


def _play_add_bill(task: Task, view: BrowserView) -> Oracle:
    yield from add_bill(view, task.params["new"], names(seeded(task)))


def _for_everyone(task: Task) -> Step:
    return _enter(owers=names(seeded(task)))(task)


# -- a bill that was entered twice -------------------------------------------------------------------------------------


def _make_duplicate(seed: int) -> Task:
    random_ = rng("budget_duplicate", seed)
    made = group(random_, bills=32)
    number, found = one_bill(random_, made)
    made["bills"].insert(number, dict(found))
    instruction = random_.choice(
        (
            f"In {made['name']} one bill was entered twice by mistake: same day, same payer, same amount. Find it and "
            "delete one of the two.",
            "Two bills of this group are exactly alike. Remove one of them, so that the bill is there once.",
        )
    )
    return group_task("budget_duplicate", seed, "medium", instruction, made, writes=(BILLS,), number=number)


def _verify_duplicate(task: Task, final: Final) -> Verdict:
    """Either of the two is gone."""
    twin = known(task, task.params["number"])
    keys = [key for key, made in rows_before(final.state, SITE, "bills").items() if twin.items() <= made.items()]
    checks = [check_only("data", final.state, SITE, [Removed("bills", key)]) for key in keys]
    return Verdict.of(next((check for check in checks if check[1]), checks[0]))


def _play_duplicate(task: Task, view: BrowserView) -> Oracle:
    button = row(seeded(task), task.params["number"], ".delete-bill button")
    yield [click((yield from reach(view, button)))]
    yield from follow(view, f"{button}.confirm")
    yield [DONE]


def _without(off: int) -> Callable[[Task], Step]:
    return lambda task: drop(known(task, task.params["number"] + off))


def _without_later(task: Task) -> Step:
    def step(rows: Rows) -> None:
        twin = known(task, task.params["number"])
        del rows[[key for key, made in rows.items() if twin.items() <= made.items()][-1]]

    return step


# -- a receipt that holds something for one member ---------------------------------------------------------------------


def _make_split(seed: int) -> Task:
    random_ = rng("budget_split_receipt", seed)
    while True:
        made = group(random_, members=5, bills=26)
        number, found = one_bill(random_, made)
        if found["amount"] > 15:
            break
    name = random_.choice([n for n in names(made) if n != found["payer"]])
    part = round(found["amount"] * random_.randint(20, 60) / 100, 1)
    what = random_.choice(("Slippers", "Notebook", "Headphones", "Shaving foam", "Sunglasses", "Phone case"))
    new = bill(found["date"], found["payer"], what, part, [name])
    instruction = random_.choice(
        (
            f'The receipt "{found["what"]}" of {day(found)}, {money(found["amount"])}, held something for {name} '
            f'alone: "{what}" for {money(part)}. Take that off the bill, and enter it as a bill of its own with the '
            f"same day and payer, for {name} only.",
            f'Split the bill "{found["what"]}" of {day(found)} in {made["name"]}: {money(part)} of it were for '
            f'"{what}", which is {name}\'s alone. Lower the bill by that, and add a bill "{what}" of the same day, '
            f"paid by the same person, which only {name} takes part in.",
        )
    )
    return group_task(
        "budget_split_receipt", seed, "hard", instruction, made, writes=(BILLS,), number=number, new=new,
        amount=round(found["amount"] - part, 2),
    )  # fmt: skip


def _split(task: Task, state: StateReader) -> list[Expected]:
    return [*_fixed_amount(task, state), *_added_bill(task, state)]


def _play_split(task: Task, view: BrowserView) -> Oracle:
    yield from _play_fix_amount(task, view)
    yield from _play_add_bill(task, view)


def _whole_amount(task: Task) -> float:
    amount: float = seeded(task)["bills"][task.params["number"]]["amount"]
    return amount


FAMILIES = (
    changing(
        SITE, "budget_fix_amount", _make_fix_amount, _fixed_amount, _play_fix_amount,
        solutions={"corrected": _bills(_amount(_new_amount))},
        near_misses={
            "another bill": _bills(_amount(_new_amount, off=1)),
            "another amount": _bills(_amount(lambda task: _new_amount(task) + 1)),
            "the title instead": _bills(lambda task: change(known(task, task.params["number"]), what="Bill")),
        },
    ),
    changing(
        SITE, "budget_add_bill", _make_add_bill, _added_bill, _play_add_bill,
        solutions={"entered": _bills(_enter())},
        near_misses={
            "for everyone": _bills(_for_everyone),
            "today": _bills(_enter(date="2026-01-01")),
            "twice": _bills(_enter(), _enter()),
        },
    ),
    Family(
        "budget_duplicate", _make_duplicate, _verify_duplicate, _play_duplicate,
        solutions={"the first of them": _bills(_without(0)), "the second": _bills(_without_later)},
        near_misses={"both": _bills(_without(0), _without(0)), "another": _bills(_without(2))},
    ),
    changing(
        SITE, "budget_split_receipt", _make_split, _split, _play_split,
        solutions={"split": _bills(_amount(_new_amount), _enter())},
        near_misses={
            "only added": _bills(_enter()),
            "only lowered": _bills(_amount(_new_amount)),
            "for everyone": _bills(_amount(_new_amount), _for_everyone),
            "put down as the whole": _bills(_amount(_whole_amount), _enter(owers=[])),
        },
    ),
)  # fmt: skip
