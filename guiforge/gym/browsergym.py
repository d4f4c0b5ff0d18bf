"""BrowserGymEnv: a suite of pages as an agent written for BrowserGym knows it: its observation keys, its action text.

Invariant: a reply is a step, its calls are carried out one by one until one is wrong; what is wrong is
`last_action_error`, never an exception. The text is read with `ast` and never run. The page is looked at, not marked.

What differs from BrowserGym: bids are numbers in iframes too; `send_msg_to_user` ends the episode with its text as the
answer; an element is worked by mouse and keys (see `bids`). The reward is the suite's own grade, at the end. What a
site makes anew in each session and writes into its pages (a form's token) differs between two episodes of one seed.
Source: BrowserGym (de Chezelles et al. 2024, arXiv:2412.05467), its observation space and action documentation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from gymnasium import spaces

from envs.browser.cdp import CdpError, Gone, Late
from envs.browser.elements import Elements, Look
from envs.browser.view import BrowserView
from guiforge.action import Action, Answer, Infeasible
from guiforge.dialects.base import Fields
from guiforge.dialects.browsergym import CALLS
from guiforge.dialects.source import CallsOf, Screen, read_source
from guiforge.env import EnvError
from guiforge.frame import Size
from guiforge.gym.bids import BID_CALLS
from guiforge.gym.env import Info, SuiteEnv
from guiforge.task import Suite

Seen = dict[str, Any]
Call = Callable[[Elements], Sequence[Action]]
GREETING = "Hello! What can I do for you on this page?"
MAX_TEXT = 10_000


class AnyText(spaces.Text):
    """Text of any characters; samples are letters and digits."""

    def __init__(self, max_length: int = MAX_TEXT) -> None:
        super().__init__(max_length, min_length=0)

    def contains(self, x: Any) -> bool:
        """Whether it is a text."""
        return isinstance(x, str)


class AnyDict(spaces.Space[dict[str, Any]]):
    """Any dictionary."""

    def contains(self, x: Any) -> bool:
        """Whether it is a dictionary."""
        return isinstance(x, dict)

    def sample(self, mask: Any = None, probability: Any = None) -> dict[str, Any]:
        """An empty one."""
        return {}


def observation_space(size: Size) -> spaces.Dict:
    """What BrowserGym's agents see; `size` is (width, height) of the screen in pixels."""
    width, height = size
    message = {"role": AnyText(), "timestamp": spaces.Box(0, 1e9, (), np.float64), "message": AnyText()}
    return spaces.Dict(
        {
            "chat_messages": spaces.Sequence(spaces.Dict(message)),
            "goal": AnyText(),
            "goal_object": spaces.Sequence(AnyDict()),
            "open_pages_urls": spaces.Sequence(AnyText()),
            "open_pages_titles": spaces.Sequence(AnyText()),
            "active_page_index": spaces.Box(0, 255, (1,), np.int64),
            "url": AnyText(),
            "screenshot": spaces.Box(0, 255, (height, width, 3), np.uint8),
            "dom_object": AnyDict(),
            "axtree_object": AnyDict(),
            "extra_element_properties": AnyDict(),
            "focused_element_bid": AnyText(),
            "last_action": AnyText(),
            "last_action_error": AnyText(),
            "elapsed_time": spaces.Box(0, 1e9, (1,), np.float64),
        }
    )


