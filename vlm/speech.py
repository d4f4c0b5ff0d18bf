"""From sampled tokens to what is said: text as it comes, stop strings, tool calls.

Invariant: the pieces of text, joined, are the decoded tokens up to a stop string, however they are cut: none holds
half a character, nor what may yet turn out to be the beginning of a stop string or of a tool call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

TOOL_CALL = "<tool_call>"
_TOOL_CALLS = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
_BROKEN = "\ufffd"  # decoded from a character that is not whole yet, or never will be


class Speech:
    """What tokens say, as they are sampled.  tools: whether tool calls are to be read from it.

    text: all that was said so far.  stopped: the stop string that was met with; it and what follows are not said.
    """

    def __init__(self, tokenizer: Any, stops: Sequence[str] = (), tools: bool = False) -> None:
        self.text = ""
        self.stopped: str | None = None
        self._tokenizer, self._stops, self._tools = tokenizer, [stop for stop in stops if stop], tools
        self._before, self._fresh, self._given = list[int](), list[int](), 0

    def push(self, token: int) -> str:
        """Take a token; gives the text that may be shown by now."""
        self._fresh.append(token)
        if (text := self._decoded()) and not text.endswith(_BROKEN):
            self._say(text)
        return self._up_to(self._safe())

    def finish(self) -> tuple[str, list[dict[str, Any]]]:
        """The text that was held back, and the tool calls, once there are no more tokens."""
        if text := self._decoded():
            self._say(text)
        calls = read_calls(self.text) if self._tools else []
        return self._up_to(self.text.index(TOOL_CALL) if calls else len(self.text)), calls

    def _decoded(self) -> str:
        """Text of the tokens that were not said yet: in their place, as some tokenizers join words."""
        before = self._tokenizer.decode(self._before, skip_special_tokens=True)
        text: str = self._tokenizer.decode([*self._before, *self._fresh], skip_special_tokens=True)
        return text[len(before) :]

    def _say(self, text: str) -> None:
        self._before, self._fresh = self._fresh, []
        if self.stopped is not None:
            return
        self.text += text
        found = [(at, stop) for stop in self._stops if (at := self.text.find(stop, self._given)) >= 0]
        if found:
            at, self.stopped = min(found, key=lambda pair: pair[0])
            self.text = self.text[:at]

    def _safe(self) -> int:
        end = len(self.text)
        marks = self._stops if self.stopped is None else []
        if self._tools:
            if (at := self.text.find(TOOL_CALL)) >= 0:
                return at
            marks = [*marks, TOOL_CALL]
        held = [n for mark in marks for n in range(1, len(mark)) if self.text.endswith(mark[:n])]
        return max(self._given, end - max(held, default=0))

    def _up_to(self, end: int) -> str:
        text = self.text[self._given : end]
        self._given = max(self._given, end)
        return text


def read_calls(text: str) -> list[dict[str, Any]]:
    """The tool calls in a text, as `{"name": ..., "arguments": ...}`; none where one of them can't be read."""
    calls = []
    for written in _TOOL_CALLS.findall(text):
        try:
            call = json.loads(written)
        except ValueError:
            return []
        if not isinstance(call, dict) or not isinstance(call.get("name"), str):
            return []
        calls.append({"name": call["name"], "arguments": json.dumps(call.get("arguments", {}), ensure_ascii=False)})
    return calls
