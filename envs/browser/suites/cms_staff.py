"""Task families that ask what the museum's console says of its staff, contacts and redirects."""

from __future__ import annotations

from functools import partial
from typing import Any

from envs.browser.sites.cms_data import CHIEF, CONTACTS, EVENTS, NEWS, PEOPLE, PLAIN, REDIRECTS
from envs.browser.suites.cms_pages import (
    MEDDLED,
    NAMES,
    SITE,
    TITLES,
    cms_task,
    menu,
    open_page,
    page_menu,
)
from envs.browser.suites.common import Oracle, exactly, follow, rng
from envs.browser.suites.families import question
from envs.browser.view import BrowserView
from guiforge.task import Task
from verifiers.answers import Name, SetOf, Text, Want

_NAME_OF = {person.username: person.name for person in PEOPLE}
_GROUPS = ("Editors", "Moderators")


def _name(task: Task) -> Want:
    return _named(task.params["want"], task.params["names"])


def _named(name: str, names: list[str] | tuple[str, ...]) -> Name:
    return Name(name, others=tuple(other for other in names if other != name))


def _text(task: Task) -> Want:
    want = task.params["want"]
    others = tuple(text for text in task.params["texts"] if text != want)
    return Text(want, aliases=(want.replace(" ", ""),), others=others)


# -- who changed a page ------------------------------------------------------------------------------------------------

_OWNED = {
    **{event.title: "thea" for event in EVENTS},
    **{title: "nadia" for title, _, _ in NEWS},
    **dict.fromkeys(PLAIN, "petra"),
}  # fmt: skip


def _make_editor(seed: int) -> Task:
    random_ = rng("cms_last_editor", seed)
    page, *others = random_.sample(list(_OWNED), 5)
    staff = [name for name in _NAME_OF if name != CHIEF]
    editor = random_.choice([name for name in staff if name != _OWNED[page]])
    editors = {page: editor, **{other: random_.choice(staff) for other in others}}
    instruction = random_.choice(
        (
            f'Who made the last change to the page "{page}"? Its history says it.',
            f'Find out which member of staff was the last to edit the page "{page}".',
        )
    )
    right = _NAME_OF[editor]
    return cms_task(
        "cms_last_editor", seed, "medium", instruction, records={"editors": editors}, title=page, want=right,
        names=list(NAMES), right=[right, f"The last one was {right}."],
        wrong=[_NAME_OF[_OWNED[page]], _NAME_OF[CHIEF]],
    )  # fmt: skip


def _see_history(task: Task, view: BrowserView) -> Oracle:
    yield from open_page(view, task.params["title"])
    yield from page_menu(view, "History")


# -- who is in a group -------------------------------------------------------------------------------------------------


def _make_members(seed: int) -> Task:
    random_ = rng("cms_group_members", seed)
    staff = [person for person in PEOPLE if person.username != CHIEF]
    while True:
        groups = {person.username: random_.choice(((), _GROUPS[:1], _GROUPS[1:], _GROUPS)) for person in staff}
        asked = random_.choice((_GROUPS[:1], _GROUPS))
        inside = [person.name for person in staff if set(asked) <= set(groups[person.username])]
        rest = [person.name for person in staff if person.name not in inside and groups[person.username]]
        if 2 <= len(inside) <= 5 and rest:
            break
    if asked == _GROUPS:
        wordings = (
            "Which people belong to both groups of the console, Editors and Moderators?",
            "Name everybody who is an editor as well as a moderator, by the groups of the accounts.",
        )
    else:
        wordings = (
            "Who are the members of the group Editors? Give their full names.",
            "List everybody who belongs to the console's group Editors.",
        )
    return cms_task(
        "cms_group_members", seed, "medium", random_.choice(wordings),
        records={"groups": {name: list(those) for name, those in groups.items()}}, groups=list(asked), want=inside,
        right=[", ".join(inside), "They are:\n" + "\n".join(f"{n}. {name}" for n, name in enumerate(inside, 1))],
        wrong=[", ".join(inside[1:]), ", ".join([*inside, rest[0]])],
    )  # fmt: skip


def _members(task: Task) -> Want:
    return SetOf(tuple(_named(name, NAMES) for name in task.params["want"]))


