"""Sample: one training sequence of an episode, and how the episode's branches become Samples.

Invariants: `mask` covers sampled tokens only, each of an episode's in at most one Sample, and each after exactly the
tokens that it was sampled after. Placeholder tokens and images agree (guiforge/samples/images.py). Of an episode the
weights of all trained tokens sum to 1, so that it does not matter into how many rows it fell: a loss is

    sum over Samples of weight * sum over their masked tokens of loss(token), divided by the number of episodes.

Cutting keeps the beginning of a Sample, since a token without what it was sampled after is another token.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from guiforge.frame import Size
from guiforge.outcome import Outcome
from guiforge.samples.conversation import Message, answered, asked
from guiforge.samples.fidelity import Fidelity
from guiforge.samples.images import ImageSpan, ImageTokens, Mismatch, place_images
from guiforge.samples.tree import Branch, Tree, message_tree, token_tree
from guiforge.trace import Call, EpisodeKey

Floats = npt.NDArray[np.float64]


class NeedsImageTokens(ValueError):
    """Calls hold images and tokens, and nothing says which tokens are the images'."""


@dataclass(frozen=True)
class Turn:
    """What one call sampled, as it lies in a Sample: tokens `start` up to, not with, `stop`.

    trained: whether the mask covers it here; otherwise another Sample's does.
    """

    call: int
    start: int
    stop: int
    trained: bool
    policy_version: str


@dataclass(frozen=True, eq=False)
class Sample:
    """One branch of an episode as tokens.

    token_ids: (T,) int32, images as placeholders.  mask: (T,) bool, what is trained.  logprobs: (T,) float64 under the
    policy that sampled, 0 outside of the mask, NaN where it gave none.  images: in order of their placeholders.
    turns: the calls of the branch, in order.  reward: the episode's, None where it carries none.
    rewards: (T,) float64, each masked token's r_t = gamma^(T - t) * reward, where t is its call's index among the
    episode's and T the last call's; 0 outside of the mask and without a reward.  weight: of each masked token.
    """

    episode: EpisodeKey
    token_ids: npt.NDArray[np.int32]
    mask: npt.NDArray[np.bool_]
    logprobs: Floats
    images: tuple[ImageSpan, ...]
    turns: tuple[Turn, ...]
    reward: float | None
    rewards: Floats
    weight: float = 0.0

    def __len__(self) -> int:
        return len(self.token_ids)

    @property
    def calls(self) -> tuple[int, ...]:
        """Indexes of the calls that it was made of."""
        return tuple(turn.call for turn in self.turns)


@dataclass(frozen=True)
class TextSample:
    """One branch of an episode as messages, for supervised training alone: nothing tells what tokens were sampled.

    messages: to be rendered with the student's own chat template.  tools: their declarations.
    trained: position of each trained reply in `messages`, and the call that it came of.  policy_versions: of these.
    reward: the episode's, None where it carries none.  rewards: of each trained reply, as in Sample.
    weight: of each trained reply; over an episode these sum to 1.
    """

    episode: EpisodeKey
    messages: tuple[Message, ...]
    tools: tuple[dict[str, object], ...]
    trained: tuple[tuple[int, int], ...]
    policy_versions: tuple[str, ...]
    reward: float | None
    rewards: tuple[float, ...]
    weight: float


@dataclass(frozen=True)
class EpisodeSamples:
    """What an episode's calls came to. texts: of the calls that have no tokens."""

    samples: tuple[Sample, ...]
    texts: tuple[TextSample, ...]
    fidelity: Fidelity


