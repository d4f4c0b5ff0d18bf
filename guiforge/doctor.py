"""Doctor: what of this machine the worlds need, whether it is there, and the command that mends it.

Invariant: a check looks and never changes anything; whatever is not `ok` carries a fix that can be pasted in a shell
(a Debian command where the system is Debian's kin, else what to install).
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Literal

from packaging.requirements import Requirement
from rich.console import Console
from rich.table import Table

from envs.browser import sites
from envs.browser.place import browser_uid, sandbox_refused
from envs.browser.sites.cache import lacking, prepared
from envs.desktop.sandbox import isolation

Level = Literal["ok", "warn", "fail"]

# Below this Chromium lacks what the desktop and browser worlds rely on (the new headless mode, `--headless=new`).
OLDEST_CHROMIUM = 128


@dataclass(frozen=True)
class Check:
    """One finding. `fix` is the command or advice that mends it, empty where there is nothing to mend."""

    name: str
    level: Level
    detail: str
    fix: str = ""


@dataclass(frozen=True)
class Program:
    """A program that must be on PATH, its Debian package, and what it is for."""

    command: str
    package: str
    use: str


PROGRAMS = (
    Program("Xvfb", "xvfb", "the display"),
    Program("openbox", "openbox", "the window manager"),
    Program("xauth", "xauth", "a cookie for each display"),
    Program("bwrap", "bubblewrap", "namespaces of a desktop"),
    Program("dbus-daemon", "dbus", "the session bus"),
    Program("fc-list", "fontconfig", "fonts"),
    Program(
        "soffice", "libreoffice-calc libreoffice-writer libreoffice-impress libreoffice-gtk3", "calc, writer, impress"
    ),
    Program("gimp", "gimp", "application gimp"),
    Program("vlc", "vlc vlc-plugin-qt", "application vlc"),
    Program("chromium", "chromium", "application chromium"),
    Program("chromium-headless-shell", "chromium-headless-shell", "pages: the env `browser`"),
    Program("pcmanfm", "pcmanfm", "application files"),
    Program("mousepad", "mousepad", "application editor"),
    Program("xterm", "xterm xfonts-base", "application terminal"),
    Program("ristretto", "ristretto", "application images"),
    Program("evince", "evince", "application pdf"),
    Program("galculator", "galculator", "application calculator"),
)

# script -> (a code point its fonts must draw, Debian package)
FONTS = {
    "Latin": (0x00E9, "fonts-dejavu-core"),
    "CJK": (0x6F22, "fonts-noto-cjk"),
    "emoji": (0x1F680, "fonts-noto-color-emoji"),
}


@cache
def _debian() -> bool:
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return False
    return bool({"debian", "ubuntu"} & {release.get("ID", ""), *release.get("ID_LIKE", "").split()})


def _install(packages: str) -> str:
    if not _debian():
        return f"install, with this system's own packages, what Debian calls: {packages}"
    sudo = "" if os.geteuid() == 0 else "sudo "
    return f"{sudo}apt-get install -y --no-install-recommends {packages}"


def _output(*argv: str) -> str | None:
    """Standard output of a command that ended well within 20 s, else None."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _programs() -> Iterator[Check]:
    for program in PROGRAMS:
        path = shutil.which(program.command)
        if path:
            yield Check(program.command, "ok", path)
        else:
            yield Check(program.command, "fail", f"not on PATH; needed for {program.use}", _install(program.package))


def _fonts() -> Iterator[Check]:
    for script, (code, package) in FONTS.items():
        families = sorted(set((_output("fc-list", f":charset={code:x}", "family") or "").splitlines()))
        if families:
            yield Check(f"{script} font", "ok", f"{chr(code)} (U+{code:04X}) drawn by {families[0].split(',')[0]}")
        else:
            yield Check(f"{script} font", "fail", f"no font draws U+{code:04X}", _install(package))


def _session() -> Iterator[Check]:
    if _output("dbus-run-session", "--", "true") is not None:
        yield Check("D-Bus session", "ok", "a session bus starts")
    else:
        yield Check("D-Bus session", "fail", "dbus-run-session starts no bus", _install("dbus dbus-x11"))
    launcher = Path("/usr/libexec/at-spi-bus-launcher")
    if not launcher.exists():
        yield Check("AT-SPI", "fail", f"{launcher} is missing", _install("at-spi2-core"))
    elif _output("/usr/bin/python3", "-c", "import pyatspi") is None:
        yield Check("AT-SPI", "fail", "/usr/bin/python3 can't import pyatspi", _install("python3-pyatspi"))
    else:
        yield Check("AT-SPI", "ok", "bus launcher and pyatspi of /usr/bin/python3")


