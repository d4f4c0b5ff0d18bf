"""BrowserEnv: pages in Chromium's headless shell as an Env.

Invariant: each reset begins in a context that nobody used before, in a browser that reaches the task's hosts alone.
What the agent asked for and can't have, and a page that does not answer, is an observation's error; a browser that
died or took too much memory is an EnvError, and the next reset has a new one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, get_args

from envs.browser import accessibility, marks
from envs.browser.actions import NAVIGATE_S, Actor, NotAnswering
from envs.browser.browser import MEMORY_LIMIT_MB, Browser
from envs.browser.capture import Screen
from envs.browser.cdp import CdpError, Late
from envs.browser.page import Page
from envs.browser.pool import Pool
from envs.browser.sites.live import LiveSites
from envs.browser.tabs import Look, Tabs
from envs.browser.view import BrowserView
from envs.browser.windowed import SCRIPT as WINDOW_SCRIPT
from envs.browser.windowed import WindowActor, WindowScreen
from envs.state import Home, LiveState, table_entries, take_snapshot
from guiforge.action import KINDS, Action
from guiforge.env import EnvError, EnvTimeout, FileEntry, Observation, Snapshot, StateMissing, Timings
from guiforge.frame import Frame, Size
from guiforge.task import MakeDir, OpenPage, PutFile, SetupStep, StartSite, Task

DEFAULT_SIZE: Size = (1280, 720)
Show = Literal["headless-shell", "headed"]
Text = Literal["page", "accessibility", "marks"]
LEAST, MOST = 64, 4096  # pixels of a side
REDRAW_S = 3.0
DOWNLOAD_S = 10.0  # how long the final state waits for downloads
_EPOCH = 1_735_689_600.0  # the time that set-up's files have: 2025-01-01
_SCRIPTS = Path(__file__).with_name("scripts")
_DETERMINISM, _SELECT = ((_SCRIPTS / name).read_text().rstrip() for name in ("determinism.js", "select.js"))
# what was copied in an episode before is in the browser's clipboard
EMPTY_CLIPBOARD = """document.addEventListener("copy", (event) => {
    event.clipboardData.setData("text/plain", ""); event.preventDefault();
}, {once: true}), document.execCommand("copy")"""


class World:
    """What one episode has: its tabs, its screen, its hands, its HOME, its sites."""

    def __init__(
        self, browser: Browser, tabs: Tabs, look: Look, task: Task, sites: LiveSites, text: Text = "page"
    ) -> None:
        self.home = Home(browser.place.fresh_home(), browser.place.own, _EPOCH)
        self.tabs = tabs
        tabs.begin(look)
        self.screen: Screen | WindowScreen
        if browser.window is None:
            self.screen = Screen(tabs, look.size)
            self.actor = Actor(tabs, look.size, task.hosts, self._file)
        else:
            self.screen = WindowScreen(tabs, browser.window)
            self.actor = WindowActor(tabs, browser.window, task.hosts, self._file)
        self.sites, self._text = sites, text
        self.before: dict[str, FileEntry] = {}
        self.tables: dict[str, bytes] = {}  # of the sites, when the agent started

    def set_up(self, step: SetupStep, deadline: float, first_page: bool) -> None:
        """Carry one step of a task's set-up out. Raises EnvError, EnvTimeout."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise EnvTimeout("setup", f"the task's time to reset passed before step {step.type}")
        if isinstance(step, PutFile):
            self.home.write(step.path, step.data, step.mode)
        elif isinstance(step, MakeDir):
            self.home.make_dir(step.path)
        elif isinstance(step, OpenPage):
            self._open(step, min(left, step.timeout_s), first_page)
        elif not isinstance(step, StartSite):  # which was done before any page
            valid = "put_file, make_dir, open_page, start_site"
            raise EnvError("setup", f"a browser has no step {step.type!r}; valid are {valid}")

    def hand_over(self) -> None:
        """Note what there is before the agent starts. Raises EnvError."""
        self.sites.settle()
        self.tables = self.sites.files()
        self.before = {**self.home.scan()[0], **table_entries(self.tables)}

    def observe(self, error: str | None = None) -> Observation:
        """The screen once it has settled, and what is said beside it."""
        frame = self.screen.settle(self.actor.pointer.position)
        tabs = self.tabs.titles()
        index, page = self.tabs.index, self.tabs.active
        info = {
            "page_index": index, **tabs[index], "tabs": tabs,
            "dialog": asdict(page.dialog) if page.dialog else None,
            "file_chooser": page.chooser is not None, "crashed": page.crashed,
        }  # fmt: skip
        text = describe(info)
        if self._text != "page" and page.dialog is None and not page.crashed:
            frame, said = self._read(page, frame, info)
            text = f"{text}\n\n{said}"
        return Observation(frame, text=text, error=error, info=info)

    def state(self) -> LiveState:
        """The live state."""
        return LiveState(
            self.home,
            self.before,
            {
                "url": lambda: self.tabs.titles()[self.tabs.index]["url"],
                "title": lambda: self.tabs.titles()[self.tabs.index]["title"],
                "tabs": self.tabs.titles,
            },
            self.sites.files,
            self.tables,
        )

    def _read(self, page: Page, frame: Frame, info: dict[str, Any]) -> tuple[Frame, str]:
        """The frame as the agent sees it, and the text that was asked for beside it."""
        try:
            if self._text == "accessibility":
                return frame, accessibility.read(page, self.screen.size)
            found = marks.find(page)
        except (Late, CdpError) as problem:
            return frame, f"The page can't be read now: {problem}"
        info["marks"] = [asdict(mark) for mark in found]
        return marks.drawn(frame, found), marks.listed(found)

    def _open(self, step: OpenPage, timeout_s: float, first_page: bool) -> None:
        page = self.tabs.active if first_page else self.tabs.open()
        deadline = time.monotonic() + timeout_s
        try:
            self.actor.open(step.url, min(timeout_s, NAVIGATE_S))
        except ValueError as problem:
            raise EnvError("setup", str(problem)) from problem
        except NotAnswering as problem:
            raise EnvTimeout("setup", f"{step.url}: {problem}") from problem
        self.screen.wait_quiet(deadline_s=0.0, load_s=max(0.0, deadline - time.monotonic()))
        if page.crashed or page.loading:
            raise EnvTimeout("setup", f"{step.url} {'crashed' if page.crashed else f'did not load in {timeout_s:g} s'}")
        page.post("Page.resetNavigationHistory")

    def _file(self, path: str) -> Path:
        """Where a file of HOME is for the browser. Raises StateMissing naming those that there are."""
        entries, _ = self.home.scan()
        if path not in entries or entries[path].link is not None:
            raise StateMissing(f"no file {path!r}; valid are: {', '.join(entries) or 'none'}")
        return self.home.root / path.removeprefix("~/")


