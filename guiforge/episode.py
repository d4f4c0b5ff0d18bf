"""One episode: from a spec to an Outcome.

Invariant: whatever happens, an episode that is not cancelled finishes with exactly one Outcome, and a fault of ours
never carries a reward.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Protocol

from guiforge import registry
from guiforge.action import Action
from guiforge.env import Env, EnvError, EnvTimeout, SnapshotState, Timings
from guiforge.grading import grade, outcome_of
from guiforge.harness import EpisodeOver, Harness, PolicyFailed, PolicyTimedOut, ReplyRejected
from guiforge.outcome import UNJUDGED, Outcome, Status, TimeoutOwner
from guiforge.policies import Answer, Endpoint, embedded
from guiforge.session import OWNERS, EpisodeSession, OnPhase, PhaseClock, PhaseTimeout, world_faults
from guiforge.task import Family, Suite, Task
from guiforge.trace import EpisodeKey, EpisodeSpec, Recorder, Step, end_action


class Link(Protocol):
    """What connects an episode with its model, wherever either is."""

    def open(self, key: EpisodeKey) -> Endpoint:
        """Where the model calls of an episode that has begun go, from now until `seal`."""
        ...

    def answering(self, policy: Answer) -> AbstractContextManager[None]:
        """Those calls are answered by this policy, on another thread, for as long as the context lasts."""
        ...

    def seal(self, key: EpisodeKey) -> None:
        """End them: what is under way is cut and recorded, and no other begins."""
        ...


def load(spec: EpisodeSpec) -> tuple[Family, Task]:
    """The family and the task of a spec, with the spec's limits. Raises LookupError or ValueError for a bad spec."""
    family = registry.suite(spec.suite, spec.suite_options).family(spec.family)
    if family.oracle is None and spec.key.policy == "oracle":
        raise ValueError(f"task {family.name} has no oracle")
    task = family.make(spec.key.seed)
    if spec.limits:
        limits = type(task.limits).model_validate({**task.limits.model_dump(), **spec.limits})
        task = task.model_copy(update={"limits": limits})
    return family, task


def run_episode(
    spec: EpisodeSpec, env: Env, recorder: Recorder, link: Link,
    on_phase: OnPhase = lambda phase, limit_s, step: None,
) -> Outcome:  # fmt: skip
    """Play and grade one episode, recording all of it.

    Raises nothing that happens inside the episode but KeyboardInterrupt and SystemExit (it stays unfinished), and
    the recorder's own errors. The caller may keep the env for the next episode where the Outcome has a reward.
    """
    return _Episode(spec, env, recorder, link, on_phase).run()


def regrade(suite: Suite, task: Task, state: SnapshotState, steps: Sequence[Step]) -> Outcome:
    """Grade a stored final state again, as the episode of these steps did."""
    family, end = suite.family(task.id), end_action(steps)
    return outcome_of(task, grade(family, task, state, end), at_limit=end is None)


