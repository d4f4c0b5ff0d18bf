"""Browser: one process tree of Chromium's headless shell, from launch to close.

Invariant: nothing of a browser outlives `close`, nor its worker: Chromium ends when its pipe closes, whoever closed
it. A browser is one user's own, sandboxed where the machine allows it, and reaches its hosts alone.
"""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from envs.browser import network
from envs.browser.cdp import Connection, Gone, Late, Message
from envs.browser.place import Place, claim, sandbox_refused
from envs.browser.window import Window
from guiforge.env import EnvError, EnvTimeout

BINARIES = {
    "chromium-headless-shell": ("/usr/lib/chromium/chromium-headless-shell", "/usr/bin/chromium-headless-shell"),
    "chromium": ("/usr/lib/chromium/chromium", "/usr/bin/chromium"),
}
LAUNCH_S = 30.0
_END_S = 5.0
_WATCH_S = 0.5
MEMORY_LIMIT_MB = 3000.0
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_PIPE_BYTES = 1 << 20  # of a picture
_ATTACH = {
    "autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True,
    "filter": [{"type": "page", "exclude": False}, {"exclude": True}],
}  # fmt: skip
_SEPARATE_FRAMES = "IsolateOrigins,site-per-process"
_NEEDLESS = "Translate,MediaRouter,OptimizationHints,AcceptCHFrame,PaintHolding,LazyFrameLoading"
FLAGS = (
    "--remote-debugging-pipe",
    "--disable-site-isolation-trials", f"--disable-features={_SEPARATE_FRAMES},{_NEEDLESS}",
    "--no-proxy-server", "--disable-quic", "--dns-prefetch-disable",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-breakpad", "--disable-extensions", "--disable-default-apps", "--disable-gpu",
    "--disable-smooth-scrolling", "--force-color-profile=srgb", "--mute-audio",
    "--disable-dev-shm-usage", "--password-store=basic", "--use-mock-keychain", "--disable-popup-blocking",
    "--disable-hang-monitor", "--disable-ipc-flooding-protection", "--disable-renderer-backgrounding",
    "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--log-level=2",
    "--js-flags=--max-old-space-size=1024",
)  # fmt: skip


# a frame is drawn whole: its pictures are decoded with it, however large, not in a later one
_EXPLICIT_FRAMES = (
    "--enable-begin-frame-control", "--run-all-compositor-stages-before-draw", "--disable-checker-imaging",
    "--disable-new-content-rendering-timeout",
)  # fmt: skip
_IN_WINDOW = ("--ozone-platform=x11", "--kiosk", "--no-startup-window", "--test-type", "--force-device-scale-factor=1")


