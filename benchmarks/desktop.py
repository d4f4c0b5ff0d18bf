"""The desktop side by side with pyautogui, xdotool and the raw floor, in one run, as medians.

    make bench                                  # or: .venv/bin/python benchmarks/desktop.py --trials 15

Writes benchmarks/results/desktop.json and desktop.md; benchmarks/README.md says how to read the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from report import Figures, headline, machine, table, write
from side import SIDES, clicks

from envs.desktop import apps
from envs.desktop.capture import Screen
from envs.desktop.desktop import Desktop
from envs.desktop.env import DesktopEnv
from envs.desktop.input import Input
from envs.desktop.windows import Windows
from guiforge.action import Click, Press, TypeText
from guiforge.frame import Frame, Size
from guiforge.task import Task

HERE = Path(__file__).parent
SIZES: tuple[Size, ...] = ((1280, 720), (1920, 1080))
PEERS_PYTHON = HERE.parent / ".venv-bench" / "bin" / "python"

# The window that is clicked: Tk, the whole screen, another colour at each press of the button.
REPAINTING = """
import tkinter
root = tkinter.Tk()
root.title("repainting")
root.attributes("-fullscreen", True)
colours = ["#204060", "#a0c040"]
def repaint(event=None):
    colours.reverse()
    root.configure(bg=colours[0])
root.bind("<ButtonPress-1>", repaint)
repaint()
root.mainloop()
"""

TEXTS = {
    "plain": "The quick brown fox jumps over the lazy dog 0123456789",
    "symbols": 'a<b>c & "d" {e} [f] (g) | \\ ~ ^ ` @ # $ % = + - _ ; : \' ? ! / , .',
    "accents": "Straße naïve façade Ñandú Ærøskøbing żółć Čeština",
    "CJK": "漢字かな交じり文 中文輸入 한국어",
    "emoji": "🚀🎉🧠 ok 👍",
}


def timed(action: Callable[[], Any]) -> float:
    """Seconds that it took."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def blank(size: Size) -> Task:
    """A task with nothing in it: a bare desktop."""
    return Task(suite="bench", id="blank", seed=0, instruction="", screen=size)


class Guiforge:
    """This project's own side (see side.Side): the Env's step from click to settled frame, its parts for the rest."""

    def __init__(self, env: DesktopEnv, desktop: Desktop) -> None:
        self._env, self._desktop = env, desktop
        self._input = Input(desktop.connection)
        self._screen = Screen(desktop.framebuffer, desktop.connection)

    def click(self, x: int, y: int) -> None:
        """See side.Side."""
        self._input.perform(Click(x=x, y=y))

    def grab(self) -> Frame:
        """See side.Side."""
        return self._screen.grab()

    def settle(self) -> Frame:
        """See side.Side."""
        return self._screen.settle()

    def click_and_settle(self, x: int, y: int) -> Frame:
        """See side.Side."""
        return self._env.step(Click(x=x, y=y)).frame

    def same(self, picture: Frame, other: Frame) -> bool:
        """See side.Side."""
        return picture.same_pixels(other)

    def pixel(self, picture: Frame, x: int, y: int) -> tuple[int, int, int]:
        """See side.Side."""
        red, green, blue = picture.pixels[y, x]
        return int(red), int(green), int(blue)

    def encode(self, picture: Frame) -> bytes:
        """See side.Side."""
        return picture.encode("png").data


@contextmanager
def peers_environment(desktop: Desktop) -> Iterator[dict[str, str]]:
    """The environment in which a peer finds the desktop."""
    with tempfile.TemporaryDirectory() as folder:
        cookie = Path(folder) / "xauthority"
        cookie.touch()
        # by host name: what python-xlib looks for
        subprocess.run(
            ["xauth", "-f", cookie, "add", f"{socket.gethostname()}/unix{desktop.display}", ".", desktop.cookie.hex()],
            check=True,
        )
        yield os.environ | {
            "DISPLAY": desktop.display,
            "XAUTHORITY": str(cookie),
            "XDG_SESSION_TYPE": "x11",
            "HOME": folder,
            "TMPDIR": folder,
        }


