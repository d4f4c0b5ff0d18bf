"""What no dump shows is told all the same: a change of any table that is not known is a change of the site."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from envs.browser.sites import cache, load
from envs.browser.sites.site import others_of

ASSIGNED = """INSERT INTO wagtailcore_workflowpage SELECT p.id, w.id FROM wagtailcore_page p, wagtailcore_workflow w
    WHERE p.id NOT IN (SELECT page_id FROM wagtailcore_workflowpage) LIMIT 1"""
FAVOURITE = "INSERT INTO spirit_topic_favorite_topicfavorite (date, topic_id, user_id) VALUES ('2025-03-03', 1, 1)"
WATCHED = "INSERT INTO notify_watch (sid, authenticated, class, realm, target) VALUES ('dana', 1, 'x', 'ticket', '1')"
UNSEEN = {
    "cms": ("db.sqlite3", ASSIGNED, "wagtailcore_workflowpage"),
    "forum": ("forum.sqlite", FAVOURITE, "spirit_topic_favorite_topicfavorite"),
    "tracker": ("db/trac.db", WATCHED, "notify_watch"),
    "shop": ("db.sqlite3", "UPDATE catalogue_category SET name = 'Other' WHERE id = 1", "catalogue_category"),
    "budget": ("budget.sqlite", "CREATE TABLE brand_new (id); INSERT INTO brand_new VALUES (1)", "brand_new"),
    "library": ("app.db", "INSERT INTO registration (domain, allow) VALUES ('x', 1)", "registration"),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_a_change_where_nobody_looks_is_a_change_of_the_site(name: str, tmp_path: Path) -> None:
    site = load(name)
    data = tmp_path / "data"
    shutil.copytree(cache.prepared(site).data, data)
    before = site.dump(data)
    file, change, table = UNSEEN[name]
    with sqlite3.connect(data / file) as base:
        base.executescript(change)
    after = site.dump(data)
    assert {t for t in after if after[t] != before[t]} == {"others"}
    assert after["others"][table] != before["others"].get(table)


def test_rows_make_the_digest_and_their_order_does_not() -> None:
    base = sqlite3.connect(":memory:")
    base.executescript("CREATE TABLE a (x); CREATE TABLE log_1 (x); INSERT INTO a VALUES (1), (2)")
    first = others_of(base, "log_*")
    base.executescript("DELETE FROM a; INSERT INTO a VALUES (2), (1)")
    assert list(first) == ["a"] and others_of(base, "log_*") == first
    base.execute("UPDATE a SET x = 3 WHERE x = 2")
    assert others_of(base, "log_*")["a"]["rows"] == 2 and others_of(base, "log_*") != first
