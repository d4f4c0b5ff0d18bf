"""Window: a display of its own for one full browser, so that what opens above a page shows too (see `windowed`).

Invariant: the browser fills it, and it ends with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from envs.desktop import capture
from envs.desktop import display as xserver
from envs.desktop.desktop import Desktop
from envs.desktop.input import Input
from guiforge.frame import Size

# the headless shell's fonts, where the full browser would ask the system for some
_PREFERENCES = {"webkit": {"webprefs": {"fonts": {"fixed": {"Zyyy": "Courier New"}}}}}


class Window:
    """A display of this size for one browser. Raises ValueError for a size out of range, EnvError, EnvTimeout."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self.desktop = Desktop.start(size, warmed=False)
        try:
            self.pixels = capture.Screen(self.desktop.framebuffer, self.desktop.connection)
        except BaseException:
            self.desktop.close()
            raise
        self.input = Input(self.desktop.connection)

    def furnish(self, profile: Path, own: Callable[[Path], None]) -> dict[str, str]:
        """Put what its browser needs to show here into a new profile, its user's own; the environment to start in."""
        cookie, folder = profile / "xauthority", profile / "Default"
        cookie.touch(0o600)
        cookie.write_bytes(xserver.xauthority(self.desktop.cookie))
        folder.mkdir(mode=0o700)
        preferences = folder / "Preferences"
        preferences.write_text(json.dumps(_PREFERENCES))
        for path in (cookie, folder, preferences):
            own(path)
        return {"DISPLAY": self.desktop.display, "XAUTHORITY": str(cookie), "DBUS_SESSION_BUS_ADDRESS": "disabled:"}

    def close(self) -> None:
        """End the display. Safe to call twice."""
        self.pixels.close()
        self.desktop.close()
