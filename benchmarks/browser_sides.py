"""The sides of the browser's comparison: how each resets a MiniWoB page, clicks and looks.

Invariant: an observation is the same on all sides: pixels as an array, with `text` also DOM and accessibility tree as
the browser gives them. What is measured, and how, is in `browser_loops`.
"""

from __future__ import annotations

import asyncio
import base64
import functools
import io
import os
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

SHELL = next(
    p for p in ("/usr/lib/chromium/chromium-headless-shell", "/usr/bin/chromium-headless-shell") if Path(p).exists()
)
WIDTH, HEIGHT = 332, 214  # as BrowserGym shows MiniWoB
_SNAPSHOT = {"computedStyles": [], "includeDOMRects": True, "includePaintOrder": True}  # as BrowserGym asks

Pixels = np.ndarray[Any, Any]


class Side(ABC):
    """A way to play MiniWoB. text: whether an observation has DOM and accessibility tree.  url: of the folder of pages.

    reset: the class of reset: in-page, document, context or browser.
    """

    def __init__(self, url: str, *, text: bool = False, reset: str = "in-page") -> None:
        self.url, self.text, self.kind = url, text, reset
        self.seen: Pixels | None = None
        self.told: list[Any] = []

    @abstractmethod
    def reset(self, task: str, seed: int) -> None:
        """Begin an episode, and observe."""

    @abstractmethod
    def click(self, x: int, y: int) -> bool:
        """Click, observe, and say whether the page has rewarded it with 1."""

    @abstractmethod
    def evaluate(self, script: str) -> Any:
        """The value of a script's expression in the page."""

    @abstractmethod
    def more(self) -> None:
        """Open a further world that shows a page, and keep it."""

    @abstractmethod
    def close(self) -> None:
        """End it."""

    def look(self, png: bytes) -> None:
        """Keep the pixels of a picture."""
        self.seen = np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


class Guiforge(Side):
    """This project's own env. The episode's class of reset is what the env would choose after a worse one."""

    def __init__(self, url: str, *, text: bool = False, reset: str = "in-page") -> None:
        from envs.browser.miniwob.env import MiniWobEnv
        from envs.browser.miniwob.families import FAMILIES

        super().__init__(url, text=text, reset=reset)
        self._families = FAMILIES
        self._env = MiniWobEnv((WIDTH, HEIGHT), episodes_per_browser=1 if reset == "browser" else 10**9, memory_mb=1e9)
        self._kept: list[Any] = []
        self._begun = False

    def reset(self, task: str, seed: int) -> None:
        """See Side."""
        if self._begun and self.kind != "in-page":
            world = self._env._playing()[0]  # as if the episode had left it so that no lesser reset would do
            world.late = self.kind != "document"
            world.stage._plays = 10**9
        self._observe(self._env.reset(self._families[task].make(seed)))
        self._begun = True

    def click(self, x: int, y: int) -> bool:
        """See Side."""
        from guiforge.action import Click

        self._observe(self._env.step(Click(x=x, y=y)))
        result = self._env._playing()[0].stage.result
        return bool(result.done and result.raw == 1)

    def _observe(self, observation: Any) -> None:
        self.seen = observation.frame.pixels
        if self.text:
            asked = [("DOMSnapshot.captureSnapshot", _SNAPSHOT), ("Accessibility.getFullAXTree", {})]
            self.told = self._env._playing()[0].tabs.active.call_all(asked)

    def evaluate(self, script: str) -> Any:
        """See Side."""
        return self._env.oracle_view().evaluate(script)

    def more(self) -> None:
        """See Side."""
        from envs.browser.miniwob.env import World
        from envs.browser.tabs import Tabs

        browser = self._env._pool.browser
        assert browser is not None
        look = self._env._playing()[0].tabs.look
        tabs = Tabs(browser, look)
        world = World(tabs, look, "http://miniwob.test")
        world.stage.start(world.actor, "click-test", 0)
        world.frame()
        self._kept.append(world)

    def close(self) -> None:
        """See Side."""
        self._env.close()


