"""Fills a new museum from a JSON object on standard input (envs/browser/sites/cms_data.py says what is in it)."""

# ruff: noqa: E402 (Django is set up before its models are imported)
import datetime
import json
import os
import sys
from typing import Any

os.environ["DJANGO_SETTINGS_MODULE"] = "settings"

import django

django.setup()

from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.db import transaction
from pages.models import Contact, EventPage, NewsPage, Notice, PlainPage, SectionPage
from wagtail.contrib.redirects.models import Redirect
from wagtail.models import Page, PageLogEntry, Revision, Site

CLOCK = datetime.datetime(2025, 3, 3, 9, 0, tzinfo=datetime.UTC)
KINDS = {"event": EventPage, "news": NewsPage, "plain": PlainPage, "section": SectionPage}


def fill_people(base: dict[str, Any]) -> dict[str, User]:
    """The editor in chief, and the staff in their groups."""
    people = {}
    for person in base["people"]:
        chief = person["username"] == base["chief"]
        user = User.objects.create(
            username=person["username"],
            first_name=person["first_name"],
            last_name=person["last_name"],
            email=f"{person['username']}@museum.test",
            password="!",
            is_superuser=chief,
            date_joined=CLOCK,
        )
        user.groups.set(Group.objects.filter(name__in=person["groups"]))
        people[user.username] = user
    return people


def add_page(parent: Page, data: dict[str, Any], people: dict[str, User]) -> Page:
    """A page with its first revision, published where it is live."""
    kind, children, live, owner = (data.pop(name, default) for name, default in DEFAULTS.items())
    page = parent.add_child(instance=KINDS[kind](owner=people[owner], live=False, **data))
    revision = page.save_revision(user=people[owner], log_action="wagtail.create")
    if live:
        revision.publish(user=User.objects.get(is_superuser=True))
    page.refresh_from_db()
    for child in children:
        add_page(page, child, people)
    return page


DEFAULTS = {"kind": "plain", "children": (), "live": True, "owner": None}


def fill(base: dict[str, Any]) -> None:
    """All of it, as made at one moment."""
    people = fill_people(base)
    root = Page.get_first_root_node()
    Page.objects.filter(depth__gt=1).delete()
    root = Page.objects.get(pk=root.pk)
    home = add_page(root, base["home"], people)
    site, _ = Site.objects.update_or_create(
        is_default_site=True,
        defaults={"hostname": "cms.test", "port": 80, "site_name": "Larkfield Museum", "root_page": home},
    )
    Notice.objects.create(site=site, **base["notice"])
    for contact in base["contacts"]:
        Contact.objects.create(**contact)
    for old, title in base["redirects"].items():
        Redirect.objects.create(old_path=old, site=None, redirect_page=Page.objects.get(title=title))
    Redirect.objects.update(created_at=CLOCK)
    Page.objects.update(first_published_at=CLOCK, last_published_at=CLOCK, latest_revision_created_at=CLOCK)
    Page.objects.filter(live=False).update(first_published_at=None, last_published_at=None)
    Revision.objects.update(created_at=CLOCK)
    PageLogEntry.objects.update(timestamp=CLOCK)


call_command("migrate", verbosity=0)
with transaction.atomic():
    fill(json.load(sys.stdin))
