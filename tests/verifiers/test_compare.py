"""Comparators: what agrees, what does not, and that the first difference is named."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers.compare import (
    bag_difference,
    check,
    mapping_difference,
    number_difference,
    sequence_difference,
    text_difference,
    value_difference,
)


@pytest.mark.parametrize(
    ("found", "wanted"), [("  a\u00a0 b\n", "a b"), (unicodedata.normalize("NFD", "Ångström"), "Ångström"), ("", " ")]
)
def test_white_space_and_unicode_form_make_no_difference(found: str, wanted: str) -> None:
    assert text_difference(found, wanted) is None


@pytest.mark.parametrize("found", ["Totals", "Tota", "total", "Total.", "", None, 3])
def test_a_text_agrees_neither_in_part_nor_in_another_case(found: object) -> None:
    assert text_difference(found, "Total") is not None


def test_case_and_likeness_are_forgiven_only_where_declared() -> None:
    assert text_difference("TOTAL", "total", case=False) is None
    long = "the quick brown fox jumps over the lazy dog"
    assert text_difference(long.replace("quick", "quic k"), long) is not None
    assert text_difference(long.replace("quick", "quic k"), long, likeness=0.95) is None
    assert text_difference("the quick brown fox", long, likeness=0.95) is not None


@given(st.floats(-1e9, 1e9), st.floats(-1, 1))
def test_numbers_agree_exactly_within_their_tolerance(wanted: float, off: float) -> None:
    difference = number_difference(wanted + off, wanted, abs_tol=0.01, rel_tol=0)
    assert (difference is None) == (abs(wanted + off - wanted) <= 0.01)


@pytest.mark.parametrize("found", ["5", True, None, float("nan"), float("inf"), 5.01])
def test_what_is_no_number_or_another_one_differs(found: object) -> None:
    assert number_difference(found, 5) is not None


@pytest.mark.parametrize(("found", "wanted"), [(None, ""), ("", None), (2, 2.0), ("x", "x "), (True, True)])
def test_equal_values_of_a_cell(found: object, wanted: object) -> None:
    assert value_difference(found, wanted) is None


@pytest.mark.parametrize(("found", "wanted"), [(0, None), ("0", 0), (None, 0), (1, True), ("x", None), (False, "")])
def test_unequal_values_of_a_cell(found: object, wanted: object) -> None:
    assert value_difference(found, wanted) is not None


@given(st.lists(st.integers(), max_size=6), st.lists(st.integers(), max_size=6))
def test_sequences_agree_only_when_equal_and_bags_only_when_permuted(a: list[int], b: list[int]) -> None:
    assert (sequence_difference(a, b) is None) == (a == b)
    assert (bag_difference(a, b) is None) == (sorted(a) == sorted(b))


def test_the_first_difference_is_named() -> None:
    assert sequence_difference(["a", "x"], ["a", "b"], "row") == "row 2: found 'x'; wanted 'b'"
    assert sequence_difference(["a"], ["a", "b"], "row") == "row 2 is missing: 'b'"
    assert sequence_difference(["a", "b"], ["a"], "row") == "row 2 is one too many: 'b'"
    assert mapping_difference({"A1": 1}, {"A1": 1, "B1": 2}, "cell") == "cell B1 is missing: 2"
    assert mapping_difference({"A1": 1, "B1": 2}, {"A1": 1}, "cell") == "cell B1 is one too many: 2"
    assert bag_difference(["a"], ["a", "a"], "word") == "word missing: 'a'"


def test_a_check_passes_without_a_difference_and_else_gives_it() -> None:
    assert check("x", None) == ("x", True, "")
    assert check("x", "row 2 is missing") == ("x", False, "row 2 is missing")
