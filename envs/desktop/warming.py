"""Warming: each application is really started once a machine, in a desktop made for that, to keep what it writes.

Invariant: a profile appears whole or not at all, under the key that `profiles` gives it.
"""

from __future__ import annotations

import logging
import shutil
import signal
import time
from pathlib import Path

from envs.desktop.apps import APPS, App
from envs.desktop.capture import Screen
from envs.desktop.desktop import Desktop
from envs.desktop.profiles import installed, layer, made_once, with_profile
from envs.desktop.session import Program
from envs.desktop.windows import Windows
from envs.state import EXCLUDED_NAMES
from guiforge.env import EnvError, EnvTimeout

_log = logging.getLogger(__name__)
_WARM_S = 90.0
_QUIET_S = 1.0  # an application that has shown its window may still write first-start files
_LOOK_AGAIN_S = 0.05
_OFFICE_RESTART = 81  # LibreOffice's exit status
# below a profile: what the application makes anew, is of one machine or one moment, or only grows
_PRUNED = (
    *EXCLUDED_NAMES, "BrowserMetrics-spare.pma", "SingletonLock", "SingletonCookie", "SingletonSocket", "Sessions",
    ".lock", "lock",
)  # fmt: skip


def warm_all() -> list[str]:
    """Make what profiles are missing, each in a desktop of its own; the names of those made. Raises EnvError."""
    made = []
    for app in with_profile():
        if installed(app) and warm(app):
            made.append(app.name)
    return made


def warm(app: App) -> bool:
    """Make an application's profile where it is missing; False where it was there. Raises EnvError."""
    with made_once(layer(app)) as unfinished:
        if unfinished is not None:
            _log.warning("starting %s for the first time on this machine, to keep the profile it writes", app.title)
            _make(app, unfinished)
        return unfinished is not None


def _make(app: App, target: Path) -> None:
    """Really start every application that shares the profile, end it in good order, and keep what it wrote."""
    with Desktop.start((1920, 1080), warmed=False) as desktop:
        windows = Windows(desktop.connection)
        for sharer in APPS.values():
            if sharer.profile == app.profile:
                _start_and_quit(desktop, windows, sharer)
        for place in app.profile:
            if (desktop.home / place).is_dir():
                shutil.copytree(
                    desktop.home / place, target / place, symlinks=True, ignore=shutil.ignore_patterns(*_PRUNED)
                )
    if not any(target.iterdir()):
        raise EnvError(app.name, f"wrote no profile to {', '.join(app.profile)}")


def _start_and_quit(desktop: Desktop, windows: Windows, app: App) -> None:
    """Start an application, wait for its window, and end it in good order. Raises EnvError."""
    program = _shown(desktop, windows, app)
    if program.status == _OFFICE_RESTART:  # it made its profile, and asks to be started again
        program = _shown(desktop, windows, app)
    if app.quits_on_term:
        desktop.session.signal(program, signal.SIGTERM)
    else:
        for window in windows.find(app.wm_class):
            windows.close(window)
    desktop.session.wait(program, _WARM_S)


def _shown(desktop: Desktop, windows: Windows, app: App) -> Program:
    """The started application, once it shows a window that has settled, or has ended."""
    program = desktop.spawn(app.argv(()), name=app.name)
    deadline = time.monotonic() + _WARM_S
    while program.status is None and not windows.find(app.wm_class):
        if time.monotonic() >= deadline:
            raise EnvTimeout(app.name, f"showed no window within {_WARM_S:g} s")
        time.sleep(_LOOK_AGAIN_S)
        desktop.check()
    if program.status is None:
        with Screen(desktop.framebuffer, desktop.connection) as screen:
            screen.settle(_QUIET_S, _WARM_S)
    return program
