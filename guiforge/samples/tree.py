"""Tree: an episode's calls by prefix, and the branches that come of it.

Invariant: a call extends another when its prompt starts with the other's prompt and sampled tokens, token by token and
image by image (of several, the longest); otherwise it starts a branch. Images count because their placeholders are all
alike. The order of arrival makes no difference to which branches there are, and every call is some branch's own exactly
once, so that what it sampled can be trained once.

Calls without tokens form such a tree by their messages. Nothing that has tokens is ever joined by text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from guiforge.samples.conversation import Conversation, answered, asked, digest_of
from guiforge.samples.reasons import Reason, Seen, branch_reason
from guiforge.trace import Call

LinkKind = Literal["first", "extended", "branched", "realigned"]
_DIGEST = 16  # bytes


@dataclass(frozen=True)
class Link:
    """How a call hangs in its tree.

    first: the tree's first.  extended: it goes on from another, and is the first to do so.  branched: it starts a
    branch.  realigned: it starts one although it only adds messages to another call: the same was rendered to other
    tokens.  reason: why a branch starts here.  other: index of the call that it extends, or is compared with.
    """

    kind: LinkKind
    reason: Reason | None = None
    other: int | None = None


@dataclass(frozen=True)
class Branch:
    """A way from a root to a leaf. path: its calls.  shared: how many at its start are another branch's own."""

    path: tuple[Call, ...]
    shared: int

    @property
    def own(self) -> tuple[Call, ...]:
        """The calls that are trained here."""
        return self.path[self.shared :]


@dataclass(frozen=True)
class Tree:
    """Calls (by index) with the parent and the link of each, by index of the call."""

    calls: tuple[Call, ...]
    parents: dict[int, int | None]
    links: dict[int, Link]

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        """One for each call that does not extend another, in order of these."""
        by_index = {call.index: call for call in self.calls}
        after = {link.other: index for index, link in self.links.items() if link.kind == "extended"}
        branches = []
        for start in (index for index, link in self.links.items() if link.kind != "extended"):
            before: list[int] = []
            at = self.parents[start]
            while at is not None:
                before.append(at)
                at = self.parents[at]
            own = [start]
            while own[-1] in after:
                own.append(after[own[-1]])
            path = tuple(by_index[index] for index in (*reversed(before), *own))
            branches.append(Branch(path, len(before)))
        return tuple(branches)


def token_tree(calls: Sequence[Call]) -> Tree:
    """The tree of the calls that sampled tokens; others are left out."""
    calls = sorted((call for call in calls if call.tokens and call.tokens.sampled_ids), key=lambda call: call.index)
    seen = [_seen(call) for call in calls]
    prompts = [one.prompt_ids.tobytes() for one in seen]
    ends = [one.ids.tobytes() for one in seen]
    return _grown(calls, seen, prompts, ends)


def message_tree(calls: Sequence[Call]) -> Tree:
    """The tree of the calls that were answered whole, by their messages; others are left out.

    A branch's tools are those of all its calls.
    """
    calls = sorted((call for call in calls if call.message is not None and not call.cut), key=lambda call: call.index)
    seen = [_seen(call) for call in calls]
    prompts = [_digests(one.conversation) for one in seen]
    ends = [prompt + one.answer.digest for prompt, one in zip(prompts, seen, strict=True) if one.answer is not None]
    return _grown(calls, seen, prompts, ends)


def _seen(call: Call) -> Seen:
    tokens = call.tokens
    prompt = np.asarray(() if tokens is None else tokens.prompt_ids, np.int32)
    sampled = np.asarray(() if tokens is None else tokens.sampled_ids, np.int32)
    return Seen(call.index, asked(call), answered(call), prompt, np.concatenate((prompt, sampled)))


def _digests(conversation: Conversation) -> bytes:
    tools = digest_of(list(conversation.tools))
    return b"".join((tools, *(message.digest for message in conversation.messages)))


def _grown(calls: Sequence[Call], seen: Sequence[Seen], prompts: Sequence[bytes], ends: Sequence[bytes]) -> Tree:
    images = [one.conversation.images for one in seen]
    parents = _parents(prompts, ends, images)
    links: dict[int, Link] = {}
    extended: set[int] = set()
    for at, (call, parent) in enumerate(zip(calls, parents, strict=True)):
        if parent is not None and parent not in extended:
            extended.add(parent)
            links[call.index] = Link("extended", other=calls[parent].index)
            continue
        same = (i for i in reversed(range(at)) if prompts[i] == prompts[at] and images[i] == images[at])
        again = next(same, None)
        if again is not None:
            links[call.index] = Link("branched", Reason.ASKED_AGAIN, calls[again].index)
        elif parent is not None:
            links[call.index] = Link("branched", Reason.FORKED, calls[parent].index)
        elif at == 0:
            links[call.index] = Link("first")
        else:
            reason, other = branch_reason(seen[at], seen[:at])
            realigned = reason in (Reason.RETOKENISED, Reason.RERENDERED)
            links[call.index] = Link("realigned" if realigned else "branched", reason, other)
    indexes = [call.index for call in calls]
    by_index = {index: None if p is None else indexes[p] for index, p in zip(indexes, parents, strict=True)}
    return Tree(tuple(calls), by_index, links)


def _parents(prompts: Sequence[bytes], ends: Sequence[bytes], images: Sequence[tuple[str, ...]]) -> list[int | None]:
    """For each prompt which of the ends is its longest prefix (of equal ones the first), or None.

    One pass over each prompt: its digests at the lengths that ends have are looked up.
    """
    known: dict[int, dict[bytes, list[int]]] = {}
    for i, end in enumerate(ends):
        known.setdefault(len(end), {}).setdefault(_digest(end), []).append(i)
    found: list[int | None] = []
    for prompt, shown in zip(prompts, images, strict=True):
        digest, at, parent = hashlib.blake2b(digest_size=_DIGEST), 0, None
        for length in sorted(length for length in known if length <= len(prompt)):
            digest.update(prompt[at:length])
            at = length
            equal = known[length].get(digest.digest(), [])
            parent = next((i for i in equal if shown[: len(images[i])] == images[i]), parent)
        found.append(parent)
    return found


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST).digest()
