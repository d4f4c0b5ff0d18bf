"""Answers: whether the text that an agent answered with gives the value that was asked for.

Invariant: a comparison is typed. Forgiving in form (separators, signs and codes of currencies, styles of dates, case,
a short sentence around), strict in value: a second, different value of that kind is wrong, and nothing agrees by being
part of another text. `check_answer` gives `(name, passed, reason)` as `Verdict.of` takes it.

    check_answer("answer", final.end, Money("12.50", "EUR"), given=task.instruction)
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar, Union

from guiforge.action import Action, Answer
from verifiers import mentions
from verifiers.compare import Check, check
from verifiers.mentions import DayRead
from verifiers.phrases import DOUBT, FUNCTION_WORDS, name_difference, title_difference, tokens

MOST_CHARACTERS = 2000  # of an answer: more is no answer to a question

T = TypeVar("T")


@dataclass(frozen=True)
class Number:
    """A number: `42`, `1,234.5`, `1.234,5`, `1 234`, `3k`, `forty-two`, with any unit or none. tolerance: absolute."""

    value: int | float | str
    tolerance: float = 0


@dataclass(frozen=True)
class Money:
    """An amount, given as text, in a currency (ISO 4217 code). An answer may leave the currency out, not change it."""

    amount: str
    currency: str


@dataclass(frozen=True)
class Day:
    """A day in any usual style. A weekday beside it must be right; the year may be left out unless `with_year`.

    `3/5/2024` and `3-5-2024` can be read two ways, and agree with either.
    """

    day: datetime.date
    with_year: bool = False


@dataclass(frozen=True)
class Name:
    """Somebody's name: first or last name first, accents and titles (Dr, Ms) as you like.

    others: the names it may be mistaken for, best all that the site has. With them a short form (`A. Lee`) is taken
    where it fits no one else, and any sentence that names none of them; without, no other capitalised word may stand
    beside the name but those of the question.
    """

    name: str
    aliases: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Text:
    """An exact title or phrase; case and punctuation don't matter, accents do.

    It may stand in quotes in a sentence, or among words of the question and function words. others: titles it may be
    mistaken for; with them any sentence is taken that says none of them.
    """

    text: str
    aliases: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class YesNo:
    """Yes or no, said at the beginning or at the end."""

    value: bool


@dataclass(frozen=True)
class Nothing:
    """That there is none of what was asked for: `none`, `not found`, `there is no such order`."""


@dataclass(frozen=True)
class OneOf:
    """Any one of several right answers."""

    options: tuple[Want, ...]

    def __init__(self, *options: Want) -> None:
        object.__setattr__(self, "options", options)


@dataclass(frozen=True)
class ListOf:
    """All of these and no more, in this order: separated by commas, semicolons, lines, `and`; numbered or not."""

    items: tuple[Want, ...]

    def __post_init__(self) -> None:
        if not self.items:
            raise ValueError("a list of nothing is told by Nothing")


@dataclass(frozen=True)
class SetOf(ListOf):
    """All of these and no more, in any order."""


Want = Union[Number, Money, Day, Name, Text, YesNo, Nothing, OneOf, ListOf, SetOf]


def check_answer(name: str, end: Action | None, want: Want, *, given: str = "") -> Check:
    """Whether the episode ended with an Answer that says `want`.

    given: the task's instruction. Values that stand in it may be repeated ("ticket 17 has 5 comments"), and its words
    may stand beside a title or a name.
    """
    if not isinstance(end, Answer):
        return check(name, "the episode ended without an answer")
    difference = answer_difference(end.text, want, given=given)
    return check(name, difference and f"the answer is {end.text[:200]!r}: {difference}")


def answer_difference(text: str, want: Want, *, given: str = "") -> str | None:
    """Why a text does not answer with `want`, or None where it does."""
    text = _plain(text)
    if not text:
        return "it is empty"
    if len(text) > MOST_CHARACTERS:
        return f"it has {len(text)} characters; an answer has {MOST_CHARACTERS} at most"
    match want:
        case Number():
            return _sole(mentions.numbers, text, given, lambda read: _is_number(read, want), f"number {want.value}")
        case Money():
            return _sole(mentions.amounts, text, given, lambda read: _is_amount(read, want), f"{want}")
        case Day():
            return _sole(mentions.days, text, given, lambda read: _is_day(read, want), f"day {want.day}")
        case Name():
            return name_difference(text, want.name, aliases=want.aliases, others=want.others, given=given)
        case Text():
            return title_difference(text, want.text, aliases=want.aliases, others=want.others, given=given)
        case YesNo():
            said = None if _OPEN.search(text) else _polarity(text)
            what = "neither yes nor no, or both" if said is None else "yes" if said else "no"
            return None if said is want.value else f"it says {what}"
        case Nothing():
            return _nothing_difference(text, given)
        case OneOf():
            found = [answer_difference(text, option, given=given) for option in want.options]
            return None if None in found else "; ".join(map(str, found))
        case ListOf():
            return _items_difference(text, want, given)


def _plain(text: str) -> str:
    """Without the marks of Markdown, a label such as `Answer:`, and one pair of quotes or brackets around it all."""
    text = re.sub(r"^\W*(?:final )?answer\s*[:=]\s*", "", text.strip(), flags=re.I)
    text = re.sub(r"\*\*(\S[^*]*)\*\*|__(\S[^_]*)__", lambda m: f'"{m[1] or m[2]}"', text).strip()
    text = text.replace("\u00a0", " ").replace("\u202f", " ")
    whole = re.fullmatch(r"[\"“”'`\[(]([^\"“”`]*)[\"“”'`\])][.!]?", text, re.S)
    return whole[1].strip() if whole else text


# -- values: numbers, money, days --------------------------------------------------------------------------------------


def _sole(
    read: Callable[[str], list[frozenset[T]]], text: str, given: str, fits: Callable[[T], bool], wanted: str
) -> str | None:
    """Whether every value that the text names fits; those of the question may be repeated."""
    named = set(read(given)) if given else set()
    found = [m for m in read(text) if m not in named or any(map(fits, m))]
    if not found:
        return f"it names no {wanted}"
    wrong = next((m for m in found if not any(map(fits, m))), None)
    return None if wrong is None else f"it names {_told(wrong)}; wanted {wanted}"


def _told(mention: frozenset[T]) -> str:
    return " or ".join(sorted(map(str, mention))) or "a value that it denies or only bounds"


def _is_number(read: Decimal, want: Number) -> bool:
    return abs(read - Decimal(str(want.value))) <= Decimal(str(want.tolerance))


def _is_amount(read: mentions.Amount, want: Money) -> bool:
    amount, currency = read
    return amount == Decimal(want.amount) and currency in (None, want.currency)


def _is_day(read: DayRead, want: Day) -> bool:
    day = want.day
    year = read.year == day.year or (read.year is None and not want.with_year)
    return (read.month, read.day) == (day.month, day.day) and year and read.weekday in (None, day.weekday())


# -- yes, no, none -----------------------------------------------------------------------------------------------------

_YES = r"(?:yes|yeah|yep|true|correct|affirmative|indeed)"
_NO = r"(?:no|nope|false|incorrect|negative)"
_POLAR = re.compile(rf"\b(?:(not\s+(?:true|correct))|({_YES})|({_NO}))\b", re.I)
_CHOICE = re.compile(rf"\W+(?:(?:and|or)\W+)?(?:{_YES}|{_NO})\b", re.I)
_OPEN = re.compile(
    r"\b(?:maybe|perhaps|possibly|unsure|not (?:sure|certain|clear|known)|unknown|unclear"
    r"|can(?:not|['’]t) (?:tell|say|see|know)|do(?: not|n['’]t) know)\b",
    re.I,
)
_PAUSE = re.compile(r"\W*(?:$|[.!?,;:–—-])")
_PRONOUN = re.compile(r"\s+(?:it|there|they|he|she|this|that|the|you|i|we|these|those|its)\b", re.I)
_NOTHING = re.compile(
    r"^\W*(?:none|nothing|nobody|no one|n/?a|not found|no (?:results?|match(?:es)?))\W*$"
    r"|\b(?:there (?:is|are|was|were) (?:no(?! (?:doubt|question|need|way|reason|more|less|fewer))|none|not any)"
    r"|not found|does(?: not|n['’]t) exist|do(?: not|n['’]t) exist"
    r"|no such|no (?:\w+ ){1,4}(?:exists?|found|available|listed|match(?:es)?)|nothing (?:is|was|matches|found))\b",
    re.I,
)


_AFTER_ALL = frozenset(("but", "except", "however", "although", "though", "instead", "only", "maybe", "perhaps",
                        "possibly", "unless"))  # fmt: skip


def _nothing_difference(text: str, given: str) -> str | None:
    if not _NOTHING.search(text):
        return "it does not say that there is none"
    if word := next((w for w in tokens(text) if w in _AFTER_ALL), None):
        return f"{word!r} beside it leaves the answer open"
    named = {*mentions.numbers(given), frozenset({Decimal(0)})}
    if more := next((m for m in mentions.numbers(text) if m not in named), None):
        return f"it says that there is none, and names {_told(more)}"
    return None


def _polarity(text: str) -> bool | None:
    """What is said: yes, no, or None where that is neither or both. A `no` that belongs to a noun says nothing."""
    said = set()
    for match in _POLAR.finditer(text):
        before, after = text[: match.start()], text[match.end() :]
        if _CHOICE.match(after):
            return None
        leads = not re.search(r"\w", before)
        if leads and match[3] and not _PAUSE.match(after) and not _PRONOUN.match(after):
            continue
        alone = re.search(r"[.!?;:\n]\W*$", before) and re.match(r"\W*$|\W*[.!?,;:\n]", after)
        if leads or alone or not re.search(r"\w", after):
            said.add(bool(match[2]))
    return said.pop() if len(said) == 1 else None


# -- lists and sets ----------------------------------------------------------------------------------------------------

_MARK = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,2}[.):](?!\d)|[a-z]\))\s+", re.M)
_LEAD = re.compile(r"^[^:\n]{0,200}:\s+|^[^:;,\n]{0,120}?\b(?:are|is|were|was|includes?)\s+", re.I)
_AND = r"(?:(?:and|&)\s+)?"
_UNTIL = r"(?:–|—|\bto\b|\bor\b|\bthrough\b|\buntil\b)"
_RANGE = re.compile(rf"\d\s*(?:[^\W\d]+\s*)?(?:(?<=\d)-(?=\d)|-\s|{_UNTIL})\s*(?:[^\W\d]+\s*)?[€$£¥]?\d", re.I)
_DAY_RANGE = re.compile(
    rf"\d(?:st|nd|rd|th)?\s*{_UNTIL}\s*\d|(?<![\d-])\d{{1,2}}-\d{{1,2}}(?:st|nd|rd|th)?(?:\s+of)?\s+[a-z]{{3}}"
    rf"|[a-z]{{3}}\w*\s+\d{{1,2}}(?:st|nd|rd|th)?-\d{{1,2}}(?![\d-])",
    re.I,
)
_SEPARATORS = (
    r"\s*\n\s*", rf"\s*;\s*{_AND}", rf"\s*,\s+{_AND}|\s+(?:and|&)\s+", rf"\s*,\s+{_AND}", r"\s*,\s*", r"\s*[|/]\s*",
    r"\s+and\s+", r"\s+",
)  # fmt: skip


def _items_difference(text: str, want: ListOf, given: str) -> str | None:
    bare, ordered = _MARK.sub("", text), not isinstance(want, SetOf)
    if open_ := _left_open(bare, want):
        return open_
    lead = _LEAD.match(bare)
    if lead and DOUBT & set(tokens(lead[0])):
        return f"it says something else: {lead[0].strip()!r}"
    for listed in (bare, bare[lead.end() :] if lead else ""):
        for separator in _SEPARATORS:
            parts = [part for raw in re.split(separator, listed.strip(" .[](){}")) if (part := raw.strip(" .\"'“”`"))]
            if len(parts) == len(want.items) and _assigned(parts, want.items, ordered):
                return None
    if _same_values(bare, want.items, ordered, given) or _same_phrases(bare, want.items, ordered, given):
        return None
    order = "in this order" if ordered else "in any order"
    return f"it is not exactly these {len(want.items)}, {order}: {', '.join(map(str, want.items))}"


def _left_open(text: str, want: ListOf) -> str | None:
    """That a text gives a range of values or a choice of them, where it would list them."""
    kinds = {type(item) for item in want.items}
    if kinds <= {Number, Money}:
        found = _RANGE.search(mentions.without_days(text))
    elif kinds == {Day}:
        found = _DAY_RANGE.search(text)
    else:
        found = None
    return f"it leaves open which: {found[0]!r}" if found else None


def _assigned(parts: Sequence[str], items: Sequence[Want], ordered: bool) -> bool:
    """Whether each part is one of the items, each item taken once; in their order where it matters."""
    fits = [[k for k, item in enumerate(items) if answer_difference(part, item) is None] for part in parts]
    if ordered:
        return all(n in fit for n, fit in enumerate(fits))
    taken: dict[int, int] = {}  # item -> part: Kuhn's matching

    def place(part: int, seen: set[int]) -> bool:
        for item in fits[part]:
            if item not in seen:
                seen.add(item)
                if item not in taken or place(taken[item], seen):
                    taken[item] = part
                    return True
        return False

    return all(place(part, set()) for part in range(len(parts)))


def _same_values(text: str, items: Sequence[Want], ordered: bool, given: str) -> bool:
    """Whether the values of one kind that a text names are the items; others of the question may be repeated."""
    if all(isinstance(item, Number) for item in items):
        return _same_mentions(mentions.numbers, text, items, _is_number, ordered, given)
    if all(isinstance(item, Money) for item in items):
        return _same_mentions(mentions.amounts, text, items, _is_amount, ordered, given)
    if all(isinstance(item, Day) for item in items):
        return _same_mentions(mentions.days, text, items, _is_day, ordered, given)
    return False


def _same_mentions(
    read: Callable[[str], list[frozenset[T]]], text: str, items: Sequence[Any], fits: Callable[[T, Any], bool],
    ordered: bool, given: str,
) -> bool:  # fmt: skip
    named = set(read(given)) if given else set()
    found = [m for m in read(text) if m not in named or any(fits(r, item) for r in m for item in items)]
    if len(found) != len(items):
        return False
    left = list(items)
    for mention in found:
        place = next((k for k, item in enumerate(left) if any(fits(r, item) for r in mention)), None)
        if place is None or (ordered and place):
            return False
        del left[place]
    return True


def _same_phrases(text: str, items: Sequence[Want], ordered: bool, given: str) -> bool:
    """Whether a text says each of these titles and names once, and between them nothing but words of the question."""
    if not all(isinstance(item, (Text, Name)) for item in items):
        return False
    wanted = [tokens(item.text if isinstance(item, Text) else item.name) for item in items]  # type: ignore[union-attr]
    said: list[str | int] = list(tokens(text))
    for n in sorted(range(len(wanted)), key=lambda n: -len(wanted[n])):
        at = next((i for i in range(len(said)) if tuple(said[i : i + len(wanted[n])]) == wanted[n]), None)
        if at is None:
            return False
        said[at : at + len(wanted[n])] = [n]
    places = [word for word in said if isinstance(word, int)]
    rest = {word for word in said if isinstance(word, str)}
    return rest <= {"and", "&", *FUNCTION_WORDS, *tokens(given)} - DOUBT and (not ordered or places == sorted(places))