def samples_of(
    key: EpisodeKey, calls: Sequence[Call], outcome: Outcome | None, *, size_of: Callable[[str], Size],
    images: ImageTokens | None = None, gamma: float = 1.0, max_tokens: int | None = None,
) -> EpisodeSamples:  # fmt: skip
    """An episode's calls as Samples.

    size_of: width and height in pixels of an image by content hash.  images: of the model that sampled; needed where
    calls hold images.  max_tokens: of a Sample; the rest is left out and counted.  Raises NeedsImageTokens.
    """
    fidelity = Fidelity(calls=len(calls), silent=sum(not _spoke(call) for call in calls))
    tree = token_tree(calls)
    returns = discounted(calls, outcome, gamma)
    media = frozenset[int]() if images is None else images.media_token_ids
    wrong = sum(id in media for call in tree.calls if call.tokens is not None for id in call.tokens.sampled_ids)
    fidelity += Fidelity(sampled_image_tokens=wrong)
    samples: list[Sample] = []
    for branch in tree.branches:
        sample, failed = _branch_sample(key, branch, outcome, returns, images, size_of)
        fidelity += Fidelity(image_parity_failures=failed)
        if sample is not None:
            sample = _before_media(sample, media)
        if sample is not None and max_tokens is not None:
            sample = cut(sample, max_tokens)
        if sample is not None:
            samples.append(sample)
    weight = 1 / max(sum(int(sample.mask.sum()) for sample in samples), 1)
    weighted = tuple(replace(sample, weight=weight) for sample in samples)
    wordless = [call for call in calls if call.tokens is None]
    texts, text_tree = text_samples_of(key, wordless, outcome, gamma)
    fidelity += counted(tree, weighted) + counted_texts(text_tree, texts)
    return EpisodeSamples(weighted, texts, fidelity)


def text_samples_of(
    key: EpisodeKey, calls: Sequence[Call], outcome: Outcome | None, gamma: float = 1.0
) -> tuple[tuple[TextSample, ...], Tree]:
    """An episode's calls as messages, whether they have tokens or not, and the tree that they form by messages.

    Replies that were cut are left out.
    """
    tree, returns = message_tree(calls), discounted(calls, outcome, gamma)
    weight = 1 / max(len(tree.calls), 1)
    texts = []
    for branch in tree.branches:
        leaf = branch.path[-1]
        shown, said = asked(leaf), answered(leaf)
        assert said is not None  # the tree holds answered calls alone
        own = branch.own
        texts.append(
            TextSample(
                episode=key,
                messages=(*shown.messages, said),
                tools=shown.tools,
                trained=tuple((len(asked(call).messages), call.index) for call in own),
                policy_versions=tuple(call.policy_version for call in own),
                reward=None if outcome is None else outcome.reward,
                rewards=tuple(returns[call.index] for call in own),
                weight=weight,
            )
        )
    return tuple(texts), tree


def discounted(calls: Sequence[Call], outcome: Outcome | None, gamma: float) -> Mapping[int, float]:
    """gamma^(T - t) * reward by index of each call that sampled something; 0 where the episode carries no reward.

    t counts these calls in the order of their arrival; T is the last one's.
    """
    reward = 0.0 if outcome is None or outcome.reward is None else outcome.reward
    indexes = sorted((call.index for call in calls if _spoke(call)), reverse=True)
    return {index: gamma**left * reward for left, index in enumerate(indexes)}


def cut(sample: Sample, most: int) -> Sample | None:
    """The first `most` tokens of a Sample at the most, whole images only; None where nothing trained is left of it.

    It ends with its last trained token, since nothing is learned from what comes after it.
    """
    stop = min(most, len(sample))
    for image in sample.images:
        if image.start < stop < image.stop:
            stop = image.start
    trained = np.flatnonzero(sample.mask[:stop])
    if not len(trained):
        return None
    stop = int(trained[-1]) + 1
    turns = tuple(replace(turn, stop=min(turn.stop, stop)) for turn in sample.turns if turn.start < stop)
    return replace(
        sample,
        token_ids=sample.token_ids[:stop],
        mask=sample.mask[:stop],
        logprobs=sample.logprobs[:stop],
        rewards=sample.rewards[:stop],
        images=tuple(image for image in sample.images if image.stop <= stop),
        turns=turns,
    )


def _spoke(call: Call) -> bool:
    """Whether anything was sampled in a call that can be trained."""
    return bool(call.tokens.sampled_ids) if call.tokens is not None else call.message is not None and not call.cut


