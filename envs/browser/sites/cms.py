"""The site `cms`: Wagtail, the console in which a museum's staff keep its pages.

Invariant: what its editors can change is in one SQLite file. Of a page the published fields count, and where its latest
version differs from them; older versions, the log, notifications, open editing sessions and the search index are no
state.
"""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envs.browser.sites import cms_data
from envs.browser.sites.django_site import CLOCK, IMAGES, DjangoSite, insert
from envs.browser.sites.site import Row, Tables, others_of, rows_of, run

_FIELDS = {
    "event": ("date", "room", "seats", "fee", "host"),
    "news": ("date", "author", "body"),
    "plain": ("body",),
    "section": ("intro",),
}
_COMMON = ("title", "slug", "show_in_menus", "seo_title", "search_description", "go_live_at", "expire_at")
_PAGES = """SELECT p.id, parent.title AS parent, {}, p.live, p.locked, p.alias_of_id AS alias_of,
    r.content AS draft, r.approved_go_live_at AS scheduled FROM wagtailcore_page p
    JOIN pages_{}page own ON own.page_ptr_id = p.id
    LEFT JOIN wagtailcore_page parent ON parent.path = substr(p.path, 1, length(p.path) - 4)
    LEFT JOIN wagtailcore_revision r ON r.id = p.latest_revision_id"""
_ORDER = """SELECT parent.title AS section, json_group_array(p.title) AS pages FROM
    (SELECT path, title FROM wagtailcore_page ORDER BY path) p
    JOIN wagtailcore_page parent ON parent.path = substr(p.path, 1, length(p.path) - 4) GROUP BY parent.path"""
_REDIRECTS = """SELECT r.id, r.old_path AS source, r.is_permanent AS permanent, r.site_id AS site,
    r.redirect_link AS link, p.title AS page, r.redirect_page_route_path AS route
    FROM wagtailredirects_redirect r LEFT JOIN wagtailcore_page p ON p.id = r.redirect_page_id"""
_PEOPLE = """SELECT id, username, first_name, last_name, email, password, is_superuser AS admin, is_active AS active
    FROM auth_user"""
_GROUPS_OF = """SELECT ug.user_id, g.name FROM auth_user_groups ug JOIN auth_group g ON g.id = ug.group_id
    ORDER BY g.name"""
_RIGHTS = """SELECT g.id, g.name, (SELECT json_group_array(permission_id) FROM (SELECT permission_id
    FROM auth_group_permissions WHERE group_id = g.id ORDER BY permission_id)) AS rights,
    (SELECT json_group_array(page_id || ' ' || permission_id) FROM (SELECT page_id, permission_id
    FROM wagtailcore_grouppagepermission WHERE group_id = g.id ORDER BY page_id, permission_id)) AS page_rights,
    (SELECT json_group_array(collection_id || ' ' || permission_id) FROM (SELECT collection_id, permission_id
    FROM wagtailcore_groupcollectionpermission WHERE group_id = g.id ORDER BY collection_id, permission_id))
    AS collection_rights FROM auth_group g"""
_OTHERS = {
    "contacts": "SELECT id, name, role, phone, office FROM pages_contact",
    "notices": "SELECT 'museum' AS id, notice, ticket_phone, email FROM pages_notice",
    "sites": "SELECT id, hostname, port, site_name, root_page_id, is_default_site FROM wagtailcore_site",
    "privacy": "SELECT id, page_id, restriction_type, password FROM wagtailcore_pageviewrestriction",
    "comments": "SELECT id, page_id, text, resolved_at IS NOT NULL AS resolved FROM wagtailcore_comment",
    "replies": "SELECT id, comment_id, text FROM wagtailcore_commentreply",
    "collections": "SELECT id, path, name FROM wagtailcore_collection",
    "images": "SELECT id, title, collection_id FROM wagtailimages_image",
    "documents": "SELECT id, title, collection_id FROM wagtaildocs_document",
    "locales": "SELECT id, language_code FROM wagtailcore_locale",
    "workflows": "SELECT id, name, active FROM wagtailcore_workflow",
    "tasks": "SELECT id, name, active FROM wagtailcore_task",
    "redirects": _REDIRECTS,
    "groups": _RIGHTS,
}


