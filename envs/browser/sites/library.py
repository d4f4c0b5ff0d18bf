"""The site `library`: Calibre-Web, a catalogue of books with shelves, ratings and read marks.

Invariant: books are in `metadata.db` and their covers' folders beside it, what one reader does with them in `app.db`;
both are opened for each request anew. Of the reader `robin`, who edits metadata but neither uploads nor deletes.
"""

from __future__ import annotations

import hashlib
import io
import re
import shutil
import sqlite3
import uuid
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from envs.browser.sites import library_data
from envs.browser.sites.site import Row, Site, Tables, database, others_of, rows_of, run

_IMAGES = Path(__file__).parents[3] / "images" / "sites"
_SERVE = _IMAGES / "library.serve.py"
_BOOKS, _APP = "metadata.db", "app.db"
_ROLE_EDIT, _ROLE_PUBLIC_SHELVES = 1 << 3, 1 << 6
# what the side bar lists: languages, series, categories, authors, top rated, read and unread, new, publishers,
# ratings, archived, and the table of books
_SIDEBAR = sum(1 << bit for bit in (1, 2, 3, 6, 7, 8, 9, 12, 13, 15, 17))
_ADDED = "2024-06-01 08:00:00.000000"
_SETTINGS = {
    "config_calibre_web_title": "Town library",
    "config_books_per_page": 24,
    "config_random_books": 0,
    "config_default_show": _SIDEBAR,
    "config_ratelimiter": 0,
    "config_session": 0,
    "config_allow_reverse_proxy_header_login": 1,
    "config_reverse_proxy_login_header_name": "X-Reader",
}
READER = "robin"
FINISHED = 1

# dumped; what a visit or a download leaves; for devices and sign-ins that there are none of
_KNOWN = """shelf book_shelf_link user book_read_link archived_book downloads user_session thumbnail settings
    flask_settings kobo_* remote_auth_token shelf_archive bookmark"""
_REORDERED = """SELECT EXISTS (SELECT 1 FROM book_shelf_link a JOIN book_shelf_link b
    ON a.shelf = b.shelf AND a.id < b.id WHERE a.shelf = ? AND a."order" > b."order")"""