def peer(name: str, desktop: Desktop, *arguments: str) -> Figures:
    """What a side measured in a process of its own."""
    with peers_environment(desktop) as environment:
        done = subprocess.run(
            [PEERS_PYTHON, HERE / "side.py", name, *arguments],
            env=environment, cwd=environment["HOME"], capture_output=True, text=True, timeout=600,
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr}")
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def measure_clicks(trials: int) -> Figures:
    """Every side on the same window of the same desktop, size by size."""
    figures: Figures = {}
    for size in SIZES:
        env = DesktopEnv(size=size)
        try:
            env.reset(blank(size))
            desktop = env._playing().desktop  # what the peers drive is the desktop of our own side
            desktop.spawn(["/usr/bin/python3", "-c", REPAINTING])
            Windows(desktop.connection).wait("repainting")
            rows = {"guiforge": clicks(Guiforge(env, desktop), size, trials)}
            for name in SIDES:
                if name != "xdotool, delay 0":
                    rows[name] = peer(name, desktop, "clicks", *map(str, size), str(trials))
            figures["{}x{}".format(*size)] = rows
        finally:
            env.close()
    return figures


def typed(desktop: Desktop, screen: Screen, type_it: Callable[[], float]) -> tuple[str, float]:
    """What a text editor saved after something was typed into it, and the seconds that `type_it` gave for that."""
    windows, file = Windows(desktop.connection), desktop.home / "typed.txt"
    file.write_text("")
    desktop.own(file)
    program = desktop.spawn(apps.find("editor").argv(["/home/user/typed.txt"]))
    window = windows.wait("typed.txt")
    assert window is not None
    windows.activate(window)
    screen.settle()
    seconds = type_it()
    screen.settle()
    Input(desktop.connection).perform(Press(keys=("ctrl", "s")))
    windows.wait(r"^[^*]*typed\.txt")  # no asterisk: saved
    windows.close(window)
    windows.wait("typed.txt", gone=True)
    desktop.session.wait(program, 20)
    return file.read_text().removesuffix("\n"), seconds


def measure_typing() -> Figures:
    """For each side, on a desktop of its own, and each text: what arrived, whether exactly, and the seconds."""
    figures: Figures = {}
    for name in ("guiforge", "pyautogui, PAUSE=0, our capture", "xdotool, our capture", "xdotool, delay 0"):
        rows = figures[name.removesuffix(", our capture").removesuffix(", PAUSE=0")] = {}
        with Desktop.start(SIZES[0]) as desktop, Screen(desktop.framebuffer, desktop.connection) as screen:
            ours = Input(desktop.connection)
            for kind, text in TEXTS.items():

                def type_it(
                    name: str = name, text: str = text, desktop: Desktop = desktop, ours: Input = ours
                ) -> float:
                    if name != "guiforge":
                        return float(peer(name, desktop, "type", text)["seconds"])
                    return timed(lambda: ours.perform(TypeText(text=text)))

                arrived, seconds = typed(desktop, screen, type_it)
                rows[kind] = {"exact": arrived == text, "arrived": arrived, "seconds": round(seconds, 3)}
    return figures


def measure_starts(trials: int) -> Figures:
    """Milliseconds: a bare desktop, its end, a warm reset, a reset right after another."""
    size = SIZES[1]
    took: dict[str, list[float]] = {
        name: [] for name in ("start", "start, warm profiles", "close", "reset", "reset at once")
    }
    for trial in range(2 * trials):
        warmed = trial % 2 == 1
        start = time.perf_counter()
        desktop = Desktop.start(size, warmed=warmed)
        took["start, warm profiles" if warmed else "start"].append(time.perf_counter() - start)
        took["close"].append(timed(desktop.close))
    env = DesktopEnv(size=size)
    try:
        env.reset(blank(size))
        for _ in range(trials):
            time.sleep(3)  # an episode would last longer: the pool has a desktop ready by then
            took["reset"].append(timed(lambda: env.reset(blank(size))))
        for _ in range(trials):
            took["reset at once"].append(timed(lambda: env.reset(blank(size))))
    finally:
        env.close()
    return {name: round(median(values) * 1000) for name, values in took.items()}


