"""DesktopEnv: a real desktop as an Env.

Invariant: each reset begins on a desktop that nobody used before. What the agent asked for and can't have is an
observation's error; a part of the desktop or a launched application that died is an EnvError naming it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from Xlib.error import ConnectionClosedError

from envs.desktop import apps
from envs.desktop.display import check_size
from envs.desktop.pool import Pool
from envs.desktop.setup import quit_app, set_up
from envs.desktop.view import DesktopView
from envs.desktop.world import World
from envs.desktop.x11 import DisplayGone
from envs.state import take_snapshot
from guiforge.action import Action, Move
from guiforge.env import EnvError, Observation, Snapshot, Timings
from guiforge.frame import Frame, Size
from guiforge.task import Task

# how long the screen may go on changing before the next action of the same reply: a program answers some keys late
# (Chromium moves the keyboard to its address bar after the page had its say on Ctrl+L), and typing on would lose keys
BETWEEN_S = 1.0
_TOLD_S = 5.0  # until the end of a part whose connection broke has been told
_LOOK_AGAIN_S = 0.02


class DesktopEnv:
    """The Env `desktop`. size: (width, height) in pixels instead of each task's own.

    The first one on a machine makes the applications' profiles, once for all that follow: minutes.
    """

    name = "desktop"

    def __init__(self, size: Size | None = None) -> None:
        self._size = None if size is None else check_size((size[0], size[1]))
        self._pool = Pool()
        self._world: World | None = None
        self._flush: tuple[apps.App, ...] = ()
        self._timings = Timings()

    def reset(self, task: Task) -> Observation:
        """See Env."""
        self._timings = Timings()
        if self._world is not None:
            self._retire()
        size = self._size or check_size(task.screen)
        self._flush = tuple(apps.find(name) for name in task.flush)
        deadline = time.monotonic() + task.limits.reset_s
        with self._timings.phase("start"):
            self._world = world = self._new_world(size)
        with self._guard(), self._timings.phase("setup"):
            world.act(Move(x=0, y=0))  # in the middle it would bring up the hint of whatever opens there
            for step in task.setup:
                set_up(world, step, deadline)
            frame = world.screen.settle()
            world.commands = task.commands
            world.begin()
        self._pool.prepare(size)
        return Observation(frame)

    def step(self, *actions: Action) -> Observation:
        """See Env. The error names what is valid; what came before the refused action has been carried out."""
        world = self._playing()
        error = None
        with self._guard():
            with self._timings.phase("act"):
                for number, action in enumerate(actions, 1):
                    if number > 1:
                        world.screen.settle(deadline_s=BETWEEN_S)
                    try:
                        world.act(action)
                    except ValueError as refused:
                        error = f"action {number} ({action.kind}) was not carried out: {refused}"
                        break
            with self._timings.phase("settle"):
                frame = world.screen.settle()
            world.desktop.check()
        return Observation(frame, error=error)

    def snapshot(self) -> tuple[Snapshot, Mapping[str, bytes]]:
        """See Env."""
        world = self._playing()
        with self._guard(), self._timings.phase("snapshot"):
            world.desktop.check()
            answers = {name: ask() for name, ask in world.queries().items()}
            answers["not_flushed"] = [app.name for app in self._flush if not quit_app(world, app)]
            snapshot, blobs = take_snapshot(world.home, world.before, answers)
            return snapshot, {**world.settings, **blobs}

    def oracle_view(self) -> DesktopView:
        """See Env."""
        world = self._playing()
        return DesktopView(world.screen, world.windows, world.accessibility, world.state())

    def frame(self) -> Frame:
        """The screen as it is, without waiting."""
        return self._playing().screen.grab()

    def timings(self) -> dict[str, float]:
        """See Env."""
        return dict(self._timings.seconds)

    def close(self) -> None:
        """See Env."""
        try:
            if self._world is not None:
                self._retire()
        finally:
            self._pool.close()

    def _playing(self) -> World:
        if self._world is None:
            raise RuntimeError("reset the env first")
        return self._world

    def _new_world(self, size: Size) -> World:
        desktop = self._pool.take(size)
        try:
            return World(desktop)
        except BaseException:  # a phase's deadline interrupts anywhere
            self._pool.retire(desktop)
            raise

    def _retire(self) -> None:
        world, self._world = self._playing(), None
        try:
            world.close()
        finally:
            self._pool.retire(world.desktop)

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """A lost connection to the display becomes an EnvError that names the part that died."""
        try:
            yield
        except (ConnectionClosedError, DisplayGone) as problem:
            desktop = self._playing().desktop
            deadline = time.monotonic() + _TOLD_S
            while time.monotonic() < deadline:
                desktop.check()  # raises once the end of the part has been told
                time.sleep(_LOOK_AGAIN_S)
            raise EnvError("Xvfb", f"closed the connection: {problem}") from problem
