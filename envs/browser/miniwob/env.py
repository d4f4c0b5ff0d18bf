"""MiniWobEnv: the pages of MiniWoB++ as an Env, many episodes a second.

Invariant: the same page and seed show the same first frame, on a document that was just loaded or on one that was
played before, on any day: nothing of an earlier episode is left, and a page's time passes by actions alone. After an
action what the page has begun comes to its end; a page that is always in motion (`pages.MOTION`) goes on by a fixed
time instead; a Wait lets its seconds pass, at once. So a task's only limit is its steps.

An episode is one page's: other addresses are refused. It is over once the page says so, or was left: a second try
would be another episode. The document is kept for the next one where nothing is under way in it; else, and for
`pages.FRESH`, it is loaded anew, and where the agent left more behind than that (a tab, a held key, a dialog, a copied
text), the whole browser context is new.

The words of a task are made by its page, from the seed. So a Task (made without a browser, the same everywhere) says
only that the page has them, and the reset's observation brings them for the harness.
Protocol: github.com/Farama-Foundation/miniwob-plusplus, `core.js`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from envs.browser.actions import Actor, NotAnswering
from envs.browser.browser import MEMORY_LIMIT_MB
from envs.browser.capture import Screen
from envs.browser.env import EMPTY_CLIPBOARD, checked_size, describe
from envs.browser.miniwob.pages import FRESH, MOTION, RESULT
from envs.browser.miniwob.server import Server
from envs.browser.miniwob.stage import Stage
from envs.browser.miniwob.view import MiniWobView
from envs.browser.pool import Pool
from envs.browser.tabs import Look, Tabs
from guiforge.action import KINDS, Action, Back, BaseAction, Drag, Forward, Goto, NewTab, Reload, Wait
from guiforge.env import (
    EnvError,
    Observation,
    Snapshot,
    SnapshotState,
    StateMissing,
    Timings,
    state_of_files,
)
from guiforge.frame import Frame, Size
from guiforge.task import Task

HOST = "miniwob.test"
PICTURE_S = 3.0
CONTEXT_EPISODES = 2000
_REFUSED = (Goto, Back, Forward, Reload, NewTab)
_SCRIPTS = Path(__file__).parents[1] / "scripts"
_STILL = {"seed": 0, "clock": None, "frozen": False, "still": True}
_EACH_DOCUMENT = (
    f"{(_SCRIPTS / 'determinism.js').read_text().rstrip()}({json.dumps(_STILL)})",
    (_SCRIPTS / "select.js").read_text(),
    Path(__file__).with_name("stage.js").read_text(),
)


class _Hands(Actor):
    """An Actor that keeps to the page, and holds a key or waits by the page's own time."""

    def __init__(self, tabs: Tabs, size: Size, stage: Stage) -> None:
        super().__init__(tabs, size, (HOST,), _no_file)
        self._stage = stage

    def _perform(self, action: BaseAction) -> None:  # also what a shortcut of the browser comes to
        if isinstance(action, _REFUSED):
            raise ValueError(f"a MiniWoB task is the one page that is open; {action.kind} is not valid here")
        super()._perform(action)

    def _rest(self, seconds: float) -> None:
        if seconds > 0:
            self._stage.pass_time(round(seconds * 1000))


class World:
    """A context: its one tab, screen and hands, for as many episodes as they leave it clean."""

    def __init__(self, tabs: Tabs, look: Look, base_url: str) -> None:
        tabs.begin(look)
        self.tabs, self.size = tabs, look.size
        self.screen = Screen(tabs, look.size)
        self.stage = Stage(tabs, base_url, FRESH)
        self.episodes = 0
        self.late = False  # an action was not handled in time
        self.begin()
        tabs.active.evaluate(EMPTY_CLIPBOARD)

    def begin(self) -> None:
        """Take new hands: an episode's."""
        self.actor = _Hands(self.tabs, self.size, self.stage)
        self.episodes += 1

    @property
    def clean(self) -> bool:
        """Whether another episode may be played in it."""
        page = self.stage.page
        odd = page.dialog or page.crashed or page.chooser or self.late or self.stage.result.copied
        held = self.actor.keyboard.held or self.actor.pointer.held
        return self.tabs.pages == [page] and not odd and not held and self.episodes < CONTEXT_EPISODES

    def frame(self) -> Frame:
        """The screen. One picture is whole: time stands still on the page, and what it asked for has come."""
        page = self.tabs.active
        page.run(lambda: not page.fetching or page.dialog or page.crashed, PICTURE_S)
        drawn = page.take_picture(PICTURE_S)
        return Frame.from_encoded(page.png, cursor=self.actor.pointer.position, settled=drawn)


