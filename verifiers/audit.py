"""The side-effect audit: what changed outside the places a task declares, and what it makes of it.

Invariant: it judges a stored Snapshot and nothing else. What counts:

- A file that existed and lies outside `task.writable` fails the task when it was removed, or when its bytes, its mode
  or its being a link changed. A time alone never counts.
- A settings file that programs also write window sizes and histories to is compared key by key, and fails the task
  when a key that is a setting differs (`verifiers/noise.py` has the one list). Without `load` its bytes can't be
  compared by key; it then passes, so a grader that has the bytes gives them.
- A new file fails the task where it takes effect by existing (autostart, shell start-up files, settings that differ
  from none; `verifiers/noise.py` has the list). Any other new file is reported, as component `created_elsewhere` 0,
  and fails nothing: a scratch file is untidy, not damage, and families whose goal includes a tidy folder check that
  themselves.
- A program left running that was not there before is reported, as component `left_running` 0, and fails nothing:
  windows left open are how a desktop is used, and they end with it.
- An application that did not quit when it was asked to, before the state was taken, is named among the reasons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from guiforge.env import FileEntry, Snapshot
from guiforge.outcome import Verdict
from guiforge.task import Task
from verifiers import noise

_SHOWN = 10


def audit(task: Task, snapshot: Snapshot, load: Mapping[str, bytes] | None = None) -> Verdict:
    """A Verdict with component `side_effects`: 1 where nothing undeclared was damaged.

    load: the bytes of files by content hash, for settings files that are compared key by key.
    """
    damage = [found for path in _undeclared(task, snapshot) if (found := _damage(path, snapshot, load or {}))]
    created = [
        path
        for path in snapshot.after
        if path not in snapshot.before
        and not task.may_write(path)
        and not _is_known(path)
        and not noise.matches(path, noise.ACTIVE)
    ]
    running = left_running(snapshot.queries.get("processes_before"), snapshot.queries.get("processes", ()))
    reported = (
        ("side_effects", damage, "changed outside the task's places"),
        ("created_elsewhere", created, "new files outside the task's places"),
        ("left_running", running, "programs left running"),
    )
    unflushed = (
        f"{app} did not quit, its settings may be unwritten" for app in snapshot.queries.get("not_flushed", ())
    )
    return Verdict(
        score=float(not damage),
        components={name: float(not found) for name, found, _ in reported},
        reasons=(*(f"{name}: {what}: {_shorten(found)}" for name, found, what in reported if found), *unflushed),
    )


def left_running(before: Iterable[Sequence[str]] | None, after: Iterable[Sequence[str]]) -> list[str]:
    """Programs of `after` (argument lists) that are not in `before`, without what sessions start on their own.

    Nothing where `before` is not known.
    """
    if before is None:
        return []
    new = Counter(tuple(argv) for argv in after) - Counter(tuple(argv) for argv in before)
    names = {PurePosixPath(argv[0]).name for argv in new if argv}
    return sorted(name for name in names if not noise.SERVICES.match(name))


def _undeclared(task: Task, snapshot: Snapshot) -> list[str]:
    return [p for p in sorted({*snapshot.before, *snapshot.after}) if not task.may_write(p)]


def _damage(path: str, snapshot: Snapshot, load: Mapping[str, bytes]) -> str | None:
    """What was done to an undeclared path, or None where it was nothing, noise, or a new file that only is there."""
    before, after = snapshot.before.get(path), snapshot.after.get(path)
    settings = noise.settings_of(path)
    if settings is not None:
        return _settings_damage(path, settings, before, after, load)
    if before is None:
        return f"{path} (made, and takes effect)" if noise.matches(path, noise.ACTIVE) else None
    if noise.matches(path, noise.NOISE):
        return None
    if after is None:
        return f"{path} (removed)"
    if after.link != before.link:
        return f"{path} (link)"
    if after.hash != before.hash:
        return f"{path} (content)"
    return f"{path} (mode {before.mode:o} to {after.mode:o})" if after.mode != before.mode else None


def _settings_damage(
    path: str, settings: noise.Settings, before: FileEntry | None, after: FileEntry | None, load: Mapping[str, bytes]
) -> str | None:
    if after is None:
        return f"{path} (removed)"
    if before is not None and (before.hash == after.hash or before.hash not in load):
        return None
    if after.hash not in load:
        return None
    try:
        keys = settings.differences(load[before.hash] if before else None, load[after.hash])
    except (ValueError, SyntaxError, AttributeError, TypeError, RecursionError):  # any shape an agent may leave there
        return f"{path} (no longer readable as settings)"
    return f"{path} ({', '.join(keys[:4])})" if keys else None


def _is_known(path: str) -> bool:
    return noise.settings_of(path) is not None or noise.matches(path, (*noise.NOISE, *noise.MADE))


def _shorten(found: Sequence[str]) -> str:
    rest = len(found) - _SHOWN
    return ", ".join(found[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
