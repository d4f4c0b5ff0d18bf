"""Session: the programs of one desktop, started and watched through its init.

Invariant: every program's end is heard exactly once, in order; a session whose init is gone says so in an EnvError.
One thread uses a session at a time.
"""

from __future__ import annotations

import contextlib
import json
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envs.desktop.sandbox import Place, init_command
from guiforge.env import CommandResult, EnvError, EnvTimeout

START_S = 20.0
_REPLY_S = 20.0  # to a request, and to the start of a program
_STOP_S = 10.0
_CRASHES = (
    signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP,
    signal.SIGSYS,
)  # fmt: skip


@dataclass
class Program:
    """A started program. `status`: None while it runs, its exit status, or minus the signal that ended it."""

    id: int
    name: str
    pid: int = 0  # in the session's PID namespace
    status: int | None = None
    output: str = ""  # the end of what it printed, once it ended
    error: str = ""  # why it could not start
    core: bool = False  # whether the desktop is broken without it
    killed: bool = False  # whether we ended it

    @property
    def crashed(self) -> bool:
        """Whether it ended by a signal that no well-behaved program ends by, and that was not ours."""
        return not self.killed and self.status is not None and self.status < 0 and -self.status in _CRASHES

    def how_it_ended(self) -> str:
        """`was killed by SIGSEGV`, `exited with status 1`; with the end of its output."""
        assert self.status is not None
        how = f"was killed by {signal.Signals(-self.status).name}" if self.status < 0 else f"exited with {self.status}"
        return f"{how}: {self.output.strip()[-500:]}" if self.output.strip() else how


class Session:
    """The init of a place and the programs started through it. Raises EnvError where it can't start."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.programs: list[Program] = []
        self._channel, theirs = socket.socketpair()
        self._buffer = b""
        self._ready = False
        self._processes: list[tuple[int, int, list[str]]] | None = None
        self._work_ns: int | None = None
        with theirs:
            self._init = subprocess.Popen(
                init_command(place, theirs.fileno()), pass_fds=(theirs.fileno(), place.lock), stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True, env={},
            )  # fmt: skip

    def wait_ready(self) -> None:
        """Return once init answers. Raises EnvError."""
        self._wait(lambda: self._ready, START_S, "init to start")

    def spawn(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        name: str | None = None,
        cwd: str,
        uid: int,
        fds: Mapping[int, int] | None = None,
        core: bool = False,
    ) -> Program:
        """Start a program with exactly this environment. fds: descriptor there -> descriptor here.

        Raises EnvError naming the program where it can't start.
        """
        program = Program(len(self.programs), name or argv[0].rpartition("/")[2], core=core)
        self.programs.append(program)
        fds = fds or {}
        request = {"do": "spawn", "id": program.id, "argv": list(argv), "env": dict(env), "cwd": cwd, "uid": uid,
                   "fds": list(fds)}  # fmt: skip
        self._send(request, list(fds.values()))
        self._wait(lambda: program.pid or program.error, _REPLY_S, f"{program.name} to start")
        if program.error:
            raise EnvError(program.name, program.error)
        return program

    def wait(self, program: Program, timeout_s: float) -> CommandResult:
        """The result of a program once it ended; its output is the end of both streams. Raises EnvTimeout."""
        self._wait(lambda: program.status is not None, timeout_s, f"{program.name} to end")
        assert program.status is not None
        return CommandResult(code=program.status, stdout=program.output, stderr="")

    def signal(self, program: Program, number: int) -> None:
        """Send a program a signal; nothing happens where it has ended."""
        if program.status is None:
            self.signal_pid(program.pid, number)

    def signal_pid(self, pid: int, number: int) -> None:
        """Send a process of the session a signal; nothing happens where there is none of that number."""
        self._send({"do": "signal", "pid": pid, "signal": int(number)})

    def kill(self, program: Program) -> None:
        """End a program and all of its process group, where it has not ended; that is no crash."""
        if program.status is None:
            program.killed = True
            self._send({"do": "kill", "pid": program.pid})

    def processes(self) -> list[tuple[int, int, list[str]]]:
        """(uid, pid, argv) of the session's processes, as its PID namespace numbers them; long ones are cut short."""
        self._processes = None
        self._send({"do": "processes"})
        self._wait(lambda: self._processes is not None, _REPLY_S, "init to list the processes")
        return self._processes or []

    def work_s(self) -> float:
        """Seconds that all threads of the session ran or waited for a core so far."""
        self._work_ns = None
        self._send({"do": "work"})
        self._wait(lambda: self._work_ns is not None, _REPLY_S, "init to add up the session's work")
        return (self._work_ns or 0) / 1e9

    def check(self) -> None:
        """Raise EnvError naming what broke: a part of the desktop that ended, or a program that crashed."""
        while self._receive(0):
            pass
        for program in self.programs:
            if program.crashed or (program.core and program.status is not None):
                raise EnvError(program.name, program.how_it_ended())

    def close(self) -> None:
        """End every process of the session; returns when none is left."""
        self._channel.close()
        try:
            self._init.communicate(timeout=_STOP_S)
        except subprocess.TimeoutExpired:
            self._init.kill()
            self._init.communicate()

    def _send(self, message: Mapping[str, Any], fds: Sequence[int] = ()) -> None:
        data = json.dumps(message).encode() + b"\n"
        try:
            sent = socket.send_fds(self._channel, [data], list(fds)) if fds else 0
            self._channel.sendall(data[sent:])
        except OSError:
            self._lost()

    def _wait(self, condition: Callable[[], object], timeout_s: float, what: str) -> None:
        deadline = time.monotonic() + timeout_s
        while not condition():
            left = deadline - time.monotonic()
            if left <= 0:
                raise EnvTimeout("session", f"waited {timeout_s:g} s for {what}")
            self._receive(left)

    def _receive(self, timeout_s: float) -> bool:
        """Take in what init sent; False where nothing came within the time."""
        if not select.select([self._channel], [], [], timeout_s)[0]:
            return False
        data = b""
        with contextlib.suppress(ConnectionResetError):
            data = self._channel.recv(1 << 20)
        if not data:
            self._lost()
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            self._heard(json.loads(line))
        return True

    def _heard(self, message: dict[str, Any]) -> None:
        if message["event"] == "ready":
            self._ready = True
        elif message["event"] == "work":
            self._work_ns = message["ns"]
        elif message["event"] == "processes":
            self._processes = [(uid, pid, argv) for uid, pid, argv in message["list"]]
        else:
            program = self.programs[message["id"]]
            if message["event"] == "spawned":
                program.pid = message["pid"]
            elif message["event"] == "failed":
                program.error = message["error"]
            else:
                program.status, program.output = message["status"], message["output"]

    def _lost(self) -> None:
        """Init is gone: say with what words."""
        try:
            _, stderr = self._init.communicate(timeout=_STOP_S)
        except subprocess.TimeoutExpired:
            stderr = b"it closed its channel and still runs"
        raise EnvError("init", f"ended with {self._init.returncode}: {stderr.decode(errors='replace').strip()[-500:]}")
