"""Sandbox: a desktop's own place on this machine: its directory, number and uids, and the view its session has.

Invariant: everything a desktop leaves outside its session's namespaces is a name that `Place.remove` and `sweep`
know; a place belongs to whoever holds the lock in its directory (the worker and the session's init), and once the
lock is free, anyone may remove it. Numbers, and with them displays and uids, are claimed by making a symbolic link,
which only one can.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import secrets
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from guiforge.env import EnvError

FIRST_NUMBER, LAST_NUMBER = 1000, 9999  # displays; far above what other X servers choose
FIRST_UID = 200_000
HOME = Path("/home/user")
RUNTIME = Path("/run/user/1000")
_INSIDE = Path("/run/guiforge")
_X_SOCKETS = Path("/tmp/.X11-unix")
_SHM = Path("/dev/shm")
_SHM_MIN_BYTES = 48 << 20  # a framebuffer has 8 MB at 1920x1080; a container's /dev/shm may have 64 in all
_MEMORY_BYTES = 512 << 20  # that /tmp, /var/tmp and /dev/shm of a session hold, each; a HOME on disk has no bound
_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "opt", "etc")
# of /etc/passwd: what programs look up; the desktop's user comes last
_PASSWD = "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
_MACHINE_ID = "6775696f726765646573746f70303031\n"


@dataclass(frozen=True)
class Isolation:
    """What keeps a desktop's session apart. `missing`: what does not, each with the reason and what mends it.

    Nowhere is there a bound on a HOME as a whole (disks have no quota that works everywhere), nor on CPU and memory.
    """

    sandbox: bool  # own PID, mount, network, IPC and UTS namespaces
    own_uids: bool  # uids that belong to this desktop alone
    missing: tuple[str, ...] = ()


@functools.cache
def isolation() -> Isolation:
    """What isolation this machine and user allow; found out by trying, once a process."""
    own_uids = os.geteuid() == 0
    missing = []
    if not own_uids:
        missing.append("uid: all desktops run as this user; run as root for a uid a desktop")
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        problem = "bubblewrap is not installed; run: apt-get install bubblewrap"
    else:
        argv = [bwrap, *_UNSHARE, *([] if own_uids else ["--unshare-user"])]
        argv += ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--", "/bin/true"]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        problem = f"bubblewrap can't make namespaces here: {done.stderr.strip()}" if done.returncode else ""
    if problem:
        missing += [
            f"{what}: {problem}"
            for what in ("processes (one that daemonizes is found by its parent alone)", "files", "network")
        ]
    return Isolation(not problem, own_uids, tuple(missing))


_UNSHARE = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")


def base_dir() -> Path:
    """The directory of all this user's places, made where it is missing. Raises EnvError where it isn't ours."""
    base = Path(f"/tmp/guiforge-{os.geteuid()}")  # beside the X servers' own names, whatever TMPDIR says
    with contextlib.suppress(FileExistsError):
        base.mkdir(mode=0o711)
    info = base.lstat()
    if info.st_uid != os.geteuid() or not base.is_dir() or base.is_symlink() or info.st_mode & 0o022:
        raise EnvError("sandbox", f"{base} must be a directory that only this user can write; remove it")
    return base


@dataclass(frozen=True)
class Place:
    """A claimed place. `lock` is the descriptor whose lock says that the place is in use."""

    root: Path
    number: int
    lock: int

    @property
    def home(self) -> Path:
        """The session's HOME as this process sees it."""
        return self.root / "home"

    @property
    def runtime(self) -> Path:
        """The session's XDG_RUNTIME_DIR as this process sees it."""
        return self.root / "run"

    @property
    def tmp(self) -> str:
        """The session's TMPDIR: its own /tmp, or where it has none a directory of its own."""
        return "/tmp" if isolation().sandbox else str(self.root / "tmp")

    @property
    def screen(self) -> Path:
        """The display server's own directory: its cookie and its framebuffer."""
        return self.root / "screen"

    @property
    def uid(self) -> int:
        """Who the session's programs run as."""
        return FIRST_UID + 2 * (self.number - FIRST_NUMBER) + 1 if isolation().own_uids else os.geteuid()

    @property
    def display_uid(self) -> int:
        """Who the display server runs as: the session can't stop it, nor draw into its memory."""
        return self.uid - 1 if isolation().own_uids else self.uid

    def inside(self, path: Path) -> str:
        """Where a path below `home`, `runtime` or `screen` is for the session."""
        if isolation().sandbox:
            for outer, inner in ((self.home, HOME), (self.runtime, RUNTIME), (self.screen, _INSIDE / "screen")):
                if path.is_relative_to(outer):
                    return str(inner / path.relative_to(outer))
        return str(path)

    def own(self, path: Path | int, uid: int) -> None:
        """Give a path (a link itself) or an open file's descriptor to one of the desktop's users."""
        if isolation().own_uids:
            os.chown(path, uid, uid, follow_symlinks=isinstance(path, int))

    def remove(self) -> None:
        """Remove all of the place and give its number back. Init has ended."""
        if not isolation().sandbox:
            _end_strays(self.root)
        _remove(self.root)
        os.close(self.lock)
        with contextlib.suppress(OSError):
            self.root.parent.rmdir()  # when this was the last


