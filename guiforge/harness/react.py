"""ReactHarness: a chat with tool calls, one tool a kind of Action, as any chat model with function calling can use it.

Invariant: every tool call of a reply is answered, and what was wrong with it is said in the answer. A prompt holds the
last `images` screens; of older ones the text remains. After MISTAKES unusable replies in a row the episode is given
up.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, get_args

from guiforge.action import Action
from guiforge.dialects import DialectError
from guiforge.dialects.base import load_json
from guiforge.dialects.tools import Tools, schemas
from guiforge.env import Observation
from guiforge.frame import ImageFormat, Size
from guiforge.harness import ReplyRejected, Session
from guiforge.harness.asking import Answered, ask, kinds_of
from guiforge.harness.chat import Chat
from guiforge.task import Task
from guiforge.wire import ChatMessage, image_part, message, text_part, tool_message

MISTAKES = 4  # replies in a row that can't be read

_SYSTEM = """\
You work on a computer by its screen, mouse and keyboard until the task you are given is done.

In each turn, look at the latest screen, say in a sentence or two what you see and what you do next, and call one or \
more of your tools. The calls of a turn are carried out in order, and then you are shown the screen again; so put \
together only what you need not look at in between. Coordinates are pixels of the screen, counted from its top left \
corner. The screen is {width} wide and {height} high.

Check on the screen that the task is done before you end. End with one of: answer, if the task asks for something; \
done, if it does not; infeasible, if it can't be done, and then say why."""
_NUDGE = "You called no tool. Call one: to act, or, if there is nothing left to do, one of answer, done, infeasible."
_GONE = "(this screen is not shown any more)"


class ReactHarness:
    """Chat with tool calls.

    images: how many of the last screens are in a prompt.  temperature, top_p, max_tokens: sampling; what is None is
    left to the endpoint.  image_format: how screens are encoded (png is exact).
    """

    name = "react"

    def __init__(
        self, images: int = 3, temperature: float | None = None, top_p: float | None = None,
        max_tokens: int | None = 4096, image_format: ImageFormat = "png",
    ) -> None:  # fmt: skip
        if images < 1:
            raise ValueError(f"images must be at least 1, not {images}")
        if image_format not in get_args(ImageFormat):
            raise ValueError(f"unknown image_format {image_format!r}; valid are: {', '.join(get_args(ImageFormat))}")
        self._images, self._image_format = images, image_format
        sampling = {"temperature": temperature, "top_p": top_p, "max_tokens": max_tokens}
        self._sampling = {name: value for name, value in sampling.items() if value is not None}
        self._replies = itertools.count()

    def run(self, task: Task, session: Session) -> None:
        """See Harness. Raises EpisodeOver (the session's), ReplyRejected, PolicyFailed, PolicyTimedOut."""
        first = session.observation
        dialect = Tools(kinds_of(first))
        tools = schemas(dialect.kinds)
        width, height = first.frame.screen
        history = [message("system", _SYSTEM.format(width=width, height=height))]
        history.append(self._look(first, f"# Task\n{task.instruction}\n\n"))
        screens, mistakes = [1], 0
        with Chat(session.base_url, session.api_key) as chat:
            while True:
                body = {"model": session.model, "messages": list(history), "tools": tools, **self._sampling}
                answered = ask(chat, session, body, _raw, partial(dialect.parse, screen=(width, height)))
                history += _sent_back(answered.message)
                if answered.parsed is None:
                    mistakes += 1
                    if mistakes == MISTAKES:
                        raise ReplyRejected(f"{MISTAKES} replies in a row were unusable, at last: {answered.problem}")
                    history += _complaints(answered)
                    continue
                mistakes = 0
                seen = session.step(*answered.parsed.actions)
                history += [tool_message(call, seen.error or "ok") for call in answered.message.tool_calls or ()]
                screens.append(len(history))
                history.append(self._look(seen))
                if len(screens) > self._images:
                    oldest = screens.pop(0)
                    history[oldest] = _without_image(history[oldest])

    def render(self, actions: tuple[Action, ...], session_screen: Size) -> ChatMessage:
        """See Harness. The ids of its tool calls are of no other reply."""
        reply = ChatMessage.model_validate(Tools().render(actions, session_screen))
        number = next(self._replies)
        for call in reply.tool_calls or ():
            call.id = f"{call.id}_{number}"
        return reply

    def _look(self, seen: Observation, before: str = "") -> dict[str, Any]:
        encoded = seen.frame.encode(self._image_format)
        text = f"{before}{seen.text}\n\n" if seen.text else before
        return message("user", [text_part(f"{text}The screen:"), image_part(encoded.data, encoded.media_type)])


def _raw(reply: ChatMessage) -> str:
    return reply.model_dump_json(exclude_unset=True)


def _sent_back(reply: ChatMessage) -> Sequence[dict[str, Any]]:
    """A reply as it stands in the next prompt, without what endpoints refuse to be sent: a reply of nothing, thoughts
    that came apart, arguments that are no JSON object (empty ones are sent instead)."""
    if not reply.text and not reply.tool_calls:
        return []
    told = reply.model_dump(include={"content", "tool_calls"}, exclude_unset=True)
    for call in told.get("tool_calls") or ():
        call["function"]["arguments"] = _readable(call["function"].get("arguments"))
    return [{"role": "assistant", "content": None, **told}]


def _readable(arguments: Any) -> Any:
    try:
        return arguments if isinstance(load_json(arguments), Mapping) else "{}"
    except DialectError:
        return "{}"


def _complaints(answered: Answered) -> Sequence[dict[str, Any]]:
    calls = answered.message.tool_calls or ()
    wrong = f"nothing was carried out: {answered.problem}"
    return [tool_message(call, wrong) for call in calls] or [message("user", _NUDGE)]


def _without_image(shown: dict[str, Any]) -> dict[str, Any]:
    text, _ = shown["content"]
    return {**shown, "content": [text, text_part(_GONE)]}
