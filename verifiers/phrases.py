"""Phrases: names and titles in an answer, alone or with a short sentence around them.

Invariant: a phrase is found as whole words, and never for being a part of something else: what stands around it must
be words of the question or words without a meaning of their own, or at least nothing that could be another name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from verifiers.compare import normal

Tokens = tuple[str, ...]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th", "ð": "d"})
_QUOTED = re.compile(r"“([^”]+)”|\"([^\"]+)\"|«([^»]+)»|„([^“”]+)[“”]|`([^`]+)`|\*\*([^*]+)\*\*|(?<!\w)'([^']+)'(?!\w)")
DOUBT = _words(
    "not isn wasn aren don doesn didn cannot nor neither or either maybe perhaps possibly except instead rather but "
    "unless than unlike unknown unsure"
)
_TITLES = frozenset(("mr", "mrs", "ms", "miss", "mx", "dr", "prof", "professor", "sir", "madam", "user", "author"))
FUNCTION_WORDS = _words(
    "a an the this that these those it its he she they is are was were be been has have had which who whom whose what "
    "of in on at by to from for with as and so there here i you we my your our his her their s answer result name "
    "named titled title called entitled one following correct right requested asked found based according page site "
    "shown listed shows show says final therefore thus please see yes okay sure currently now"
)


def tokens(text: str, *, accents: bool = True) -> Tokens:
    """Words and meaningful signs in lower case; other punctuation is left out. accents: whether they matter."""
    text = normal(text, case=False)
    if not accents:
        apart = unicodedata.normalize("NFKD", text.translate(_LETTERS))
        text = "".join(c for c in apart if not unicodedata.combining(c))
    return tuple(re.findall(r"[^\W_]+|[+#&%@$€£/=<>]", text))


def find(phrase: Tokens, text: Tokens) -> list[int]:
    """Where a phrase begins in a text, as whole words."""
    return [i for i in range(len(text) - len(phrase) + 1) if phrase and text[i : i + len(phrase)] == phrase]


def _covered(variants: Iterable[Tokens], text: Tokens) -> set[int]:
    """The places of a text that one of the phrases takes."""
    return {i + k for phrase in variants for i in find(phrase, text) for k in range(len(phrase))}


def _doubt(text: str, rest: Iterable[str]) -> str | None:
    word = next((w for w in rest if w in DOUBT), None) or ("n't" if re.search(r"n['’]t\b", text) else None)
    return f"{word!r} beside it leaves the answer open" if word else None


def title_difference(
    text: str, wanted: str, *, aliases: Iterable[str], others: Iterable[str], given: str
) -> str | None:
    """Whether `text` gives a title other than the wanted one. See verifiers.answers.Text."""
    said, titles = tokens(text), [tokens(t) for t in (wanted, *aliases)]
    if said in titles:
        return None
    others_ = [t for t in map(tokens, others) if t not in titles]
    covered = _covered(titles, said)
    rest = [w for i, w in enumerate(said) if i not in covered]
    if not covered:
        return f"it does not say {wanted!r}"
    if other := next((o for o in others_ if set(range(len(said))) & _covered([o], said) - covered), None):
        return f"it says {' '.join(other)!r} too, or instead"
    if problem := _doubt(text, rest):
        return problem
    quoted = {tokens(next(filter(None, match.groups()))) for match in _QUOTED.finditer(text)} - set(_quoted(given))
    known = {*FUNCTION_WORDS, *tokens(given)}
    if others_ or (quoted and quoted <= set(titles)) or all(w in known for w in rest):
        return None
    return f"{next(w for w in rest if w not in known)!r} stands beside {wanted!r}: it may be another title"


def _quoted(text: str) -> list[Tokens]:
    return [tokens(next(filter(None, match.groups()))) for match in _QUOTED.finditer(text)]


# -- names -------------------------------------------------------------------------------------------------------------


def _full(name: str) -> set[Tokens]:
    """A name's words in their order, and with the last one first."""
    words = tuple(w for w in tokens(name, accents=False) if w not in _TITLES)
    return {words, (*words[-1:], *words[:-1])} - {()}


def _short(name: str) -> set[Tokens]:
    """A name with initials, and without what stands in its middle."""
    words = tuple(w for w in tokens(name, accents=False) if w not in _TITLES)
    if len(words) < 2:
        return set()
    first, last = words[0], words[-1]
    initials = tuple(w[0] for w in words[:-1])
    forms = {(first, last), (first[0], last), (*initials, last), (first, *initials[1:], last)}
    return forms | {(form[-1], *form[:-1]) for form in forms}


def name_difference(text: str, wanted: str, *, aliases: Iterable[str], others: Sequence[str], given: str) -> str | None:
    """Whether `text` gives a name other than the wanted one. See verifiers.answers.Name."""
    said = tokens(text, accents=False)
    variants = {form for name in (wanted, *aliases) for form in _full(name)}
    rivals = [other for other in others if not _full(other) & variants]
    if others:
        taken = {form for other in rivals for form in (_full(other) | _short(other))}
        variants |= {form for name in (wanted, *aliases) for form in _short(name)} - taken
    if tuple(w for w in said if w not in _TITLES) in variants:
        return None
    covered = _covered(variants, said)
    if not covered:
        return f"it does not say {wanted!r}"
    of_others = {form for other in rivals for form in (_full(other) | _short(other))} - variants
    if other_places := _covered(of_others, said) - covered:
        return f"it says {said[min(other_places)]!r} too, or instead: another name"
    rest = [w for i, w in enumerate(said) if i not in covered]
    if problem := _doubt(text, rest):
        return problem
    known = {*FUNCTION_WORDS, *_TITLES, *tokens(given)}
    if not others:
        return _second_name(text, said, covered, known)
    return _longer_name(text, said, covered, known) if all(len(form) == 1 for form in variants) else None


def _longer_name(text: str, said: Tokens, covered: set[int], known: set[str]) -> str | None:
    """A word that makes a name of one word another, longer one: with a capital, right beside it."""
    written = {t[0] for w in re.findall(r"[^\W\d_]+", text) if w[0].isupper() and (t := tokens(w, accents=False))}
    for at in covered:
        for beside in (at - 1, at + 1):
            word = said[beside] if 0 < beside < len(said) and beside not in covered else ""
            if word in written and word not in known:
                return f"{word!r} stands beside it: it may be another name"
    return None


def _second_name(text: str, said: Tokens, covered: set[int], known: set[str]) -> str | None:
    """A word around the name that may be another one: written with a capital, or joined to it by comma or `and`.

    The sentence's own first word has a capital anyway.
    """
    written = [tokens(word, accents=False) for word in re.findall(r"[^\W\d_]+", text)]
    capitals = {
        w[0] for w, word in zip(written, re.findall(r"[^\W\d_]+", text), strict=True) if w and word[0].isupper()
    }
    joined = re.findall(r"([^\W_]+)\s*[,&/]\s*(?:and\s+)?([^\W_]+)", normal(text, case=False))
    joined += re.findall(r"([^\W_]+)\s+and\s+([^\W_]+)", normal(text, case=False))
    pairs = {(*tokens(a, accents=False), *tokens(b, accents=False)) for a, b in joined}
    for i, word in enumerate(said):
        if i in covered or word in known or word == "and":
            continue
        beside = [(word, said[k]) for k in (i + 1, i + 2) if k in covered] + [
            (said[k], word) for k in (i - 1, i - 2) if k in covered
        ]
        if (word in capitals and i > 0) or any(pair in pairs for pair in beside):
            return f"{word!r} stands beside it: it may be another name"
    return None
