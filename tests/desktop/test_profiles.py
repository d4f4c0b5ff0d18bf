"""Warmed profiles: made by the application itself, once, whole; and what they spare an agent."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from envs.desktop import apps, warming
from envs.desktop.desktop import Desktop
from envs.desktop.env import DesktopEnv
from envs.desktop.windows import Windows
from guiforge.task import Launch, Task

pytestmark = pytest.mark.desktop
CALCULATOR = apps.find("calculator")


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GUIFORGE_CACHE", str(tmp_path))
    return tmp_path / "profiles"


def test_a_profile_is_made_once_however_many_ask_at_once(empty_cache: Path) -> None:
    with ThreadPoolExecutor(3) as threads:
        made = list(threads.map(lambda _: warming.warm(CALCULATOR), range(3)))
    assert sorted(made) == [False, False, True]
    (layer,) = (path for path in empty_cache.iterdir() if path.name.startswith("calculator-"))
    assert (layer / ".config/galculator/galculator.conf").is_file()
    with Desktop.start((640, 480)) as desktop:
        found = desktop.home / ".config/galculator/galculator.conf"
        assert found.read_bytes() == (layer / ".config/galculator/galculator.conf").read_bytes()
        assert found.stat().st_uid == desktop.uid


def test_a_maker_that_fails_leaves_no_profile_and_the_next_makes_it(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(app: apps.App, target: Path) -> None:
        (target / "half").write_text("half a profile")
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(warming, "_make", fails)
        with pytest.raises(KeyboardInterrupt):
            warming.warm(CALCULATOR)
    assert warming.warm(CALCULATOR)
    (layer,) = (path for path in empty_cache.iterdir() if path.name.startswith("calculator-"))
    assert not (layer / "half").exists()


@pytest.mark.parametrize("name", ["calc", "writer", "impress", "gimp", "vlc", "chromium"])
def test_an_application_asks_nothing_on_its_first_start(name: str) -> None:
    env = DesktopEnv()
    try:
        env.reset(Task(suite="t", id="t", seed=0, instruction="", setup=(Launch(app=name),)))
        windows = env.oracle_view().windows()
        assert len(windows) == 1, windows
        assert env.snapshot()[0].queries["left_out"] == []
    finally:
        env.close()


def test_launchers_and_associations_start_what_tasks_start() -> None:
    with Desktop.start((800, 600)) as desktop:
        launchers = desktop.home / ".local/share/applications"
        for app in apps.APPS.values():
            assert f"Exec={' '.join(app.command)} %F" in (launchers / app.desktop_file).read_text().splitlines()
        (desktop.home / "note.txt").write_text("hello")
        desktop.spawn(["pcmanfm", "/home/user/note.txt"])
        window = Windows(desktop.connection).wait("note.txt", timeout_s=30)
        assert window is not None and window.wm_class.startswith("mousepad")


def test_an_unknown_application_is_refused_with_the_valid_ones() -> None:
    with pytest.raises(apps.UnknownApp, match="no application 'word'; valid are: calc, writer"):
        apps.find("word")
