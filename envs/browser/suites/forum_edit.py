"""What a member changes in the forum: a reply, a topic, a like, a correction, a vote, a private message, a profile."""

from __future__ import annotations

from collections.abc import Callable

from envs.browser.sites import forum_data as data
from envs.browser.sites.forum_data import ADMIN, USERS, comment, topic
from envs.browser.suites.common import DONE, Oracle, choose, click, exactly, fill, follow, reach, rng
from envs.browser.suites.forum_ask import POLLS, TITLES
from envs.browser.suites.forum_common import (
    COMMENTS,
    INVITED,
    LIKES,
    OTHERS,
    TOPICS,
    VOTES,
    changes,
    comment_number,
    forum_task,
    like,
    next_topic,
    open_topic,
    own_menu,
    said,
    says_in,
    tables,
    topic_number,
    write,
)  # fmt: skip
from envs.browser.suites.forum_common import (
    USERS as USER_TABLE,
)
from envs.browser.view import BrowserView
from guiforge.task import Family, Task, Variant
from verifiers.sites import Added, Edited, Expected, add_row, same_text, set_columns

_TALK = tuple(category for category in data.CATEGORIES if category != "For sale")


# -- a reply -----------------------------------------------------------------------------------------------------------

_REPLIES = (
    "Try beeswax on the cord, it lasts for years.", "My brother can lend you a long ladder.",
    "Lime first, then wait for two dry days.", "Turn the board over and look at the other side.",
    "The museum in the old mill shows how it was done.", "Leave it as it is, it has held for a century.",
)  # fmt: skip


def _make_reply(seed: int) -> Task:
    random_ = rng("forum_reply", seed)
    title, text = random_.choice(TITLES), random_.choice(_REPLIES)
    first = comment(random_.choice(OTHERS), random_.choice(data.OPENINGS))
    replies = data.chatter(random_, OTHERS, random_.randint(2, 6))
    made = topic(title, random_.choice(_TALK), [first, *replies], data.moment(random_))
    instruction = random_.choice(
        (f'Reply in the topic "{title}" with: {text}', f'Post this comment in "{title}": {text}')
    )
    other = random_.choice([t for t in data.base() if t["category"] == made["category"]])["title"]
    return forum_task(
        "forum_reply", seed, "easy", instruction, [made], writable=(COMMENTS,),
        params={"title": title, "text": text, "other": other},
    )  # fmt: skip


def _play_reply(task: Task, view: BrowserView) -> Oracle:
    yield from open_topic(view, task.params["title"])
    yield from write(view, task.params["text"])
    yield [DONE]


# -- a topic -----------------------------------------------------------------------------------------------------------

_NEWS = (
    ("Summer meeting at the mill", "We meet at the old mill at eleven. Bring your own cup."),
    ("Looking for a slater", "Does anybody know a slater who still works by hand?"),
    ("Which saw for green oak?", "Mine burns the wood. Frame saw or chain saw?"),
    ("Hinges by the dozen", "I need twelve strap hinges of the same length. Where would you look?"),
    ("Book on lime wash", "Is there a good book on it? I have only found old leaflets."),
    ("Frozen pipe in the yard", "It froze at the elbow. Can I thaw it with warm cloths?"),
)  # fmt: skip


def _make_topic(seed: int) -> Task:
    random_ = rng("forum_new_topic", seed)
    (title, text), (category, other) = random_.choice(_NEWS), random_.sample(list(data.CATEGORIES), 2)
    instruction = random_.choice(
        (
            f'Start a topic "{title}" in the category "{category}". Its text is: {text}',
            f'Open a new topic in {category}, with the title "{title}" and this first comment: {text}',
        )
    )
    return forum_task(
        "forum_new_topic", seed, "medium", instruction, writable=(TOPICS, COMMENTS),
        params={"title": title, "text": text, "category": category, "other": other},
    )  # fmt: skip


def _topic_rows(task: Task) -> list[Expected]:
    p = task.params
    return [
        Added("topics", {"title": p["title"], "category": p["category"], "user": ADMIN}, key=str(next_topic(task))),
        says_in(next_topic(task), p["text"]),
    ]


