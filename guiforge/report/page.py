"""The page of a run: `report/index.html` lists it, and each episode has a page of its own beside it.

Invariant: pages open from disk with no server and load nothing. Screenshots are embedded scaled down; a click opens
the full one from the run's `images/`. What a model wrote is escaped, and no script but the page's own can run.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import statistics
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup
from PIL import Image

from guiforge.env import Snapshot
from guiforge.report import overlay
from guiforge.report.calls import CallView, Decode, branches, trees_of
from guiforge.report.calls import views as call_views
from guiforge.report.summary import STATUSES, parameter_text, summarise
from guiforge.store import Damaged, EpisodeRecord, RunReader, UnknownEpisode
from guiforge.store.errors import needs_room
from guiforge.trace import Step

THUMBNAIL_WIDTH_PX = 960
THUMBNAIL_QUALITY = 72
SEEN_WIDTH_PX = 320  # of an image that the model saw, beside its message
MOST_TEXT = 20_000  # characters of a request or a reply that a page shows; the run keeps all
MOST_CHANGES = 60  # changed files that a page lists
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Picture:
    """A screenshot on a page: scaled down as a data URL, its full size in pixels, and where the full one lies."""

    url: str
    width: int
    height: int
    full: str
    problem: str = ""


@dataclass(frozen=True)
class StepView:
    """A step as the page shows it; `calls` are the model calls made in it."""

    step: Step
    picture: Picture
    marks: list[overlay.Mark]
    calls: list[CallView]


@dataclass(frozen=True)
class SeenPicture(Picture):
    """An image that the model saw. first: whether the page shows it here for the first time."""

    first: bool = False


@dataclass(frozen=True)
class Change:
    """A file that differs between the first state and the final one. sizes: bytes, None where it was absent."""

    path: str
    what: str
    before: int | None
    after: int | None


def write_page(run_dir: str | Path, decode: Decode | None = None) -> Path:
    """Write the pages of a run, finished or not, and give the path of the first: `report/index.html`.

    An episode's page takes about 50 KB a step. decode: says what tokens are; without it they are shown by id.
    Raises NotARun, StoreFull.
    """
    with RunReader(run_dir) as run:
        folder = run.path / "report"
        with needs_room(run.path, "the report", 1 << 20):
            folder.mkdir(exist_ok=True)
            episodes = run.episodes()
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                counts = list(
                    pool.map(lambda i: _write_episode(run, folder, episodes, i, decode), range(len(episodes)))
                )
            html = _template("index.html").render(
                run=run,
                episodes=list(zip(episodes, counts, strict=True)),
                summary=summarise(episodes),
                statuses=[s for s in STATUSES if any(e.status == s for e in episodes)],
                applications=sorted({e.application for e in episodes}),
                median_s=statistics.median(d) if (d := [e.ended - e.started for e in episodes if e.ended]) else None,
                parameters={k: parameter_text(k, v) for k, v in run.parameters.items() if v not in (None, "", [], {})},
                script=_script("list.js"),
            )
            write(folder / "index.html", html)
    return folder / "index.html"


def _write_episode(
    run: RunReader, folder: Path, episodes: list[EpisodeRecord], index: int, decode: Decode | None
) -> int:
    """Write one episode's page; returns how many steps it has."""
    episode = episodes[index]
    task, steps, calls = run.task(episode.key), run.steps(episode.key), run.calls(episode.key)
    pictures: dict[str, Picture] = {}

    def picture(hash: str) -> Picture:
        if hash not in pictures:
            pictures[hash] = _picture(run, hash)
        return pictures[hash]

    seen: dict[str, SeenPicture] = {}

    def first_or_again(hash: str) -> SeenPicture:
        if hash in seen:
            return replace(seen[hash], url="", first=False)
        seen[hash] = SeenPicture(**vars(_picture(run, hash, SEEN_WIDTH_PX)), first=True)
        return seen[hash]

    trees = trees_of(calls)
    shown = call_views(calls, trees, decode)
    views = [
        StepView(
            step=step,
            picture=picture(step.frame),
            marks=overlay.marks(step.actions, step.cursor),
            calls=[view for view in shown if view.call.step == step.index],
        )
        for step in steps
    ]
    html = _template("episode.html").render(
        run=run,
        episode=episode,
        task=task,
        steps=views,
        unplayed=[view for view in shown if view.call.step >= len(steps)],
        branches=branches(trees),
        call_count=max((call.index for call in calls), default=-1) + 1,
        pictures=first_or_again,
        final=picture(episode.last_frame) if episode.last_frame else None,
        changes=_changes(run, episode),
        most_changes=MOST_CHANGES,
        summary=summarise([episode]),
        before=episodes[index - 1] if index else None,
        after=episodes[index + 1] if index + 1 < len(episodes) else None,
    )
    write(folder / f"{episode.id}.html", html)
    return len(steps)


