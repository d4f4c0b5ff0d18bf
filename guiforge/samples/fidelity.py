"""Fidelity: the counts that tell how exactly calls became Samples; they add up over episodes.

Invariant: calls = silent + first + extended + branched + realigned, and reasons count each branched and realigned call
once. What is trained twice is counted in the Samples themselves, not derived from how they were made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields

from guiforge.samples.reasons import Reason
from guiforge.samples.tree import Link


@dataclass(frozen=True)
class Fidelity:
    """Counts over calls, branches, Samples and tokens.

    silent: calls in which nothing was sampled that could be trained.  text_calls: calls without tokens.
    first, extended, branched, realigned: see Link.  image_parity_failures: calls whose images and placeholders don't
    agree; they are left out with what follows them.  sampled_image_tokens: placeholders that the policy sampled; its
    Sample ends before them.  sampled_tokens: of all calls.  trained_tokens: masked positions over all Samples.
    trained_twice: of these, tokens that an earlier one is already.
    """

    calls: int = 0
    silent: int = 0
    text_calls: int = 0
    first: int = 0
    extended: int = 0
    branched: int = 0
    realigned: int = 0
    branches: int = 0
    samples: int = 0
    text_samples: int = 0
    image_parity_failures: int = 0
    sampled_image_tokens: int = 0
    sampled_tokens: int = 0
    trained_tokens: int = 0
    trained_twice: int = 0
    reasons: Counter[Reason] = field(default_factory=Counter)

    @property
    def retokenised(self) -> int:
        """Calls that hold an earlier reply in other tokens than were sampled, though its text is unchanged."""
        return self.reasons[Reason.RETOKENISED]

    @property
    def left_out(self) -> int:
        """Sampled tokens that no Sample trains: cut off, after an image's fault, or after a sampled placeholder."""
        return self.sampled_tokens - (self.trained_tokens - self.trained_twice)

    @property
    def share_trained_twice(self) -> float:
        """Of the trained tokens, the share that is trained again; 0 without any."""
        return self.trained_twice / self.trained_tokens if self.trained_tokens else 0.0

    def __add__(self, other: Fidelity) -> Fidelity:
        return Fidelity(**{each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)})

    @classmethod
    def of_links(cls, links: Iterable[Link]) -> Fidelity:
        """The counts of calls by how they hang in their tree."""
        links = list(links)
        kinds = Counter(link.kind for link in links)
        reasons = Counter(link.reason for link in links if link.reason is not None)
        return cls(
            first=kinds["first"], extended=kinds["extended"], branched=kinds["branched"],
            realigned=kinds["realigned"], reasons=reasons,
        )  # fmt: skip
