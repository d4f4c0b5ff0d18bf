"""Mentions: the numbers, amounts of money and days that a text names, each with every way it can be read.

Invariant: a mention is a set of readings. `1,234` reads as 1234 and as 1.234, `3/5/2024` as two days; a value that is
denied or only bounded ("not 42", "more than 42", "42+") is a mention with no reading, so it equals nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

Amount = tuple[Decimal, str | None]  # (amount, ISO 4217 code; None where the text names no currency)


@dataclass(frozen=True)
class DayRead:
    """A day as a text names it: year and weekday (0 is Monday) only where they stand there."""

    month: int
    day: int
    year: int | None = None
    weekday: int | None = None


_DENIED = re.compile(
    r"(?:\bnot|n't|\b(?:never|nor|(?:more|less|fewer|greater) than|over|under|at least|at most|up to|above|below|before"
    r"|after)|[<>≤≥])\s*(?:(?:the|a|on|exactly|just|only|is|total|of)\s+)*[^\w\s]{0,3}$",
    re.I,
)
_BOUNDED = re.compile(r"\s?\+|\s*(?:\w+ )?or (?:more|less|so|fewer|later|earlier)\b", re.I)


def _denied(text: str, start: int, end: int) -> bool:
    return bool(_DENIED.search(text[:start]) or _BOUNDED.match(text, end))


# -- days --------------------------------------------------------------------------------------------------------------

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_WEEKDAY = r"(mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:r|rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)\b\.?"
_TH = r"(?:st|nd|rd|th)?"
_DAYS = rf"(?P<day>\d{{1,2}}){_TH}(?:\s*(?:-|–|to|and|or|/)\s*(?P<other>\d{{1,2}}){_TH}(?!\d))?"
_YEAR = r"(?P<year>\d{4})(?![\d:])"
_DAY_FORMS = [
    re.compile(form, re.I)
    for form in (
        r"(?<![\d.])(?P<year>\d{4})(?P<sep>[-/.])(?P<m>\d{1,2})(?P=sep)(?P<day>\d{1,2})(?!\d)",
        r"(?<![\d.])(?P<a>\d{1,2})(?P<sep>[-/.])(?P<b>\d{1,2})(?P=sep)(?P<year>\d{4}|\d{2})(?![\d.]\d|\d)",
        rf"(?<![\d.,]){_DAYS}\.?(?:\s+of)?[\s-]+{_MONTH},?(?:[\s-]+{_YEAR})?",
        rf"\b{_MONTH}\s+(?:the\s+)?{_DAYS}(?!\d)(?:,?\s+{_YEAR})?",
    )
]
_WEEKDAY_BEFORE = re.compile(rf"\b{_WEEKDAY},?\s+(?:the\s+|on\s+)?$", re.I)
_WEEKDAY_AFTER = re.compile(rf"\s*[,(]?\s*(?:(?:which )?(?:is|was)\s+)?(?:an?\s+)?{_WEEKDAY}", re.I)
_CLOCK = re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?|\b\d{1,2}\s?[ap]\.?m\b\.?", re.I)


def days(text: str) -> list[frozenset[DayRead]]:
    """The days that a text names, in its order. With slashes or hyphens a day may come before its month or after."""
    return [reading for _, _, found in _day_spans(text) for reading in found]


def _day_spans(text: str) -> list[tuple[int, int, list[frozenset[DayRead]]]]:
    spans: list[tuple[int, int, list[frozenset[DayRead]]]] = []
    for form in _DAY_FORMS:
        at = 0
        while match := form.search(text, at):
            taken = max((end for start, end, _ in spans if match.start() < end and start < match.end()), default=None)
            if taken is None:
                spans.append((*match.span(), _read_day(text, match)))
            at = match.end() if taken is None else max(taken, match.start() + 1)
    return sorted(spans)


def _read_day(text: str, match: re.Match[str]) -> list[frozenset[DayRead]]:
    if _denied(text, *match.span()):
        return [frozenset()]
    named = match.groupdict()
    year = int(named["year"]) if named["year"] else None
    if year is not None and year < 100:
        year += 2000
    if named.get("a"):
        a, b = int(named["a"]), int(named["b"])
        pairs = [[(b, a)] if named["sep"] == "." else [(b, a), (a, b)]]
    else:
        month = int(named["m"]) if named.get("m") else _MONTHS.index(named["month"][:3].lower()) + 1
        pairs = [[(month, int(day))] for day in (named["day"], named.get("other")) if day]
    weekday = _WEEKDAY_BEFORE.search(text[: match.start()]) or _WEEKDAY_AFTER.match(text, match.end())
    of_week = _WEEKDAYS.index(weekday[1][:3].lower()) if weekday else None
    return [frozenset(DayRead(m, d, year, of_week) for m, d in read if 1 <= m <= 12 and 1 <= d <= 31) for read in pairs]


# -- numbers -----------------------------------------------------------------------------------------------------------

_NUMBER = re.compile(
    r"(?<!\w)(?<![^\W\d]-)(?P<sign>[-−+](?=[\d.,]))?"
    r"(?P<digits>\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,'’]\d+)*|(?<![\d.,])[.,]\d+)"
    r"(?:\s?(?P<scale>k|thousand|million|mn|billion|bn)\b)?",
    re.I,
)
_SCALES = {"k": 10**3, "thousand": 10**3, "million": 10**6, "mn": 10**6, "billion": 10**9, "bn": 10**9}
_UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS = {w: n for n, w in enumerate(_UNITS)} | {w: 20 + 10 * n for n, w in enumerate(_TENS)}
_SPELLED = re.compile(
    rf"\b(?:{'|'.join(_WORDS)})\b(?:(?:[\s-]+|\s+and\s+)(?:{'|'.join([*_WORDS, 'hundred', 'thousand'])})\b)*", re.I
)
_NO = re.compile(
    r"\b(?:are|is|were|was|has|have|had|contains?|shows?) no (?!information|data|answer|way|result|record|mention|such"
    r"|doubt|idea|question|need|reason|problem|longer|clear|wonder)"
    r"|^\W*(?:none|nil)\b(?! of (?:this|the information))|\b(?:are|is|were|was|has|have) none\b",
    re.I,
)


def numbers(text: str) -> list[frozenset[Decimal]]:
    """The numbers that a text names, in its order; days and times of day are none.

    Number words count where there are no digits, and so does a plain "none" or "there are no ..." as zero. A number
    stuck to letters before it (`B12`, `AB-12`) is a part of a name.
    """
    found = [readings for _, _, readings in _number_spans(without_days(text))]
    return found or _spelled(text)


def without_days(text: str) -> str:
    """The text with blanks for its days and times, and one between the code of a currency and its amount."""
    spans = [(start, end) for start, end, _ in _day_spans(text)]
    for start, end in [*spans, *(match.span() for match in _CLOCK.finditer(text))]:
        text = text[:start] + " " * (end - start) + text[end:]
    return _STUCK.sub(r"\1 ", text)


def _number_spans(text: str) -> Iterator[tuple[int, int, frozenset[Decimal]]]:
    for match in _NUMBER.finditer(text):
        denied = _denied(text, *match.span())
        factor = _SCALES[match["scale"].lower()] if match["scale"] else 1
        factor = -factor if match["sign"] in ("-", "−") else factor
        for value in _read_digits(match["digits"]):
            yield *match.span(), frozenset() if denied else frozenset(v * factor for v in value)


def _read_digits(token: str) -> list[set[Decimal]]:
    """What digits with separators mean: mostly one number. Several with commas that group nothing: a list of them."""
    token = re.sub(r"\s", "", token).replace("’", "'")
    parts = re.split(r"[.,']", token)
    marks = re.findall(r"[.,']", token)
    grouped = len(parts[0]) in (1, 2, 3) and parts[0] != "0" and all(len(p) == 3 for p in parts[1:])
    if not marks:
        return [{Decimal(token)}]
    whole, fraction = Decimal("".join(parts)), Decimal(("".join(parts[:-1]) or "0") + "." + parts[-1])
    if len(marks) == 1:
        if grouped and (marks[0] == "'" or (marks[0] == "," and token.endswith("0"))):
            return [{whole}]
        return [{whole, fraction} if grouped else {fraction} if marks[0] != "'" else set()]
    if len(set(marks)) == 1 and grouped:
        return [{whole}]
    groups = [len(p) == 3 for p in parts[1:-1]]
    if len(set(marks[:-1])) == 1 and marks[-1] not in marks[:-1] and marks[-1] != "'" and all(groups):
        return [{fraction}]
    return [reading for part in token.split(",") for reading in _read_digits(part)] if "," in token else []


def _spelled(text: str) -> list[frozenset[Decimal]]:
    found = [
        frozenset() if _denied(text, *match.span()) else frozenset({Decimal(_count(match[0]))})
        for match in _SPELLED.finditer(text)
    ]
    if len(set(found)) > 1:  # "the newest one has three": a pronoun
        found = [readings for readings in found if readings != {Decimal(1)}]
    return found or ([frozenset({Decimal(0)})] if _NO.search(text) else [])


def _count(words: str) -> int:
    total = part = 0
    for word in re.findall(r"[a-z]+", words.lower()):
        if word == "hundred":
            part = max(part, 1) * 100
        elif word == "thousand":
            total, part = total + max(part, 1) * 1000, 0
        elif word != "and":
            part += _WORDS[word]
    return total + part


# -- money -------------------------------------------------------------------------------------------------------------

_DOLLARS = ("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN")
_SIGNS: dict[str, tuple[str, ...]] = {
    "us$": ("USD",), "ca$": ("CAD",), "c$": ("CAD",), "au$": ("AUD",), "a$": ("AUD",), "nz$": ("NZD",),
    "s$": ("SGD",), "hk$": ("HKD",), "r$": ("BRL",), "$": _DOLLARS, "€": ("EUR",), "£": ("GBP",),
    "¥": ("JPY", "CNY"), "₹": ("INR",), "₽": ("RUB",), "₩": ("KRW",), "₺": ("TRY",), "zł": ("PLN",),
    "kč": ("CZK",), "kr": ("SEK", "NOK", "DKK"), "fr": ("CHF",), "rs": ("INR",),
}  # fmt: skip
_NAMES: dict[str, tuple[str, ...]] = {
    "euro": ("EUR",), "us dollar": ("USD",), "dollar": _DOLLARS, "pound": ("GBP",), "yen": ("JPY",),
    "yuan": ("CNY",), "rupee": ("INR",), "franc": ("CHF",), "swiss franc": ("CHF",), "krona": ("SEK",),
    "krone": ("NOK", "DKK"), "kroner": ("NOK", "DKK"), "kronor": ("SEK",), "zloty": ("PLN",),
}  # fmt: skip
_CODES = {code for codes in (*_SIGNS.values(), *_NAMES.values()) for code in codes}
_SIGN = "|".join(re.escape(sign) for sign in sorted(_SIGNS, key=len, reverse=True))
_CODE = "|".join(sorted(_CODES))
_STUCK = re.compile(rf"\b({_CODE})(?=\d)")
_NAME = "|".join(rf"{name}s?" for name in sorted(_NAMES, key=len, reverse=True))
_BEFORE = re.compile(rf"(?P<sign>[-−])?\s*(?<!\w)(?P<money>{_SIGN}|{_CODE})\.?\s*$", re.I)
_AFTER = re.compile(rf"(?:[.,]?[-–—])?\s*(?P<money>{_NAME}|{_SIGN}|{_CODE})(?!\w)", re.I)
_OPENS, _CLOSES = (
    re.compile(r"(?:^|[;,/|(]|\b(?:or|and))\s*$", re.I),
    re.compile(r"\s*(?:$|[;,/|).!?]|(?:or|and)\b)", re.I),
)
_CENTS = re.compile(r"(?:\s*,?\s*(?:and\s+)?(?P<more>\d{1,2}))?\s*(?:cents?|¢|pence)(?!\w)", re.I)


def amounts(text: str) -> list[frozenset[Amount]]:
    """The amounts of money that a text names, in its order.

    A number with a currency is one, one with two decimals, and one that stands for itself between marks or at an end;
    where there is none of the first two, every number is.
    """
    text = without_days(text)
    found: list[tuple[frozenset[Amount], bool, bool]] = []
    past = 0
    for start, end, values in _number_spans(text):
        if start < past:
            continue
        before = _BEFORE.search(text[:start])
        after = _AFTER.match(text, end)
        past = after.end() if after else end
        codes = _codes((before or after or {"money": None})["money"])
        cents = _CENTS.match(text, past)
        if cents and (codes != (None,)) == bool(cents["more"]):  # "3 euros and 50 cents", or "50 cents" alone
            values = frozenset(v + Decimal(cents["more"]) / 100 if cents["more"] else v / 100 for v in values)
            past = cents.end()
        if before and before["sign"]:
            values = frozenset(-v for v in values)
        if before and _denied(text, before.start(), end):
            values = frozenset()
        mention = frozenset((value, code) for value in values for code in codes)
        is_money = codes != (None,) or bool(cents) or bool(re.search(r"[.,]\d\d(?!\d)", text[start:end]))
        alone = _OPENS.search(text[:start]) and _CLOSES.match(text, past)
        found.append((mention, is_money, bool(alone)))
    marked = any(is_money for _, is_money, _ in found)
    return [mention for mention, is_money, alone in found if is_money or alone or not marked]


def _codes(word: str | None) -> Sequence[str | None]:
    if word is None:
        return (None,)
    if word.upper() in _CODES:
        return (word.upper(),)
    word = word.lower()
    return _SIGNS.get(word) or _NAMES.get(word) or _NAMES[word.removesuffix("s")]
