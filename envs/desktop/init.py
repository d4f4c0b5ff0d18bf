"""Init: the first process of a desktop's session. It starts the session's programs, reports their ends, and ends all.

Invariant: when the worker's end of the channel closes, for whatever reason, every process of the session is killed
and reaped before init exits. In a sandbox init is process 1 of a PID namespace, so that none can escape it; else it
is their subreaper. Run as `python -I -S init.py CHANNEL_FD LOG_DIR`; it imports nothing but the standard library.

The channel carries JSON, a message a line. To init: `spawn` {id, argv, env, cwd, uid, fds: the numbers that the
descriptors sent along become}, `signal` {pid, signal}, `kill` {pid: its process group}, `processes`, `work`. From
init: `ready`; `spawned` {id, pid} or `failed` {id, error}; `exited` {id, status (negative: by that signal), output:
the tail of what it printed}; `processes` {list: [[uid, pid, argv], ...]}; `work` {ns: what all threads ran or waited
for a core so far}.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import resource
import select
import signal
import socket
import sys

TYPE_CHECKING = False  # the module `typing` costs start-up time
if TYPE_CHECKING:
    from typing import Any

OUTPUT_TAIL = 16384  # bytes of a program's output that its end is reported with
MAX_LISTED, MAX_ARGV_BYTES = 512, 4096  # processes that are listed, and of the command line of each
MAX_FILE_BYTES = 1 << 30  # of a file that a program of the session writes
MAX_PROCESSES = 4096  # per uid, threads included, where every desktop has uids of its own


class Init:
    """The session's programs by id, and the channel to the worker."""

    def __init__(self, channel: socket.socket, logs: str) -> None:
        self.channel, self.logs = channel, logs
        self.programs: dict[int, int] = {}  # pid -> id of what the worker asked for

    def send(self, **message: object) -> None:
        """Tell the worker; it may be gone, which the channel's end shows."""
        with contextlib.suppress(OSError):
            self.channel.sendall(json.dumps(message).encode() + b"\n")

    def serve(self) -> None:
        """Carry requests out until the channel closes."""
        woken, wake = socket.socketpair()
        for end in (woken, wake):
            end.setblocking(False)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.send(event="ready")
        poll = select.poll()
        poll.register(self.channel, select.POLLIN)
        poll.register(woken, select.POLLIN)
        buffer, fds = b"", []
        while True:
            ready = {fd for fd, _ in poll.poll()}
            if woken.fileno() in ready:
                woken.recv(4096)
                self.reap()
            if self.channel.fileno() in ready:
                data, new_fds, _, _ = socket.recv_fds(self.channel, 65536, 64, socket.MSG_CMSG_CLOEXEC)
                if not data:
                    return
                fds += new_fds
                *lines, buffer = (buffer + data).split(b"\n")
                for line in lines:
                    fds = self.handle(json.loads(line), fds)

    def handle(self, request: dict[str, Any], fds: list[int]) -> list[int]:
        """Carry one request out; gives back the descriptors that belong to later ones."""
        if request["do"] == "spawn":
            count = len(request["fds"])
            try:
                pid = spawn(request, fds[:count], f"{self.logs}/{request['id']}")
                self.programs[pid] = request["id"]
                self.send(event="spawned", id=request["id"], pid=pid)
            except OSError as problem:
                self.send(event="failed", id=request["id"], error=str(problem))
            for fd in fds[:count]:
                os.close(fd)
            return fds[count:]
        if request["do"] == "signal":
            if request["pid"] in descendants():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(request["pid"], request["signal"])
        elif request["do"] == "kill":
            if request["pid"] in descendants():
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(request["pid"], signal.SIGKILL)
        elif request["do"] == "processes":
            self.send(event="processes", list=processes())
        elif request["do"] == "work":
            self.send(event="work", ns=work_ns())
        return fds

    def reap(self) -> None:
        """Collect all that ended and report the ends that the worker waits for."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            program = self.programs.pop(pid, None)
            if program is not None:
                output = tail(f"{self.logs}/{program}")
                self.send(event="exited", id=program, status=os.waitstatus_to_exitcode(status), output=output)


def tail(log: str) -> str:
    """The end of a program's output; its log is removed."""
    with contextlib.suppress(OSError), open(log, "rb") as file:  # noqa: PTH123 (pathlib costs start-up time)
        os.unlink(log)  # noqa: PTH108
        file.seek(max(0, file.seek(0, os.SEEK_END) - OUTPUT_TAIL))
        return file.read().decode(errors="replace")
    return ""


