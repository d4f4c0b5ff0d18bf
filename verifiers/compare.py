"""Comparators: each gives the first difference between what was found and what was wanted, or None where they agree.

Invariant: nothing here is fuzzy unless the caller says so, and no text agrees by being part of another.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from rapidfuzz import fuzz

Check = tuple[str, bool, str]  # (name, passed, reason), as Verdict.of takes them
Comparator = Callable[[Any, Any], "str | None"]


def check(name: str, difference: str | None) -> Check:
    """A check that passes where there is no difference, and else gives it as its reason."""
    return name, difference is None, difference or ""


def normal(text: str, *, case: bool = True) -> str:
    """Text in NFC with runs of white space made one blank and none at the ends; casefolded unless `case` matters."""
    text = re.sub(r"\s+", " ", unicodedata.normalize("NFC", text)).strip()
    return text if case else text.casefold()


def text_difference(found: object, wanted: str, *, case: bool = True, likeness: float = 1) -> str | None:
    """Whether two texts differ once made `normal`.

    likeness: below 1, texts agree from this normalised Indel similarity (0..1) upwards: declare it where the medium
    itself is not exact (text taken out of a PDF), never to forgive an answer.
    """
    if not isinstance(found, str):
        return f"{found!r} is no text; wanted {wanted!r}"
    a, b = normal(found, case=case), normal(wanted, case=case)
    if a == b or (likeness < 1 and fuzz.ratio(a, b) / 100 >= likeness):
        return None
    return f"found {_short(a)}; wanted {_short(b)}"


def number_difference(found: object, wanted: float, *, abs_tol: float = 1e-6, rel_tol: float = 1e-9) -> str | None:
    """Whether a number is off by more than the larger tolerance. A text or a truth value is no number."""
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        return f"{found!r} is no number; wanted {wanted:g}"
    if math.isclose(found, wanted, abs_tol=abs_tol, rel_tol=rel_tol):
        return None
    return f"found {found:.10g}; wanted {wanted:.10g}"


def value_difference(found: object, wanted: object, *, abs_tol: float = 1e-6) -> str | None:
    """Whether two plain values differ: numbers within tolerance, texts once `normal`, else by equality.

    An empty text and None are the same emptiness.
    """
    if isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
        return number_difference(found, wanted, abs_tol=abs_tol)
    if isinstance(wanted, str) and wanted:
        return text_difference(found, wanted)
    a, b = (None if value == "" else value for value in (found, wanted))
    if type(a) is type(b) and a == b:
        return None
    return f"found {found!r}; wanted {'nothing' if b is None else repr(wanted)}"


def sequence_difference(
    found: Sequence[Any], wanted: Sequence[Any], what: str = "item", same: Comparator = value_difference
) -> str | None:
    """The first place where two sequences differ, counted from 1, or how their lengths do."""
    for n, (a, b) in enumerate(zip(found, wanted, strict=False), 1):
        if difference := same(a, b):
            return f"{what} {n}: {difference}"
    if len(found) < len(wanted):
        return f"{what} {len(found) + 1} is missing: {_short(wanted[len(found)])}"
    if len(found) > len(wanted):
        return f"{what} {len(wanted) + 1} is one too many: {_short(found[len(wanted)])}"
    return None


def bag_difference(found: Sequence[Hashable], wanted: Sequence[Hashable], what: str = "item") -> str | None:
    """How two collections differ in what they hold, whatever the order; equal items are counted."""
    have, want = Counter(found), Counter(wanted)
    if missing := want - have:
        return f"{what} missing: {_short(next(iter(missing)))}"
    if extra := have - want:
        return f"{what} too many: {_short(next(iter(extra)))}"
    return None


def mapping_difference(
    found: Mapping[str, Any], wanted: Mapping[str, Any], what: str = "entry", same: Comparator = value_difference
) -> str | None:
    """The first key, in sorted order, whose value is missing, unwanted or different."""
    for key in sorted(found.keys() | wanted.keys()):
        if key not in found:
            return f"{what} {key} is missing: {_short(wanted[key])}"
        if key not in wanted:
            return f"{what} {key} is one too many: {_short(found[key])}"
        if difference := same(found[key], wanted[key]):
            return f"{what} {key}: {difference}"
    return None


def _short(value: object, length: int = 120) -> str:
    text = repr(value)
    return text if len(text) <= length else text[: length - 1] + "…"
