"""Profiles: what is in every new HOME: the desktop's settings, launchers, and the applications' warmed profiles.

Invariant: a warmed profile is what the application itself wrote (`warming`); it is kept under a key of the
application's version and this recipe, made under a lock, and appears whole or not at all.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from envs.cache import cache_root
from envs.desktop import settings
from envs.desktop.apps import APPS, App
from envs.desktop.sandbox import isolation
from guiforge.env import EnvError

RECIPE = "2"  # change it when a profile made by the code below would differ
EPOCH = 1_700_000_000  # the modification time of every file in a new HOME: listings of it look the same each time


def cache_dir() -> Path:
    """Where warmed profiles are kept."""
    return cache_root() / "profiles"


def furnish(home: Path, uid: int, *, warmed: bool) -> None:
    """Fill a new user's HOME: settings and launchers, and with `warmed` the profiles that were warmed."""
    source, user = template(warmed=warmed), f"{uid}:{uid}"
    copy = ["cp", "-r", "--preserve=mode,timestamps,links", "--reflink=auto", f"{source}/.", str(home)]
    own = ["chown", "-R", "-h", user, str(home)]
    for command in (copy, own) if isolation().own_uids else (copy,):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise EnvError("profiles", f"{' '.join(command)}: {done.stderr.strip()[-500:]}")
    home.chmod(0o700)  # which the copy gave the template's


def template(*, warmed: bool) -> Path:
    """The HOME that new desktops get a copy of, made where it is missing."""
    layers = [kept for kept in map(layer, with_profile()) if warmed and kept.is_dir()]
    path = cache_dir() / f"home-{_key(_menu(), *(kept.name for kept in layers))}"
    with made_once(path) as unfinished:
        if unfinished is not None:
            for name, text in settings.FILES.items():
                _write(unfinished / name, text)
            for app in APPS.values():
                _write(unfinished / ".local/share/applications" / app.desktop_file, _launcher(app))
            _write(unfinished / ".config/mimeapps.list", _associations())
            _write(unfinished / ".config/openbox/menu.xml", _menu())
            for name in settings.DIRECTORIES:
                (unfinished / name).mkdir()
            for kept in layers:
                shutil.copytree(kept, unfinished, dirs_exist_ok=True, symlinks=True)
            for file in (*unfinished.rglob("*"), unfinished):
                os.utime(file, (EPOCH, EPOCH), follow_symlinks=False)
    return path


@contextmanager
def made_once(path: Path) -> Iterator[Path | None]:
    """An empty directory that becomes `path` when the block ends well; None where `path` is there already.

    Others that want the same wait meanwhile. What an interrupted maker left is removed.
    """
    if path.is_dir():
        yield None
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with (path.parent / f".{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if path.is_dir():
            yield None
            return
        unfinished = path.with_name(f".{path.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        yield unfinished
        unfinished.rename(path)


def with_profile() -> Iterator[App]:
    """One application for each profile."""
    seen = set()
    for app in APPS.values():
        if app.profile and app.profile not in seen:
            seen.add(app.profile)
            yield app


def installed(app: App) -> bool:
    """Whether this machine has its program."""
    return shutil.which(app.command[0]) is not None


def layer(app: App) -> Path:
    """Where the application's profile is kept: the name tells its version and how it was made."""
    program = shutil.which(app.command[0])
    if program is None:
        return cache_dir() / f"{app.name}-absent"
    info = Path(program).resolve().stat()
    return cache_dir() / f"{app.name}-{_key(*app.command, str(info.st_size), str(info.st_mtime_ns))}"


def _key(*parts: str) -> str:
    key = hashlib.blake2b(digest_size=6)
    for part in (RECIPE, *parts, *settings.FILES, *settings.FILES.values()):
        key.update(part.encode() + b"\0")
    return key.hexdigest()


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _launcher(app: App) -> str:
    command = " ".join(app.command)
    types = "".join(f"{kind};" for kind in app.mime_types)
    return f"[Desktop Entry]\nType=Application\nName={app.title}\nExec={command} %F\nMimeType={types}\n"


def _associations() -> str:
    lines = [f"{kind}={app.desktop_file}" for app in APPS.values() for kind in app.mime_types]
    return "\n".join(["[Default Applications]", *lines, ""])


def _menu() -> str:
    """openbox's menu, shown by a right click on the background: the applications that are installed."""
    items = "".join(
        f'<item label="{app.title}"><action name="Execute"><command>{" ".join(app.command)}</command></action></item>\n'
        for app in APPS.values()
        if installed(app)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<openbox_menu xmlns="http://openbox.org/3.4/menu">\n'
        f'<menu id="root-menu" label="Applications">\n{items}</menu>\n</openbox_menu>\n'
    )
