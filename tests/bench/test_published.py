"""Benchmarks are read as they were published; what can't be read is named by file, line and field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from guiforge import registry
from guiforge.bench.published import (
    BadBenchmark,
    Mind2WebRecord,
    WebVoyagerRecord,
    online_mind2web,
    read,
    site_hosts,
    webvoyager,
)
from guiforge.task import OpenPage

VOYAGER = {"web_name": "Recipes", "id": "Recipes--0", "ques": "Find a soup.", "web": "https://www.recipes.example/"}
MIND: dict[str, Any] = {
    "task_id": "a1b2_110325", "confirmed_task": "Find the cheapest lamp.", "website": "https://shop.example/lamps",
    "reference_length": 7, "level": "medium",
}  # fmt: skip


def lines(path: Path, *records: Any) -> Path:
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in records) + "\n")
    return path


def test_webvoyager_lines_become_tasks_on_their_site(tmp_path: Path) -> None:
    file = lines(tmp_path / "d.jsonl", VOYAGER, "", {**VOYAGER, "id": "Recipes--1", "extra": 1})
    suite = webvoyager(str(file))
    assert (suite.name, suite.env, list(suite.families)) == ("webvoyager", "browser", ["Recipes--0", "Recipes--1"])
    task = suite.task("Recipes--0", 3)
    assert (task.suite, task.id, task.seed, task.instruction) == ("webvoyager", "Recipes--0", 3, "Find a soup.")
    assert [step.url for step in task.setup if isinstance(step, OpenPage)] == ["https://www.recipes.example/"]
    assert task.hosts == ("recipes.example", "*.recipes.example")
    assert task.tags == ("Recipes",)
    assert not suite.family(task.id).gradable(task)
    assert webvoyager(str(file), hosts="*").task("Recipes--0", 0).hosts == ("*",)


@pytest.mark.parametrize("as_list", [True, False])
def test_online_mind2web_is_a_list_or_lines(tmp_path: Path, as_list: bool) -> None:
    records = [MIND, {**MIND, "task_id": "b2", "website": "shop.example", "level": "hard"}]
    file = tmp_path / "d.json"
    file.write_text(json.dumps(records, indent=1) if as_list else "\n".join(map(json.dumps, records)))
    suite = online_mind2web(str(file))
    assert [suite.task(name, 0).tags for name in suite.families] == [
        ("shop.example", "medium"),
        ("shop.example", "hard"),
    ]
    second = suite.task("b2", 0).setup[0]
    assert isinstance(second, OpenPage) and second.url == "https://shop.example"


@pytest.mark.parametrize(
    ("url", "hosts"),
    [
        ("https://www.a.example/x", ("a.example", "*.a.example")),
        ("http://127.0.0.1:8123/x", ("127.0.0.1:8123",)),
        ("http://10.0.0.1/", ("10.0.0.1",)),
        ("http://localhost:8000/", ("localhost", "*.localhost")),
    ],
)
def test_a_site_is_its_host_and_what_lies_below(url: str, hosts: tuple[str, ...]) -> None:
    assert site_hosts(url) == hosts


@pytest.mark.parametrize(
    ("bad", "field", "what"),
    [
        ({k: v for k, v in VOYAGER.items() if k != "web"}, "web", "missing"),
        ({**VOYAGER, "id": 7}, "id", "string"),
        ({**VOYAGER, "id": "a b"}, "id", "no id"),
        ({**VOYAGER, "id": "a/b"}, "id", "no id"),
        ({**VOYAGER, "ques": "  "}, "ques", "empty"),
        ({**VOYAGER, "web": "ftp://a.example"}, "web", "no http"),
        ({**VOYAGER, "web": "http://a.example:99999/"}, "web", "[Pp]ort"),
        (VOYAGER, "id", "before"),
    ],
)
def test_a_broken_record_is_named_by_file_line_and_field(tmp_path: Path, bad: Any, field: str, what: str) -> None:
    file = lines(tmp_path / "d.jsonl", VOYAGER, bad, {**VOYAGER, "id": "c"})
    records, problems = read(WebVoyagerRecord, file)
    assert [r.id for r in records] == ["Recipes--0", "c"]
    assert [(p.file, p.place, p.field) for p in problems] == [(file, "line 2", field)]
    with pytest.raises(BadBenchmark, match=rf"d\.jsonl, line 2, field '{field}': .*{what}"):
        webvoyager(str(file))
    assert list(webvoyager(str(file), skip_bad=True).families) == ["Recipes--0", "c"]


@pytest.mark.parametrize("line", ['{"id": "x"', "[1, 2", "\x00", '"text"', "7", "null"])
def test_a_line_that_is_no_object_is_named(tmp_path: Path, line: str) -> None:
    file = lines(tmp_path / "d.jsonl", VOYAGER, line)
    _, problems = read(WebVoyagerRecord, file)
    assert {p.place for p in problems} == {"line 2"}


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    file.write_bytes(json.dumps(VOYAGER).encode() + b"\n\xff\xfe\n")
    assert [p.place for p in read(WebVoyagerRecord, file)[1]] == ["line 2"]


def test_all_that_is_wrong_with_a_record_is_told_at_once(tmp_path: Path) -> None:
    file = lines(tmp_path / "d.jsonl", {**MIND, "level": "brutal", "reference_length": "long"})
    fields = [(p.place, p.field) for p in read(Mind2WebRecord, file)[1]]
    assert sorted(fields) == [("line 1", "level"), ("line 1", "reference_length")]


@pytest.mark.parametrize("text", ["", "\n\n", "[]"])
def test_a_file_without_a_task_is_no_benchmark(tmp_path: Path, text: str) -> None:
    file = tmp_path / "d.json"
    file.write_text(text)
    for skip_bad in (False, True):
        with pytest.raises(BadBenchmark, match="no task"):
            webvoyager(str(file), skip_bad=skip_bad)


def test_a_cut_list_is_named(tmp_path: Path) -> None:
    file = tmp_path / "d.json"
    file.write_text(json.dumps([MIND])[:-2])
    with pytest.raises(BadBenchmark, match="no JSON"):
        online_mind2web(str(file), skip_bad=True)


def test_the_registry_reads_a_benchmark_with_its_file_and_says_so_without(tmp_path: Path) -> None:
    file = lines(tmp_path / "d.jsonl", VOYAGER)
    assert registry.suite("webvoyager", {"data": str(file)}).name == "webvoyager"
    with pytest.raises(registry.Unknown, match="guiforge bench webvoyager --data FILE"):
        registry.suite("webvoyager")
    with pytest.raises(registry.Unknown, match="unknown benchmark"):
        registry.suite("osworld-like", {"data": str(file)})