def _new_topic(category: str = "category", text: str = "text") -> Callable[[Task], Variant]:
    """Names of the parameters that it was made of."""
    return tables(
        topics=lambda t: [add_row({"title": t.params["title"], "category": t.params[category], "user": ADMIN})],
        comments=lambda t: [said(next_topic(t), t.params[text])],
    )


def _play_topic(task: Task, view: BrowserView) -> Oracle:
    p = task.params
    yield from follow(view, ".menu__new_topic a")
    yield from fill(view, "#id_title", p["title"])
    yield from choose(view, "#id_category", p["category"])
    yield from write(view, p["text"])
    yield [DONE]


# -- a like ------------------------------------------------------------------------------------------------------------


def _make_like(seed: int) -> Task:
    random_ = rng("forum_like", seed)
    title, users = random_.choice(TITLES), random_.sample(OTHERS, 6)
    texts = random_.sample(data.REPLIES, 6)
    replies = [comment(user, text) for user, text in zip(users, texts, strict=True)]
    replies.append(comment(users[1], random_.choice([r for r in data.REPLIES if r not in texts])))
    place = random_.randrange(6)
    made = topic(title, random_.choice(_TALK), [comment(users[2], data.OPENINGS[3]), *replies], data.moment(random_))
    instruction = random_.choice(
        (
            f'In the topic "{title}", like the comment of {USERS[users[place]]} that says "{texts[place]}"',
            f'Give a like to "{texts[place]}", which {USERS[users[place]]} wrote in the topic "{title}".',
        )
    )
    return forum_task(
        "forum_like", seed, "easy", instruction, [made], writable=(LIKES,),
        params={"title": title, "place": place + 2, "other": (place + 1) % 6 + 2},
    )  # fmt: skip


def _liked(task: Task, place: str = "place") -> int:
    return comment_number(task, task.params["title"], task.params[place])


def _play_like(task: Task, view: BrowserView) -> Oracle:
    yield from open_topic(view, task.params["title"])
    box = yield from reach(view, f"#c{task.params['place']} .js-like")
    yield [click(box)]
    view.wait_for(f"#c{task.params['place']} .js-like", "remove like .*")
    yield [DONE]


# -- a correction ------------------------------------------------------------------------------------------------------


def _make_correct(seed: int) -> Task:
    random_ = rng("forum_correct_own", seed)
    title = random_.choice(TITLES)
    wrong, right = random_.sample(range(11, 98), 2)
    text = random_.choice(
        ("We needed {} metres of rope for it.", "It took {} sacks of lime in the end.", "Ours has {} panes, all old.")
    )
    mine = [comment(ADMIN, text.format(wrong)), comment(ADMIN, "I will take a photo tomorrow.")]
    replies = [*data.chatter(random_, OTHERS, 6), *mine]
    random_.shuffle(replies)
    made = topic(title, random_.choice(_TALK), [comment(OTHERS[0], data.OPENINGS[4]), *replies], data.moment(random_))
    instruction = random_.choice(
        (
            f'In your own comment "{text.format(wrong)}" in the topic "{title}" the number is wrong: it should be '
            f"{right}. Edit the comment.",
            f'You wrote "{text.format(wrong)}" in "{title}". Correct that comment so that it says {right} instead.',
        )
    )
    return forum_task(
        "forum_correct_own", seed, "medium", instruction, [made], writable=(COMMENTS,),
        params={"title": title, "place": replies.index(mine[0]) + 2, "other": replies.index(mine[1]) + 2,
                "text": text.format(right)},
    )  # fmt: skip


def _play_correct(task: Task, view: BrowserView) -> Oracle:
    yield from open_topic(view, task.params["title"])
    yield from follow(view, f"#c{task.params['place']} .comment__actions a", "edit")
    yield from write(view, task.params["text"])
    yield [DONE]


# -- a vote ------------------------------------------------------------------------------------------------------------


