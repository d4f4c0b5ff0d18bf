"""A pool and its env: no desktop is lost, whatever interrupts; profiles are made before an episode's clock runs."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from envs.desktop import apps, env, profiles, warming
from envs.desktop.desktop import Desktop
from envs.desktop.env import DesktopEnv
from envs.desktop.pool import Pool
from guiforge.env import EnvError
from guiforge.task import Task
from tests.desktop.places import Traces, eventually

pytestmark = pytest.mark.desktop
SMALL = (640, 480)
TASK = Task(suite="t", id="t", seed=0, instruction="", screen=SMALL)


class Deadline(Exception):
    """What a phase's clock raises, anywhere."""


def interrupt(*_: object) -> NoReturn:
    raise Deadline


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Traces]]:
    """What every desktop that starts meanwhile has."""
    traces: list[Traces] = []
    start = Desktop.start

    def noting(*args: Any, **options: Any) -> Desktop:
        desktop = start(*args, **options)
        traces.append(Traces.of(desktop))
        return desktop

    monkeypatch.setattr(Desktop, "start", noting)
    yield traces


@pytest.mark.parametrize("problem", [Deadline, EnvError("a11y", "is not there")])
def test_a_desktop_whose_parts_fail_ends_and_the_next_reset_is_whole(
    started: list[Traces], monkeypatch: pytest.MonkeyPatch, problem: Any
) -> None:
    def fails(desktop: Desktop) -> NoReturn:
        raise problem

    desktops = DesktopEnv()
    try:
        with monkeypatch.context() as broken:
            broken.setattr(env, "World", fails)
            with pytest.raises(Deadline if problem is Deadline else EnvError):
                desktops.reset(TASK)
        assert len(started) == 1
        assert eventually(lambda: not started[0].left()), started[0].left()
        assert desktops.reset(TASK).frame.size == SMALL
    finally:
        desktops.close()
    assert [traces.left() for traces in started] == [[]] * len(started)


def test_a_desktop_that_starts_while_its_taker_is_interrupted_ends_with_the_pool(started: list[Traces]) -> None:
    pool = Pool()
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with pytest.raises(Deadline):
            pool.take(SMALL)
    finally:
        signal.signal(signal.SIGALRM, before)
        pool.close()
    assert [traces.left() for traces in started] == [[]]


def test_a_taken_desktop_ends_with_its_pool(started: list[Traces]) -> None:
    pool = Pool()
    pool.take(SMALL)
    pool.prepare(SMALL)
    pool.close()
    pool.close()
    assert [traces.left() for traces in started] == [[], []]


def test_profiles_are_made_before_the_first_reset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUIFORGE_CACHE", str(tmp_path))
    monkeypatch.setattr(profiles, "APPS", {"calculator": apps.find("calculator")})
    desktops = DesktopEnv()
    try:
        assert list((tmp_path / "profiles").glob("calculator-*"))
    finally:
        desktops.close()


def test_a_profile_that_can_not_be_made_is_the_reset_s_fault_and_names_the_application(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(app: apps.App, target: Path) -> NoReturn:
        raise EnvError(app.name, "showed no window")

    monkeypatch.setenv("GUIFORGE_CACHE", str(tmp_path))
    monkeypatch.setattr(warming, "_make", fails)
    desktops = DesktopEnv()
    try:
        with pytest.raises(EnvError, match="showed no window"):
            desktops.reset(TASK)
    finally:
        desktops.close()
