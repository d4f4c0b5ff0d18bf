"""The site `forum`: Spirit, whose topics, comments, likes, polls and profiles lie in one SQLite file.

Invariant: what counts is what people said and decided. Read marks, counters, times, sessions, the log that moderation
leaves in a topic, and the watching that comes of writing there are no state. Whoever comes is signed in as
`forum_data.ADMIN`, its moderator and administrator.
"""

from __future__ import annotations

import html
import re
import shutil
import sqlite3
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from envs.browser.sites import forum_data
from envs.browser.sites.forum_data import ADMIN, CATEGORIES, USERS, Comment, Topic
from envs.browser.sites.site import Site, Tables, database, others_of, rows_of, run

_SERVE = Path(__file__).parents[3] / "images" / "sites" / "forum.serve.py"
_DATABASE = "forum.sqlite"
_PRIVATE = 1  # the category of private topics
_NEVER = 1  # when somebody is notified by mail
_LONG_AGO = "2024-11-01 09:00:00"


class Forum(Site):
    """See Site. records: `{"topics": [...]}` as `forum_data.topic` makes them, numbered after those of the base."""

    name = "forum"
    restart = False
    requirements = (
        "asgiref==3.13.0", "django==5.2.19", "django-djconfig==0.11.0", "django-haystack==3.4.0",
        "django-infinite-scroll-pagination==1.3.0", "django-spirit==0.14.3", "mistune==0.8.4", "olefile==0.47",
        "packaging==26.4", "pillow==13.0.0", "sqlparse==0.6.1", "tzdata==2026.6", "whoosh==2.7.4",
    )  # fmt: skip

    def install(self, root: Path) -> None:
        """See Site."""
        super().install(root)
        shutil.copy(_SERVE, root)

    def build(self, root: Path, data: Path) -> None:
        """See Site."""
        run([root / "venv/bin/python", root / _SERVE.name, data])
        with database(data / _DATABASE, write=True) as base:
            base.execute("PRAGMA journal_mode=DELETE")
            base.execute("DELETE FROM spirit_category_category WHERE id != ?", (_PRIVATE,))
            for sort, (title, about) in enumerate(CATEGORIES.items(), 3):
                base.execute(
                    "INSERT INTO spirit_category_category (title, slug, description, is_closed, is_removed, is_private,"
                    " is_global, color, reindex_at, sort) VALUES (?, ?, ?, 0, 0, 0, 1, '', ?, ?)",
                    (title, _slug(title), about, _LONG_AGO, sort),
                )
            base.execute("INSERT INTO djconfig_config (key, value) VALUES ('site_name', 'Gable End')")
            for user, place in forum_data.locations().items():
                _add_user(base, user, place)
        self.seed(data, {"topics": forum_data.base()})

    def argv(self, root: Path, data: Path, port: int) -> list[str]:
        """See Site."""
        return [str(root / "venv/bin/python"), str(root / _SERVE.name), str(data), str(port), ADMIN]

    def seed(self, data: Path, records: Any) -> None:
        """See Site."""
        if not records:
            return
        with database(data / _DATABASE, write=True) as base:
            users = {row["username"]: row["id"] for row in base.execute("SELECT id, username FROM auth_user")}
            categories = {r["title"]: r["id"] for r in base.execute("SELECT id, title FROM spirit_category_category")}
            for topic in records["topics"]:
                _add_topic(base, topic, users, categories)

    def dump(self, data: Path) -> Tables:
        """See Site. Topics, comments, polls and choices are keyed by number, users by name, what one did by both."""
        with database(data / _DATABASE) as base:
            tables = {table: rows_of(base, query, "key") for table, query in _DUMP.items()}
            return {**tables, "others": others_of(base, _KNOWN)}


SITE = Forum()

# dumped; followed from what is (counts, histories); left by a visit (sessions, how far one has read)
_KNOWN = """spirit_topic_topic spirit_category_category spirit_comment_comment spirit_comment_like_*
    spirit_comment_flag_* spirit_comment_poll_* spirit_topic_private_* spirit_topic_notification_* auth_user
    spirit_user_userprofile djconfig_config spirit_comment_history_* django_session
    spirit_comment_bookmark_* spirit_topic_unread_*"""
