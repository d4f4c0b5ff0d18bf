"""What the dialects share: the protocol, what a reply parses to, and checked reading of an action's arguments.

Invariant: whatever is wrong with a reply is a DialectError whose text tells the policy what is wrong and names the
valid choices; nothing of a reply is carried out that the dialect does not know. An Action that a vocabulary lacks is
refused by name, never dropped.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError

from guiforge.action import (
    Action,
    BaseAction,
    Click,
    Drag,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseUp,
    Move,
    Point,
    Press,
    Scroll,
    Wait,
)
from guiforge.frame import Size

MAX_SOURCE = 100_000  # characters of a reply that are read
MAX_ACTIONS = 200  # of one reply
MAX_TURNS = 1000  # notches of one scroll: more than any screen needs, and soon done
MAX_PIXELS = 1_000_000  # of one pixel scroll, and of a coordinate

A = TypeVar("A", bound=BaseAction)


class DialectError(ValueError):
    """A reply that is not in the dialect, or an Action that the dialect can't say; the text names the valid choices."""


class OneAtATime(DialectError):
    """Several actions, for a vocabulary that says one a reply. parts: what to say instead, one reply each."""

    def __init__(self, dialect: str, parts: tuple[Action, ...]) -> None:
        super().__init__(f"{dialect} says one action a reply, not {len(parts)}")
        self.parts = parts


@dataclass(frozen=True)
class Parsed:
    """What a reply says.

    actions: in order.  thought, summary: the format's text beside them, where it has some.
    looks: what the reply asked to be shown (`screenshot`, `cursor_position`, `zoom 0,0,640,360`); each is a Wait(0)
    among the actions too.
    """

    actions: tuple[Action, ...]
    thought: str = ""
    summary: str = ""
    looks: tuple[str, ...] = ()


class Dialect(Protocol):
    """A vocabulary of actions in text or JSON.

    `normal` says which actions `parse` gives back for what `render` wrote: where a vocabulary has no single word for
    an Action, it is spelled out in several (a click with a modifier: key down, click, key up). So
    `parse(render(actions, screen), screen).actions == normal(actions)`, and `normal(normal(a)) == normal(a)`.
    """

    name: str

    def parse(self, reply: Any, screen: Size, *, cursor: Point | None = None) -> Parsed:
        """The actions of a reply, in pixels of `screen` (width, height). Raises DialectError.

        cursor: where the pointer is, for vocabularies with relative moves.
        """
        ...

    def render(self, actions: Sequence[Action], screen: Size) -> Any:
        """The reply, text or JSON data, that says these actions. Raises DialectError for one it has no words for."""
        ...

    def normal(self, actions: Sequence[Action]) -> tuple[Action, ...]:
        """The actions as this vocabulary spells them out."""
        ...


def make(kind: type[A], **fields: Any) -> A:
    """An Action of these fields. Raises DialectError saying which field is wrong and what it may be."""
    try:
        return kind(**fields)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        message = str(first["msg"]).removeprefix("Value error, ")
        raise DialectError(f"{where}: {message}" if where else message) from None


def one_of(what: str, value: Any, choices: Sequence[str]) -> str:
    """`value`, if it is among the choices. Raises DialectError naming them."""
    if isinstance(value, str) and value in choices:
        return value
    raise DialectError(f"unknown {what} {_brief(value)}; valid are: {', '.join(choices)}")


