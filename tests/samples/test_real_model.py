"""Samples of a real model's calls: its own log-probabilities come out again, its pixels fit, no token is another."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image, ImageDraw

from guiforge.frame import Size, content_hash
from guiforge.outcome import Outcome, Status
from guiforge.samples import Reason, cut, image_tokens, samples_of
from guiforge.samples.sample import EpisodeSamples
from guiforge.trace import Call, EpisodeKey, Tokens
from vlm import tiny
from vlm.generate import Sampling, log_distribution, sample
from vlm.loading import load
from vlm.render import Renderer

KEY = EpisodeKey(task="toy/task", seed=0, attempt=0, harness="toy", policy="tiny")
SOLVED = Outcome(status=Status.SOLVED, reward=1.0)
CLOSE = 1e-4  # between log-probabilities in fp32


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    made = tmp_path_factory.mktemp("models") / "small"
    tiny.make(made)
    return made


class Recorded:
    """An episode that a real model plays: each call renders, samples and is kept as a proxy keeps it.

    remembers: whether the renderer goes on from the tokens that were sampled.
    """

    def __init__(self, folder: Path, remembers: bool = True) -> None:
        self.model, self.remembers = load(folder), remembers
        self.renderer = Renderer(self.model.processor)
        self.images: dict[str, bytes] = {}
        self.calls: list[Call] = []

    def screen(self, seed: int, size: Size) -> dict[str, Any]:
        """A user's message with a picture of its own."""
        image, chance = Image.new("RGB", size), random.Random(seed)
        draw = ImageDraw.Draw(image)
        for _ in range(5):
            corners = sorted(chance.choices(range(size[0]), k=2)), sorted(chance.choices(range(size[1]), k=2))
            box = [corners[0][0], corners[1][0], corners[0][1], corners[1][1]]
            draw.rectangle(box, fill=chance.choice(["red", "green", "blue", "white"]))
        buffer = io.BytesIO()
        image.save(buffer, "PNG")
        hash = content_hash(buffer.getvalue())
        self.images[hash] = buffer.getvalue()
        part = {"type": "image_url", "image_url": {"url": f"image:{hash}"}}
        return {"role": "user", "content": [part, {"type": "text", "text": f"screen {seed}"}]}

    def ask(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """The model's reply."""
        fetch = self.images.__getitem__
        rendered = self.renderer.render(messages, fetch)
        inputs = self.renderer.inputs(rendered.ids, rendered.images, fetch)
        drawn = list(sample(self.model, inputs, Sampling(max_tokens=12, seed=len(self.calls))))
        ids = [token.id for token in drawn]
        text = self.model.processor.tokenizer.decode(ids, skip_special_tokens=True)
        said = {"role": "assistant", "content": text}
        if self.remembers:
            self.renderer.remember(messages, said, ids)
        tokens = Tokens(
            prompt_ids=tuple(rendered.ids), sampled_ids=tuple(ids), logprobs=tuple(token.logprob for token in drawn)
        )
        index = len(self.calls)
        self.calls.append(
            Call(
                index=index, step=index, request={"messages": messages}, message=said, tokens=tokens, queued=index,
                last_byte=index + 1,
            )
        )  # fmt: skip
        return said

    def play(self) -> None:
        """Four turns with screens of other sizes, then another way on from the second."""
        history: list[dict[str, Any]] = []
        for turn, size in enumerate([(64, 48), (100, 80), (64, 48), (33, 90)]):
            history = [*history, self.screen(turn, size)]
            history = [*history, self.ask(history)]
        self.ask([*history[:4], self.screen(9, (64, 48))])

    def samples(self) -> EpisodeSamples:
        """What the calls come to."""
        return samples_of(KEY, self.calls, SOLVED, size_of=self.size_of, images=self.renderer.images)

    def size_of(self, hash: str) -> Size:
        """Of an image by content hash."""
        return Image.open(io.BytesIO(self.images[hash])).size


def test_the_trainers_log_probabilities_of_each_sample_are_those_that_were_recorded(folder: Path) -> None:
    episode = Recorded(folder)
    episode.play()
    made = episode.samples()
    counts = made.fidelity
    assert (counts.calls, counts.extended, counts.branched, counts.samples) == (5, 3, 1, 2)
    assert counts.reasons == {Reason.FORKED: 1}
    assert (counts.retokenised, counts.image_parity_failures, counts.trained_twice, counts.left_out) == (0, 0, 0, 0)
    halves = [cut(one, len(one) // 2) for one in made.samples]
    for one in [*made.samples, *(half for half in halves if half is not None)]:
        hashes = [image.hash for image in one.images]
        inputs = episode.renderer.inputs(one.token_ids.tolist(), hashes, episode.images.__getitem__)
        with torch.no_grad():
            tensors = {name: torch.from_numpy(array) for name, array in inputs.items()}
            logits = episode.model.network(**tensors).logits[0]
        spread = log_distribution(logits[:-1], Sampling(1), episode.model.barred)
        ids = torch.from_numpy(one.token_ids[1:]).long()
        again = spread.gather(1, ids[:, None])[:, 0].numpy()
        mask = one.mask[1:]
        assert mask.any() and abs(again[mask] - one.logprobs[1:][mask]).max() < CLOSE


def test_the_models_folder_tells_the_same_of_its_images_as_the_model(folder: Path) -> None:
    episode = Recorded(folder)
    episode.play()
    own, told = episode.samples(), image_tokens(folder)
    assert told.media_token_ids >= episode.renderer.images.media_token_ids
    read = samples_of(KEY, episode.calls, SOLVED, size_of=episode.size_of, images=told)
    assert [sample.images for sample in read.samples] == [sample.images for sample in own.samples]


def test_a_server_that_encodes_its_replies_again_is_found_out(folder: Path) -> None:
    episode = Recorded(folder, remembers=False)
    episode.play()
    counts = episode.samples().fidelity
    assert counts.retokenised >= 3 and counts.realigned == counts.retokenised
    assert (counts.trained_twice, counts.left_out) == (0, 0)