def forget(root: Path) -> None:
    """Have the kernel drop what it keeps in memory of the files below `root`, as after the machine's start."""
    for path in root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            fd = os.open(path, os.O_RDONLY)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)


def measure_office(trials: int) -> Figures:
    """Milliseconds from start to window, in turns: no profile and from the disk, no profile, the warmed one."""
    figures: Figures = {}
    for name in ("calc", "writer", "impress"):
        app = apps.find(name)
        took: dict[str, list[float]] = {"from disk": [], "no profile": [], "warm": []}
        for _ in range(trials):
            for kind, seconds in took.items():
                with Desktop.start(SIZES[1], warmed=kind == "warm") as desktop:
                    program = app.argv(())
                    if kind != "warm":
                        # the wrapper starts LibreOffice again once it has made a profile
                        program = ["soffice", *program[1:]]
                        shutil.rmtree(desktop.home / ".config/libreoffice")
                    if kind == "from disk":
                        forget(Path(shutil.which("soffice") or "soffice").resolve().parents[1])
                    windows = Windows(desktop.connection)
                    start = time.perf_counter()
                    desktop.spawn(program)
                    windows.wait(rf"(?i)libreoffice {name}", timeout_s=60)
                    seconds.append(time.perf_counter() - start)
        figures[name] = {kind: round(median(seconds) * 1000) for kind, seconds in took.items()}
    return figures


def proportional_set_mb() -> float:
    """PSS of every process that this one started, in MiB: shared pages counted by their share."""
    return sum(p.memory_full_info().pss for p in psutil.Process().children(recursive=True)) / 2**20


def measure_memory() -> Figures:
    """MiB a desktop: bare, and with an application; of one, and as a share of four."""
    figures: Figures = {}
    desktops: list[Desktop] = []
    before = proportional_set_mb()
    try:
        for count in range(1, 5):
            desktops.append(Desktop.start(SIZES[1]))
            if count in (1, 4):
                figures[f"bare, each of {count}"] = round((proportional_set_mb() - before) / count, 1)
        for name in ("terminal", "editor", "calc"):
            before_app = proportional_set_mb()
            app = apps.find(name)
            desktops[0].spawn(app.argv(()))
            Windows(desktops[0].connection).wait(app.wm_class)
            with Screen(desktops[0].framebuffer, desktops[0].connection) as screen:
                screen.settle()
            figures[f"{name}, on top"] = round(proportional_set_mb() - before_app, 1)
    finally:
        for desktop in desktops:
            desktop.close()
    return figures


def markdown(figures: Figures) -> str:
    """All figures as Markdown."""
    parts = [headline(figures["machine"])]
    for size, rows in figures["clicks"].items():
        columns = list(next(iter(rows.values())))
        parts += [f"### Click, {size} (ms)\n", table(["side", *columns], [[n, *r.values()] for n, r in rows.items()])]
    kinds = list(TEXTS)
    cells = [
        [name, *(f"{'exact' if row[k]['exact'] else 'wrong'}, {row[k]['seconds']:.2f} s" for k in kinds)]
        for name, row in figures["typing"].items()
    ]
    parts += ["### Typing into a GTK editor\n", table(["side", *kinds], cells)]
    for title, key in (("Start and reset (ms)", "starts"), ("Memory of a desktop (MiB, PSS)", "memory")):
        parts += [f"### {title}\n", table(list(figures[key]), [list(figures[key].values())])]
    office = [[name, *f.values()] for name, f in figures["office"].items()]
    parts += ["### LibreOffice, start to window (ms)\n", table(["", *figures["office"]["calc"]], office)]
    return "\n".join(parts)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=15, help="clicks a side and size; starts take a third of it")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    few = max(1, options.trials // 3)
    figures = {
        "machine": machine(),
        "clicks": measure_clicks(options.trials),
        "typing": measure_typing(),
        "starts": measure_starts(few),
        "office": measure_office(few),
        "memory": measure_memory(),
    }
    write(options.out, "desktop", figures, markdown(figures))


if __name__ == "__main__":
    main()