def _branch_sample(
    key: EpisodeKey, branch: Branch, outcome: Outcome | None, returns: Mapping[int, float],
    images: ImageTokens | None, size_of: Callable[[str], Size],
) -> tuple[Sample | None, int]:  # fmt: skip
    """The Sample of a branch up to its first call whose images don't agree, and how many of its own don't."""
    last = branch.path[-1]
    assert last.tokens is not None  # the tree holds calls with tokens alone
    ids = np.asarray((*last.tokens.prompt_ids, *last.tokens.sampled_ids), np.int32)
    sampled = np.zeros(len(ids), np.bool_)
    turns: list[Turn] = []
    spans: tuple[ImageSpan, ...] = ()
    failed, broken = 0, False
    for at, call in enumerate(branch.path):
        assert call.tokens is not None
        start, own = len(call.tokens.prompt_ids), at >= branch.shared
        stop = start + len(call.tokens.sampled_ids)
        try:
            placed = _images(call, ids[:start], sampled[:start], images, size_of)
        except Mismatch:
            failed, broken = failed + own, True
        if not broken:
            turns.append(Turn(call.index, start, stop, own, call.policy_version))
            spans = placed
        sampled[start:stop] = True
    if len(turns) <= branch.shared:
        return None, failed
    stop = turns[-1].stop
    mask, logprobs, rewards = np.zeros(stop, np.bool_), np.zeros(stop), np.zeros(stop)
    for turn, call in zip(turns, branch.path, strict=False):
        if turn.trained and call.tokens is not None:
            here = slice(turn.start, turn.stop)
            mask[here], rewards[here] = True, returns[call.index]
            logprobs[here] = np.nan if call.tokens.logprobs is None else call.tokens.logprobs
    reward = None if outcome is None else outcome.reward
    return Sample(key, ids[:stop], mask, logprobs, spans, tuple(turns), reward, rewards), failed


def _images(
    call: Call, prompt: npt.NDArray[np.int32], sampled: npt.NDArray[np.bool_], images: ImageTokens | None,
    size_of: Callable[[str], Size],
) -> tuple[ImageSpan, ...]:  # fmt: skip
    hashes = asked(call).images
    if images is None:
        if hashes:
            raise NeedsImageTokens(f"call {call.index} holds images; which tokens are theirs?")
        return ()
    return place_images(prompt, [(hash, size_of(hash)) for hash in hashes], images, sampled)


def _before_media(sample: Sample, media: frozenset[int]) -> Sample | None:
    """A Sample up to the first placeholder that the policy sampled: what follows can't be fed to the model again."""
    sampled = np.zeros(len(sample), np.bool_)
    for turn in sample.turns:
        sampled[turn.start : turn.stop] = True
    wrong = np.flatnonzero(sampled & np.isin(sample.token_ids, list(media)))
    return cut(sample, int(wrong[0])) if len(wrong) else sample


def counted(tree: Tree, samples: Sequence[Sample]) -> Fidelity:
    """The counts of a tree by tokens and of the Samples that were made of it."""
    trained = [
        (turn.call, position - turn.start)
        for sample in samples
        for turn in sample.turns
        for position in range(turn.start, turn.stop)
        if sample.mask[position]
    ]
    links = tree.links.values()
    return Fidelity.of_links(links) + Fidelity(
        branches=len(tree.branches),
        samples=len(samples),
        sampled_tokens=sum(len(call.tokens.sampled_ids) for call in tree.calls if call.tokens is not None),
        trained_tokens=len(trained),
        trained_twice=len(trained) - len(set(trained)),
    )


def counted_texts(tree: Tree, texts: Sequence[TextSample]) -> Fidelity:
    """The counts of a tree by messages, and of the TextSamples that were made of it."""
    return Fidelity.of_links(tree.links.values()) + Fidelity(
        text_calls=len(tree.calls), branches=len(tree.branches), text_samples=len(texts)
    )
