"""The session of one episode: what it lends to a harness, and the clocks that bound it.

Invariant: at any moment exactly one phase is on the clock, and passing its deadline raises PhaseTimeout in the main
thread, where the harness and the env run. All that passes through a session is recorded before it returns.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Literal

from guiforge.action import Action, asked_s
from guiforge.env import Env, EnvError, Observation, Timings
from guiforge.harness import EpisodeOver
from guiforge.outcome import TimeoutOwner
from guiforge.policies import Endpoint
from guiforge.task import Task
from guiforge.trace import EpisodeKey, Recorder, Step

Phase = Literal["start", "reset", "policy", "step", "grade"]
OWNERS: Mapping[Phase, TimeoutOwner] = {
    "start": "env", "reset": "env", "step": "env", "policy": "policy", "grade": "grader",
}  # fmt: skip
POLICY_GRACE_S = 5.0  # past a call's own timeout, for a harness that does not heed it

OnPhase = Callable[[Phase, float, int], None]
"""Called as a phase starts: its name, its limit in seconds, the number of the step."""


class PhaseTimeout(BaseException):
    """A phase passed its deadline and was interrupted.

    No Exception, so that no `except Exception` between the phase and the episode takes it for a fault of its own: a
    reader of the agent's file, a harness that goes on whatever happens.
    """

    def __init__(self, phase: Phase, limit_s: float) -> None:
        super().__init__(f"phase {phase} passed its limit of {limit_s:.0f} s")
        self.phase = phase


class PhaseClock:
    """Times one phase after another into `timings`, and interrupts the one that outlives its limit.

    The interruption is a SIGALRM, so it works in the main thread alone; elsewhere phases are only timed, and whoever
    runs the episode watches it from outside.
    """

    def __init__(self, timings: Timings, on_phase: OnPhase) -> None:
        self._timings, self._on_phase = timings, on_phase
        self._interrupts = threading.current_thread() is threading.main_thread()

    @contextmanager
    def phase(self, phase: Phase, limit_s: float, step: int = 0) -> Iterator[None]:
        """Put a phase on the clock for the block. Raises PhaseTimeout inside it at the limit."""
        self._on_phase(phase, limit_s, step)
        with self._timings.phase(phase):
            if not self._interrupts:
                yield
                return

            def passed(signum: int, frame: FrameType | None) -> None:
                raise PhaseTimeout(phase, limit_s)

            before = signal.signal(signal.SIGALRM, passed)
            signal.setitimer(signal.ITIMER_REAL, limit_s)
            try:
                yield
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)


@contextmanager
def world_faults(env: Env) -> Iterator[None]:
    """Whatever the env raises inside is an EnvError: a bug of ours there is a fault of the world, never a zero."""
    try:
        yield
    except EnvError:
        raise
    except Exception as error:
        raise EnvError(env.name, f"{type(error).__name__}: {error}") from error


class EpisodeSession:
    """A Session (see guiforge.harness): steps the env, counts, keeps deadlines, and records all that passes.

    end: the action that ended the episode.  limit: the limit that did.  fault: what of ours broke, whatever the
    harness then made of it. Once one of them is set, or the world has ended the episode, every use of the session
    raises EpisodeOver.
    waited_s: seconds that the policy's own actions asked for (waits, held keys, slow drags).
    """

    def __init__(
        self, key: EpisodeKey, task: Task, env: Env, first: Observation, recorder: Recorder, endpoint: Endpoint,
        clock: PhaseClock,
    ) -> None:  # fmt: skip
        self.base_url, self.api_key, self.model = endpoint.base_url, endpoint.api_key, endpoint.model
        self.observation = first
        self.end: Action | None = None
        self.limit: Literal["steps", "wall-clock"] | None = None
        self.fault: BaseException | None = None
        self.waited_s = 0.0
        self.steps = 0
        self._key, self._task, self._env, self._recorder, self._clock = key, task, env, recorder, clock
        self._deadline = time.monotonic() + task.limits.episode_s
        self._stop_policy_clock: Callable[[], None] = lambda: None

    @property
    def call_timeout_s(self) -> float:
        """Seconds that the next model call may take: the task's limit, or what is left of the episode."""
        return max(0.1, min(self._task.limits.policy_s, self._deadline - time.monotonic()))

    @property
    def over(self) -> bool:
        """Whether the episode has ended, or broken."""
        ended = self.end is not None or self.limit is not None or self.observation.over
        return ended or self.fault is not None

    @property
    def late(self) -> bool:
        """Whether the episode's wall-clock has run out (half a second of it is none)."""
        return time.monotonic() >= self._deadline - 0.5

    @contextmanager
    def policy_turn(self) -> Iterator[None]:
        """The block is the harness's: `policy` is on the clock but while `step` and `unread` run."""
        self._start_policy_clock()
        try:
            yield
        finally:
            self._stop_policy_clock()

    def step(self, *actions: Action) -> Observation:
        """See Session."""
        with self._our_turn():
            return self._step(actions)

    def unread(self, problem: str) -> None:
        """See Session."""
        with self._our_turn():
            self._recorder.unread(self._key, problem)

    def keep_frame(self) -> str:
        """Store the latest observation's frame, exact, and give its content hash."""
        return self._keep(self.observation)

    def _step(self, actions: tuple[Action, ...]) -> Observation:
        end = next((a for a in actions if a.is_end), None)
        acting = actions[: actions.index(end)] if end is not None else actions
        before, started, took = self.observation, time.time(), time.monotonic()
        error: str | None = None
        try:
            if acting or end is None:
                asked = sum(asked_s(action) for action in acting)
                self.waited_s += asked
                limit_s = self._task.limits.step_s + asked
                with self._clock.phase("step", limit_s, self.steps), world_faults(self._env):
                    self.observation = self._env.step(*acting)
                error = self.observation.error
        finally:
            self._recorder.step(
                self._key,
                Step(
                    index=self.steps, frame=self._keep(before), cursor=before.frame.cursor,
                    settled=before.frame.settled, text=before.text, actions=actions, error=error, started=started,
                    timings={"step": time.monotonic() - took},
                ),
            )  # fmt: skip
        self.steps += 1
        if end is not None:
            self.end = end
        elif self.observation.over:
            pass
        elif self.steps >= self._task.limits.steps:
            self.limit = "steps"
        elif self.late:
            self.limit = "wall-clock"
        else:
            return self.observation
        raise EpisodeOver

    @contextmanager
    def _our_turn(self) -> Iterator[None]:
        if self.over:
            raise EpisodeOver
        self._stop_policy_clock()
        try:
            yield
        except EpisodeOver:
            raise
        except BaseException as error:
            self.fault = error
            raise
        finally:
            self._start_policy_clock()

    def _start_policy_clock(self) -> None:
        limit_s = POLICY_GRACE_S if self.over else self.call_timeout_s + POLICY_GRACE_S
        turn = self._clock.phase("policy", limit_s, self.steps)
        turn.__enter__()

        def stop() -> None:
            turn.__exit__(None, None, None)

        self._stop_policy_clock = stop

    def _keep(self, observation: Observation) -> str:
        encoded = observation.frame.encode("png")
        return self._recorder.image(encoded.data, encoded.media_type)
