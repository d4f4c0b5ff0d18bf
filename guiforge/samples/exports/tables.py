"""Tables: the columns of the formats that are Parquet files, and their writer.

Invariant: rows are written an episode at a time, so that memory does not grow with the run.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_INTS, _STRINGS = pa.list_(pa.int32()), pa.list_(pa.string())
_COMMON = [
    ("episode", pa.string()), ("task", pa.string()), ("seed", pa.int64()), ("attempt", pa.int32()),
    ("harness", pa.string()), ("policy", pa.string()), ("status", pa.string()), ("reward", pa.float64()),
    ("weight", pa.float64()), ("calls", _INTS), ("policy_versions", _STRINGS),
]  # fmt: skip
_IMAGES = pa.list_(pa.struct([("bytes", pa.binary()), ("path", pa.string())]))
_BESIDES = [
    ("reasoning_content", pa.string()),
    (
        "tool_calls",
        pa.list_(
            pa.struct(
                [
                    ("id", pa.string()), ("type", pa.string()),
                    ("function", pa.struct([("name", pa.string()), ("arguments", pa.string())])),
                ]
            )
        ),
    ),
    ("tool_call_id", pa.string()),
]  # fmt: skip
_PARTS = pa.list_(pa.struct([("type", pa.string()), ("text", pa.string())]))
_IN_PARTS = pa.list_(pa.struct([("role", pa.string()), ("content", _PARTS), *_BESIDES]))
_IN_TEXT = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string()), *_BESIDES]))

PARQUET = pa.schema(
    [
        ("kind", pa.string()), ("token_ids", _INTS), ("mask", pa.list_(pa.bool_())),
        ("logprobs", pa.list_(pa.float64())), ("rewards", pa.list_(pa.float32())), ("images", _IMAGES),
        ("image_hashes", _STRINGS), ("image_starts", _INTS), ("image_stops", _INTS), ("turn_calls", _INTS),
        ("turn_starts", _INTS), ("turn_stops", _INTS), ("turn_trained", pa.list_(pa.bool_())),
        ("messages", pa.string()), *_COMMON,
    ]
)  # fmt: skip
TRL = pa.schema(
    [("prompt", _IN_PARTS), ("completion", _IN_PARTS), ("images", _IMAGES), ("tools", pa.string()), *_COMMON]
)


def verl(embedded: bool) -> pa.Schema:
    """verl's columns."""
    image = pa.struct([("bytes", pa.binary())] if embedded else [("image", pa.string())])
    return pa.schema(
        [
            ("messages", _IN_TEXT), ("images", pa.list_(image)), ("tools", pa.string()), ("trained", _INTS),
            ("data_source", pa.string()), *_COMMON,
        ]
    )  # fmt: skip


class Table:
    """A Parquet file that grows by rows. A context manager."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._schema = _known_to_datasets(schema)
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def write(self, rows: Sequence[dict[str, Any]]) -> None:
        """Add rows; none is fine."""
        if rows:
            self._writer.write_table(pa.Table.from_pylist(list(rows), self._schema))


def _known_to_datasets(schema: pa.Schema) -> pa.Schema:
    """The schema with the note by which `datasets` knows which column holds images, and decodes them."""
    if schema.field("images").type != _IMAGES:
        return schema
    features = {field.name: _feature(field.type) for field in schema}
    features["images"] = {"feature": {"_type": "Image"}, "_type": "List"}
    return schema.with_metadata({"huggingface": json.dumps({"info": {"features": features}})})


def _feature(type: pa.DataType) -> dict[str, Any]:
    if pa.types.is_list(type):
        return {"feature": _feature(type.value_type), "_type": "List"}
    if pa.types.is_struct(type):
        return {field.name: _feature(field.type) for field in type}
    names = {pa.float64(): "float64", pa.float32(): "float32"}
    return {"dtype": names.get(type, str(type)), "_type": "Value"}