def number(what: str, value: Any) -> float:
    """A finite number. Raises DialectError."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise DialectError(f"{what} must be a number, not {_brief(value)}")
    if not -MAX_PIXELS <= value <= MAX_PIXELS:  # also false for NaN
        raise DialectError(f"{what} must be a number between -{MAX_PIXELS} and {MAX_PIXELS}, not {_brief(value)}")
    return value


def whole(what: str, value: Any, least: int, most: int) -> int:
    """A whole number in least..most. Raises DialectError naming the range."""
    if number(what, value) != int(value) or not least <= value <= most:
        raise DialectError(f"{what} must be a whole number from {least} to {most}, not {_brief(value)}")
    return int(value)


class Fields:
    """The named arguments of one action, read with checks. `what` is the action's name in the dialect."""

    def __init__(self, what: str, values: Mapping[str, Any], allowed: Sequence[str]) -> None:
        self.what, self._values = what, values
        for name in values:
            if name not in allowed:
                valid = ", ".join(allowed) or "none"
                raise DialectError(f"{what} has no argument {_brief(name)}; valid are: {valid}")

    def get(self, name: str) -> Any:
        """The value as it came; None where it is absent."""
        return self._values.get(name)

    def number(self, name: str) -> float | None:
        """A finite number, or None where absent."""
        value = self.get(name)
        return None if value is None else number(f"{self.what}: {name}", value)

    def need_number(self, name: str) -> float:
        """A finite number that must be there."""
        return number(f"{self.what}: {name}", self._need(name))

    def whole(self, name: str, default: int, least: int, most: int) -> int:
        """A whole number in a range."""
        value = self.get(name)
        return default if value is None else whole(f"{self.what}: {name}", value, least, most)

    def choice(self, name: str, choices: Sequence[str], default: str | None = None) -> str:
        """One of the choices; `default` where absent, and must be there without one."""
        value = self.get(name)
        return default if value is None and default is not None else one_of(f"{self.what}: {name}", value, choices)

    def need_text(self, name: str) -> str:
        """A text that must be there."""
        value = self._need(name)
        if not isinstance(value, str):
            raise DialectError(f"{self.what}: {name} must be a text, not {_brief(value)}")
        return value

    def flag(self, name: str, default: bool) -> bool:
        """True or false."""
        value = self.get(name)
        if value is not None and not isinstance(value, bool):
            raise DialectError(f"{self.what}: {name} must be true or false, not {_brief(value)}")
        return default if value is None else value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; empty where absent."""
        value = self.get(name)
        if value is None:
            return ()
        if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) for v in value):
            raise DialectError(f"{self.what}: {name} must be a list of texts, not {_brief(value)}")
        return tuple(value)

    def _need(self, name: str) -> Any:
        if self._values.get(name) is None:
            raise DialectError(f"{self.what} needs {name}")
        return self._values[name]


def load_json(reply: Any) -> Any:
    """A reply as data: parsed if it is text. Raises DialectError."""
    if not isinstance(reply, (str, bytes)):
        return reply
    if len(reply) > MAX_SOURCE:
        raise DialectError(f"a reply of {len(reply)} characters; at most {MAX_SOURCE} are read")
    try:
        return json.loads(reply)
    except (ValueError, RecursionError) as error:
        raise DialectError(f"the reply is not JSON: {error}") from None


def objects(data: Any) -> list[Mapping[str, Any]]:
    """A list of JSON objects, or one of them, as a list. Raises DialectError for anything else, and for none."""
    found = list(data) if isinstance(data, (list, tuple)) else [data]
    if not found:
        raise DialectError("the reply has no action")
    for value in found:
        if not isinstance(value, Mapping):
            raise DialectError(f"an action must be a JSON object, not {_brief(value)}")
    return found


def checked(actions: Sequence[Action]) -> tuple[Action, ...]:
    """The actions of one reply: at least one, not too many, and nothing after an end. Raises DialectError."""
    if not actions:
        raise DialectError("the reply has no action")
    if len(actions) > MAX_ACTIONS:
        raise DialectError(f"{len(actions)} actions in one reply; at most {MAX_ACTIONS} are carried out")
    if any(action.is_end for action in actions[:-1]):
        raise DialectError("an action follows the one that ends the episode; the end must come last")
    return tuple(actions)


def refuse(dialect: str, action: Action, why: str) -> DialectError:
    """The error for an Action that a vocabulary can't say."""
    return DialectError(f"{dialect} can't say {action.kind}: {why}")


def held(keys: Sequence[str], *actions: Action) -> tuple[Action, ...]:
    """Actions with keys held meanwhile, spelled out: pressed in order, released in reverse."""
    return (*(KeyDown(key=k) for k in keys), *actions, *(KeyUp(key=k) for k in reversed(keys)))


def without_modifiers(action: Click | Drag | Scroll) -> tuple[Action, ...]:
    """The action with its modifiers spelled out as key presses around it."""
    return held(action.modifiers, action.model_copy(update={"modifiers": ()})) if action.modifiers else (action,)


def without_hold(press: Press) -> tuple[Action, ...]:
    """A held chord spelled out: keys down, a wait, keys up."""
    return held(press.keys, Wait(seconds=press.hold_s)) if press.hold_s else (press,)


def without_place(action: MouseDown | MouseUp | Scroll) -> tuple[Action, ...]:
    """The action where the pointer is, after a move to its place if it has one."""
    if action.x is None or action.y is None:
        return (action,)
    return Move(x=action.x, y=action.y), action.model_copy(update={"x": None, "y": None})


def by_hand(drag: Drag) -> tuple[Action, ...]:
    """A drag spelled out: a move to its start, button down, a move to each further point, button up."""
    points = [Move(x=x, y=y) for x, y in drag.path]
    start, rest = (points[:1], points[1:]) if len(points) > 1 else ([], points)
    return (*start, MouseDown(button=drag.button), *rest, MouseUp(button=drag.button))


def plain_number(value: float) -> int | float:
    """A number as people write it: whole ones without a point."""
    return int(value) if math.isfinite(value) and value == int(value) else value


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
