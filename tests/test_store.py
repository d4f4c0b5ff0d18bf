"""The run folder: what was acknowledged is there, one writer, any number of readers, a full disk breaks nothing."""

from __future__ import annotations

import math
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from guiforge.action import Click, Done, TypeText
from guiforge.env import FileEntry, Snapshot, state_of_files
from guiforge.frame import content_hash
from guiforge.outcome import Outcome, Status
from guiforge.store import (
    AlreadyFinished,
    Damaged,
    NotARun,
    RunReader,
    Store,
    StoreError,
    StoreLocked,
    UnknownEpisode,
    WrongFormat,
)
from guiforge.task import PutFile, Task
from guiforge.trace import Call, EpisodeKey, Recorder, Step, Tokens

SOLVED = Outcome(status=Status.SOLVED, reward=1, components={"sum": 1.0})


def key(seed: int = 0, attempt: int = 0) -> EpisodeKey:
    return EpisodeKey(task="osworld-like/calc-sum", seed=seed, attempt=attempt, harness="kimi", policy="oracle")


def task(seed: int = 0) -> Task:
    return Task(
        suite="osworld-like",
        id="calc-sum",
        seed=seed,
        instruction="Sum the column.",
        tags=("calc",),
        setup=(PutFile(path="~/a.bin", data=bytes(range(256))),),
    )


def step(index: int, frame: str) -> Step:
    return Step(index=index, frame=frame, cursor=(3, 4), actions=(Click(x=1, y=2),), started=1.5, timings={"act": 0.5})


def call(index: int, reply: str | None = "ok") -> Call:
    message = None if reply is None else {"role": "assistant", "content": reply}
    return Call(index=index, step=index, request={"n": index}, message=message, queued=1.0, last_byte=2.0)


