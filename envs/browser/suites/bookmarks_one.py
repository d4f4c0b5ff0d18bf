"""Task families that change one or two links of the bookmarks site: add, correct, pin, merge, write a note."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from envs.browser.sites.bookmarks_data import EXTRA_TAGS, HALLS, HOBBIES, WEEKDAYS, address, base, fresh
from envs.browser.suites.bookmarks_pages import (
    SITE,
    add,
    changed,
    confirmed,
    edit,
    edits,
    fact,
    fill_tags,
    item,
    removes,
    save,
    search,
    sets,
    tagged,
)
from envs.browser.suites.common import Oracle, fill, follow, reach, rng
from envs.browser.suites.families import changing
from envs.browser.view import BrowserView
from guiforge.env import StateReader
from guiforge.task import Task, Variant
from verifiers.sites import (
    Added,
    Edited,
    Expected,
    Like,
    Removed,
    add_row,
    one_of,
    remove_row,
    same_text,
    set_columns,
)

# -- a new link --------------------------------------------------------------------------------------------------------


def _make_add(seed: int) -> Task:
    random_ = rng("bookmarks_add", seed)
    (new,) = fresh(random_, 1)
    tags = [*new.tags[:2], *random_.sample(EXTRA_TAGS, 1)]
    private = seed % 2 == 1
    seen = "It is for my eyes only, so make it private." if private else "Everybody may see it."
    instruction = random_.choice(
        (
            f'Add a bookmark for {new.url} with the title "{new.title}" and the tags {", ".join(tags)}. Leave its '
            f"description empty. {seen}",
            f'Save the link {new.url} in the collection: call it "{new.title}", tag it {" and ".join(tags)}, no '
            f"description. {seen}",
        )
    )
    return changed(
        "bookmarks_add", seed, "easy", instruction, url=new.url, title=new.title, tags=sorted(tags), private=private
    )


def _row(task: Task) -> dict[str, Any]:
    return {key: task.params[key] for key in ("url", "title", "tags", "private")}


def _address(task: Task) -> Like:
    return one_of(task.params["url"], task.params["url"].rstrip("/"))


def _play_add(task: Task, view: BrowserView) -> Oracle:
    p = task.params
    yield from add(view, p["url"], p["title"], p["tags"], private=p["private"])


# -- a club that moved -------------------------------------------------------------------------------------------------


def _make_moved(seed: int) -> Task:
    random_ = rng("bookmarks_club_moved", seed)
    club = random_.choice(tagged(base(), "club"))
    place, day = random_.choice(HALLS), random_.choice(WEEKDAYS)
    text = f"Meets every {day} at {random_.randint(16, 21)}:45 in the {place}. Guests are welcome."
    url = f"https://{random_.choice(('club', 'home', 'new'))}.{address(club.title).removeprefix('https://')}"
    instruction = random_.choice(
        (
            f"The {club.title} have a new site, {url}, and new hours. Correct their bookmark: that address, and as its "
            f'whole description "{text}" Title, tags and all else stay.',
            f'Change the entry "{club.title}": its address is now {url}, and its description shall be just "{text}"',
        )
    )
    return changed(
        "bookmarks_club_moved", seed, "medium", instruction, number=club.id, title=club.title, url=url, text=text
    )


def _play_moved(task: Task, view: BrowserView) -> Oracle:
    yield from search(view, task.params["title"])
    yield from edit(view, task.params["number"])
    yield from fill(view, "#lf_url", task.params["url"])
    yield from fill(view, "#lf_description", task.params["text"])
    yield from save(view)


def _moved(task: Task, state: StateReader) -> list[Expected]:
    p = task.params
    return [Edited("bookmarks", str(p["number"]), {"url": _address(task), "description": same_text(p["text"])})]


# -- what lies on top --------------------------------------------------------------------------------------------------


def _make_pin(seed: int) -> Task:
    random_ = rng("bookmarks_pin", seed)
    old, new, other = random_.sample([b for b in base() if b.url], 3)
    instruction = random_.choice(
        (
            f'"{old.title}" need not be sticky any more. Pin "{new.title}" to the top of the list instead.',
            f'Put "{new.title}" on top of the link list as the only sticky bookmark; "{old.title}" is that now.',
        )
    )
    return changed(
        "bookmarks_pin", seed, "medium", instruction, [replace(old, sticky=True)], old=old.id, new=new.id,
        other=other.id, old_title=old.title, new_title=new.title,
    )  # fmt: skip


def _pinned(task: Task, state: StateReader) -> list[Expected]:
    return [
        Edited("bookmarks", str(task.params["old"]), {"sticky": False}),
        Edited("bookmarks", str(task.params["new"]), {"sticky": True}),
    ]


def _play_pin(task: Task, view: BrowserView) -> Oracle:
    for which in ("old", "new"):
        yield from search(view, task.params[f"{which}_title"])
        yield from follow(view, item(task.params[which], ".ctrl-pin a"))


# -- two entries for one thing -----------------------------------------------------------------------------------------


def _make_merge(seed: int) -> Task:
    random_ = rng("bookmarks_merge", seed)
    club = random_.choice(tagged(base(), "club"))
    few, more = random_.sample(EXTRA_TAGS, 3)[:1], random_.sample(["music", "evening", "outdoors", "family"], 2)
    kept = replace(club, tags=(*club.tags[:2], *few), private=False)
    (new,) = fresh(random_, 1)
    double = replace(
        new, url=club.url.replace("https://", "http://www."), title=club.title, tags=(club.tags[0], *more),
        description="See the other entry.", private=False,
    )  # fmt: skip
    instruction = random_.choice(
        (
            f"The {club.title} are in the collection twice. Keep the entry that tells when they meet, give it the "
            "tags that only the other one has in addition to its own, and delete the other.",
            f'There are two bookmarks called "{club.title}". Delete the one that says "See the other entry.", but '
            "first add those of its tags to the remaining one that it lacks.",
        )
    )
    return changed(
        "bookmarks_merge", seed, "hard", instruction, [kept, double], title=club.title, kept=kept.id, double=double.id,
        own=sorted(kept.tags), more=more, tags=sorted({*kept.tags, *more}),
    )  # fmt: skip


def _merged(task: Task, state: StateReader) -> list[Expected]:
    p = task.params
    return [Edited("bookmarks", str(p["kept"]), {"tags": p["tags"]}), Removed("bookmarks", str(p["double"]))]


def _play_merge(task: Task, view: BrowserView) -> Oracle:
    yield from search(view, task.params["title"])
    yield from edit(view, task.params["kept"])
    yield from fill_tags(view, "#lf_tags", " ".join([*task.params["own"], *task.params["more"]]))
    yield from save(view)
    yield from confirmed(view, item(task.params["double"], ".ctrl-delete a"))


def _both_tagged(task: Task, keep: str, drop: str) -> Variant:
    p = task.params
    return edits(set_columns(str(p[keep]), tags=p["tags"]), remove_row(str(p[drop])))


# -- a note of what was found ------------------------------------------------------------------------------------------


def _make_note(seed: int) -> Task:
    random_ = rng("bookmarks_note", seed)
    hobby = random_.choice(list(HOBBIES))
    clubs = tagged(base(), hobby, "club")
    counts = random_.sample(range(12, 97), len(clubs))
    clubs = [
        replace(b, description=b.description.replace(f"{fact(b, 'members')} members", f"{count} members"))
        for b, count in zip(clubs, counts, strict=True)
    ]
    ranked = sorted(clubs, key=lambda b: int(fact(b, "members")), reverse=True)
    title = f"{random_.choice(('Biggest', 'Largest'))} {hobby} club"
    instruction = random_.choice(
        (
            f"Find out which {hobby} club of the collection has the most members, and write a private note (a bookmark "
            f'without an address) titled "{title}" whose text is the name of that club and nothing else. No tags.',
            f'Add a note, private and without tags, with the title "{title}". Its description is only the title of the '
            f'bookmark, among those tagged "{hobby}" and "club", with the most members.',
        )
    )
    return changed(
        "bookmarks_note", seed, "hard", instruction, clubs, tags=f"{hobby} club", title=title, text=ranked[0].title,
        second=ranked[1].title, numbers=[b.id for b in clubs],
    )  # fmt: skip


def _noted(task: Task, state: StateReader) -> list[Expected]:
    p = task.params
    return [Added("bookmarks", {"title": p["title"], "description": same_text(p["text"]), "private": True})]


def _note(task: Task, **columns: Any) -> Variant:
    p = task.params
    return edits(add_row({"title": p["title"], "description": p["text"], "private": True, **columns}))


def _play_note(task: Task, view: BrowserView) -> Oracle:
    yield from search(view, tags=task.params["tags"])
    for number in task.params["numbers"]:
        yield from reach(view, item(number))
    yield from add(view, "", task.params["title"], text=task.params["text"], private=True)


FAMILIES = (
    changing(
        SITE,
        "bookmarks_add",
        _make_add,
        lambda task, state: [Added("bookmarks", {**_row(task), "url": _address(task)})],
        _play_add,
        solutions={"added": lambda task: edits(add_row(_row(task)))},
        near_misses={
            "seen by the wrong ones": lambda task: edits(
                add_row({**_row(task), "private": not task.params["private"]})
            ),
            "a tag is missing": lambda task: edits(add_row({**_row(task), "tags": task.params["tags"][1:]})),
            "twice": lambda task: edits(add_row(_row(task)), add_row(_row(task))),
        },
    ),
    changing(
        SITE,
        "bookmarks_club_moved",
        _make_moved,
        _moved,
        _play_moved,
        solutions={
            "moved": lambda task: sets(
                [task.params["number"]], url=task.params["url"], description=task.params["text"]
            ),
            "a line end more": lambda task: sets(
                [task.params["number"]], url=task.params["url"], description=f"{task.params['text']}\r\n"
            ),
        },
        near_misses={
            "the address alone": lambda task: sets([task.params["number"]], url=task.params["url"]),
            "a new entry instead": lambda task: edits(
                add_row({"url": task.params["url"], "title": task.params["title"], "description": task.params["text"]})
            ),
        },
    ),
    changing(
        SITE,
        "bookmarks_pin",
        _make_pin,
        _pinned,
        _play_pin,
        solutions={
            "pinned": lambda task: edits(
                set_columns(str(task.params["old"]), sticky=False), set_columns(str(task.params["new"]), sticky=True)
            )
        },
        near_misses={
            "both are pinned": lambda task: sets([task.params["new"]], sticky=True),
            "another is pinned": lambda task: edits(
                set_columns(str(task.params["old"]), sticky=False), set_columns(str(task.params["other"]), sticky=True)
            ),
        },
    ),
    changing(
        SITE,
        "bookmarks_merge",
        _make_merge,
        _merged,
        _play_merge,
        solutions={"merged": lambda task: _both_tagged(task, "kept", "double")},
        near_misses={
            "deleted alone": lambda task: removes(task.params["double"]),
            "the wrong one kept": lambda task: _both_tagged(task, "double", "kept"),
            "its own tags lost": lambda task: edits(
                set_columns(str(task.params["kept"]), tags=sorted(task.params["more"])),
                remove_row(str(task.params["double"])),
            ),
        },
    ),
    changing(
        SITE,
        "bookmarks_note",
        _make_note,
        _noted,
        _play_note,
        solutions={"noted": _note, "a line end more": lambda task: _note(task, description=f"{task.params['text']}\n")},
        near_misses={
            "the second": lambda task: _note(task, description=task.params["second"]),
            "for everybody": lambda task: _note(task, private=False),
            "with an address": lambda task: _note(task, url=address(task.params["text"])),
        },
    ),
)
