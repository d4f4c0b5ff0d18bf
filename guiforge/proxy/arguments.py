"""Arguments: a tool call's arguments as the policy wrote them, for protocols that send them back as data.

Invariant: what is put back means what the harness sent, and is what was sampled, blank by blank; so the next prompt
goes on from the former one, token by token, where only the wire had come between.
"""

from __future__ import annotations

from typing import Any

from guiforge.proxy.bodies import loads


class Arguments:
    """Of one episode's calls, by the tool call's id."""

    def __init__(self) -> None:
        self._written: dict[str, str] = {}

    def note(self, message: dict[str, Any] | None) -> None:
        """Remember those of a reply."""
        for call in (message or {}).get("tool_calls") or []:
            arguments = call["function"].get("arguments")
            if call.get("id") and isinstance(arguments, str):
                self._written[call["id"]] = arguments

    def restore(self, chat: dict[str, Any]) -> None:
        """Put them back into a request, where the harness changed nothing."""
        for message in chat["messages"]:
            for call in message.get("tool_calls") or ():
                written = self._written.get(call["id"])
                function = call["function"]
                if written is not None and written != function["arguments"] and _same(written, function["arguments"]):
                    function["arguments"] = written


def _same(written: str, sent: str) -> bool:
    """Whether two texts are the same arguments; {} is what a protocol without room for text makes of no JSON object."""
    try:
        value = loads(written.encode("utf-8", "surrogatepass"))
    except ValueError:
        value = None
    given = loads(sent.encode("utf-8", "surrogatepass"))
    return bool(given == (value if isinstance(value, dict) else {}))