def _picture(run: RunReader, hash: str, width_px: int = THUMBNAIL_WIDTH_PX) -> Picture:
    try:
        image = Image.open(io.BytesIO(run.image_bytes(hash))).convert("RGB")
        full = os.path.relpath(run.image_path(hash), run.path / "report")
    except Damaged as error:
        return Picture(url="", width=16, height=9, full="", problem=str(error))
    width, height = image.size
    if width > width_px:
        small = (width_px, max(1, round(height * width_px / width)))
        image = image.resize(small, Image.Resampling.BOX)
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", quality=THUMBNAIL_QUALITY, method=2)
    return Picture(f"data:image/webp;base64,{base64.b64encode(buffer.getvalue()).decode()}", width, height, full)


def _changes(run: RunReader, episode: EpisodeRecord) -> list[Change] | None:
    """What differs between the first and the final state; None where no final state was kept."""
    try:
        snapshot: Snapshot = run.snapshot(episode.key)[0]
    except (UnknownEpisode, Damaged):
        return None
    before, after = snapshot.before, snapshot.after
    return [
        Change(
            path=path,
            what="removed" if path not in after else "made" if path not in before else "changed",
            before=before[path].size if path in before else None,
            after=after[path].size if path in after else None,
        )
        for path in sorted({*before, *after})
        if path not in before or path not in after or before[path].hash != after[path].hash
    ]


def write(path: Path, html: str) -> None:
    """Write a page whole, or not at all."""
    temp = path.with_name(f".{path.name}.tmp")
    temp.write_bytes(html.encode("utf-8", "backslashreplace"))
    temp.rename(path)


def render(template: str, **values: Any) -> str:
    """The HTML of a template of this folder."""
    return _template(template).render(**values)


def _template(name: str) -> Template:
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    env = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    env.filters.update(seconds=seconds, clock=_clock, bytes=_bytes, cut=_cut)
    env.globals["style"] = Markup((_HERE / "style.css").read_text())
    return env


def _script(name: str) -> Mapping[str, Markup]:
    """A script of ours and the hash by which the page's policy lets it, and nothing else, run."""
    text = (_HERE / name).read_text()
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return {"text": Markup(text), "hash": Markup(f"sha256-{digest}")}


def seconds(value: float | None) -> str:
    """A duration for a person: `340 ms`, `2.4 s`, `3 min 05 s`, `2 h 10 min`."""
    if value is None:
        return "–"
    if value < 1:
        return f"{value * 1000:.0f} ms"
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def _clock(value: float | None) -> str:
    return "–" if value is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(value))


def _bytes(value: int | None) -> str:
    if value is None:
        return "–"
    return f"{value:,} B" if value < 10_000 else f"{value / 1000:,.0f} kB"


def _cut(text: str) -> str:
    if len(text) <= MOST_TEXT:
        return text
    return f"{text[:MOST_TEXT]}\n… {len(text) - MOST_TEXT:,} more characters: the page shows {MOST_TEXT:,}"
