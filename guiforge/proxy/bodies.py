"""JSON bodies of both sides: fast where they are plain, and no less exact where they are not.

Invariant: what `loads` gives, `dumps` writes; neither raises anything but ValueError, however a body is made.
"""

from __future__ import annotations

import json
from typing import Any

import orjson


def loads(data: bytes) -> Any:
    """The value of a JSON text. NaN, infinities and lone surrogates are read too. Raises ValueError."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _loads_leniently(data)


def _loads_leniently(data: bytes) -> Any:
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def dumps(value: Any) -> bytes:
    """The JSON text of a value that `loads` gave. Raises ValueError."""
    try:
        return orjson.dumps(value)
    except TypeError:  # a lone surrogate, an integer past 64 bits
        try:
            return json.dumps(value, separators=(",", ":")).encode()
        except RecursionError:
            raise ValueError("nested too deeply") from None


def with_fields(raw: bytes, body: dict[str, Any], fields: dict[str, Any]) -> bytes:
    """A body's JSON with these fields set: spliced into `raw`, its text, where they are all new to it.

    So a body of megabytes is sent on as it came, byte by byte, though something had to be asked for.
    """
    fields = {name: value for name, value in fields.items() if name not in body or dumps(body[name]) != dumps(value)}
    if not fields:
        return raw
    if any(name in body for name in fields):
        return dumps(body | fields)
    end = raw.rindex(b"}")
    return raw[:end] + (b"," if body else b"") + dumps(fields)[1:]
