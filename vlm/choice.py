"""Choice: sampling that can only say one of some given texts.

Invariant: at each step those tokens, and only those, may be drawn after which one of the texts is still to be said; an
end token once one has been. The tokens are the model's own choice: a text may come in other tokens than a tokenizer
would make of it.
Source: vLLM, structured outputs, `choice`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any


class Choice:
    """One reply.  spelled: ids of the tokens by their bytes.  ends: ids of the tokens that end a reply."""

    def __init__(self, texts: Sequence[str], spelled: Mapping[bytes, Sequence[int]], ends: Collection[int]) -> None:
        self._left = {text.encode() for text in texts}
        self._spelled, self._ends = spelled, ends
        self._longest = max(map(len, spelled))

    def allowed(self) -> dict[int, bytes]:
        """The tokens that may come next, with the bytes that each says. Raises ValueError where there is none."""
        found: dict[int, bytes] = {}
        for left in self._left:
            if not left:
                found |= dict.fromkeys(self._ends, b"")
            for size in range(1, min(len(left), self._longest) + 1):
                found |= dict.fromkeys(self._spelled.get(left[:size], ()), left[:size])
        if not found:
            raise ValueError("the tokenizer can't say one of the texts that are to be chosen from")
        return found

    def said(self, token: int) -> None:
        """A token was drawn."""
        piece = self.allowed()[token]
        self._left = {left[len(piece) :] for left in self._left if left.startswith(piece)}


@lru_cache(maxsize=8)
def spelling(tokenizer: Any, barred: tuple[int, ...]) -> Mapping[bytes, Sequence[int]]:
    """The tokens of a byte-level tokenizer by their bytes, but for those that are barred."""
    letters = _letters()
    added = {id: str(token) for id, token in tokenizer.added_tokens_decoder.items()}
    closed = frozenset(barred)
    found: dict[bytes, list[int]] = {}
    for token, id in tokenizer.get_vocab().items():
        if id not in closed:
            piece = added[id].encode() if id in added else bytes(letters[letter] for letter in token)
            if piece:
                found.setdefault(piece, []).append(id)
    return found


def _letters() -> dict[str, int]:
    """The byte that each letter of a byte-level vocabulary stands for: GPT-2's table."""
    shown = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {chr(256 + n): byte for n, byte in enumerate(hidden)}
