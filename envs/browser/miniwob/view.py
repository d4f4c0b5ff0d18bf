"""MiniWobView: what an oracle may look at of a MiniWoB episode."""

from __future__ import annotations

from envs.browser.capture import Screen
from envs.browser.miniwob.stage import Stage
from envs.browser.pointer import Pointer
from envs.browser.tabs import Tabs
from envs.browser.view import BrowserView
from guiforge.env import StateReader


class MiniWobView(BrowserView):
    """A BrowserView that also knows the page's words for its task."""

    def __init__(self, tabs: Tabs, screen: Screen, pointer: Pointer, state: StateReader, stage: Stage) -> None:
        super().__init__(tabs, screen, pointer, state)
        self._stage = stage

    @property
    def utterance(self) -> str:
        """What the page asks for."""
        return self._stage.utterance

    @property
    def fields(self) -> dict[str, str]:
        """What the page says that its words mean, where it does."""
        return self._stage.fields
