"""Questions to the forum: what a list of topics shows, what a topic holds."""

from __future__ import annotations

import re
from typing import Any

from envs.browser.sites import forum_data as data
from envs.browser.sites.forum_data import USERS, comment, topic
from envs.browser.suites.common import Oracle, follow, rng, texts
from envs.browser.suites.families import says
from envs.browser.suites.forum_common import (
    NAMES,
    OTHERS,
    asks,
    ends_with,
    forum_task,
    open_category,
    open_topic,
    says_and_likes,
    search,
)  # fmt: skip
from envs.browser.view import BrowserView
from guiforge.action import Infeasible
from guiforge.task import Family, Task
from verifiers.answers import Name, Number, SetOf, Text

_BASE = data.base()
_TALK = tuple(category for category in data.CATEGORIES if category != "For sale")
TITLES = (
    "Nails older than the house", "Who plasters on Sundays?", "Bees in the chimney", "Blue paint from 1920",
    "The third stair creaks", "Tar on the beams", "Frost in the pantry", "A well under the kitchen",
    "Swallows over the door", "Soot on fresh paint", "Letters behind the panel", "Slanted floor, straight table",
)  # fmt: skip


def _in(category: str) -> list[dict[str, Any]]:
    return [made for made in _BASE if made["category"] == category]


# -- lists -------------------------------------------------------------------------------------------------------------


def _make_busiest(seed: int) -> Task:
    random_ = rng("forum_busiest", seed)
    category, title = random_.choice(_TALK), random_.choice(TITLES)
    most = max(len(made["comments"]) for made in _in(category))
    replies = data.chatter(random_, OTHERS, most + random_.randint(0, 2))
    made = topic(title, category, [comment(random_.choice(OTHERS), data.OPENINGS[0]), *replies], data.moment(random_))
    elsewhere = max(_BASE, key=lambda t: len(t["comments"]) if t["category"] != category else 0)
    second = max(_in(category), key=lambda t: len(t["comments"]))
    instruction = random_.choice(
        (
            f'Which topic of the category "{category}" has the most comments? Give its title.',
            f"In {category}, what is the title of the topic with the greatest number of comments?",
        )
    )
    return forum_task(
        "forum_busiest", seed, "easy", instruction, [made],
        params={"category": category, "title": title, "second": second["title"], "elsewhere": elsewhere["title"]},
    )  # fmt: skip


def _counts(view: BrowserView) -> list[tuple[str, int]]:
    """Titles and numbers of comments of a list of topics."""
    found = view.evaluate("""[...document.querySelectorAll('.layout__topics__topic')].map((topic) =>
        [topic.querySelector('.topic__link').innerText, topic.querySelector('.topic__comments').innerText])""")
    return [(title, int(count)) for title, count in found]


def _play_busiest(task: Task, view: BrowserView) -> Oracle:
    yield from open_category(view, task.params["category"])
    yield from ends_with(max(_counts(view), key=lambda row: row[1])[0])


def _make_unanswered(seed: int) -> Task:
    random_ = rng("forum_unanswered", seed)
    category = random_.choice(_TALK)
    made = []
    for n, title in enumerate(random_.sample(TITLES, 4)):
        first = comment(random_.choice(OTHERS), random_.choice(data.OPENINGS))
        replies = data.chatter(random_, OTHERS, random_.randint(1, 4)) if n > 1 else []
        made.append(topic(title, category, [first, *replies], data.moment(random_)))
    alone = [t["title"] for t in (*_in(category), *made) if len(t["comments"]) == 1]
    one_reply = [t["title"] for t in (*_in(category), *made) if len(t["comments"]) == 2]
    instruction = random_.choice(
        (
            f'Which topics of the category "{category}" has nobody replied to yet, so that they hold nothing but their '
            "first comment? Give all their titles.",
            f"List the titles of all topics in {category} that are still without any reply (one comment, the opening "
            "one).",
        )
    )
    return forum_task(
        "forum_unanswered", seed, "medium", instruction, made,
        params={"category": category, "titles": sorted(alone), "others": sorted({*one_reply, made[2]["title"]})},
    )  # fmt: skip


def _play_unanswered(task: Task, view: BrowserView) -> Oracle:
    yield from open_category(view, task.params["category"])
    yield from ends_with("\n".join(title for title, count in _counts(view) if count == 1))


# -- one topic ---------------------------------------------------------------------------------------------------------


