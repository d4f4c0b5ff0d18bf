"""Runner: one site of one env: its copy of the data, its server, and the port that the browser reaches it by.

Invariant: the server is a user of its own, in a sandbox where the machine allows one: it sees the system, its
application and its data, and a network with nothing in it. The port is the env's from the first use to `close`. The
server ends with its channel, so with the env's process however that ends.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from envs.browser.sites import DOMAIN
from envs.browser.sites.cache import Prepared
from envs.browser.sites.site import Site, SiteBroken, Tables, copy_tree, remove_tree
from envs.desktop.sandbox import hidden_places, isolation
from guiforge.env import EnvError, EnvTimeout

_INIT = Path(__file__).with_name("init.py")
_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "opt", "etc", "var/lib")
_UNSHARE = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
_INNER_PORT, _INNER_INIT = 8000, "/init.py"  # of the sandbox's own network, and in its view
_MEMORY_BYTES = 256 << 20  # that each directory for temporary files holds
_LOOK_AGAIN_S = 0.02
_ANSWER_S = 2.0
_LAST_ANSWERS_S = 1.0
_END_S = 10.0
_LOG_LINES = 8


class Runner:
    """A site's server. home: a directory for it alone, made here.  uid: who it runs as."""

    def __init__(self, site: Site, prepared: Prepared, home: Path, uid: int) -> None:
        self.site, self._prepared, self._home, self._uid = site, prepared, home, uid
        self.data, self._log = home / "data", home.with_suffix(".log")
        self._own_uid = uid != os.geteuid()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None

    @property
    def address(self) -> str:
        """Where the browser reaches it."""
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    def begin(self, records: Any) -> None:
        """A fresh copy of the base data with these records in it, and the server on its way. Raises EnvError."""
        try:
            if self.site.restart or not self._idle():
                self.stop()
            for path in (self._home, self._home / "tmp"):
                path.mkdir(mode=0o700, exist_ok=True)
            remove_tree(self.data)
            copy_tree(self._prepared.data, self.data)
            self.site.seed(self.data, records)
            if self._own_uid:
                _give(self._home, self._uid)
            if self._process is None or self._process.poll() is not None:
                self.stop()
                self._start()
        except (SiteBroken, OSError) as problem:
            raise self._broke(str(problem)) from problem

    def wait_ready(self, deadline: float) -> None:
        """Return once it answers (`deadline` by time.monotonic). Raises EnvError, EnvTimeout with its log's end."""
        said = "no answer"
        while not said.startswith("2"):
            self.check()
            if time.monotonic() >= deadline:
                raise EnvTimeout(
                    self._part, f"{self.site.ready} was not ready in time ({said}); its log: {self._tail()}"
                )
            said = self._ask(self.site.ready, max(0.1, deadline - time.monotonic()))
            if not said.startswith("2"):
                time.sleep(_LOOK_AGAIN_S)

    def check(self) -> None:
        """Raises EnvError where the server has ended."""
        if self._process is None or self._process.poll() is not None:
            raise self._broke("its server has ended")

    def waiting(self) -> int:
        """On how many connections the server owes an answer. Raises EnvError."""
        self.check()
        assert self._channel is not None
        try:
            self._channel.sendall(b"\n")
            return int(self._channel.recv(16))
        except (OSError, ValueError) as problem:
            raise self._broke(f"its relay does not answer: {problem}") from problem

    def settle(self, deadline: float) -> bool:
        """Whether it has answered all that it was asked by the deadline; waits for that. Raises EnvError."""
        while self.waiting():
            if time.monotonic() >= deadline:
                return False
            time.sleep(_LOOK_AGAIN_S)
        return True

    def dump(self) -> Tables:
        """What its data holds now. Raises EnvError."""
        self.check()
        try:
            return self.site.dump(self.data)
        except Exception as problem:  # a damaged database, a file that went: the site's, whatever it is
            raise self._broke(f"its data can't be read: {problem!r}") from problem

    def stop(self) -> None:
        """End the server and what it started; the port stays. Safe to call twice."""
        channel, self._channel = self._channel, None
        process, self._process = self._process, None
        if channel is not None:
            channel.close()
        if process is not None:
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(_END_S)

    def close(self) -> None:
        """End it and give the port back; the directory is the owner's to remove. Safe to call twice."""
        self.stop()
        self._listener.close()

    @property
    def _part(self) -> str:
        return f"site {self.site.name}"

    def _idle(self) -> bool:
        """Whether the server runs and does nothing: what it began for an episode that is over can't be called off."""
        try:
            return self.settle(time.monotonic() + _LAST_ANSWERS_S)
        except EnvError:
            return False

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        sandbox = isolation().sandbox
        port = _INNER_PORT if sandbox else _free_port()
        root, tmp = self._prepared.root, Path("/tmp") if sandbox else self._home / "tmp"
        environ = {"PATH": os.defpath, "HOME": str(tmp), "TMPDIR": str(tmp), "LANG": "C.UTF-8", "TZ": "UTC"}
        spec = {
            "channel": theirs.fileno(), "listener": self._listener.fileno(), "port": port,
            "uid": self._uid if self._own_uid else None, "cwd": str(self.data),
            "argv": [*_no_privileges(), *self.site.argv(root, self.data, port)],
            "environ": {**environ, **self.site.environ(root, self.data)},
        }  # fmt: skip
        init = (
            [*self._sandbox(), _python(), "-I", "-S", _INNER_INIT] if sandbox else [_python(), "-I", "-S", str(_INIT)]
        )
        try:
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(
                    [*init, json.dumps(spec)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                    start_new_session=True, pass_fds=(theirs.fileno(), self._listener.fileno()),
                )  # fmt: skip
        finally:
            theirs.close()
        ours.settimeout(_ANSWER_S)
        self._channel = ours

    def _sandbox(self) -> list[str]:
        """bubblewrap's command: the system, the Python and the application read-only, and the site's directory."""
        argv = ["bwrap", *_UNSHARE, "--as-pid-1", "--hostname", self.site.name, "--clearenv"]
        if not self._own_uid:
            argv += ["--unshare-user", "--uid", str(self._uid), "--gid", str(os.getegid())]
        memory = ["--perms", "1777", "--size", str(_MEMORY_BYTES), "--tmpfs"]
        argv += ["--proc", "/proc", "--dev", "/dev", *memory, "/tmp", "--perms", "0755", "--dir", "/var"]
        argv += [*memory, "/var/tmp", *memory, "/dev/shm"]
        for name in _SYSTEM:
            path = Path("/", name)
            if path.is_symlink():
                argv += ["--symlink", str(path.readlink()), str(path)]
            elif path.is_dir():
                argv += ["--ro-bind", str(path), str(path)]
        for path in hidden_places():
            argv += ["--perms", "0000", "--tmpfs", str(path)]
        seen: set[Path] = set()
        for path, how in (
            (Path(sys.base_prefix).resolve(), "--ro-bind"),
            (self._prepared.root, "--ro-bind"),
            (self._home, "--bind"),
        ):
            for parent in reversed(path.parents):  # else bubblewrap makes them as closed as what they hold
                if parent not in seen and not parent.is_relative_to("/usr"):
                    argv += ["--perms", "0755", "--dir", str(parent)]
                    seen.add(parent)
            argv += [how, str(path), str(path)]
        return [*argv, "--ro-bind", str(_INIT), _INNER_INIT, "--chdir", "/", "--"]

    def _ask(self, path: str, timeout_s: float) -> str:
        """The status of its answer to a path, or what went wrong; it ends with the server."""
        host, _, port = self.address.partition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=timeout_s)
        assert self._process is not None
        ended = os.pidfd_open(self._process.pid)  # the port is ours, so connecting to it goes well without a server
        try:
            connection.request("GET", path, headers={"Host": f"{self.site.name}.{DOMAIN}"})
            if connection.sock not in wait([connection.sock, ended], timeout_s):
                return "no answer"
            answer = connection.getresponse()
            answer.read()
            return str(answer.status)
        except (OSError, http.client.HTTPException) as problem:
            return str(problem) or type(problem).__name__
        finally:
            connection.close()
            os.close(ended)

    def _broke(self, what: str) -> EnvError:
        return EnvError(self._part, f"{what}; its log: {self._tail()}")

    def _tail(self) -> str:
        with contextlib.suppress(OSError):
            return "\n".join(self._log.read_text(errors="replace").splitlines()[-_LOG_LINES:]) or "empty"
        return "none"


def _python() -> str:
    return str(Path(getattr(sys, "_base_executable", sys.executable)).resolve())


def _no_privileges() -> Iterator[str]:
    """What stands before the server's command, so that it gains none and ends with its parent."""
    if setpriv := shutil.which("setpriv"):
        yield from (setpriv, "--no-new-privs", "--pdeathsig", "KILL")


def _give(directory: Path, uid: int) -> None:
    """Give a directory and all in it to a user."""
    for where, directories, files, descriptor in os.fwalk(directory, follow_symlinks=False):
        for name in (*directories, *files):
            os.chown(name, uid, uid, dir_fd=descriptor, follow_symlinks=False)
        if Path(where) == directory:
            os.chown(descriptor, uid, uid)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
