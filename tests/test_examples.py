"""The examples run as their READMEs say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from guiforge.action import Click
from guiforge.cli.rollout import read_spec
from guiforge.dialects.kimi import Kimi

EXAMPLES = Path(__file__).parent.parent / "examples"


def installed(name: str, tmp_path: Path) -> dict[str, str]:
    """An environment in which Python finds an example and its metadata, as after `pip install`."""
    example = EXAMPLES / name
    project = tomllib.loads((example / "pyproject.toml").read_text())["project"]
    info = tmp_path / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    (info / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in points.items())
            for group, points in project["entry-points"].items()
        )
    )
    return os.environ | {"PYTHONPATH": os.pathsep.join((str(tmp_path), str(example)))}


@pytest.mark.desktop
def test_somebody_elses_agent_solves_a_task_as_a_harness(tmp_path: Path) -> None:
    command = [
        str(Path(sys.executable).with_name("guiforge")), "rollout", "--env", "osworld-like",
        "--tasks", "infeasible_editor_layout", "--harness", "lineagent",
        "--policy", "oracle", "--out", str(tmp_path / "run"),
    ]  # fmt: skip
    done = subprocess.run(command, env=installed("third_party_harness", tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "infeasible_ok" in done.stdout, done.stdout


GUIFORGE = Path(sys.executable).with_name("guiforge")


def test_somebody_elses_suite_is_found(tmp_path: Path) -> None:
    env = installed("third_party_suite", tmp_path)
    done = subprocess.run([GUIFORGE, "tasks", "touch"], env=env, capture_output=True, text=True)
    assert done.returncode == 0 and "Make an empty file ~/note-0.txt." in done.stdout, done.stdout + done.stderr


@pytest.mark.desktop
def test_somebody_elses_suite_holds_what_the_linter_asks(tmp_path: Path) -> None:
    env = installed("third_party_suite", tmp_path)
    done = subprocess.run([GUIFORGE, "lint", "touch", "--concurrency", "1"], env=env, capture_output=True, text=True)
    assert done.returncode == 0 and ", 0 findings" in done.stdout, done.stdout + done.stderr


def test_the_example_spec_is_one() -> None:
    spec, env = read_spec(EXAMPLES / "episode.json")
    env.close()
    assert spec.limits == {"steps": 20}


def test_the_reply_in_the_readme_is_read() -> None:
    readme = (EXAMPLES.parent / "README.md").read_text()
    shown = re.search(r"^    ## Thought\n(?:    .*\n)+", readme, re.MULTILINE)
    assert shown is not None
    parsed = Kimi().parse(textwrap.dedent(shown[0]), (1000, 1000))
    assert [type(action) for action in parsed.actions] == [Click]
