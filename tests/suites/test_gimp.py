"""The GIMP families: grading of right, wrong and half-done work, over several seeds."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from envs.desktop.suites.gimp import FAMILIES
from guiforge.task import Family
from tests.suites.families import SEEDS, check_family, check_variety, verdict_on
from verifiers.files import put_files


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_solutions_pass_and_near_misses_do_not(family: Family, seed: int) -> None:
    check_family(family, seed)


def test_seeds_vary_the_task() -> None:
    check_variety(FAMILIES)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("method", [Image.Resampling.BOX, Image.Resampling.NEAREST, Image.Resampling.LANCZOS])
@pytest.mark.parametrize("quality", [60, 95])
def test_a_scaled_picture_passes_by_any_method_and_at_any_usual_quality(
    seed: int, method: Image.Resampling, quality: int
) -> None:
    family = next(f for f in FAMILIES if f.name == "gimp_scale_export")
    task = family.make(seed)
    original = Image.open(io.BytesIO(put_files(task)[task.params["picture"]]))
    out = io.BytesIO()
    original.resize(tuple(task.params["size"]), method).save(out, task.params["format"], quality=quality)
    verdict = verdict_on(family, task, {task.params["target"]: out.getvalue()})
    assert verdict.passed, verdict.reasons


@pytest.mark.parametrize("seed", SEEDS)
def test_a_scaled_picture_with_a_shape_missing_fails(seed: int) -> None:
    family = next(f for f in FAMILIES if f.name == "gimp_scale_export")
    task = family.make(seed)
    scaled = Image.open(io.BytesIO(put_files(task)[task.params["picture"]])).resize(tuple(task.params["size"]))
    width, height = scaled.size
    box = (width // 20, height // 20, width * 2 // 5, height // 2)  # where the sun is
    scaled.paste(scaled.crop((0, 0, 1, 1)).resize((box[2] - box[0], box[3] - box[1])), box)
    out = io.BytesIO()
    scaled.save(out, task.params["format"])
    assert verdict_on(family, task, {task.params["target"]: out.getvalue()}).score == 0