class BrowserGymEnv(SuiteEnv[Seen, str]):
    """Text and pages seen, calls said: the arguments are those of SuiteEnv.

    clock: gives seconds, for `elapsed_time` and the chat's timestamps, which count from the episode's start.
    Observation: BrowserGym's keys (`observation_space`); a page that can't be read now (a dialog is open, it has
    crashed) has an empty document and tree. Action: one call or several, one a line: those of the dialect `browsergym`
    (`mouse_click(x, y)`) and those by bid (`click("12")`). Reward, `terminated`, `truncated` and `info` are GuiEnv's.
    """

    def __init__(
        self, suite: str | Suite = "webvoyager-like", task: str = "*", *, size: Size | None = None,
        max_steps: int | None = None, render_mode: str | None = None, env_options: dict[str, Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        super().__init__(
            suite, task, size=size, max_steps=max_steps, render_mode=render_mode, env_options=env_options
        )  # fmt: skip
        if "goto" not in self.kinds and "answer_dialog" not in self.kinds:
            self._env.close()
            raise ValueError(f"suite {self._suite.name!r} has no pages: its world is {self._suite.env!r}")
        self.observation_space = observation_space(self._size)
        self.action_space = AnyText()
        self._clock, self._started = clock, 0.0
        self._chat: list[tuple[str, float, str]] = []
        self._goal = ""
        self._said, self._wrong = "", ""
        self._elements: Elements | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Seen, Info]:
        """As GuiEnv's."""
        task = self.begin(seed, options)
        view = self._env.oracle_view()
        assert isinstance(view, BrowserView)
        self._elements = Elements(view)
        self._goal, self._said, self._wrong = task.instruction, "", ""
        self._started, self._chat = self._clock(), []
        self._tell("assistant", GREETING)
        self._tell("user", self._goal)
        return self._see(), self.info(task)

    def step(self, action: str) -> tuple[Seen, float, bool, bool, Info]:
        """Carry a reply out. Raises ResetNeeded after an episode's end, EnvError for a fault of the world, and
        whatever a verifier that crashes raises.
        """
        _ = self.playing
        assert self._elements is not None
        self._said, self._wrong = action, ""
        try:
            for call in read_source(action, Screen(self._size, fractions=False, cursor=None), _CALLS):
                self._wrong = self._carry_out(call(self._elements))
                if self._wrong or self.over:
                    break
        except (ValueError, CdpError, Late) as problem:  # DialectError and NoElement are ValueErrors
            self._wrong = str(problem)
        except Gone as gone:
            raise EnvError("browser", str(gone)) from gone
        seen = self._see()
        reward, terminated, truncated, info = self.end_step()
        return seen, reward, terminated, truncated, {**info, "error": self._wrong or None}

    def _carry_out(self, actions: Sequence[Action]) -> str:
        """What was wrong with them; an empty text for nothing."""
        for action in actions:
            if isinstance(action, Answer):
                self._tell("assistant", action.text)
            if isinstance(action, Infeasible):
                self._tell("infeasible", action.reason)
        return self.act(*actions) or "" if actions else ""

    def _tell(self, role: str, text: str) -> None:
        self._chat.append((role, self._clock() - self._started, text))

    def _see(self) -> Seen:
        info, look = self.seen.info, self._look()
        return {
            "chat_messages": tuple(
                {"role": role, "timestamp": np.asarray(at), "message": text} for role, at, text in self._chat
            ),
            "goal": self._goal,
            "goal_object": ({"type": "text", "text": self._goal},),
            "open_pages_urls": tuple(tab["url"] for tab in info["tabs"]),
            "open_pages_titles": tuple(tab["title"] for tab in info["tabs"]),
            "active_page_index": np.asarray([info["page_index"]]),
            "url": info["url"],
            "screenshot": self.pixels(),
            "dom_object": look.snapshot,
            "axtree_object": {"nodes": look.tree},
            "extra_element_properties": {
                bid: {
                    "visibility": place.visible, "bbox": None if place.box is None else list(place.box),
                    "clickable": place.clickable, "set_of_marks": place.marked,
                }
                for bid, place in look.places.items()
            },
            "focused_element_bid": look.focused,
            "last_action": self._said,
            "last_action_error": self._wrong,
            "elapsed_time": np.asarray([self._clock() - self._started]),
        }  # fmt: skip

    def _look(self) -> Look:
        """The page as data; nothing where it can't be read now."""
        nothing = Look({"documents": [], "strings": []}, [], {}, "")
        if self._elements is None or self.seen.info["dialog"] or self.seen.info["crashed"]:
            return nothing
        try:
            return self._elements.look()
        except (CdpError, Late):
            return nothing
        except Gone as gone:
            raise EnvError("browser", str(gone)) from gone


def _later(name: str, by_bid: bool) -> Callable[[Fields, Screen], Sequence[Call]]:
    """A handler whose call means its Actions when its turn comes, as the page is then."""

    def read(fields: Fields, screen: Screen) -> Sequence[Call]:
        if by_bid:
            return [partial(BID_CALLS[name][1], fields)]
        return [lambda elements: CALLS[name][1](fields, screen)]

    return read


_CALLS: CallsOf[Call] = {
    **{name: (names, _later(name, False)) for name, (names, _) in CALLS.items()},
    **{name: (names, _later(name, True)) for name, (names, _) in BID_CALLS.items()},
}
