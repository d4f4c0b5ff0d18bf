"""Tabs: the pages of one episode, in a browser context of their own, and which of them is looked at.

Invariant: there is always a page to look at, the newest that came; a page is ready (size, scripts, chooser) before
its first document runs. Nothing of a context is left when it was closed: cookies, storage, workers, permissions.
"""

from __future__ import annotations

from dataclasses import dataclass

from envs.browser.browser import Browser
from envs.browser.cdp import CdpError, Late, Message
from envs.browser.network import BLANK
from envs.browser.page import Page
from guiforge.env import EnvTimeout
from guiforge.frame import Size

MAX_PAGES = 32  # further ones are closed as they come
PERMISSIONS = ("clipboardReadWrite", "clipboardSanitizedWrite")
_OPEN_S = 10.0
_CLOSE_S = 2.0


@dataclass(frozen=True)
class Look:
    """How pages are shown. scripts: run in each document before its own.  locale: of formats."""

    size: Size
    scripts: tuple[str, ...] = ()
    locale: str = "en-US"


class Tabs:
    """A new context in a browser, with one blank page. Raises EnvTimeout.

    ahead: return at once, and let it come while something else goes on; `begin` says when and how it is wanted.
    """

    def __init__(self, browser: Browser, look: Look, *, ahead: bool = False) -> None:
        self._browser, self.look = browser, look
        self._connection = browser.connection
        self.pages: list[Page] = []
        self._active: Page | None = None
        self.downloading: set[str] = set()
        self._context, self._begun, self._closed = "", False, False
        browser.listeners.append(self._handle)
        self._connection.ask("Target.createBrowserContext", {"disposeOnDetach": True}, self._open_first)
        if not ahead:
            self.begin(look)

    def begin(self, look: Look) -> None:
        """Show it. Size and locale of the look are those that it was made with. Raises EnvTimeout."""
        if not self._connection.pump(lambda: self.pages, _OPEN_S):
            raise EnvTimeout("browser", f"did not open a page within {_OPEN_S:g} s")
        self.look, self._begun = look, True
        downloads = {"behavior": "allow", "downloadPath": str(self._browser.place.home / "Downloads")}
        self._connection.post(
            "Browser.setDownloadBehavior", downloads | {"eventsEnabled": True, "browserContextId": self._context}
        )
        self.pages[0].add_scripts(look.scripts, at_once=True)
        self._activate(self.pages[0])

    @property
    def active(self) -> Page:
        """The page that is looked at; a blank one is opened where there is none."""
        if self._active is None:
            self.open()
        assert self._active is not None
        return self._active

    @property
    def index(self) -> int:
        """Where the active page is among the pages."""
        return self.pages.index(self.active)

    def open(self) -> Page:
        """A new blank page, made the active one. Raises EnvTimeout; ValueError where there are too many."""
        if len(self.pages) >= MAX_PAGES:
            raise ValueError(f"there are {MAX_PAGES} tabs, and that is the most; close one first")
        try:
            target = self._connection.call("Target.createTarget", self._blank(), timeout_s=_OPEN_S)["targetId"]
        except (Late, CdpError) as problem:
            raise EnvTimeout("browser", f"opened no page: {problem}") from problem
        if not self._connection.pump(lambda: self._active and self._active.target == target, _OPEN_S):
            raise EnvTimeout("browser", f"did not tell of a new page within {_OPEN_S:g} s")
        assert self._active is not None
        return self._active

    def switch(self, index: int) -> None:
        """Look at another page. Raises ValueError naming the valid ones."""
        count = len(self.pages)
        if not -count <= index < count:
            raise ValueError(f"there is no tab {index}; valid are 0 to {count - 1}, or -1 for the last")
        self._activate(self.pages[index])

    def close_active(self, timeout_s: float = _CLOSE_S) -> None:
        """Close the active page, unless it asks first (a dialog of kind beforeunload) or does not answer."""
        page = self.active
        page.post("Page.close")
        page.run(lambda: page not in self.pages or page.dialog, timeout_s)

    def titles(self) -> list[dict[str, str]]:
        """`title` and `url` of each page, in order."""
        infos = {info["targetId"]: info for info in self._connection.call("Target.getTargets")["targetInfos"]}
        known = [infos.get(page.target, {}) for page in self.pages]
        return [{"title": info.get("title", ""), "url": info.get("url", "")} for info in known]

    def close(self) -> bool:
        """End the context; whether its pages were gone in time. Raises Gone."""
        self._closed = True
        try:
            if not self._connection.pump(lambda: self._context, _OPEN_S):
                return False
            self._connection.post("Target.disposeBrowserContext", {"browserContextId": self._context})
            return self._connection.pump(lambda: not self.pages, _CLOSE_S)
        finally:
            self._browser.listeners.remove(self._handle)

    def _open_first(self, made: Message) -> None:
        self._context = made["browserContextId"]
        if not self._closed:
            context = {"browserContextId": self._context}
            self._connection.post("Browser.grantPermissions", {"permissions": list(PERMISSIONS)} | context)
            self._connection.post("Target.createTarget", self._blank(first=True))

    def _blank(self, *, first: bool = False) -> Message:
        blank: Message = {"url": BLANK, "browserContextId": self._context}
        if self._browser.window is not None:
            return blank | {"newWindow": True, "windowState": "fullscreen"} if first else blank
        width, height = self.look.size
        return blank | {"width": width, "height": height, "enableBeginFrameControl": True}

    def _activate(self, page: Page) -> None:
        self._active = page
        page.changed = True
        page.post("Page.bringToFront")

    def _handle(self, session: str, method: str, params: Message) -> None:
        match method:
            case "Target.attachedToTarget":
                self._attached(params["sessionId"], params["targetInfo"])
            case "Target.detachedFromTarget":
                self._detached(params["sessionId"])
            case "Browser.downloadWillBegin" if self._begun:
                self.downloading.add(params["guid"])
            case "Browser.downloadProgress" if params["state"] != "inProgress":
                self.downloading.discard(params["guid"])
            case _:
                page = next((page for page in self.pages if page.session == session), None)
                if page is not None:
                    page.handle(method, params)
                    if page.dialog is not None and page is not self._active:
                        self._activate(page)  # a dialog comes to the front

    def _attached(self, session: str, info: Message) -> None:
        if info.get("browserContextId") != self._context:
            return
        if len(self.pages) >= MAX_PAGES:
            self._connection.post("Runtime.runIfWaitingForDebugger", {}, session)
            self._connection.post("Target.closeTarget", {"targetId": info["targetId"]})
            return
        explicit = self._browser.window is None
        page = Page(
            self._connection,
            info["targetId"],
            session,
            info.get("openerId", ""),
            self._browser.watch,
            explicit=explicit,
        )
        if not explicit:
            self._connection.ask("Browser.getWindowForTarget", {"targetId": page.target}, self._fill_screen)
        page.set_up(self.look.size, self.look.locale, self.look.scripts if self._begun else ())
        self.pages.append(page)
        if self._begun:
            self._activate(page)

    def _fill_screen(self, window: Message) -> None:
        if window["bounds"]["windowState"] != "fullscreen":  # a page opened it as a small one
            bounds = {"windowId": window["windowId"], "bounds": {"windowState": "fullscreen"}}
            self._connection.post("Browser.setWindowBounds", bounds)

    def _detached(self, session: str) -> None:
        gone = next((page for page in self.pages if page.session == session), None)
        if gone is None:
            return
        at = self.pages.index(gone)
        self.pages.remove(gone)
        if gone is self._active and not self._closed:
            opener = next((page for page in self.pages if page.target == gone.opener), None)
            self._active = opener or (self.pages[max(0, at - 1)] if self.pages else None)
            if self._active is not None:
                self._activate(self._active)