# dumped; followed from what is (logs, versions, indexes); left by a visit
_KNOWN = """pages_* auth_user auth_user_groups auth_group* wagtailcore_page wagtailcore_site wagtailcore_comment
    wagtailcore_commentreply wagtailcore_collection wagtailimages_image wagtaildocs_document wagtailcore_locale
    wagtailcore_workflow wagtailcore_task wagtailcore_groupp* wagtailcore_groupc* wagtailcore_pageviewrestriction
    wagtailredirects_redirect wagtailcore_revision wagtailcore_*logentry wagtailcore_referenceindex
    wagtailcore_pagesubscription wagtailcore_uploadedfile wagtailimages_rendition wagtailsearch_* wagtailadmin_*
    wagtailusers_userprofile wagtailembeds_embed django_session"""


class Cms(DjangoSite):
    """See Site. records: an object of which each member may be left out.

    pages: {title: fields}; `live` false takes it back, `draft` holds fields as its unpublished version has them.
    groups: {username: [group, ...]}.  redirects: {path: title of a page}.  contacts: {name: fields}.
    notice: fields.  editors: {title of a page: the username who saved its latest version}.
    """

    name = "cms"
    ready = "/admin/"
    requirements = tuple((IMAGES / "cms.txt").read_text().split())
    user = cms_data.CHIEF

    def base(self) -> Any:
        """See DjangoSite."""
        return cms_data.base()

    def install(self, root: Path) -> None:
        """See Site. The migration of our own page types is made here, not kept."""
        super().install(root)
        run([root / "venv/bin/python", "-m", "django", "makemigrations", "pages"], env=self.environ(root, root))

    def seed(self, data: Path, records: Any) -> None:
        """See Site."""
        records = records or {}
        with self.open(data, write=True) as base:
            for title, fields in records.get("pages", {}).items():
                _set_page(base, title, dict(fields))
            for username, groups in records.get("groups", {}).items():
                _set_groups(base, username, groups)
            for path, title in records.get("redirects", {}).items():
                row = {"old_path": path, "is_permanent": 1, "redirect_page_id": _page(base, title), "created_at": CLOCK}
                insert(base, "wagtailredirects_redirect", row)
            for name, fields in records.get("contacts", {}).items():
                _update(base, "pages_contact", fields, "name", name)
            _update(base, "pages_notice", records.get("notice", {}), "1", 1)
            for title, username in records.get("editors", {}).items():
                _set_editor(base, title, username)

    def dump(self, data: Path) -> Tables:
        """See Site. `pages` have `draft`, the fields of an unpublished version; `order` has each page's children."""
        with self.open(data) as base:
            tables = {name: rows_of(base, query) for name, query in _OTHERS.items()}
            groups: dict[str, list[str]] = {}
            for number, name in base.execute(_GROUPS_OF):
                groups.setdefault(str(number), []).append(name)
            people = rows_of(base, _PEOPLE)
            tables["people"] = {
                row.pop("username"): {**row, "groups": groups.get(key, [])} for key, row in people.items()
            }
            tables["pages"] = {key: row for kind in _FIELDS for key, row in _pages(base, kind).items()}
            tables["others"] = others_of(base, _KNOWN)
            tables["order"] = {
                key: {"pages": json.loads(row["pages"])} for key, row in rows_of(base, _ORDER, "section").items()
            }
            return tables


