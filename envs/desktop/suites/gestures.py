"""What oracles do in the small applications: pointers to places, and the dialogs that they share.

Invariant: everything here acts through yielded Actions; a view is only looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from envs.desktop.a11y import Node
from envs.desktop.suites.common import press, typed
from envs.desktop.view import PATIENCE_S, DesktopView
from guiforge.action import Action, Click, KeyDown, KeyUp
from guiforge.env import Final, StateMissing
from guiforge.outcome import Verdict
from guiforge.task import Launch, Task

Oracle = Iterator[Sequence[Action]]

HOME = "/home/user/"


def absolute(path: str) -> str:
    """A `~/` path as applications know it."""
    return path.replace("~/", HOME, 1)


def name_of(path: str) -> str:
    """The last part of a path."""
    return path.rstrip("/").rsplit("/", 1)[-1]


def manager(folder: str, *, maximize: bool = True) -> Launch:
    """Set-up: the file manager showing a `~/` folder."""
    return Launch(app="files", args=(absolute(folder),), window=re.escape(name_of(folder)), maximize=maximize)


def editor(path: str | None = None, *, maximize: bool = False) -> Launch:
    """Set-up: the text editor, empty or with a `~/` file."""
    if path is None:
        return Launch(app="editor", window="Mousepad", maximize=maximize)
    return Launch(app="editor", args=(absolute(path),), window=re.escape(name_of(path)), maximize=maximize)


def terminal() -> Launch:
    """Set-up: a terminal in the home folder."""
    return Launch(app="terminal")


def viewer(app: str, path: str, *, title: str | None = None) -> Launch:
    """Set-up: a viewer (`pdf`, `images`) with a `~/` file. title: what its window is named by, if not by the file."""
    return Launch(app=app, args=(absolute(path),), window=re.escape(title or name_of(path)))


def office(app: str, path: str) -> Launch:
    """Set-up: an office application (`calc`, `writer`) with a `~/` file."""
    return Launch(app=app, args=(absolute(path),), window=re.escape(name_of(path)))


def select_icons(view: DesktopView, names: Sequence[str]) -> Oracle:
    """Click files in the file manager's folder, the later ones with Ctrl."""

    def icons() -> dict[str, Node]:
        return {node.text: node for node in view.find_all("icon", app="pcmanfm")}

    view.wait_until(lambda: set(names) <= icons().keys(), f"the folder shows {', '.join(names)}")
    places = [icons()[name].center for name in names]
    for number, (x, y) in enumerate(places):
        yield [Click(x=x, y=y, modifiers=("ctrl",) if number else ())]


def rename_selected(view: DesktopView, name: str) -> Oracle:
    """Rename the selected file in the file manager's dialog."""
    yield [press("F2")]
    view.wait_window("Rename")
    yield [press("ctrl+a"), typed(f"{name}\n")]


def wait_solved(
    view: DesktopView, task: Task, verify: Callable[[Task, Final], Verdict], timeout_s: float = PATIENCE_S
) -> None:
    """Wait until the files are as the task wants them (a program may still be writing). Raises OracleStuck."""
    view.wait_until(lambda: verify(task, Final(view.state, None)).passed, "the files are as wanted", timeout_s)


def wait_file(view: DesktopView, path: str, timeout_s: float = PATIENCE_S) -> None:
    """Wait until a file exists and holds something."""

    def there() -> bool:
        try:
            return bool(view.state.read(path))
        except StateMissing:
            return False

    view.wait_until(there, f"{path} is written", timeout_s)


def wait_changed(view: DesktopView, path: str, before: bytes, timeout_s: float = PATIENCE_S) -> None:
    """Wait until an existing file's bytes differ from `before`."""
    view.wait_until(lambda: view.state.read(path) not in (before, b""), f"{path} is saved", timeout_s)


def save_as(view: DesktopView, path: str, *, chord: str = "ctrl+shift+s") -> Oracle:
    """Save under a `~/` path through a GTK file dialog, and wait for the file."""
    yield [press(chord)]
    view.wait_window("Save")
    yield [press("ctrl+a"), typed(absolute(path))]
    button = "push button", "Save"  # it takes the name once the dialog has looked the folder up
    view.wait_until(lambda: "sensitive" in view.wait_for(*button).states, "the dialog takes the name")
    yield [press("Return")]
    wait_file(view, path)


def focus(view: DesktopView, title: str, *, windows: int = 4) -> Oracle:
    """Bring the window whose title holds the regular expression to the front with Alt+Tab."""
    for tabs in range(1, windows + 1):
        if any(w.active and re.search(title, w.title) for w in view.windows()):
            return
        yield [KeyDown(key="alt"), *[press("Tab")] * tabs, KeyUp(key="alt")]
    view.wait_until(
        lambda: any(w.active and re.search(title, w.title) for w in view.windows()), f"a window {title!r} is in front"
    )
