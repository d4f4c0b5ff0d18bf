"""HOME as verifiers read it: the agent owns it, and can neither lead a reader out of it nor make it hang or swell."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from envs import state
from envs.state import Home, LiveState, take_snapshot
from guiforge.env import EnvError, Snapshot, SnapshotState, StateMissing

SECRET = b"the gold answer"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_bytes(SECRET)
    (tmp_path / "home").mkdir()
    return Home(tmp_path / "home", lambda fd: None, mtime=1_000_000_000)


def test_what_is_written_is_read_back_live_and_from_a_snapshot(home: Home) -> None:
    home.write("~/Documents/deep/a.txt", b"one", mode=0o600)
    home.make_dir("~/Empty")
    snapshot, blobs = take_snapshot(home, home.scan()[0], {"clipboard": "text"})
    live = LiveState(home, snapshot.before, {"clipboard": lambda: "text"})
    for reader in (live, SnapshotState(snapshot, blobs)):
        assert reader.read("~/Documents/deep/a.txt") == b"one"
        entry = reader.files("~/Doc*")["~/Documents/deep/a.txt"]
        assert (entry.size, entry.mode, entry.mtime) == (3, 0o600, 1_000_000_000)
        assert reader.before() == reader.files()
        assert reader.query("clipboard") == "text"
        with pytest.raises(KeyError, match="it has: clipboard"):
            reader.query("weather")
        with pytest.raises(StateMissing, match="no file ~/nothing"):
            reader.read("~/nothing.txt")
    assert (home.root / "Empty").is_dir()


def test_directories_of_written_files_get_the_fixed_time_too(home: Home) -> None:
    home.write("~/new/a.txt", b"")
    home.write("~/new/b.txt", b"")
    assert (home.root / "new").stat().st_mtime == 1_000_000_000


@pytest.mark.parametrize("target", ["../outside/secret", "{tmp}/outside/secret"])
def test_a_link_out_of_home_is_an_entry_and_is_not_followed(home: Home, tmp_path: Path, target: str) -> None:
    (home.root / "link").symlink_to(target.format(tmp=tmp_path))
    (home.root / "dir").symlink_to(tmp_path / "outside")
    snapshot, blobs = take_snapshot(home, {}, {})
    assert snapshot.after["~/link"].link == target.format(tmp=tmp_path)
    assert snapshot.after["~/dir"].link == str(tmp_path / "outside")
    assert SECRET not in blobs.values() and "~/dir/secret" not in snapshot.after
    for path in ("~/link", "~/dir/secret"):
        with pytest.raises(StateMissing):
            home.read(path)
        with pytest.raises(StateMissing):
            SnapshotState(snapshot, blobs).read(path)


def test_set_up_does_not_write_through_a_link(home: Home, tmp_path: Path) -> None:
    (home.root / "link").symlink_to(tmp_path / "outside/secret")
    (home.root / "dir").symlink_to(tmp_path / "outside")
    for path in ("~/link", "~/dir/new"):
        with pytest.raises(EnvError, match="setup: can't write"):
            home.write(path, b"overwritten")
    assert (tmp_path / "outside/secret").read_bytes() == SECRET
    assert not (tmp_path / "outside/new").exists()


@pytest.mark.timeout(20)
def test_a_fifo_or_a_socket_neither_hangs_a_reader_nor_is_an_entry(home: Home) -> None:
    os.mkfifo(home.root / "fifo")
    os.mknod(home.root / "socket", 0o140644)
    home.write("~/a", b"1")
    assert list(home.scan()[0]) == ["~/a"]
    for name in ("~/fifo", "~/socket"):
        with pytest.raises(StateMissing):
            home.read(name)


def test_a_file_past_the_bound_is_named_and_missing_to_a_verifier(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "MAX_FILE_BYTES", 100)
    monkeypatch.setattr(state, "MAX_TOTAL_BYTES", 150)
    home.write("~/a", b"a" * 100)
    home.write("~/b", b"b" * 100)
    home.write("~/c", b"c" * 101)
    home.write("~/d", b"d" * 50)
    snapshot, blobs = take_snapshot(home, {}, {})
    assert list(snapshot.after) == ["~/a", "~/d"]
    assert snapshot.queries["left_out"] == ["~/b", "~/c"]
    with pytest.raises(StateMissing):
        SnapshotState(snapshot, blobs).read("~/c")
    with pytest.raises(StateMissing):
        home.read("~/c")


def test_a_sparse_file_of_a_terabyte_is_not_read(home: Home) -> None:
    with (home.root / "huge").open("wb") as file:
        file.truncate(1 << 40)
    snapshot, _ = take_snapshot(home, {}, {})
    assert snapshot.queries["left_out"] == ["~/huge"]


@pytest.mark.parametrize("kind", ["file", "directory", "fifo"])
@pytest.mark.parametrize(("bound", "value"), [("MAX_NAMES", 5), ("MAX_CHARACTERS", 15)])
def test_more_names_than_the_bound_are_left_out(
    home: Home, monkeypatch: pytest.MonkeyPatch, kind: str, bound: str, value: int
) -> None:
    monkeypatch.setattr(state, bound, value)
    for number in range(8):
        path = home.root / str(number)
        subprocess.run([{"file": "touch", "directory": "mkdir", "fifo": "mkfifo"}[kind], str(path)], check=True)
    entries, left_out = home.scan()
    assert list(entries) == ([f"~/{number}" for number in range(5)] if kind == "file" else [])
    assert left_out == ["~/5", "and what comes after it"]


def test_a_tree_deeper_than_the_bound_is_left_out(home: Home) -> None:
    deep = "a/" * 200
    subprocess.run(["mkdir", "-p", deep], cwd=home.root, check=True)
    home.write("~/z", b"")
    entries, left_out = home.scan()
    assert list(entries) == ["~/z"]
    assert left_out == ["~/" + "/".join("a" * (state.MAX_DEPTH + 1))]


def test_names_that_are_no_utf8_can_be_stored(home: Home) -> None:
    (Path(os.fsdecode(os.fsencode(home.root) + b"/\xff"))).write_bytes(b"1")
    (home.root / "link").symlink_to(os.fsdecode(b"\xfe"))
    snapshot, _ = take_snapshot(home, {}, {})
    assert snapshot.after["~/link"].link == "\\xfe"
    assert Snapshot.model_validate_json(snapshot.model_dump_json()).after["~/\\xff"].size == 1


def test_caches_are_no_part_of_the_state(home: Home) -> None:
    for path in ("~/.cache/x", "~/.config/chromium/Default/Cache/x", "~/.config/chromium/Default/Preferences"):
        home.write(path, b"")
    assert list(home.scan()[0]) == ["~/.config/chromium/Default/Preferences"]


@pytest.mark.parametrize("path", ["/etc/passwd", "~/../x", "~", "~/", "a.txt", "~/a/../../b"])
def test_a_path_that_is_not_below_home_is_refused(home: Home, path: str) -> None:
    with pytest.raises(EnvError, match="valid are paths below HOME"):
        home.write(path, b"")
