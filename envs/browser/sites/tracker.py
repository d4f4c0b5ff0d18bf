"""Site `tracker`: Trac 1.6, an issue tracker with a wiki, on SQLite (BSD licence)."""

from __future__ import annotations

import configparser
import datetime
import shutil
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envs.browser.sites import tracker_data as given
from envs.browser.sites.site import IMAGES, Row, Site, Tables, database, others_of, rows_of, run

# dumped; kept for the server alone; left by a visit
_KNOWN = """ticket ticket_change wiki milestone component version enum permission attachment report session
    session_attribute auth_cookie cache system"""
_SERVE = "tracker.serve.py"
_SETTINGS = {
    ("project", "name"): "Tidewater",
    ("project", "descr"): "The ferry booking system",
    ("project", "footer"): "Tidewater",
    ("header_logo", "src"): "",
    ("logging", "log_type"): "none",
    ("trac", "default_timezone"): "UTC",
    ("trac", "default_date_format"): "iso8601",
    ("trac", "default_dateinfo_format"): "absolute",
    ("trac", "default_language"): "en_US",
    ("trac", "auto_preview_timeout"): "0",
    ("ticket", "default_component"): "booking",
    ("ticket", "default_version"): "",
    ("ticket", "default_milestone"): "",
    ("wiki", "max_size"): "200000",
}
_TICKET = (
    "type", "component", "priority", "owner", "reporter", "version", "milestone", "status", "resolution", "summary",
    "description", "keywords",
)  # fmt: skip
_SHOWN_SETTINGS = ("project", "ticket", "wiki", "milestone", "ticket-workflow", "ticket-custom", "mainnav", "metanav")
_PREFERENCES = ("name", "email", "language", "tz")  # others remember what was looked at


class Tracker(Site):
    """A project's tickets and wiki; the browser is signed in as a member who may do everything.

    Records: {"tickets": [...], "pages": {name: text}} as tracker_data has them; tickets are numbered on from the base.
    Tables: tickets, comments (key TICKET.NUMBER), pages, milestones, components, versions, enums, permissions,
    attachments, reports, preferences, settings.
    """

    name = "tracker"
    restart = False  # Trac opens its data anew when trac.ini has another time
    ready = "/newticket"
    requirements = ("Trac==1.6", "Jinja2==3.1.6", "MarkupSafe==3.0.4", "setuptools==65.5.0")

    def install(self, root: Path) -> None:
        """See Site."""
        super().install(root)
        shutil.copyfile(IMAGES / _SERVE, root / _SERVE)

    def build(self, root: Path, data: Path) -> None:
        """See Site."""
        run([root / "venv/bin/trac-admin", data, "initenv", "Tidewater", "sqlite:db/trac.db"])
        settings = configparser.RawConfigParser()
        settings.read(data / "conf/trac.ini")
        for (section, option), value in _SETTINGS.items():
            settings[section][option] = value
        with (data / "conf/trac.ini").open("w") as file:
            settings.write(file)
        for needless in ("log", "templates", "conf/trac.ini.sample"):
            path = data / needless
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        with database(data / "db/trac.db", write=True) as db:
            _fill(db)
        with database(data / "db/trac.db", write=True) as db:
            db.isolation_level = None
            db.execute("VACUUM")

    def argv(self, root: Path, data: Path, port: int) -> list[str]:
        """See Site."""
        return [str(root / "venv/bin/python"), str(root / _SERVE), str(data), str(port), given.USER]

    def seed(self, data: Path, records: Mapping[str, Any] | None) -> None:
        """See Site."""
        records = records or {}
        with database(data / "db/trac.db", write=True) as db:
            for ticket in records.get("tickets", ()):
                _add_ticket(db, ticket)
            for name, text in records.get("pages", {}).items():
                db.execute("DELETE FROM wiki WHERE name = ?", (name,))
                _add_page(db, name, text)
        (data / "conf/trac.ini").touch()

    def dump(self, data: Path) -> Tables:
        """See Site."""
        with database(data / "db/trac.db") as db:
            tables = {
                "tickets": rows_of(db, f"SELECT id, cc, severity, {', '.join(_TICKET)} FROM ticket"),
                "comments": rows_of(
                    db,
                    "SELECT ticket || '.' || replace(oldvalue, rtrim(oldvalue, '0123456789'), '') AS id, ticket,"
                    " author, newvalue AS text FROM ticket_change WHERE field = 'comment' AND newvalue != ''",
                ),
                "pages": rows_of(
                    db, "SELECT name AS id, text, readonly FROM wiki w WHERE version ="
                    " (SELECT max(version) FROM wiki WHERE name = w.name)",
                ),
                "milestones": rows_of(db, "SELECT name AS id, due, completed, description FROM milestone"),
                "components": rows_of(db, "SELECT name AS id, owner, description FROM component"),
                "versions": rows_of(db, "SELECT name AS id, time AS released, description FROM version"),
                "enums": rows_of(db, "SELECT type || ':' || name AS id, CAST(value AS INTEGER) AS place FROM enum"),
                "permissions": rows_of(db, "SELECT username || ':' || action AS id, username, action FROM permission"),
                "attachments": rows_of(
                    db, "SELECT type || ':' || id || '/' || filename AS id, size, description, author FROM attachment"
                ),
                "reports": rows_of(db, "SELECT id, title, query, description FROM report"),
                "preferences": rows_of(
                    db, "SELECT sid || ':' || name AS id, value FROM session_attribute WHERE authenticated = 1 AND name"
                    f" IN ({', '.join(map(repr, _PREFERENCES))})",
                ),
            }  # fmt: skip
            tables["others"] = others_of(db, _KNOWN)
        for milestone in tables["milestones"].values():
            milestone |= {"due": _day(milestone["due"]), "completed": bool(milestone["completed"])}
        for version in tables["versions"].values():
            version["released"] = _day(version["released"])
        tables["settings"] = _settings(data / "conf/trac.ini")
        for table in ("tickets", "comments", "pages", "milestones"):
            for row in tables[table].values():
                row |= {name: _text(value) for name, value in row.items() if isinstance(value, str)}
        return tables


