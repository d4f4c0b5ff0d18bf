"""Parents: which earlier call a prompt goes on from, told by its tokens alone.

Invariant: a call is the parent of another when the other's prompt starts with its prompt and reply, token by token;
of several the longest. Order of arrival does not matter to a reader, who may find the same from the Calls.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence


class Prefixes:
    """The ends (prompt and reply) of an episode's calls: of each its length and a digest, not its tokens."""

    def __init__(self) -> None:
        self._ends: dict[int, dict[bytes, int]] = {}  # length in tokens -> digest -> index of the call

    def parent(self, prompt_ids: Sequence[int]) -> int | None:
        """Index of the call that this prompt goes on from, or None."""
        ids = memoryview(array("q", prompt_ids)).cast("B")
        digest, at, found = hashlib.blake2b(digest_size=16), 0, None
        for length in sorted(n for n in self._ends if n <= len(prompt_ids)):
            digest.update(ids[8 * at : 8 * length])
            at = length
            found = self._ends[length].get(digest.digest(), found)
        return found

    def add(self, index: int, prompt_ids: Sequence[int], sampled_ids: Sequence[int]) -> None:
        """Remember where a call ends."""
        ids = array("q", (*prompt_ids, *sampled_ids)).tobytes()
        end = hashlib.blake2b(ids, digest_size=16).digest()
        self._ends.setdefault(len(ids) // 8, {}).setdefault(end, index)