class BrowserEnv:
    """The Env `browser`.

    size: (width, height) in pixels instead of each task's own.
    show: `headless-shell`, frame by frame when asked; or `headed`, the full browser in a window on a display of its
    own, slower, where lists and dialogs show for real (see `window`).
    text: what is said beside the frame: `page` (title, address, tabs, dialog), `accessibility` (and the page's tree),
    `marks` (and a numbered list of what can be acted on, the numbers drawn on the frame); see the modules of that name.
    still: no animations, no blinking caret.
    seeded: Math.random gives the same in each document, by the task's seed.  clock: an ISO time that each document's
    clock starts at, or with `frozen` stays at; None is the machine's.  timezone: an IANA name.  locale: e.g. en-US.
    browsers: how many are kept at most, each for another set of hosts.
    episodes_per_browser, memory_mb: a new browser is launched after so many episodes, or where it holds more than so
    much between two of them.  memory_limit_mb: within an episode, more than that ends it as a fault.
    """

    name = "browser"
    kinds = tuple(KINDS)

    def __init__(
        self,
        size: Size | None = None,
        *,
        show: Show = "headless-shell",
        text: Text = "page",
        still: bool = True,
        seeded: bool = True,
        clock: str | None = None,
        frozen: bool = False,
        timezone: str = "UTC",
        locale: str = "en-US",
        browsers: int = 3,
        episodes_per_browser: int = 200,
        memory_mb: float = 1000.0,
        memory_limit_mb: float = MEMORY_LIMIT_MB,
    ) -> None:
        for name, given, choices in (("show", show, get_args(Show)), ("text", text, get_args(Text))):
            if given not in choices:
                raise ValueError(f"{name} {given!r}; valid are {', '.join(choices)}")
        self._show, self._text = show, text
        self._size = None if size is None else checked_size((size[0], size[1]))
        self._still, self._seeded, self._frozen = still, seeded, frozen
        self._clock_ms = None if clock is None else datetime.fromisoformat(clock).timestamp() * 1000
        self._locale = locale
        self._pool = Pool(
            most=browsers, episodes=episodes_per_browser, memory_mb=memory_mb, memory_limit_mb=memory_limit_mb,
            timezone=timezone, locale=locale, in_window=show == "headed",
        )  # fmt: skip
        self._sites = LiveSites()
        self._world: World | None = None
        self._timings = Timings()

    def reset(self, task: Task) -> Observation:
        """See Env."""
        self._timings = Timings()
        deadline = time.monotonic() + task.limits.reset_s
        self._world, look = None, self._look(task)
        served = [step for step in task.setup if isinstance(step, StartSite)]
        with self._guard():
            with self._timings.phase("start"):
                browser, tabs = self._pool.take(self._sites.hosts(task.hosts, served), look)
            with self._timings.phase("sites"):
                self._sites.start(served, deadline)
            with self._timings.phase("context"):
                self._world = world = World(browser, tabs, look, task, self._sites, self._text)
                world.tabs.active.evaluate(EMPTY_CLIPBOARD)
            with self._timings.phase("setup"):
                first_page = True
                for step in task.setup:
                    world.set_up(step, deadline, first_page)
                    first_page = first_page and not isinstance(step, OpenPage)
            with self._timings.phase("settle"):
                if world.screen.wait_quiet():
                    world.tabs.active.redraw(REDRAW_S)
                observation = world.observe()
            with self._timings.phase("snapshot"):
                world.hand_over()
            self._pool.make_next()
            return observation

    def step(self, *actions: Action) -> Observation:
        """See Env. The error names what is valid; what came before the refused action has been carried out."""
        world, error = self._playing(), None
        with self._guard():
            with self._timings.phase("act"):
                for number, action in enumerate(actions, 1):
                    if number > 1:
                        world.screen.wait_quiet()
                    try:
                        world.actor.perform(action)
                    except ValueError as refused:
                        error = f"action {number} ({action.kind}) was not carried out: {refused}"
                        break
                    except NotAnswering as problem:
                        error = f"action {number} ({action.kind}): {problem}"
                        break
            with self._timings.phase("settle"):
                self._sites.check()
                return world.observe(error)

    def snapshot(self) -> tuple[Snapshot, Mapping[str, bytes]]:
        """See Env. Downloads that are under way are waited for, and what sites were asked."""
        world = self._playing()
        with self._guard(), self._timings.phase("snapshot"):
            world.tabs.active.run(lambda: not world.tabs.downloading, DOWNLOAD_S)
            if self._sites.serving:
                world.screen.wait_quiet()  # what the page was about to ask has reached its site by then
                self._sites.settle()
            state = world.state()
            answers = {name: state.query(name) for name in ("url", "title", "tabs")}
            return take_snapshot(world.home, world.before, answers, self._sites.files(), world.tables)

    def oracle_view(self) -> BrowserView:
        """See Env."""
        world = self._playing()
        return BrowserView(world.tabs, world.screen, world.actor.pointer, world.state())

    def frame(self) -> Frame:
        """The screen as it is, without waiting."""
        world = self._playing()
        with self._guard():
            return world.screen.grab(world.actor.pointer.position)

    def timings(self) -> dict[str, float]:
        """See Env."""
        return dict(self._timings.seconds)

    def close(self) -> None:
        """See Env."""
        self._world = None
        self._pool.close()
        self._sites.close()

    def _playing(self) -> World:
        if self._world is None:
            raise RuntimeError("reset the env first")
        return self._world

    def _look(self, task: Task) -> Look:
        options = {
            "seed": task.seed if self._seeded else None, "clock": self._clock_ms, "frozen": self._frozen,
            "still": self._still,
        }  # fmt: skip
        scripts = (f"{_DETERMINISM}({json.dumps(options)})", WINDOW_SCRIPT if self._show == "headed" else _SELECT)
        return Look(self._size or checked_size(task.screen), scripts, self._locale)

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """Where the browser is lost, so is the episode."""
        try:
            with self._pool.guard():
                yield
        except EnvError:
            self._world = None
            raise


def checked_size(size: Size) -> Size:
    """The size. Raises ValueError naming the range."""
    if not all(LEAST <= side <= MOST for side in size):
        raise ValueError(f"a screen of {size[0]}x{size[1]}; valid are {LEAST}x{LEAST} to {MOST}x{MOST}")
    return size


def describe(info: Mapping[str, Any]) -> str:
    """The page, its tabs and what is open on it, in short."""
    lines = [f"Page {info['page_index']}: {info['title']} | {info['url']}"]
    if len(info["tabs"]) > 1:
        lines += [f"Tab {i}: {tab['title']} | {tab['url']}" for i, tab in enumerate(info["tabs"])]
    if dialog := info["dialog"]:
        lines.append(f"A {dialog['kind']} dialog is open: {dialog['message']!r}")
        if dialog["kind"] == "prompt":
            lines.append(f"It proposes: {dialog['default']!r}")
            if dialog["text"] != dialog["default"]:
                lines.append(f"Its field holds: {dialog['text']!r}")
    if info["file_chooser"]:
        lines.append("A file chooser is open.")
    if info["crashed"]:
        lines.append("The page has crashed.")
    return "\n".join(lines)
