"""The site `budget`: ihatemoney, where groups share expenses (groups, members, bills, settlements).

Invariant: what its users can change is in one SQLite file, which its server opens for each request anew. Groups have
no currency: their amounts are plain numbers.
"""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

from envs.browser.sites import budget_data
from envs.browser.sites.site import Row, Site, Tables, database, others_of, rows_of, run

_IMAGES = Path(__file__).parents[3] / "images" / "sites"
_SERVE = _IMAGES / "budget.serve.py"
_DATABASE = "budget.sqlite"

CODE = "marmalade"  # the private code of every group, and what werkzeug makes of it
_CODE_HASH = "pbkdf2:sha256:1000$budget$14bd33227f0df419eaa935fc632cd65519ae95ccce3e58ae5ada3b0609d1015d"
_GROUPS = "SELECT id, name, contact_email AS email, password AS code, logging_preference AS history FROM project"
_MEMBERS = 'SELECT id, project_id AS "group", name, weight, activated AS active FROM person'
_KNOWN = "project person bill billowers *_version transaction alembic_version"  # dumped, and their history
_BILLS = """SELECT b.id, p.project_id AS "group", b.date, p.name AS payer, b.what, round(b.amount, 2) AS amount,
    b.bill_type AS type, coalesce(b.external_link, '') AS link FROM bill b JOIN person p ON p.id = b.payer_id"""
_OWERS = "SELECT o.bill_id, p.name FROM billowers o JOIN person p ON p.id = o.person_id ORDER BY p.name"


class Budget(Site):
    """See Site. records: groups as `budget_data.group` makes them."""

    name = "budget"
    restart = False
    requirements = tuple((_IMAGES / "budget.txt").read_text().split())

    def install(self, root: Path) -> None:
        """See Site."""
        super().install(root)
        shutil.copy(_SERVE, root)

    def build(self, root: Path, data: Path) -> None:
        """See Site."""
        run([root / "venv/bin/python", root / _SERVE.name, data / _DATABASE])
        self.seed(data, budget_data.base())

    def argv(self, root: Path, data: Path, port: int) -> list[str]:
        """See Site."""
        return [str(root / "venv/bin/python"), str(root / _SERVE.name), str(data / _DATABASE), str(port)]

    def seed(self, data: Path, records: Any) -> None:
        """See Site."""
        with database(data / _DATABASE, write=True) as base:
            for group in records or ():
                _insert(base, group)

    def dump(self, data: Path) -> Tables:
        """See Site. Groups by their id, members and bills by number; bills name their people, as the pages do."""
        with database(data / _DATABASE) as base:
            owers: dict[str, list[str]] = {}
            for bill, name in base.execute(_OWERS):
                owers.setdefault(str(bill), []).append(name)
            bills: dict[str, Row] = {k: {**row, "owers": owers.get(k, [])} for k, row in rows_of(base, _BILLS).items()}
            tables = {"groups": rows_of(base, _GROUPS), "members": rows_of(base, _MEMBERS), "bills": bills}
            return {**tables, "others": others_of(base, _KNOWN)}


def _insert(base: sqlite3.Connection, group: budget_data.Group) -> None:
    base.execute(
        "INSERT INTO project (id, name, password, contact_email, logging_preference, default_currency)"
        " VALUES (?, ?, ?, ?, 'ENABLED', 'XXX')",
        (group["id"], group["name"], _CODE_HASH, f"{group['id']}@post.example"),
    )
    number = {
        member["name"]: base.execute(
            "INSERT INTO person (project_id, name, weight, activated) VALUES (?, ?, ?, ?)",
            (group["id"], member["name"], member["weight"], member["active"]),
        ).lastrowid
        for member in group["members"]
    }
    for bill in group["bills"]:
        made = base.execute(
            "INSERT INTO bill (payer_id, amount, converted_amount, date, creation_date, what, bill_type,"
            " original_currency, external_link) VALUES (?, ?, ?, ?, ?, ?, ?, 'XXX', '')",
            (number[bill["payer"]], *[bill[column] for column in ("amount", "amount", "date", "date", "what", "type")]),
        ).lastrowid
        base.executemany("INSERT INTO billowers VALUES (?, ?)", [(made, number[ower]) for ower in bill["owers"]])


SITE = Budget()