def _see_groups(task: Task, view: BrowserView) -> Oracle:
    for group in task.params["groups"]:
        yield from menu(view, "Settings", "Groups")
        yield from follow(view, "main a", exactly(group))
        yield from follow(view, "header a", "View users in this group")


# -- whom to ask -------------------------------------------------------------------------------------------------------

_QUESTIONS = {
    ("role", "name"): ("Which of our contacts is in charge of {}?", "Whom does the console list as contact for {}?"),
    ("role", "phone"): ("Which phone number has the contact for {}?", "At which number can one reach our {} contact?"),
    ("office", "name"): ("Which of our contacts sits in office {}?", "Whose office is {}? It is one of our contacts."),
    ("phone", "role"): ("The number {} belongs to one of our contacts. What is that contact's role?",
                        "For what is the contact responsible whose phone number is {}?"),
}  # fmt: skip


def _make_contact(seed: int) -> Task:
    random_ = rng("cms_contact_fact", seed)
    columns: dict[str, list[Any]] = {name: [row[name] for row in CONTACTS] for name in ("role", "phone", "office")}
    for values in columns.values():
        random_.shuffle(values)
    found = [{"name": CONTACTS[n]["name"], **{k: v[n] for k, v in columns.items()}} for n in range(len(CONTACTS))]
    by, asked = random_.choice(list(_QUESTIONS))
    row, other = random_.sample(found, 2)
    records = {"contacts": {one["name"]: {k: one[k] for k in columns} for one in found}}
    every = [one[asked] for one in found]
    right = row[asked]
    return cms_task(
        "cms_contact_fact", seed, "medium", random_.choice(_QUESTIONS[by, asked]).format(row[by]), records=records,
        name=row["name"], want=right, kind=asked, names=every, texts=every,
        right=[right, f"The answer is {right}."], wrong=[other[asked], f"{right} or {other[asked]}"],
    )  # fmt: skip


def _contact(task: Task) -> Want:
    return _name(task) if task.params["kind"] == "name" else _text(task)


def _see_contact(task: Task, view: BrowserView) -> Oracle:
    """The right one at once: who does not know it has to try them."""
    yield from menu(view, "Snippets")
    yield from follow(view, "main a", "Contacts")
    yield from follow(view, "main a", exactly(task.params["name"]))


# -- where an old address leads ----------------------------------------------------------------------------------------

_OLD = (
    "/winter",
    "/spring",
    "/lift",
    "/kids",
    "/find-us",
    "/lost",
    "/rules",
    "/evening",
    "/new",
    "/music",
    "/news-old",
)


def _make_redirect(seed: int) -> Task:
    random_ = rng("cms_redirect_target", seed)
    added = dict(zip(random_.sample(_OLD, 5), random_.sample(list(_OWNED), 5), strict=True))
    every = {**REDIRECTS, **added}
    path, other = random_.choice(list(added)), random_.choice(list(REDIRECTS))
    instruction = random_.choice(
        (
            f"To which page are visitors redirected who follow an old link to {path}? Give its title.",
            f"The site has a redirect from {path}. What is the title of the page that it leads to?",
        )
    )
    right = every[path]
    return cms_task(
        "cms_redirect_target", seed, "easy", instruction, records={"redirects": added}, want=right,
        texts=list(TITLES), right=[right, f'It leads to "{right}".'],
        wrong=[every[other], f"{right} or {every[other]}"],
    )  # fmt: skip


def _see_redirects(task: Task, view: BrowserView) -> Oracle:
    yield from menu(view, "Settings", "Redirects")


_asks = partial(question, SITE, meddled=MEDDLED)
FAMILIES = (
    _asks("cms_redirect_target", _make_redirect, _text, _see_redirects, wrong=("another's", "two of them")),
    _asks("cms_contact_fact", _make_contact, _contact, _see_contact, wrong=("another's", "two of them")),
    _asks("cms_last_editor", _make_editor, _name, _see_history, wrong=("who made it", "who published it")),
    _asks("cms_group_members", _make_members, _members, _see_groups, wrong=("one missing", "one too many")),
)  # fmt: skip
