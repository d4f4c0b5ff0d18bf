"""Desktop: one screen with a window manager and a D-Bus session; one life, from start to close.

Invariant: nothing of a desktop outlives `close`, nor its worker's death; nothing of it is in os.environ. A new
episode gets a new desktop, so nothing of an old one can show.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from Xlib.display import Display

from envs.desktop import display as xserver
from envs.desktop import profiles, x11
from envs.desktop.sandbox import Place, Watcher, claim
from envs.desktop.session import Program, Session
from guiforge.env import CommandResult, EnvError, EnvTimeout
from guiforge.frame import Size

DEFAULT_SIZE: Size = (1920, 1080)
_XVFB_S = 20.0
_WINDOW_MANAGER_S = 20.0


class Desktop:
    """A running desktop. Made by `start`; a context manager that closes it.

    size: (width, height) in pixels.  display: e.g. `:1000`.  cookie: what a client must show the X server.
    framebuffer: the file that the X server draws into.  home: the session's HOME as this process sees it.
    connection: our own connection to the X server.
    """

    def __init__(self, size: Size, place: Place, session: Session, watcher: Watcher) -> None:
        self.size, self._place, self.session, self._watcher = size, place, session, watcher
        self.display = f":{place.number}"
        self.cookie = secrets.token_bytes(xserver.COOKIE_BYTES)
        self.framebuffer = xserver.framebuffer(place)
        self.home, self.uid = place.home, place.uid
        self.env = self._environment()
        self._connection: Display | None = None
        self._closed = False

    @classmethod
    def start(cls, size: Size = DEFAULT_SIZE, *, warmed: bool = True) -> Desktop:
        """A desktop of its own, ready for programs. Raises ValueError for a size out of range, EnvError, EnvTimeout.

        warmed: put the warm profiles of the applications into its HOME.
        """
        xserver.check_size(size)
        place = claim()
        try:
            watcher = Watcher(place)
            session = Session(place)
        except BaseException:
            place.remove()
            raise
        desktop = cls(size, place, session, watcher)
        try:
            desktop._boot(warmed)
        except BaseException:
            desktop.close()
            raise
        return desktop

    @property
    def connection(self) -> Display:
        """Our connection to the X server, shared by all parts that look at this desktop and act on it."""
        assert self._connection is not None, "the desktop has not started"
        return self._connection

    def spawn(
        self,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        *,
        name: str | None = None,
        cwd: str | None = None,
        fds: Mapping[int, int] | None = None,
    ) -> Program:
        """Start a program in the session as the desktop's user; `env` is added to the session's own.

        fds: descriptor in the program -> descriptor of this process that it gets (standard streams included).
        Raises EnvError naming the program where it can't start.
        """
        environment = self.env | dict(env or {})
        return self.session.spawn(
            argv, environment, name=name, cwd=cwd or self.env["HOME"], uid=self._place.uid, fds=fds
        )

    def run(self, argv: Sequence[str], timeout_s: float = 20, env: Mapping[str, str] | None = None) -> CommandResult:
        """Run a program in the session to its end; past the time it is killed. Raises EnvError, EnvTimeout."""
        program = self.spawn(argv, env)
        try:
            return self.session.wait(program, timeout_s)
        except BaseException:
            self.session.kill(program)
            raise

    def processes(self) -> list[list[str]]:
        """The argv of every process that the user or the applications have, without the desktop's own."""
        core = {program.pid for program in self.session.programs if program.core}
        return [
            argv
            for uid, pid, argv in self.session.processes()
            if uid == self._place.uid and pid not in core and not any("at-spi" in word for word in argv)
        ]

    def own(self, path: Path | int) -> None:
        """Give a path below `home` (or an open file's descriptor) to the desktop's user."""
        self._place.own(path, self._place.uid)

    def check(self) -> None:
        """Raise EnvError naming what broke, where something did."""
        self.session.check()

    def close(self) -> None:
        """End every process of the desktop and remove all that it left. Safe to call twice and after any failure."""
        if self._closed:
            return
        self._closed = True
        if self._connection is not None:
            with contextlib.suppress(Exception):  # the server may be gone
                self._connection.close()
        self.session.close()
        self._place.remove()
        self._watcher.dismiss()

    def __enter__(self) -> Desktop:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _boot(self, warmed: bool) -> None:
        place = self._place
        for path, uid in ((place.screen / "cookie", place.display_uid), (place.runtime / "xauthority", place.uid)):
            path.touch(0o600)
            path.write_bytes(xserver.xauthority(self.cookie))
            place.own(path, uid)
        self.session.wait_ready()
        ready, ready_there = os.pipe()
        with os.fdopen(ready, "rb") as ready_file:
            try:
                command = xserver.xvfb_command(place, self.size, 3)
                server = self._core("Xvfb", command, place.display_uid, {3: ready_there})
            finally:
                os.close(ready_there)
            bus = f"--address={self.env['DBUS_SESSION_BUS_ADDRESS']}"
            self._core("dbus-daemon", ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--nosyslog", bus])
            profiles.furnish(self.home, self.uid, warmed=warmed)
            self._await_display(server, ready_file.fileno())
        self._core("openbox", ["openbox", "--sm-disable"])
        self._connection = x11.connect(self.display, self.cookie)
        xserver.paint_background(self._connection)
        xserver.wait_window_manager(self._connection, _WINDOW_MANAGER_S, self.check)
        self.check()

    def _core(
        self, name: str, argv: Sequence[str], uid: int | None = None, fds: Mapping[int, int] | None = None
    ) -> Program:
        uid = self._place.uid if uid is None else uid
        return self.session.spawn(argv, self.env, name=name, cwd="/", uid=uid, fds=fds, core=True)

    def _await_display(self, server: Program, fd: int) -> None:
        """Read the display's number up to its newline: Xvfb writes the two apart."""
        said, deadline = b"", time.monotonic() + _XVFB_S
        while not said.endswith(b"\n"):
            if not select.select([fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise EnvTimeout("Xvfb", f"did not listen within {_XVFB_S:g} s")
            data = os.read(fd, 64)
            if not data:
                self.session.wait(server, _XVFB_S)
                raise EnvError("Xvfb", server.how_it_ended())
            said += data
        if int(said) != self._place.number:
            raise EnvError("Xvfb", f"listens as :{int(said)}, not {self.display}")

    def _environment(self) -> dict[str, str]:
        """The whole environment of every program of the session; nothing of this process's own is in it."""
        place = self._place
        home, runtime = place.inside(place.home), place.inside(place.runtime)
        return {
            "HOME": home, "USER": "user", "LOGNAME": "user", "SHELL": "/bin/bash", "PWD": home,
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games",
            "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC", "TMPDIR": place.tmp,
            "DISPLAY": self.display, "XAUTHORITY": f"{runtime}/xauthority",
            "XDG_RUNTIME_DIR": runtime, "XDG_CONFIG_HOME": f"{home}/.config", "XDG_DATA_HOME": f"{home}/.local/share",
            "XDG_CACHE_HOME": f"{home}/.cache", "XDG_STATE_HOME": f"{home}/.local/state",
            "XDG_CURRENT_DESKTOP": "Openbox", "XDG_SESSION_TYPE": "x11",
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={runtime}/bus",
            # Xlib's input method without compositions: GTK's own loses U+FF20 and U+FE50.. (it cuts keysyms to 16 bits)
            "GTK_IM_MODULE": "xim", "XMODIFIERS": "@im=none", "XCOMPOSEFILE": "/dev/null",
            # drawn by the program: Xvfb draws what GTK hands it ten times slower, and a Writer waits seconds for it
            "GDK_RENDERING": "image",
            "GTK_MODULES": "gail:atk-bridge", "NO_AT_BRIDGE": "0", "QT_ACCESSIBILITY": "1",
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1", "SAL_USE_VCLPLUGIN": "gtk3", "GTK_OVERLAY_SCROLLING": "0",
            "GTK_CSD": "0", "GIO_USE_VFS": "local", "GVFS_DISABLE_FUSE": "1", "LIBGL_ALWAYS_SOFTWARE": "1",
            "GSETTINGS_BACKEND": "keyfile",  # text, which verifiers read, where dconf's database is none
        }  # fmt: skip
