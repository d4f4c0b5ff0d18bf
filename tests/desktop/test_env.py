"""DesktopEnv: set-up, steps, faults and the final state, on real applications."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from envs.desktop import setup
from envs.desktop.env import DesktopEnv
from guiforge.action import Click, Done, Goto, KeyDown, KeyUp, Move, Press, TypeText, Wait
from guiforge.env import CommandResult, EnvError, EnvTimeout, SnapshotState
from guiforge.task import Command, Launch, Limits, MakeDir, PutFile, Run, Task
from tests.desktop.places import Traces, eventually, host_pid

pytestmark = pytest.mark.desktop
NOTE = PutFile(path="~/Documents/note.txt", data=b"hello\n")
EDITOR = Launch(app="editor", args=("~/Documents/note.txt",), window="note.txt")


def task(*setup: Any, **fields: Any) -> Task:
    fields = {"screen": (1024, 768), "instruction": "", "seed": 0} | fields
    return Task(suite="t", id="t", setup=setup, **fields)


@pytest.fixture(scope="module")
def env() -> Iterator[DesktopEnv]:
    env = DesktopEnv()
    yield env
    env.close()


def desktop_of(env: DesktopEnv) -> Any:
    return env._playing().desktop


def test_set_up_is_on_the_screen_and_in_the_state_before(env: DesktopEnv) -> None:
    first = env.reset(task(NOTE, MakeDir(path="~/Work"), Run(argv=("touch", "/home/user/Work/ran")), EDITOR))
    assert first.frame.size == (1024, 768) and first.frame.settled and first.error is None
    (window,) = env.oracle_view().windows()
    assert "note.txt" in window.title and window.active
    snapshot, blobs = env.snapshot()
    assert blobs[snapshot.before["~/Documents/note.txt"].hash] == b"hello\n"
    assert "~/Work/ran" in snapshot.before
    assert snapshot.queries["windows"][0]["title"] == window.title
    assert ["mousepad", "/home/user/Documents/note.txt"] in snapshot.queries["processes"]
    assert {"start", "setup", "snapshot"} <= set(env.timings())


def test_what_the_agent_types_and_saves_is_in_the_final_state(env: DesktopEnv) -> None:
    env.reset(task(NOTE, EDITOR))
    observation = env.step(Press(keys=("ctrl", "End")), TypeText(text="Grüße 世界"), Press(keys=("ctrl", "s")))
    assert observation.error is None
    snapshot, blobs = env.snapshot()
    entry = snapshot.after["~/Documents/note.txt"]
    assert blobs[entry.hash].decode() == "hello\nGrüße 世界"
    assert snapshot.before["~/Documents/note.txt"].hash != entry.hash


def test_the_same_task_has_the_same_first_frame_and_nothing_of_the_episode_before(env: DesktopEnv) -> None:
    first = env.reset(task(NOTE, EDITOR))
    env.step(TypeText(text="changed"), Press(keys=("ctrl", "s")), KeyDown(key="shift"), Move(x=3, y=5))
    again = env.reset(task(NOTE, EDITOR))
    assert again.frame.same_pixels(first.frame)
    assert again.frame.cursor == first.frame.cursor
    assert env.oracle_view().state.read("~/Documents/note.txt") == b"hello\n"


def test_a_held_key_stays_down_between_steps_and_up_is_up(env: DesktopEnv) -> None:
    env.reset(task(NOTE, EDITOR))
    env.step(KeyDown(key="shift"))
    env.step(Press(keys=("a",)))
    env.step(KeyUp(key="shift"))
    env.step(Press(keys=("b",)), Press(keys=("ctrl", "s")))
    assert env.oracle_view().state.read("~/Documents/note.txt") == b"Abhello\n"


def test_a_point_off_the_screen_is_an_error_that_names_the_range_and_stops_the_step(env: DesktopEnv) -> None:
    env.reset(task(NOTE, EDITOR))
    observation = env.step(TypeText(text="x"), Click(x=1024, y=5), TypeText(text="never"))
    assert observation.error is not None
    assert "action 2 (click)" in observation.error and "x 0 to 1023 and y 0 to 767" in observation.error
    env.step(Press(keys=("ctrl", "s")))
    assert env.oracle_view().state.read("~/Documents/note.txt") == b"xhello\n"


def test_an_action_of_browsers_is_an_error_that_names_the_valid_kinds(env: DesktopEnv) -> None:
    env.reset(task())
    observation = env.step(Goto(url="http://example.test/"))
    assert observation.error is not None and "'goto'" in observation.error and "click, move" in observation.error


def test_looking_waiting_and_ending_change_nothing(env: DesktopEnv) -> None:
    first = env.reset(task())
    for actions in ((), (Wait(seconds=0),), (Done(),)):
        observation = env.step(*actions)
        assert observation.error is None and observation.frame.same_pixels(first.frame)


def test_an_application_that_the_agent_closes_is_no_fault(env: DesktopEnv) -> None:
    env.reset(task(NOTE, EDITOR))
    env.step(Press(keys=("alt", "F4")))
    assert eventually(lambda: not env.oracle_view().windows())
    assert env.step().error is None
    assert env.snapshot()[0].queries["windows"] == []


@pytest.mark.parametrize(("victim", "part"), [("mousepad", "editor"), ("Xvfb", "Xvfb")])
def test_what_dies_is_named_and_the_next_reset_is_whole(env: DesktopEnv, victim: str, part: str) -> None:
    env.reset(task(NOTE, EDITOR))
    traces = Traces.of(desktop_of(env))
    os.kill(host_pid(desktop_of(env), victim), signal.SIGKILL)
    with pytest.raises(EnvError, match="SIGKILL") as caught:
        eventually(lambda: env.step(Move(x=1, y=1)) is None)
    assert caught.value.part == part
    assert env.reset(task()).frame.settled
    assert eventually(lambda: not traces.left()), traces.left()


def test_a_command_of_set_up_that_fails_is_a_fault_with_its_output(env: DesktopEnv) -> None:
    with pytest.raises(EnvError, match="exited with 3: so it goes"):
        env.reset(task(Run(argv=("sh", "-c", "echo so it goes; exit 3"))))


def test_each_deadline_of_set_up_says_which_it_was(env: DesktopEnv) -> None:
    with pytest.raises(EnvTimeout, match=r"waited 0\.5 s for sleep to end"):
        env.reset(task(Run(argv=("sleep", "100"), timeout_s=0.5)))
    with pytest.raises(EnvTimeout, match=r"editor: no window 'other' within 3 s; there are: .*note\.txt"):
        env.reset(task(NOTE, EDITOR.model_copy(update={"window": "other", "timeout_s": 3.0})))
    with pytest.raises(EnvTimeout, match="time to reset passed before step run"):
        env.reset(task(Run(argv=("true",)), limits=Limits(reset_s=0.001)))


def test_a_launch_that_ends_without_a_window_says_why(env: DesktopEnv) -> None:
    with pytest.raises(EnvError, match="terminal: showed no window and exited with"):
        env.reset(task(Launch(app="terminal", args=("-no-such-option",))))


def test_two_files_opened_by_one_application_are_two_launches(env: DesktopEnv) -> None:
    other = PutFile(path="~/other.txt", data=b"")
    env.reset(task(NOTE, other, EDITOR, Launch(app="editor", args=("~/other.txt",), window="other.txt")))
    assert any("other.txt" in window.title for window in env.oracle_view().windows())


def test_the_background_s_menu_starts_an_application(env: DesktopEnv) -> None:
    env.reset(task())
    env.step(Click(x=100, y=100, button="right"))
    env.step(Press(keys=("End",)), Press(keys=("Return",)))  # the last one
    assert env.oracle_view().wait_window("galculator").title == "galculator"


def test_maximize_fills_the_screen(env: DesktopEnv) -> None:
    env.reset(task(Launch(app="calculator"), Launch(app="editor", maximize=True)))
    editor = next(w for w in env.oracle_view().windows() if w.wm_class.startswith("mousepad"))
    assert editor.width == 1024 and editor.active


def test_flush_ends_the_application_in_good_order_before_files_are_taken(env: DesktopEnv) -> None:
    env.reset(task(Launch(app="vlc"), flush=("vlc",)))
    snapshot, _ = env.snapshot()
    assert ["vlc"] in snapshot.queries["processes"]  # as the agent left it
    assert "~/.config/vlc/vlc-qt-interface.conf" in snapshot.after  # written on quitting
    assert not env.oracle_view().windows()


def test_an_application_that_does_not_quit_is_named_in_the_state(
    env: DesktopEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup, "_FLUSH_S", 0.5)
    env.reset(task(Launch(app="calculator"), NOTE, EDITOR, flush=("editor", "calculator")))
    os.kill(host_pid(desktop_of(env), "galculator"), signal.SIGSTOP)
    assert env.snapshot()[0].queries["not_flushed"] == ["calculator"]


def test_a_clipboard_whose_owner_hangs_is_no_fault(env: DesktopEnv) -> None:
    env.reset(task())
    desktop = desktop_of(env)
    own = "import tkinter, os; r = tkinter.Tk(); r.clipboard_append('x'); r.update(); os.mkdir('owned'); os.kill(0, 19)"
    desktop.spawn(["/usr/bin/python3", "-c", own])
    assert eventually((desktop.home / "owned").is_dir)
    assert env.snapshot()[0].queries["clipboard"] is None


def test_many_processes_with_long_command_lines_are_cut_short(env: DesktopEnv) -> None:
    env.reset(task())
    many = (
        "import subprocess\nfor _ in range(60): subprocess.Popen(['sh', '-c', 'kill -STOP $$', *['x' * 100_000] * 15])"
    )
    desktop_of(env).run(["/usr/bin/python3", "-c", many])
    listed = [argv for argv in env.snapshot()[0].queries["processes"] if argv[:2] == ["sh", "-c"]]
    assert len(listed) == 60 and all(sum(map(len, argv)) < 5000 for argv in listed)


def test_an_unknown_application_is_refused_before_anything_starts(env: DesktopEnv) -> None:
    with pytest.raises(ValueError, match="no application 'word'; valid are"):
        env.reset(task(flush=("word",)))


def test_a_size_of_the_env_goes_before_the_task_s_and_is_checked() -> None:
    with pytest.raises(ValueError, match="valid are 320x240"):
        DesktopEnv(size=(1, 1))
    env = DesktopEnv(size=(800, 600))
    try:
        assert env.reset(task()).frame.size == (800, 600)
    finally:
        env.close()


def test_close_ends_the_desktop_and_the_spare_and_may_come_twice() -> None:
    env = DesktopEnv()
    env.reset(task())
    spare = env._pool._spare
    assert spare is not None
    traces = [Traces.of(desktop_of(env)), Traces.of(spare[1].result())]
    env.close()
    env.close()
    assert [trace.left() for trace in traces] == [[], []]


def test_a_tasks_commands_run_at_the_end_and_their_results_are_part_of_the_state(env: DesktopEnv) -> None:
    commands = (
        Command(name="words", argv=("wc", "-w", "/home/user/Documents/note.txt")),
        Command(name="who", argv=("id", "-un")),
        Command(name="hangs", argv=("sleep", "60"), timeout_s=0.3),
        Command(name="missing", argv=("no-such-program",)),
    )
    env.reset(task(NOTE, commands=commands))
    state = SnapshotState(*env.snapshot())
    assert state.command("words").stdout.split()[0] == "1"
    assert state.command("who") == CommandResult(code=0, stdout="user\n", stderr="")
    for name in ("hangs", "missing"):
        assert state.command(name).code == -1 and state.command(name).stderr
    with pytest.raises(KeyError, match="other"):
        state.command("other")
