"""Checks of web applications' data: what a site's tables hold, what changed of them, and that nothing else did.

Invariant: a state has a file `sites/NAME/TABLE.json` for each table, a JSON object of rows (column -> value) by key,
before the agent started and at the end. A check is `(name, passed, reason)` as `Verdict.of` takes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

from guiforge.env import StateMissing, StateReader
from verifiers.compare import Check, check

Row = dict[str, Any]  # column -> JSON value
Rows = dict[str, Row]
_SHOWN, _CHARACTERS = 4, 300  # changes that a reason lists, and of each


@dataclass(frozen=True)
class Change:
    """What happened to one row: `before` is None for a new one, `after` for one that is gone."""

    table: str
    key: str
    before: Row | None
    after: Row | None

    def columns(self, ignore: Collection[str] = ()) -> dict[str, Any]:
        """The new values of the columns that differ; of a new row all, of a removed one none."""
        before, after = self.before or {}, self.after or {}
        return {
            column: after.get(column)
            for column in [*after, *(c for c in before if c not in after)]
            if self.after is not None
            and column not in ignore
            and (self.before is None or before.get(column) != after.get(column))
        }

    def __str__(self) -> str:
        if self.after is None:
            return f"{self.table} {self.key} removed"
        return f"{self.table} {self.key} {'new' if self.before is None else 'changed'}: {_told(self.columns())}"


@dataclass(frozen=True)
class Like:
    """What a column's value must be like: `fits` says it of one, `said` says it to a person."""

    said: str
    fits: Callable[[Any], bool] = field(repr=False, compare=False)

    def __call__(self, value: object) -> bool:
        """Whether a value will do."""
        return self.fits(value)


anything = Like("anything", lambda value: True)


def one_of(*values: object) -> Like:
    """A column may have any of these values."""
    return Like(f"one of {', '.join(map(repr, values))}", lambda value: value in values)


def same_text(text: str) -> Like:
    """A column's text, whatever blanks and line ends are around and between its words."""
    return Like(repr(text), lambda value: isinstance(value, str) and value.split() == text.split())


@dataclass(frozen=True)
class Added:
    """A new row with these values, under this key or any; columns that are not named are empty or ignored."""

    table: str
    values: Mapping[str, Any]
    key: str | None = None

    def __str__(self) -> str:
        return f"{self.table} {self.key or ''} new: {_told(self.values)}"

    def fits(self, change: Change, ignore: Collection[str]) -> bool:
        """Whether the change is this one."""
        if change.before is not None or change.after is None or change.table != self.table:
            return False
        if self.key not in (None, change.key):
            return False
        row = {column: value for column, value in change.after.items() if column not in ignore}
        return set(self.values) <= set(change.after) and all(
            _fits(self.values[column], value) if column in self.values else not value for column, value in row.items()
        )


@dataclass(frozen=True)
class Edited:
    """A row of which these columns, and no others but ignored ones, have new values: these."""

    table: str
    key: str
    values: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.table} {self.key} changed: {_told(self.values)}"

    def fits(self, change: Change, ignore: Collection[str]) -> bool:
        """Whether the change is this one."""
        if change.before is None or change.after is None or (change.table, change.key) != (self.table, self.key):
            return False
        columns = change.columns(ignore)
        return set(columns) <= set(self.values) and all(
            _fits(value, change.after.get(column)) for column, value in self.values.items()
        )


@dataclass(frozen=True)
class Removed:
    """A row that is gone."""

    table: str
    key: str

    def __str__(self) -> str:
        return f"{self.table} {self.key} removed"

    def fits(self, change: Change, ignore: Collection[str]) -> bool:
        """Whether the change is this one."""
        return change.after is None and (change.table, change.key) == (self.table, self.key)


Expected = Union[Added, Edited, Removed]


def rows(state: StateReader, site: str, table: str) -> Rows:
    """A table's rows by key, at the end. Raises StateMissing."""
    return _rows(state.read(_path(site, table)))


def rows_before(state: StateReader, site: str, table: str) -> Rows:
    """A table's rows by key, when the agent started. Raises StateMissing."""
    return _rows(state.read_before(_path(site, table)))


def changes(state: StateReader, site: str) -> list[Change]:
    """Every row of the site's tables that is new, gone or different."""
    return list(_changes(state, site))


