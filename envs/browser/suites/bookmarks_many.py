"""Task families that change many links of the bookmarks site at once: a tag's name, who sees them, deletion."""

from __future__ import annotations

from dataclasses import replace

from envs.browser.sites.bookmarks_data import EXTRA_TAGS, HOBBIES, base, collection, fresh
from envs.browser.suites.bookmarks_pages import (
    SITE,
    changed,
    confirmed,
    edits,
    fill_tags,
    item,
    records,
    removes,
    search,
    sets,
    tagged,
)
from envs.browser.suites.common import Oracle, click, follow, reach, rng
from envs.browser.suites.families import Step, changing
from envs.browser.view import BrowserView
from guiforge.env import StateReader
from guiforge.task import Task
from verifiers.sites import Edited, Expected, Removed, Rows, rows_before

# -- a tag's new name --------------------------------------------------------------------------------------------------


def _make_rename(seed: int) -> Task:
    random_ = rng("bookmarks_rename_tag", seed)
    old = random_.choice([*EXTRA_TAGS, *HOBBIES])
    new = f"{random_.choice(('our', 'my', 'all', 'best'))}-{old}"
    added = fresh(random_, 6)
    instruction = random_.choice(
        (
            f'Rename the tag "{old}" to "{new}" throughout the collection.',
            f'I no longer like the tag "{old}". Everything that has it should be tagged "{new}" instead.',
        )
    )
    numbers = [b.id for b in tagged(collection(records(*added)), old)]
    return changed("bookmarks_rename_tag", seed, "easy", instruction, added, old=old, new=new, numbers=numbers)


def _retagged(task: Task, number: int, *more: str) -> Step:
    """Give a bookmark the new tag instead of the old (and more besides)."""

    def step(rows: Rows) -> None:
        tags = set(rows[str(number)]["tags"]) - {task.params["old"]} | {task.params["new"], *more}
        rows[str(number)]["tags"] = sorted(tags)

    return step


def _renamed(task: Task, state: StateReader) -> list[Expected]:
    old, new = task.params["old"], task.params["new"]
    return [
        Edited("bookmarks", key, {"tags": sorted({*row["tags"]} - {old} | {new})})
        for key, row in rows_before(state, SITE, "bookmarks").items()
        if old in row["tags"]
    ]


def _play_rename(task: Task, view: BrowserView) -> Oracle:
    yield from follow(view, "#shaarli-menu-tools a")
    yield from follow(view, 'a[href$="/admin/tags"]')
    yield from fill_tags(view, '[name="fromtag"]', task.params["old"])
    yield from fill_tags(view, '[name="totag"]', task.params["new"])
    yield from follow(view, '[name="renametag"]')


# -- out of sight, out of the collection -------------------------------------------------------------------------------


def _make_hide(seed: int) -> Task:
    random_ = rng("bookmarks_hide", seed)
    hobby = random_.choice(list(HOBBIES))
    links = [replace(b, private=False) for b in tagged(base(), hobby)]
    hidden = random_.sample([b for b in links if "club" not in b.tags], 2)
    links = [replace(b, private=b in hidden) for b in links]
    clubs = [b.id for b in links if "club" in b.tags]
    rest = [b.id for b in links if not b.private and b.id not in clubs]
    instruction = random_.choice(
        (
            f"Make every {hobby} club in the collection private. The other {hobby} links stay as they are.",
            f'Nobody but me should see the bookmarks that are tagged both "{hobby}" and "club". Set them to private.',
        )
    )
    return changed("bookmarks_hide", seed, "medium", instruction, links, tags=f"{hobby} club", numbers=clubs, rest=rest)


def _hidden(task: Task, state: StateReader) -> list[Expected]:
    return [Edited("bookmarks", str(n), {"private": True}) for n in task.params["numbers"]]


def _play_hide(task: Task, view: BrowserView) -> Oracle:
    yield from search(view, tags=task.params["tags"])
    for number in task.params["numbers"]:
        box = yield from reach(view, item(number, ".link-checkbox"))
        yield [click(box)]
    yield from follow(view, '.actions-change-visibility[data-visibility="private"]')


def _make_prune(seed: int) -> Task:
    random_ = rng("bookmarks_prune", seed)
    word = random_.choice(("closed", "gone", "dead", "outdated"))
    links = random_.sample([b for b in base() if b.url and "gift" not in b.tags], 7)
    gone, kept = links[: random_.randint(2, 4)], links[5:]
    links = [
        *(replace(b, tags=(*b.tags, word)) for b in gone),
        *(replace(b, tags=(*b.tags, word, "gift")) for b in kept),
    ]
    instruction = random_.choice(
        (
            f'Delete all bookmarks tagged "{word}", except those that are also tagged "gift".',
            f'Clear out what has the tag "{word}": delete those bookmarks. Only what is tagged "gift" too stays.',
        )
    )
    return changed(
        "bookmarks_prune", seed, "medium", instruction, links, word=word, numbers=[b.id for b in gone],
        kept=[b.id for b in kept],
    )  # fmt: skip


def _pruned(task: Task, state: StateReader) -> list[Expected]:
    return [Removed("bookmarks", str(n)) for n in task.params["numbers"]]


def _play_prune(task: Task, view: BrowserView) -> Oracle:
    yield from search(view, tags=f"{task.params['word']} -gift")
    for number in task.params["numbers"]:
        yield from confirmed(view, item(number, ".ctrl-delete a"))


FAMILIES = (
    changing(
        SITE,
        "bookmarks_rename_tag",
        _make_rename,
        _renamed,
        _play_rename,
        solutions={"renamed": lambda task: edits(*(_retagged(task, n) for n in task.params["numbers"]))},
        near_misses={
            "the last forgotten": lambda task: edits(*(_retagged(task, n) for n in task.params["numbers"][:-1])),
            "the old one kept": lambda task: edits(
                *(_retagged(task, n, task.params["old"]) for n in task.params["numbers"])
            ),
        },
    ),
    changing(
        SITE,
        "bookmarks_hide",
        _make_hide,
        _hidden,
        _play_hide,
        solutions={"hidden": lambda task: sets(task.params["numbers"], private=True)},
        near_misses={
            "one still shows": lambda task: sets(task.params["numbers"][1:], private=True),
            "others hidden too": lambda task: sets([*task.params["numbers"], *task.params["rest"]], private=True),
        },
    ),
    changing(
        SITE,
        "bookmarks_prune",
        _make_prune,
        _pruned,
        _play_prune,
        solutions={"pruned": lambda task: removes(*task.params["numbers"])},
        near_misses={
            "a gift too": lambda task: removes(*task.params["numbers"], task.params["kept"][0]),
            "one left": lambda task: removes(*task.params["numbers"][1:]),
        },
    ),
)
