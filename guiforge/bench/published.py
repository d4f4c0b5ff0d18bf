"""Benchmarks that others published, read as they are: WebVoyager and Online-Mind2Web, tasks on live web sites.

Invariant: a record is read whole or is a Problem that names file, place and field. There is no state to read on a live
site, so these tasks have no verifier: a judge sees the episode.

Sources: WebVoyager (He et al. 2024), one JSON object a line; Online-Mind2Web (Xue et al. 2025), a JSON list or lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from guiforge.task import Family, Limits, OpenPage, Suite, Task

SCREEN = (1280, 720)
LIMITS = Limits(steps=30, reset_s=180)
Hosts = Literal["site", "*"]


@dataclass(frozen=True)
class Problem:
    """A record that can't be read. place: `line 3`, `entry 3`, or empty for the file as a whole."""

    file: Path
    place: str
    field: str
    what: str

    def __str__(self) -> str:
        where = ", ".join(filter(None, (str(self.file), self.place, self.field and f"field {self.field!r}")))
        return f"{where}: {self.what}"


class BadBenchmark(ValueError):
    """A published file has records that can't be read, or none that can. problems: all of them."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        rest = f"\nand {len(problems) - 20} more" if len(problems) > 20 else ""
        super().__init__("\n".join(map(str, problems[:20])) + rest)
        self.problems = problems


def _is_id(text: str) -> str:
    if not re.fullmatch(r"[^\s/*?\[\],]+", text):
        raise ValueError(f"{text!r} is no id: it is empty, or holds a blank, a slash, a comma or one of *?[]")
    return text


def _is_site(url: str) -> str:
    url = url.strip() if "//" in url else f"https://{url.strip()}"
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"\s", url):
        raise ValueError(f"{url!r} is no http(s) address")
    parts.port  # noqa: B018  # raises ValueError for one that is none
    return url


def _is_said(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty")
    return text.strip()


class Record(BaseModel):
    """One task as it was published, under our names; what else a record holds is left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)
    id: Annotated[str, AfterValidator(_is_id), Field(validation_alias=AliasChoices("id", "task_id"))]
    instruction: Annotated[str, AfterValidator(_is_said)]
    url: Annotated[str, AfterValidator(_is_site)]

    @property
    def tags(self) -> tuple[str, ...]:
        """The site and, where there is one, the level."""
        raise NotImplementedError


class WebVoyagerRecord(Record):
    """`{"web_name", "id", "ques", "web"}`."""

    instruction: Annotated[str, AfterValidator(_is_said), Field(validation_alias="ques")]
    url: Annotated[str, AfterValidator(_is_site), Field(validation_alias="web")]
    site: Annotated[str, AfterValidator(_is_said), Field(validation_alias="web_name")]

    @property
    def tags(self) -> tuple[str, ...]:
        """See Record."""
        return (self.site,)


class Mind2WebRecord(Record):
    """`{"task_id", "confirmed_task", "website", "reference_length", "level"}`."""

    instruction: Annotated[str, AfterValidator(_is_said), Field(validation_alias="confirmed_task")]
    url: Annotated[str, AfterValidator(_is_site), Field(validation_alias="website")]
    level: Literal["easy", "medium", "hard"]
    reference_length: Annotated[int, Field(ge=1)]

    @property
    def tags(self) -> tuple[str, ...]:
        """See Record."""
        return ((urlsplit(self.url).hostname or "").removeprefix("www."), self.level)


def webvoyager(data: str, hosts: Hosts = "site", skip_bad: bool = False) -> Suite:
    """WebVoyager's tasks in a file. hosts: what a page may reach, the site and its subdomains, or `*`: everything.

    Raises BadBenchmark, for a record that can't be read unless `skip_bad`; OSError.
    """
    return _suite("webvoyager", WebVoyagerRecord, data, hosts, skip_bad)


def online_mind2web(data: str, hosts: Hosts = "site", skip_bad: bool = False) -> Suite:
    """Online-Mind2Web's tasks in a file. See `webvoyager`."""
    return _suite("online-mind2web", Mind2WebRecord, data, hosts, skip_bad)


def read(kind: type[Record], file: Path) -> tuple[list[Record], list[Problem]]:
    """The records of a file, and what is wrong with the others. Raises OSError."""
    records: dict[str, Record] = {}
    problems: list[Problem] = []
    for place, entry in _entries(file):
        try:
            record = kind.model_validate(json.loads(entry) if isinstance(entry, bytes) else entry)
        except ValidationError as error:
            problems += [Problem(file, place, *field_problem(e)) for e in error.errors()]
        except ValueError as error:  # json's own, and Unicode's
            problems.append(Problem(file, place, "", f"it is no JSON: {error}"))
        else:
            if record.id in records:
                problems.append(Problem(file, place, "id", f"{record.id!r} was there before"))
            records.setdefault(record.id, record)
    if not records and not problems:
        problems.append(Problem(file, "", "", "it holds no task"))
    return list(records.values()), problems


def field_problem(error: Any) -> tuple[str, str]:
    """The field of one of pydantic's errors, as a file names it, and what is wrong with it."""
    name = ".".join(map(str, error["loc"]))
    if error["type"] == "missing":
        return name, "it is missing"
    return name, str(error["msg"]).removeprefix("Value error, ")


def _entries(file: Path) -> Iterator[tuple[str, Any]]:
    """Each record with its place: the entries of a JSON list, or the text of each line that is not blank."""
    data = file.read_bytes().removeprefix(b"\xef\xbb\xbf")
    if data.lstrip().startswith(b"["):
        try:
            listed = json.loads(data)
        except ValueError:
            yield "", data  # which says what is wrong when it is read
            return
        yield from ((f"entry {number}", entry) for number, entry in enumerate(listed, 1))
        return
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            yield f"line {number}", line


@cache
def _suite(name: str, kind: type[Record], data: str, hosts: Hosts, skip_bad: bool) -> Suite:
    records, problems = read(kind, Path(data))
    if not records or (problems and not skip_bad):
        raise BadBenchmark(tuple(problems))
    return Suite(name, "browser", {record.id: _family(name, record, hosts) for record in records})


def _family(suite: str, record: Record, hosts: Hosts) -> Family:
    def make(seed: int) -> Task:
        return Task(
            suite=suite,
            id=record.id,
            seed=seed,
            instruction=record.instruction,
            setup=(OpenPage(url=record.url, timeout_s=60),),
            hosts=("*",) if hosts == "*" else site_hosts(record.url),
            limits=LIMITS,
            tags=record.tags,
            screen=SCREEN,
        )

    return Family(record.id, make, verify=None, oracle=None)


def site_hosts(url: str) -> tuple[str, ...]:
    """The host of an address and its subdomains (a leading `www.` is none of its own); an IP address and its port."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    if re.fullmatch(r"[\d.]+", host):
        return (f"{host}:{parts.port}" if parts.port else host,)
    return host, f"*.{host}"
