"""Changes of one page of the wiki: a value, a rule more, an edition brought back."""

from __future__ import annotations

from dataclasses import replace

from envs.browser.sites import wiki_data as data
from envs.browser.sites.wiki_data import edition
from envs.browser.suites.common import DONE, Oracle, follow, rng
from envs.browser.suites.wiki_common import (
    CONTENT,
    PAGES,
    add_item,
    changes,
    edited,
    open_page,
    pages,
    replace_line,
    save,
    text_of,
    tool,
    wiki_task,
)  # fmt: skip
from envs.browser.view import BrowserView
from guiforge.task import Family, Task
from verifiers.sites import (
    Edited,
)  # fmt: skip

# -- a value -----------------------------------------------------------------------------------------------------------


def _make_extension(seed: int) -> Task:
    random_ = rng("wiki_fix_extension", seed)
    person, other = random_.sample(data.PEOPLE, 2)
    new = random_.choice([n for n in range(500, 900) if n != person.extension])
    instruction = random_.choice(
        (
            f"{person.name} has a new telephone extension, {new}. Correct it on the page in the wiki and save.",
            f"The wiki still gives extension {person.extension} for {person.name}. Change it to {new}.",
        )
    )
    return wiki_task(
        "wiki_fix_extension", seed, "easy", instruction, writable=(PAGES,),
        params={
            "page": person.page, "name": person.name, "old": person.extension, "new": new,
            "text": replace(person, extension=new).text, "tight": person.text.replace(
                f"^ Extension | {person.extension} |", f"^Extension|{new}|"),
            "other": other.page, "other_text": replace(other, extension=new).text,
            "half": person.text.replace(f"| {person.extension} |", f"| {new} |\n^ Extension | {person.extension} |"),
        },
    )  # fmt: skip


def _play_extension(task: Task, view: BrowserView) -> Oracle:
    p = task.params
    yield from open_page(view, "People", p["name"])
    yield from tool(view, "edit")
    yield from replace_line(view, f"^ Extension | {p['old']} |", f"^ Extension | {p['new']} |")
    yield from save(view)
    yield [DONE]


# -- a rule ------------------------------------------------------------------------------------------------------------

_RULES = (
    "Count the cups in the evening.", "The big lamp stays off in May.", "Ask the office for the spare one.",
    "Never on the first Monday of the month.", "Write the date beside your name.", "Gloves are in the blue box.",
)  # fmt: skip
_SUMMARIES = ("agreed on Monday", "from the house meeting", "as the office asked", "new rule from the board")


def _make_rule(seed: int) -> Task:
    random_ = rng("wiki_add_rule", seed)
    name = random_.choice(list(data.HANDBOOK))
    title, rules = data.HANDBOOK[name]
    rule, summary = random_.choice(_RULES), random_.choice(_SUMMARIES)
    text, last = data.guide(name), f"  - {rules[-1]}\n"
    instruction = random_.choice(
        (
            f'Add a last item to the numbered list on the page "{title}" of the handbook: {rule} Give '
            f'"{summary}" as the summary of your change.',
            f'The page "{title}" needs one more rule at the end of its numbered list. It reads: {rule} When you save, '
            f'the edit summary must be "{summary}".',
        )
    )
    return wiki_task(
        "wiki_add_rule", seed, "medium", instruction, writable=(PAGES,),
        params={
            "page": f"handbook:{name}", "title": title, "rule": rule, "summary": summary, "last": rules[-1],
            "text": text.replace(last, f"{last}  - {rule}\n"), "first": text.replace("  - ", f"  - {rule}\n  - ", 1),
            "plain": text.replace(last, f"{last}\n{rule}\n"),
        },
    )  # fmt: skip


def _play_rule(task: Task, view: BrowserView) -> Oracle:
    p = task.params
    yield from open_page(view, "Handbook", p["title"])
    yield from tool(view, "edit")
    yield from add_item(view, f"  - {p['last']}", p["rule"])
    yield from save(view, p["summary"])
    yield [DONE]


# -- an edition brought back -------------------------------------------------------------------------------------------


def _make_restore(seed: int) -> Task:
    random_ = rng("wiki_restore", seed)
    thing, writer = random_.choice(data.INSTRUMENTS), random_.choice(data.PEOPLE)
    good = replace(thing, price=random_.choice([n for n in range(100, 5000, 5) if n != thing.price]))
    spoiled = good.text.replace("Record", "Junk").replace(good.keeper.name, "the cat")
    spoiled = "\n".join(spoiled.splitlines()[: random_.randint(8, 16)]) + "\nha ha ha\n"
    instruction = random_.choice(
        (
            f"Somebody spoiled the page of the {thing.name.lower()}. Bring back the edition that stood there right "
            "before.",
            f"The latest change of the page on the {thing.name.lower()} is vandalism. Undo it, so that the page reads "
            "again as it did before that change.",
        )
    )
    return wiki_task(
        "wiki_restore", seed, "medium", instruction,
        [
            edition(good.page, good.text, writer.id, "2025-05-03T11:31", "price corrected"),
            edition(good.page, spoiled, "nils", "2025-05-08T23:58", ""),
        ],
        writable=(PAGES,), params={"page": good.page, "name": good.name, "text": good.text, "oldest": thing.text,
                                   "partly": spoiled.replace("ha ha ha\n", "")},
    )  # fmt: skip


def _play_restore(task: Task, view: BrowserView) -> Oracle:
    yield from open_page(view, "Instruments", task.params["name"])
    yield from tool(view, "revs")
    yield from follow(view, f"{CONTENT} li:nth-child(2) a.wikilink1")
    yield from tool(view, "edit")
    yield from save(view)
    yield [DONE]


FAMILIES = (
    Family(
        "wiki_fix_extension",
        _make_extension,
        changes(lambda t: [Edited("pages", t.params["page"], edited(t.params["text"]))]),
        _play_extension,
        solutions={
            "edited": pages(text_of("page", "text")),
            "without blanks": pages(text_of("page", "tight", "phone")),
        },
        near_misses={
            "another's": pages(text_of("other", "other_text")),
            "both numbers": pages(text_of("page", "half")),
            "another's too": pages(text_of("page", "text"), text_of("other", "other_text")),
        },
    ),
    Family(
        "wiki_add_rule",
        _make_rule,
        changes(lambda t: [Edited("pages", t.params["page"], edited(t.params["text"], summary=t.params["summary"]))]),
        _play_rule,
        solutions={"added": lambda t: pages(text_of("page", "text", t.params["summary"]))(t)},
        near_misses={
            "no summary": pages(text_of("page", "text")),
            "first": lambda t: pages(text_of("page", "first", t.params["summary"]))(t),
            "no item": lambda t: pages(text_of("page", "plain", t.params["summary"]))(t),
        },
    ),
    Family(
        "wiki_restore",
        _make_restore,
        changes(lambda t: [Edited("pages", t.params["page"], edited(t.params["text"]))]),
        _play_restore,
        solutions={"restored": pages(text_of("page", "text", "restored"))},
        near_misses={
            "the oldest": pages(text_of("page", "oldest", "restored")),
            "tidied only": pages(text_of("page", "partly")),
        },
    ),
)