def _fill(db: sqlite3.Connection) -> None:
    """Replace what Trac starts with by our own."""
    for table in ("wiki", "component", "milestone", "version", "permission", "session", "session_attribute"):
        db.execute(f"DELETE FROM {table}")
    for name, owner in given.COMPONENTS.items():
        db.execute("INSERT INTO component VALUES (?, ?, ?)", (name, owner, given.COMPONENT_NOTES[name]))
    for name, (due, completed) in given.MILESTONES.items():
        moment = _microseconds(due) if due else 0
        db.execute("INSERT INTO milestone VALUES (?, ?, ?, '')", (name, moment, moment if completed else 0))
    for name, day in given.VERSIONS.items():
        db.execute("INSERT INTO version VALUES (?, ?, '')", (name, _microseconds(day)))
    for name in given.PEOPLE:
        db.execute("INSERT INTO session VALUES (?, 1, ?)", (name, _microseconds("2025-06-01") // 1_000_000))
    rights = ("TICKET_CREATE", "TICKET_MODIFY", "WIKI_CREATE", "WIKI_MODIFY")
    seen = (
        "TICKET_VIEW", "WIKI_VIEW", "MILESTONE_VIEW", "ROADMAP_VIEW", "REPORT_VIEW", "REPORT_SQL_VIEW", "SEARCH_VIEW",
        "TIMELINE_VIEW",
    )  # fmt: skip
    for who, actions in {given.USER: ("TRAC_ADMIN",), "authenticated": rights, "anonymous": seen}.items():
        db.executemany("INSERT INTO permission VALUES (?, ?)", [(who, action) for action in actions])
    for ticket in given.TICKETS:
        _add_ticket(db, ticket)
    for name, text in given.PAGES.items():
        _add_page(db, name, text)


def _add_ticket(db: sqlite3.Connection, ticket: Mapping[str, Any]) -> None:
    made = _microseconds(ticket["day"]) + 9 * 3_600_000_000
    columns = ", ".join(("time", "changetime", "severity", "cc", *_TICKET))
    values = (made, made, "", "", *(ticket[column] for column in _TICKET))
    marks = ", ".join("?" * len(values))
    number = db.execute(f"INSERT INTO ticket ({columns}) VALUES ({marks})", values).lastrowid
    for i, (author, text) in enumerate(ticket["comments"], 1):
        made += 86_400_000_000
        db.execute("INSERT INTO ticket_change VALUES (?, ?, ?, 'comment', ?, ?)", (number, made, author, str(i), text))
    db.execute("UPDATE ticket SET changetime = ? WHERE id = ?", (made, number))


def _add_page(db: sqlite3.Connection, name: str, text: str) -> None:
    db.execute(
        "INSERT INTO wiki (name, version, time, author, text, comment, readonly) VALUES (?, 1, ?, 'ewa', ?, '', 0)",
        (name, _microseconds("2025-05-13"), text),
    )


def _settings(path: Path) -> dict[str, Row]:
    """What a person can set for the whole project, by SECTION.OPTION."""
    settings = configparser.RawConfigParser()
    settings.read(path)
    return {
        f"{section}.{option}": {"value": value}
        for section in _SHOWN_SETTINGS
        if settings.has_section(section)
        for option, value in settings.items(section)
    }


def _microseconds(day: str) -> int:
    moment = datetime.datetime.fromisoformat(day).replace(tzinfo=datetime.UTC)
    return int(moment.timestamp()) * 1_000_000


def _day(microseconds: int | None) -> str:
    """The UTC day of one of Trac's times, empty for none."""
    if not microseconds:
        return ""
    return datetime.datetime.fromtimestamp(microseconds / 1_000_000, datetime.UTC).date().isoformat()


def _text(text: str) -> str:
    """As a browser's form may send it, or not: one kind of line end, none after the last line."""
    return text.replace("\r\n", "\n").rstrip()


SITE = Tracker()