def _make_vote(seed: int) -> Task:
    random_ = rng("forum_vote", seed)
    title, (question, choices) = random_.choice(TITLES), random_.choice(POLLS)
    voters = random_.sample(OTHERS, 7)
    poll = {choices[0]: voters[:2], choices[1]: voters[2:3], choices[2]: voters[3:7]}
    opener = comment(random_.choice(OTHERS), question, poll=poll)
    made = topic(title, "House talk", [opener, *data.chatter(random_, OTHERS, 2)], data.moment(random_))
    place = random_.randrange(3)
    instruction = random_.choice(
        (
            f'Vote for "{choices[place]}" in the poll of the topic "{title}".',
            f'In "{title}" there is a poll: {question} Give your vote to {choices[place]}.',
        )
    )
    return forum_task(
        "forum_vote", seed, "easy", instruction, [made], writable=(VOTES,),
        params={"title": title, "label": choices[place], "choice": place + 1, "other": (place + 1) % 3 + 1},
    )  # fmt: skip


def _vote(choice: str) -> Callable[[Task], Variant]:
    return tables(
        votes=lambda t: [add_row({"user": ADMIN, "choice": t.params[choice]}, key=f"{ADMIN} {t.params[choice]}")]
    )


def _play_vote(task: Task, view: BrowserView) -> Oracle:
    yield from open_topic(view, task.params["title"])
    box = yield from reach(view, ".comment__text__poll label", exactly(task.params["label"]))
    yield [click(box)]
    yield from follow(view, ".comment__text__poll input[type=submit]")
    yield [DONE]


# -- a private message -------------------------------------------------------------------------------------------------

_PRIVATE = (
    ("Ladder for Friday", "Can we take your long ladder on Friday?"),
    ("Key of the mill", "The key lies under the third stone."),
    ("Present for the host", "I thought of a barometer. What do you say?"),
    ("Ride to the course", "There is room for two in my van."),
)  # fmt: skip


def _make_private(seed: int) -> Task:
    random_ = rng("forum_private", seed)
    (title, text), users = random_.choice(_PRIVATE), random_.sample(OTHERS, 3)
    instruction = random_.choice(
        (
            f'Send a private message (a private topic) with the title "{title}" to the users {users[0]} and '
            f"{users[1]}. It says: {text}",
            f'Start a private topic "{title}", invite {users[0]} and {users[1]} (these are their user names) and '
            f"nobody else, and write: {text}",
        )
    )
    return forum_task(
        "forum_private", seed, "medium", instruction, writable=(TOPICS, COMMENTS, INVITED),
        params={"title": title, "text": text, "users": users[:2], "one": users[:1], "three": users,
                "category": "Private", "open": "House talk"},
    )  # fmt: skip


def _private_rows(task: Task) -> list[Expected]:
    number = next_topic(task)
    return [
        *_topic_rows(task),
        *(Added("invited", {"user": user, "topic": number}) for user in (ADMIN, *task.params["users"])),
    ]


def _private(users: str, category: str = "category") -> Callable[[Task], Variant]:
    """Names of the parameters that say who was invited, and where the topic is."""
    return tables(
        topics=lambda t: [add_row({"title": t.params["title"], "category": t.params[category], "user": ADMIN})],
        comments=lambda t: [said(next_topic(t), t.params["text"])],
        invited=lambda t: [
            add_row({"user": user, "topic": next_topic(t)}, key=f"{user} {next_topic(t)}")
            for user in (ADMIN, *t.params[users])
        ],
    )


def _play_private(task: Task, view: BrowserView) -> Oracle:
    p = task.params
    yield from own_menu(view, "Private topics")
    yield from follow(view, "a.button", ".*[Cc]reate.*|.*[Pp]rivate.*")
    yield from fill(view, "#id_title", p["title"])
    yield from fill(view, "#id_users", ", ".join(p["users"]))
    yield from write(view, p["text"])
    yield [DONE]


# -- a profile ---------------------------------------------------------------------------------------------------------


