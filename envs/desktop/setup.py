"""Set-up: a task's steps carried out on a desktop before the agent starts, and applications asked to end after.

Invariant: every wait has a deadline, and the error says which passed; a step that returns has had its effect on the
screen, not only on the disk.
"""

from __future__ import annotations

import re
import signal
import time
from pathlib import Path

import numpy as np

from envs.desktop import apps
from envs.desktop.session import Program
from envs.desktop.windows import Window
from envs.desktop.world import World
from guiforge.env import EnvError, EnvTimeout
from guiforge.frame import Frame
from guiforge.task import Launch, MakeDir, PutFile, Run, SetupStep

# An application draws its first window in several goes (LibreOffice: toolbars, sidebar, document), and a busy machine
# sets them seconds apart. It is ready when no pixel changed for a while in which its threads rested as well.
_RESTING = 0.25  # of one core, waiting for one included
_DRAWN_S, _SETTLE_S = 10.0, 10.0
_FLUSH_S = 10.0
_LOOK_AGAIN_S = 0.02


def set_up(world: World, step: SetupStep, deadline: float) -> None:
    """Carry one step of a task's set-up out. Raises EnvError, EnvTimeout."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise EnvTimeout("setup", f"the task's time to reset passed before step {step.type}")
    if isinstance(step, PutFile):
        world.home.write(step.path, step.data, step.mode)
    elif isinstance(step, MakeDir):
        world.home.make_dir(step.path)
    elif isinstance(step, Run):
        result = world.desktop.run(step.argv, min(left, step.timeout_s))
        if result.code != 0:
            raise EnvError(
                "setup", f"{' '.join(step.argv)!r} exited with {result.code}: {result.stdout.strip()[-500:]}"
            )
    elif isinstance(step, Launch):
        _launch(world, step, min(left, step.timeout_s))
    else:
        raise EnvError("setup", f"a desktop has no step {step.type!r}; valid are put_file, make_dir, run, launch")


def _launch(world: World, step: Launch, timeout_s: float) -> None:
    """Start an application; returns when its window shows and has stopped changing. Raises EnvError, EnvTimeout."""
    app = apps.find(step.app)
    deadline = time.monotonic() + timeout_s
    there = {(window.id, window.title) for window in world.windows.list()}
    args = [arg.replace("~/", f"{world.desktop.env['HOME']}/", 1) if arg.startswith("~/") else arg for arg in step.args]
    program = world.desktop.spawn(app.argv(args), name=app.name)
    window = _new_window(world, program, step.window, there, deadline, timeout_s)
    if step.maximize:
        world.windows.maximize(window)
    world.windows.activate(window)
    if app.least_drawn:
        while not _drawn(world, app.least_drawn):
            world.desktop.check()
            if time.monotonic() >= deadline:
                raise EnvTimeout(app.name, f"its window {window.title!r} was still empty after {timeout_s:g} s")
            time.sleep(_LOOK_AGAIN_S)
    settle(world, deadline, app.quiet_s)


def settle(world: World, deadline: float, quiet_s: float = 0.25) -> Frame:
    """The screen once the active window is drawn, nothing changes and no program works; or past a bound, as it is."""
    drawn_by = min(deadline, time.monotonic() + _DRAWN_S)
    while not _drawn(world) and time.monotonic() < drawn_by:
        time.sleep(_LOOK_AGAIN_S)
    settled_by = min(deadline, time.monotonic() + _SETTLE_S)
    while True:
        start, worked_s = time.monotonic(), world.desktop.session.work_s()
        frame = world.screen.settle(quiet_s, max(0.0, settled_by - start))
        worked_s = world.desktop.session.work_s() - worked_s
        resting = worked_s < _RESTING * (time.monotonic() - start)
        if (frame.settled and resting) or time.monotonic() >= settled_by:
            return frame


def _drawn(world: World, least: float = 0.0) -> bool:
    """Whether more than `least` of the active window, where there is one, differs from its commonest colour."""
    window = world.windows.active()
    if window is None:
        return True
    x, y = max(0, window.x), max(0, window.y)
    inside = world.screen.grab().pixels[y : window.y + window.height, x : window.x + window.width]
    if inside.size == 0:
        return True
    if not least:
        return bool((inside != inside[0, 0]).any())
    sample = inside[::4, ::4].astype(np.uint32)
    _, counts = np.unique(sample[..., 0] << 16 | sample[..., 1] << 8 | sample[..., 2], return_counts=True)
    return bool(1 - counts.max() / counts.sum() > least)


def _new_window(
    world: World, program: Program, pattern: str, there: set[tuple[int, str]], deadline: float, timeout_s: float
) -> Window:
    """The window that came, or took a matching title, since `there` was looked at."""
    while True:
        for window in world.windows.list():
            if (window.id, window.title) not in there and re.search(pattern, window.title):
                return window
        world.desktop.check()
        if program.status:  # one that exits with 0 handed its files over to one that runs
            raise EnvError(program.name, f"showed no window and {program.how_it_ended()}")
        if time.monotonic() >= deadline:
            titles = ", ".join(repr(window.title) for window in world.windows.list()) or "none"
            raise EnvTimeout(program.name, f"no window {pattern!r} within {timeout_s:g} s; there are: {titles}")
        time.sleep(_LOOK_AGAIN_S)


def quit_app(world: World, app: apps.App) -> bool:
    """Ask an application to end so that it writes its settings; it is left alone, and False, if it does not in time."""
    deadline = time.monotonic() + _FLUSH_S
    for window in world.windows.find(app.wm_class):
        if not app.quits_on_term:
            world.windows.close(window)
    for pid in _pids(world, app) if app.quits_on_term else ():
        world.desktop.session.signal_pid(pid, signal.SIGTERM)
    while _pids(world, app):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_LOOK_AGAIN_S)
    return True


def _pids(world: World, app: apps.App) -> list[int]:
    """Processes of an application, without its helpers (Chromium's have `--type=`)."""
    name = Path(app.command[0]).name
    # Chromium writes its title over its arguments: one word with blanks in it
    listed = [(pid, argv[0].split() if len(argv) == 1 else argv) for _, pid, argv in world.desktop.session.processes()]
    return [
        pid
        for pid, argv in listed
        if Path(argv[0]).name == name and not any(word.startswith("--type=") for word in argv)
    ]
