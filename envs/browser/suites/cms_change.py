"""Task families that change what the museum's console keeps beside pages: notice, contacts, redirects, accounts."""

from __future__ import annotations

from collections.abc import Callable

from envs.browser.sites.cms_data import CHIEF, CONTACTS, NOTICE, PEOPLE, PLAIN, ROOMS
from envs.browser.suites.cms_pages import (
    ACCOUNT_ROWS,
    CONTACT_ROWS,
    NOTICE_ROWS,
    REDIRECT_ROWS,
    SITE,
    Programme,
    choose_page,
    cms_task,
    confirm,
    fill_form,
    menu,
    open_page,
    page_menu,
    titles,
    toggle,
)
from envs.browser.suites.common import Oracle, click, exactly, follow, rng
from envs.browser.suites.families import Way, change, changing, edited, impossible, key_of
from envs.browser.view import BrowserView
from guiforge.env import StateReader
from guiforge.task import Task, Variant
from verifiers.sites import Added, Edited, Expected, add_row, one_of, rows_before, same_text, set_columns

# -- the notice --------------------------------------------------------------------------------------------------------

_WHY = ("a private event", "repairs to the roof", "a concert rehearsal", "new paint on the walls", "a school exam")


def _make_notice(seed: int) -> Task:
    random_ = rng("cms_notice", seed)
    (room, other), why = random_.sample(ROOMS, 2), random_.choice(_WHY)
    day = random_.choice(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"))
    old, new = f"The {other} is open again.", f"The {room} is closed on {day}: {why}."
    phone = f"555 01{random_.randint(31, 99)}"
    instruction = random_.choice(
        (
            f'The notice on top of the site\'s pages is out of date. Replace its text by "{new}", and change the '
            f"phone number for tickets to {phone}.",
            f'In the settings, make the notice read "{new}" instead of what it says now. The new ticket phone is '
            f"{phone}.",
        )
    )
    return cms_task(
        "cms_notice", seed, "easy", instruction, records={"notice": {"notice": old}}, writes=(NOTICE_ROWS,),
        new=new, phone=phone, both=f"{old} {new}", old=old,
    )  # fmt: skip


def _noticed(task: Task, state: StateReader) -> list[Expected]:
    return [
        Edited("notices", "museum", {"notice": same_text(task.params["new"]), "ticket_phone": task.params["phone"]})
    ]


def _notice(notice: str = "new", **other: str) -> Way:
    """An end with this text and the new number, or columns that parameters name."""

    def way(task: Task) -> Variant:
        values = {"ticket_phone": task.params["phone"], **other}
        return edited(SITE, notices=[set_columns("museum", notice=task.params[notice], **values)])

    return way


def _play_notice(task: Task, view: BrowserView) -> Oracle:
    yield from menu(view, "Settings", "Notice")
    yield from fill_form(view, {"notice": task.params["new"], "ticket_phone": task.params["phone"]})
    yield from confirm(view, "Save")


# -- a contact ---------------------------------------------------------------------------------------------------------


def _make_contact(seed: int) -> Task:
    random_ = rng("cms_contact_moves", seed)
    row, other = random_.sample(CONTACTS, 2)
    office = f"{random_.choice('NESW')} {random_.randint(30, 60)}"
    phone = f"555 02{random_.randint(10, 99)}"
    instruction = random_.choice(
        (
            f"{row['name']}, one of our contacts, now sits in office {office} and has the phone number {phone}. Enter "
            "both.",
            f"Correct the contact {row['name']}: the office is {office}, and the phone number is {phone}.",
        )
    )
    return cms_task(
        "cms_contact_moves", seed, "easy", instruction, writes=(CONTACT_ROWS,), name=row["name"],
        other=other["name"], values={"office": office, "phone": phone},
    )  # fmt: skip


def _moved(task: Task, state: StateReader) -> list[Expected]:
    key = key_of(rows_before(state, SITE, "contacts"), name=task.params["name"])
    return [Edited("contacts", key, task.params["values"])]


def _contact(name: str = "name", *columns: str, **more: str) -> Way:
    """An end in which the contact that a parameter names has some of the new values, or all."""

    def way(task: Task) -> Variant:
        values = {k: v for k, v in task.params["values"].items() if k in columns or not columns}
        return edited(SITE, contacts=[change({"name": task.params[name]}, **values, **more)])

    return way


def _play_contact(task: Task, view: BrowserView) -> Oracle:
    yield from menu(view, "Snippets")
    yield from follow(view, "main a", "Contacts")
    yield from follow(view, "main a", exactly(task.params["name"]))
    yield from fill_form(view, task.params["values"])
    yield from confirm(view, "Save")


# -- a redirect --------------------------------------------------------------------------------------------------------

_PATHS = ("/map", "/parking", "/wheelchairs", "/cloakroom", "/coffee", "/umbrellas", "/times", "/manners", "/entry")


def _make_redirect(seed: int) -> Task:
    random_ = rng("cms_add_redirect", seed)
    path, wrong = random_.sample(_PATHS, 2)
    page, other = random_.sample(PLAIN, 2)
    permanent = random_.random() < 0.5
    kind = "a permanent" if permanent else "a temporary (not a permanent)"
    instruction = random_.choice(
        (
            f'Add {kind} redirect from {path} to the page "{page}".',
            f'Whoever calls up the old address {path} should get to the page "{page}": set {kind} redirect up for it.',
        )
    )
    return cms_task(
        "cms_add_redirect", seed, "medium", instruction, writes=(REDIRECT_ROWS,), path=path, wrong=wrong, page=page,
        other=other, permanent=int(permanent),
    )  # fmt: skip


def _redirected(task: Task, state: StateReader) -> list[Expected]:
    p = task.params
    sites = one_of(None, *map(int, rows_before(state, SITE, "sites")))  # for all of the one site there is: the same
    return [Added("redirects", {"source": p["path"], "page": p["page"], "permanent": p["permanent"], "site": sites})]


def _redirect(path: str = "path", page: str = "page", *, flip: bool = False) -> Way:
    """An end with a redirect from and to what parameters name; `flip`: of the other kind."""

    def way(task: Task) -> Variant:
        p = task.params
        row = {"source": p[path], "page": p[page], "permanent": p["permanent"] ^ flip, "site": None}
        return edited(SITE, redirects=[add_row(row)])

    return way


def _redirect_link(task: Task) -> Variant:
    """To an address instead of a page."""
    p = task.params
    row = {"source": p["path"], "page": None, "link": "http://cms.test/", "permanent": p["permanent"], "site": None}
    return edited(SITE, redirects=[add_row(row)])


def _play_redirect(task: Task, view: BrowserView) -> Oracle:
    yield from menu(view, "Settings", "Redirects")
    yield from follow(view, "header a", "Add redirect")
    yield from fill_form(view, {"old_path": task.params["path"]})
    if not task.params["permanent"]:
        yield from toggle(view, "#id_is_permanent")
    yield from choose_page(view, task.params["page"])
    yield from confirm(view, "Create")


# -- an account --------------------------------------------------------------------------------------------------------


def _make_groups(seed: int) -> Task:
    random_ = rng("cms_change_group", seed)
    person, other = random_.sample([person for person in PEOPLE if person.username != CHIEF], 2)
    old, new = random_.choice((("Editors", "Moderators"), ("Moderators", "Editors")))
    instruction = random_.choice(
        (
            f"{person.name} moves from the group {old} to the group {new}. Change the account; it should be in no "
            "other group.",
            f"Make {person.name} a member of {new} and no longer of {old}, in the console's user administration.",
        )
    )
    return cms_task(
        "cms_change_group", seed, "medium", instruction, writes=(ACCOUNT_ROWS,), name=person.name, user=person.username,
        other=other.username, records={"groups": {person.username: [old], other.username: [old]}}, old=[old],
        new=[new], both=["Editors", "Moderators"], neither=[],
    )  # fmt: skip


def _grouped(task: Task, state: StateReader) -> list[Expected]:
    return [Edited("people", task.params["user"], {"groups": task.params["new"]})]


def _groups(groups: str = "new", user: str = "user", **more: object) -> Way:
    """An end in which an account is in the groups of a parameter."""
    return lambda task: edited(SITE, people=[set_columns(task.params[user], groups=task.params[groups], **more)])


def _in_account(play: Callable[[Task, BrowserView], Oracle]) -> Callable[[Task, BrowserView], Oracle]:
    """What is done with the account's form open."""

    def way(task: Task, view: BrowserView) -> Oracle:
        yield from menu(view, "Settings", "Users")
        yield from follow(view, "main table a", exactly(task.params["name"]))
        yield from play(task, view)
        yield from confirm(view, "Save")

    return way


def _tick_groups(task: Task, view: BrowserView) -> Oracle:
    yield [click(view.wait_for("main [role=tab]", "Roles"))]
    for group in (*task.params["old"], *task.params["new"]):
        yield [click(view.wait_for("#id_groups label", group))]


def _make_inactive(seed: int) -> Task:
    random_ = rng("cms_close_account", seed)
    person, other = random_.sample([person for person in PEOPLE if person.username != CHIEF], 2)
    groups = {one.username: [random_.choice(("Editors", "Moderators"))] for one in (person, other)}
    instruction = random_.choice(
        (
            f"{person.name} has left the museum. Set the account to inactive, but neither delete it nor take it out "
            "of its group.",
            f"Deactivate the account of {person.name}, without deleting it.",
        )
    )
    return cms_task(
        "cms_close_account", seed, "easy", instruction, writes=(ACCOUNT_ROWS,), name=person.name, user=person.username,
        other=other.username, records={"groups": groups},
    )  # fmt: skip


def _closed(task: Task, state: StateReader) -> list[Expected]:
    return [Edited("people", task.params["user"], {"active": 0})]


def _account(*users: str, **columns: object) -> Way:
    """An end in which the accounts that parameters name have these values."""
    return lambda task: edited(SITE, people=[set_columns(task.params[user], **columns) for user in users])


def _untick_active(task: Task, view: BrowserView) -> Oracle:
    yield from toggle(view, "#id_is_active")


# -- what it can't do --------------------------------------------------------------------------------------------------


def _make_impossible(seed: int) -> Task:
    programme = Programme(rng("cms_not_offered", seed))
    title = programme.pick(titles(programme.events))
    instruction = programme.pick(
        (
            f'How many visitors looked at the page "{title}" last week? The console must have counted them.',
            f'Book two seats for "{title}" in the name of {programme.pick(PEOPLE).name}.',
            f'Pay the fee of "{title}" back to everybody who has bought a ticket.',
            f"Send the programme of the {programme.section.lower()} to all subscribers of the newsletter.",
        )
    )
    return cms_task(
        "cms_not_offered", seed, "easy", instruction, records={"pages": programme.records}, title=title
    ).model_copy(update={"feasible": False})


def _look_around(task: Task, view: BrowserView) -> Oracle:
    yield from open_page(view, task.params["title"])
    yield from page_menu(view, "History")


FAMILIES = (
    changing(
        SITE, "cms_notice", _make_notice, _noticed, _play_notice,
        solutions={"changed": _notice()},
        near_misses={
            "the old one kept": _notice("both"),
            "only the number": _notice("old"),
            "only the text": _notice(ticket_phone=NOTICE["ticket_phone"]),
        },
    ),
    changing(
        SITE, "cms_contact_moves", _make_contact, _moved, _play_contact,
        solutions={"entered": _contact()},
        near_misses={
            "another contact": _contact("other"),
            "only the office": _contact("name", "office"),
            "a role too": _contact(role="Office"),
        },
    ),
    changing(
        SITE, "cms_close_account", _make_inactive, _closed, _in_account(_untick_active),
        solutions={"closed": _account("user", active=0)},
        near_misses={
            "another account": _account("other", active=0),
            "two accounts": _account("user", "other", active=0),
            "out of its group": _account("user", active=0, groups=[]),
        },
    ),
    changing(
        SITE, "cms_change_group", _make_groups, _grouped, _in_account(_tick_groups),
        solutions={"changed": _groups()},
        near_misses={
            "in both": _groups("both"),
            "in none": _groups("neither"),
            "another account": _groups(user="other"),
            "administrator": _groups(admin=1),
        },
    ),
    changing(
        SITE, "cms_add_redirect", _make_redirect, _redirected, _play_redirect,
        solutions={"added": _redirect()},
        near_misses={
            "the other kind": _redirect(flip=True),
            "another page": _redirect(page="other"),
            "another address": _redirect("wrong"),
            "to an address": _redirect_link,
        },
    ),
    impossible("cms_not_offered", _make_impossible, _look_around),
)  # fmt: skip
