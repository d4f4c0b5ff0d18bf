"""Generation, token by token: a KV-cached loop over one sequence.

Invariant: a log-probability is that of the distribution which the token was drawn from: after temperature, top-k,
top-p, the bar on image and control tokens, and what is left to choose from. At temperature 0 nothing is drawn; it is
then that of temperature 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor

from vlm.choice import Choice, spelling
from vlm.loading import Model


@dataclass(frozen=True)
class Sampling:
    """How to sample.  top_k: 0 for all tokens.  seed: None for another each time.  alternatives: of each token.

    choice: the texts that a reply is one of; none for any reply.
    """

    max_tokens: int
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int | None = None
    alternatives: int = 0
    choice: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sampled:
    """A sampled token.  alternatives: (id, log-probability) of the likeliest tokens there, best first."""

    id: int
    logprob: float
    alternatives: tuple[tuple[int, float], ...] = ()


def sample(model: Model, inputs: Mapping[str, npt.NDArray[Any]], sampling: Sampling) -> Iterator[Sampled]:
    """Sample until an end token, which is given too, or max_tokens.  inputs: as Renderer.inputs gives them.

    Raises ValueError for a choice that the tokenizer can't say.
    """
    chance = torch.Generator()
    if sampling.seed is None:
        chance.seed()
    else:
        chance.manual_seed(sampling.seed)
    device = model.network.device
    tensors = {name: torch.from_numpy(array).to(device) for name, array in inputs.items()}
    choice = None
    if sampling.choice:
        choice = Choice(sampling.choice, spelling(model.processor.tokenizer, tuple(model.barred)), model.ends)
    logits, cache, position = _read(model.network, tensors)
    for index in range(sampling.max_tokens):
        allowed = None if choice is None else list(choice.allowed())
        drawn = _draw(log_distribution(logits, sampling, model.barred, allowed), sampling, chance)
        if choice is not None and drawn.id not in model.ends:
            choice.said(drawn.id)
        yield drawn
        if drawn.id in model.ends or index + 1 == sampling.max_tokens:
            return
        logits = _go_on(model.network, drawn.id, cache, position + index)


def log_distribution(
    logits: Tensor, sampling: Sampling, barred: Sequence[int], allowed: Sequence[int] | None = None
) -> Tensor:
    """Log-probabilities (..., vocabulary), float32, of what is drawn from logits of that shape.

    allowed: the only ids that may be drawn; None for all that are not barred.
    """
    out = logits.float().clone()
    out[..., torch.as_tensor(barred, dtype=torch.long, device=out.device)] = -torch.inf
    if allowed is not None:
        kept = out[..., allowed]
        out.fill_(-torch.inf)
        out[..., allowed] = kept
    if sampling.temperature > 0:
        out /= sampling.temperature
        if 0 < sampling.top_k < out.shape[-1]:
            out[out < out.topk(sampling.top_k).values[..., -1:]] = -torch.inf
        if sampling.top_p < 1:
            ordered, order = out.softmax(-1).sort(descending=True)
            beyond = ordered.cumsum(-1) - ordered >= sampling.top_p
            out[beyond.scatter(-1, order, beyond)] = -torch.inf
    return out.log_softmax(-1)


def _draw(logprobs: Tensor, sampling: Sampling, chance: torch.Generator) -> Sampled:
    if sampling.temperature > 0:
        token = int(torch.multinomial(logprobs.exp(), 1, generator=chance))
    else:
        token = int(logprobs.argmax())
    best = logprobs.topk(min(sampling.alternatives, len(logprobs)))
    alternatives = tuple((int(i), float(p)) for p, i in zip(best.values, best.indices, strict=True) if p > -torch.inf)
    return Sampled(token, float(logprobs[token]), alternatives)


@torch.inference_mode()
def _read(network: Any, tensors: Mapping[str, Tensor]) -> tuple[Tensor, Any, int]:
    """Logits after a prompt (on the CPU), the cache of it, and the position of what comes next."""
    places = network.model.get_rope_index(
        tensors["input_ids"], tensors["mm_token_type_ids"], image_grid_thw=tensors.get("image_grid_thw")
    )[0]
    out = network(**tensors, position_ids=places, use_cache=True, logits_to_keep=1)
    return out.logits[0, -1].cpu(), out.cache, int(places.max()) + 1


@torch.inference_mode()
def _go_on(network: Any, token: int, cache: Any, position: int) -> Tensor:
    """Logits (on the CPU) after one more token, which the cache takes in. The place is named: a module's own memory
    of it is that of whichever prompt came last."""
    ids = torch.tensor([[token]], device=network.device)
    places = torch.full((3, 1, 1), position, device=network.device)
    logits: Tensor = network(input_ids=ids, position_ids=places, cache=cache, use_cache=True).logits[0, -1].cpu()
    return logits
