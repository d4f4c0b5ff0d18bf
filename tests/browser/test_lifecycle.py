"""A browser's life: what an episode leaves to the next (nothing), and what a browser leaves behind (nothing)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import psutil
import pytest

from envs.browser.env import BrowserEnv
from envs.browser.place import claim
from guiforge.action import Click, TypeText, Wait
from guiforge.env import Env
from guiforge.frame import Frame
from guiforge.registry import env_class
from tests.browser.rig import Site, at, log, value


def eventually(condition: Callable[[], bool], timeout_s: float = 10) -> bool:
    """Whether the condition comes true in time."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.02)
    return True


def session_of(pid: int) -> list[int]:
    """Live processes of a session."""
    found = []
    for process in psutil.process_iter(["pid", "status"]):
        try:
            if os.getsid(process.pid) == pid and process.info["status"] != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except ProcessLookupError:
            pass
    return found


def test_it_is_registered_by_name() -> None:
    assert env_class("browser") is BrowserEnv
    assert isinstance(BrowserEnv(), Env)


def test_nothing_of_an_episode_is_left_to_the_next_in_the_same_browser(env: BrowserEnv, site: Site) -> None:
    for _ in range(2):
        env.reset(site.task("storage.html"))
        env.oracle_view().wait_until(lambda: log(env)[-1:] == ["stored"], "the page stored", 10)
        assert log(env)[0] == "cookie  local null workers 0"
    assert env._pool._slots[(f"site.localhost={site.host}",)].episodes >= 2


def test_the_same_task_has_the_same_first_frame(env: BrowserEnv, site: Site) -> None:
    first = env.reset(site.task("form.html"))
    env.step(Click(**at(env, "#text")), TypeText(text="changed"))
    again = env.reset(site.task("form.html"))
    assert again.frame.same_pixels(first.frame) and again.frame.cursor == first.frame.cursor


def test_frames_are_exact(env: BrowserEnv, site: Site) -> None:
    frame = env.reset(site.task("colours.html")).frame
    for i in range(256):
        assert tuple(frame.pixels[50, i]) == (i, 255 - i, (i * 7) % 256)
    assert frame.encode("png").data.startswith(b"\x89PNG")


def test_a_forced_picture_has_the_same_pixels(env: BrowserEnv, site: Site) -> None:
    for name in ("colours.html", "form.html", "hanging.html"):
        frame = env.reset(site.task(name)).frame
        page = env._playing().tabs.active
        assert page.force_picture(5) and Frame.from_encoded(page.png).same_pixels(frame)


def test_the_browser_is_new_after_so_many_episodes_and_for_other_hosts(site: Site) -> None:
    env = BrowserEnv(episodes_per_browser=2)
    pids = []
    try:
        for hosts in (1, 1, 1, 2):
            env.reset(site.task(*["next.html"] * (hosts == 1), hosts=(f"site.localhost={site.host}", "x.test")[:hosts]))
            assert env._pool.browser is not None
            pids.append(env._pool.browser.pid)
        assert pids[0] == pids[1] and len(set(pids)) == 3
        assert not any(session_of(pid) for pid in pids[:2] if pid != pids[2])
    finally:
        env.close()


def test_a_size_of_the_env_goes_before_the_task_s_and_is_checked(site: Site) -> None:
    with pytest.raises(ValueError, match="valid are 64x64"):
        BrowserEnv(size=(1, 1))
    env = BrowserEnv(size=(640, 480))
    try:
        assert env.reset(site.task("form.html")).frame.size == (640, 480)
        assert env.oracle_view().evaluate("[innerWidth, innerHeight, devicePixelRatio]") == [640, 480, 1]
    finally:
        env.close()


def test_close_ends_every_process_and_removes_every_file_and_may_come_twice(site: Site) -> None:
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    env = BrowserEnv()
    env.reset(site.task("form.html"))
    browser = env._pool.browser
    assert browser is not None and len(session_of(browser.pid)) >= 3
    assert {psutil.Process(pid).uids().real for pid in session_of(browser.pid)} == {browser.place.uid}
    env.close()
    env.close()
    assert session_of(browser.pid) == [] and not browser.place.root.exists()
    assert len(list(Path("/proc/self/fd").iterdir())) <= descriptors
    assert env.reset(site.task("form.html")).frame.settled
    env.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root to have a user of its own")
def test_a_browser_runs_as_a_user_that_nothing_else_has(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("form.html"))
    assert env._pool.browser is not None and env._pool.browser.place.uid > 1_000_000


def test_an_interrupted_step_is_recovered_from_by_closing(site: Site) -> None:
    class Interrupted(Exception):
        pass

    def interrupt(signum: int, frame: FrameType | None) -> None:
        raise Interrupted

    env = BrowserEnv()
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for after_s in (0.05, 0.11, 0.3):
            env.reset(site.task("form.html"))
            signal.setitimer(signal.ITIMER_REAL, after_s)
            with pytest.raises(Interrupted):
                env.step(*[Wait(seconds=0.02)] * 100)
            env.close()
        env.reset(site.task("form.html"))
        env.step(Click(**at(env, "#text")), TypeText(text="well"))
        assert value(env, "#text") == "well"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        env.close()


def test_a_killed_worker_leaves_no_process_and_its_files_are_swept(site: Site) -> None:
    script = f"""
        import sys, time
        from envs.browser.env import BrowserEnv
        from guiforge.task import Task
        env = BrowserEnv()
        env.reset(Task.model_validate_json({site.task("hostile.html").model_dump_json()!r}))
        print(env._pool.browser.pid, env._pool.browser.place.root, flush=True)
        time.sleep(60)
    """
    worker = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    try:
        assert worker.stdout is not None
        pid, root = worker.stdout.readline().split()
        assert session_of(int(pid))
    finally:
        worker.kill()
        worker.communicate()
    assert eventually(lambda: not session_of(int(pid)))
    claim().remove()
    assert not Path(root).exists()
