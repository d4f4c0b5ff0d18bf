"""Reasons: why a call starts a branch of its own, told from its tokens and messages and those of an earlier call.

Invariant: exactly one reason a branch, the first that holds in the order of Reason. It is for a person, and for counts
that add up: what is trained never depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from guiforge.samples.conversation import Conversation, Message

Ids = npt.NDArray[np.int32]
Same = Callable[[Message, Message], bool]


class Reason(StrEnum):
    """Why a branch starts.

    asked_again: the same prompt was sent anew.  forked: another call goes on from the same reply already.
    retokenised: the request only adds messages, but an earlier reply is in it in other tokens than were sampled.
    rerendered: it only adds messages, but what was no reply came to other tokens.
    written_anew: it shares no message with an earlier call.  other_tools, other_system: those differ.
    images_dropped: earlier images are gone.  images_replaced: others stand in their places.
    thinking_stripped: earlier thinking is gone, by harness or chat template.
    history_truncated: earlier messages are gone.  text_rewritten: earlier messages say something else.
    """

    ASKED_AGAIN = "asked_again"
    FORKED = "forked"
    RETOKENISED = "retokenised"
    RERENDERED = "rerendered"
    WRITTEN_ANEW = "written_anew"
    OTHER_TOOLS = "other_tools"
    OTHER_SYSTEM = "other_system"
    IMAGES_DROPPED = "images_dropped"
    IMAGES_REPLACED = "images_replaced"
    THINKING_STRIPPED = "thinking_stripped"
    HISTORY_TRUNCATED = "history_truncated"
    TEXT_REWRITTEN = "text_rewritten"


@dataclass(frozen=True)
class Seen:
    """A call as it is compared: what was asked and answered, its prompt's tokens, and these with the sampled ones."""

    index: int
    conversation: Conversation
    answer: Message | None
    prompt_ids: Ids
    ids: Ids

    @property
    def turns(self) -> tuple[Message, ...]:
        """What was said up to and with the reply, system messages left out."""
        return (*self.conversation.turns, *(() if self.answer is None else (self.answer,)))


def branch_reason(new: Seen, earlier: Sequence[Seen]) -> tuple[Reason, int]:
    """Why a call that extends no other starts a branch, and the index of the earlier call that this was told from.

    That is the last one that it continues by its messages, else the one whose tokens it shares the most of.
    """
    continued = [one for one in earlier if one.answer is not None and _same_frame(new, one) and _continues(new, one)]
    if continued:
        nearest = max(reversed(continued), key=lambda one: len(one.turns))
        return _rendered_otherwise(new, nearest, earlier), nearest.index
    nearest = max(reversed(earlier), key=lambda one: (_shared(new.prompt_ids, one.ids), _shared_turns(new, one)))
    return _said_otherwise(new, nearest), nearest.index


def _same_frame(new: Seen, old: Seen) -> bool:
    return new.conversation.tools == old.conversation.tools and _equal(new.conversation.system, old.conversation.system)


def _continues(new: Seen, old: Seen) -> bool:
    """Whether the new request is the old one, its reply, and messages after them."""
    return _goes_on(new.conversation.turns, old.turns, _equal_digests)


def _rendered_otherwise(new: Seen, old: Seen, earlier: Sequence[Seen]) -> Reason:
    """Why the prompt of a request that continues another does not start with that one's tokens."""
    at = _shared(new.prompt_ids, old.ids)
    for one in earlier:
        sampled_there = len(one.prompt_ids) <= at < len(one.ids)
        if sampled_there and one.answer is not None and np.array_equal(one.ids[:at], old.ids[:at]):
            stripped = one.answer.thinks and _starts_with_an_end_of(new.prompt_ids[at:], one.ids[at:])
            return Reason.THINKING_STRIPPED if stripped else Reason.RETOKENISED
    return Reason.RERENDERED


def _starts_with_an_end_of(ids: Ids, sampled: Ids) -> bool:
    """Whether `ids` goes on with what is left of `sampled` when something is taken off its start."""
    ends = (sampled[start:] for start in range(1, len(sampled)))
    return any(len(ids) >= len(end) and np.array_equal(ids[: len(end)], end) for end in ends)


def _said_otherwise(new: Seen, old: Seen) -> Reason:
    """How a request that does not continue the old one differs from it."""
    turns = new.conversation.turns
    if _same_frame(new, old) and _equal(turns, old.conversation.turns):
        return Reason.ASKED_AGAIN
    whole, bare, bare_old = _digests(turns) & _digests(old.turns), _bare(turns), _bare(old.turns)
    if not whole and not _digests(bare) & _digests(bare_old):
        return Reason.WRITTEN_ANEW
    if new.conversation.tools != old.conversation.tools:
        return Reason.OTHER_TOOLS
    if not _equal(new.conversation.system, old.conversation.system):
        return Reason.OTHER_SYSTEM
    if _goes_on(turns, old.turns, _same_thoughts_aside):
        return Reason.THINKING_STRIPPED
    if _goes_on(turns, old.turns, _same_or_fewer_images):
        return Reason.IMAGES_DROPPED
    if len(new.conversation.images) < len(old.conversation.images) and _goes_on(bare, bare_old, _equal_digests):
        return Reason.IMAGES_DROPPED
    if _goes_on(turns, old.turns, _same_images_aside):
        return Reason.IMAGES_REPLACED
    kept = [message for message in bare if message.digest in _digests(bare_old)]
    if _equal(kept, bare[: len(kept)]) and _in_order(kept, bare_old):
        return Reason.HISTORY_TRUNCATED
    return Reason.TEXT_REWRITTEN


def _goes_on(turns: Sequence[Message], old: Sequence[Message], same: Same) -> bool:
    return len(turns) >= len(old) and all(same(a, b) for a, b in zip(turns, old, strict=False))


def _equal_digests(new: Message, old: Message) -> bool:
    return new.digest == old.digest


def _same_thoughts_aside(new: Message, old: Message) -> bool:
    return new.unthought.digest == old.unthought.digest


def _same_or_fewer_images(new: Message, old: Message) -> bool:
    """A text may have taken the images' place."""
    return _same_thoughts_aside(new, old) or (new.role == old.role and len(new.images) < len(old.images))


def _same_images_aside(new: Message, old: Message) -> bool:
    return len(new.images) == len(old.images) and new.bare.digest == old.bare.digest


def _in_order(some: Sequence[Message], of: Sequence[Message]) -> bool:
    left = iter(of)
    return all(any(message.digest == other.digest for other in left) for message in some)


def _equal(one: Sequence[Message], two: Sequence[Message]) -> bool:
    return [message.digest for message in one] == [message.digest for message in two]


def _digests(messages: Sequence[Message]) -> set[bytes]:
    return {message.digest for message in messages}


def _bare(messages: Sequence[Message]) -> list[Message]:
    return [bare for message in messages if (bare := message.bare).parts or bare.uses]


def _shared(one: Ids, two: Ids) -> int:
    """How many ids are equal at the start of both."""
    length = min(len(one), len(two))
    different = np.flatnonzero(one[:length] != two[:length])
    return int(different[0]) if len(different) else length


def _shared_turns(new: Seen, old: Seen) -> int:
    pairs = zip(new.conversation.turns, old.turns, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a.digest != b.digest), len(old.turns))