class _Episode:
    def __init__(self, spec: EpisodeSpec, env: Env, recorder: Recorder, link: Link, on_phase: OnPhase) -> None:
        self.spec, self.env, self.recorder, self.link = spec, env, recorder, link
        self.family, self.task = load(spec)
        self.harness: Harness = registry.harness(spec.key.harness, **spec.harness_options)
        self.timings = Timings()
        self.clock = PhaseClock(self.timings, on_phase)
        self.session: EpisodeSession | None = None

    def run(self) -> Outcome:
        self.recorder.begin(self.spec.key, self.task)
        try:
            outcome = self._play_and_judge()
        except PhaseTimeout as error:
            outcome = Outcome.timed_out(OWNERS[error.phase], str(error))
        except EnvTimeout as error:
            outcome = Outcome.timed_out("env", str(error))
        except EnvError as error:
            outcome = Outcome.fault(Status.ENV_ERROR, str(error))
        last_frame = self.session.keep_frame() if self.session is not None else None
        timings = {**self.timings.seconds, **{f"env.{name}": s for name, s in self.env.timings().items()}}
        self.recorder.finish(self.spec.key, outcome, last_frame, timings)
        return outcome

    def _play_and_judge(self) -> Outcome:
        spec, task, env = self.spec, self.task, self.env
        with self.clock.phase("reset", task.limits.reset_s), world_faults(env):
            first = env.reset(task)
        policy = embedded(
            spec.key.policy,
            seed=spec.key.seed * 1000 + spec.key.attempt,
            options=spec.policy_options,
            render=self.harness.render,
            screen=first.frame.screen,
            oracle=self._oracle,
        )
        endpoint = self.link.open(spec.key)
        self.session = EpisodeSession(spec.key, task, env, first, self.recorder, endpoint, self.clock)
        try:
            with nullcontext() if policy is None else self.link.answering(policy):
                failure = self._play(self.session)
        finally:
            self.link.seal(spec.key)
        if failure is not None and failure.reward is None:
            return failure
        return self._judge(self.session, failure)

    def _oracle(self) -> Iterator[Sequence[Action]]:
        assert self.family.oracle is not None, "load refuses the oracle policy where there is none"
        return self.family.oracle(self.task, self.env.oracle_view())

    def _play(self, session: EpisodeSession) -> Outcome | None:
        """Let the harness play. None where it ended by itself or at a limit; else the Outcome its failure makes.

        Raises what of ours broke meanwhile, whatever the harness made of it.
        """
        failure: Outcome | None = None
        try:
            with session.policy_turn():
                self.harness.run(self.task.public().worded(session.observation.instruction), session)
        except EpisodeOver:
            pass
        except ReplyRejected as error:
            failure = Outcome(status=Status.FAILED, reward=0.0, components={"reply": 0.0}, reasons=(str(error),))
        except PolicyFailed as error:
            failure = Outcome.fault(Status.POLICY_ERROR, str(error))
        except (PolicyTimedOut, PhaseTimeout) as error:
            if session.late and not session.over:
                session.limit = "wall-clock"
            failure = Outcome.timed_out("policy", str(error))
        except Exception as error:
            cause = f"harness {self.spec.key.harness} crashed: {_where(error)}"
            failure = Outcome.fault(Status.POLICY_ERROR, cause)
        if session.fault is not None:
            raise session.fault
        return None if session.over else failure

    def _judge(self, session: EpisodeSession, failure: Outcome | None) -> Outcome:
        """Take the final state, store it, and grade what was stored. `failure`: how the policy failed, if it did."""
        limits = self.task.limits
        with self.clock.phase("step", limits.step_s, session.steps), world_faults(self.env):
            snapshot, blobs = self.env.snapshot()
        self.recorder.state(self.spec.key, snapshot, dict(blobs))
        if failure is not None and failure.status is Status.FAILED:
            return failure
        if not self.family.gradable(self.task):
            return Outcome.fault(Status.GRADER_ERROR, f"{UNJUDGED} yet")
        try:
            with self.clock.phase("grade", limits.grade_s, session.steps):
                verdict = grade(self.family, self.task, SnapshotState(snapshot, blobs), session.end)
        except Exception as error:
            return Outcome.fault(Status.GRADER_ERROR, f"verifier of {self.task.id}: {_where(error)}")
        if not verdict.passed:
            if failure is not None:
                return Outcome.timed_out("policy", failure.cause or "", verdict)
            if session.limit == "wall-clock":
                cause = f"the episode passed its limit of {limits.episode_s:.0f} s"
                return Outcome.timed_out(self._slowest(session), cause, verdict)
        return outcome_of(self.task, verdict, at_limit=failure is not None or session.limit is not None)

    def _slowest(self, session: EpisodeSession) -> TimeoutOwner:
        """Who used more of the episode's time; what the policy's actions asked to wait is the policy's."""
        spent = self.timings.seconds
        env_s = spent.get("step", 0.0) - session.waited_s
        return "env" if env_s > spent.get("policy", 0.0) + session.waited_s else "policy"


def _where(error: Exception) -> str:
    """An exception's type and text, and the file and line that raised it; its traceback goes to the worker's log."""
    traceback.print_exception(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno})"
