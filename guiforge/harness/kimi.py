"""KimiHarness: the Kimi agent's prompt, history and reply format for the desktop.

Invariant: a prompt holds at most three images, the present screen included, and the instruction once, in its last
message. The format has no slot for an error: a reply that can't be read is asked for anew with the same prompt, and an
action that fails shows as a screen that did not change.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any, get_args

from guiforge.action import Action
from guiforge.dialects import Parsed
from guiforge.dialects.kimi import KIMI_CALLS, Kimi
from guiforge.frame import ImageFormat, Size
from guiforge.harness import Session
from guiforge.harness.asking import ask_until_read
from guiforge.harness.chat import Chat
from guiforge.task import Task
from guiforge.wire import ChatMessage, image_part, message, text_part

IMAGES = 3  # in one prompt

_FORM = """\
{thought}## Action:
<one sentence: what you do now>
## Code:
```python
<code>
```"""
_THOUGHT_FIRST = "## Thought\n<what you see, what has been done, and why this move is right>\n"
_SYSTEM = """\
You are a GUI agent. You work on a computer by its screen, mouse and keyboard, one move at a time, until the task you \
are given is done. The computer's password is {password}.

Answer every time in exactly this form:

{form}

The code is a few calls, one a line, of: {calls}. They are pyautogui's, with coordinates as fractions of the screen \
from 0 to 1, for example pyautogui.click(x=0.5, y=0.25). Arguments are literals; there are no variables.
computer.wait() waits {wait_s:.0f} seconds. When the task is done, call computer.terminate(status="success"), with \
answer="..." if it asks a question. When it can't be done, call computer.terminate(status="failure", answer="why")."""
_REQUEST = "# Task Instruction:\n{instruction}\n\nGive the next move for what the screen shows now.\n"


def system_prompt(password: str, thinking: bool) -> str:
    """The system message's text."""
    form = _FORM.format(thought="" if thinking else _THOUGHT_FIRST)
    return _SYSTEM.format(password=password, form=form, calls=", ".join(KIMI_CALLS), wait_s=20)


class KimiHarness:
    """The Kimi agent.

    thinking: the model thinks first, without a heading.  temperature, top_p, max_tokens: sampling.
    password: of the machine, told in the prompt.  image_format: how screens are encoded (png is exact).
    """

    name = "kimi"

    def __init__(
        self, thinking: bool = False, temperature: float = 1.0, top_p: float = 0.95, max_tokens: int = 4096,
        password: str = "password", image_format: ImageFormat = "png",
    ) -> None:  # fmt: skip
        if image_format not in get_args(ImageFormat):
            raise ValueError(f"unknown image_format {image_format!r}; valid are: {', '.join(get_args(ImageFormat))}")
        self.dialect = Kimi(thinking)
        self._sampling = {"temperature": temperature, "top_p": top_p, "max_tokens": max_tokens}
        self._password, self._image_format = password, image_format

    def run(self, task: Task, session: Session) -> None:
        """See Harness. Raises EpisodeOver (the session's), ReplyRejected, PolicyFailed, PolicyTimedOut."""
        said: list[str] = []
        seen: deque[dict[str, Any]] = deque(maxlen=IMAGES - 1)
        with Chat(session.base_url, session.api_key) as chat:
            while True:
                frame = session.observation.frame
                encoded = frame.encode(self._image_format)
                image = image_part(encoded.data, encoded.media_type)
                messages = self.messages(task.instruction, said, seen, image)
                body = {"model": session.model, "messages": messages, **self._sampling}
                parse = partial(self.dialect.parse, screen=frame.screen, cursor=frame.cursor)
                reply = ask_until_read(chat, session, body, _whole, parse)
                session.step(*reply.actions)
                said.append(self._history(len(said) + 1, reply))
                seen.append(image)

    def messages(
        self, instruction: str, said: Sequence[str], seen: Sequence[dict[str, Any]], image: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """The prompt of a step: system, older steps as text, the last two with their images, the present screen.

        said: the text of every past step.  seen: image parts of the last steps, the latest last.
        """
        older = len(said) - len(seen)
        out = [message("system", system_prompt(self._password, self.dialect.thinking))]
        if older:
            out.append(message("assistant", "\n".join(said[:older])))
        for shown, text in zip(seen, said[older:], strict=True):
            out += [message("user", [shown]), message("assistant", text)]
        out.append(message("user", [image, text_part(_REQUEST.format(instruction=instruction))]))
        return out

    def render(self, actions: tuple[Action, ...], session_screen: Size) -> str:
        """See Harness."""
        return self.dialect.render(actions, session_screen)

    def _history(self, number: int, reply: Parsed) -> str:
        if self.dialect.thinking:
            told = f"◁think▷{reply.thought}◁/think▷## Action:\n{reply.summary}\n"
        else:
            told = f"## Thought:\n{reply.thought}\n\n## Action:\n{reply.summary}\n"
        return f"# Step {number}:\n{told}"


def _whole(reply: ChatMessage) -> str:
    """The reply's text, a thought that came apart from it put first."""
    thought = reply.reasoning_content
    return f"◁think▷{thought}◁/think▷{reply.text}" if thought else reply.text
