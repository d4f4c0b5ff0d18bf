"""A desktop's life: it starts whole or not at all, and ends without a trace, whoever is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from envs.desktop import display as xserver
from envs.desktop import sandbox, x11
from envs.desktop.capture import Screen
from envs.desktop.desktop import Desktop
from guiforge.env import EnvError, EnvTimeout
from tests.desktop.places import Traces, eventually, host_pid

pytestmark = pytest.mark.desktop
SMALL = (640, 480)
DAEMON = "import os, time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); time.sleep(1000)"


def bare(size: tuple[int, int] = SMALL) -> Desktop:
    return Desktop.start(size, warmed=False)


def check_until_broken(desktop: Desktop, timeout_s: float = 20) -> None:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        desktop.check()
        time.sleep(0.02)


@pytest.fixture(params=["sandbox", "no sandbox"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """With namespaces, and as on a machine that allows none."""
    if request.param == "no sandbox":
        none = sandbox.Isolation(sandbox=False, own_uids=os.geteuid() == 0, missing=("processes: not allowed here",))
        monkeypatch.setattr(sandbox, "isolation", lambda: none)
    elif not sandbox.isolation().sandbox:
        pytest.skip(sandbox.isolation().missing[0])
    yield request.param


def test_32_desktops_started_at_once_get_32_displays_and_leave_nothing() -> None:
    with ThreadPoolExecutor(32) as threads:
        desktops = list(threads.map(lambda _: bare(), range(32)))
        traces = [Traces.of(desktop) for desktop in desktops]
        try:
            assert len({desktop.display for desktop in desktops}) == 32
            assert len({desktop.uid for desktop in desktops}) == 32
            assert len({desktop.cookie for desktop in desktops}) == 32
        finally:
            list(threads.map(Desktop.close, desktops))
    assert [trace.left() for trace in traces] == [[]] * 32


@pytest.mark.parametrize("size", [(1920, 1080), (1280, 720), (320, 240)])
def test_the_screen_has_the_size_asked_for_and_depth_24(size: tuple[int, int]) -> None:
    with bare(size) as desktop:
        root = desktop.connection.screen().root
        assert root.get_geometry().depth == 24
        assert (root.get_geometry().width, root.get_geometry().height) == size
        with Screen(desktop.framebuffer, desktop.connection) as screen:
            frame = screen.settle()
        background = tuple(xserver.BACKGROUND.to_bytes(3, "big"))
        assert frame.size == size
        assert tuple(frame.pixels[1, 1]) == background


@pytest.mark.parametrize("size", [(0, 0), (319, 240), (99999, 100)])
def test_a_size_out_of_range_is_refused_with_the_range(size: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="valid are 320x240 to 7680x4320"):
        bare(size)


def test_close_leaves_nothing_and_may_come_twice(kind: str) -> None:
    desktop = bare()
    traces = Traces.of(desktop)
    desktop.spawn(["xterm"])
    desktop.run(["mkdir", "-p", "a/" * 1100])  # deeper than Python recurses
    assert len(traces.processes()) > 4 and len(traces.files()) > 3
    desktop.close()
    desktop.close()
    assert traces.left() == []


def test_no_descriptor_and_no_thread_is_left_open() -> None:
    bare().close()  # what is loaded once
    before = len(list(Path("/proc/self/fd").iterdir())), len(list(Path("/proc/self/task").iterdir()))
    for _ in range(3):
        bare().close()
    assert (len(list(Path("/proc/self/fd").iterdir())), len(list(Path("/proc/self/task").iterdir()))) == before


def test_a_program_that_became_a_daemon_ends_with_the_desktop(kind: str) -> None:
    with bare() as desktop:
        assert desktop.run(["/usr/bin/python3", "-c", DAEMON]).code == 0
        assert eventually(lambda: ["/usr/bin/python3", "-c", DAEMON] in desktop.processes())
        traces = Traces.of(desktop)
        assert any("python3" in process for process in traces.processes())
    assert traces.left() == []


def test_a_command_past_its_time_ends_with_what_it_started_and_is_no_crash(kind: str) -> None:
    with bare() as desktop:
        with pytest.raises(EnvTimeout, match="sh to end"):
            desktop.run(["sh", "-c", "sleep 1000; true"], timeout_s=0.5)
        assert eventually(lambda: not any("sleep" in argv[0] for argv in desktop.processes()))
        assert desktop.run(["true"]).code == 0
        desktop.check()


def test_without_room_in_shared_memory_the_screen_is_kept_on_disk(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_SHM_MIN_BYTES", 1 << 60)
    with bare() as desktop, Screen(desktop.framebuffer, desktop.connection) as screen:
        assert screen.settle().size == SMALL
        assert desktop.framebuffer.resolve().is_relative_to(desktop.home.parent)


def test_nothing_changes_in_this_process_environment() -> None:
    before = dict(os.environ)
    with bare() as desktop:
        desktop.run(["true"])
        assert dict(os.environ) == before
    assert dict(os.environ) == before


@pytest.mark.parametrize("part", ["Xvfb", "openbox", "dbus-daemon"])
def test_a_part_that_is_killed_is_named(part: str) -> None:
    with bare() as desktop:
        traces = Traces.of(desktop)
        os.kill(host_pid(desktop, part), signal.SIGKILL)
        with pytest.raises(EnvError, match="was killed by SIGKILL") as caught:
            check_until_broken(desktop)
        assert caught.value.part == part
    assert traces.left() == []


def test_a_killed_init_is_named_and_leaves_nothing(kind: str) -> None:
    with bare() as desktop:
        desktop.spawn(["sleep", "1000"])
        traces = Traces.of(desktop)
        next(process for process in traces.noted if process.name().startswith("python")).kill()
        with pytest.raises(EnvError) as caught:
            check_until_broken(desktop)
        assert caught.value.part == "init"
    assert eventually(lambda: not traces.left()), traces.left()


WORKER = """
    import sys, time
    from envs.desktop.desktop import Desktop
    desktop = Desktop.start((640, 480), warmed=False)
    desktop.spawn(["sleep", "1000"])
    print(desktop.home.parent, desktop.display[1:], flush=True)
    time.sleep(1000)
