"""Pool: the browsers of one env, one for each set of hosts, each with the next episode's context made ahead.

Invariant: at most one episode is on; its context is one that nobody used before, in a browser that reaches its hosts
alone. There are never more than `most` browsers: for another set of hosts the one not used for longest is ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from envs.browser.browser import Browser
from envs.browser.cdp import CdpError, Gone, Late
from envs.browser.tabs import Look, Tabs
from envs.browser.window import Window
from guiforge.env import EnvError, EnvTimeout

Hosts = tuple[str, ...]


@dataclass
class _Slot:
    """A browser, its episode's tabs, and those of the next."""

    browser: Browser
    tabs: Tabs | None = None
    next: Tabs | None = None
    episodes: int = 0


class Pool:
    """Browsers, started when asked for.

    episodes, memory_mb: a browser is ended after so many episodes, or where it holds more than so much after one.
    in_window: each browser is the full one on a display of its own (`window`); no context is then made ahead, since its
    window would show.  The rest is for `Browser.launch`.
    """

    def __init__(
        self, *, most: int, episodes: int, memory_mb: float, memory_limit_mb: float, timezone: str, locale: str,
        in_window: bool = False,
    ) -> None:  # fmt: skip
        self._in_window = in_window
        self._most, self._episodes, self._memory_mb = most, episodes, memory_mb
        self._memory_limit_mb, self._timezone, self._locale = memory_limit_mb, timezone, locale
        self._slots: dict[Hosts, _Slot] = {}  # the one last used is last
        self._playing: Hosts | None = None

    @property
    def browser(self) -> Browser | None:
        """The browser of the episode that is on."""
        return self._slots[self._playing].browser if self._playing is not None else None

    def take(self, hosts: Hosts, look: Look) -> tuple[Browser, Tabs]:
        """A browser for these hosts and a fresh context in it, to `begin`; the episode before is ended.

        Raises EnvError, EnvTimeout; ValueError for a host.
        """
        self._end_episode()
        slot = self._slots.get(hosts)
        window = slot.browser.window if slot is not None else None
        if slot is not None and (not slot.browser.alive or (window is not None and window.size != look.size)):
            self._end_browser(hosts)
            slot = None
        if slot is None:
            while len(self._slots) >= self._most:
                self._end_browser(next(iter(self._slots)))
            slot = _Slot(self._launch(hosts, look))
        self._slots.pop(hosts, None)
        self._slots[hosts], self._playing = slot, hosts
        slot.episodes += 1
        if slot.next is not None and slot.next.look.size != look.size:
            slot.next.close()
            slot.next = None
        slot.tabs, slot.next = slot.next or Tabs(slot.browser, look, ahead=True), None
        return slot.browser, slot.tabs

    def make_next(self) -> None:
        """Let the next episode's context come while this one goes on."""
        slot = self._slots[self._playing] if self._playing is not None and not self._in_window else None
        if slot is not None and slot.tabs is not None and slot.next is None and slot.episodes < self._episodes:
            slot.next = Tabs(slot.browser, slot.tabs.look, ahead=True)

    def discard(self) -> None:
        """End the browser of the episode that is on: it broke."""
        if self._playing is not None:
            self._end_browser(self._playing)

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Of the episode that is on: a browser that is gone or stuck becomes an EnvError; after any, it is ended."""
        try:
            yield
        except Gone as gone:
            log = self.browser.place.log_tail() if self.browser else ""
            self.discard()
            raise EnvError("browser", f"{gone}; it said: {log}") from gone
        except Late as late:
            self.discard()
            raise EnvTimeout("browser", str(late)) from late
        except CdpError as refused:
            self.discard()
            raise EnvError("browser", str(refused)) from refused
        except EnvError:
            self.discard()
            raise

    def close(self) -> None:
        """End every browser."""
        for hosts in list(self._slots):
            self._end_browser(hosts)

    def _launch(self, hosts: Hosts, look: Look) -> Browser:
        window = Window(look.size) if self._in_window else None
        try:
            return Browser.launch(
                hosts,
                memory_limit_mb=self._memory_limit_mb,
                timezone=self._timezone,
                locale=self._locale,
                window=window,
            )
        except BaseException:
            if window is not None:
                window.close()
            raise

    def _end_episode(self) -> None:
        """End the episode that is on, and its browser where that won't do for another."""
        hosts = self._playing
        if hosts is None:
            return
        slot, self._playing = self._slots[hosts], None
        try:
            fresh = slot.tabs is None or (slot.episodes < self._episodes and slot.tabs.close())
        except Gone:
            fresh = False
        slot.tabs = None
        if not fresh or slot.browser.memory_mb > self._memory_mb:
            self._end_browser(hosts)

    def _end_browser(self, hosts: Hosts) -> None:
        slot = self._slots.pop(hosts)
        if self._playing == hosts:
            self._playing = None
        slot.browser.close()
