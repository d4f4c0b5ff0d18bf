"""The tiny model: a folder as any model's, a tokenizer that loses nothing, coordinates as single tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModelForImageTextToText, AutoTokenizer

from guiforge.action import Click
from guiforge.dialects.kimi import Kimi
from guiforge.dialects.molmoweb import MolmoWeb
from tests.vlm.pictures import picture
from vlm import tiny
from vlm.images import read_image
from vlm.loading import ImageTextProcessor, Model, UnusableModel, load

SCREEN = (160, 160)
MIDDLES = [round((cell + 0.5) * SCREEN[0] / tiny.CELLS) for cell in range(tiny.CELLS)]


def test_the_folder_loads_as_any_models_does(folder: Path) -> None:
    found = AutoModelForImageTextToText.from_pretrained(folder, local_files_only=True)
    assert found.config.model_type == "qwen3_vl"
    assert sum(weight.numel() for weight in found.parameters()) < 1_500_000
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    assert len(tokenizer) == found.config.text_config.vocab_size
    assert '"processor_class": "Qwen3VLProcessor"' in (folder / "processor_config.json").read_text()
    assert ImageTextProcessor.from_pretrained(folder).tokenizer.get_vocab() == tokenizer.get_vocab()


def test_the_same_seed_makes_the_same_weights_and_another_others(model: Model, tmp_path: Path) -> None:
    for seed in (0, 1):
        tiny.make(tmp_path / str(seed), seed=seed)
    same, other = (load(tmp_path / str(seed)).network.state_dict() for seed in (0, 1))
    mine = model.network.state_dict()
    assert all(torch.equal(mine[name], same[name]) for name in mine)
    assert not torch.equal(mine["lm_head.weight"], other["lm_head.weight"])


@given(st.text())
def test_every_text_comes_back_unchanged(model: Model, text: str) -> None:
    tokenizer = model.processor.tokenizer
    ids = tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
    assert tokenizer.decode(ids, skip_special_tokens=True) == text


@pytest.mark.parametrize("pixel", MIDDLES)
def test_a_click_that_a_harness_reads_is_a_phrase_and_two_coordinates(model: Model, pixel: int) -> None:
    tokenizer: Any = model.processor.tokenizer
    text = MolmoWeb(think=False).render((Click(x=pixel, y=pixel),), SCREEN)
    assert len(tokenizer.encode(text)) == 5, tokenizer.tokenize(text)
    code = Kimi().render((Click(x=pixel, y=pixel),), SCREEN).rpartition("```python\n")[2]
    assert "pyautogui.click(x=" in tokenizer.tokenize(code)


def test_the_words_of_given_texts_are_single_tokens() -> None:
    tokenizer = tiny.make_tokenizer(["Grüße, an 12.75 zebras"])
    assert [tokenizer.decode([id]) for id in tokenizer.encode("Grüße, an 12.75 zebras")] == [
        "Grüße", ", ", "an", " ", "12.75", " zebras",
    ]  # fmt: skip


@torch.inference_mode()
def test_another_image_changes_what_comes_next(model: Model) -> None:
    prompt = "<|vision_start|><|image_pad|><|vision_end|>click"
    seen = [
        model.network(**model.processor(images=[read_image(picture(seed))], text=[prompt], return_tensors="pt"))
        for seed in (0, 1)
    ]
    assert (seen[0].logits[0, -1] - seen[1].logits[0, -1]).abs().max() > 0.01


def test_a_folder_without_a_model_is_said(tmp_path: Path) -> None:
    with pytest.raises(UnusableModel, match="holds no model"):
        load(tmp_path)
