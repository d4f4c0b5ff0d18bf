"""What a moderator changes in the forum: topics moved, topics closed, advertising deleted, a comment reported."""

from __future__ import annotations

from collections.abc import Callable

from envs.browser.sites import forum_data as data
from envs.browser.sites.forum_data import ADMIN, USERS, comment, topic
from envs.browser.suites.common import DONE, Oracle, choose, click, exactly, fill, follow, reach, rng, texts
from envs.browser.suites.forum_ask import TITLES
from envs.browser.suites.forum_common import (
    COMMENTS,
    OTHERS,
    REPORTS,
    TOPICS,
    changes,
    comment_number,
    forum_task,
    menu,
    open_category,
    open_topic,
    search,
    tables,
    topic_number,
)  # fmt: skip
from envs.browser.view import BrowserView
from guiforge.task import Family, Task, Variant
from verifiers.sites import Added, Edited, Expected, add_row, same_text, set_columns

_TALK = tuple(category for category in data.CATEGORIES if category != "For sale")


# -- topics moved ------------------------------------------------------------------------------------------------------


def _make_move(seed: int) -> Task:
    random_ = rng("forum_move_offers", seed)
    user, other = random_.sample(OTHERS, 2)
    goods, (wrong, title) = random_.sample(data.GOODS[8:], 4), (random_.choice(_TALK), random_.choice(TITLES))
    prices = random_.sample(range(15, 150), 4)
    made = [
        {**data.offer(random_, seller, thing, price, [u for u in OTHERS if u != user]), "category": category}
        for seller, thing, price, category in zip(
            (user, user, user, other), goods, prices, (wrong, wrong, wrong, wrong), strict=True
        )
    ]
    made.append(topic(title, wrong, [comment(user, random_.choice(data.OPENINGS))], data.moment(random_)))
    random_.shuffle(made)
    instruction = random_.choice(
        (
            f'{USERS[user]} has put offers (topics that name a price) into the category "{wrong}". Move all of these '
            f'offers to "For sale". Topics by others, and what is no offer, stay where they are.',
            f"Every topic in {wrong} in which {USERS[user]} offers something at a price belongs into For sale: move "
            "these topics there, and no others.",
        )
    )
    return forum_task(
        "forum_move_offers", seed, "hard", instruction, made, writable=(TOPICS,), steps=50,
        params={"name": USERS[user], "wrong": wrong, "titles": goods[:3], "others": [goods[3], title]},
    )  # fmt: skip


def _moved(titles: str, count: int | None = None, also: str = "") -> Callable[[Task], Variant]:
    """Names of parameters: the first so many of these titles are moved, and those of another."""
    return tables(
        topics=lambda t: [
            set_columns(str(topic_number(t, title)), category="For sale")
            for title in (*t.params[titles][:count], *(t.params[also] if also else ()))
        ]
    )


def _play_move(task: Task, view: BrowserView) -> Oracle:
    yield from open_category(view, task.params["wrong"])
    for title in [text for text in texts(view, "a.topic__link") if text in data.GOODS]:
        yield from follow(view, "a.topic__link", exactly(title))
        box = yield from reach(view, "#c1 a.comment__info__username__link")
        if box.text.strip() == task.params["name"]:
            yield from follow(view, "a.topic_edit_link")
            yield from choose(view, "#id_category", "For sale")
            yield from follow(view, "form input[type=submit][name=post]")
        yield from follow(view, "a.header__logo")
        yield from open_category(view, task.params["wrong"])
    yield [DONE]


# -- topics closed -----------------------------------------------------------------------------------------------------

_SOLVED, _NOT_SOLVED = "Solved, thank you all.", "Is this solved by now?"


