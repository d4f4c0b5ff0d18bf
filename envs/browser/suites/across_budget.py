"""Task families across the budget and another site: amounts that are entered, corrected and compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from envs.browser.sites import budget_data, forum_data, wiki_data
from envs.browser.sites.budget_data import Group
from envs.browser.suites import budget_pages, wiki_common
from envs.browser.suites.across_pages import (
    BOOKMARKS,
    BUDGET,
    FORUM,
    WIKI,
    across_task,
    entering,
    other_tab,
    see_club,
    some_club,
)
from envs.browser.suites.bookmarks_pages import fact
from envs.browser.suites.common import (
    Oracle,
    answer,
    click,
    exactly,
    follow,
    reach,
    rng,
    url,
)
from envs.browser.suites.families import Way, change, edited, key_of
from envs.browser.view import BrowserView
from guiforge.action import Answer
from guiforge.env import Final, StateReader
from guiforge.outcome import Verdict
from guiforge.task import Family, StartSite, Task, Variant
from verifiers.answers import Money, check_answer
from verifiers.sites import Added, Edited, Expected, add_row, rows_before, unchanged


def _group(task: Task) -> Group:
    """The group that the task is about, as it was seeded."""
    (step,) = (step for step in task.setup if isinstance(step, StartSite) and step.site == BUDGET)
    group: Group = step.records[0]
    return group


def _where(group: Group) -> str:
    address = url(BUDGET, f"/{group['id']}/")
    return f'the group "{group["name"]}" of the expenses ({address}, the other tab)'


# -- bookmarks to budget: a club's dues --------------------------------------------------------------------------------


def _make_dues(seed: int) -> Task:
    random_ = rng("across_club_dues", seed)
    club, group = some_club(random_), budget_data.group(random_, bills=9)
    payer, what = random_.choice(budget_pages.names(group)), f"Dues of the {club.title}"
    new = budget_data.bill(
        f"2025-06-{random_.randint(10, 28)}", payer, what, float(fact(club, "fee")), budget_pages.names(group)
    )
    instruction = random_.choice(
        (
            f"The link collection tells what a year with the {club.title} costs. On {budget_pages.day(new)} {payer} "
            f'paid that for everyone. Enter it as a bill "{what}" in {_where(group)}.',
            f'Add a bill "{what}" to {_where(group)}: paid by {payer} on {budget_pages.day(new)}, shared by all '
            f"members. Its amount is the yearly fee of the {club.title}, which you find among the bookmarks.",
        )
    )
    return across_task(
        "across_club_dues", seed, "medium", instruction, {BOOKMARKS: "/", BUDGET: f"/{group['id']}/"},
        {BOOKMARKS: [club.record()], BUDGET: [group]}, [budget_pages.BILLS], club=club.title, number=club.id, new=new,
        group=group["id"], members=float(fact(club, "members")),
    )  # fmt: skip


def _dues(task: Task, **columns: Any) -> Variant:
    return edited(BUDGET, bills=[add_row(budget_pages.bill_row(task.params["group"], task.params["new"], **columns))])


def _play_dues(task: Task, view: BrowserView) -> Oracle:
    yield from see_club(task, view)
    yield from other_tab()
    yield from budget_pages.add_bill(view, task.params["new"], budget_pages.names(_group(task)))


# -- wiki to budget: what an instrument really cost --------------------------------------------------------------------


def _make_price(seed: int) -> Task:
    random_ = rng("across_instrument_price", seed)
    group = budget_data.group(random_, bills=11)
    instrument = replace(random_.choice(wiki_data.INSTRUMENTS), price=random_.randint(140, 3900))
    number = random_.randrange(len(group["bills"]))
    group["bills"][number] |= {"what": instrument.name, "amount": instrument.price + random_.choice((-90, -9, 9, 90))}
    instruction = random_.choice(
        (
            f'In {_where(group)} the bill "{instrument.name}" has a wrong amount. The right one is the price of the '
            f"{instrument.name.lower()} that the handbook gives. Correct the bill.",
            f"Look up in the handbook what the {instrument.name.lower()} cost, and set the bill of that name in "
            f"{_where(group)} to this amount.",
        )
    )
    return across_task(
        "across_instrument_price", seed, "medium", instruction,
        {WIKI: "/doku.php?id=start", BUDGET: f"/{group['id']}/"},
        {WIKI: {"editions": [wiki_data.edition(instrument.page, instrument.text)]}, BUDGET: [group]},
        [budget_pages.BILLS], what=instrument.name, group=group["id"], number=number, price=float(instrument.price),
        year=float(instrument.bought), other=group["bills"][number - 1]["what"],
    )  # fmt: skip


def _priced(task: Task, state: StateReader) -> Expected:
    key = key_of(rows_before(state, BUDGET, "bills"), group=task.params["group"], what=task.params["what"])
    return Edited("bills", key, {"amount": task.params["price"]})


def _price(task: Task, what: str, amount: str) -> Variant:
    p = task.params
    return edited(BUDGET, bills=[change({"group": p["group"], "what": p[what]}, amount=p[amount])])


def _play_price(task: Task, view: BrowserView) -> Oracle:
    yield from wiki_common.open_page(view, "Instruments", task.params["what"])
    yield from other_tab()
    yield from budget_pages.edit_bill(view, _group(task), task.params["number"])
    yield from budget_pages.fill_bill(view, amount=task.params["price"])
    yield from budget_pages.save(view)


# -- forum and budget: a difference ------------------------------------------------------------------------------------


def _make_saving(seed: int) -> Task:
    random_ = rng("across_price_difference", seed)
    group, goods = budget_data.group(random_, bills=14), random_.choice(forum_data.GOODS[8:])
    price = random_.randint(15, 90)
    saving = random_.randint(11, 80)
    number = random_.randrange(len(group["bills"]))
    group["bills"][number] |= {"what": goods, "amount": float(price + saving)}
    users = [user for user in forum_data.USERS if user != forum_data.ADMIN]
    topic = forum_data.offer(random_, random_.choice(users), goods, price, users)
    instruction = random_.choice(
        (
            f'A member of the forum sells this: "{goods}". The bill "{goods}" in {_where(group)} shows what we paid '
            "for the same thing. How much less does the member ask for it?",
            f'Compare the price of "{goods}" in the forum\'s offers with the amount of the bill "{goods}" in '
            f"{_where(group)}. By how many EUR is the forum cheaper?",
        )
    )
    return across_task(
        "across_price_difference", seed, "medium", instruction, {FORUM: "/", BUDGET: f"/{group['id']}/"},
        {FORUM: {"topics": [topic]}, BUDGET: [group]}, goods=goods, group=group["id"], number=number,
        saving=str(saving), price=str(price), paid=str(price + saving),
    )  # fmt: skip


def _verify_saving(task: Task, final: Final) -> Verdict:
    return Verdict.of(
        check_answer("answer", final.end, Money(task.params["saving"], "EUR"), given=task.instruction),
        unchanged("sites", final.state, FORUM, BUDGET),
    )


def _play_saving(task: Task, view: BrowserView) -> Oracle:
    yield [click(view.wait_for("a", "All Categories"))]
    yield from follow(view, ".menu_list a", "For sale")
    yield from follow(view, "a", exactly(task.params["goods"]))
    yield from other_tab()
    yield from reach(view, budget_pages.row(_group(task), task.params["number"]))
    yield answer(f"{task.params['saving']} EUR")


def _answers(text: str) -> Way:
    """The answer, `{}`-fields being the task's parameters."""
    return lambda task: Variant(end=Answer(text=text.format(**task.params)))