class Browser:
    """A running browser. Made by `launch`. listeners: called with each event (session, method, params)."""

    def __init__(
        self, place: Place, process: subprocess.Popen[bytes], read_fd: int, write_fd: int, memory_limit_mb: float,
        window: Window | None,
    ) -> None:  # fmt: skip
        self.place, self._process, self.window = place, process, window
        self.listeners: list[Callable[[str, str, Message], None]] = []
        self.connection = Connection(read_fd, write_fd, self._tell)
        self.memory_limit_mb = memory_limit_mb
        self._watched, self._memory_mb = -math.inf, 0.0
        self._closed = False

    @classmethod
    def launch(
        cls,
        hosts: Sequence[str],
        *,
        memory_limit_mb: float = MEMORY_LIMIT_MB,
        timezone: str = "UTC",
        locale: str = "en-US",
        window: Window | None = None,
    ) -> Browser:
        """A browser that reaches these hosts (see `network`). Raises EnvError, EnvTimeout; ValueError for a host.

        timezone: an IANA name.  locale: what pages are asked for, e.g. en-US.
        window: the full browser on this display, instead of the headless shell.
        """
        rules = network.resolver_rules(hosts)
        package = "chromium" if window else "chromium-headless-shell"
        binary = next((path for path in BINARIES[package] if Path(path).exists()), None)
        if binary is None:
            raise EnvError("browser", f"no {package}; run: apt-get install {package}")
        place = claim()
        environment = window.furnish(place.profile, place.own) if window else {}
        argv = [
            binary,
            *FLAGS,
            *(_IN_WINDOW if window else _EXPLICIT_FRAMES),
            f"--user-data-dir={place.profile}",
            f"--accept-lang={locale}",
        ]
        if rules:
            argv.append(f"--host-resolver-rules={rules}")
        if sandbox_refused(place.uid):
            argv.append("--no-sandbox")
        try:
            browser = cls(place, *_spawn(argv, place, environment | {"TZ": timezone}), memory_limit_mb, window)
        except OSError as problem:
            place.remove()
            raise EnvError("browser", f"{binary} can't be started: {problem}") from problem
        except BaseException:
            place.remove()
            raise
        try:
            browser.connection.call("Target.setAutoAttach", _ATTACH, timeout_s=LAUNCH_S)
        except Gone:
            tail = place.log_tail()
            browser.close()
            raise EnvError("browser", f"ended at its start: {tail}") from None
        except Late as late:
            browser.close()
            raise EnvTimeout("browser", f"did not start: {late}") from None
        except BaseException:
            browser.close()
            raise
        return browser

    @property
    def pid(self) -> int:
        """Chromium's first process; the others are of its session."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether its first process runs."""
        return self._process.poll() is None

    def watch(self) -> None:
        """Look at its memory. Raises EnvError past the limit, and ends it."""
        if self.memory_mb > self.memory_limit_mb:
            self.close()
            raise EnvError("browser", f"took {self._memory_mb:.0f} MB; its limit is {self.memory_limit_mb:.0f} MB")

    @property
    def memory_mb(self) -> float:
        """Private memory of all its processes in MB, looked at twice a second at most."""
        if time.monotonic() - self._watched >= _WATCH_S:
            self._memory_mb, self._watched = self._measure_memory(), time.monotonic()
        return self._memory_mb

    def _measure_memory(self) -> float:
        pages, left = 0, [self.pid]
        while left:
            with contextlib.suppress(OSError):
                process = Path(f"/proc/{left.pop()}")
                resident, shared = (process / "statm").read_text().split()[1:3]
                pages += int(resident) - int(shared)
                for thread in (process / "task").iterdir():
                    left += map(int, (thread / "children").read_text().split())
        return pages * _PAGE_BYTES / 2**20

    def _tell(self, session: str, method: str, params: Message) -> None:
        for listener in tuple(self.listeners):
            listener(session, method, params)

    def processes(self) -> list[int]:
        """Its processes' ids: those of its session."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    state, _parent, _group, session = (
                        (entry / "stat").read_text().rpartition(")")[2].split(maxsplit=4)[:4]
                    )  # fmt: skip
                    if int(session) == self.pid and state != "Z":
                        found.append(int(entry.name))
        return found

    def close(self) -> None:
        """End every process and remove every file of it. Safe to call twice and after any failure."""
        if self._closed:
            return
        self._closed = True
        self.connection.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        _end(self.processes())
        self._process.wait(_END_S)
        self.place.remove()
        if self.window is not None:
            self.window.close()


def _end(pids: Sequence[int]) -> None:
    """Kill processes and wait until they are gone, or for a while: a killed one takes its time to free its memory."""
    with contextlib.ExitStack() as stack:
        ending = []
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                ending.append(os.pidfd_open(pid))
                stack.callback(os.close, ending[-1])
                signal.pidfd_send_signal(ending[-1], signal.SIGKILL)
        deadline = time.monotonic() + _END_S
        while ending and (left := deadline - time.monotonic()) > 0:
            gone = select.select(ending, [], [], left)[0]
            ending = [fd for fd in ending if fd not in gone]


def _spawn(
    argv: Sequence[str], place: Place, environment: Mapping[str, str]
) -> tuple[subprocess.Popen[bytes], int, int]:
    """Start a program as the place's user with pipes as its descriptors 3 and 4; the process and our two ends."""
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    with contextlib.suppress(OSError):  # past the user's limit
        fcntl.fcntl(ours_in, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    user: dict[str, Any] = {}
    if place.uid != os.geteuid():
        user = {"user": place.uid, "group": place.uid, "extra_groups": []}
    swap = 'exec "$@" 3<&0 4>&1 </dev/null >&2'
    try:
        with place.log.open("wb") as log:
            process = subprocess.Popen(
                ["/bin/sh", "-c", swap, "sh", *argv], stdin=theirs_in, stdout=theirs_out, stderr=log,
                start_new_session=True, cwd=place.profile,
                env={
                    "HOME": str(place.profile), "TMPDIR": str(place.profile), "PATH": os.defpath, "LANG": "C.UTF-8",
                    **environment,
                },
                **user,
            )  # fmt: skip
    except BaseException:
        os.close(ours_in)
        os.close(ours_out)
        raise
    finally:
        os.close(theirs_in)
        os.close(theirs_out)
    return process, ours_in, ours_out
