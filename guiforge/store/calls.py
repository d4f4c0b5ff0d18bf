"""How a Call lies in the database: one row of `calls`, its token arrays packed, its raw reply compressed.

Invariant: a call reads back equal, to the last bit of each log-probability.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from guiforge.trace import Call, Tokens

# of a Call's own fields, those that are kept as they are, or as JSON
_PLAIN = tuple(name for name in Call.model_fields if name not in ("raw", "tokens"))
CALL_COLUMNS = (*_PLAIN, "raw", "prompt_ids", "sampled_ids", "logprobs")


def call_row(call: Call) -> dict[str, Any]:
    """The values of CALL_COLUMNS."""
    row = {name: getattr(call, name) for name in _PLAIN}
    tokens = call.tokens
    return row | {
        "raw": zlib.compress(call.raw.encode("utf-8", "surrogatepass"), 1),
        "prompt_ids": None if tokens is None else _packed(tokens.prompt_ids, np.int32),
        "sampled_ids": None if tokens is None else _packed(tokens.sampled_ids, np.int32),
        "logprobs": None if tokens is None or tokens.logprobs is None else _packed(tokens.logprobs, np.float64),
    }


def call_of(row: sqlite3.Row, decoded: Callable[[sqlite3.Row, str], Any]) -> Call:
    """The Call of a row. decoded: a column's value, its JSON read."""
    tokens = None
    if row["prompt_ids"] is not None:
        logprobs = row["logprobs"]
        tokens = Tokens(
            prompt_ids=tuple(np.frombuffer(row["prompt_ids"], np.int32).tolist()),
            sampled_ids=tuple(np.frombuffer(row["sampled_ids"], np.int32).tolist()),
            logprobs=None if logprobs is None else tuple(np.frombuffer(logprobs, np.float64).tolist()),
        )
    raw = zlib.decompress(row["raw"]).decode("utf-8", "surrogatepass")
    return Call(**{name: decoded(row, name) for name in _PLAIN}, raw=raw, tokens=tokens)


def _packed(values: Sequence[float], kind: type[np.generic]) -> bytes:
    return np.asarray(values, dtype=kind).tobytes()
