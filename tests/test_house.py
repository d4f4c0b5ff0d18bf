"""What holds for the whole repository: its arrows, its imports, its entry points, and what no file may contain."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("guiforge", "envs", "vlm", "verifiers")
TRACKED = [
    ROOT / line
    for line in subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    if (ROOT / line).is_file()
]
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
POINTS = [point for group in ("envs", "suites", "harnesses") for point in entry_points(group=f"guiforge.{group}")]

# pieces are joined here so that this file does not contain what it looks for
REGISTRIES = re.compile(
    "|".join(["pypi" + r"\.org", "python" + r"hosted\.org", r"npmjs" + r"\.org", r"deb\.deb" + "ian"])
)
MACHINE_PATHS = re.compile("|".join(rf"(?<![\w.~$}}-])/{top}/" for top in ("wo" + "rk", "ro" + "ot")))


@pytest.mark.parametrize("point", POINTS, ids=lambda p: f"{p.group}:{p.name}")
def test_every_entry_point_loads(point: EntryPoint) -> None:
    assert callable(point.load())


@pytest.mark.parametrize("module", ["guiforge.cli", "guiforge.fleet"])
def test_the_core_starts_without_torch_and_without_an_x_client(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({{m.partition('.')[0] for m in sys.modules}}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "transformers", "Xlib", "playwright"} & set(loaded)


def test_the_import_arrows_point_down() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_module_says_what_it_is_and_fits_a_reading(path: Path) -> None:
    text = path.read_text()
    assert ast.get_docstring(ast.parse(text)), "no module docstring"
    assert text.count("\n") <= 400, "a file past 400 lines is two files"


def test_no_tracked_file_names_a_registry_host_or_a_path_of_one_machine() -> None:
    found = []
    for path in TRACKED:
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if REGISTRIES.search(line) or MACHINE_PATHS.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert not found, "\n".join(found)


def test_constraints_pin_exact_versions_alone() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line and not line.startswith("#")]
    assert lines and not [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+", line)]
    assert not {"torch", "pip"} & {line.split("==")[0].lower() for line in lines}
