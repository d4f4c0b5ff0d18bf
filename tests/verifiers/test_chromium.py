"""Reading Chromium's profile: as Chromium 156 writes it, and damaged."""

from __future__ import annotations

import contextlib
import json
import sqlite3

import pytest

from guiforge.env import SnapshotState, state_of_files
from verifiers.chromium import (
    BOOKMARKS,
    Bookmark,
    SearchEngine,
    preference,
    read_bookmarks,
    read_preferences,
    read_search_engines,
    state_bookmarks,
)
from verifiers.package import Unreadable

# what Chromium wrote after a folder was made and a page bookmarked, its `synced` root left out
WRITTEN = {
    "checksum": "1fe55f23640c7c9a2e5290a1b30be530",
    "roots": {
        "bookmark_bar": {
            "children": [
                {
                    "children": [
                        {
                            "date_added": "13440544485310737", "date_last_used": "0",
                            "guid": "b842c2b6-8687-4091-8786-8bd2c1a93c8e", "id": "5",
                            "meta_info": {"power_bookmark_meta": ""}, "name": "Harbour timetable", "type": "url",
                            "url": "file:///home/user/site/a.html",
                        }
                    ],
                    "date_added": "13440544485310700", "date_last_used": "0", "date_modified": "13440544485310737",
                    "guid": "6f1c5f5b-7ff1-4e65-9c3a-1c16b8f2d0a3", "id": "4", "name": "Travel", "type": "folder",
                }
            ],
            "date_added": "13440544468991305", "date_last_used": "0", "date_modified": "0",
            "guid": "0bc5d13f-2cba-5d74-951f-3f233fe6c908", "id": "1", "name": "Bookmarks bar", "type": "folder",
        },
        "other": {"children": [], "guid": "82b081ec-3dd3-529c-8475-ab6c344590dd", "id": "2", "name": "Other bookmarks",
                  "type": "folder"},
    },
    "version": 1,
}  # fmt: skip


def test_bookmarks_are_read_with_their_folders() -> None:
    assert read_bookmarks(json.dumps(WRITTEN).encode()) == [
        Bookmark(("bookmark_bar",), "Travel", None),
        Bookmark(("bookmark_bar", "Travel"), "Harbour timetable", "file:///home/user/site/a.html"),
    ]


def test_a_profile_that_never_had_bookmarks_has_none() -> None:
    assert state_bookmarks(SnapshotState(*state_of_files({}))) == []
    with pytest.raises(Unreadable):
        state_bookmarks(SnapshotState(*state_of_files({BOOKMARKS: b"{"})))


@pytest.mark.parametrize(
    "data",
    [
        b"", b"null", b"{}", b'{"roots": []}', b'{"roots": {"other": {"children": [{"name": "a"}]}}}',
        b'{"roots": {"other": {"children": 3}}}', b"[" * 100_000,
    ],
    ids=lambda data: data[:30].decode(),
)  # fmt: skip
def test_damaged_bookmarks_are_unreadable(data: bytes) -> None:
    with pytest.raises(Unreadable):
        read_bookmarks(data)


def test_settings_are_found_by_dotted_name_and_absent_ones_have_the_default() -> None:
    settings = read_preferences(b'{"session": {"startup_urls": ["a"], "restore_on_startup": 4}, "homepage": ""}')
    assert preference(settings, "session.startup_urls") == ["a"]
    assert preference(settings, "session.restore_on_startup", 5) == 4
    assert preference(settings, "homepage", "x") == ""
    assert preference(settings, "homepage.inner", "x") == "x"
    assert preference(settings, "browser.show_home_button", False) is False


def test_search_engines_are_read_from_the_database_bytes() -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE keywords (id INTEGER PRIMARY KEY, short_name, keyword, favicon_url, url)")
        connection.execute("INSERT INTO keywords VALUES (7, 'B', 'b', '', 'https://b.example/{searchTerms}')")
        connection.execute("INSERT INTO keywords VALUES (2, 'A', 'a', '', 'https://a.example/{searchTerms}')")
        connection.commit()
        data = connection.serialize()
    assert read_search_engines(data) == [
        SearchEngine("A", "a", "https://a.example/{searchTerms}"),
        SearchEngine("B", "b", "https://b.example/{searchTerms}"),
    ]
    for damaged in (data[:100], b"SQLite format 3\0", b"rubbish", b""):
        with pytest.raises(Unreadable):
            read_search_engines(damaged)
