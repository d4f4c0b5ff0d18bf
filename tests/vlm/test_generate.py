"""Generation: what is drawn, and that its log-probabilities are those of a plain forward pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from guiforge.wire import text_part
from tests.vlm.pictures import Album, picture
from vlm.generate import Sampled, Sampling, log_distribution, sample
from vlm.loading import Model
from vlm.render import Rendered, Renderer

ALBUM = Album()
FIRST, SECOND = ALBUM.add(picture(0)), ALBUM.add(picture(1, (64, 96)))
SHAPES = [
    Sampling(max_tokens=24, seed=3),
    Sampling(max_tokens=24, seed=4, temperature=0.7),
    Sampling(max_tokens=24, seed=5, temperature=1.3, top_p=0.8),
    Sampling(max_tokens=24, seed=6, top_k=5),
    Sampling(max_tokens=24, temperature=0),
]


def prompt(renderer: Renderer, *images: str) -> Rendered:
    parts = [{"type": "image_url", "image_url": {"url": f"image:{image}"}} for image in images]
    return renderer.render([{"role": "user", "content": [*parts, text_part("Click on the red box")]}], ALBUM.fetch)


def drawn(model: Model, rendered: Rendered, sampling: Sampling) -> list[Sampled]:
    inputs = Renderer(model.processor).inputs(rendered.ids, rendered.images, ALBUM.fetch)
    return list(sample(model, inputs, sampling))


@torch.inference_mode()
def forced(
    model: Model, rendered: Rendered, ids: Sequence[int], sampling: Sampling, images: dict[str, bytes] = ALBUM.images
) -> npt.NDArray[Any]:
    """Log-probabilities of the ids after the prompt, from one pass over all of it that keeps no cache."""
    inputs = Renderer(model.processor).inputs([*rendered.ids, *ids], rendered.images, images.__getitem__)
    tensors = {name: torch.from_numpy(array) for name, array in inputs.items()}
    logits = model.network(**tensors, use_cache=False).logits[0, len(rendered.ids) - 1 : -1]
    found: npt.NDArray[Any] = log_distribution(logits, sampling, model.barred)[range(len(ids)), list(ids)].numpy()
    return found


@pytest.mark.parametrize("images", [(), (FIRST,), (FIRST, SECOND, FIRST)], ids=len)
@pytest.mark.parametrize("sampling", SHAPES, ids=str)
def test_log_probabilities_are_those_of_a_forward_pass(
    model: Model, sampling: Sampling, images: tuple[str, ...]
) -> None:
    rendered = prompt(Renderer(model.processor), *images)
    tokens = drawn(model, rendered, sampling)
    ids = [token.id for token in tokens]
    assert len(ids) == 24 or ids[-1] in model.ends
    assert np.abs(forced(model, rendered, ids, sampling) - [token.logprob for token in tokens]).max() < 1e-4


def test_a_prompt_in_between_changes_nothing(model: Model) -> None:
    """The module remembers where the last prompt stood; a reply must not depend on it."""
    long, short = prompt(Renderer(model.processor), FIRST, FIRST), prompt(Renderer(model.processor))
    alone = drawn(model, long, SHAPES[0])
    inputs = Renderer(model.processor).inputs(long.ids, long.images, ALBUM.fetch)
    tokens = []
    for token in sample(model, inputs, SHAPES[0]):
        drawn(model, short, replace(SHAPES[1], max_tokens=2))
        tokens.append(token)
    assert tokens == alone


def test_the_seed_decides(model: Model) -> None:
    rendered = prompt(Renderer(model.processor), FIRST)
    once, again, other, unseeded = (
        [token.id for token in drawn(model, rendered, replace(SHAPES[0], seed=seed))] for seed in (1, 1, 2, None)
    )
    assert once == again != other and unseeded != once


def test_control_and_image_tokens_are_never_drawn_even_where_they_are_likeliest(model: Model) -> None:
    logits = torch.zeros(model.network.config.text_config.vocab_size)
    logits[model.barred] = 50
    out = log_distribution(logits, SHAPES[0], model.barred)
    assert torch.isinf(out[model.barred]).all() and float(out.exp().sum()) == pytest.approx(1)
    assert model.processor.image_token_id in model.barred and not model.ends & set(model.barred)


def test_the_distribution_is_that_of_a_written_out_computation() -> None:
    logits = np.random.default_rng(0).normal(size=12).astype(np.float32)
    barred, sampling = [2, 3], Sampling(max_tokens=1, temperature=0.5, top_k=6, top_p=0.7)
    weights = np.exp(logits.astype(float) / 0.5)
    weights[barred] = 0
    order = np.argsort(-weights)
    weights[order[6:]] = 0
    weights /= weights.sum()
    kept = np.searchsorted(np.cumsum(weights[order]), 0.7) + 1
    weights[order[kept:]] = 0
    weights /= weights.sum()
    out = log_distribution(torch.from_numpy(logits), sampling, barred).exp().numpy()
    assert np.allclose(out, weights, atol=1e-6) and (out > 0).sum() == kept


def test_draws_follow_the_distribution(model: Model) -> None:
    """1,000 first tokens: each share lies within five standard deviations of its probability."""
    sampling = Sampling(max_tokens=1, top_k=3, alternatives=3)
    rendered = prompt(Renderer(model.processor))
    found = [drawn(model, rendered, replace(sampling, seed=seed))[0] for seed in range(1000)]
    for id, logprob in found[0].alternatives:
        share = np.exp(logprob)
        assert abs(np.mean([token.id == id for token in found]) - share) < 5 * np.sqrt(share * (1 - share) / 1000)