def _pages(base: sqlite3.Connection, kind: str) -> dict[str, Row]:
    """The pages of a kind, each with the fields in which its latest version differs."""
    own = _FIELDS[kind]
    columns = ", ".join([*(f"p.{name}" for name in _COMMON), *(f"own.{name}" for name in own)])
    found = rows_of(base, _PAGES.format(columns, kind))
    for row in found.values():
        latest = json.loads(row["draft"] or "{}")
        row["kind"] = kind
        for fields in (row, latest):
            if fields.get("fee") is not None:  # `44.5` was typed, and is the same
                fields["fee"] = f"{float(fields['fee']):.2f}"
        row["draft"] = {
            name: latest[name] for name in (*_COMMON, *own) if name in latest and not _same(latest[name], row[name])
        }
    return found


def _same(version: Any, published: Any) -> bool:
    """Whether a version's field (JSON) is the published column (SQLite): flags are numbers there, times spaced."""
    if isinstance(version, bool) or version is None:
        return bool(version) == bool(published)
    return str(published) in (str(version), str(version).replace("T", " ").removesuffix("Z"))


def _page(base: sqlite3.Connection, title: str) -> int:
    (number,) = base.execute("SELECT id FROM wagtailcore_page WHERE title = ?", (title,)).fetchone()
    return int(number)


def _update(base: sqlite3.Connection, table: str, fields: Mapping[str, Any], where: str, value: Any) -> None:
    if fields:
        columns = ", ".join(f"{name} = ?" for name in fields)
        base.execute(f"UPDATE {table} SET {columns} WHERE {where} = ?", (*fields.values(), value))


def _set_page(base: sqlite3.Connection, title: str, fields: dict[str, Any]) -> None:
    """Fields of an event's page, published and in its latest version, and what is said of it as a page."""
    number = _page(base, title)
    live, draft = fields.pop("live", True), fields.pop("draft", {})
    _update(base, "pages_eventpage", fields, "page_ptr_id", number)
    version, content = base.execute(
        "SELECT r.id, r.content FROM wagtailcore_revision r JOIN wagtailcore_page p ON p.latest_revision_id = r.id"
        " WHERE p.id = ?",
        (number,),
    ).fetchone()
    latest = {**json.loads(content), **fields, **draft}
    _update(base, "wagtailcore_revision", {"content": json.dumps(latest), "object_str": latest["title"]}, "id", version)
    page: dict[str, Any] = {"draft_title": latest["title"], "has_unpublished_changes": bool(draft) or not live}
    if not live:
        page.update(live=False, live_revision_id=None, first_published_at=None, last_published_at=None)
    _update(base, "wagtailcore_page", page, "id", number)


def _set_groups(base: sqlite3.Connection, username: str, groups: list[str]) -> None:
    (person,) = base.execute("SELECT id FROM auth_user WHERE username = ?", (username,)).fetchone()
    base.execute("DELETE FROM auth_user_groups WHERE user_id = ?", (person,))
    for group in groups:
        (number,) = base.execute("SELECT id FROM auth_group WHERE name = ?", (group,)).fetchone()
        insert(base, "auth_user_groups", {"user_id": person, "group_id": number})


def _set_editor(base: sqlite3.Connection, title: str, username: str) -> None:
    """The latest version was saved by this person, a day after the page was made."""
    number = _page(base, title)
    version, kind = base.execute(
        "SELECT latest_revision_id, content_type_id FROM wagtailcore_page WHERE id = ?", (number,)
    ).fetchone()
    (person,) = base.execute("SELECT id FROM auth_user WHERE username = ?", (username,)).fetchone()
    _update(base, "wagtailcore_revision", {"user_id": person}, "id", version)
    insert(base, "wagtailcore_pagelogentry", {
        "label": title, "action": "wagtail.edit", "timestamp": CLOCK.replace("03-03", "03-04"), "content_changed": 1,
        "content_type_id": kind, "page_id": number, "revision_id": version, "user_id": person,
        "uuid": uuid.UUID(int=number).hex, "data": "{}",
    })  # fmt: skip


SITE = Cms()
