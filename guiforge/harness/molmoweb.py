"""MolmoWebHarness: MolmoWeb's prompt, one user turn a step: a text and the present screen, no chat history.

Invariant: the text is the format's, byte for byte. The format has no slot for an error: a reply that can't be read is
asked for anew with the same prompt, and so is one that needs a page where there is a desktop; an action that fails
shows as a screen that did not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal, get_args

from guiforge.action import Action
from guiforge.dialects.molmoweb import MolmoWeb, cut
from guiforge.env import Observation
from guiforge.frame import Frame, ImageFormat, Size
from guiforge.harness import Session
from guiforge.harness.asking import ask_until_read, meant_here
from guiforge.harness.chat import Chat
from guiforge.task import Task
from guiforge.wire import ChatMessage, image_part, message, text_part

Style = Literal["molmo_web_think", "molmo_web_base"]
STEPS = 10  # past ones, in the prompt
IMAGE_SIZE: Size = (1280, 720)
PAGE_CHARS = 100  # of a page's title, and of its URL

_PROMPT = """\
{style}: 
# GOAL
{goal}

# PREVIOUS STEPS
{steps}
# CURRENTLY ACTIVE PAGE
Page {index}: {title} | {url}

# NEXT STEP
"""  # noqa: W291  # the format has a space there
_STEP = "## Step {number}\nTHOUGHT: {thought}\nACTION: {action}\n"


class MolmoWebHarness:
    """MolmoWeb.

    style: `molmo_web_think` (thought and action) or `molmo_web_base` (action alone).  decimals: of the percentages in
    the replies that `render` writes; the format's is 1.  temperature, top_p, max_tokens: sampling.
    image_format: how screens are encoded (png is exact).
    """

    name = "molmoweb"

    def __init__(
        self, style: Style = "molmo_web_think", temperature: float = 0.7, top_p: float = 0.8, max_tokens: int = 1024,
        decimals: int = 1, image_format: ImageFormat = "png",
    ) -> None:  # fmt: skip
        for name, value, choices in (("style", style, Style), ("image_format", image_format, ImageFormat)):
            if value not in get_args(choices):
                raise ValueError(f"unknown {name} {value!r}; valid are: {', '.join(get_args(choices))}")
        self.dialect = MolmoWeb(think=style == "molmo_web_think", decimals=decimals)
        self._style, self._image_format = style, image_format
        self._sampling = {"temperature": temperature, "top_p": top_p, "max_tokens": max_tokens}

    def run(self, task: Task, session: Session) -> None:
        """See Harness. Raises EpisodeOver (the session's), ReplyRejected, PolicyFailed, PolicyTimedOut."""
        past: list[tuple[str, str]] = []
        with Chat(session.base_url, session.api_key) as chat:
            while True:
                seen = session.observation
                encoded = _shown(seen.frame).encode(self._image_format)
                parts = [
                    text_part(self.prompt(task.instruction, past, seen)),
                    image_part(encoded.data, encoded.media_type),
                ]
                body = {"model": session.model, "messages": [message("user", parts)], **self._sampling}
                parse = partial(self.dialect.parse, screen=seen.frame.screen)
                reply = ask_until_read(chat, session, body, _text, meant_here(parse, seen))
                session.step(*reply.actions)
                past.append((reply.thought, reply.summary))

    def prompt(self, goal: str, past: Sequence[tuple[str, str]], seen: Observation) -> str:
        """The text of a step. past: (thought, action) of every step so far.

        The page is what the observation's `info` says of it under `page_index`, `title` and `url`; what it does not
        say (a desktop has no URL) is left empty.
        """
        numbered = list(enumerate(past, 1))[-STEPS:]
        return _PROMPT.format(
            style=self._style,
            goal=goal,
            steps="".join(_STEP.format(number=n, thought=thought, action=action) for n, (thought, action) in numbered),
            index=seen.info.get("page_index", 0),
            title=cut(seen.info.get("title", ""), PAGE_CHARS),
            url=cut(seen.info.get("url", ""), PAGE_CHARS),
        )

    def render(self, actions: tuple[Action, ...], session_screen: Size) -> str:
        """See Harness."""
        return self.dialect.render(actions, session_screen)


def _text(reply: ChatMessage) -> str:
    return reply.text


def _shown(frame: Frame) -> Frame:
    """The frame at the format's size, if it is larger."""
    larger = frame.size[0] > IMAGE_SIZE[0] or frame.size[1] > IMAGE_SIZE[1]
    return frame.resized(IMAGE_SIZE) if larger else frame
