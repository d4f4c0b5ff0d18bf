"""The tools dialect: function calls whose schemas are made from the Actions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from guiforge.action import (
    DESKTOP_KINDS,
    KINDS,
    Action,
    AnswerDialog,
    Back,
    ChooseFiles,
    Click,
    CloseTab,
    Done,
    Drag,
    Forward,
    Goto,
    NewTab,
    Press,
    Reload,
    Scroll,
    SwitchTab,
    Wait,
)
from guiforge.dialects import DialectError
from guiforge.dialects.tools import Tools, schemas
from guiforge.frame import Size
from tests.dialects.strategies import TEXTS, replies

SCREEN = (1280, 720)
DIALECT = Tools()


def call(name: str, arguments: Any = "{}") -> dict[str, Any]:
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}


def read(*calls: dict[str, Any]) -> tuple[Action, ...]:
    return DIALECT.parse(json.dumps({"role": "assistant", "content": "Now.", "tool_calls": calls}), SCREEN).actions


def test_there_is_a_function_a_kind_with_its_fields_and_descriptions() -> None:
    made = {tool["function"]["name"]: tool["function"] for tool in schemas()}
    assert list(made) == list(KINDS)
    for kind, function in made.items():
        fields = {name: f for name, f in KINDS[kind].model_fields.items() if name != "kind"}
        parameters = function["parameters"]
        assert function["description"] in " ".join((KINDS[kind].__doc__ or "").split())
        assert {n: p["description"] for n, p in parameters["properties"].items()} == {
            n: f.description for n, f in fields.items()
        }
        assert parameters["required"] == [n for n, f in fields.items() if f.is_required()]
        assert (
            "'type'" in repr(parameters) and "anyOf" not in repr(parameters) and "prefixItems" not in repr(parameters)
        )


def test_the_schema_of_a_click_and_of_a_drags_path() -> None:
    click, drag = (tool["function"]["parameters"]["properties"] for tool in schemas(("click", "drag")))
    assert click["x"] == {"type": "integer", "description": "pixels from the left edge; absent: where the pointer is"}
    assert click["count"]["minimum"] == 1 and click["count"]["maximum"] == 3
    assert click["button"]["enum"] == ["left", "middle", "right", "back", "forward"]
    assert drag["path"]["items"] == {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ('{"x": 5, "y": 6}', Click(x=5, y=6)),
        ({"x": 5.0, "y": 6, "count": 2}, Click(x=5, y=6, count=2)),
        ('{"x": 5, "y": 6, "button": null, "modifiers": ["ctrl"]}', Click(x=5, y=6, modifiers=("ctrl",))),
        ("", Click()),
        (None, Click()),
    ],
)
def test_arguments_are_json_or_data_and_may_be_null_or_missing(arguments: Any, meant: Action) -> None:
    assert read(call("click", arguments)) == (meant,)


def test_several_calls_are_several_actions_and_the_text_is_the_thought() -> None:
    message = {"content": "Now.", "tool_calls": [call("press", '{"keys": ["ctrl", "s"]}'), call("done")]}
    parsed = DIALECT.parse(message, SCREEN)
    assert parsed.actions == (Press(keys=("ctrl", "s")), Done())
    assert parsed.thought == "Now."


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"content": "I am done."}, "calls no tool; valid are: click, move"),
        ({"tool_calls": [call("tap")]}, "unknown tool 'tap'; valid are: click, move"),
        ({"tool_calls": [call("click", '{"x": 5')]}, r"call 1 \(click\): the reply is not JSON"),
        ({"tool_calls": [call("done"), call("click", "[]")]}, r"call 2 \(click\): the reply has no action|JSON object"),
        ({"tool_calls": [call("click", {"x": 5})]}, r"call 1 \(click\): give both x and y"),
        ({"tool_calls": [call("click", {"x": 5.5, "y": 6})]}, r"call 1 \(click\): x: .*integer"),
        ({"tool_calls": [call("click", {"left": 5})]}, r"no argument 'left'; valid are: x, y, button, count"),
        ({"tool_calls": [call("click", {"kind": "done"})]}, r"no argument 'kind'"),
        ({"tool_calls": [call("click", {"button": "main"})]}, "'left', 'middle'"),
        ({"tool_calls": [call("press", {"keys": ["hyper"]})]}, "unknown key 'hyper'; valid are"),
        ({"tool_calls": [call("type")]}, "text: Field required"),
        ({"tool_calls": [call("done"), call("wait")]}, "the end must come last"),
        ({"tool_calls": [{"id": "c"}]}, "JSON object"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_is_no_action_is_refused_saying_why(message: Any, said: str) -> None:
    with pytest.raises(DialectError, match=said):
        DIALECT.parse(message, SCREEN)


def test_kinds_that_are_not_offered_are_refused_naming_those_that_are() -> None:
    desktop = Tools(DESKTOP_KINDS)
    with pytest.raises(DialectError, match=r"unknown tool 'goto'; valid are: click, .*infeasible"):
        desktop.parse({"tool_calls": [call("goto", {"url": "http://a"})]}, SCREEN)
    with pytest.raises(DialectError, match="unknown tool 'goto'"):
        desktop.render([Goto(url="http://a")], SCREEN)


@given(replies())
def test_what_is_rendered_parses_to_the_same(case: tuple[Size, tuple[Action, ...]]) -> None:
    screen, actions = case
    message = DIALECT.render(actions, screen)
    assert DIALECT.parse(json.dumps(message), screen).actions == actions == DIALECT.normal(actions)
    ids = [call["id"] for call in message["tool_calls"]]
    assert len(set(ids)) == len(ids) == len(actions)


@given(TEXTS)
def test_a_browsers_actions_come_back_too(text: str) -> None:
    actions = (
        Goto(url=text), NewTab(url=text), SwitchTab(index=-1), AnswerDialog(accept=False, text=text),
        ChooseFiles(paths=(text,)), Back(), Forward(), Reload(), CloseTab(), Scroll(dx=-3, unit="pixel"),
        Drag(path=((1, 2), (3, 4), (5, 6)), duration_s=0.5), Wait(seconds=0),
    )  # fmt: skip
    assert DIALECT.parse(DIALECT.render(actions, SCREEN), SCREEN).actions == actions