def _make_liked(seed: int) -> Task:
    random_ = rng("forum_best_liked", seed)
    title = random_.choice(TITLES)
    authors = random_.sample(OTHERS, 9)
    likes = random_.sample(range(8), 8)
    replies = [
        comment(author, text, random_.sample([u for u in OTHERS if u != author], n))
        for author, text, n in zip(authors[1:], random_.sample(data.REPLIES, 8), likes, strict=True)
    ]
    made = topic(title, random_.choice(_TALK), [comment(authors[0], data.OPENINGS[1]), *replies], data.moment(random_))
    ranked = sorted(replies, key=lambda reply: -len(reply["likes"]))
    instruction = random_.choice(
        (
            f'Whose comment has the most likes in the topic "{title}"?',
            f'Who wrote the comment that was liked most often in "{title}"?',
        )
    )
    return forum_task(
        "forum_best_liked", seed, "easy", instruction, [made],
        params={"title": title, "name": USERS[ranked[0]["user"]], "second": USERS[ranked[1]["user"]],
                "opener": USERS[authors[0]]},
    )  # fmt: skip


def _play_liked(task: Task, view: BrowserView) -> Oracle:
    yield from open_topic(view, task.params["title"])
    rows = view.evaluate("""[...document.querySelectorAll('.comments_list__comment')].map((comment) =>
        [comment.querySelector('.comment__info__username__link').innerText.trim(),
         comment.querySelector('.comment-like').innerText])""")
    yield from ends_with(max(rows, key=lambda row: int(re.findall(r"\d+", row[1])[0]))[0])


def _make_counted(seed: int) -> Task:
    random_ = rng("forum_count_by", seed)
    title, (user, *rest) = random_.choice(TITLES), random_.sample(OTHERS, 5)
    count = random_.randint(5, 9)
    authors = [user] * count + random_.choices(rest, k=27 - count)
    random_.shuffle(authors)
    texts = [f"{random_.choice(data.REPLIES)} ({n + 1})" for n in range(27)]
    comments = [comment(author, text) for author, text in zip(authors, texts, strict=True)]
    made = topic(title, random_.choice(_TALK), [comment(rest[0], data.OPENINGS[2]), *comments], data.moment(random_))
    instruction = random_.choice(
        (
            f'How many comments did {USERS[user]} write in the topic "{title}"?',
            f'Count the comments by {USERS[user]} in "{title}", on all of its pages.',
        )
    )
    first_page = authors[:19].count(user)
    return forum_task(
        "forum_count_by", seed, "medium", instruction, [made],
        params={"title": title, "name": USERS[user], "count": count, "all": 28,
                "first_page": first_page if first_page != count else count - 1},
    )  # fmt: skip


def _play_counted(task: Task, view: BrowserView) -> Oracle:
    yield from open_topic(view, task.params["title"])
    count = len(view.evaluate(_AUTHORS.format(task.params["name"])))
    yield from follow(view, ".paginator a")
    count += len(view.evaluate(_AUTHORS.format(task.params["name"])))
    yield from ends_with(count)


_AUTHORS = """[...document.querySelectorAll('.comments_list__comment .comment__info__username__link')]
    .map((link) => link.innerText.trim()).filter((name) => name === '{}')"""


def _make_poll(seed: int) -> Task:
    random_ = rng("forum_poll_lead", seed)
    title, (question, choices) = random_.choice(TITLES), random_.choice(POLLS)
    first, second = random_.choice([(a, b) for a in range(4, 9) for b in range(1, a) if a + b < 11])
    votes = [first, second, random_.randint(0, min(second, 12 - first - second))]
    random_.shuffle(votes)
    voters = random_.sample(OTHERS, sum(votes))
    poll = {choice: [voters.pop() for _ in range(n)] for choice, n in zip(choices, votes, strict=True)}
    opener = comment(random_.choice(OTHERS), question, poll=poll)
    made = topic(title, "House talk", [opener, *data.chatter(random_, OTHERS, 3)], data.moment(random_))
    winner = choices[votes.index(first)]
    instruction = random_.choice(
        (
            f'In the topic "{title}" there is a poll. By how many votes is the leading choice ahead of the second?',
            f'Look at the results of the poll in "{title}": how many more votes does the first have than the second?',
        )
    )
    return forum_task(
        "forum_poll_lead", seed, "medium", instruction, [made],
        params={"title": title, "lead": first - second, "first": first, "sum": first + second, "winner": winner},
    )  # fmt: skip