def _make_close(seed: int) -> Task:
    random_ = rng("forum_close_solved", seed)
    category, titles = random_.choice(_TALK), random_.sample(TITLES, 5)
    made = []
    for n, title in enumerate(titles):
        user = random_.choice(OTHERS)
        replies = data.chatter(random_, [u for u in OTHERS if u != user], random_.randint(1, 3))
        last = (
            comment(user, _SOLVED) if n < 3 else comment(random_.choice([u for u in OTHERS if u != user]), _NOT_SOLVED)
        )
        made.append(topic(title, category, [comment(user, data.OPENINGS[5]), *replies, last], data.moment(random_)))
    random_.shuffle(made)
    instruction = random_.choice(
        (
            f'In the category "{category}", close every topic whose own author ends it with "{_SOLVED}" Leave all '
            "others open.",
            f'Close those topics of {category} in which the member who began it says "{_SOLVED}" as the last comment; '
            "touch no other topic.",
        )
    )
    return forum_task(
        "forum_close_solved", seed, "hard", instruction, made, writable=(TOPICS,), steps=60,
        params={"category": category, "titles": titles[:3], "others": titles[3:]},
    )  # fmt: skip


def _closed(titles: str, count: int | None = None, also: str = "", column: str = "closed") -> Callable[[Task], Variant]:
    """Names of parameters: the first so many of these titles are closed, and those of another."""
    return tables(
        topics=lambda t: [
            set_columns(str(topic_number(t, title)), **{column: 1})
            for title in (*t.params[titles][:count], *(t.params[also] if also else ()))
        ]
    )


def _play_close(task: Task, view: BrowserView) -> Oracle:
    yield from search(view, "solved")
    for title in [text for text in texts(view, "a.topic__link") if text in TITLES]:
        yield from follow(view, "a.topic__link", exactly(title))
        if _SOLVED in texts(view, ".comment__text"):
            yield from menu(view, "a.js-tab[data-related='.js-mod-content']", "Close topic")
        yield from search(view, "solved")
    yield [DONE]


# -- advertising deleted -----------------------------------------------------------------------------------------------

_ADS = (
    "Cheap roof coating, call Topcoat today!", "Windows replaced in one day, ask for our prices!",
    "Best loans for house owners, write to me!",
)  # fmt: skip


def _make_ads(seed: int) -> Task:
    random_ = rng("forum_delete_ads", seed)
    spammer, ad, titles = random_.choice(OTHERS), random_.choice(_ADS), random_.sample(TITLES, 4)
    made, places = [], {}
    for n, title in enumerate(titles):
        others = [user for user in OTHERS if user != spammer]
        replies = data.chatter(random_, others, 3)
        if n < 3:
            places[title] = random_.randint(2, 4)
            replies.insert(places[title] - 2, comment(spammer, ad))
        else:
            replies.append(comment(spammer, "Nice work, well done."))
        category = random_.choice(_TALK)
        made.append(topic(title, category, [comment(others[0], data.OPENINGS[6]), *replies], data.moment(random_)))
    instruction = random_.choice(
        (
            f'{USERS[spammer]} has posted the advertisement "{ad}" in several topics. Delete each of these comments, '
            "and nothing else.",
            f'Delete every comment that says "{ad}" ({USERS[spammer]} put it into more than one topic). Whatever else '
            "stands there remains.",
        )
    )
    return forum_task(
        "forum_delete_ads", seed, "hard", instruction, made, writable=(COMMENTS,), steps=40,
        params={"places": places, "other": {titles[3]: 5}, "ad": ad},
    )  # fmt: skip


def _ads(task: Task, places: str = "places") -> list[str]:
    return [str(comment_number(task, title, place)) for title, place in task.params[places].items()]


def _play_ads(task: Task, view: BrowserView) -> Oracle:
    yield from search(view, task.params["ad"])
    for title in [text for text in texts(view, "a.topic__link") if text in task.params["places"]]:
        yield from follow(view, "a.topic__link", exactly(title))
        place = 1 + texts(view, ".comments_list .comment__text").index(task.params["ad"])
        yield from follow(view, f"#c{place} .comment__actions a", "delete")
        yield from search(view, task.params["ad"])
    yield [DONE]


# -- a report ----------------------------------------------------------------------------------------------------------