FAMILIES = (
    entering(
        "across_club_dues", _make_dues, BOOKMARKS, BUDGET,
        lambda task, state: Added("bills", budget_pages.bill_row(task.params["group"], task.params["new"])), _play_dues,
        solutions={"entered": _dues},
        near_misses={
            "the number of members": lambda task: _dues(task, amount=task.params["members"]),
            "for the payer alone": lambda task: _dues(task, owers=[task.params["new"]["payer"]]),
        },
    ),
    entering(
        "across_instrument_price", _make_price, WIKI, BUDGET, _priced, _play_price,
        solutions={"corrected": lambda task: _price(task, "what", "price")},
        near_misses={
            "the year instead": lambda task: _price(task, "what", "year"),
            "another bill": lambda task: _price(task, "other", "price"),
        },
    ),
    Family(
        "across_price_difference", _make_saving, _verify_saving, _play_saving,
        solutions={"short": _answers("{saving}"), "in a sentence": _answers("It is {saving} EUR cheaper.")},
        near_misses={
            "the price": _answers("{price} EUR"),
            "what was paid": _answers("{paid}"),
            "and it changed something": lambda task: Variant(
                _price(task, "goods", "paid").edits, Answer(text=task.params["saving"])
            ),
        },
    ),
)  # fmt: skip
