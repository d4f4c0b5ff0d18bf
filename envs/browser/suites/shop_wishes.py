"""Task families about what the shop's customer wishes for: wish lists, and alerts of what is sold out."""

from __future__ import annotations

from typing import Any

from envs.browser.sites.shop_data import PRODUCTS, listed
from envs.browser.suites.common import Oracle, choose, click, fill, follow, press, reach, rng
from envs.browser.suites.families import Step, Way, change, changing, edited, key_of
from envs.browser.suites.shop_pages import (
    ALERTS,
    LIST_NAMES,
    SHELVES,
    SITE,
    WISHES,
    Goods,
    find_product,
    open_account,
    open_shelf,
    picture,
    shop_task,
    titles,
    wish_for,
)
from envs.browser.view import BrowserView
from guiforge.env import StateReader
from guiforge.task import Task
from verifiers.sites import Added, Edited, Expected, Rows, add_row, rows_before

_VISIBLE = {
    "Private": ("that only I can see", "Private - Only the owner can see the wish list"),
    "Public": ("that everybody can see", "Public - Everybody can see the wish list"),
}


# -- wish lists --------------------------------------------------------------------------------------------------------


def _make_new(seed: int) -> Task:
    goods = Goods(rng("shop_new_wish_list", seed))
    name, other = goods.random.sample(LIST_NAMES, 2)
    one, two, *beside = goods.some(5)
    visible = goods.pick(list(_VISIBLE))
    who = _VISIBLE[visible][0]
    instruction = goods.pick(
        (
            f'Make a new wish list "{name}" {who}, and put "{one.title}" and "{two.title}" on it.',
            f'I need a wish list named "{name}", one {who}, with these two products: "{one.title}", "{two.title}".',
        )
    )
    return shop_task(
        "shop_new_wish_list", seed, "medium", instruction, goods, writes=(WISHES,),
        records={"wish_lists": {other: [product.upc for product in beside]}}, name=name, other=other, visible=visible,
        wrong=next(kind for kind in _VISIBLE if kind != visible), titles=titles((one, two)),
        there={product.title: 1 for product in beside},
    )  # fmt: skip


def _new_list(task: Task, state: StateReader) -> list[Expected]:
    return [Added("wish_lists", _list(task, task.params["visible"]))]


def _list(task: Task, visible: str, off: int = 0) -> dict[str, Any]:
    """The row of the new list, without some of its products."""
    return {
        "name": task.params["name"], "visibility": visible, "products": dict.fromkeys(task.params["titles"][off:], 1)
    }  # fmt: skip


def _made(key: str = "visible", off: int = 0) -> Way:
    return lambda task: edited(SITE, wish_lists=[add_row(_list(task, task.params[key], off))])


def _on_other(task: Task) -> Any:
    """The products are on the list that was there instead."""
    products = task.params["there"] | dict.fromkeys(task.params["titles"], 1)
    return edited(SITE, wish_lists=[change({"name": task.params["other"]}, products=products)])


def _play_new(task: Task, view: BrowserView) -> Oracle:
    at = task.params
    yield from open_account(view, "Wish Lists")
    yield from follow(view, "a", "Create a new wish list")
    yield from fill(view, "#id_name", at["name"])
    if at["visible"] != "Private":
        yield from choose(view, "#id_visibility", _VISIBLE[at["visible"]][1])
    yield [press("End")]
    yield from follow(view, "form button[type=submit]", "Save")
    for title in at["titles"]:
        yield from find_product(view, title)
        yield from wish_for(view, at["name"])


def _make_clear(seed: int) -> Task:
    goods = Goods(rng("shop_clear_wish_list", seed))
    name, other = goods.random.sample(LIST_NAMES, 2)
    wished = goods.random.sample(PRODUCTS, 5)
    beside = goods.some(2, besides=wished)
    gone = goods.random.sample(wished, 2)
    goods.sell_out([*gone, beside[0]])
    instruction = goods.pick(
        (
            f'Take everything that is sold out at the moment off my wish list "{name}"; the rest stays on it.',
            f'Some of what is on the wish list "{name}" can\'t be had any more (unavailable). Remove that, and only '
            "that, from this list.",
        )
    )
    on, off = titles(wished), titles(gone)
    stays = next(title for title in on if title not in off)
    return shop_task(
        "shop_clear_wish_list", seed, "hard", instruction, goods, writes=(WISHES,),
        records={"wish_lists": {name: [p.upc for p in wished], other: [p.upc for p in beside]}}, name=name, off=off,
        look=on, want=_ones(on, off), most=_ones(on, off[:1]), fewer=_ones(on, [*off, stays]),
    )  # fmt: skip


