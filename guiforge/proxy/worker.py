"""The worker's side: what an episode's own worker, or a foreign program by hand, tells of it. Needs its worker key.

Invariant: a worker's key writes to its own episode alone; once an outcome is there, nothing is added.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from aiohttp import web
from pydantic import BaseModel, ConfigDict

from guiforge.outcome import Outcome
from guiforge.proxy.admin import said
from guiforge.proxy.admission import claim_of, read_body
from guiforge.proxy.book import Episode
from guiforge.proxy.images import Images
from guiforge.proxy.wires import Refused
from guiforge.trace import Step

if TYPE_CHECKING:
    from guiforge.proxy.proxy import Proxy


class WorkerStep(BaseModel):
    """The body of POST /worker/step. frame: the screen before the actions, as a data URL; its hash is put in `step`."""

    model_config = ConfigDict(extra="forbid")
    step: dict[str, Any]
    frame: str | None = None


class WorkerOutcome(BaseModel):
    """The body of POST /worker/outcome. last_frame: as a data URL.  timings: seconds by phase."""

    model_config = ConfigDict(extra="forbid")
    outcome: Outcome
    last_frame: str | None = None
    timings: dict[str, float] = {}


def worker_routes(proxy: Proxy, images: Images) -> list[web.RouteDef]:
    """POST /worker/step and /worker/outcome."""

    def mine(request: web.Request) -> Episode:
        episode = proxy.book.episode(claim_of(request, proxy.keys, "w"))
        episode.check_deadline()
        if episode.sealed:
            raise Refused(409, "episode_sealed", f"episode {episode.id} has ended")
        return episode

    async def step(request: web.Request) -> Any:
        episode = mine(request)
        asked = WorkerStep.model_validate((await read_body(request, episode.limits.body_bytes))[1])
        given = dict(asked.step)
        if asked.frame is not None:
            given["frame"] = await images.one(asked.frame, episode.limits)
        step = Step.model_validate({"index": episode.steps, **given})
        await asyncio.to_thread(proxy.store.step, episode.key, step)
        episode.steps = step.index + 1
        return {"step": step.index, "frame": step.frame}

    async def outcome(request: web.Request) -> Any:
        episode = mine(request)
        asked = WorkerOutcome.model_validate((await read_body(request, episode.limits.body_bytes))[1])
        frame = None if asked.last_frame is None else await images.one(asked.last_frame, episode.limits)
        await proxy.seal(episode.id)
        await asyncio.to_thread(proxy.store.finish, episode.key, asked.outcome, frame, asked.timings)
        return {"episode": episode.id, "status": str(asked.outcome.status), "reward": asked.outcome.reward}

    def kept(handler: Any) -> Any:
        async def handle(request: web.Request) -> web.Response:
            return await said(handler, request)

        return handle

    return [web.post("/worker/step", kept(step)), web.post("/worker/outcome", kept(outcome))]