_DUMP = {
    "topics": "SELECT t.id AS key, t.title, c.title AS category, u.username AS user,"
    " t.is_pinned AS pinned, t.is_globally_pinned AS pinned_globally, t.is_closed AS closed,"
    " t.is_removed AS removed FROM spirit_topic_topic t JOIN spirit_category_category c ON c.id = t.category_id"
    " JOIN auth_user u ON u.id = t.user_id",
    "comments": "SELECT c.id AS key, c.topic_id AS topic, u.username AS user, c.comment AS text,"
    " c.is_removed AS removed FROM spirit_comment_comment c JOIN auth_user u ON u.id = c.user_id WHERE c.action = 0",
    "likes": "SELECT u.username || ' ' || l.comment_id AS key, u.username AS user, l.comment_id AS comment"
    " FROM spirit_comment_like_commentlike l JOIN auth_user u ON u.id = l.user_id",
    "invited": "SELECT u.username || ' ' || p.topic_id AS key, u.username AS user, p.topic_id AS topic"
    " FROM spirit_topic_private_topicprivate p JOIN auth_user u ON u.id = p.user_id",
    "reports": "SELECT u.username || ' ' || f.comment_id AS key, u.username AS user, f.comment_id AS comment,"
    " f.reason AS reason, f.body AS body FROM spirit_comment_flag_flag f JOIN auth_user u ON u.id = f.user_id",
    "reports_closed": "SELECT comment_id AS key, is_closed AS closed FROM spirit_comment_flag_commentflag"
    " WHERE is_closed",
    "polls": "SELECT id AS key, comment_id AS comment, name, title, choice_min, choice_max, mode, close_at,"
    " is_removed AS removed FROM spirit_comment_poll_commentpoll",
    "choices": "SELECT id AS key, poll_id AS poll, number, description, is_removed AS removed"
    " FROM spirit_comment_poll_commentpollchoice",
    "votes": "SELECT u.username || ' ' || v.choice_id AS key, u.username AS user, v.choice_id AS choice"
    " FROM spirit_comment_poll_commentpollvote v JOIN auth_user u ON u.id = v.voter_id WHERE NOT v.is_removed",
    "watching": "SELECT u.username || ' ' || n.topic_id AS key, u.username AS user, n.topic_id AS topic,"
    " n.is_active AS watched FROM spirit_topic_notification_topicnotification n JOIN auth_user u ON u.id = n.user_id"
    " WHERE n.is_active != (EXISTS (SELECT 1 FROM spirit_comment_comment c WHERE c.topic_id = n.topic_id"
    " AND c.user_id = n.user_id AND c.action = 0) OR n.action = 1 OR EXISTS (SELECT 1 FROM"
    " spirit_topic_private_topicprivate p WHERE p.topic_id = n.topic_id AND p.user_id = n.user_id))",
    "categories": "SELECT c.id AS key, c.title, c.description, p.title AS parent, c.is_closed AS closed,"
    " c.is_removed AS removed, c.is_global AS global_, c.color FROM spirit_category_category c"
    " LEFT JOIN spirit_category_category p ON p.id = c.parent_id",
    "users": "SELECT u.username AS key, s.nickname, u.first_name, u.last_name, u.email, u.password,"
    " u.is_active AS active, s.location, s.timezone, s.notify, s.avatar, s.is_moderator AS moderator,"
    " s.is_administrator AS administrator FROM auth_user u JOIN spirit_user_userprofile s ON s.user_id = u.id",
    "settings": 'SELECT "key" AS key, value FROM djconfig_config WHERE "key" != \'_updated_at\'',
}


