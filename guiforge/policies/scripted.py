"""The policies without a model: the oracle, the null policy and the random one.

Invariant: each answers in the harness's own format, by the harness's `render`, so nothing downstream can tell it from
a model.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from guiforge.action import Action, Click, Done, Drag, Move, Press, Scroll, TypeText, Wait
from guiforge.dialects import DialectError, OneAtATime
from guiforge.frame import Size
from guiforge.policies.endpoint import AnswerFailed
from guiforge.wire import Reply

Render = Callable[[tuple[Action, ...], Size], Reply]


class OraclePolicy:
    """Answers with what the task's oracle does next, asked within the request; Done when it has no more to do.

    Where the format says one action a reply, the oracle's actions are said one after the other before it is asked
    again. An oracle that raises is not asked again: every later request fails the same.
    """

    def __init__(self, oracle: Iterator[Sequence[Action]], render: Render, screen: Size) -> None:
        self._oracle, self._render, self._screen = oracle, render, screen
        self._left: tuple[Action, ...] = ()
        self._failure: AnswerFailed | None = None

    def __call__(self) -> Reply:
        """The reply. Raises AnswerFailed (type `oracle_error`)."""
        if self._failure is None:
            try:
                return self._say(self._left or tuple(next(self._oracle, (Done(),))) or (Wait(seconds=0),))
            except Exception as error:
                self._failure = AnswerFailed("oracle_error", f"the oracle is stuck: {type(error).__name__}: {error}")
                raise self._failure from error
        raise self._failure

    def _say(self, actions: tuple[Action, ...]) -> Reply:
        self._left = ()
        try:
            return self._render(actions, self._screen)
        except OneAtATime as error:
            first, *left = error.parts
            self._left = tuple(left)
            return self._render((first,), self._screen)


class NullPolicy:
    """Never acts: says at once that it is done."""

    def __init__(self, render: Render, screen: Size) -> None:
        self._reply = render((Done(),), screen)

    def __call__(self) -> Reply:
        """The reply."""
        return self._reply


class RandomPolicy:
    """Acts at random, the same for the same seed; from step `steps` on it may say that it is done.

    What the harness's format has no words for is passed over.
    """

    WORDS = ("hello", "report", "1234", "naïve café", "日本", "<a & b>")
    KEYS = (("Return",), ("Tab",), ("Escape",), ("Down",), ("ctrl", "a"), ("ctrl", "c"), ("alt", "F4"), ("BackSpace",))
    END_CHANCE = 0.1
    TRIES = 100

    def __init__(self, seed: int, render: Render, screen: Size, steps: int = 10) -> None:
        self._random, self._render, self._screen = random.Random(seed), render, screen
        self._steps_left = steps

    def __call__(self) -> Reply:
        """The reply. Raises DialectError where the format can say none of many actions."""
        self._steps_left -= 1
        if self._steps_left < 0 and self._random.random() < self.END_CHANCE:
            return self._render((Done(),), self._screen)
        for _ in range(self.TRIES):
            with suppress(DialectError):
                return self._render((self._act(),), self._screen)
        return self._render((self._act(),), self._screen)

    def _point(self) -> tuple[int, int]:
        return self._random.randrange(self._screen[0]), self._random.randrange(self._screen[1])

    def _act(self) -> Action:
        pick = self._random.choice
        x, y = self._point()
        kind = pick(("click", "click", "click", "move", "drag", "scroll", "type", "press"))
        match kind:
            case "click":
                return Click(x=x, y=y, button=pick(("left", "left", "right")), count=pick((1, 1, 2)))
            case "move":
                return Move(x=x, y=y)
            case "drag":
                return Drag(path=((x, y), self._point()))
            case "scroll":
                return Scroll(x=x, y=y, dy=pick((-5, -1, 1, 5)))
            case "type":
                return TypeText(text=pick(self.WORDS))
        return Press(keys=pick(self.KEYS))
