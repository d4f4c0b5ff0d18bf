"""The worker: a process that plays the specs it is given, one after another, with no knowledge of where it runs.

Invariant: it keeps nothing. All it learns goes to the run's Recorder over its channel; when its owner is gone (its
standard input ends) it closes its env and exits.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any, NoReturn

from guiforge import registry
from guiforge.env import Env, Snapshot
from guiforge.episode import run_episode
from guiforge.fleet.channel import STOP_S, Channel, ChannelClosed
from guiforge.frame import content_hash
from guiforge.outcome import Outcome
from guiforge.policies import Answer, AnswerFailed, Endpoint
from guiforge.session import Phase
from guiforge.task import Task
from guiforge.trace import EpisodeKey, EpisodeSpec, Step
from guiforge.wire import ChatMessage


class ChannelRecorder:
    """A Recorder whose writes are carried out, and made durable, at the other end of the channel."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._sent: set[str] = set()

    def begin(self, key: EpisodeKey, task: Task) -> None:
        """See Recorder."""
        self._channel.ask("begin", {"key": key.model_dump(), "task": task.model_dump(mode="json")})

    def image(self, data: bytes, media_type: str) -> str:
        """See Recorder. An image already sent by this worker is not sent again."""
        name = content_hash(data)
        if name not in self._sent:
            self._channel.ask("image", {"media_type": media_type}, [data])
            self._sent.add(name)
        return name

    def unread(self, key: EpisodeKey, problem: str) -> None:
        """See Recorder."""
        self._channel.ask("unread", {"key": key.model_dump(), "problem": problem})

    def step(self, key: EpisodeKey, step: Step) -> None:
        """See Recorder."""
        self._channel.ask("step", {"key": key.model_dump(), "step": step.model_dump()})

    def state(self, key: EpisodeKey, snapshot: Snapshot, blobs: Mapping[str, bytes]) -> None:
        """See Recorder. Blobs already sent by this worker are not sent again."""
        fresh = [data for name, data in blobs.items() if name not in self._sent]
        self._channel.ask("state", {"key": key.model_dump(), "snapshot": snapshot.model_dump()}, fresh)
        self._sent.update(blobs)

    def finish(self, key: EpisodeKey, outcome: Outcome, last_frame: str | None, timings: dict[str, float]) -> None:
        """See Recorder."""
        data = {"key": key.model_dump(), "outcome": outcome.model_dump(), "last_frame": last_frame}
        self._channel.ask("finish", {**data, "timings": timings})


class ChannelLink:
    """A Link to the proxy at the other end of the channel; its questions are what a policy here is asked."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def open(self, key: EpisodeKey) -> Endpoint:
        """See Link."""
        return Endpoint(**self._channel.ask("open"))

    def answering(self, policy: Answer) -> AbstractContextManager[None]:
        """See Link."""

        def said() -> dict[str, Any]:
            try:
                reply = policy()
            except AnswerFailed as error:
                return {"type": error.type, "error": str(error)}
            except Exception as error:
                return {"type": "policy_error", "error": f"{type(error).__name__}: {error}"}
            message = reply if isinstance(reply, ChatMessage) else ChatMessage(role="assistant", content=reply)
            return {"message": message.model_dump(exclude_none=True)}

        return self._channel.answering(said)

    def seal(self, key: EpisodeKey) -> None:
        """See Link."""
        self._channel.ask("seal")


class Envs:
    """The warm env of a worker: kept between episodes of the same kind, replaced after a fault."""

    def __init__(self) -> None:
        self._env: Env | None = None
        self._kind: tuple[str, str] | None = None

    def get(self, name: str, options: Mapping[str, Any]) -> Env:
        """The env of this name and options, the present one if it is of that kind."""
        kind = (name, repr(sorted(options.items())))
        if self._env is None or self._kind != kind:
            self.close()
            self._env, self._kind = registry.env_class(name)(**options), kind
        return self._env

    def close(self) -> None:
        """Close the present env, if any."""
        if self._env is not None:
            env, self._env = self._env, None
            env.close()


def play(spec: EpisodeSpec, channel: Channel, envs: Envs, recorder: ChannelRecorder) -> None:
    """Play one spec, its phases told over the channel; then say `done`."""

    def on_phase(phase: Phase, limit_s: float, step: int) -> None:
        channel.send("phase", {"phase": phase, "limit_s": limit_s, "step": step})

    env = envs.get(registry.suite(spec.suite, spec.suite_options).env, spec.env_options)
    outcome = run_episode(spec, env, recorder, ChannelLink(channel), on_phase)
    if outcome.reward is None:
        envs.close()  # before `done`: a worker that breaks here takes no other episode with it
    channel.send("done")


def serve(channel: Channel) -> None:
    """Play specs until the channel closes."""
    envs, recorder = Envs(), ChannelRecorder(channel)
    try:
        while True:
            play(EpisodeSpec.model_validate(channel.receive().data), channel, envs, recorder)
    except ChannelClosed:
        pass
    finally:
        envs.close()


def _exit_on(signum: int, frame: FrameType | None) -> NoReturn:
    signal.signal(signum, signal.SIG_IGN)
    raise SystemExit(128 + signum)


def end_with_owner() -> None:
    """End when standard input does: whoever started this worker is gone. In good order, or after STOP_S without."""

    def watch() -> None:
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait(STOP_S)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True, name="owner-watch").start()


def main(fd: int) -> None:
    """Entry of `guiforge worker --fd N`: N is an inherited stream socket."""
    signal.signal(signal.SIGTERM, _exit_on)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the owner decides; a terminal sends it to the whole group
    end_with_owner()
    serve(Channel(socket.socket(fileno=fd)))


if __name__ == "__main__":
    main(int(sys.argv[1]))
