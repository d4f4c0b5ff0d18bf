"""The one table of key names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guiforge import keys

NAMES = [*keys.names(), *(alias for name in keys.names() for alias in keys.aliases(name))]


@given(st.one_of(st.text(max_size=3), st.sampled_from(NAMES), st.characters()))
def test_a_canonical_name_is_its_own_canonical_name(name: str) -> None:
    try:
        once = keys.canonical(name)
    except keys.UnknownKey:
        return
    assert keys.canonical(once) == once
    assert once in keys.names() or len(once) == 1


@pytest.mark.parametrize("name", keys.names())
def test_every_alias_means_its_key_in_any_case(name: str) -> None:
    for alias in (name, *keys.aliases(name)):
        assert {keys.canonical(a) for a in (alias, alias.lower(), alias.upper())} == {name}


def test_no_alias_is_of_two_keys() -> None:
    lowered = [name.lower() for name in NAMES]
    doubled = {name for name in lowered if lowered.count(name) > 1}
    assert doubled == {name for name in doubled if keys.canonical(name).lower() == name}


@given(st.characters(exclude_categories=["C"]))
def test_a_printable_character_is_itself(character: str) -> None:
    assert keys.canonical(character) == ("space" if character == " " else character)


@pytest.mark.parametrize(
    ("pyautogui", "x", "web", "name"),
    [
        ("enter", "Return", "Enter", "Return"),
        ("esc", "Escape", "Escape", "Escape"),
        ("pgdn", "Next", "PageDown", "Page_Down"),
        ("left", "Left", "ArrowLeft", "Left"),
        ("ctrl", "Control_L", "ControlOrMeta", "Control_L"),
        ("win", "Super_L", "Meta", "Super_L"),
        ("backspace", "BackSpace", "Backspace", "BackSpace"),
        ("f5", "F5", "F5", "F5"),
        ("<", "less", "<", "<"),
        ("-", "minus", "-", "-"),
        ("A", "A", "A", "A"),
    ],
)
def test_pyautoguis_xs_and_the_webs_names_mean_one_key(pyautogui: str, x: str, web: str, name: str) -> None:
    assert {keys.canonical(alias) for alias in (pyautogui, x, web)} == {name}


@pytest.mark.parametrize("name", ["", "hyper", "ctrl+s", "\x00", "\x1b", "F25", "ab"])
def test_an_unknown_key_is_answered_with_the_valid_names(name: str) -> None:
    with pytest.raises(keys.UnknownKey, match=r"unknown key .*; valid are single characters and: .*Return"):
        keys.canonical(name)