def _add_user(base: sqlite3.Connection, user: str, place: str) -> None:
    number = base.execute(
        "INSERT INTO auth_user (username, password, email, first_name, last_name, is_superuser, is_staff, is_active,"
        " date_joined) VALUES (?, '!', ?, '', '', 0, 0, 1, ?)",
        (user, f"{user}@gables.example", _LONG_AGO),
    ).lastrowid
    base.execute(
        "INSERT INTO spirit_user_userprofile (user_id, slug, nickname, location, last_seen, timezone, is_administrator,"
        " is_moderator, is_verified, topic_count, comment_count, last_post_hash, notify, avatar)"
        " VALUES (?, ?, ?, ?, ?, 'UTC', ?, ?, 1, 0, 0, '', ?, '')",
        (number, user, USERS[user], place, _LONG_AGO, user == ADMIN, user == ADMIN, _NEVER),
    )


def _add_topic(base: sqlite3.Connection, topic: Topic, users: dict[str, int], categories: dict[str, int]) -> None:
    begun = datetime.fromisoformat(topic["date"])
    times = [begun + timedelta(hours=n) for n in range(len(topic["comments"]))]
    author, invited = topic["comments"][0]["user"], topic.get("to", ())
    number = base.execute(
        "INSERT INTO spirit_topic_topic (title, slug, date, last_active, is_pinned, is_globally_pinned, is_closed,"
        " is_removed, view_count, comment_count, category_id, user_id, reindex_at)"
        " VALUES (?, ?, ?, ?, ?, 0, ?, 0, 0, ?, ?, ?, ?)",
        (
            topic["title"], _slug(topic["title"]), str(begun), str(times[-1]), topic.get("pinned", False),
            topic.get("closed", False), len(times), _PRIVATE if invited else categories[topic["category"]],
            users[author], str(begun),
        ),
    ).lastrowid  # fmt: skip
    for user in {author, *invited} if invited else ():
        base.execute(
            "INSERT INTO spirit_topic_private_topicprivate (user_id, topic_id, date) VALUES (?, ?, ?)",
            (users[user], number, str(begun)),
        )
    for comment, when in zip(topic["comments"], times, strict=True):
        _add_comment(base, comment, number, str(when), users)


def _add_comment(
    base: sqlite3.Connection, comment: Comment, topic: int | None, when: str, users: dict[str, int]
) -> None:
    text, shown = comment["text"], "".join(f"<p>{html.escape(p)}</p>\n" for p in comment["text"].split("\n\n"))
    if poll := comment["poll"]:
        text += "\n\n[poll name=poll]\n" + "\n".join(f"{n}. {c}" for n, c in enumerate(poll, 1)) + "\n[/poll]"
        shown += "<poll name=poll>\n"
    number = base.execute(
        "INSERT INTO spirit_comment_comment (comment, comment_html, action, date, is_removed, is_modified,"
        " modified_count, likes_count, topic_id, user_id) VALUES (?, ?, 0, ?, 0, 0, 0, ?, ?, ?)",
        (text, shown, when, len(comment["likes"]), topic, users[comment["user"]]),
    ).lastrowid
    for user in comment["likes"]:
        base.execute(
            "INSERT INTO spirit_comment_like_commentlike (date, comment_id, user_id) VALUES (?, ?, ?)",
            (when, number, users[user]),
        )
    if not poll:
        return
    made = base.execute(
        "INSERT INTO spirit_comment_poll_commentpoll (name, title, choice_min, choice_max, mode, is_removed,"
        " created_at, comment_id) VALUES ('poll', '', 1, 1, 0, 0, ?, ?)",
        (when, number),
    ).lastrowid
    for order, (choice, voters) in enumerate(poll.items(), 1):
        chosen = base.execute(
            "INSERT INTO spirit_comment_poll_commentpollchoice (number, description, vote_count, is_removed, poll_id)"
            " VALUES (?, ?, ?, 0, ?)",
            (order, choice, len(voters), made),
        ).lastrowid
        for user in voters:
            base.execute(
                "INSERT INTO spirit_comment_poll_commentpollvote (is_removed, created_at, choice_id, voter_id)"
                " VALUES (0, ?, ?, ?)",
                (when, chosen, users[user]),
            )


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:50]