def _make_report(seed: int) -> Task:
    random_ = rng("forum_report", seed)
    title, users = random_.choice(TITLES), random_.sample(OTHERS, 5)
    ad, note = random_.choice(_ADS), random_.choice(("third time this week", "same text as in May", "not a member"))
    replies = [comment(user, text) for user, text in zip(users, random_.sample(data.REPLIES, 5), strict=True)]
    place = random_.randrange(5)
    replies[place] = comment(users[place], ad)
    made = topic(title, random_.choice(_TALK), [comment(OTHERS[1], data.OPENINGS[7]), *replies], data.moment(random_))
    instruction = random_.choice(
        (
            f'Report the comment of {USERS[users[place]]} in the topic "{title}" as spam, with the note "{note}". Do '
            "not delete it.",
            f'In "{title}", {USERS[users[place]]} advertises something. Use the report function on that comment: the '
            f'reason is Spam, the text "{note}".',
        )
    )
    return forum_task(
        "forum_report", seed, "medium", instruction, [made], writable=(REPORTS,),
        params={"title": title, "place": place + 2, "other": (place + 1) % 5 + 2, "note": note},
    )  # fmt: skip


def _report(place: str = "place", reason: int = 0) -> Callable[[Task], Variant]:
    return tables(
        reports=lambda t: [
            add_row(
                {"user": ADMIN, "comment": _number(t, place), "reason": reason, "body": t.params["note"]},
                key=f"{ADMIN} {_number(t, place)}",
            )
        ]
    )


def _number(task: Task, place: str = "place") -> int:
    return comment_number(task, task.params["title"], task.params[place])


def _report_row(task: Task) -> Expected:
    body = same_text(task.params["note"])
    return Added("reports", {"user": ADMIN, "comment": _number(task), "reason": 0, "body": body})


def _play_report(task: Task, view: BrowserView) -> Oracle:
    yield from open_topic(view, task.params["title"])
    yield from follow(view, f"#c{task.params['place']} .comment__actions a", "report")
    box = view.find("#id_reason select, select#id_reason")
    if box:
        yield from choose(view, "#id_reason", "Spam")
    else:
        box = yield from reach(view, "label", "Spam")
        yield [click(box)]
    yield from fill(view, "#id_body", task.params["note"])
    yield from follow(view, "form input[type=submit][name=post]")
    yield [DONE]


FAMILIES = (
    Family(
        "forum_move_offers",
        _make_move,
        changes(
            lambda t: [
                Edited("topics", str(topic_number(t, title)), {"category": "For sale"}) for title in t.params["titles"]
            ]
        ),
        _play_move,
        solutions={"moved": _moved("titles")},
        near_misses={
            "one forgotten": _moved("titles", 2),
            "others too": _moved("titles", also="others"),
        },
    ),
    Family(
        "forum_close_solved",
        _make_close,
        changes(
            lambda t: [Edited("topics", str(topic_number(t, title)), {"closed": 1}) for title in t.params["titles"]]
        ),
        _play_close,
        solutions={"closed": _closed("titles")},
        near_misses={
            "one forgotten": _closed("titles", 2),
            "others too": _closed("titles", also="others"),
            "pinned": _closed("titles", column="pinned"),
        },
    ),
    Family(
        "forum_delete_ads",
        _make_ads,
        changes(lambda t: [Edited("comments", key, {"removed": 1}) for key in _ads(t)]),
        _play_ads,
        solutions={"deleted": tables(comments=lambda t: [set_columns(key, removed=1) for key in _ads(t)])},
        near_misses={
            "one forgotten": tables(comments=lambda t: [set_columns(key, removed=1) for key in _ads(t)[1:]]),
            "one more": tables(
                comments=lambda t: [set_columns(key, removed=1) for key in (*_ads(t), *_ads(t, "other"))]
            ),
        },
    ),
    Family(
        "forum_report",
        _make_report,
        changes(lambda t: [_report_row(t)]),
        _play_report,
        solutions={"reported": _report()},
        near_misses={
            "another": _report("other"),
            "another reason": _report(reason=1),
            "deleted": tables(comments=lambda t: [set_columns(str(_number(t)), removed=1)]),
        },
    ),
)