def check_only(
    name: str,
    state: StateReader,
    site: str,
    expected: Sequence[Expected],
    ignore: Collection[str] = (),
    allowed: Sequence[Expected] = (),
) -> Check:
    """Exactly the expected changes came about on the site, and nothing else changed.

    ignore: columns that are not compared: times, generated ids.  allowed: changes that may be there, or not.
    """
    left = [c for c in changes(state, site) if c.before is None or c.after is None or c.columns(ignore)]
    missing = []
    for want in expected:
        found = next((change for change in left if want.fits(change, ignore)), None)
        if found is None:
            missing.append(f"not there: {want}")
        else:
            left.remove(found)
    extra = [change for change in left if not any(may.fits(change, ignore) for may in allowed)]
    return check(name, _list([*missing, *(f"not asked for: {change}" for change in extra)]))


def unchanged(name: str, state: StateReader, *sites: str, ignore: Collection[str] = ()) -> Check:
    """Nothing on these sites changed."""
    checks = [check_only(name, state, site, (), ignore) for site in sites]
    return check(name, "; ".join(reason for _, passed, reason in checks if not passed) or None)


# -- how solutions and near misses are written -------------------------------------------------------------------------


def edit_rows(*steps: Callable[[Rows], None]) -> Callable[[bytes], bytes]:
    """What makes a table's new bytes of its present ones, for a family's edits: each step changes the rows in place.

    `{"sites/forum/posts.json": edit_rows(set_columns("7", title="New"), remove_row("8"))}`
    """

    def edit(data: bytes) -> bytes:
        present = _rows(data)
        for step in steps:
            step(present)
        return json.dumps(present, sort_keys=True, ensure_ascii=False, indent=1).encode()

    return edit


def set_columns(key: str, **columns: Any) -> Callable[[Rows], None]:
    """Give columns of a row new values. The row must be there, and have them."""

    def step(present: Rows) -> None:
        for column, value in columns.items():
            if column not in present[key]:
                raise KeyError(f"row {key} has no column {column!r}; it has {', '.join(present[key])}")
            present[key][column] = value

    return step


def add_row(row: Mapping[str, Any], key: str | None = None) -> Callable[[Rows], None]:
    """Add a row, under the number after the greatest where no key is given. Columns of other rows are filled empty."""

    def step(present: Rows) -> None:
        fresh = key or str(1 + max((int(k) for k in present if k.isdecimal()), default=0))
        columns = next(iter(present.values()), {})
        present[fresh] = {**{column: _empty(value) for column, value in columns.items()}, **row}

    return step


def remove_row(key: str) -> Callable[[Rows], None]:
    """Remove a row. It must be there."""

    def step(present: Rows) -> None:
        del present[key]

    return step


def _fits(want: Any, value: Any) -> bool:
    return bool(want(value)) if callable(want) else bool(want == value)


def _told(values: Mapping[str, Any]) -> str:
    said = (f"{name} {value.said if isinstance(value, Like) else repr(value)}" for name, value in values.items())
    return ", ".join(said)[:_CHARACTERS]


def _empty(value: Any) -> Any:
    return type(value)() if isinstance(value, (str, int, float, bool, list, dict)) else None


def _path(site: str, table: str) -> str:
    return f"sites/{site}/{table}.json"


def _rows(data: bytes) -> Rows:
    loaded: Rows = json.loads(data)
    return loaded


def _changes(state: StateReader, site: str) -> Iterator[Change]:
    prefix = _path(site, "*")
    after = state.files(prefix)
    for path in sorted({*after, *(path for path in state.before() if path.startswith(f"sites/{site}/"))}):
        if path in after and path in state.before() and after[path].hash == state.before()[path].hash:
            continue
        table = path.removeprefix(f"sites/{site}/").removesuffix(".json")
        was, now = _there(state.read_before, path), _there(state.read, path)
        for key in sorted({*was, *now}):
            if was.get(key) != now.get(key):
                yield Change(table, key, was.get(key), now.get(key))


def _there(read: Callable[[str], bytes], path: str) -> Rows:
    try:
        return _rows(read(path))
    except StateMissing:
        return {}


def _list(found: Sequence[str]) -> str | None:
    rest = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return "; ".join(found[:_SHOWN]) + rest if found else None
