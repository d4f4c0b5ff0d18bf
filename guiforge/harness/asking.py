"""Asking: model calls whose replies must be readable.

Invariant: what makes a reply of no use is noted before anything else happens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from guiforge.action import DESKTOP_KINDS, KINDS
from guiforge.dialects import DialectError, Parsed
from guiforge.env import Observation
from guiforge.harness import ReplyRejected, Session
from guiforge.harness.chat import Chat
from guiforge.wire import ChatMessage

TRIES = 4  # of one reply: the first, and three more


@dataclass(frozen=True)
class Answered:
    """A reply: the message, and what it says or, where it can't be read, what is wrong with it."""

    message: ChatMessage
    parsed: Parsed | None
    problem: str = ""


def kinds_of(seen: Observation) -> tuple[str, ...]:
    """The kinds of Action to offer: all of them to who sees a page (`info` has its `url`), else those of a desktop."""
    return tuple(KINDS) if "url" in seen.info else DESKTOP_KINDS


def meant_here(parse: Callable[[str], Parsed], seen: Observation) -> Callable[[str], Parsed]:
    """`parse`, with a DialectError for an action that has no meaning in the world that is seen."""
    kinds = kinds_of(seen)

    def read(reply: str) -> Parsed:
        parsed = parse(reply)
        for action in parsed.actions:
            if action.kind not in kinds:
                raise DialectError(
                    f"{action.kind} has no meaning on a desktop: there is no page; valid are actions on "
                    f"the screen ({', '.join(kinds)})"
                )
        return parsed

    return read


def ask(
    chat: Chat, session: Session, body: dict[str, Any], tell: Callable[[ChatMessage], str],
    parse: Callable[[str], Parsed],
) -> Answered:  # fmt: skip
    """One call. tell: the reply in a message, as it is given to `parse`.

    Raises PolicyFailed, PolicyTimedOut.
    """
    choice, parsed, problem = chat.complete(body, session.call_timeout_s).choices[0], None, ""
    try:
        parsed = parse(tell(choice.message))
    except DialectError as error:
        cut = " (the reply was cut at max_tokens)" if choice.finish_reason == "length" else ""
        problem = f"{error}{cut}"
        session.unread(problem)
    return Answered(choice.message, parsed, problem)


def ask_until_read(
    chat: Chat, session: Session, body: dict[str, Any], tell: Callable[[ChatMessage], str],
    parse: Callable[[str], Parsed],
) -> Parsed:  # fmt: skip
    """What the first readable reply says, the same call made up to TRIES times: for formats without a slot for errors.

    Raises ReplyRejected after the last, PolicyFailed, PolicyTimedOut.
    """
    problem = ""
    for _ in range(TRIES):
        answered = ask(chat, session, body, tell, parse)
        if answered.parsed is not None:
            return answered.parsed
        problem = answered.problem
    raise ReplyRejected(f"no reply could be read in {TRIES} tries, at last: {problem}")