class Library(Site):
    """See Site. records: `books` as `library_data.books` makes them, titles `read`, and `shelves` of titles by name."""

    name = "library"
    restart = False
    requirements = ("--no-deps", *(_IMAGES / "library.txt").read_text().split())

    def install(self, root: Path) -> None:
        """See Site."""
        super().install(root)
        shutil.copy(_SERVE, root)

    def build(self, root: Path, data: Path) -> None:
        """See Site."""
        run([root / "venv/bin/python", root / _SERVE.name, data], env=self.environ(root, data))
        with database(data / _APP, write=True) as app:
            app.execute("DELETE FROM user WHERE name = 'admin'")
            app.execute(
                "INSERT INTO user (name, email, role, locale, sidebar_view, default_language, password, kindle_mail,"
                " denied_tags, allowed_tags, denied_column_value, allowed_column_value, view_settings,"
                " kobo_only_shelves_sync) VALUES (?, ?, ?, 'en', ?, 'all', '', '', '', '', '', '', '{}', 0)",
                (READER, f"{READER}@post.example", _ROLE_EDIT | _ROLE_PUBLIC_SHELVES, _SIDEBAR),
            )
            app.execute(f"UPDATE settings SET {', '.join(f'{c} = :{c}' for c in _SETTINGS)}", _SETTINGS)
        with database(data / _BOOKS, write=True) as books:
            books.execute("INSERT INTO library_id (uuid) VALUES ('guiforge')")
        self.seed(data, {"books": library_data.base()})

    def argv(self, root: Path, data: Path, port: int) -> list[str]:
        """See Site."""
        return [str(root / "venv/bin/python"), str(root / _SERVE.name), str(data), str(port)]

    def environ(self, root: Path, data: Path) -> dict[str, str]:
        """See Site. Without them it would write beside its code."""
        return {"CALIBRE_DBPATH": str(data), "CACHE_DIRECTORY": str(data / "cache"), "SECRET_KEY": "library"}

    def seed(self, data: Path, records: Any) -> None:
        """See Site."""
        records = records or {}
        with database(data / _BOOKS, write=True) as base:
            base.create_function("title_sort", 1, _title_sort)
            for book in records.get("books", ()):
                _insert(base, data, book)
            number = dict(base.execute("SELECT title, id FROM books").fetchall())
        with database(data / _APP, write=True) as app:
            (reader,) = app.execute("SELECT id FROM user WHERE name = ?", (READER,)).fetchone()
            for title in records.get("read", ()):
                app.execute(
                    "INSERT INTO book_read_link (book_id, user_id, read_status, last_modified, times_started_reading)"
                    " VALUES (?, ?, ?, ?, 0)",
                    (number[title], reader, FINISHED, _ADDED),
                )
            for name, titles in records.get("shelves", {}).items():
                shelf = app.execute(
                    "INSERT INTO shelf (uuid, name, is_public, user_id, kobo_sync, created, last_modified)"
                    " VALUES (?, ?, 0, ?, 0, ?, ?)",
                    (_uuid(name), name, reader, _ADDED, _ADDED),
                ).lastrowid
                app.executemany(
                    'INSERT INTO book_shelf_link (book_id, "order", shelf, date_added) VALUES (?, ?, ?, ?)',
                    [(number[title], place, shelf, _ADDED) for place, title in enumerate(titles, 1)],
                )

    def dump(self, data: Path) -> Tables:
        """See Site. Everything is by number (marks by that of the book, where it has any), and names books by title."""
        with database(data / _BOOKS) as base:
            books = _books(base)
        with database(data / _APP) as app:
            marks = _marks(app, books)
            shelves = rows_of(app, "SELECT id, name, is_public AS public FROM shelf")
            for shelf, row in shelves.items():
                found = app.execute("SELECT book_id FROM book_shelf_link WHERE shelf = ?", (shelf,))
                row["books"] = sorted(_title(books, book) for (book,) in found)
                (row["reordered"],) = app.execute(_REORDERED, (shelf,)).fetchone()
            readers = rows_of(
                app, "SELECT id, name, email, kindle_mail, locale, default_language, sidebar_view FROM user"
            )
            others = others_of(app, _KNOWN)
        return {"books": books, "marks": marks, "shelves": shelves, "readers": readers, "others": others}


# -- one book ----------------------------------------------------------------------------------------------------------

# table of values and the columns that a new value fills, by what a book calls it
_LINKED = {
    "authors": ("authors", "name", "author"),
    "series": ("series", "name", "series"),
    "tags": ("tags", "name", "tag"),
    "publisher": ("publishers", "name", "publisher"),
    "language": ("languages", "lang_code", "lang_code"),
    "rating": ("ratings", "rating", "rating"),
}


def _insert(base: sqlite3.Connection, data: Path, book: library_data.Book) -> None:
    title, author = book["title"], book["authors"][0]
    number = base.execute(
        "INSERT INTO books (title, sort, author_sort, timestamp, pubdate, series_index, last_modified, path, has_cover,"
        " uuid) VALUES (?, ?, ?, ?, ?, ?, ?, '', 1, ?)",
        (title, _title_sort(title), _name_sort(author), _ADDED, f"{book['date']} 00:00:00.000000", book["index"],
         _ADDED, _uuid(title)),
    ).lastrowid  # fmt: skip
    path = f"{author}/{title} ({number})"
    base.execute("UPDATE books SET path = ? WHERE id = ?", (path, number))
    base.execute("INSERT INTO comments (book, text) VALUES (?, ?)", (number, f"<p>{book['about']}</p>"))
    for field, (table, column, link) in _LINKED.items():
        value = book[field]
        for item in value if isinstance(value, list) else [value] if value else []:
            stored = 2 * item if field == "rating" else item
            base.execute(
                f"INSERT INTO books_{table}_link (book, {link}) VALUES (?, ?)",
                (number, _value(base, table, column, stored)),
            )
    (data / path).mkdir(parents=True)
    (data / path / "cover.jpg").write_bytes(_cover(title, author))


