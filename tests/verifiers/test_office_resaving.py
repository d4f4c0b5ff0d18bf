"""LibreOffice's own saving, with nothing changed, is no difference: to the readers, and to every office family."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from envs.desktop.suites import calc, impress, writer
from envs.desktop.suites.office import first_bytes
from verifiers.document import document_difference, read_docx
from verifiers.presentation import deck_difference, read_pptx
from verifiers.spreadsheet import read_xlsx, sheet_difference

SEEDS = range(2)
FAMILIES = (*calc.FAMILIES, *writer.FAMILIES, *impress.FAMILIES)


@pytest.fixture(scope="module")
def resaved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Every family's first document as LibreOffice saves it, by `family-seed.suffix`."""
    if shutil.which("soffice") is None:
        pytest.skip("LibreOffice is not installed")
    root = tmp_path_factory.mktemp("resaving")
    for suffix in ("xlsx", "docx", "pptx"):
        (root / suffix).mkdir()
    for family in FAMILIES:
        for seed in SEEDS:
            task = family.make(seed)
            suffix = Path(task.params["file"]).suffix[1:]
            (root / suffix / f"{family.name}-{seed}.{suffix}").write_bytes(first_bytes(task))
    for suffix in ("xlsx", "docx", "pptx"):
        files = [str(path) for path in sorted((root / suffix).iterdir())]
        subprocess.run(
            ["soffice", f"-env:UserInstallation=file://{root}/profile", "--headless", "--convert-to", suffix,
             "--outdir", str(root / "out"), *files],
            check=True, capture_output=True, timeout=240, env={"HOME": str(root), "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
    return {path.name: path.read_bytes() for path in (root / "out").iterdir()}


@pytest.mark.desktop
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)
def test_saving_alone_changes_nothing(family: object, seed: int, resaved: dict[str, bytes]) -> None:
    task = family.make(seed)  # type: ignore[attr-defined]
    suffix = Path(task.params["file"]).suffix
    before, after = first_bytes(task), resaved[f"{task.id}-{seed}{suffix}"]
    assert before != after
    if suffix == ".xlsx":
        assert read_xlsx(after).names == read_xlsx(before).names
        assert sheet_difference(read_xlsx(after).first, read_xlsx(before).first) is None
    elif suffix == ".docx":
        assert document_difference(read_docx(after), read_docx(before)) is None
    else:
        assert deck_difference(read_pptx(after), read_pptx(before)) is None