def _isolation() -> Iterator[Check]:
    found = isolation()
    if not found.missing:
        yield Check(
            "isolation", "ok", "each desktop has uids and PID, mount, network, IPC and UTS namespaces of its own"
        )
    fix = "run as root, or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1"
    if shutil.which("bwrap") is None:
        fix = _install("bubblewrap")
    for missing in found.missing:
        what, _, why = missing.partition(": ")
        yield Check("isolation", "warn", f"desktops share {what}: {why}", fix)


def _major(text: str) -> int | None:
    found = re.search(r"\b(\d+)\.\d+", text)
    return int(found[1]) if found else None


def _playwright_driver() -> Path | None:
    """The folder of the installed Playwright's driver: its node, and its own list of browsers."""
    spec = importlib.util.find_spec("playwright")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "driver"


def _playwright_chromium(driver: Path) -> int | None:
    """Major version of Chromium that Playwright was made for."""
    browsers = json.loads((driver / "package" / "browsers.json").read_text())["browsers"]
    return next((_major(b["browserVersion"]) for b in browsers if b["name"] == "chromium"), None)


def _chromium() -> Iterator[Check]:
    driver = _playwright_driver()
    if driver and _output(str(driver / "node"), "--version") is None:
        yield Check("Playwright", "fail", f"its node does not run: {driver / 'node'}", _install("libatomic1"))
    want = _playwright_chromium(driver) if driver else None
    for name, program in (("Chromium version", "chromium"), ("headless shell version", "chromium-headless-shell")):
        if shutil.which(program):  # else it was named already
            yield _chromium_version(name, program, want)


def _chromium_version(name: str, program: str, want: int | None) -> Check:
    """Of a Chromium that is there; want: the one that Playwright was made for."""
    have = _major(_output(program, "--version") or "")
    upgrade = _install(program).replace("apt-get install", "apt-get install --only-upgrade")
    if have is None:
        return Check(name, "fail", f"`{program} --version` names none", _install(program))
    if have < OLDEST_CHROMIUM:
        return Check(name, "fail", f"{have}, older than {OLDEST_CHROMIUM}", upgrade)
    if want is None:
        return Check(name, "ok", f"{have} (no Playwright here to compare with)")
    if have != want:
        detail = f"{have}; this Playwright ({version('playwright')}) was made for {want}, most calls work all the same"
        return Check(name, "warn", detail, f"{upgrade}  # where there is none newer, leave it")
    return Check(name, "ok", f"{have}, the one that Playwright expects")


def _page_sandbox() -> Iterator[Check]:
    if sandbox_refused(browser_uid()):
        fix = "sysctl kernel.unprivileged_userns_clone=1; in a container, allow it user namespaces"
        yield Check(
            "page sandbox", "warn", "pages run without Chromium's sandbox: its user may make no namespaces", fix
        )
    else:
        yield Check("page sandbox", "ok", "pages run in Chromium's sandbox")


def _wanted_distributions() -> set[str]:
    """Names that guiforge and its desktop extra require, or none where guiforge is not installed."""
    try:
        declared = [Requirement(text) for text in requires("guiforge") or []]
    except PackageNotFoundError:
        return set()
    return {r.name for r in declared if r.marker is None or r.marker.evaluate({"extra": "desktop"})}


def _python() -> Iterator[Check]:
    checkout = Path(__file__).parent.parent
    constraints = checkout / "constraints.txt"
    fix = f"{sys.executable} -m pip install 'guiforge[desktop]'"
    pins: dict[str, str] = {}
    if constraints.exists():
        fix = f"cd {checkout} && make setup"
        lines = (line.partition("#")[0].strip() for line in constraints.read_text().splitlines())
        pins = dict(line.split("==") for line in lines if line)
    absent, differing = [], []
    for name in sorted(_wanted_distributions() | set(pins), key=str.lower):
        try:
            have = version(name)
        except PackageNotFoundError:
            if name in _wanted_distributions():
                absent.append(name)
            continue
        if name in pins and have != pins[name]:
            differing.append(f"{name} {have} (pinned {pins[name]})")
    if absent:
        yield Check("Python packages", "fail", f"missing: {', '.join(absent)}", fix)
    if differing:
        yield Check("Python packages", "warn", f"other than pinned: {', '.join(differing)}", fix)
    if not absent and not differing:
        yield Check("Python packages", "ok", f"Python {platform.python_version()}, {len(pins)} pins compared")


