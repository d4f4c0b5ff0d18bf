"""What a model's folder tells of its images is what its own processor makes of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from guiforge.samples.images import Patches, Runs, image_tokens

SIDES = st.integers(1, 3000)


@settings(max_examples=300, deadline=None)
@given(
    st.tuples(SIDES, SIDES), st.sampled_from([(14, 2), (16, 2), (8, 1)]), st.sampled_from([(3136, 1003520), (64, 4096)])
)
def test_the_number_of_cells_is_the_processors_own(
    size: tuple[int, int], sides: tuple[int, int], pixels: tuple[int, int]
) -> None:
    (patch, merge), (least, most) = sides, pixels
    limits = {"shortest_edge": least, "longest_edge": most}
    processor = Qwen2VLImageProcessorPil(patch_size=patch, merge_size=merge, size=limits)
    tokens = Patches(1, frozenset({1}), patch * merge, least, most)
    try:
        own = processor.get_number_of_image_patches(size[1], size[0], {}) // merge**2
    except ValueError:
        with pytest.raises(ValueError, match="too long"):
            tokens.tokens_of(size)
    else:
        assert tokens.tokens_of(size) == own


def folder(where: Path, config: object, processor: object = None) -> Path:
    (where / "config.json").write_text(json.dumps(config))
    if processor is not None:
        (where / "preprocessor_config.json").write_text(json.dumps(processor))
    return where


def test_a_qwen_folder_tells_the_tokens_of_each_size(tmp_path: Path) -> None:
    processor = {
        "image_processor_type": "Qwen2VLImageProcessorFast", "patch_size": 16, "merge_size": 2,
        "size": {"shortest_edge": 4096, "longest_edge": 16777216},
    }  # fmt: skip
    tokens = image_tokens(folder(tmp_path, {"image_token_id": 151655, "video_token_id": 151656}, processor))
    assert tokens.token_id == 151655 and tokens.media_token_ids == frozenset({151655, 151656})
    assert tokens.tokens_of((1280, 720)) == 40 * 22


def test_of_another_model_the_placeholder_alone_is_known(tmp_path: Path) -> None:
    tokens = image_tokens(folder(tmp_path, {"image_token_index": 32000}))
    assert tokens == Runs(32000, frozenset({32000})) and tokens.tokens_of((336, 336)) is None


def test_a_folder_of_a_model_without_images_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="image_token_id"):
        image_tokens(folder(tmp_path, {"vocab_size": 3}))
