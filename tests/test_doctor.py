"""The doctor names what is missing and the command that mends it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from envs.desktop.apps import APPS
from envs.desktop.sandbox import isolation
from guiforge import doctor

LISTED = {
    line.partition("#")[0].strip()
    for line in (Path(__file__).parent.parent / "images" / "packages-desktop.txt").read_text().splitlines()
} - {""}


@pytest.fixture(autouse=True)
def _isolation_is_found_out_anew() -> Iterator[None]:
    isolation.cache_clear()
    yield
    isolation.cache_clear()


def _run() -> tuple[int, str]:
    text = io.StringIO()
    code = doctor.run(Console(file=text, width=200))
    return code, text.getvalue()


def test_a_machine_that_was_set_up_has_no_failing_check() -> None:
    code, text = _run()
    assert code == 0, text
    assert "0 failed" in text


def test_without_programs_each_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(doctor, "_debian", lambda: True)
    code, text = _run()
    assert code == 1
    for program in doctor.PROGRAMS:
        assert f"{program.command}: not on PATH" in text
        assert f"apt-get install -y --no-install-recommends {program.package}" in text
    assert "isolation: desktops share network: bubblewrap is not installed" in text
    for script, (_, package) in doctor.FONTS.items():
        assert f"{script} font: no font draws" in text and package in text


def test_elsewhere_the_advice_names_no_apt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(doctor, "_debian", lambda: False)
    missing = [c for c in doctor.checks() if c.level == "fail"]
    assert missing and all(c.fix and "apt-get" not in c.fix for c in missing)


def test_whatever_is_not_ok_carries_a_fix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert all(c.fix for c in doctor.checks() if c.level != "ok")


@pytest.mark.parametrize(("version", "level"), [("99.0.1", "fail"), ("130.0.1", "warn")])
@pytest.mark.parametrize(
    ("program", "name"), [("chromium", "Chromium version"), ("chromium-headless-shell", "headless shell version")]
)
def test_an_old_chromium_fails_and_another_than_playwrights_warns(
    program: str, name: str, version: str, level: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    chromium = tmp_path / program
    chromium.write_text(f"#!/bin/sh\necho Chromium {version} built for a test\n")
    chromium.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (found,) = [c for c in doctor.checks() if c.name == name]
    assert found.level == level and version.split(".")[0] in found.detail
    assert f"--no-install-recommends {program}" in found.fix


def test_what_the_doctor_names_is_what_setup_installs() -> None:
    named = {package for program in doctor.PROGRAMS for package in program.package.split()}
    named |= {package for _, package in doctor.FONTS.values()}
    assert named <= LISTED


def test_every_application_that_a_task_may_launch_is_looked_for() -> None:
    looked_for = " ".join(f"{program.command} {program.use}" for program in doctor.PROGRAMS)
    assert not [name for name in APPS if name not in looked_for]