"""


def killed_worker(*, with_watcher: bool) -> Traces:
    """What a worker that was killed had; its own watcher may be killed first."""
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(WORKER)], stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        root, number = worker.stdout.readline().split()
        traces = Traces(root, int(number))
        assert traces.processes() and traces.files()
        if not with_watcher:
            for child in psutil.Process(worker.pid).children():
                if child.name() == "sh":
                    child.kill()
        worker.kill()
    return traces


def test_a_killed_worker_leaves_nothing() -> None:
    traces = killed_worker(with_watcher=True)
    assert eventually(lambda: not traces.left()), traces.left()


def test_the_next_worker_sweeps_what_even_the_watcher_could_not() -> None:
    traces = killed_worker(with_watcher=False)
    assert eventually(lambda: not traces.processes()), traces.processes()
    assert traces.files()
    sandbox.sweep()
    assert traces.files() == []


def test_a_sweep_leaves_desktops_in_use_alone() -> None:
    with bare() as desktop:
        sandbox.sweep()
        assert desktop.home.is_dir()
        desktop.check()


def test_a_display_that_does_not_start_says_why_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    places: list[sandbox.Place] = []

    def broken(place: sandbox.Place, size: tuple[int, int], ready_fd: int) -> list[str]:
        places.append(place)
        return ["Xvfb", f":{place.number}", "-no-such-option"]

    monkeypatch.setattr(xserver, "xvfb_command", broken)
    with pytest.raises(EnvError, match="Unrecognized option: -no-such-option") as caught:
        bare()
    assert caught.value.part == "Xvfb"
    place = places[0]
    assert Traces(str(place.root), place.number).left() == []


def test_a_program_that_is_not_there_is_named() -> None:
    with bare() as desktop, pytest.raises(EnvError, match=r"no-such-program: .*No such file"):
        desktop.spawn(["no-such-program"])


def test_a_display_without_its_cookie_is_refused() -> None:
    with bare() as desktop:
        with pytest.raises(x11.DisplayGone):
            x11.connect(desktop.display, b"\0" * 16)
        x11.connect(desktop.display, desktop.cookie).close()


def test_the_socket_is_where_clients_look_for_it() -> None:
    with bare() as desktop:
        assert Path(f"/tmp/.X11-unix/X{desktop.display[1:]}").is_socket()
