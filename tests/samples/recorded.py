"""A recorded run with every kind of episode that an export meets."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from PIL import Image

from guiforge.outcome import Outcome, Status
from guiforge.store import Store
from guiforge.task import Task
from guiforge.trace import Call, EpisodeKey
from tests.samples.toy import SOLVED, Episode, said, user

FAILED = Outcome(status=Status.FAILED, reward=0.25)
FAULT = Outcome.fault(Status.ENV_ERROR, "the display died")
CLICK = {"type": "function", "function": {"name": "click", "parameters": {"type": "object"}}}
WAIT = {"type": "function", "function": {"name": "wait", "parameters": {"type": "object", "properties": {"s": {}}}}}


def png(seed: int, size: tuple[int, int] = (20, 20)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, (seed, 10, 20)).save(buffer, "PNG")
    return buffer.getvalue()


def key(seed: int) -> EpisodeKey:
    return EpisodeKey(task="toy/task", seed=seed, attempt=0, harness="toy", policy="toy")


def record(store: Store, seed: int, calls: list[Call], outcome: Outcome | None) -> None:
    store.begin(key(seed), Task(suite="toy", id="task", seed=seed, instruction="Go.", tags=("calc",)))
    for call in calls:
        store.call(key(seed), call)
    if outcome is not None:
        store.finish(key(seed), outcome, None, {})


class SizedEpisode(Episode):
    """An episode whose images are 20 by 20 pixels, whatever their hash."""

    def prompt_of(self, messages: list[dict[str, Any]]) -> list[int]:
        """As the toy's, which reads sizes from names."""
        return super().prompt_of([json.loads(json.dumps(m).replace("image:", "image:20x20-")) for m in messages])


def record_run(path: Path) -> None:
    """Seed 0: two turns and a fork, tokens.  1: tools, a teacher's text, an image in a tool's answer.  2: failed.

    3: a fault.  4: goes on.  5: no reply at all.
    """
    with Store(path) as store:
        hashes = [store.image(png(seed), "image/png") for seed in range(3)]
        url = [{"type": "image_url", "image_url": {"url": f"image:{hash}"}} for hash in hashes]
        screens: list[dict[str, Any]] = [
            {"role": "user", "content": [part, {"type": "text", "text": "look"}]} for part in url
        ]
        forked = SizedEpisode()
        forked.ask([screens[0]], "one")
        forked.ask([screens[0], said("one"), screens[1]], "two")
        forked.ask([screens[0], said("one"), screens[2]], "three \ud800")
        record(store, 0, forked.calls, SOLVED)
        teacher = SizedEpisode()
        use = {"id": "c1", "type": "function", "function": {"name": "click", "arguments": '{"x": 1}'}}
        clicked: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [use], "reasoning_content": "hm"}
        asked: list[dict[str, Any]] = [{"role": "system", "content": "be good"}, screens[0]]
        tools = {"tools": [CLICK, WAIT]}
        teacher.ask(asked, "", tokens=None, message=clicked, request={"messages": asked, **tools})
        answer = {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "done"}, url[1]]}
        asked = [*asked, clicked, answer]
        teacher.ask(asked, "bye", tokens=None, request={"messages": asked, **tools})
        record(store, 1, teacher.calls, SOLVED)
        plain = SizedEpisode()
        plain.ask([user("just text")], "an <image>")
        record(store, 2, plain.calls, FAILED)
        record(store, 3, plain.calls, FAULT)
        record(store, 4, plain.calls, None)
        record(store, 5, [], FAILED)
