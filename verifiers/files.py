"""Checks of the file system: which files lie where, what a text says, what an archive holds.

Invariant: a check is `(name, passed, reason)` as `Verdict.of` takes it. A file that is missing or can't be read as
what it should be is a failed check with its reason; anything else that goes wrong here is a fault, and raises.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Mapping

from guiforge.env import StateMissing, StateReader
from guiforge.frame import content_hash
from guiforge.task import PutFile, Task
from verifiers.compare import Check, check
from verifiers.package import Unreadable, opening

_MAX_BYTES = 64 << 20  # of all members unpacked


def checked(name: str, find_fault: Callable[[], str | None]) -> Check:
    """A check from a function that returns what is wrong, or None. Missing and unreadable files fail it."""
    try:
        return check(name, find_fault())
    except (StateMissing, Unreadable) as why:
        return check(name, str(why))


def put_files(task: Task, folder: str = "~/") -> dict[str, bytes]:
    """The files under `folder` that the task's set-up writes, by `~/` path."""
    return {s.path: s.data for s in task.setup if isinstance(s, PutFile) and s.path.startswith(folder)}


def check_tree(name: str, state: StateReader, folder: str, want: Mapping[str, bytes]) -> Check:
    """`folder` (ends with a slash) holds exactly the files of `want` (by `~/` path) with exactly their bytes."""

    def fault() -> str | None:
        found = state.files(f"{folder}*")
        missing = [p for p in want if p not in found]
        extra = [p for p in found if p not in want]
        other = [p for p, e in found.items() if p in want and (e.link is not None or e.hash != content_hash(want[p]))]
        parts = (("missing", missing), ("not wanted", extra), ("changed", other))
        return "; ".join(f"{what}: {', '.join(sorted(paths)[:6])}" for what, paths in parts if paths) or None

    return checked(name, fault)


def read_text(state: StateReader, path: str) -> str:
    """A text file with line ends as `\\n`; UTF-8, or UTF-16 with its mark. Raises StateMissing, Unreadable."""
    data = state.read(path)
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(f"{path} is no {encoding.upper()} text: {error.reason}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def lines_of(text: str) -> list[str]:
    """Lines without blanks at their ends and without empty lines at the end of the text."""
    return [line.rstrip() for line in text.rstrip().split("\n")]


def check_text(name: str, state: StateReader, path: str, want: str) -> Check:
    """The text equals `want` but for line ends, blanks at the ends of lines, and empty lines at the end."""

    def fault() -> str | None:
        got, expected = lines_of(read_text(state, path)), lines_of(want)
        if got == expected:
            return None
        for number, (a, b) in enumerate(zip(got, expected, strict=False), 1):
            if a != b:
                return f"line {number} of {path} is {a!r}, not {b!r}"
        return f"{path} has {len(got)} lines, not {len(expected)}"

    return checked(name, fault)


def check_lines(name: str, state: StateReader, path: str, want: Iterable[str], *, ordered: bool = True) -> Check:
    """The file's non-empty lines, stripped, are `want`; with `ordered=False` in any order."""

    def fault() -> str | None:
        got = [line.strip() for line in read_text(state, path).split("\n") if line.strip()]
        expected = list(want)
        same = got == expected if ordered else sorted(got) == sorted(expected)
        return None if same else f"{path} says {got[:12]!r}, not {expected[:12]!r}"

    return checked(name, fault)


def archive_members(data: bytes, kind: str) -> dict[str, bytes]:
    """The regular files of an archive by name (a leading `./` or `/` dropped). kind: `tar.gz`, `tar` or `zip`.

    Raises Unreadable where it is not a whole archive of that kind, or unpacks to more than 64 MiB.
    """
    with opening(f"{kind} archive"):
        members = _zip_members(data) if kind == "zip" else _tar_members(data, {"tar.gz": "gz", "tar": ""}[kind])
    return {name.removeprefix("./").lstrip("/"): content for name, content in members}


def _tar_members(data: bytes, compression: str) -> list[tuple[str, bytes]]:
    left, members = _MAX_BYTES, []
    with tarfile.open(fileobj=io.BytesIO(data), mode=f"r:{compression}") as archive:  # type: ignore[call-overload]
        for info in archive:
            left -= info.size
            if left < 0:
                raise Unreadable(f"it unpacks to more than {_MAX_BYTES >> 20} MiB")
            if info.isfile() and (handle := archive.extractfile(info)) is not None:
                members.append((info.name, handle.read()))
    return members


def _zip_members(data: bytes) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(info.file_size for info in archive.infolist()) > _MAX_BYTES:
            raise Unreadable(f"it unpacks to more than {_MAX_BYTES >> 20} MiB")
        return [(info.filename, archive.read(info)) for info in archive.infolist() if not info.is_dir()]


def check_archive(name: str, state: StateReader, path: str, kind: str, want: Mapping[str, bytes]) -> Check:
    """The archive holds exactly the files of `want` (by relative path), under any common leading folders, or none."""

    def fault() -> str | None:
        got = archive_members(state.read(path), kind)
        prefix = max(_common_prefixes(got, want), key=lambda prefix: sum(prefix + w in got for w in want))
        inside = {m.removeprefix(prefix): content for m, content in got.items()}
        missing, extra = [w for w in want if w not in inside], [m for m in inside if m not in want]
        other = [w for w in want if w in inside and inside[w] != want[w]]
        parts = (("missing", missing), ("not wanted", extra), ("changed", other))
        return "; ".join(f"{what}: {', '.join(sorted(n)[:6])}" for what, n in parts if n) or None

    return checked(name, fault)


def _common_prefixes(members: Iterable[str], want: Iterable[str]) -> list[str]:
    """The leading folders (or none) that all members share, and under which one of `want` lies."""
    members = list(members)
    found = {m.removesuffix(w) for w in want for m in members if m.endswith(f"/{w}")}
    return ["", *sorted(prefix for prefix in found if all(m.startswith(prefix) for m in members))]
