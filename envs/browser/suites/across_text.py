"""Task families across two sites that carry a number or a title over: to a page, a post, a bookmark."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from envs.browser.sites import forum_data, wiki_data
from envs.browser.suites import bookmarks_pages, tracker_pages, wiki_common
from envs.browser.suites.across_pages import (
    BOOKMARKS,
    FORUM,
    TRACKER,
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
    exactly,
    fill,
    follow,
    rng,
    table,
    url,
)
from envs.browser.suites.families import Way, edited, key_of
from envs.browser.view import BrowserView
from guiforge.env import StateReader
from guiforge.task import Task, Variant
from verifiers.answers import Money, answer_difference
from verifiers.sites import Added, Edited, Expected, Like, Rows, add_row, one_of, rows_before

# -- forum to wiki: a new extension ------------------------------------------------------------------------------------


def _make_extension(seed: int) -> Task:
    random_ = rng("across_new_extension", seed)
    people = random_.sample(wiki_data.PEOPLE, 3)
    numbers = random_.sample(range(510, 990), 3)
    person, new, other = people[1], numbers[1], numbers[2]
    says = ", ".join(f"{p.name} under {n}" for p, n in zip(people, numbers, strict=True))
    title = f"Telephones at the field station, {random_.choice(('spring', 'summer', 'autumn'))} list"
    post = forum_data.comment("greta", f"From Monday you reach {says}. All others keep their extension.")
    users = [user for user in forum_data.USERS if user != forum_data.ADMIN]
    topic = forum_data.topic(title, "House talk", [post, *forum_data.chatter(random_, users, 3)])
    instruction = random_.choice(
        (
            f'In the forum, the topic "{title}" announces new extensions. Put the one of {person.name} on their page '
            f"in the station's handbook ({url(WIKI)}, the other tab), in place of the old one.",
            f'{person.name} has a new telephone extension: the forum\'s topic "{title}" tells it. Correct their page '
            f"in the handbook ({url(WIKI)}, the other tab) accordingly.",
        )
    )
    return across_task(
        "across_new_extension", seed, "hard", instruction, {FORUM: "/", WIKI: "/doku.php?id=start"},
        {FORUM: {"topics": [topic]}}, [wiki_common.PAGES], title=title, name=person.name, page=person.page,
        old=person.extension, new=new, text=replace(person, extension=new).text,
        wrong=replace(person, extension=other).text, neighbour=people[0].page,
        neighbour_text=replace(people[0], extension=new).text,
    )  # fmt: skip


def _wiki(task: Task, page: str, text: str) -> Variant:
    return wiki_common.pages(wiki_common.text_of(page, text))(task)


def _play_extension(task: Task, view: BrowserView) -> Oracle:
    p = task.params
    yield from follow(view, "a", exactly(p["title"]))
    yield from other_tab()
    yield from wiki_common.open_page(view, "People", p["name"])
    yield from wiki_common.tool(view, "edit")
    yield from wiki_common.replace_line(view, f"^ Extension | {p['old']} |", f"^ Extension | {p['new']} |")
    yield from wiki_common.save(view)


# -- bookmarks to forum: an answer to a question -----------------------------------------------------------------------


def _make_reply(seed: int) -> Task:
    random_ = rng("across_fee_reply", seed)
    club = some_club(random_)
    users = [user for user in forum_data.USERS if user != forum_data.ADMIN]
    title = random_.choice(("Anybody with the {}?", "Joining the {}", "What do the {} charge?")).format(club.title)
    asks = forum_data.comment(
        random_.choice(users), f"What does a year with the {club.title} cost? Just the sum, please."
    )
    other = forum_data.topic(f"{club.title}, old thread", "House talk", forum_data.chatter(random_, users, 4))
    topic = forum_data.topic(title, "House talk", [asks, *forum_data.chatter(random_, users, 2)])
    instruction = random_.choice(
        (
            f'Somebody asks in the forum ({url(FORUM)}, the other tab), in the topic "{title}", what a year with a '
            "club costs. Look that up in the link collection and reply in the topic with the amount in EUR alone.",
            f"Find the yearly fee of the {club.title} among the bookmarks. Then write it, as an amount in EUR and "
            f'nothing else, as a reply in the forum\'s topic "{title}" ({url(FORUM)}, the other tab).',
        )
    )
    return across_task(
        "across_fee_reply", seed, "hard", instruction, {BOOKMARKS: "/", FORUM: "/"},
        {BOOKMARKS: [club.record()], FORUM: {"topics": [other, topic]}}, [table(FORUM, "comments")], title=title,
        other=other["title"], club=club.title, number=club.id, fee=fact(club, "fee"), members=fact(club, "members"),
    )  # fmt: skip


def _alone(text: object, fee: Money) -> bool:
    """Whether a text is the amount and nothing else."""
    found = re.fullmatch(r"\s*(?:EUR|€)?\s*[\d.,]+\s*(?:EUR|€|euros?)?\.?\s*", str(text), re.I)
    return found is not None and answer_difference(str(text), fee) is None


def _replied(task: Task, state: StateReader) -> Expected:
    topic = int(key_of(rows_before(state, FORUM, "topics"), title=task.params["title"]))
    fee = Money(task.params["fee"], "EUR")
    text = Like(f"the amount of {fee.amount} {fee.currency}", lambda text: _alone(text, fee))
    return Added("comments", {"topic": topic, "user": forum_data.ADMIN, "text": text})


def _reply(*texts: str, back: int = 0) -> Way:
    """Replies in the topic asked for, which is the last one, or one so many before it; `{}` is the fee."""

    def way(task: Task) -> Variant:
        def step(rows: Rows) -> None:
            topic = max(row["topic"] for row in rows.values()) - back
            for text in texts:
                add_row({"topic": topic, "user": forum_data.ADMIN, "text": text.format(**task.params)})(rows)

        return edited(FORUM, comments=[step])

    return way


def _play_reply(task: Task, view: BrowserView) -> Oracle:
    yield from see_club(task, view)
    yield from other_tab()
    yield from follow(view, "a", exactly(task.params["title"]))
    yield from fill(view, ".js-reply textarea", f"{task.params['fee']} EUR")
    yield from follow(view, ".comment__reply__actions__publish")


# -- tracker to bookmarks: a ticket to come back to --------------------------------------------------------------------


def _make_ticket(seed: int) -> Task:
    random_ = rng("across_ticket_link", seed)
    tickets = tracker_pages.more(random_, 7)
    ticket, other = random_.sample(tickets, 2)
    number, wrong = (tracker_pages.number_of(tickets, t) for t in (ticket, other))
    summary = ticket["summary"]
    instruction = random_.choice(
        (
            f'Find the ticket "{summary}" in the tracker and bookmark it in the link collection ({url(BOOKMARKS)}, the '
            f"other tab): the address {url(TRACKER, '/ticket/')} with the ticket's number after it, its summary as the "
            "title, and the name of its component as the only tag. The bookmark is public and has no description.",
            f'Add the tracker\'s ticket "{summary}" to the bookmarks ({url(BOOKMARKS)}, the other tab), for all to see '
            f"and without description. The link is {url(TRACKER, '/ticket/')}NUMBER with the number of the ticket, the "
            "title its summary, and it gets one tag, which is the ticket's component.",
        )
    )
    return across_task(
        "across_ticket_link", seed, "hard", instruction, {TRACKER: "/", BOOKMARKS: "/"},
        {TRACKER: {"tickets": tickets}}, [bookmarks_pages.BOOKMARKS], summary=summary, tag=ticket["component"],
        url=url(TRACKER, f"/ticket/{number}"), wrong=url(TRACKER, f"/ticket/{wrong}"), kind=ticket["type"],
    )  # fmt: skip


def _link(task: Task, **columns: Any) -> dict[str, Any]:
    p = task.params
    return {"url": p["url"], "title": p["summary"], "tags": [p["tag"]], "private": False, **columns}


def _linked(task: Task, state: StateReader) -> Expected:
    return Added("bookmarks", _link(task, url=one_of(task.params["url"], f"{task.params['url']}/")))


def _play_ticket(task: Task, view: BrowserView) -> Oracle:
    yield from tracker_pages.find_ticket(view, task.params["summary"])
    yield from other_tab()
    yield from bookmarks_pages.add(
        view, task.params["url"], task.params["summary"], [task.params["tag"]], private=False
    )


FAMILIES = (
    entering(
        "across_new_extension", _make_extension, FORUM, WIKI,
        lambda task, state: Edited("pages", task.params["page"], wiki_common.edited(task.params["text"])),
        _play_extension,
        solutions={"corrected": lambda task: _wiki(task, "page", "text")},
        near_misses={
            "another's number": lambda task: _wiki(task, "page", "wrong"),
            "on another's page": lambda task: _wiki(task, "neighbour", "neighbour_text"),
        },
    ),
    entering(
        "across_fee_reply", _make_reply, BOOKMARKS, FORUM, _replied, _play_reply,
        solutions={"the amount": _reply("{fee} EUR"), "another style": _reply("€{fee}.00")},
        near_misses={
            "the number of members": _reply("{members} EUR"),
            "in another topic": _reply("{fee} EUR", back=1),
            "twice": _reply("{fee} EUR", "{fee} EUR"),
        },
    ),
    entering(
        "across_ticket_link", _make_ticket, TRACKER, BOOKMARKS, _linked, _play_ticket,
        solutions={"bookmarked": lambda task: edited(BOOKMARKS, bookmarks=[add_row(_link(task))])},
        near_misses={
            "another ticket": lambda task: edited(
                BOOKMARKS, bookmarks=[add_row(_link(task, url=task.params["wrong"]))]
            ),
            "its type as tag": lambda task: edited(
                BOOKMARKS, bookmarks=[add_row(_link(task, tags=[task.params["kind"]]))]
            ),
        },
    ),
)  # fmt: skip
