"""A desktop with the parts that look at it and act on it, and programs that tell what reached them."""

from __future__ import annotations

import json
import os
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from Xlib import X

from envs.desktop import apps, x11
from envs.desktop.a11y import Accessibility
from envs.desktop.capture import Screen
from envs.desktop.desktop import Desktop
from envs.desktop.input import Input
from envs.desktop.windows import Window, Windows
from guiforge.action import parse

PYTHON = "/usr/bin/python3"  # the session's own; it has Tk
EVENTS = X.KeyPressMask | X.KeyReleaseMask | X.ButtonPressMask | X.ButtonReleaseMask | X.PointerMotionMask


class Rig:
    """One desktop under test."""

    def __init__(self, desktop: Desktop) -> None:
        self.desktop, self.display = desktop, desktop.connection
        self.screen = Screen(desktop.framebuffer, self.display)
        self.input = Input(self.display)
        self.windows = Windows(self.display)
        self.accessibility = Accessibility(desktop)

    def act(self, kind: str, **fields: Any) -> None:
        """Carry out an Action."""
        self.input.perform(parse({"kind": kind, **fields}))

    def file(self, name: str, data: bytes = b"") -> str:
        """Write a file of the desktop's HOME; its path inside the session."""
        path = self.desktop.home / name
        path.write_bytes(data)
        os.chown(path, self.desktop.uid, self.desktop.uid)
        return f"/home/user/{name}"

    def launch(self, app: str, *args: str, window: str) -> Window:
        """Start an application and give its window once it has drawn itself and has the keyboard."""
        self.desktop.spawn(apps.find(app).argv(args))
        return self._ready(window)

    def tk(self, script: str, *args: str) -> Window:
        """Start a Tk script (`root` is there, titled `tk under test`; `tell` writes a JSON line to ~/told)."""
        self.file("told")
        head = """
            import json, sys, tkinter
            root = tkinter.Tk(); root.title('tk under test')
            told = open('/home/user/told', 'a', buffering=1)
            def tell(*what): told.write(json.dumps(what) + '\\n')
        """
        source = textwrap.dedent(head) + textwrap.dedent(script) + "\nroot.mainloop()\n"
        self.desktop.spawn([PYTHON, "-c", source, *args])
        return self._ready("tk under test")

    def told(self) -> list[Any]:
        """What the Tk script told so far."""
        return [json.loads(line) for line in (self.desktop.home / "told").read_text().splitlines()]

    def until(self, condition: Callable[[], Any], what: str, timeout_s: float = 15) -> Any:
        """Wait for a condition and give its value."""
        deadline = time.monotonic() + timeout_s
        while not (value := condition()):
            assert time.monotonic() < deadline, f"not within {timeout_s} s: {what}"
            time.sleep(0.01)
        return value

    @contextmanager
    def listener(self) -> Iterator[Listener]:
        """A window over the whole screen that hears every key and button as the X server sends it."""
        listener = Listener(self)
        try:
            yield listener
        finally:
            listener.close()

    def _ready(self, window: str) -> Window:
        found = self.windows.wait(window, timeout_s=60)
        assert found is not None
        self.windows.activate(found)
        self.windows.caught_up(10, 0.3)
        self.screen.settle(0.3, 5)
        return next(w for w in self.windows.list() if w.id == found.id)

    def clear(self) -> None:
        """Close all windows and let go of all keys and buttons."""
        self.input.release_all()
        for window in self.windows.list():
            self.windows.close(window)
        self.windows.wait(".", gone=True)

    def close(self) -> None:
        """End it."""
        self.screen.close()
        self.accessibility.close()
        self.desktop.close()


class Listener:
    """A window with a connection of its own, over the whole screen, with the keyboard."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig
        self._display = x11.connect(rig.desktop.display, rig.desktop.cookie)
        screen = self._display.screen()
        width, height = rig.input.size
        self._window = screen.root.create_window(
            0, 0, width, height, 0, X.CopyFromParent, override_redirect=True, event_mask=EVENTS
        )
        self._window.map()
        self._display.sync()
        self._window.set_input_focus(X.RevertToPointerRoot, X.CurrentTime)
        self._display.sync()
        self.heard()

    def heard(self) -> list[Any]:
        """The events since the last call."""
        self._display.sync()
        return [self._display.next_event() for _ in range(self._display.pending_events())]

    def buttons(self) -> list[tuple[str, int, int, int]]:
        """(`down` or `up`, button, x, y) since the last call."""
        kinds = {X.ButtonPress: "down", X.ButtonRelease: "up"}
        return [(kinds[e.type], e.detail, e.root_x, e.root_y) for e in self.heard() if e.type in kinds]

    def keys(self) -> list[tuple[str, int]]:
        """(`down` or `up`, keysym on the key's first level) since the last call."""
        kinds = {X.KeyPress: "down", X.KeyRelease: "up"}
        return [(kinds[e.type], self.symbol(e.detail)) for e in self.heard() if e.type in kinds]

    def symbol(self, code: int) -> int:
        """The keysym on the first level of a keycode."""
        return int(self._display.get_keyboard_mapping(code, 1)[0][0])

    def close(self) -> None:
        """Take it away."""
        self._display.close()