def _room(name: str, path: str, need_mb: int, why: str) -> Check:
    if not Path(path).is_dir():
        return Check(name, "fail", f"{path} is missing; {why}", f"mkdir -p {path}")
    free_mb = shutil.disk_usage(path).free // 2**20
    if free_mb < need_mb:
        return Check(name, "warn", f"{free_mb} MB free in {path}; {why}", f"make room: df -h {path}; du -xsh {path}/*")
    return Check(name, "ok", f"{free_mb} MB free in {path}")


def _sites() -> Iterator[Check]:
    """The web applications of browser suites: the programs they need, and whether set-up has made them."""
    known = [sites.load(name) for name in sites.names()]
    for site in known:
        lacks = lacking(site)
        if lacks:
            packages = " ".join(sorted(set(lacks.values())))
            yield Check(f"site {site.name}", "fail", f"not on PATH: {', '.join(lacks)}", _install(packages))
        elif not prepared(site).whole:
            yield Check(f"site {site.name}", "warn", "not set up", f"guiforge sites {site.name}")
    ready = [site.name for site in known if prepared(site).whole]
    if len(ready) == len(known):
        yield Check("sites", "ok", f"set up: {', '.join(ready)}")


def _limits() -> Iterator[Check]:
    yield _room("temporary files", tempfile.gettempdir(), 1024, "a run keeps homes and images there")
    yield _room("/dev/shm", "/dev/shm", 256, "framebuffers and Chromium's tabs live there")
    lowest = {
        "RLIMIT_NOFILE": ("open files", 1024, "ulimit -n 4096"),
        "RLIMIT_NPROC": ("processes", 1024, "ulimit -u 8192"),
    }
    for limit, (name, need, fix) in lowest.items():
        soft = resource.getrlimit(getattr(resource, limit))[0]
        if soft != resource.RLIM_INFINITY and soft < need:
            yield Check(name, "warn", f"limited to {soft}, a few desktops take {need}", fix)
        else:
            yield Check(name, "ok", "no limit" if soft == resource.RLIM_INFINITY else f"limit {soft}")
    instances = Path("/proc/sys/fs/inotify/max_user_instances")
    if instances.exists() and int(instances.read_text()) < 64:
        fix = f"{'' if os.geteuid() == 0 else 'sudo '}sysctl fs.inotify.max_user_instances=512"
        yield Check(
            "inotify instances",
            "warn",
            f"{instances.read_text().strip()} a user; applications stop noticing files",
            fix,
        )
    elif instances.exists():
        yield Check("inotify instances", "ok", f"{instances.read_text().strip()} a user")


def checks() -> list[Check]:
    """All findings, in the order of a desktop's start: programs, fonts, session, isolation, versions, limits."""
    parts = (_programs, _fonts, _session, _isolation, _chromium, _page_sandbox, _sites, _python, _limits)
    return [check for part in parts for check in part()]


def run(console: Console | None = None) -> int:
    """Print every finding and each problem's fix; 1 where something fails, else 0 (warnings alone are no failure)."""
    console = console or Console()
    found = checks()
    table = Table(box=None, padding=(0, 1), show_header=False)
    colour = {"ok": "green", "warn": "yellow", "fail": "red"}
    for check in found:
        table.add_row(f"[{colour[check.level]}]{check.level}[/]", check.name, check.detail)
    console.print(table)
    for check in found:
        if check.fix:
            console.print(f"\n[{colour[check.level]}]{check.name}[/]: {check.detail}")
            console.print(f"  {check.fix}", soft_wrap=True, highlight=False, markup=False)
    failed = sum(check.level == "fail" for check in found)
    warned = sum(check.level == "warn" for check in found)
    console.print(f"\n{len(found)} checks: {failed} failed, {warned} warned")
    return 1 if failed else 0
