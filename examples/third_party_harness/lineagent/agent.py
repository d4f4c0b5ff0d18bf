"""Somebody's agent: a command-line program that knows nothing of guiforge.

A line of JSON in is what it sees: {"instruction", "screenshot" (a data URL), "actions" (what it may do), "error"}.
A line out is what it does: {"reply"}, what its model said, a JSON list of actions.
Its model is the OpenAI-compatible endpoint that OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL name.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from typing import Any


def ask(request: dict[str, Any]) -> str:
    """The model's reply."""
    http = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps(request).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
    )
    with urllib.request.urlopen(http) as answer:
        reply = json.load(answer)["choices"][0]["message"]["content"]
    return str(reply)


def main() -> None:
    """See, ask, act, until standard input ends."""
    for line in sys.stdin:
        seen = json.loads(line)
        text = f"Task: {seen['instruction']}\nReply with a JSON list of actions, of these kinds:\n{seen['actions']}"
        if seen["error"]:
            text += f"\nYour last reply was wrong: {seen['error']}"
        screen = {"type": "image_url", "image_url": {"url": seen["screenshot"]}}
        content = [screen, {"type": "text", "text": text}]
        request: dict[str, Any] = {
            "model": os.environ["OPENAI_MODEL"],
            "messages": [{"role": "user", "content": content}],
        }
        print(json.dumps({"reply": ask(request)}), flush=True)


if __name__ == "__main__":
    main()
