"""Actor: Actions carried out on the tabs of one episode, as if by a person's mouse and keyboard.

Invariant: an Action that is refused (ValueError naming the valid choices) has done nothing. `perform` returns when
the page has handled every event, when a dialog came up that holds it back, or when it did not answer in time.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from functools import singledispatchmethod
from pathlib import Path

from envs.browser import dialogs, network, shortcuts
from envs.browser.cdp import CdpError, Message
from envs.browser.dialogs import Dialog
from envs.browser.keyboard import Command, Keyboard
from envs.browser.page import Page
from envs.browser.pointer import Pointer, interpolate
from envs.browser.shortcuts import Shortcut
from envs.browser.tabs import Tabs
from guiforge.action import (
    AnswerDialog,
    Back,
    BaseAction,
    ChooseFiles,
    Click,
    CloseTab,
    Drag,
    Forward,
    Goto,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseUp,
    Move,
    NewTab,
    Press,
    Reload,
    Scroll,
    SwitchTab,
    TypeText,
    Wait,
)  # fmt: skip
from guiforge.env import StateMissing
from guiforge.frame import Size

INPUT_S = 3.0  # how long a page may take to handle what was sent to it
NAVIGATE_S = 15.0
_ON_PAGE = (Click, Move, MouseDown, MouseUp, Drag, Scroll, TypeText, Press, KeyDown, KeyUp, ChooseFiles, Reload)
_BESIDE_DIALOG = (AnswerDialog, Wait, SwitchTab, NewTab)  # what an open dialog does not hold back
_ABORTED = "net::ERR_ABORTED"  # a download, or an answer without content: the page stays


class NotAnswering(Exception):
    """The page did not handle an action in time; it may yet."""


class Actor:
    """Hands on the tabs. `files(path)` gives the host's path of a `~/` path for a file chooser."""

    def __init__(self, tabs: Tabs, size: Size, hosts: Sequence[str], files: Callable[[str], Path]) -> None:
        self._tabs, self._hosts, self._files = tabs, hosts, files
        self.pointer, self.keyboard = Pointer(size), Keyboard()

    def perform(self, action: BaseAction) -> None:
        """Carry an Action out; one that ends the episode does nothing. Raises ValueError, NotAnswering."""
        page = self._tabs.active
        if page.dialog is not None and not action.is_end and not isinstance(action, _BESIDE_DIALOG):
            answer = self._to_dialog(page.dialog, action)
            if not isinstance(answer, AnswerDialog):
                page.dialog = answer
                return
            action = answer
        if self._tabs.active.crashed and isinstance(action, _ON_PAGE) and not isinstance(action, Reload):
            raise ValueError("the page has crashed; valid are reload, goto, and other tabs")
        if not action.is_end:
            self._perform(action)

    def _to_dialog(self, dialog: Dialog, action: BaseAction) -> AnswerDialog | Dialog:
        """What an Action comes to while a dialog is open. Raises ValueError."""
        if isinstance(action, (Click, Move)):
            point = (action.x, action.y) if isinstance(action, Move) else action.point
            self.pointer.check(point)
            self.pointer.move(point)  # the page, which can't be told, is where it moves next
            if isinstance(action, Move):
                return dialog
        return dialogs.answer(dialog, action, self.pointer.position, self.pointer.size)

    @singledispatchmethod
    def _perform(self, action: BaseAction) -> None:
        raise ValueError(f"a browser has no {getattr(action, 'kind', type(action).__name__)!r}")

    @_perform.register
    def _click(self, action: Click) -> None:
        self.pointer.check(action.point)
        with self.keyboard.holding(action.modifiers) as (press, release):
            self._send(press, self.pointer.move(action.point), self.pointer.click(action.button, action.count), release)

    @_perform.register
    def _move(self, action: Move) -> None:
        self.pointer.check((action.x, action.y))
        self._send(self.pointer.move((action.x, action.y)))

    @_perform.register
    def _mouse_down(self, action: MouseDown) -> None:
        self.pointer.check(action.point)
        self._send(self.pointer.move(action.point), self.pointer.down(action.button))

    @_perform.register
    def _mouse_up(self, action: MouseUp) -> None:
        self.pointer.check(action.point)
        self._send(self.pointer.move(action.point), self.pointer.up(action.button))

    @_perform.register
    def _drag(self, action: Drag) -> None:
        self.pointer.check(*action.path)
        path = action.path if len(action.path) > 1 else (self.pointer.position, *action.path)
        with self.keyboard.holding(action.modifiers) as (press, release):
            self._send(press, self.pointer.move(path[0]), self.pointer.down(action.button))
            steps = interpolate(path)
            start = time.monotonic()
            for i, point in enumerate(steps, 1):
                self._send(self.pointer.move(point))  # one by one: a page's drag begins between two of them
                self._rest(start + action.duration_s * i / len(steps) - time.monotonic())
            self._send(self.pointer.up(action.button), release)

    @_perform.register
    def _scroll(self, action: Scroll) -> None:
        self.pointer.check(action.point)
        turn = self.pointer.move(action.point) + self.pointer.wheel(action.dx, action.dy, action.unit)
        with self.keyboard.holding(action.modifiers) as (press, release):
            self._send(press, turn, release)

    @_perform.register
    def _type(self, action: TypeText) -> None:
        self._send(self.keyboard.type(action.text))

    @_perform.register
    def _press(self, action: Press) -> None:
        shortcut = shortcuts.find((*self.keyboard.held, *action.keys))
        if shortcut is None or not shortcut.reserved:
            with self.keyboard.holding(action.keys) as (press, release):
                self._send(press)
                self._rest(action.hold_s)
                self._send(release)
        if shortcut is not None and (shortcut.reserved or not self._tabs.active.prevented(INPUT_S)):
            self._take(shortcut)

    @_perform.register
    def _key_down(self, action: KeyDown) -> None:
        self._send(self.keyboard.down(action.key))

    @_perform.register
    def _key_up(self, action: KeyUp) -> None:
        self._send(self.keyboard.up(action.key))

    @_perform.register
    def _wait(self, action: Wait) -> None:
        self._rest(action.seconds)

    @_perform.register
    def _goto(self, action: Goto) -> None:
        self.open(network.checked_url(action.url, network.AGENTS_SCHEMES))

    @_perform.register
    def _back(self, action: Back) -> None:
        self._travel(-1, "back")

    @_perform.register
    def _forward(self, action: Forward) -> None:
        self._travel(1, "forward")

    @_perform.register
    def _reload(self, action: Reload) -> None:
        self._answered("Page.reload", {}, INPUT_S)

    @_perform.register
    def _new_tab(self, action: NewTab) -> None:
        url = network.checked_url(action.url, network.AGENTS_SCHEMES) if action.url else None
        self._tabs.open()
        if url is not None:
            self.open(url)

    @_perform.register
    def _switch_tab(self, action: SwitchTab) -> None:
        self._tabs.switch(action.index)

    @_perform.register
    def _close_tab(self, action: CloseTab) -> None:
        self._tabs.close_active()

    @_perform.register
    def _answer_dialog(self, action: AnswerDialog) -> None:
        page = self._tabs.active
        if page.dialog is None:
            raise ValueError("no dialog is open")
        params: Message = {"accept": action.accept}
        if action.text is not None:
            params["promptText"] = action.text
        elif action.accept and page.dialog.kind == "prompt":
            params["promptText"] = page.dialog.text
        page.dialog = None
        with contextlib.suppress(CdpError):  # it went by itself
            page.call("Page.handleJavaScriptDialog", params, INPUT_S)

    @_perform.register
    def _choose_files(self, action: ChooseFiles) -> None:
        page = self._tabs.active
        chooser = page.chooser
        if chooser is None:
            raise ValueError("no file chooser is open; click what opens it first")
        if len(action.paths) > 1 and not chooser.several:
            raise ValueError(f"the file chooser takes one file, not {len(action.paths)}")
        try:
            files = [str(self._files(path)) for path in action.paths]
        except StateMissing as missing:
            raise ValueError(str(missing)) from None
        page.chooser = None
        self._answered("DOM.setFileInputFiles", {"files": files, "backendNodeId": chooser.node}, INPUT_S)

    def _take(self, shortcut: Shortcut) -> None:
        """Do what a window would; where that can't be done, it does nothing."""
        tabs = self._tabs
        action = shortcut.action or SwitchTab(index=(tabs.index + shortcut.turn) % len(tabs.pages))
        with contextlib.suppress(ValueError):
            self._perform(action)

    def open(self, url: str, timeout_s: float = NAVIGATE_S) -> None:
        """Open an address in the active tab; returns when its document has come. Raises ValueError, NotAnswering."""
        page = self._tabs.active
        try:
            problem = self._answered("Page.navigate", {"url": network.checked_url(url)}, timeout_s).get("errorText")
        except NotAnswering:
            page.post("Page.stopLoading")
            raise
        if problem and problem != _ABORTED:
            raise ValueError(f"{url} can't be opened: {problem}; hosts of this task: {network.names(self._hosts)}")
        page.touch()

    def _travel(self, steps: int, where: str) -> None:
        history = self._answered("Page.getNavigationHistory", {}, INPUT_S)
        if not history:
            return
        index = history["currentIndex"] + steps
        if not 0 <= index < len(history["entries"]):
            raise ValueError(f"there is no page to go {where} to")
        self._answered("Page.navigateToHistoryEntry", {"entryId": history["entries"][index]["id"]}, INPUT_S)

    def _answered(self, method: str, params: Message, timeout_s: float) -> Message:
        """The page's answer to a command; none where a dialog came first. Raises ValueError, NotAnswering."""
        page = self._tabs.active
        page.crashed = False  # what loads a document gives a crashed page a new process
        numbers = [page.send(method, params)]
        if not self._await(page, numbers, timeout_s):
            page.forget(numbers[0])
            raise NotAnswering(f"the page did not answer {method} within {timeout_s:g} s")
        if not page.answered(numbers[0]):
            page.forget(numbers[0])
            return {}
        try:
            return page.answer(numbers[0])
        except CdpError as problem:
            raise ValueError(str(problem)) from problem

    def _send(self, *groups: list[Command]) -> None:
        """Send events and return when the page has handled them. Raises NotAnswering."""
        page = self._tabs.active
        modifiers = self.keyboard.modifiers
        numbers = []
        for method, params in (command for group in groups for command in group):
            if method == "Input.dispatchMouseEvent":
                params = params | {"modifiers": modifiers}
            numbers.append(page.send(method, params))
        handled = self._await(page, numbers, INPUT_S)
        for number in numbers:
            page.forget(number)
        if not handled:
            raise NotAnswering(f"the page did not handle the action within {INPUT_S:g} s")

    def _await(self, page: Page, numbers: list[int], timeout_s: float) -> bool:
        """Whether the page answered all, or something came up that holds it back: a dialog, its end, a new tab."""

        def done() -> bool:
            return (
                all(page.answered(number) for number in numbers)
                or page.dialog is not None
                or page.crashed
                or page not in self._tabs.pages
            )

        return page.run(done, timeout_s)

    def _rest(self, seconds: float) -> None:
        """Let the page go on for a while."""
        if seconds > 0:
            page = self._tabs.active
            page.run(lambda: page.dialog is not None or page not in self._tabs.pages, seconds)
