"""The scheduler's side: opens and seals episodes, holds calls back while weights change. Needs the run's admin key.

Invariant: without that key nothing is done and nothing is told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from guiforge.proxy.admission import bearer, read_body
from guiforge.proxy.bodies import dumps
from guiforge.proxy.book import Limits
from guiforge.proxy.out import HungUp
from guiforge.proxy.wires import WIRES, Refused
from guiforge.store import AlreadyFinished, StoreError
from guiforge.task import Task
from guiforge.trace import EpisodeKey

if TYPE_CHECKING:
    from guiforge.proxy.proxy import Proxy

MAX_BODY = 64 << 20


class OpenEpisode(BaseModel):
    """The body of POST /admin/episodes. task: begins the episode in the store; without it, its worker does.

    limits: those of guiforge.proxy.Limits that differ from the proxy's own.
    """

    model_config = ConfigDict(extra="forbid")
    key: EpisodeKey
    task: Task | None = None
    deadline_s: float = Field(gt=0, allow_inf_nan=False)
    limits: dict[str, Any] = {}


class Resume(BaseModel):
    """The body of POST /admin/resume. policy_version: the name of the weights from now on; None: as before."""

    model_config = ConfigDict(extra="forbid")
    policy_version: str | None = None


Handler = Callable[[web.Request], Awaitable[Any]]


def admin_routes(proxy: Proxy) -> list[web.RouteDef]:
    """POST /admin/episodes, /admin/episodes/{id}/seal, /admin/pause and /admin/resume."""

    def kept(handler: Handler) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            if not proxy.keys.is_admin(bearer(request)):
                return say(Refused(401, "invalid_api_key", "this key is not this run's admin key"))
            return await said(handler, request)

        return handle

    async def open_episode(request: web.Request) -> Any:
        asked = OpenEpisode.model_validate((await read_body(request, MAX_BODY))[1])
        limits = Limits.of(asked.limits, proxy.limits)
        if asked.task is not None:
            await asyncio.to_thread(proxy.store.begin, asked.key, asked.task)
        opened = proxy.open(asked.key, asked.deadline_s, limits=limits)
        return {
            "episode": opened.episode,
            "completions_key": opened.completions_key,
            "worker_key": opened.worker_key,
            "deadline": opened.deadline,
            "base_url": proxy.base_url,
        }

    async def seal(request: web.Request) -> Any:
        await proxy.seal(request.match_info["id"])
        return {"sealed": request.match_info["id"]}

    async def pause(request: web.Request) -> Any:
        await proxy.pause()
        return {"paused": True}

    async def resume(request: web.Request) -> Any:
        body = (await read_body(request, MAX_BODY))[1] if request.can_read_body else {}
        proxy.resume(Resume.model_validate(body).policy_version)
        return {"policy_version": proxy.gate.version}

    return [
        web.post("/admin/episodes", kept(open_episode)),
        web.post("/admin/episodes/{id}/seal", kept(seal)),
        web.post("/admin/pause", kept(pause)),
        web.post("/admin/resume", kept(resume)),
    ]


async def said(handler: Handler, request: web.Request) -> web.Response:
    """What a handler answers, as JSON; what was wrong with the request as an error in OpenAI's shape."""
    try:
        return web.Response(body=dumps(await handler(request)), content_type="application/json")
    except Refused as refused:
        return say(refused)
    except HungUp:
        return web.Response(status=400)  # which nobody reads
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return say(Refused(400, "invalid_request_error", f"{where}: {first['msg']}"))
    except ValueError as error:
        return say(Refused(400, "invalid_request_error", str(error)))
    except AlreadyFinished as error:
        return say(Refused(409, "episode_sealed", str(error)))
    except StoreError as error:
        return say(Refused(500, "not_recorded", str(error)))


def say(refused: Refused) -> web.Response:
    """An error, in the shape of OpenAI's."""
    body = dumps(WIRES["chat"].error(refused.status, refused.type, refused.text))
    return web.Response(status=refused.status, body=body, content_type="application/json")
