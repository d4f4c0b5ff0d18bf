"""Answers are judged by what they say: any usual form of the right value passes, any other value does not."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guiforge.action import Answer, Done, Infeasible
from verifiers.answers import (
    MOST_CHARACTERS,
    Day,
    ListOf,
    Money,
    Name,
    Nothing,
    Number,
    OneOf,
    SetOf,
    Text,
    Want,
    YesNo,
    answer_difference,
    check_answer,
)

MAY_3 = Day(datetime.date(2024, 5, 3))  # a Friday
PEOPLE = ("Bob Ray", "Anna Lee", "José Núñez", "Mary Ann Lee")
PRICE = Money("1250.50", "EUR")
TITLES = ("Winter is coming", "The long winter", "Summer")

RIGHT: list[tuple[Want, list[str]]] = [
    (Number(42), [
        "42", "42.", "42.0", "**42**", "`42`", "Answer: 42", "[42]", "forty-two", "Forty two tickets", "+42", "42 km",
        "42%", "There are 42 open tickets.", "The answer is 42 (forty-two).", "42 = 42", "It has 42 replies.", "$42",
        "EUR42", "It was 42 on 2024-05-03 at 10:30.", "42 comments on AB-12 and in room B7", "about 42", "#42",
    ]),
    (Number(1234), ["1234", "1,234", "1.234", "1 234", "1\u202f234", "1'234", "1’234", "1,234.00", "1.234,00"]),
    (Number(1234567.5), ["1234567.5", "1,234,567.5", "1.234.567,5", "1 234 567,5", "1'234'567.5"]),
    (Number(0.5), ["0.5", ".5", "0,5", "0.50"]),
    (Number(-3), ["-3", "−3", "It is -3 degrees"]),
    (Number(3000), ["3k", "3 thousand", "three thousand", "3,000"]),
    (Number(1200000), ["1.2 million", "1,200,000"]),
    (Number(0), ["0", "zero", "none", "None.", "There are no open tickets.", "It has no replies."]),
    (Number(3), ["three", "The newest one has three.", "3rd"]),
    (Number(115), ["one hundred and fifteen", "one hundred fifteen"]),
    (Number(4.33, tolerance=0.01), ["4.33", "4.3333", "4,333"]),
    (PRICE, [
        "1250.50", "€1250.50", "1250.50 €", "1,250.50 EUR", "EUR 1.250,50", "EUR1250.50", "1 250,50 euros", "1250,5",
        "It costs €1,250.50.", "The 3 items cost € 1250.50 together", "1250 euros and 50 cents",
    ]),
    (Money("12", "USD"), ["$12", "$12.00", "US$12", "12 dollars", "12 USD", "USD 12", "12.00", "12"]),
    (Money("12", "CAD"), ["$12", "C$12", "CA$12.00", "CAD 12"]),
    (Money("0.5", "USD"), ["50 cents", "$0.50", "0.50", "$.50"]),
    (Money("-5", "EUR"), ["-€5", "€-5", "-5 €"]),
    (Money("12", "CHF"), ["CHF 12.–", "12.- CHF", "Fr. 12", "12 Swiss francs"]),
    (Money("1250", "EUR"), ["€1,250", "€1.250", "1250,- €"]),
    (MAY_3, [
        "2024-05-03", "2024/05/03", "2024-05-03T10:30", "03.05.2024", "3.5.2024", "3 May 2024", "3rd of May, 2024",
        "May 3, 2024", "May 3rd 2024", "Friday, 3 May 2024", "Fri, May 3, 2024", "May 3, 2024 (Friday)", "3-May-2024",
        "03/05/2024", "05/03/2024", "5/3/24", "3 May", "The meeting is on Friday the 3rd of May 2024 at 10:30.",
        "3 May 2024, that is 2024-05-03", "May 03, 2024 10:15 AM", "There were 7 people on 3 May 2024",
    ]),
    (Day(datetime.date(2024, 5, 13)), ["13/05/2024", "05/13/2024", "13 may 2024"]),
    (Name("José Ann Lee"), [
        "José Ann Lee", "jose ann lee", "Lee, José Ann", "Dr. José Ann Lee", "The author is José Ann Lee.",
        "It was written by José Ann Lee", "Winner: José Ann Lee", "José Ann Lee with 12 posts",
    ]),
    (Name("Ann Lee", others=PEOPLE), [
        "Ann Lee", "Lee, Ann", "Currently Ann Lee holds the Presidency of the Club", "LEE Ann",
    ]),
    (Name("Tom Fox", others=PEOPLE), ["T. Fox", "Fox, T.", "It is T. Fox"]),
    (Name("Søren Łuk-Weiß", aliases=("soren99",)), ["Soren Luk-Weiss", "soren99", "Søren Luk Weiss", "User soren99."]),
    (Text("Winter"), ["Winter", "winter.", '"Winter"', "The title is Winter.", 'The newest article is "Winter".',
        "**Winter**"]),
    (Text("Winter", others=TITLES), ["Winter", "I looked at every page and the newest article reads Winter"]),
    (Text("Salt, Pepper and Oil"), ["Salt, Pepper and Oil", "salt pepper and oil", "“Salt, pepper and oil”"]),
    (Text("C++ Primer"), ["C++ Primer", "The title is C++ Primer"]),
    (YesNo(True), ["Yes", "yes.", "Yes, it is in stock.", "true", "The answer is yes.", "**Yes**", "Answer: yes",
        "Yes. It is."]),
    (YesNo(False), [
        "No", "no.", "No, it is not in stock.", "No there is none", "The answer is no", "That is not true.", "false",
        "No - it was sold.",
    ]),
    (Nothing(), ["None", "not found", "There is no such order.", "No matching product was found.", "N/A",
        "No results."]),
    (OneOf(Number(2019), Text("the year of the pig")), ["2019", "The year of the pig"]),
    (ListOf((Number(1), Number(2), Number(3))), ["1, 2, 3", "1,2,3", "1; 2; 3", "1 2 3", "1, 2 and 3", "1\n2\n3",
        "[1, 2, 3]",
        "1. 1\n2. 2\n3. 3", "- 1\n- 2\n- 3", "They are 1, 2, and 3."]),
    (ListOf((Number(1234), Number(5678))), ["1,234, 5,678", "1234 and 5678", "1.234; 5.678"]),
    (ListOf((Text("Salt, Pepper and Oil"), Text("Tea"))), [
        '"Salt, Pepper and Oil", "Tea"', "Salt, Pepper and Oil, Tea",
    ]),
    (SetOf((Text("red"), Text("dark blue"), Text("green"))), [
        "red, dark blue, green", "green, red and dark blue", "Green; Dark Blue; Red", "- dark blue\n- red\n- green",
        "The tags are red, green and dark blue.", "Tags: green, dark blue, red", '["red", "dark blue", "green"]',
        "(green, red, dark blue)", "red/green/dark blue", "1) red\n2) dark blue\n3) green",
    ]),
    (SetOf((Name("Ann Lee"), Name("Bob Ray"))), ["Bob Ray and Ann Lee", "Ann Lee, Bob Ray", "Lee, Ann; Ray, Bob"]),
    (ListOf((Text("Tea"), Money("3.50", "EUR"))), ["Tea, €3.50", "Tea; 3,50 €", "Tea\n3.50"]),
    (SetOf((MAY_3, Day(datetime.date(2024, 6, 1)))), ["June 1, 2024 and May 3, 2024", "2024-05-03, 2024-06-01",
        "3 May; 1 June"]),
    (SetOf((MAY_3, Day(datetime.date(2024, 5, 5)))), ["3 and 5 May 2024", "2024-05-03 and 2024-05-05"]),
    (SetOf((Number(3), Number(-5))), ["3, -5", "3 and -5"]),
    (Money("74", "EUR"), ["The 29 members pay 74 EUR", "74 EUR for 29 members", "In week 3, 74 EUR", "74 EUR, 74"]),
    (Name("ewa", others=("hugo", "ines")), ["ewa", "It was ewa.", "Reported by ewa", "The Tracker says it was ewa"]),
    (Name("Tom Fox", others=("Tom Fox", *PEOPLE)), ["Tom Fox", "T. Fox", "Fox, Tom"]),
    (Nothing(), ["None.", "There is no such order.", "There are no tickets of that kind", "No tickets were found"]),
]  # fmt: skip

WRONG: list[tuple[Want, list[str]]] = [
    (Number(42), [
        "", "   ", "43", "142", "4.2", "4 2", "420", "-42", "42 or 43", "between 40 and 42", "40-42", "not 42",
        "It isn't 42.", "more than 42", "at least 42", "42+", "42 or more", ">42", "I could not find it", "AB-42",
        "B42",
        "forty-three", "42 of 50", "42k", "2024-05-42", "0.42",
    ]),
    (Number(1234), ["1,2345", "12,34", "1.2.34", "1,234.5", "1,23,4"]),
    (Number(1.5), ["15", "1,500", "1.50.0"]),
    (Number(0), ["No information was found", "I have no answer.", "There is no such page", "one", "unknown"]),
    (Number(4.33, tolerance=0.01), ["4.3", "4.35"]),
    (PRICE, [
        "$1250.50", "1250.50 GBP", "1250.05", "€1250", "€12.50", "€1250.50 or €1300", "€1250.50, later 1300.00",
        "not €1250.50", "1250.50 dollars", "over €1250.50", "€-1250.50", "1,250,50",
    ]),
    (Money("12", "USD"), ["C$12", "€12", "12 cents", "$1.2", "$12.50", "$12 plus $3 shipping"]),
    (MAY_3, [
        "4 May 2024", "3 May 2023", "May 2024", "Friday", "2024", "05.03.2024", "Thursday, 3 May 2024",
        "3 May 2024 (Monday)", "3-5 May 2024", "May 3 to 5, 2024", "3 May 2024 or 4 May 2024", "not on 3 May 2024",
        "before 3 May 2024", "13/05/2024", "2024-03-05", "35/05/2024", "tomorrow",
    ]),
    (Day(datetime.date(2024, 5, 3), with_year=True), ["3 May", "May 3"]),
    (Name("Ann Lee"), [
        "Ann", "Lee", "Anna Lee", "Ann Leeson", "A. Lee", "Bob Ray", "Ann Lee or Bob Ray", "Ann Lee and Bob Ray",
        "Bob and Ann Lee", "Bob, Ann Lee", "not Ann Lee", "It isn't Ann Lee", "Bob Ray, then Ann Lee",
        "bob and ann lee", "ann lee, bob",
    ]),
    (Name("Ann Lee", others=PEOPLE), ["A. Lee", "Mary Ann Lee", "Ann Lee, Bob Ray", "jose nunez and ann lee",
        "either Ann Lee"]),
    (Text("Winter"), [
        "Winter is coming", "The long winter", "Winter 2", "Summer", "Winter or Summer", "not Winter", "Winters",
        '"Winter" and "Summer"', "Gold in Winter",
    ]),
    (Text("Winter", others=TITLES), ["Winter is coming", "The long winter", "Winter, then Summer", "perhaps Winter"]),
    (Text("Café"), ["Cafe"]),
    (Text("C++ Primer"), ["C Primer", "C# Primer"]),
    (YesNo(True), ["No", "", "It is in stock", "Yes and no", "yes or no", "not true", "maybe", "No. Yes.",
        "yesterday"]),
    (YesNo(False), ["Yes", "No information was found", "No answer", "nobody", "I know", "Yes/No", "No, wait. Yes."]),
    (Nothing(), ["42", "Ann Lee", "The order is here", ""]),
    (OneOf(Number(1), Number(2)), ["3", "1 or 2"]),
    (ListOf((Number(1), Number(2), Number(3))), ["3, 2, 1", "1, 2", "1, 2, 3, 4", "123", "1, 2, 2", "1 to 3"]),
    (SetOf((Text("red"), Text("dark blue"), Text("green"))), [
        "red, green", "red, dark blue, green, white", "red, red, green", "red, blue, green", "dark red, blue, green",
        "not red, dark blue, green", "red dark blue green white",
    ]),
    (SetOf((Name("Ann Lee"), Name("Bob Ray"))), ["Ann Lee", "Ann Lee, Bob Ray, Tom Fox", "Ann Ray, Bob Lee"]),
    (ListOf((Text("Tea"), Money("3.50", "EUR"))), ["€3.50, Tea", "Tea, $3.50", "Tea", "Green Tea, €3.50"]),
    (SetOf((MAY_3, Day(datetime.date(2024, 6, 1)))), ["May 3, 2024", "May 3, 2024 and June 2, 2024"]),
    (SetOf((Number(3), Number(5))), ["3-5", "3 - 5", "3 to 5", "3 or 5", "3–5", "3 files or 5"]),
    (SetOf((Money("3.50", "EUR"), Money("5", "EUR"))), ["€3.50 or €5", "3.50 - 5.00 EUR"]),
    (SetOf((MAY_3, Day(datetime.date(2024, 5, 5)))), ["3-5 May 2024", "May 3-5, 2024", "3 to 5 May", "3 or 5 May"]),
    (SetOf((Text("red"), Text("green"))), ["Not tagged: red, green", "red or green", "All but these: red, green"]),
    (Money("74", "EUR"), ["74 EUR; 29", "29, 74 EUR", "€74 or 29", "74 EUR | 29"]),
    (Name("Tom Fox", others=PEOPLE), ["Tom Fox, B. Ray", "Tom Fox; Núñez, J.", "Ray, B., and Tom Fox"]),
    (Name("ewa", others=("hugo", "ines")), ["ewa Hansen", "It was Mary ewa", "hugo", "ewa, hugo", "ewas"]),
    (Nothing(), ["There is no doubt that it is Ann Lee", "None, but maybe ticket 3", "There is none except 7",
        "There are no more than 5", "There is no such order, only 17"]),
    (YesNo(True), ["Yes? I am not sure", "Perhaps yes", "Yes, but I can't tell"]),
    (Number(0), ["There is no doubt", "There is no need", "It has no problem"]),
]  # fmt: skip


def _cases(table: list[tuple[Want, list[str]]]) -> list[tuple[Want, str]]:
    return [(want, text) for want, texts in table for text in texts]


@pytest.mark.parametrize(("want", "text"), _cases(RIGHT), ids=str)
def test_a_right_answer_passes_in_any_usual_form(want: Want, text: str) -> None:
    assert check_answer("answer", Answer(text=text), want) == ("answer", True, "")


@pytest.mark.parametrize(("want", "text"), _cases(WRONG), ids=str)
def test_another_value_is_wrong_and_the_reason_quotes_it(want: Want, text: str) -> None:
    name, passed, reason = check_answer("answer", Answer(text=text), want)
    assert name == "answer"
    assert not passed
    assert repr(text) in reason


@pytest.mark.parametrize("end", [None, Done(), Infeasible(reason="42")])
def test_an_episode_that_ends_without_an_answer_has_none(end: Done | Infeasible | None) -> None:
    assert check_answer("answer", end, Number(42)) == ("answer", False, "the episode ended without an answer")


def test_values_and_words_of_the_question_may_be_repeated() -> None:
    question = "How many comments has ticket 17 of the harbour project, opened on 3 May 2024 for €20.00?"
    assert answer_difference("Ticket 17 has 5 comments", Number(5), given=question) is None
    assert answer_difference("Ticket 17 has 5 comments", Number(5)) is not None
    assert answer_difference("17", Number(5), given=question) is not None
    assert answer_difference("17", Number(17), given=question) is None
    assert answer_difference("17, but 12 are hidden", Number(17), given=question) is not None
    due = Day(datetime.date(2024, 6, 1))
    assert answer_difference("Opened on 3 May 2024, due on 1 June 2024", due, given=question) is None
    assert answer_difference("€20.00 became €25.00", Money("25", "EUR"), given=question) is None
    title = Text("Mending the crane")
    assert answer_difference("The harbour project's ticket is Mending the crane", title, given=question) is None
    assert answer_difference("The bridge team's ticket is Mending the crane", title, given=question) is not None
    author = Name("Ann Lee")
    assert answer_difference("The Harbour project is led by Ann Lee", author, given=question) is None
    assert answer_difference("The Bridge project is led by Ann Lee", author, given=question) is not None


def test_an_essay_is_no_answer() -> None:
    assert "2000 at most" in str(answer_difference("42 " * (MOST_CHARACTERS // 2), Number(42)))


def test_a_list_of_nothing_is_refused() -> None:
    for kind in (ListOf, SetOf):
        with pytest.raises(ValueError, match="Nothing"):
            kind(())


def grouped(value: Decimal, group: str, point: str) -> str:
    return f"{value:,}".replace(",", "g").replace(".", point).replace("g", group)


AMOUNTS = st.decimals(min_value=0, max_value=10**9, places=2).map(lambda d: d.quantize(Decimal("0.01")))
STYLES = st.sampled_from([(",", "."), (".", ","), (" ", ","), ("'", "."), ("", "."), ("", ",")])
AROUND = st.sampled_from(["{}", "It is {}.", "**{}**", "The answer is {}", "answer: {}"])


@given(AMOUNTS, STYLES, AROUND)
def test_numbers_and_money_are_read_in_every_national_style(
    value: Decimal, style: tuple[str, str], around: str
) -> None:
    text = grouped(value, *style)
    assert answer_difference(around.format(text), Number(str(value))) is None
    for said in (f"€{text}", f"{text} EUR", f"{text} €", f"EUR {text}", text):
        assert answer_difference(around.format(said), Money(str(value), "EUR")) is None
        assert answer_difference(around.format(said), Money(str(value + Decimal("0.01")), "EUR")) is not None
    assert answer_difference(around.format(f"{text} GBP"), Money(str(value), "EUR")) is not None


@given(st.integers(0, 10**6), st.integers(0, 10**6), AROUND)
def test_a_second_different_number_is_wrong(one: int, two: int, around: str) -> None:
    both = answer_difference(around.format(f"{one} or rather {two}"), Number(one))
    assert (both is None) == (one == two)


DAYS = st.dates(min_value=datetime.date(1900, 1, 1), max_value=datetime.date(2099, 12, 31))
DAY_STYLES = st.sampled_from(
    [
        "%Y-%m-%d",
        "%d.%m.%Y",
        "%d/%m/%Y",
        "%m/%d/%Y",
        "%d %B %Y",
        "%B %d, %Y",
        "%A, %d %b %Y",
        "%a %b %d, %Y",
        "%d-%b-%Y",
    ]
)


@given(DAYS, DAY_STYLES, AROUND, st.integers(1, 1000))
def test_days_are_read_in_every_style_and_only_as_themselves(
    day: datetime.date, style: str, around: str, apart: int
) -> None:
    text = around.format(day.strftime(style))
    assert answer_difference(text, Day(day, with_year=True)) is None
    other = day + datetime.timedelta(days=apart)
    swapped = "/" in style and (day.month, day.day, day.year) == (other.day, other.month, other.year)
    assert (answer_difference(text, Day(other)) is None) == swapped


WORD = st.text("abcdefghijklmnopqrstuvwxyz", min_size=3, max_size=8)


@given(st.lists(WORD, min_size=1, max_size=6, unique=True), st.sampled_from([", ", "; ", "\n", ",", " | "]), st.data())
def test_sets_forgive_order_and_nothing_else(words: list[str], separator: str, data: st.DataObject) -> None:
    want = tuple(Text(word) for word in words)
    mixed = data.draw(st.permutations(words))
    assert answer_difference(separator.join(mixed), SetOf(want)) is None
    assert (answer_difference(separator.join(mixed), ListOf(want)) is None) == (mixed == words)
    assert answer_difference(separator.join([*mixed, "zebrazebra"]), SetOf(want)) is not None
    if len(words) > 1:
        assert answer_difference(separator.join(mixed[1:]), SetOf(want)) is not None


@settings(max_examples=300)
@given(st.text(max_size=60))
def test_no_text_breaks_the_comparison(text: str) -> None:
    wants: tuple[Want, ...] = (
        Number(7), Money("7.31", "EUR"), MAY_3, Name("Ann Lee", others=PEOPLE), Name("Ann Lee"), Text("Winter"),
        YesNo(True),
        Nothing(), SetOf((Number(7), Text("x"))), ListOf((Text("x"), Text("y"))),
    )  # fmt: skip
    for want in wants:
        answer_difference(text, want, given=text)