class Playwright(Side):
    """Plain Playwright: the least that does it, and no wait for anything to settle.

    frames: how it looks: `screenshot` (its own call), `capture` (the protocol's, PNG for speed) or `explicit` (one
    frame drawn when asked, PNG for speed, as guiforge's).
    """

    def __init__(self, url: str, *, text: bool = False, reset: str = "in-page", frames: str = "screenshot") -> None:
        super().__init__(url, text=text, reset=reset)
        self._frames = frames
        self._loop = asyncio.new_event_loop()
        self._task = ""
        self._browser: Any = None
        self._context: Any = None
        self._do(self._start())

    def _do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(work)

    async def _start(self) -> None:
        from playwright.async_api import async_playwright

        self._playwright = await async_playwright().start()
        await self._launch()

    async def _launch(self) -> None:
        explicit = ["--enable-begin-frame-control", "--run-all-compositor-stages-before-draw"]
        self._browser = await self._playwright.chromium.launch(
            executable_path=SHELL, args=explicit if self._frames == "explicit" else []
        )
        self._root = await self._browser.new_browser_cdp_session()
        self._context = None

    async def _open(self) -> None:
        """A new context with one page."""
        before = set((await self._root.send("Target.getBrowserContexts"))["browserContextIds"])
        self._context = await self._browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
        if self._frames == "explicit":  # a page that draws when asked can only be made past Playwright
            after = set((await self._root.send("Target.getBrowserContexts"))["browserContextIds"])
            wanted = {"browserContextId": (after - before).pop(), "enableBeginFrameControl": True}
            blank = {"url": "about:blank", "width": WIDTH, "height": HEIGHT, **wanted}
            async with self._context.expect_page() as opened:
                await self._root.send("Target.createTarget", blank)
            self._page = await opened.value
        else:
            self._page = await self._context.new_page()
        self._cdp = await self._context.new_cdp_session(self._page)

    def reset(self, task: str, seed: int) -> None:
        """See Side."""
        self._do(self._reset(task, seed))

    async def _reset(self, task: str, seed: int) -> None:
        if self.kind == "browser" and self._context is not None:
            await self._browser.close()
            await self._launch()
        elif self.kind == "context" and self._context is not None:
            await self._context.close()
            self._context = None
        fresh = self._context is None
        if fresh:
            await self._open()
        if fresh or task != self._task or self.kind == "document":
            await self._page.goto(f"{self.url}{task}.html")
            self._task = task
        await self._page.evaluate(
            f"Math.seedrandom({seed}), core.EPISODE_MAX_TIME = 2 ** 31 - 1, "
            "core.startEpisodeReal(), core.getUtterance()"
        )
        await self._observe()

    def click(self, x: int, y: int) -> bool:
        """See Side."""
        return bool(self._do(self._click(x, y)))

    async def _click(self, x: int, y: int) -> bool:
        if self._frames == "explicit":
            at = {"x": x, "y": y, "button": "left", "clickCount": 1}
            await asyncio.gather(
                self._cdp.send("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y}),
                self._cdp.send("Input.dispatchMouseEvent", {"type": "mousePressed", **at}),
                self._cdp.send("Input.dispatchMouseEvent", {"type": "mouseReleased", **at}),
                self._cdp.send("HeadlessExperimental.beginFrame"),
            )
        else:
            await self._page.mouse.click(x, y)
        solved = await self._page.evaluate("WOB_DONE_GLOBAL && WOB_RAW_REWARD_GLOBAL === 1")
        await self._observe()
        return bool(solved)

    async def _observe(self) -> None:
        picture = {"format": "png", "optimizeForSpeed": True}
        if self._frames == "screenshot":
            png = await self._page.screenshot()
        elif self._frames == "capture":
            png = base64.b64decode((await self._cdp.send("Page.captureScreenshot", picture))["data"])
        else:
            drawn = await self._cdp.send("HeadlessExperimental.beginFrame", {"screenshot": picture})
            png = base64.b64decode(drawn["screenshotData"]) if "screenshotData" in drawn else b""
        if png:  # where nothing changed, an explicit frame gives none
            self.look(png)
        if self.text:
            self.told = await asyncio.gather(
                self._cdp.send("DOMSnapshot.captureSnapshot", _SNAPSHOT), self._cdp.send("Accessibility.getFullAXTree")
            )

    def evaluate(self, script: str) -> Any:
        """See Side."""
        return self._do(self._page.evaluate(script))

    def more(self) -> None:
        """See Side."""

        async def open_another() -> None:
            await self._open()
            await self._page.goto(f"{self.url}click-test.html")
            await self._observe()

        self._do(open_another())

    def close(self) -> None:
        """See Side."""
        self._do(self._browser.close())
        self._do(self._playwright.stop())


class BrowserGym(Side):
    """BrowserGym, slow_mo 0 and one picture pixel a page pixel. delay_s: its wait before it observes, 0.5 by default.

    Its reset is a new browser (and another for its chat), there is no lesser one. Without `text` it takes its picture
    alone, by its own function.
    """

    def __init__(self, url: str, *, text: bool = False, reset: str = "browser", delay_s: float = 0.5) -> None:
        import logging

        import browsergym.core
        import browsergym.miniwob  # registers its tasks

        os.environ["MINIWOB_URL"] = url
        logging.disable(logging.WARNING)  # each reset would warn that slow_mo is another than the task's
        super().__init__(url, text=text, reset=reset)
        self._delay_s = delay_s
        self._playwright = browsergym.core._get_global_playwright()
        chromium = self._playwright.chromium  # its chat takes no path of a browser
        chromium.launch = functools.partial(chromium.launch, executable_path=SHELL)
        self._envs: dict[str, Any] = {}
        self._kept: list[Any] = []

    def _env(self, task: str) -> Any:
        if task not in self._envs:
            for other in self._envs.values():
                other.close()
            self._envs = {task: self._make(task)}
        return self._envs[task]

    def _make(self, task: str) -> Any:
        import browsergym.miniwob.all as tasks
        from browsergym.core.action.highlevel import HighLevelActionSet
        from browsergym.core.env import BrowserEnv

        made = next(t for t in vars(tasks).values() if getattr(t, "subdomain", None) == task)

        class Unscaled(made):  # type: ignore[misc,valid-type]
            def setup(self, page: Any) -> Any:
                done = super().setup(page)
                page._bgym_scale_factor = 1.0
                return done

        return BrowserEnv(
            Unscaled, slow_mo=0, pre_observation_delay=self._delay_s, use_raw_page_output=not self.text,
            action_mapping=HighLevelActionSet(["coord"]).to_python_code,
        )  # fmt: skip

    def reset(self, task: str, seed: int) -> None:
        """See Side."""
        self._now = self._env(task)
        self._observe(self._now.reset(seed=seed)[0])

    def click(self, x: int, y: int) -> bool:
        """See Side."""
        seen, _, _, _, info = self._now.step(f"mouse_click({x}, {y})")
        if seen["last_action_error"]:
            raise RuntimeError(seen["last_action_error"])
        self._observe(seen)
        return bool(info["task_info"]["RAW_REWARD_GLOBAL"] == 1)

    def _observe(self, seen: dict[str, Any]) -> None:
        from browsergym.core.observation import extract_screenshot

        self.seen = seen["screenshot"] if self.text else extract_screenshot(seen["page"])

    def evaluate(self, script: str) -> Any:
        """See Side."""
        return self._now.page.evaluate(script)

    def more(self) -> None:
        """See Side."""
        env = self._make("click-test")
        env.reset(seed=0)
        self._kept.append(env)

    def close(self) -> None:
        """See Side."""
        for env in (*self._envs.values(), *self._kept):
            env.close()
        self._playwright.stop()


SIDES: dict[str, type[Side]] = {"guiforge": Guiforge, "playwright": Playwright, "browsergym": BrowserGym}
