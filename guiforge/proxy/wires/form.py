"""The form of a wire: what the proxy asks of each protocol, and readers of requests that say where one is wrong.

Invariant: a translation raises Refused and nothing else, whatever JSON it is given; it changes nothing in a request.
"""

from __future__ import annotations

from typing import Any, Protocol

from guiforge.proxy.bodies import dumps
from guiforge.trace import Wire

INVALID = "invalid_request_error"


class Refused(Exception):
    """A request that is not served. status, type, text: as the harness is told."""

    def __init__(self, status: int, type: str, text: str) -> None:
        super().__init__(text)
        self.status, self.type, self.text = status, type, text


class Encoder(Protocol):
    """Makes a protocol's stream from chat chunks, piece by piece."""

    def feed(self, chunk: dict[str, Any]) -> list[bytes]:
        """The events that a chunk makes."""
        ...

    def close(self) -> list[bytes]:
        """The events that end the reply."""
        ...

    def fail(self, status: int, type: str, text: str) -> list[bytes]:
        """The events that end a reply which broke off."""
        ...


class WireFormat(Protocol):
    """One protocol, in terms of chat completions."""

    @property
    def name(self) -> Wire:
        """Which it is."""
        ...

    def to_chat(self, body: dict[str, Any]) -> dict[str, Any]:
        """The request as a chat request; the same object where the wire is chat itself. Raises Refused."""
        ...

    def reply(self, request: dict[str, Any], completion: dict[str, Any]) -> dict[str, Any]:
        """The body that says what a chat completion says."""
        ...

    def encoder(self, request: dict[str, Any]) -> Encoder:
        """A new stream for the reply to a request."""
        ...

    def error(self, status: int, type: str, text: str) -> dict[str, Any]:
        """The body of an error."""
        ...

    def count_tokens(self, tokens: int) -> dict[str, Any]:
        """The body that tells how many tokens a prompt has."""
        ...


def bad(where: str, what: str) -> Refused:
    """The refusal of a request that is wrong at a place in it."""
    return Refused(400, INVALID, f"{where}: {what}")


def an_object(value: Any, where: str) -> dict[str, Any]:
    """The value, an object. Raises Refused."""
    if not isinstance(value, dict):
        raise bad(where, "must be an object")
    return value


def a_list(value: Any, where: str) -> list[Any]:
    """The value, a list; none is an empty one. Raises Refused."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise bad(where, "must be a list")
    return value


def a_text(value: Any, where: str) -> str:
    """The value, a text. Raises Refused."""
    if not isinstance(value, str):
        raise bad(where, "must be a text")
    return value


def objects(value: Any, where: str) -> list[tuple[dict[str, Any], str]]:
    """The objects of a list, and where each is. Raises Refused."""
    return [(an_object(one, f"{where}[{i}]"), f"{where}[{i}]") for i, one in enumerate(a_list(value, where))]


def image_url(value: Any, where: str) -> str:
    """An image's data URL. Raises Refused: nothing is fetched, for it could not be recorded as the model saw it."""
    url = a_text(value, where)
    if url[:11].lower() != "data:image/":
        raise bad(where, "an image must be a data URL (data:image/png;base64,...); nothing is fetched from an address")
    return url


def image_part(url: str) -> dict[str, Any]:
    """An image, as a part of a chat message."""
    return {"type": "image_url", "image_url": {"url": url}}


def function_call(id: str, name: str, arguments: str) -> dict[str, Any]:
    """A tool call, as chat messages hold it."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def tool_result(id: str, parts: list[dict[str, Any]]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A tool's message of these parts, and the images among them: chat has no room for those in a tool's message."""
    text = "\n".join(part["text"] for part in parts if part["type"] == "text")
    images = [part for part in parts if part["type"] == "image_url"]
    return {"role": "tool", "tool_call_id": id, "content": text}, images


def screen_size(width: Any, height: Any) -> str:
    """What a screen's tool says of its size, where that is known."""
    return f" The screen is {width}x{height} pixels." if width and height else ""


def call_number(call: dict[str, Any], begun: int) -> int:
    """Which of a reply's tool calls a delta belongs to, where so many have begun.

    Some servers number none: then an id begins a call, and what has none goes on with the last.
    """
    number = call.get("index")
    if isinstance(number, int):
        return number
    return begun if call.get("id") or not begun else begun - 1


def openai_error(type: str, text: str) -> dict[str, Any]:
    """An error in OpenAI's shape."""
    return {"error": {"message": text, "type": type, "param": None, "code": type}}


def join_systems(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with those of the system at their beginning made one: most templates take only that."""
    count = next((i for i, message in enumerate(messages) if message["role"] != "system"), len(messages))
    if count < 2:
        return messages
    joined = "\n\n".join(str(message["content"]) for message in messages[:count])
    return [{"role": "system", "content": joined}, *messages[count:]]


def described(tool: dict[str, Any], name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """A tool of the harness's own as a chat tool."""
    function = {"name": name, "description": tool.get("description") or "", "parameters": parameters}
    return {"type": "function", "function": function}


def usage_of(usage: Any) -> tuple[int, int, int, int]:
    """Of a chat usage: tokens of the prompt, those of them from a cache, tokens sampled, those of them reasoning."""
    given = usage if isinstance(usage, dict) else {}
    cached = _count(given.get("prompt_tokens_details"), "cached_tokens")
    thought = _count(given.get("completion_tokens_details"), "reasoning_tokens")
    return _count(given, "prompt_tokens"), cached, _count(given, "completion_tokens"), thought


def _count(given: Any, name: str) -> int:
    value = given.get(name) if isinstance(given, dict) else None
    return value if isinstance(value, int) else 0


def said_text(message: dict[str, Any]) -> str:
    """The text of a chat message, of whatever parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part["text"] for part in content if isinstance(part.get("text"), str))
    return content if isinstance(content, str) else ""


def said_reasoning(message: dict[str, Any]) -> str:
    """The reasoning of a chat message or delta: `reasoning_content`, or `reasoning` where a server calls it so."""
    for name in ("reasoning_content", "reasoning"):
        if isinstance(message.get(name), str):
            return str(message[name])
    return ""


def said_calls(message: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Of a chat message each tool call's id, name and arguments, as text."""
    found = []
    for call in message.get("tool_calls") or []:
        arguments = call["function"].get("arguments") or ""
        text = arguments if isinstance(arguments, str) else dumps(arguments).decode()
        found.append((str(call.get("id") or ""), str(call["function"]["name"]), text))
    return found
