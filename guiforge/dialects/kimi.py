"""kimi: a thought, one sentence, and a block of pyautogui code whose coordinates are fractions of the frame.

Invariant: the last fenced block of a reply is its code; text that is typed is never read as code or as an end.

Ends: `computer.terminate(status="success")` is Done; with a non-empty answer it is Answer, whatever the answer says;
`status="failure"` is Infeasible, the answer its reason. `computer.wait()` is Wait(20). Coordinates 0 to 1 are fractions
(1 is the last pixel), above 1 pixels of the screen. A scroll in pixels can't be
said: what a notch amounts to is the window's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from guiforge.action import Action, Answer, Done, Infeasible, Point, Wait
from guiforge.dialects.base import DialectError, Fields, Parsed, checked, make, refuse
from guiforge.dialects.pyautogui import CALLS, spell_out, write_call
from guiforge.dialects.source import Calls, Screen, read_source
from guiforge.dialects.words import sentence
from guiforge.frame import Geometry, Size

WAIT_S = 20.0

_THINK = re.compile(r"◁think▷(.*?)◁/think▷|<think>(.*?)</think>", re.DOTALL)
_HEADING = re.compile(r"\s*#{1,4}\s*(Thought|Action|Code)\s*[:：]?\s*(.*)", re.IGNORECASE)


def _terminate(fields: Fields, screen: Screen) -> Sequence[Action]:
    status = fields.choice("status", ("success", "failure"))
    answer = "" if fields.get("answer") is None else fields.need_text("answer")
    if status == "failure":
        return [make(Infeasible, reason=answer)]
    return [make(Answer, text=answer) if answer else Done()]


KIMI_CALLS: Calls = {
    **CALLS,
    "computer.wait": ((), lambda fields, screen: [Wait(seconds=WAIT_S)]),
    "computer.terminate": (("status", "answer"), _terminate),
}


class Kimi:
    """The kimi dialect. thinking: the thought comes first, with no heading."""

    name = "kimi"

    def __init__(self, thinking: bool = False) -> None:
        self.thinking = thinking

    def parse(self, reply: str, screen: Size, *, cursor: Point | None = None) -> Parsed:
        """See Dialect. The thought and the sentence may be missing; the code may not."""
        thoughts = [a or b for a, b in _THINK.findall(reply)]
        text, code = _split(_THINK.sub("", reply))
        sections: dict[str, list[str]] = {}
        lines = sections.setdefault("thought", thoughts)
        for line in text:
            if heading := _HEADING.fullmatch(line):
                lines = sections[heading[1].lower()] = [heading[2]]
            else:
                lines.append(line)
        actions = checked(read_source(code, Screen(screen, fractions=True, cursor=cursor), KIMI_CALLS))
        return Parsed(actions, _joined(sections, "thought"), _joined(sections, "action"))

    def render(self, actions: Sequence[Action], screen: Size, *, thought: str = "", summary: str = "") -> str:
        """See Dialect. Without a summary, it says the actions in words."""
        spelled = self.normal(actions)
        code = "\n".join(self._call(action, screen) for action in spelled)
        thought = thought or "The next step is clear."
        summary = summary or sentence(actions)
        head = f"◁think▷{thought}◁/think▷" if self.thinking else f"## Thought\n{thought}\n"
        return f"{head}## Action:\n{summary}\n## Code:\n```python\n{code}\n```"

    def normal(self, actions: Sequence[Action]) -> tuple[Action, ...]:
        """See Dialect. An empty Answer is Done."""
        return checked(
            [
                Done() if isinstance(part, Answer) and not part.text else part
                for action in actions
                for part in spell_out(action)
            ]
        )

    def _call(self, action: Action, screen: Size) -> str:
        match action:
            case Done():
                return 'computer.terminate(status="success")'
            case Answer():
                return f'computer.terminate(status="success", answer={action.text!r})'
            case Infeasible():
                answer = f", answer={action.reason!r}" if action.reason else ""
                return f'computer.terminate(status="failure"{answer})'
            case Wait(seconds=seconds) if seconds == WAIT_S:
                return "computer.wait()"

        def point(x: int, y: int) -> tuple[str, str]:
            if not (0 <= x < screen[0] and 0 <= y < screen[1]):
                raise refuse(self.name, action, f"({x}, {y}) is off the screen of {screen[0]}x{screen[1]}")
            fx, fy = Geometry(screen, screen).to_fraction(x, y)
            return _decimal(fx, x, screen[0]), _decimal(fy, y, screen[1])

        return write_call(action, point, self.name)


def _split(reply: str) -> tuple[list[str], str]:
    """The lines before the last fenced block, and the code in it."""
    lines = reply.split("\n")
    fences = [i for i, line in enumerate(lines) if line.lstrip().startswith("```")]
    if len(fences) < 2 or lines[fences[-1]].strip() != "```":
        raise DialectError(
            "the reply has no finished code block; end it with ```python, the code, and ``` on lines of their own"
        )
    return lines[: fences[-2]], "\n".join(lines[fences[-2] + 1 : fences[-1]])


def _joined(sections: dict[str, list[str]], name: str) -> str:
    return "\n".join(sections.get(name, [])).strip()


def _decimal(fraction: float, pixel: int, size: int) -> str:
    """The fraction in the fewest decimals, from four, that mean the same pixel."""
    digits = 4
    while min(round(float(f"{fraction:.{digits}f}") * size), size - 1) != pixel:
        digits += 1
    return f"{fraction:.{digits}f}"