def _ones(on: list[str], off: list[str]) -> dict[str, int]:
    """What stays on a list, one piece of each."""
    return {title: 1 for title in on if title not in off}


def _cleared(task: Task, state: StateReader) -> list[Expected]:
    key = key_of(rows_before(state, SITE, "wish_lists"), name=task.params["name"])
    return [Edited("wish_lists", key, {"products": task.params["want"]})]


def _holds(key: str) -> Way:
    """An end in which the list holds what a parameter names."""
    return lambda task: edited(SITE, wish_lists=[change({"name": task.params["name"]}, products=task.params[key])])


def _play_clear(task: Task, view: BrowserView) -> Oracle:
    yield from open_account(view, "Wish Lists", task.params["name"])
    for title in task.params["off"]:
        row = f"tr:has({picture(title, 'td')})"
        yield [click((yield from reach(view, f"{row} .dropdown-toggle")))]
        yield from follow(view, f"{row} .dropdown-item", "Remove")
        yield from follow(view, "form button", "Remove")


# -- alerts -----------------------------------------------------------------------------------------------------------


def _make_tell(seed: int) -> Task:
    goods = Goods(rng("shop_tell_me", seed))
    shelf, other_shelf = goods.random.sample(SHELVES, 2)
    product, other = goods.pick(listed(shelf)), goods.pick(listed(other_shelf))
    goods.sell_out([product, other])
    instruction = goods.pick(
        (
            f'One product under "{shelf}" is sold out. Have the shop notify me when it is back in stock.',
            f'Find what is unavailable in the category "{shelf}", and sign me up for the alert that it is back.',
        )
    )
    return shop_task(
        "shop_tell_me", seed, "easy", instruction, goods, writes=(ALERTS,), shelf=shelf, title=product.title,
        other=other.title,
    )  # fmt: skip


def _alert(title: str) -> dict[str, str]:
    return {"product": title, "status": "Active", "email": ""}


def _alerted(task: Task, state: StateReader) -> list[Expected]:
    return [Added("stock_alerts", _alert(task.params["title"]))]


def _alerts(*keys: str) -> Way:
    """An end with alerts of the products that parameters name."""

    def way(task: Task) -> Any:
        steps: list[Step] = [add_row(_alert(task.params[key])) for key in keys]
        return edited(SITE, stock_alerts=steps)

    return way


def _play_tell(task: Task, view: BrowserView) -> Oracle:
    yield from open_shelf(view, task.params["shelf"])
    yield from follow(view, picture(task.params["title"], ".product_pod"))
    yield from follow(view, "#alert_form button")


def _removed_all(rows: Rows) -> None:
    rows.clear()


FAMILIES = (
    changing(
        SITE, "shop_new_wish_list", _make_new, _new_list, _play_new,
        solutions={"made": _made()},
        near_misses={
            "other people see it": _made("wrong"), "one product missing": _made(off=1), "on the old one": _on_other
        },
    ),
    changing(
        SITE, "shop_clear_wish_list", _make_clear, _cleared, _play_clear,
        solutions={"cleared": _holds("want")},
        near_misses={
            "one left": _holds("most"),
            "one too many": _holds("fewer"),
            "no list any more": lambda task: edited(SITE, wish_lists=[_removed_all]),
        },
    ),
    changing(
        SITE, "shop_tell_me", _make_tell, _alerted, _play_tell,
        solutions={"alerted": _alerts("title")},
        near_misses={"another product": _alerts("other"), "two products": _alerts("title", "other")},
    ),
)  # fmt: skip
