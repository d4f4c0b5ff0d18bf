"""GuiEnv: any suite as a Gymnasium environment.

Invariant: an episode is what it is everywhere else: the same task, the same Env, and a reward that comes from grading
the final state, once, when it ends. A fault of the world raises EnvError, and is never a reward of 0.
"""

from __future__ import annotations

from typing import Any, TypeVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from guiforge import registry
from guiforge.action import DESKTOP_KINDS, Action
from guiforge.env import Env, Observation, SnapshotState
from guiforge.frame import Size
from guiforge.grading import grade, outcome_of
from guiforge.gym.spaces import CHARSET, Sample, action_space, to_action
from guiforge.outcome import Outcome
from guiforge.task import Family, Suite, Task

Pixels = npt.NDArray[np.uint8]
Info = dict[str, Any]
ObsType = TypeVar("ObsType")
ActType = TypeVar("ActType")


class SuiteEnv(gymnasium.Env[ObsType, ActType]):
    """A suite's tasks, one an episode: what environments that show and act differently have in common.

    suite: a suite or its name.  task: glob pattern of the task ids that episodes are drawn from.  size: (width, height)
    of the screen, in pixels; by default the first task's own.  max_steps: steps until an episode is truncated; by
    default the task's own limit.  env_options: further arguments of the suite's env.

    kinds: the kinds of Action that the world knows: those that its env names, or a desktop's.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012

    def __init__(
        self, suite: str | Suite, task: str, *, size: Size | None, max_steps: int | None, render_mode: str | None,
        env_options: dict[str, Any] | None,
    ) -> None:  # fmt: skip
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"unknown render mode {render_mode!r}; valid are: {self.metadata['render_modes']}, None")
        self._suite = registry.suite(suite) if isinstance(suite, str) else suite
        self._ids = self._suite.select([task])
        self._max_steps = max_steps
        width, height = size or self._suite.task(self._ids[0], 0).screen
        self._size: Size = (width, height)
        make = registry.env_class(self._suite.env)
        self.kinds: tuple[str, ...] = getattr(make, "kinds", DESKTOP_KINDS)
        self._env: Env = make(size=self._size, **(env_options or {}))
        self.render_mode = render_mode
        self._playing: tuple[Family, Task] | None = None
        self._last: Observation | None = None
        self._end: Action | None = None
        self._steps = 0

    def begin(self, seed: int | None, options: dict[str, Any] | None) -> Task:
        """Begin an episode. Raises UnknownTask or ValueError for options that name none, EnvError for a fault."""
        super().reset(seed=seed)
        chosen = dict(options or {})
        task_id = chosen.pop("task", None) or self._ids[self.np_random.integers(len(self._ids))]
        task_seed = chosen.pop("seed", None)
        if task_seed is None:
            task_seed = self.np_random.integers(2**31)
        if chosen:
            raise ValueError(f"unknown options {sorted(chosen)}; valid are: task, seed")
        family = self._suite.family(task_id)
        task = family.make(int(task_seed))
        self._playing, self._steps, self._end = None, 0, None
        self._last = self._env.reset(task)
        task = task.worded(self._last.instruction)
        self._playing = family, task
        return task

    def act(self, *actions: Action) -> str | None:
        """Carry actions of a step out; what was wrong with them, if anything. Raises EnvError."""
        end = next((action for action in actions if action.is_end), None)
        acting = actions if end is None else actions[: actions.index(end)]
        if acting or end is None:
            self._last = self._env.step(*acting)
        self._end = end
        return self.seen.error

    def end_step(self) -> tuple[float, bool, bool, Info]:
        """Count a step: (reward, terminated, truncated, info). Raises what a verifier that crashes raises."""
        family, task = self.playing
        self._steps += 1
        terminated = self.over
        truncated = not terminated and self._steps >= (self._max_steps or task.limits.steps)
        info, reward = self.info(task), 0.0
        if terminated or truncated:
            self._playing = None
            outcome = self._grade(family, task, truncated)
            info["outcome"] = outcome.model_dump(mode="json")
            assert outcome.reward is not None
            reward = outcome.reward
        return reward, terminated, truncated, info

    @property
    def playing(self) -> tuple[Family, Task]:
        """The episode's task and its family. Raises ResetNeeded after the episode's end."""
        if self._playing is None:
            raise gymnasium.error.ResetNeeded("the episode has ended; call reset() first")
        return self._playing

    @property
    def over(self) -> bool:
        """Whether the agent or the world has ended the episode."""
        return self._end is not None or self.seen.over

    @property
    def seen(self) -> Observation:
        """What was seen last."""
        assert self._last is not None
        return self._last

    def info(self, task: Task) -> Info:
        """What an observation has no place for."""
        return {"task": task.id, "seed": task.seed, "instruction": task.instruction, "error": self.seen.error}

    def pixels(self) -> Pixels:
        """The screen as last observed, (height, width, 3) uint8 RGB."""
        return self.seen.frame.pixels.copy()

    def _grade(self, family: Family, task: Task, at_limit: bool) -> Outcome:
        snapshot, blobs = self._env.snapshot()
        return outcome_of(task, grade(family, task, SnapshotState(snapshot, blobs), self._end), at_limit=at_limit)

    def render(self) -> Pixels | None:
        """The screen as last observed, (height, width, 3) uint8 RGB, in render mode `rgb_array`; else None."""
        return self.pixels() if self.render_mode and self._last else None

    def close(self) -> None:
        """End the world and all that it started."""
        self._env.close()


class GuiEnv(SuiteEnv[Pixels, Sample]):
    """Pixels seen, Actions done: the arguments are those of SuiteEnv and `action_space`.

    `reset(seed=n)` draws the same tasks from then on; `options={"task": id, "seed": n}` names one instead.
    Observation: (height, width, 3) uint8 RGB, the pointer in it; the instruction is in `info`, as text does not belong
    in a Box. Reward: 0 until the episode ends, then the grade of the final state, 0..1. `terminated` by the actions
    answer, done and infeasible, or by the world; `truncated` at the limit of steps.
    info: `task`, `seed`, `instruction`, `error` (what was wrong with the last action, or None), and at the end
    `outcome` (guiforge.outcome.Outcome as a dict).
    """

    def __init__(
        self, suite: str | Suite = "osworld-like", task: str = "*", *, size: Size | None = None,
        max_steps: int | None = None, render_mode: str | None = None, charset: str = CHARSET, max_text: int = 64,
        env_options: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            suite, task, size=size, max_steps=max_steps, render_mode=render_mode, env_options=env_options
        )  # fmt: skip
        width, height = self._size
        self.observation_space = spaces.Box(0, 255, (height, width, 3), np.uint8)
        self.action_space = space = action_space(self._size, self.kinds, charset=charset, max_text=max_text)
        self._entries = tuple(space.spaces)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Pixels, Info]:
        """Begin an episode. Raises UnknownTask or ValueError for options that name none, EnvError for a fault."""
        task = self.begin(seed, options)
        return self.pixels(), self.info(task)

    def step(self, action: Sample) -> tuple[Pixels, float, bool, bool, Info]:
        """Carry one action out. Raises ResetNeeded after an episode's end, ValueError for what is no sample of the
        action space, EnvError for a fault of the world, and whatever a verifier that crashes raises.
        """
        if not isinstance(action, dict) or (missing := set(self._entries) - set(action)):
            lacks = f"a dict without {', '.join(sorted(missing))}" if isinstance(action, dict) else repr(action)
            raise ValueError(f"an action is a sample of action_space (guiforge.gym.to_sample makes one), not {lacks}")
        _ = self.playing
        self.act(to_action(action, self.kinds))
        return self.pixels(), *self.end_step()
