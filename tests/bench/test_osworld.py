"""OSWorld's files are read and checked as they were published: one, a folder, or the index beside its examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from guiforge.bench.osworld import Use, read, uses

TASK: dict[str, Any] = {
    "id": "t1", "snapshot": "chrome", "instruction": "Make it so.", "source": "x", "trajectory": "trajectories/",
    "related_apps": ["chrome"],
    "config": [
        {"type": "launch", "parameters": {"command": ["google-chrome"]}},
        {"type": "sleep", "parameters": {"seconds": 3}},
    ],
    "evaluator": {
        "postconfig": [{"type": "sleep", "parameters": {"seconds": 1}}],
        "func": ["exact_match", "is_in_list"],
        "conj": "or",
        "result": [{"type": "active_tab_info"}, {"type": "vm_file", "path": "/a", "dest": "a"}],
        "expected": [{"type": "rule", "rules": {}}, None],
        "options": [{}, {"threshold": 0.5}],
    },
    "proxy": False, "fixed_ip": False, "possibility_of_env_change": "low",
}  # fmt: skip
INFEASIBLE: dict[str, Any] = {
    "id": "t2", "instruction": "Fly.", "config": [], "evaluator": {"func": "infeasible", "expected": {}, "result": {}},
}  # fmt: skip
SINGLE: dict[str, Any] = {
    "id": "t3", "instruction": "Save.", "config": [{"type": "teleport", "parameters": {}}],
    "evaluator": {
        "func": "compare_table", "result": {"type": "vm_file"}, "expected": {"type": "cloud_file"}, "options": {"a": 1},
    },
}  # fmt: skip


def put(folder: Path, name: str, data: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def test_a_file_is_one_task(tmp_path: Path) -> None:
    tasks, problems = read(put(tmp_path, "chrome/t1.json", TASK))
    assert not problems
    (task,) = tasks
    assert (task.id, task.domain, task.feasible, task.related_apps) == ("t1", "chrome", True, ["chrome"])
    assert task.evaluator.func == ["exact_match", "is_in_list"]
    assert task.evaluator.getters == ["active_tab_info", "vm_file", "rule"]


def test_an_index_names_its_examples_and_a_folder_is_read_by_its_index_or_whole(tmp_path: Path) -> None:
    put(tmp_path, "examples/chrome/t1.json", TASK)
    put(tmp_path, "examples/os/t2.json", INFEASIBLE)
    put(tmp_path, "examples/os/t3.json", SINGLE)
    assert [t.id for t in read(tmp_path / "examples")[0]] == ["t1", "t2", "t3"]
    index = put(tmp_path, "test_all.json", {"os": ["t2", "gone"], "chrome": ["t1"]})
    for path in (index, tmp_path):
        tasks, problems = read(path)
        assert [(t.id, t.domain, t.feasible) for t in tasks] == [("t2", "os", False), ("t1", "chrome", True)]
        assert [(p.file.name, p.what.split(",")[0]) for p in problems] == [("gone.json", "there is no such file")]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"id": ""}, "id"),
        ({"instruction": None}, "instruction"),
        ({"config": [{"parameters": {}}]}, "config.0.type"),
        ({"config": [{"type": "sleep", "parameters": 3}]}, "config.0.parameters"),
        ({"evaluator": {**TASK["evaluator"], "func": []}}, "evaluator.func"),
        ({"evaluator": {**TASK["evaluator"], "conj": "xor"}}, "evaluator.conj"),
        ({"evaluator": {**TASK["evaluator"], "result": [{"path": "/a"}, {"type": "x"}]}}, "evaluator.result.0.type"),
        ({"evaluator": {**TASK["evaluator"], "result": [{"type": "x"}]}}, "evaluator"),
        ({"evaluator": {**TASK["evaluator"], "result": []}}, "evaluator"),
        ({"evaluator": "no"}, "evaluator"),
    ],
)
def test_what_is_wrong_with_a_task_is_named_by_file_and_field(tmp_path: Path, change: Any, field: str) -> None:
    put(tmp_path, "good.json", INFEASIBLE)
    bad = put(tmp_path, "bad.json", {**TASK, **change})
    tasks, problems = read(tmp_path)
    assert [t.id for t in tasks] == ["t2"]
    assert [(p.file, p.field) for p in problems] == [(bad, field)]


@pytest.mark.parametrize("text", ["{", "[]", "7", ""])
def test_a_file_that_is_no_task_is_named(tmp_path: Path, text: str) -> None:
    tasks, problems = read(put(tmp_path, "bad.json", text))
    assert not tasks
    assert {p.file.name for p in problems} == {"bad.json"}


def test_an_id_that_comes_twice_and_a_folder_of_nothing_are_problems(tmp_path: Path) -> None:
    assert [p.what for p in read(tmp_path)[1]] == ["it holds no task"]
    put(tmp_path, "a.json", TASK)
    put(tmp_path, "b.json", TASK)
    assert [(p.file.name, p.field) for p in read(tmp_path)[1]] == [("b.json", "id")]


def test_what_tasks_use_is_listed_with_what_is_not_of_the_format(tmp_path: Path) -> None:
    for task in (TASK, INFEASIBLE, SINGLE):
        put(tmp_path, f"{task['id']}.json", task)
    listed = uses(read(tmp_path)[0])
    assert listed[:3] == [
        Use("set-up", "launch", 1, True), Use("set-up", "sleep", 1, True), Use("set-up", "teleport", 1, False)
    ]  # fmt: skip
    assert {(u.name, u.known) for u in listed if u.part == "metric"} == {
        ("exact_match", None), ("is_in_list", None), ("infeasible", True), ("compare_table", None)
    }  # fmt: skip
    assert Use("getter", "vm_file", 2, None) in listed
