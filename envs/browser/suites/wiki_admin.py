"""Changes that only the wiki's administrator can make: a new user, a user's group, what a group may do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from envs.browser.sites import wiki_data as data
from envs.browser.sites.wiki import hashed
from envs.browser.suites.common import DONE, Oracle, choose, click, exactly, fill, follow, reach, rng
from envs.browser.suites.wiki_common import (
    PAGES,
    RIGHTS,
    USERS,
    changes,
    edited,
    open_page,
    replace_line,
    save,
    tool,
    wiki_task,
)  # fmt: skip
from envs.browser.view import BrowserView
from guiforge.task import Edit, Family, Task, Variant
from verifiers.sites import Added, Edited, add_row, edit_rows, set_columns

_READ, _EDIT, _CREATE = 1, 2, 4  # a right includes those below it


def _open(view: BrowserView, name: str) -> Oracle:
    yield from follow(view, "#dokuwiki__usertools a", "Admin")
    yield from follow(view, "#dokuwiki__content a", f"{exactly(name)}.*")


# -- a new user --------------------------------------------------------------------------------------------------------

_NEWCOMERS = ("Tuomas Ahlgren", "Viveca Dahl", "Yrsa Falk", "Wilma Grand", "Oskar Hjelm", "Tilda Ros", "Emil Wik")


def _make_user(seed: int) -> Task:
    random_ = rng("wiki_add_user", seed)
    name, team = random_.choice(_NEWCOMERS), random_.choice(data.TEAMS)
    login = name.split()[0].lower() + str(random_.randint(10, 99))
    password = f"{random_.choice(('tern', 'otter', 'birch', 'heron'))}-{random_.randint(1000, 9999)}"
    mail = f"{login}@halvard.example"
    instruction = random_.choice(
        (
            f"Make an account in the wiki: user {login}, real name {name}, email {mail}, password {password}, groups "
            f"user and {team}.",
            f'{name} needs access to the wiki. Add the user "{login}" with the password "{password}", the mail address '
            f'{mail} and membership in the groups "user" and "{team}".',
        )
    )
    return wiki_task(
        "wiki_add_user", seed, "medium", instruction, writable=(USERS,),
        params={"login": login, "name": name, "mail": mail, "password": password, "groups": sorted(("user", team))},
    )  # fmt: skip


def _user(**more: Any) -> Callable[[Task], Variant]:
    """The new user, some columns different."""

    def make(task: Task) -> Variant:
        p = task.params
        row = {**{name: p[name] for name in ("login", "name", "mail", "groups")}, "password": hashed(p["password"])}
        return Variant({USERS: edit_rows(add_row({**row, **more}, key=p["login"]))})

    return make


def _play_user(task: Task, view: BrowserView) -> Oracle:
    p = task.params
    yield from _open(view, "User Manager")
    values = {"userid": p["login"], "userpass": p["password"], "userpass2": p["password"], "username": p["name"],
              "usermail": p["mail"], "usergroups": ",".join(p["groups"])}  # fmt: skip
    for field, value in values.items():
        yield from fill(view, f"#add_{field}", value)
    yield from follow(view, "button[name='fn[add]']")
    yield [DONE]


# -- another team ------------------------------------------------------------------------------------------------------


def _make_team(seed: int) -> Task:
    random_ = rng("wiki_change_team", seed)
    person = random_.choice([person for person in data.PEOPLE if person.id != data.ADMIN])
    team = random_.choice([team for team in data.TEAMS if team != person.team])
    instruction = random_.choice(
        (
            f"{person.name} moves from the {person.team} team to the {team} team. In the wiki, put the account "
            f'"{person.id}" into the group {team} instead of {person.team}, and correct the team on the page about '
            f"{person.name} (the team's name stays bold).",
            f"Since today {person.name} belongs to the {team} team and no longer to {person.team}: the user "
            f'"{person.id}" must be in the groups user and {team}, and the page about {person.name} must name the new '
            "team, in bold as before.",
        )
    )
    return wiki_task(
        "wiki_change_team", seed, "hard", instruction, writable=(PAGES, USERS), steps=40,
        params={
            "id": person.id, "name": person.name, "page": person.page, "old": person.team, "new": team,
            "text": replace(person, team=team).text, "groups": sorted(("user", team)),
            "all": sorted(("user", team, person.team)),
        },
    )  # fmt: skip


def _team(groups: str = "", page: bool = True) -> Callable[[Task], Variant]:
    """Which parameter the user's groups are; whether the page was corrected."""

    def make(task: Task) -> Variant:
        p = task.params
        edits: dict[str, Edit] = {USERS: edit_rows(set_columns(p["id"], groups=p[groups]))} if groups else {}
        if page:
            edits[PAGES] = edit_rows(set_columns(p["page"], text=p["text"]))
        return Variant(edits)

    return make