class MiniWobEnv:
    """The Env `miniwob`.

    size: (width, height) of the screen in pixels instead of the task's.
    episodes_per_browser, memory_mb, memory_limit_mb: as for the Env `browser`, the first counting new contexts.
    """

    name = "miniwob"
    kinds = tuple(kind for kind, action in KINDS.items() if action not in _REFUSED)

    def __init__(
        self,
        size: Size | None = None,
        *,
        episodes_per_browser: int = 200,
        memory_mb: float = 1000.0,
        memory_limit_mb: float = MEMORY_LIMIT_MB,
    ) -> None:
        self._size = None if size is None else checked_size((size[0], size[1]))
        self._pool = Pool(
            most=1, episodes=episodes_per_browser, memory_mb=memory_mb, memory_limit_mb=memory_limit_mb, timezone="UTC",
            locale="en-US",
        )  # fmt: skip
        self._server: Server | None = None
        self._world: World | None = None
        self._task: Task | None = None
        self._timings = Timings()

    def reset(self, task: Task) -> Observation:
        """See Env. The observation has the page's words for the task."""
        self._timings, self._task = Timings(), None
        with self._guard():
            with self._timings.phase("start"):
                world = self._ready_world(self._size or checked_size(task.screen))
            with self._timings.phase("setup"):
                world.stage.start(world.actor, task.id, task.seed)
                self._go_on(world, task)
            self._task = task
            with self._timings.phase("settle"):
                return self._observe(world, instruction=world.stage.utterance)

    def step(self, *actions: Action) -> Observation:
        """See Env. What comes after the page's end, or an action that is refused, is not carried out."""
        world, task = self._playing()
        error = None
        with self._guard():
            with self._timings.phase("act"):
                for number, action in enumerate(actions, 1):
                    if world.stage.result.over:
                        error = f"action {number} ({action.kind}) was not carried out: the episode is over"
                        break
                    try:
                        world.actor.perform(_at_once(action))
                    except ValueError as refused:
                        error = f"action {number} ({action.kind}) was not carried out: {refused}"
                        break
                    except NotAnswering as problem:
                        world.late = True
                        error = f"action {number} ({action.kind}): {problem}"
                        break
                    self._go_on(world, task, action)
            with self._timings.phase("settle"):
                return self._observe(world, error=error)

    def snapshot(self) -> tuple[Snapshot, Mapping[str, bytes]]:
        """See Env. The final state is one file, what the page said (`pages.RESULT`)."""
        world, task = self._playing()
        result = world.stage.result
        said = {
            "page": task.id, "seed": task.seed, "utterance": world.stage.utterance, "done": result.done,
            "raw_reward": result.raw, "reason": result.reason, "left": result.left,
        }  # fmt: skip
        snapshot, blobs = state_of_files({RESULT: json.dumps(said, indent=1).encode()})
        return snapshot.model_copy(update={"before": {}}), blobs

    def oracle_view(self) -> MiniWobView:
        """See Env."""
        world, _ = self._playing()
        state = SnapshotState(*self.snapshot())
        return MiniWobView(world.tabs, world.screen, world.actor.pointer, state, world.stage)

    def timings(self) -> dict[str, float]:
        """See Env."""
        return dict(self._timings.seconds)

    def close(self) -> None:
        """See Env."""
        self._world = self._task = None
        self._pool.close()
        server, self._server = self._server, None
        if server is not None:
            server.close()

    def _playing(self) -> tuple[World, Task]:
        if self._world is None or self._task is None:
            raise RuntimeError("reset the env first")
        return self._world, self._task

    def _ready_world(self, size: Size) -> World:
        """The context of the last episode where it will do, or a new one. Raises EnvError, EnvTimeout."""
        world, self._world = self._world, None
        browser = self._pool.browser
        if world is None or browser is None or not browser.alive or not world.clean or world.size != size:
            self._server = self._server or Server()
            look = Look(size, _EACH_DOCUMENT)
            _, tabs = self._pool.take((f"{HOST}={self._server.address}",), look)
            world = World(tabs, look, f"http://{HOST}")
        else:
            world.begin()
        self._world = world
        return world

    def _go_on(self, world: World, task: Task, action: Action | None = None) -> None:
        """Let the page come to rest after an action, or go on by its own measure where it never does."""
        step_ms = MOTION.get(task.id)
        if world.stage.page.dialog is not None:
            return
        if step_ms is None:
            world.stage.rest()
        else:
            world.stage.pass_time(0 if action is None or isinstance(action, Wait) else step_ms)

    def _observe(self, world: World, error: str | None = None, instruction: str | None = None) -> Observation:
        stage, tabs, page = world.stage, world.tabs, world.tabs.active
        alone = tabs.pages == [stage.page] and not stage.result.left
        titles = [{"title": stage.title, "url": stage.url}] if alone else tabs.titles()
        info = {
            "page_index": tabs.index, **titles[tabs.index], "tabs": titles,
            "dialog": asdict(page.dialog) if page.dialog else None, "file_chooser": page.chooser is not None,
            "crashed": page.crashed,
        }  # fmt: skip
        return Observation(
            world.frame(), text=describe(info), error=error, info=info, instruction=instruction,
            over=stage.result.over,
        )  # fmt: skip

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """Where the browser is lost, so is the episode."""
        try:
            with self._pool.guard():
                yield
        except EnvError:
            self._world = self._task = None
            raise


def _at_once(action: Action) -> Action:
    """The action, a drag without its duration: a page's time stands still meanwhile."""
    return action.model_copy(update={"duration_s": 0.0}) if isinstance(action, Drag) else action


def _no_file(path: str) -> Path:
    raise StateMissing(f"no file {path!r}; a MiniWoB task has none")
