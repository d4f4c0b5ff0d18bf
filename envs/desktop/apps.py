"""Apps: the applications that a task may launch and an agent may start.

Invariant: an application is started by the same command line whoever starts it (a task, the desktop's menu, a file
manager): launchers and file associations in every HOME are made from this table.
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_OFFICE_FLAGS = ("--norestore", "--nologo", "--nofirststartwizard")
_CHROMIUM_FLAGS = (
    "--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-default-apps", "--disable-breakpad", "--disable-gpu", "--password-store=basic",
    "--force-renderer-accessibility", "--disable-smooth-scrolling", "--window-position=40,40", "--window-size=1200,800",
    "--disable-features=Translate,MediaRouter,OptimizationHints,AutofillServerCommunication,InterestFeedContentSuggestions",
)  # fmt: skip


@dataclass(frozen=True)
class App:
    """One application.

    title: its name in the desktop's menu.  command: what starts it, files to open come after.
    wm_class: regular expression of its windows' class.  profile: the places in HOME that it keeps its profile in.
    quits_on_term: whether SIGTERM makes it write its settings and end (else its windows are asked to close).
    desktop_file: the name of its launcher.  mime_types: what it opens by default.
    quiet_s: for how long nothing changes once its first window is complete.
    least_drawn: share of the window's pixels that differ from its commonest colour, at least, once it is drawn.
    """

    name: str
    title: str
    command: tuple[str, ...]
    wm_class: str
    desktop_file: str
    profile: tuple[str, ...] = ()
    quits_on_term: bool = False
    mime_types: tuple[str, ...] = ()
    quiet_s: float = 0.25
    least_drawn: float = 0.0

    def argv(self, args: Sequence[str]) -> list[str]:
        """The command line that opens `args`."""
        return [*self.command, *args]


@functools.cache
def _soffice() -> str:
    """LibreOffice's own program: its wrapper hides how it ended, and shows a splash screen."""
    wrapper = shutil.which("soffice")
    program = Path(wrapper).resolve().with_name("soffice.bin") if wrapper else None
    return str(program) if program and program.exists() else "soffice"


def _office(name: str, title: str, suffix: str, mime_types: tuple[str, ...]) -> App:
    return App(
        name, title, (_soffice(), *_OFFICE_FLAGS, f"--{name}"), r"(?i)libreoffice|soffice",
        profile=(".config/libreoffice",), desktop_file=f"libreoffice-{name}.desktop",
        mime_types=(f"application/vnd.oasis.opendocument.{suffix}", *mime_types),
        quiet_s=0.6,  # it fills its sidebar and toolbars by timers,
        least_drawn=0.02,  # and shows an empty frame before, for seconds on a busy machine
    )  # fmt: skip


_OOXML = "application/vnd.openxmlformats-officedocument"

APPS: Mapping[str, App] = {
    app.name: app
    for app in (
        _office("calc", "LibreOffice Calc", "spreadsheet", (f"{_OOXML}.spreadsheetml.sheet", "text/csv")),
        _office("writer", "LibreOffice Writer", "text", (f"{_OOXML}.wordprocessingml.document",)),
        _office("impress", "LibreOffice Impress", "presentation", (f"{_OOXML}.presentationml.presentation",)),
        App(
            "gimp", "GIMP Image Editor", ("gimp", "--no-splash"), r"(?i)gimp",
            profile=(".config/GIMP",), desktop_file="gimp.desktop", mime_types=("image/x-xcf",),
        ),
        App(
            "vlc", "VLC Media Player", ("vlc",), r"(?i)vlc",
            profile=(".config/vlc",), quits_on_term=True, desktop_file="vlc.desktop",
            mime_types=("video/mp4", "video/x-msvideo", "video/webm", "audio/mpeg", "audio/x-wav", "audio/ogg"),
        ),
        App(
            "chromium", "Chromium Web Browser", ("chromium", *_CHROMIUM_FLAGS), r"(?i)chromium",
            # SIGTERM loses the bookmarks of the last seconds: its windows are closed
            profile=(".config/chromium",), desktop_file="chromium.desktop",
            mime_types=("text/html", "x-scheme-handler/http", "x-scheme-handler/https"),
        ),
        App(
            "files", "File Manager", ("pcmanfm",), r"(?i)pcmanfm",
            profile=(".config/pcmanfm", ".config/libfm"), desktop_file="pcmanfm.desktop",
            mime_types=("inode/directory",),
        ),
        App(
            "editor", "Text Editor", ("mousepad",), r"(?i)mousepad",
            desktop_file="org.xfce.mousepad.desktop",
            mime_types=("text/plain", "text/markdown", "application/json", "text/x-python", "text/x-log"),
        ),
        App("terminal", "Terminal", ("xterm",), r"(?i)xterm", "debian-xterm.desktop"),
        App(
            "images", "Image Viewer", ("ristretto",), r"(?i)ristretto",
            desktop_file="org.xfce.ristretto.desktop",
            mime_types=("image/png", "image/jpeg", "image/gif", "image/bmp", "image/svg+xml", "image/webp"),
        ),
        App(
            "pdf", "Document Viewer", ("evince",), r"(?i)evince",
            desktop_file="org.gnome.Evince.desktop", mime_types=("application/pdf",),
        ),
        App(
            "calculator", "Calculator", ("galculator",), r"(?i)galculator", "galculator.desktop",
            profile=(".config/galculator",),
        ),
    )
}  # fmt: skip


class UnknownApp(ValueError):
    """No such application; the text names the valid ones."""


def find(name: str) -> App:
    """The application of a name. Raises UnknownApp naming the valid ones."""
    try:
        return APPS[name]
    except KeyError:
        raise UnknownApp(f"no application {name!r}; valid are: {', '.join(APPS)}") from None
