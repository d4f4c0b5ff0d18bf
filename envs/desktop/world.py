"""World: a desktop that was taken for one episode, and the parts that look at it and act on it.

Invariant: all parts share one desktop, and one connection to its display.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from envs.desktop import clipboard, x11
from envs.desktop.a11y import Accessibility
from envs.desktop.capture import Screen
from envs.desktop.desktop import Desktop
from envs.desktop.input import Input
from envs.desktop.profiles import EPOCH
from envs.desktop.windows import Windows
from envs.state import Home, LiveState
from guiforge.action import Action, Wait
from guiforge.env import CommandResult, EnvError, FileEntry
from guiforge.task import Command
from verifiers.noise import settings_of


class World:
    """A desktop that was taken for one episode, and the parts that look at it and act on it."""

    def __init__(self, desktop: Desktop) -> None:
        self.desktop = desktop
        self.screen = Screen(desktop.framebuffer, desktop.connection)
        self.input = Input(desktop.connection)
        self.windows = Windows(desktop.connection)
        self.home = Home(desktop.home, desktop.own, EPOCH)
        self.accessibility = Accessibility(desktop)
        self.before: dict[str, FileEntry] = {}  # the files when the agent started
        self.settings: dict[str, bytes] = {}  # the bytes of the settings files among them, by content hash
        self.processes_before: list[list[str]] = []
        self.commands: tuple[Command, ...] = ()  # the task's

    def begin(self) -> None:
        """Take down what the end is compared with: the agent starts now."""
        blobs: dict[str, bytes] = {}
        self.before, _ = self.home.scan(blobs)
        self.settings = {e.hash: blobs[e.hash] for p, e in self.before.items() if e.link is None and settings_of(p)}
        self.processes_before = self.desktop.processes()

    def act(self, action: Action) -> None:
        """Carry one action out; one that ends the episode does nothing. Raises ValueError naming the valid choices."""
        if isinstance(action, Wait):
            time.sleep(action.seconds)
        elif not action.is_end:
            self.input.perform(action)

    def queries(self) -> dict[str, Callable[[], Any]]:
        """How each named fact is found out."""
        return {
            "windows": lambda: [asdict(window) for window in self.windows.list()],
            "processes": self.desktop.processes,
            "processes_before": lambda: self.processes_before,
            "commands": lambda: {command.name: self._answer(command).model_dump() for command in self.commands},
            "clipboard": self._clipboard,
        }

    def _answer(self, command: Command) -> CommandResult:
        """A command's result; one that can't run or does not end is an answer too, as the agent may have seen to it."""
        try:
            return self.desktop.run(command.argv, command.timeout_s)
        except EnvError as error:
            self.desktop.check()
            return CommandResult(code=-1, stdout="", stderr=str(error))

    def _clipboard(self) -> str | None:
        """The clipboard's text; None where its owner, which may be the agent's, does not hand it over."""
        with contextlib.suppress(clipboard.ClipboardTimeout):
            return x11.quiet(lambda: clipboard.read(self.desktop.connection))
        return None

    def state(self) -> LiveState:
        """The live state."""
        return LiveState(self.home, self.before, self.queries())

    def close(self) -> None:
        """Let go of all but the desktop itself."""
        self.accessibility.close()
        self.screen.close()
