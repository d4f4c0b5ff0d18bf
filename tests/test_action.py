"""Actions: what a well-formed one is, and that their own words document them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from guiforge.action import (
    BROWSER_ONLY,
    DESKTOP_KINDS,
    ENDS,
    KINDS,
    Action,
    ActionAdapter,
    Click,
    Drag,
    Move,
    Press,
    Scroll,
    describe,
    parse,
)
from tests.dialects.strategies import ENDS as END_ACTIONS
from tests.dialects.strategies import acts

SCREEN = (1920, 1080)
ANY = st.one_of(acts(SCREEN), END_ACTIONS)


@given(ANY)
def test_an_action_comes_back_from_its_json(action: Action) -> None:
    assert parse(action.model_dump_json()) == action
    assert parse(action.model_dump()) == action
    assert ActionAdapter.validate_python(action) is action


@given(ANY)
def test_an_action_never_changes(action: Action) -> None:
    for field in type(action).model_fields:
        with pytest.raises(ValidationError, match="frozen"):
            setattr(action, field, getattr(action, field))
    assert hash(action) == hash(parse(action.model_dump()))


@given(ANY)
def test_only_an_end_ends(action: Action) -> None:
    assert action.is_end == (action.kind in ENDS)


def test_desktop_and_browser_kinds_are_all_kinds() -> None:
    assert {*DESKTOP_KINDS, *BROWSER_ONLY} == set(KINDS)
    assert not {*DESKTOP_KINDS} & {*BROWSER_ONLY}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_and_field_is_described_once(kind: str) -> None:
    lines = describe((kind,)).splitlines()
    fields = [name for name in KINDS[kind].model_fields if name != "kind"]
    assert lines[0].startswith(f"{kind}(") and lines[0].endswith(".")
    assert [line.split(":")[0].strip() for line in lines[1:]] == fields
    assert all(line.split(": ", 1)[1] not in ("", "None") for line in lines[1:])
    assert "\n".join(lines) in describe()


def test_keys_are_made_canonical() -> None:
    assert Press(keys=("CTRL", "enter")) == Press(keys=("Control_L", "Return"))
    assert Click(modifiers=("shift",)).modifiers == ("Shift_L",)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"kind": "click", "x": 1}, "both x and y"),
        ({"kind": "scroll", "y": 1}, "both x and y"),
        ({"kind": "click", "x": 1.5, "y": 2}, "x"),
        ({"kind": "click", "count": 4}, "count"),
        ({"kind": "click", "count": 0}, "count"),
        ({"kind": "click", "button": "top"}, "button"),
        ({"kind": "click", "where": 1}, "where"),
        ({"kind": "move", "x": 1}, "y"),
        ({"kind": "drag", "path": []}, "path"),
        ({"kind": "drag", "path": [(1, 1)], "duration_s": 31}, "duration_s"),
        ({"kind": "press", "keys": []}, "keys"),
        ({"kind": "press", "keys": ["hyper"]}, "unknown key 'hyper'"),
        ({"kind": "key_down", "key": "hyper"}, "unknown key 'hyper'"),
        ({"kind": "wait", "seconds": -1}, "seconds"),
        ({"kind": "wait", "seconds": 101}, "seconds"),
        ({"kind": "wait", "seconds": float("nan")}, "seconds"),
        ({"kind": "teleport"}, "kind"),
        ({}, "kind"),
    ],
)
def test_what_is_malformed_is_refused_naming_the_field(data: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError, match=field):
        parse(data)


def test_a_place_is_a_point_or_the_pointers() -> None:
    assert Click(x=1, y=2).point == (1, 2)
    assert Scroll(dy=1).point is None
    assert Move(x=-5, y=99_999).x == -5  # off the screen is the env's to refuse
    assert Drag.model_validate({"path": [[1, 2]]}).path == ((1, 2),)