def run_python(code: str, *args: object) -> subprocess.Popen[str]:
    """A process of its own that runs `code` after this module's names were imported into it."""
    lines = f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\nfrom test_store import *\n"
    command = [sys.executable, "-c", lines + textwrap.dedent(code), *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def finished(store: Store, seed: int, steps: int = 2) -> None:
    """Record a whole episode."""
    store.begin(key(seed), task(seed))
    frame = ""
    for i in range(steps):
        frame = store.image(b"image %d of %d" % (i, seed), "image/png")
        store.call(key(seed), call(i))
        store.step(key(seed), step(i, frame))
    store.state(key(seed), *state_of_files({"~/a.txt": b"seed %d" % seed}))
    store.finish(key(seed), SOLVED, frame, {"reset": 0.5})


def test_a_whole_episode_reads_back_equal(tmp_path: Path) -> None:
    with Store(tmp_path / "run", parameters={"suite": "osworld-like"}) as store:
        recorder: Recorder = store
        recorder.begin(key(), task())
        frame = recorder.image(b"png bytes", "image/png")
        store.call(key(), call(0))
        recorder.step(key(), step(0, frame))
        snapshot, blobs = state_of_files({"~/a.txt": b"hello", "~/b.txt": b"there"}, windows=[{"title": "x"}])
        recorder.state(key(), snapshot, blobs)
        recorder.finish(key(), SOLVED, frame, {"reset": 0.5})

    with RunReader(tmp_path / "run") as run:
        assert run.parameters == {"suite": "osworld-like"}
        (episode,) = run.episodes()
        assert (episode.key, episode.application, episode.status) == (key(), "calc", "solved")
        assert (episode.outcome, episode.timings, episode.last_frame) == (SOLVED, {"reset": 0.5}, frame)
        assert run.task(key()) == task()
        assert run.calls(key()) == [call(0)]
        assert run.steps(key()) == [step(0, frame)]
        assert run.image_bytes(frame) == b"png bytes"
        kept, files = run.snapshot(key())
        assert kept == snapshot and dict(files) == blobs
        assert run.episode(key().id[:4]) == episode
        assert run.finished_keys() == {key()}


def test_whatever_a_model_or_a_file_name_holds_is_kept_exactly(tmp_path: Path) -> None:
    nasty = "\ud800 \x00 \u2028 </script> 漢字 🙂 \udcff"
    with Store(tmp_path / "run") as store:
        store.begin(key(), task())
        frame = store.image(b"x", "image/webp")
        asked = Call(
            index=0, step=0, request={"messages": [{nasty: nasty}]}, sampling={nasty: 1}, message={nasty: nasty},
            raw=nasty, finish_reason=nasty, upstream=nasty, policy_version=nasty, idempotency_key=nasty, error=nasty,
            unread=nasty, queued=0, last_byte=1,
        )  # fmt: skip
        taken = Step(index=0, frame=frame, text=nasty, error=nasty, actions=(TypeText(text=nasty),), started=0)
        snapshot, blobs = state_of_files({f"~/{nasty}": b"", "~/\udcfe": b""}, clipboard=nasty)
        outcome = Outcome.fault(Status.ENV_ERROR, nasty)
        store.call(key(), asked)
        store.step(key(), taken)
        store.state(key(), snapshot, blobs)
        store.finish(key(), outcome, None, {})
        assert store.calls(key()) == [asked]
        assert store.steps(key()) == [taken]
        assert store.snapshot(key())[0] == snapshot
        assert store.outcome(key()) == outcome


def test_tokens_and_log_probabilities_read_back_to_the_last_bit(tmp_path: Path) -> None:
    logprobs = (-0.1, -1e-300, -math.pi, 0.0, -745.1332191019412)
    tokens = Tokens(prompt_ids=(151_644, 0, 2**31 - 1), sampled_ids=(1, 2, 3, 4, 5), logprobs=logprobs)
    asked = [
        call(0).model_copy(update={"tokens": tokens}),
        call(1).model_copy(update={"tokens": Tokens(prompt_ids=(7,), sampled_ids=())}),
        call(2).model_copy(update={"parent": 0, "cut": True, "tries": 3, "first_byte": 1.25, "wire": "messages"}),
    ]
    with Store(tmp_path / "run") as store:
        store.begin(key(), task())
        for each in asked:
            store.call(key(), each)
    with RunReader(tmp_path / "run") as run:
        assert run.calls(key()) == asked


def test_calls_kept_at_once_fail_one_by_one(tmp_path: Path) -> None:
    ended, unknown = key(seed=1), key(seed=2)
    with Store(tmp_path / "run") as store:
        for each in (key(), ended):
            store.begin(each, task(each.seed))
        store.finish(ended, SOLVED, None, {})
        batch = [(key(), call(0)), (ended, call(0)), (unknown, call(0)), (key(), call(0, "again")), (key(), call(1))]
        kept, sealed, never_begun, twice, last = store.calls_at_once(batch)
        assert kept is None and last is None
        assert isinstance(sealed, AlreadyFinished) and isinstance(never_begun, UnknownEpisode)
        assert "has that call already" in str(twice)
        assert store.calls(key()) == [call(0), call(1)]


def test_what_a_harness_could_not_read_is_noted_on_its_latest_call(tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store:
        store.begin(key(), task())
        store.call(key(), call(0))
        store.call(key(), call(1))
        store.unread(key(), "no action in it \ud800")
        assert [each.unread for each in store.calls(key())] == [None, "no action in it \ud800"]


def test_beginning_anew_drops_what_the_unfinished_try_left(tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store:
        store.begin(key(), task())
        store.call(key(), call(0))
        store.step(key(), step(0, "a" * 32))
        store.state(key(), Snapshot(before={}, after={}), {})
        store.begin(key(), task())
        assert store.calls(key()) == [] and store.steps(key()) == []
        with pytest.raises(UnknownEpisode, match="no final state"):
            store.snapshot(key())
        assert len(store.episodes()) == 1


def test_a_cancelled_episode_is_run_again_and_a_finished_one_never(tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store:
        store.begin(key(), task())
        store.finish(key(), Outcome.fault(Status.CANCELLED, "Ctrl-C"), None, {})
        assert store.finished_keys() == set()
        store.begin(key(), task())
        store.finish(key(), Outcome.fault(Status.ENV_ERROR, "Xvfb died"), None, {})
        assert store.finished_keys() == {key()}
        with pytest.raises(AlreadyFinished, match="calc-sum seed 0"):
            store.begin(key(), task())
        with pytest.raises(AlreadyFinished, match="env_error"):
            store.step(key(), step(0, "a" * 32))
        with pytest.raises(AlreadyFinished):
            store.finish(key(), SOLVED, None, {})
        with pytest.raises(UnknownEpisode, match="not begun"):
            store.call(key(1), call(0))


def test_what_was_kept_of_the_first_state_is_handed_out_and_the_rest_is_absent(tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store:
        store.begin(key(), task())
        first, kept = state_of_files({"~/.config/kept": b"old"})
        forgotten, _ = state_of_files({"~/forgotten": b"gone"})
        last, blobs = state_of_files({"~/.config/kept": b"new"})
        before = {**first.before, **forgotten.before}
        store.state(key(), last.model_copy(update={"before": before}), {**kept, **blobs})
        assert dict(store.snapshot(key())[1]) == {**kept, **blobs}


def test_a_symbolic_link_of_the_final_state_has_no_bytes_and_is_none_of_the_files(tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store:
        store.begin(key(), task())
        last, blobs = state_of_files({"~/file": b"bytes"})
        link = FileEntry(hash=content_hash(b"elsewhere"), size=9, mode=0o777, mtime=0.0, link="elsewhere")
        last = last.model_copy(update={"after": {**last.after, "~/link": link}})
        store.state(key(), last, blobs)
        snapshot, kept = store.snapshot(key())
        assert (snapshot, dict(kept)) == (last, blobs)


def test_an_image_is_stored_once(tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store:
        names = {store.image(b"same", "image/png") for _ in range(5)} | {store.image(b"other", "image/jpeg")}
        assert len(names) == 2
    with Store(tmp_path / "run") as store:
        store.image(b"same", "image/png")
        files = [p for p in (tmp_path / "run" / "images").rglob("*") if p.is_file()]
        assert sorted(p.suffix for p in files) == [".jpeg", ".png"]
        with pytest.raises(ValueError, match="image/gif"):
            store.image(b"gif", "image/gif")


def test_a_damaged_image_or_state_is_never_handed_out(tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store:
        finished(store, 0)
        frame = store.steps(key())[0].frame
        store.image_path(frame).write_bytes(b"half")
        with pytest.raises(Damaged, match=frame):
            store.image_bytes(frame)
        with pytest.raises(Damaged, match="has no file"):
            store.image_bytes("0" * 32)
        _, blobs = store.snapshot(key())
        (name,) = blobs
        store.blobs.path(name).write_bytes(b"half")
        with pytest.raises(Damaged, match=name):
            _ = blobs[name]


def test_a_second_writer_is_refused_and_names_the_first(tmp_path: Path) -> None:
    holder = run_python("store = Store(sys.argv[1]); print('open', flush=True); sys.stdin.read()", tmp_path / "run")
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "open\n"
        with pytest.raises(StoreLocked, match=str(holder.pid)):
            Store(tmp_path / "run")
        with RunReader(tmp_path / "run") as reader:
            assert reader.episodes() == []
    finally:
        holder.kill()
        holder.communicate()
    Store(tmp_path / "run").close()  # the lock went with its holder


def test_a_reader_follows_a_run_that_goes_on(tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store, RunReader(tmp_path / "run") as reader:
        for seed in range(5):
            finished(store, seed)
            assert [e.key.seed for e in reader.episodes()] == list(range(seed + 1))
            assert len(reader.steps(key(seed))) == 2
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader._db.execute("DELETE FROM episodes")


WRITE_FOREVER = """
store = Store(sys.argv[1], parameters={"n": 1})
for seed in range(10**6):
    store.begin(key(seed), task(seed)); print("begin", seed, flush=True)
    for i in range(3):
        frame = store.image(b"%d %d" % (seed, i) * 1000, "image/png")
        store.call(key(seed), call(i)); print("call", seed, i, flush=True)
        store.step(key(seed), step(i, frame)); print("step", seed, i, frame, flush=True)
    store.state(key(seed), *state_of_files({"~/a": b"%d" % seed * 1000})); print("state", seed, flush=True)
    store.finish(key(seed), SOLVED, frame, {}); print("finish", seed, flush=True)
"""


@pytest.mark.parametrize("moment", range(20))
def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path: Path, moment: int) -> None:
    lines_before_kill = random.Random(moment).randrange(1, 120)
    writer = run_python(WRITE_FOREVER, tmp_path / "run")
    assert writer.stdout is not None
    said = [writer.stdout.readline() for _ in range(lines_before_kill)]
    writer.send_signal(signal.SIGKILL)
    said += writer.communicate()[0].splitlines()
    acknowledged = [line.split() for line in said if line.strip()]

    with RunReader(tmp_path / "run") as run:
        assert run._db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        known = {e.key.seed: e for e in run.episodes()}
        for what, seed, *rest in acknowledged:
            episode = known[int(seed)]
            match what:
                case "call":
                    assert run.calls(episode.key)[int(rest[0])] == call(int(rest[0]))
                case "step":
                    assert run.steps(episode.key)[int(rest[0])].frame == rest[1]
                    run.image_bytes(rest[1])
                case "state":
                    assert list(run.snapshot(episode.key)[1].values()) == [b"%d" % int(seed) * 1000]
                case "finish":
                    assert episode.outcome == SOLVED
        done = run.finished_keys()
        assert {int(seed) for what, seed, *_ in acknowledged if what == "finish"} <= {k.seed for k in done}

    with Store(tmp_path / "run", create=False) as store:  # and the run goes on where it was
        assert store.finished_keys() == done
        assert not list((tmp_path / "run").rglob(".*.tmp"))
        finished(store, 10**7)


FILL = """
from guiforge.store import StoreFull
import os
store = Store(sys.argv[1])
for seed in range(3):
    finished(store, seed)
mode, full = sys.argv[2], None
try:
    store.begin(key(99), task(99))
    for i in range(10**5):
        if mode == "images":
            store.image(os.urandom(100_000), "image/png")
        else:
            store.call(key(99), call(i, reply="x" * 50_000))
            print("call", i)
except StoreFull as error:
    full = error
print("full", full.needed, full.free, str(full).replace(chr(10), " "))
store.close()
with Store(sys.argv[1]) as again:
    assert again._db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert len(again.finished_keys()) == 3
    for seed in range(3):
        assert len(again.steps(key(seed))) == 2 and list(again.snapshot(key(seed))[1].values())
    print("calls", len(again.calls(key(99))))
os.unlink(sys.argv[3])
with Store(sys.argv[1]) as again:  # room was made: it goes on
    finished(again, 99)
print("went on")
"""


@pytest.mark.parametrize("mode", ["images", "calls"])
def test_a_full_disk_says_so_and_leaves_the_database_whole(tmp_path: Path, mode: str) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("mount namespaces are not permitted here")
    shell = 'mount -t tmpfs -o size=4m none "$1" && head -c 2000000 /dev/zero > "$1/ballast" && shift && exec "$@"'
    script = f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\nfrom test_store import *\n{FILL}"
    arguments = [sys.executable, "-c", script, disk / "run", mode, disk / "ballast"]
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", shell, "sh", *map(str, [disk, *arguments])],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    lines = done.stdout.splitlines()
    (full,) = [line for line in lines if line.startswith("full")]
    assert "is full" in full and str(disk / "run") in full and "bytes" in full
    acknowledged = sum(line.startswith("call ") for line in lines)
    assert f"calls {acknowledged}" in lines
    assert lines[-1] == "went on"


def test_a_folder_that_is_no_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotARun, match="no such folder"):
        RunReader(tmp_path / "absent")
    with pytest.raises(NotARun, match="no such folder"):
        Store(tmp_path / "absent", create=False)
    (tmp_path / "holiday.jpg").write_bytes(b"x")
    with pytest.raises(NotARun, match=r"no run\.json"):
        RunReader(tmp_path)
    with pytest.raises(NotARun, match=r"not empty.*holiday\.jpg"):
        Store(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["holiday.jpg"]
    with pytest.raises(NotARun, match="is a file"):
        Store(tmp_path / "holiday.jpg")


@pytest.mark.parametrize(
    ("manifest", "error", "text"),
    [
        ('{"format": 99, "parameters": {}}', WrongFormat, "format 99"),
        ("not json", StoreError, "damaged"),
        ("[]", StoreError, "damaged"),
        ('{"format": 2, "parameters": {}}', StoreError, r"run\.db"),
    ],
)
def test_a_manifest_that_is_wrong_names_itself(
    tmp_path: Path, manifest: str, error: type[Exception], text: str
) -> None:
    (tmp_path / "run.json").write_text(manifest)
    for opener in (RunReader, Store):
        with pytest.raises(error, match=text):
            opener(tmp_path)


def test_a_run_whose_making_was_killed_is_made_again(tmp_path: Path) -> None:
    Store(tmp_path, parameters={"a": 1}).close()
    (tmp_path / "run.json").unlink()
    with Store(tmp_path, parameters={"a": 2}) as store:
        assert store.parameters == {"a": 2}


def test_an_episode_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store:
        for seed in range(40):
            store.begin(key(seed), task(seed))
        with pytest.raises(UnknownEpisode, match=r"40 episodes .* begin with ''"):
            store.episode("")
        with pytest.raises(UnknownEpisode, match=r"no episode 'zz'.*and 32 more"):
            store.episode("zz")
        assert store.episode(key(7).id).key == key(7)


def test_the_end_actions_keep_their_kind(tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store:
        store.begin(key(), task())
        store.step(key(), Step(index=0, frame="a" * 32, actions=(Done(),), started=0))
        assert store.steps(key())[0].actions == (Done(),)
