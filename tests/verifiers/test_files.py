"""Checks of files: exact trees, forgiving texts, whole archives; what is missing or broken is a reason, not a fault."""

from __future__ import annotations

import io
import tarfile
import zipfile

import pytest

from guiforge.env import SnapshotState, edited, state_of_files
from guiforge.task import MakeDir, PutFile, Task
from verifiers.files import (
    archive_members,
    check_archive,
    check_lines,
    check_text,
    check_tree,
    checked,
    put_files,
    read_text,
)
from verifiers.package import Unreadable

FILES = {"~/D/a.txt": b"a", "~/D/sub/b.txt": b"b", "~/E/c.txt": b"c"}


def state(files: dict[str, bytes]) -> SnapshotState:
    return SnapshotState(*state_of_files(files))


def tar(members: dict[str, bytes], mode: str = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def test_a_tree_is_exact() -> None:
    want = {"~/D/a.txt": b"a", "~/D/sub/b.txt": b"b"}
    assert check_tree("t", state(FILES), "~/D/", want)[1]
    for edits, said in (
        ({"~/D/a.txt": None}, "missing: ~/D/a.txt"),
        ({"~/D/x.txt": b"x"}, "not wanted: ~/D/x.txt"),
        ({"~/D/a.txt": b"A"}, "changed: ~/D/a.txt"),
    ):
        name, passed, reason = check_tree("t", edited(*state_of_files(FILES), edits), "~/D/", want)
        assert (name, passed, reason) == ("t", False, said)


def test_a_link_to_a_file_is_not_the_file() -> None:
    snapshot, blobs = state_of_files({"~/D/a.txt": b"a"})
    entry = snapshot.after["~/D/a.txt"].model_copy(update={"link": "a"})
    linked = SnapshotState(snapshot.model_copy(update={"after": {"~/D/a.txt": entry}}), blobs)
    assert not check_tree("t", linked, "~/D/", {"~/D/a.txt": b"a"})[1]


def test_put_files_are_those_of_the_set_up_below_a_folder() -> None:
    setup = (PutFile(path="~/D/a", data=b"a"), MakeDir(path="~/D/b"), PutFile(path="~/E/c", data=b"c"))
    task = Task(suite="s", id="t", seed=0, instruction="i", setup=setup)
    assert put_files(task, "~/D/") == {"~/D/a": b"a"}
    assert set(put_files(task)) == {"~/D/a", "~/E/c"}


@pytest.mark.parametrize(
    "data",
    [b"a\nb\n", b"a\r\nb\r\n", b"a\rb", b"a  \nb\n\n\n", b"\xef\xbb\xbfa\nb\n", "a\nb\n".encode("utf-16")],
)
def test_a_text_may_differ_in_line_ends_marks_and_blanks_at_the_ends(data: bytes) -> None:
    assert check_text("t", state({"~/t": data}), "~/t", "a\nb\n")[1]


@pytest.mark.parametrize(
    "data", [b"a\n\nb\n", b" a\nb\n", b"a\nB\n", b"b\na\n", b"a\nb\nc\n", b"a\n", b"", b"\xff\xfea"]
)
def test_a_text_may_differ_in_nothing_else(data: bytes) -> None:
    assert not check_text("t", state({"~/t": data}), "~/t", "a\nb\n")[1]


def test_lines_in_order_or_in_any() -> None:
    found = state({"~/t": b"\n b\n\na \n"})
    assert check_lines("t", found, "~/t", ["b", "a"])[1]
    assert not check_lines("t", found, "~/t", ["a", "b"])[1]
    assert check_lines("t", found, "~/t", ["a", "b"], ordered=False)[1]
    assert not check_lines("t", found, "~/t", ["a"], ordered=False)[1]
    assert not check_lines("t", found, "~/t", ["a", "b", "b"], ordered=False)[1]


def test_missing_and_unreadable_files_are_reasons_and_other_faults_are_not_hidden() -> None:
    assert check_text("t", state({}), "~/t", "a")[2] == "no file ~/t in the final state"
    assert "UTF-8" in check_lines("t", state({"~/t": b"\xe4"}), "~/t", ["ä"])[2]
    with pytest.raises(Unreadable):
        read_text(state({"~/t": b"\xe4"}), "~/t")
    with pytest.raises(ZeroDivisionError):
        checked("t", lambda: str(1 // 0))


@pytest.mark.parametrize("prefix", ["", "./", "folder/", "/home/user/folder/"])
def test_an_archive_may_be_packed_from_anywhere_and_in_any_order(prefix: str) -> None:
    want = {"a.txt": b"a", "sub/a.txt": b"other"}
    for kind, data in (
        ("tar.gz", tar({prefix + "sub/a.txt": b"other", prefix + "a.txt": b"a"})),
        ("zip", zipped({prefix + "sub/a.txt": b"other", prefix + "a.txt": b"a"})),
    ):
        assert check_archive("t", state({"~/x": data}), "~/x", kind, want) == ("t", True, "")


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"f/a.txt": b"a"}, "missing: sub/b.txt"),
        ({"f/a.txt": b"a", "f/sub/b.txt": b"b", "f/c.log": b"c"}, "not wanted: c.log"),
        ({"f/a.txt": b"a", "f/sub/b.txt": b"B"}, "changed: sub/b.txt"),
        ({"f/a.txt": b"a", "sub/b.txt": b"b"}, "missing"),
        ({}, "missing: a.txt, sub/b.txt"),
    ],
)
def test_an_archive_holds_all_and_nothing_else(members: dict[str, bytes], said: str) -> None:
    found = state({"~/x": tar(members)})
    _, passed, reason = check_archive("t", found, "~/x", "tar.gz", {"a.txt": b"a", "sub/b.txt": b"b"})
    assert not passed and said in reason


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("tar.gz", tar({"a": b"a"}, "w:")),
        ("tar.gz", tar({"a": b"a"}, "w:bz2")),
        ("tar.gz", tar({"a": bytes(4000)})[:-20]),
        ("tar.gz", zipped({"a": b"a"})),
        ("tar.gz", b""),
        ("tar", tar({"a": b"a"})),
        ("zip", tar({"a": b"a"})),
        ("zip", zipped({"a": b"a"})[:-10]),
    ],
)
def test_what_is_no_whole_archive_of_its_kind_is_unreadable(kind: str, data: bytes) -> None:
    with pytest.raises(Unreadable):
        archive_members(data, kind)


def test_an_archive_that_unpacks_to_too_much_is_not_unpacked() -> None:
    bomb = tar({"a": bytes(40 << 20), "b": bytes(40 << 20)})
    with pytest.raises(Unreadable, match="64 MiB"):
        archive_members(bomb, "tar.gz")