def _make_profile(seed: int) -> Task:
    random_ = rng("forum_profile", seed)
    here = data.locations()[ADMIN]
    place, other = random_.sample([place for place in data.PLACES if place != here], 2)
    instruction = random_.choice(
        (
            f"You have moved to {place}. Give that as the location in your profile's preferences.",
            f"Change the location in your own preferences from {here} to {place}.",
        )
    )
    return forum_task(
        "forum_profile", seed, "easy", instruction, writable=(USER_TABLE,),
        params={"place": place, "other": other, "both": f"{here}, {place}"},
    )  # fmt: skip


def _play_profile(task: Task, view: BrowserView) -> Oracle:
    yield from own_menu(view, "Profile")
    yield from follow(view, "a.button", ".*Preferences")
    yield from fill(view, "#id_location", task.params["place"])
    yield from follow(view, "form input[type=submit][name=post]")
    yield [DONE]


FAMILIES = (
    Family(
        "forum_reply",
        _make_reply,
        changes(lambda t: [says_in(topic_number(t, t.params["title"]), t.params["text"])]),
        _play_reply,
        solutions={"posted": tables(comments=lambda t: [said(topic_number(t, t.params["title"]), t.params["text"])])},
        near_misses={
            "elsewhere": tables(comments=lambda t: [said(topic_number(t, t.params["other"]), t.params["text"])]),
            "twice": tables(comments=lambda t: [said(topic_number(t, t.params["title"]), t.params["text"])] * 2),
            "half": tables(comments=lambda t: [said(topic_number(t, t.params["title"]), t.params["text"][:9])]),
        },
    ),
    Family(
        "forum_new_topic",
        _make_topic,
        changes(_topic_rows),
        _play_topic,
        solutions={"opened": _new_topic()},
        near_misses={"another category": _new_topic("other"), "title as text": _new_topic(text="title")},
    ),
    Family(
        "forum_like",
        _make_like,
        changes(lambda t: [Added("likes", {"user": ADMIN, "comment": _liked(t)})]),
        _play_like,
        solutions={"liked": tables(likes=lambda t: [like(_liked(t))])},
        near_misses={
            "another": tables(likes=lambda t: [like(_liked(t, "other"))]),
            "both": tables(likes=lambda t: [like(_liked(t)), like(_liked(t, "other"))]),
        },
    ),
    Family(
        "forum_correct_own",
        _make_correct,
        changes(lambda t: [Edited("comments", str(_liked(t)), {"text": same_text(t.params["text"])})]),
        _play_correct,
        solutions={"edited": tables(comments=lambda t: [set_columns(str(_liked(t)), text=t.params["text"])])},
        near_misses={
            "another": tables(comments=lambda t: [set_columns(str(_liked(t, "other")), text=t.params["text"])]),
            "a new one": tables(comments=lambda t: [said(topic_number(t, t.params["title"]), t.params["text"])]),
        },
    ),
    Family(
        "forum_vote",
        _make_vote,
        changes(lambda t: [Added("votes", {"user": ADMIN, "choice": t.params["choice"]})]),
        _play_vote,
        solutions={"voted": _vote("choice")},
        near_misses={
            "another": _vote("other"),
            "a comment": tables(comments=lambda t: [said(topic_number(t, t.params["title"]), t.params["label"])]),
        },
    ),
    Family(
        "forum_private",
        _make_private,
        changes(_private_rows),
        _play_private,
        solutions={"sent": _private("users")},
        near_misses={
            "to one": _private("one"),
            "to a third": _private("three"),
            "in public": _new_topic("open"),
        },
    ),
    Family(
        "forum_profile",
        _make_profile,
        changes(lambda t: [Edited("users", ADMIN, {"location": t.params["place"]})]),
        _play_profile,
        solutions={"changed": tables(users=lambda t: [set_columns(ADMIN, location=t.params["place"])])},
        near_misses={
            "another place": tables(users=lambda t: [set_columns(ADMIN, location=t.params["other"])]),
            "both": tables(users=lambda t: [set_columns(ADMIN, location=t.params["both"])]),
            "somebody else": tables(users=lambda t: [set_columns("irma", location=t.params["place"])]),
        },
    ),
)