def _value(base: sqlite3.Connection, table: str, column: str, value: Any) -> int:
    """The number of a value, put into its table where it isn't there."""
    found = base.execute(f"SELECT id FROM {table} WHERE {column} = ?", (value,)).fetchone()
    if found is not None:
        return int(found[0])
    row = {column: value}
    if table in ("authors", "series", "publishers"):
        row["sort"] = _name_sort(value) if table == "authors" else _title_sort(value)
    if table == "authors":
        row["link"] = ""
    made = base.execute(
        f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values())
    )
    return int(made.lastrowid or 0)


def _books(base: sqlite3.Connection) -> dict[str, Row]:
    """Every book with its values by name; publication dates are days, descriptions plain text."""
    books = rows_of(
        base,
        "SELECT b.id, title, substr(pubdate, 1, 10) AS date, series_index AS 'index',"
        " has_cover AS cover, coalesce(c.text, '') AS about FROM books b LEFT JOIN comments c ON c.book = b.id",
    )
    for field, (table, column, link) in _LINKED.items():
        several = field in ("authors", "tags")
        for row in books.values():
            row[field] = [] if several else None
        for number, value in base.execute(
            f"SELECT l.book, v.{column} FROM books_{table}_link l JOIN {table} v ON v.id = l.{link}"
            f" ORDER BY {'l.rowid' if field == 'authors' else f'v.{column}'}"
        ):
            row = books[str(number)]
            row[field] = [*row[field], value] if several else value
    for row in books.values():
        row["about"] = " ".join(re.sub(r"<[^>]*>", " ", row["about"]).split())
        row["rating"] = (row["rating"] or 0) / 2
        row["identifiers"] = {}
    for number, kind, value in base.execute("SELECT book, type, val FROM identifiers"):
        books[str(number)]["identifiers"][kind] = value
    return books


def _marks(app: sqlite3.Connection, books: dict[str, Row]) -> dict[str, Row]:
    """What the reader marked as read (1 finished, 2 being read) or archived, by the book's number."""
    marks: dict[str, Row] = {}
    for column, query in (
        ("read", "SELECT book_id, read_status FROM book_read_link WHERE read_status"),
        ("archived", "SELECT book_id, 1 FROM archived_book WHERE is_archived"),
    ):
        for book, value in app.execute(query):
            marks.setdefault(str(book), {"book": _title(books, book), "read": 0, "archived": 0})[column] = value
    return marks


def _title(books: dict[str, Row], number: int) -> str:
    return str(books[str(number)]["title"]) if str(number) in books else f"book {number}"


def _title_sort(title: str) -> str:
    """A title as it is sorted: `The Glass Tide` under G."""
    first, _, rest = title.partition(" ")
    return f"{rest}, {first}" if first in ("A", "An", "The") and rest else title


def _name_sort(name: str) -> str:
    first, _, last = name.rpartition(" ")
    return f"{last}, {first}" if first else last


def _uuid(text: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, text))


def _cover(title: str, author: str) -> bytes:
    """A small JPEG: the title above the author's name on a colour of the title's own."""
    hue = hashlib.blake2b(title.encode(), digest_size=1).digest()[0]
    image = Image.new("HSV", (120, 180), (hue, 110, 150)).convert("RGB")
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(14)
    draw.multiline_text((60, 24), title.replace(" ", "\n"), "white", font, "ma", align="center")
    draw.text((60, 160), author.rpartition(" ")[2], "white", font, "mm")
    file = io.BytesIO()
    image.save(file, "JPEG", quality=80)
    return file.getvalue()


SITE = Library()