def _play_team(task: Task, view: BrowserView) -> Oracle:
    p = task.params
    yield from open_page(view, "People", p["name"])
    yield from tool(view, "edit")
    line = f"{p['name']} works in the **{{}}** team."
    yield from replace_line(view, line.format(p["old"]), line.format(p["new"]))
    yield from save(view)
    yield from _open(view, "User Manager")
    yield from follow(view, "#user__manager a", p["id"])
    yield from fill(view, "#modify_usergroups", ",".join(p["groups"]))
    yield from follow(view, "button[name='fn[modify]']")
    yield [DONE]


# -- what a group may do -----------------------------------------------------------------------------------------------


def _make_rights(seed: int) -> Task:
    random_ = rng("wiki_group_rights", seed)
    team, (space, other) = random_.choice(data.TEAMS), random_.sample(("handbook", "instruments", "plots", "trips"), 2)
    level, what = random_.choice(((_READ, "only read"), (_EDIT, "read and edit, but not create,")))
    instruction = random_.choice(
        (
            f"Set the wiki's access rules so that members of the group {team} may {what} the pages of the namespace "
            f"{space}. Leave the other rules alone.",
            f'Add an access rule: in the namespace "{space}", the group "{team}" may {what} pages.',
        )
    )
    return wiki_task(
        "wiki_group_rights", seed, "hard", instruction, writable=(RIGHTS,),
        params={"page": f"{space}:*", "space": space, "other": f"{other}:*", "who": f"@{team}", "team": team,
                "level": level, "label": "Read" if level == _READ else "Edit"},
    )  # fmt: skip


def _right(page: str = "page", **more: Any) -> Callable[[Task], Variant]:
    """The new rule, some columns different."""

    def make(task: Task) -> Variant:
        p = task.params
        row = {"page": p[page], "who": p["who"], "level": p["level"], **more}
        return Variant({RIGHTS: edit_rows(add_row(row, key=f"{row['page']} {row['who']}"))})

    return make


def _play_rights(task: Task, view: BrowserView) -> Oracle:
    p = task.params
    yield from _open(view, "Access Control List Management")
    box = yield from reach(view, "#acl__tree a", exactly(p["space"]))
    yield [click(box)]
    view.wait_for("#acl__info", rf"[^\0]*namespace\s+{exactly(p['space'])}[^\0]*")
    yield from choose(view, "#acl__user select", "Group:")
    yield from fill(view, "#acl__user input[name=acl_w]", p["team"])
    box = yield from reach(view, "#acl__user button")
    yield [click(box)]
    box = view.wait_for("#acl__info label", exactly(p["label"]))
    yield [click(box)]
    yield from follow(view, "#acl__info button[name='cmd[save]']")
    yield [DONE]


def _right_row(task: Task) -> Added:
    return Added("rights", {name: task.params[name] for name in ("page", "who", "level")})


def _user_row(task: Task) -> Added:
    p = task.params
    row = {name: p[name] for name in ("login", "name", "mail", "groups")}
    return Added("users", {**row, "password": hashed(p["password"])})


FAMILIES = (
    Family(
        "wiki_add_user",
        _make_user,
        changes(lambda t: [_user_row(t)]),
        _play_user,
        solutions={"added": _user()},
        near_misses={
            "default group": _user(groups=["user"]),
            "administrator": _user(groups=["admin", "user"]),
            "another password": _user(password=hashed("birch")),
        },
    ),
    Family(
        "wiki_change_team",
        _make_team,
        changes(
            lambda t: [
                Edited("users", t.params["id"], {"groups": t.params["groups"]}),
                Edited("pages", t.params["page"], edited(t.params["text"])),
            ]
        ),
        _play_team,
        solutions={"changed": _team("groups")},
        near_misses={"in both": _team("all"), "page only": _team(), "account only": _team("groups", page=False)},
    ),
    Family(
        "wiki_group_rights",
        _make_rights,
        changes(lambda t: [_right_row(t)]),
        _play_rights,
        solutions={"added": _right()},
        near_misses={
            "more": _right(level=_CREATE),
            "everybody": _right(who="@ALL"),
            "another namespace": _right("other"),
        },
    ),
)