def spawn(request: dict[str, Any], fds: list[int], log: str) -> int:
    """Start a program as the request's user, in a session of its own; its pid. Raises OSError where it can't start."""
    failed, failing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores
                signal.signal(number, signal.SIG_DFL)
            os.setsid()
            high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 64) for fd in fds]  # clear of the numbers they become
            out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
            os.dup2(out, 1)
            os.dup2(out, 2)
            for fd, number in zip(high, request["fds"], strict=True):
                os.dup2(fd, number)
            resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE_BYTES, MAX_FILE_BYTES))
            uid = request["uid"]
            if uid != os.getuid():
                resource.setrlimit(resource.RLIMIT_NPROC, (MAX_PROCESSES, MAX_PROCESSES))
                os.setgroups([])
                os.setgid(uid)
                os.setuid(uid)
            os.umask(0o022)
            os.chdir(request["cwd"])
            os.execvpe(request["argv"][0], request["argv"], request["env"])
        except BaseException as problem:
            os.write(failing, str(problem).encode())
        finally:
            os._exit(127)
    os.close(failing)
    with os.fdopen(failed, "rb") as pipe:
        reason = pipe.read()
    if reason:
        os.waitpid(pid, 0)
        raise OSError(reason.decode(errors="replace"))
    return pid


def processes() -> list[tuple[int, int, list[str]]]:
    """(uid, pid, argv) of the session's processes but init itself, nearest first; many and long ones are cut short."""
    found = []
    for pid in descendants()[:MAX_LISTED]:
        with contextlib.suppress(OSError):
            uid = os.stat(f"/proc/{pid}").st_uid  # noqa: PTH116
            with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123
                argv = file.read(MAX_ARGV_BYTES).decode(errors="replace").rstrip("\0 ").split("\0")
            if len(argv) == 1:  # Chromium writes its own over, with blanks between
                argv = argv[0].split()
            if argv:
                found.append((uid, pid, argv))
    return found


def work_ns() -> int:
    """Nanoseconds that all threads of the session ran or waited for a core so far: it stands still when they rest."""
    total = 0
    for pid in descendants():
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
                with open(f"/proc/{pid}/task/{thread}/schedstat") as file:  # noqa: PTH123
                    total += sum(map(int, file.read().split()[:2]))
    return total


def descendants() -> list[int]:
    """Pids of all processes below this one, nearest first."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat") as file:  # noqa: PTH123
                parent = int(file.read().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
    found = list(children.get(os.getpid(), []))
    for pid in found:
        found += children.get(pid, [])
    return found


def end_all() -> None:
    """Kill and reap every process of the session."""
    while True:
        if os.getpid() == 1:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
        else:
            for pid in descendants():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def main() -> None:
    """See the module."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # rather than ignored, which programs would inherit
    for fd in os.listdir("/proc/self/fd"):  # noqa: PTH208
        if int(fd) > 2:
            with contextlib.suppress(OSError):
                os.set_inheritable(int(fd), False)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.get_exec_path({})  # loads what `spawn` needs while its user can still read it
    if os.getpid() != 1:
        import ctypes  # here alone: it costs start-up time

        pr_set_child_subreaper = 36
        if ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0) != 0:
            raise SystemExit("init can't become a subreaper")
    try:
        Init(socket.socket(fileno=int(sys.argv[1])), sys.argv[2]).serve()
    finally:
        end_all()


if __name__ == "__main__":
    main()
