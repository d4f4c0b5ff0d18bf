"""Stage: the tab that MiniWoB's pages are played on, episode after episode.

Invariant: an episode that has been started shows what its page and seed alone make of it; its result is the page's
own, of the document that it was started in.
"""

from __future__ import annotations

from dataclasses import dataclass

from envs.browser.actions import Actor
from envs.browser.cdp import CdpError
from envs.browser.tabs import Tabs
from guiforge.env import EnvError, EnvTimeout

LOAD_S, CLEAR_S = 20.0, 5.0
PLAYS = 200  # episodes a document, however well they leave it


@dataclass(frozen=True)
class Result:
    """What a page says of its episode. raw: the reward, its time penalty left out; None where it is no number.

    left: the page is not there any more.  moving: it has timers that go on.  copied: it gave text to the clipboard.
    """

    done: bool = False
    raw: float | None = 0
    reason: str = ""
    left: bool = False
    moving: bool = False
    copied: bool = False

    @property
    def over(self) -> bool:
        """Whether nothing more can be done in the episode."""
        return self.done or self.left


class Stage:
    """The one tab of a context. base_url: where the pages are.  fresh: pages that get a new document an episode."""

    def __init__(self, tabs: Tabs, base_url: str, fresh: frozenset[str]) -> None:
        self.page, self._tabs = tabs.active, tabs
        self._base_url, self._fresh = base_url, fresh
        self._name = ""
        self._plays = 0
        self.result = Result()
        self.utterance = self.title = ""
        self.fields: dict[str, str] = {}

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"{self._base_url}/miniwob/{self._name}.html"

    def start(self, actor: Actor, name: str, seed: int) -> None:
        """Begin an episode. Raises EnvError, EnvTimeout where the page does not come or can't start."""
        kept = name == self._name and name not in self._fresh and self._plays < PLAYS
        if not kept or self.result.left or self.result.moving:
            self._load(actor, name)
        try:
            self.page.evaluate("guiforge.clear()")
            self.page.post("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": -1, "y": -1, "button": "none"})
            self.page.draw(CLEAR_S)
            started = self.page.evaluate(f"guiforge.start({seed})")
        except CdpError as refused:
            raise EnvError("miniwob", f"{name} did not start: {refused}") from refused
        self.utterance, self.fields, self.title = started["utterance"], started["fields"], started["title"]
        self.result = Result()
        self._plays += 1

    def rest(self) -> None:
        """Let what the page has begun come to its end."""
        self._ask("guiforge.rest()")

    def pass_time(self, ms: int) -> None:
        """Let time go by on the page."""
        self._ask(f"guiforge.pass({ms})")

    def _ask(self, expression: str) -> None:
        if self.page not in self._tabs.pages or self.page.crashed:
            self.result = Result(left=True)
        if not self.result.left:
            said = self.page.evaluate(f"globalThis.guiforge ? {expression} : null")
            self.result = Result(left=True) if said is None else Result(**said)

    def _load(self, actor: Actor, name: str) -> None:
        self._name = name
        try:
            actor.open(self.url, LOAD_S)
            self.page.evaluate("guiforge.load()", LOAD_S)
        except ValueError as problem:
            raise EnvError("miniwob", str(problem)) from problem
        if self.page.crashed:
            raise EnvTimeout("miniwob", f"{name} crashed while it loaded")
        self.page.post("Page.resetNavigationHistory")
        self._plays = 0