def claim() -> Place:
    """A new place. Raises EnvError where every number is taken or the directories can't be made."""
    while True:
        base = base_dir()
        root = base / f"guiforge-{os.geteuid()}-{secrets.token_hex(6)}"
        try:
            root.mkdir(mode=0o711)
            lock = os.open(root / "lock", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            break
        except FileNotFoundError:
            continue  # another worker removed the empty base directory, or swept before the lock was there
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        return _furnish(root, lock)
    except BaseException as problem:
        _remove(root)
        os.close(lock)
        if isinstance(problem, OSError):
            raise EnvError("sandbox", f"can't make a desktop's directories: {problem}") from problem
        raise


def _furnish(root: Path, lock: int) -> Place:
    root.chmod(0o711)
    place = Place(root, _claim_number(root), lock)
    if _SHM.is_dir() and shutil.disk_usage(_SHM).free > _SHM_MIN_BYTES:
        (_SHM / root.name).mkdir()  # memory: drawing into a disk's file would be written back all the time
        place.screen.symlink_to(_SHM / root.name)
    for path, mode, uid in (
        (place.home, 0o700, place.uid),
        (place.runtime, 0o700, place.uid),
        (place.screen, 0o700, place.display_uid),
        (root / "x11", 0o1777, os.geteuid()),
        (root / "etc", 0o755, os.geteuid()),
        (root / "tmp", 0o700, place.uid),
        (root / "logs", 0o700, os.geteuid()),
    ):
        path.mkdir(exist_ok=True)
        path.chmod(mode)
        place.own(path.resolve(), uid)
    return place


def _claim_number(root: Path) -> int:
    base = root.parent
    with contextlib.suppress(FileExistsError):
        _X_SOCKETS.mkdir()
        _X_SOCKETS.chmod(0o1777)  # X servers of users without a sandbox put their sockets there
    for number in range(FIRST_NUMBER, LAST_NUMBER + 1):
        claim, socket = base / f"X{number}", _X_SOCKETS / f"X{number}"
        try:
            claim.symlink_to(root)
        except FileExistsError:
            continue
        with contextlib.suppress(FileExistsError):
            if isolation().sandbox:
                socket.symlink_to(root / "x11" / f"X{number}")
                return number
            if not socket.exists() and not Path(f"/tmp/.X{number}-lock").exists():
                return number
        claim.unlink()
    raise EnvError("sandbox", f"no free display from :{FIRST_NUMBER} to :{LAST_NUMBER}")


def _names(root: Path) -> Iterator[Path]:
    """Every name outside `root` that belongs to its place, the claim of its number last."""
    yield _SHM / root.name
    for claim in root.parent.glob("X*"):
        if _leads_to(claim) == root:
            yield _X_SOCKETS / claim.name
            if not isolation().sandbox:
                yield Path(f"/tmp/.{claim.name}-lock")
            yield claim


def _leads_to(link: Path) -> Path | None:
    with contextlib.suppress(OSError):  # another desktop's, which ends at this moment
        return link.readlink()
    return None


def _remove(root: Path) -> None:
    # rm, since the agent's directories may lie deeper than Python recurses; twice, since what is being killed may write
    for _ in range(2):
        subprocess.run(["rm", "-rf", "--", *map(str, _names(root)), str(root)], capture_output=True, check=False)


def _end_strays(root: Path) -> None:
    """Kill what a killed init left running, where no namespace ended with it: HOME and more name the place."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.fsencode(f"{root}/") in (process / "environ").read_bytes():
                os.kill(int(process.name), signal.SIGKILL)


def sweep() -> int:
    """Remove what dead workers left behind; how many places that were."""
    removed = 0
    with contextlib.suppress(FileNotFoundError):
        for root in base_dir().glob("guiforge-*"):
            try:
                lock = os.open(root / "lock", os.O_RDWR)
            except FileNotFoundError:
                continue  # just being made or removed
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if root.exists():
                    _remove(root)
                    removed += 1
            except BlockingIOError:
                pass  # in use
            finally:
                os.close(lock)
    return removed


_WATCH = """
read -r _ && exit
exec flock "$1/lock" sh -c '[ -e "$1/lock" ] && root=$1 && shift && rm -rf -- "$@" "$root"' - "$@"
"""


class Watcher:
    """A small process that outlives a killed worker: once init has let go of the lock, it removes the place."""

    def __init__(self, place: Place) -> None:
        names = [str(place.root / "home"), *map(str, _names(place.root))]
        argv = ["/bin/sh", "-c", _WATCH, "guiforge-watch", str(place.root), *names]
        self._process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, env={"PATH": os.defpath},
        )  # fmt: skip

    def dismiss(self) -> None:
        """The place was removed in good order."""
        with contextlib.suppress(BrokenPipeError):
            self._process.communicate(b"\n")


def init_command(place: Place, channel: int) -> list[str]:
    """The command that starts the session's init, in a sandbox where there is one. `channel` is inherited by it."""
    script = Path(__file__).with_name("init.py")
    python = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    if not isolation().sandbox:
        setpriv = shutil.which("setpriv")
        return [*([setpriv, "--no-new-privs"] if setpriv else []), str(python), "-I", "-S", str(script), str(channel),
                str(place.root / "logs")]  # fmt: skip
    bwrap = shutil.which("bwrap") or "bwrap"
    argv = [bwrap, *_UNSHARE, "--as-pid-1", "--hostname", "desktop", "--clearenv"]
    if not isolation().own_uids:
        argv += ["--unshare-user", "--uid", str(place.uid), "--gid", str(os.getegid())]
    argv += _view(place)
    interpreter = python
    if not python.is_relative_to("/usr"):
        inside = _INSIDE / "python"
        argv += [*_python(inside), "--setenv", "LD_LIBRARY_PATH", str(inside / "lib")]
        interpreter = inside / python.relative_to(Path(sys.base_prefix).resolve())
        argv += ["--perms", "0755", "--dir", str(interpreter.parent), "--ro-bind", str(python), str(interpreter)]
    argv += ["--ro-bind", str(script), str(_INSIDE / "init.py"), "--chdir", "/"]
    return [*argv, "--", str(interpreter), "-I", "-S", str(_INSIDE / "init.py"), str(channel), str(_INSIDE / "logs")]


def _view(place: Place) -> list[str]:
    """bubblewrap's arguments for what the session sees: the system, read-only, and its own places; nothing else."""
    argv: list[str] = []
    for name in _SYSTEM:
        path = Path("/", name)
        if path.is_symlink():
            argv += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            argv += ["--ro-bind", str(path), str(path)]
    etc = place.root / "etc"
    (etc / "passwd").write_text(f"{_PASSWD}user:x:{place.uid}:{place.uid}:user:{HOME}:/bin/bash\n")
    (etc / "group").write_text(f"root:x:0:\nnogroup:x:65534:\nuser:x:{place.uid}:\n")
    (etc / "machine-id").write_text(_MACHINE_ID)
    for name in ("passwd", "group", "machine-id"):
        if Path("/etc", name).exists():
            argv += ["--ro-bind", str(etc / name), f"/etc/{name}"]
    memory = ["--size", str(_MEMORY_BYTES), "--tmpfs"]
    argv += [*memory, "/var", "--perms", "1777", *memory, "/var/tmp"]
    for directory in ("/var/lib", "/var/lib/dbus", "/var/cache"):  # as below; a font cache out of reach costs seconds
        argv += ["--perms", "0755", "--dir", directory]
    argv += ["--ro-bind", str(etc / "machine-id"), "/var/lib/dbus/machine-id"]
    argv += ["--ro-bind-try", "/var/cache/fontconfig", "/var/cache/fontconfig"]
    argv += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", *memory, "/dev/shm"]
    argv += ["--perms", "1777", *memory, "/tmp", "--bind", str(place.root / "x11"), str(_X_SOCKETS)]
    argv += [*memory, "/run", "--perms", "0711", "--dir", str(_INSIDE)]
    for parent in (HOME.parent, RUNTIME.parent):  # else bubblewrap makes them as closed as what they hold
        argv += ["--perms", "0755", "--dir", str(parent)]
    argv += ["--perms", "0700", "--size", str(64 << 20), "--tmpfs", str(_INSIDE / "logs")]
    argv += ["--bind", str(place.screen), str(_INSIDE / "screen")]
    argv += ["--bind", str(place.runtime), str(RUNTIME), "--bind", str(place.home), str(HOME)]
    for source in hidden_places():
        argv += ["--perms", "0000", "--tmpfs", str(source)]
    return argv


def _python(inside: Path) -> list[str]:
    """bubblewrap's arguments for the libraries of this process's Python; what is installed into it is left out."""
    argv = ["--perms", "0755", "--dir", str(inside)]
    base = Path(sys.base_prefix)
    for lib in sorted({"lib", sys.platlibdir}):
        if (base / lib).is_dir():
            argv += ["--ro-bind", str(base / lib), str(inside / lib)]
            for installed in (base / lib).glob("python*/*-packages"):
                argv += ["--perms", "0000", "--tmpfs", str(inside / installed.relative_to(base))]
    return argv


def hidden_places() -> set[Path]:
    """What is ours where the system's directories hold it: gold data and verifiers are in there.

    That is our packages, the checkout that they are in, and the run folders in the working directory.
    """
    ours = {Path.cwd() / "runs"}
    for name in ("guiforge", "envs", "verifiers", "vlm"):
        spec = find_spec(name)
        for location in (spec.submodule_search_locations or ()) if spec else ():
            checkout = Path(location).parent
            ours.add(checkout if (checkout / "pyproject.toml").exists() else Path(location))
    found = {path.resolve() for path in ours if path.is_dir()}
    return {path for path in found if path.parts[1] in _SYSTEM and not found & set(path.parents)}