POLLS = (
    ("Which colour for the gate?", ("Ox blood", "Pitch black", "Bare wood")),
    ("Where do we meet next?", ("At the mill", "In the school", "On the ferry")),
    ("What shall the summer course be about?", ("Lime", "Windows", "Stoves")),
    ("When is the work day?", ("Friday", "Saturday", "Sunday")),
)


def _play_poll(task: Task, view: BrowserView) -> Oracle:
    yield from open_topic(view, task.params["title"])
    yield from follow(view, ".comment__text__poll a", "Show results")
    text = "\n".join(texts(view, ".comment__text__poll"))
    shares = sorted((int(n) for n in re.findall(r", (\d+)%", text)), reverse=True)
    total = int(re.search(r"Votes: (\d+)", text)[1])  # type: ignore[index]
    yield from ends_with(round((shares[0] - shares[1]) * total / 100))


# -- what there is not -------------------------------------------------------------------------------------------------


_NOT_THERE = ("Otters in the cellar", "Paper walls from Kyoto", "Gold leaf on the gutter", "A moat again")


def _make_missing(seed: int) -> Task:
    random_ = rng("forum_infeasible_topic", seed)
    title = random_.choice(_NOT_THERE)
    name = USERS[random_.choice(OTHERS)]
    instruction = random_.choice(
        (
            f'Like the first comment of {name} in the topic "{title}".',
            f'How many comments has the topic "{title}" by {name}?',
        )
    )
    return forum_task("forum_infeasible_topic", seed, "medium", instruction, params={"title": title}, feasible=False)


def _play_missing(task: Task, view: BrowserView) -> Oracle:
    yield from search(view, task.params["title"].split()[-1])
    yield [Infeasible(reason=f"there is no topic {task.params['title']!r}")]


FAMILIES = (
    Family(
        "forum_busiest",
        _make_busiest,
        asks(lambda task: Text(task.params["title"])),
        _play_busiest,
        solutions={
            "title": says(lambda t: t.params["title"]),
            "quoted": says(lambda t: f'It is "{t.params["title"]}".'),
        },
        near_misses={
            "second": says(lambda t: t.params["second"]),
            "another category": says(lambda t: t.params["elsewhere"]),
            "changed something": says_and_likes(lambda t: t.params["title"]),
        },
    ),
    Family(
        "forum_unanswered",
        _make_unanswered,
        asks(lambda task: SetOf(tuple(map(Text, task.params["titles"])))),
        _play_unanswered,
        solutions={
            "lines": says(lambda t: "\n".join(t.params["titles"])),
            "numbered": says(lambda t: "\n".join(f"{n}. {x}" for n, x in enumerate(reversed(t.params["titles"]), 1))),
        },
        near_misses={
            "one missing": says(lambda t: "\n".join(t.params["titles"][1:]) or "none"),
            "one more": says(lambda t: "\n".join([*t.params["titles"], t.params["others"][0]])),
            "changed something": says_and_likes(lambda t: "\n".join(t.params["titles"])),
        },
    ),
    Family(
        "forum_best_liked",
        _make_liked,
        asks(lambda task: Name(task.params["name"], others=NAMES)),
        _play_liked,
        solutions={
            "name": says(lambda t: t.params["name"]),
            "sentence": says(lambda t: f"{t.params['name']} wrote it."),
        },
        near_misses={
            "second": says(lambda t: t.params["second"]),
            "opener": says(lambda t: t.params["opener"]),
            "changed something": says_and_likes(lambda t: t.params["name"]),
        },
    ),
    Family(
        "forum_count_by",
        _make_counted,
        asks(lambda task: Number(task.params["count"])),
        _play_counted,
        solutions={
            "number": says(lambda t: t.params["count"]),
            "sentence": says(lambda t: f"{t.params['name']} wrote {t.params['count']} comments."),
        },
        near_misses={
            "first page": says(lambda t: t.params["first_page"]),
            "everybody": says(lambda t: t.params["all"]),
            "changed something": says_and_likes(lambda t: t.params["count"]),
        },
    ),
    Family(
        "forum_poll_lead",
        _make_poll,
        asks(lambda task: Number(task.params["lead"])),
        _play_poll,
        solutions={
            "number": says(lambda t: t.params["lead"]),
            "sentence": says(lambda t: f"{t.params['winner']} leads by {t.params['lead']}."),
        },
        near_misses={
            "winner": says(lambda t: t.params["winner"]),
            "sum": says(lambda t: t.params["sum"]),
            "changed something": says_and_likes(lambda t: t.params["lead"]),
        },
    ),
    Family("forum_infeasible_topic", _make_missing, None, _play_missing),
)  # fmt: skip
