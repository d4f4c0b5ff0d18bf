"""Samples: images agree with their placeholders, cutting keeps whole images, rewards and weights are the episode's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guiforge.outcome import Outcome, Status
from guiforge.samples import Mismatch, NeedsImageTokens, Reason, Runs, Sample, cut, place_images, samples_of
from guiforge.samples.sample import EpisodeSamples
from tests.samples.toy import CLOSE, END, IMAGE, KEY, OPEN, VIDEO, Episode, ToyImages, letters, said, size_of, user

Floats = npt.NDArray[np.float64]
FAULT = Outcome.fault(Status.ENV_ERROR, "the display died")


def three_turns(episode: Episode, keep_history: bool = True) -> EpisodeSamples:
    """An episode of three calls with one screen each, as one branch or, without its history, as three."""
    history: list[dict[str, Any]] = []
    for turn, reply in enumerate(("ca", "ccab", "a")):
        screen = user("go", f"20x20-{turn}")
        history = [*history, screen] if keep_history else [screen]
        call = episode.ask(history, reply)
        history.append(dict(call.message or {}))
    return episode.samples()


def test_a_sample_carries_its_images_by_hash_with_the_placeholders_that_each_fills() -> None:
    (sample,) = three_turns(Episode()).samples
    assert [image.hash for image in sample.images] == ["20x20-0", "20x20-1", "20x20-2"]
    for image in sample.images:
        around = sample.token_ids[[image.start - 1, image.stop]].tolist()
        assert image.stop - image.start == 4 and around == [OPEN, CLOSE]
    assert [turn.policy_version for turn in sample.turns] == ["v0", "v0", "v1"]
    assert sample.calls == (0, 1, 2) and sample.token_ids.dtype == np.int32


def test_an_image_with_too_few_placeholders_is_left_out_with_what_follows_and_counted() -> None:
    episode = Episode()
    history = [user("go", "20x20-0"), said("ok"), user("more", "20x20-1")]
    episode.ask(history[:1], "ok")
    broken = episode.prompt_of(history)
    broken.remove(IMAGE)
    episode.ask(history, "bad", prompt=broken)
    episode.ask([*history, said("bad"), user("and")], "worse")
    made = episode.samples()
    (sample,) = made.samples
    assert sample.calls == (0,) and [image.hash for image in sample.images] == ["20x20-0"]
    assert made.fidelity.image_parity_failures == 2  # the last call holds the same images and placeholders
    assert made.fidelity.left_out == len("bad.worse.")


def test_placeholders_that_belong_to_another_image_are_a_mismatch_though_their_number_is_right() -> None:
    ids = np.array([OPEN, *[IMAGE] * 4, CLOSE, OPEN, *[IMAGE] * 9, CLOSE], np.int32)
    sound = place_images(ids, [("a", (20, 20)), ("b", (30, 30))], ToyImages())
    assert [(image.start, image.stop) for image in sound] == [(1, 5), (7, 16)]
    with pytest.raises(Mismatch, match="run into another"):
        place_images(ids, [("b", (30, 30)), ("a", (20, 20))], ToyImages())


def test_images_without_anything_between_them_and_images_of_several_rows_are_told_apart_by_their_counts() -> None:
    touching = np.array([7, *[IMAGE] * 13, 8], np.int32)
    assert [(i.start, i.stop) for i in place_images(touching, [("a", (20, 20)), ("b", (30, 30))], ToyImages())] == [
        (1, 5), (5, 14),
    ]  # fmt: skip
    rows = np.array([7, IMAGE, IMAGE, 90, IMAGE, IMAGE, 91, IMAGE], np.int32)
    assert [(i.start, i.stop) for i in place_images(rows, [("a", (20, 20)), ("c", (10, 10))], ToyImages())] == [
        (1, 6), (7, 8),
    ]  # fmt: skip


def test_without_counts_each_unbroken_run_is_an_image() -> None:
    runs = Runs(IMAGE, frozenset({IMAGE}))
    ids = np.array([OPEN, *[IMAGE] * 4, CLOSE, OPEN, IMAGE, CLOSE], np.int32)
    assert [(i.start, i.stop) for i in place_images(ids, [("a", (1, 1)), ("b", (1, 1))], runs)] == [(1, 5), (7, 8)]
    with pytest.raises(Mismatch):
        place_images(ids, [("a", (1, 1))], runs)


def test_images_without_a_word_on_their_tokens_are_an_error_not_a_guess() -> None:
    episode = Episode()
    episode.ask([user("go", "20x20-0")], "ok")
    with pytest.raises(NeedsImageTokens):
        samples_of(KEY, episode.calls, None, size_of=size_of)


def test_a_sampled_image_token_ends_its_sample_and_is_counted() -> None:
    episode = Episode()
    history = [user("go", "20x20-0")]
    episode.ask(history, "ok?", sampled=[*letters("ok"), IMAGE, *letters("x"), END])
    episode.ask([*history, said("ok?"), user("more", "20x20-1")], "next")
    episode.ask([user("other")], "fine", sampled=[VIDEO, END])
    made = episode.samples()
    (sample,) = made.samples
    assert sample.token_ids[sample.mask].tolist() == letters("ok")
    assert [image.hash for image in sample.images] == ["20x20-0"]
    assert made.fidelity.sampled_image_tokens == 2 and made.fidelity.image_parity_failures == 0
    assert made.fidelity.left_out == 3 + len("next.") + 2


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 80))
def test_cutting_keeps_a_beginning_with_whole_images(most: int) -> None:
    (sample,) = three_turns(Episode()).samples
    short = cut(sample, most)
    if short is None:
        assert most <= sample.turns[0].start
        return
    length = len(short)
    assert length <= most and short.mask[-1]
    assert np.array_equal(short.token_ids, sample.token_ids[:length])
    for name in ("mask", "logprobs", "rewards"):
        assert np.array_equal(getattr(short, name), getattr(sample, name)[:length])
    assert int((short.token_ids == IMAGE).sum()) == sum(image.stop - image.start for image in short.images)
    assert short.turns[-1].stop == length
    longer = [turn.stop for turn in sample.turns if turn.stop <= most]
    assert length >= max(longer, default=0)


def test_tokens_past_the_limit_are_counted_and_the_weights_still_sum_to_one() -> None:
    episode = Episode()
    whole = three_turns(episode)
    limit = whole.samples[0].turns[1].stop
    made = episode.samples(max_tokens=limit)
    assert made.fidelity.left_out == 2 and len(made.samples[0]) == limit
    assert sum(sample.weight * int(sample.mask.sum()) for sample in made.samples) == pytest.approx(1)


def test_the_reward_is_discounted_by_the_calls_that_were_left() -> None:
    episode = Episode()
    three_turns(episode)
    episode.ask([user("nothing comes")], "", message=None, tokens=None, error="gone")  # no call that acted
    (sample,) = episode.samples(Outcome(status=Status.FAILED, reward=0.5), gamma=0.5).samples
    for turn, reward in zip(sample.turns, (0.125, 0.25, 0.5), strict=True):
        assert set(sample.rewards[turn.start : turn.stop].tolist()) == {reward}
    assert not sample.rewards[~sample.mask].any() and sample.reward == 0.5
    (plain,) = episode.samples().samples
    assert set(plain.rewards[plain.mask].tolist()) == {1.0}


def test_an_episode_that_a_fault_ended_has_no_reward_anywhere() -> None:
    episode = Episode()
    three_turns(episode)
    (sample,) = episode.samples(FAULT).samples
    assert sample.reward is None and not sample.rewards.any()


def gradient(samples: Sequence[Sample], logits: Floats, advantage: float) -> Floats:
    """Of the loss in the docstring of sample.py for a model that knows how often tokens come: (V,)."""
    odds = np.exp(logits) / np.exp(logits).sum()
    total = np.zeros_like(logits)
    for sample in samples:
        for token in sample.token_ids[sample.mask]:
            total += sample.weight * advantage * (odds - np.eye(len(logits))[token])
    return total


def test_splitting_an_episode_into_three_rows_leaves_its_gradient_unchanged() -> None:
    one, three = three_turns(Episode()), three_turns(Episode(), keep_history=False)
    assert (len(one.samples), len(three.samples)) == (1, 3)
    logits = np.random.default_rng(0).normal(size=400)
    whole, split = gradient(one.samples, logits, 0.7), gradient(three.samples, logits, 0.7)
    assert np.allclose(whole, split, rtol=0, atol=1e-15) and np.abs(whole).max() > 0.01
    by_row = [gradient([s], logits, 0.7) / (s.weight * s.mask.sum()) for s in three.samples]
    assert not np.allclose(whole, sum(by_row) / 3, atol=1e-3)  # a mean over rows would change it


def test_calls_without_tokens_become_text_for_supervised_training_alone() -> None:
    episode = Episode()
    history = [{"role": "system", "content": "be good"}, user("go", "20x20-0")]
    episode.ask(history, "one", tokens=None)
    history = [*history, said("one"), user("more", "20x20-1")]
    episode.ask(history, "two", tokens=None)
    episode.ask([history[0], user("go", "20x20-0"), said("one"), user("elsewhere")], "three", tokens=None)
    episode.ask(history, "tw", tokens=None, cut=True)  # half a reply is nothing to teach
    made = episode.samples()
    assert made.samples == ()
    first, second = made.texts
    assert [message.text for message in first.messages] == ["be good", "go", "one", "more", "two"]
    assert first.trained == ((2, 0), (4, 1)) and second.trained == ((4, 2),)  # `one` is trained once
    assert first.messages[1].images == ("20x20-0",)
    assert (first.weight, first.rewards, first.policy_versions) == (1 / 3, (1.0, 1.0), ("v0", "v0"))
    counts = made.fidelity
    assert (counts.calls, counts.silent, counts.text_calls, counts.text_samples) == (4, 1, 3, 2)
    assert counts.reasons == {Reason.FORKED: 1}


def test_tokens_and_texts_of_one_episode_are_kept_apart() -> None:
    episode = Episode()
    episode.ask([user("go")], "one")
    episode.ask([user("go"), said("one"), user("more")], "two", tokens=None)
    made = episode.samples()
    assert [sample.calls for sample in made.samples] == [(0,)]
    assert [text.trained for text in made.texts] == [((3, 1),)]


def test_log_probabilities_that_a_policy_does_not_give_are_not_numbers() -> None:
    episode = Episode()
    call = episode.ask([user("go")], "one")
    assert call.tokens is not None
    episode.calls[0] = call.model_copy(update={"tokens": call.tokens.model_copy(update={"logprobs": None})})
    (sample,) = episode.samples().samples
    assert np.isnan(sample.logprobs[sample.mask]).all() and not np.isnan(sample.logprobs[~sample.mask]).any()
