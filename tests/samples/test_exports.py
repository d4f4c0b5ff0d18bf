"""Each export is loaded back by the library that it is for, and says what the run recorded."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from PIL import Image

from guiforge.samples import NeedsImageTokens
from guiforge.samples.exports import FORMATS, Exported, Format, Options, export_run
from guiforge.samples.exports.run import image_sizes
from guiforge.samples.sample import samples_of
from guiforge.store import Damaged, RunReader
from tests.samples.recorded import CLICK, WAIT, key, record_run
from tests.samples.toy import SOLVED, ToyImages


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunReader]:
    record_run(tmp_path / "run")
    with RunReader(tmp_path / "run") as reader:
        yield reader


def exported(run: RunReader, format: Format, where: Path, **options: Any) -> tuple[list[dict[str, Any]], Exported]:
    """The rows of an export as `datasets` loads them."""
    path = where / f"{format}.{'jsonl' if format == 'messages' else 'parquet'}"
    done = export_run(run, format, path, Options(images=ToyImages(), **options))
    kind = "json" if format == "messages" else "parquet"
    loaded = datasets.load_dataset(kind, data_files=str(path), split="train", cache_dir=str(where / "cache"))
    return list(loaded), done


def pixels(image: Image.Image) -> tuple[int, ...]:
    found = image.convert("RGB").getpixel((0, 0))
    assert isinstance(found, tuple)
    return tuple(int(value) for value in found)


@pytest.mark.parametrize("images_as", ["embed", "path"])
def test_parquet_holds_the_samples_exactly(run: RunReader, tmp_path: Path, images_as: Any) -> None:
    rows, done = exported(run, "parquet", tmp_path, images_as=images_as)
    assert (done.rows, done.episodes, done.unrewarded, done.empty) == (4, 3, 2, 1)
    assert (done.fidelity.trained_twice, done.fidelity.image_parity_failures) == (0, 0)
    made = samples_of(key(0), run.calls(key(0)), SOLVED, size_of=image_sizes(run), images=ToyImages())
    for row, sample in zip(rows, made.samples, strict=False):
        assert (row["kind"], row["episode"], row["task"], row["seed"]) == ("tokens", key(0).id, "toy/task", 0)
        for name in ("token_ids", "mask", "logprobs", "rewards"):
            assert row[name] == getattr(sample, name).tolist()
        assert row["image_hashes"] == [image.hash for image in sample.images]
        for image, start, stop in zip(row["images"], row["image_starts"], row["image_stops"], strict=True):
            assert image.size == (20, 20) and stop - start == 4
        assert (row["reward"], row["weight"], row["status"]) == (1.0, sample.weight, "solved")
        assert row["turn_calls"] == list(sample.calls)
    assert [pixels(image)[0] for image in rows[1]["images"]] == [0, 2]
    assert [row["calls"] for row in rows] == [[0, 1], [2], [0, 1], [0]]
    text = rows[2]
    assert (text["kind"], text["token_ids"], text["rewards"]) == ("text", [], [1.0, 1.0])
    assert [message["role"] for message in json.loads(text["messages"])] == [
        "system", "user", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert len(text["images"]) == 2 and rows[3]["reward"] == 0.25


def test_parquet_of_a_run_with_images_asks_which_tokens_are_theirs_and_leaves_no_file(
    run: RunReader, tmp_path: Path
) -> None:
    with pytest.raises(NeedsImageTokens):
        export_run(run, "parquet", tmp_path / "out.parquet", Options())
    assert not list(tmp_path.glob("*out.parquet*"))


def test_each_reply_is_one_row_of_trl(run: RunReader, tmp_path: Path) -> None:
    rows, done = exported(run, "trl", tmp_path)
    assert done.rows == 6 and [row["calls"] for row in rows] == [[0], [1], [2], [0], [1], [0]]
    for row in rows:
        (completion,) = row["completion"]
        assert completion["role"] == "assistant"
        marks = [part for message in row["prompt"] for part in message["content"] if part["type"] == "image"]
        assert len(marks) == len(row["images"])
    assert [m["content"][-1]["text"] for m in rows[1]["prompt"]] == ["look", "one", "look"]
    assert rows[2]["completion"][0]["content"][0]["text"] == "three ?"
    # the image in a tool's answer stands in a user's message after it
    last = rows[4]["prompt"]
    assert [message["role"] for message in last] == ["system", "user", "assistant", "tool", "user"]
    assert last[2]["tool_calls"][0]["function"] == {"name": "click", "arguments": '{"x": 1}'}
    assert json.loads(rows[4]["tools"]) == [CLICK, WAIT]
    assert (last[2]["reasoning_content"], last[3]["tool_call_id"]) == ("hm", "c1")


def test_trl_itself_takes_its_rows_and_trains_the_replies_alone(run: RunReader, tmp_path: Path) -> None:
    from trl.trainer.sft_trainer import DataCollatorForVisionLanguageModeling

    from vlm import tiny
    from vlm.loading import load

    tiny.make(tmp_path / "model")
    processor = load(tmp_path / "model").processor
    collate = DataCollatorForVisionLanguageModeling(processor=processor, completion_only_loss=True)
    rows, _ = exported(run, "trl", tmp_path)
    seen = [row for row in rows if row["images"]]
    batch = collate([dict(row) for row in seen])
    assert len(batch["image_grid_thw"]) == sum(len(row["images"]) for row in seen)
    trained = [processor.tokenizer.decode(labels[labels != -100]) for labels in batch["labels"]]
    assert [text.partition("<|im_end|>")[0] for text in trained[:3]] == ["one", "two", "three ?"]
    assert '<tool_call>\n{"name": "click", "arguments": {"x": 1}}' in trained[3] and trained[4].startswith("bye")


def test_verls_rows_mark_their_images_and_say_what_verl_repeats(run: RunReader, tmp_path: Path) -> None:
    for images_as in ("embed", "path"):
        _, done = exported(run, "verl", tmp_path, images_as=images_as)
        # as verl's MultiTurnSFTDataset reads it
        rows = pd.read_parquet(tmp_path / "verl.parquet").to_dict("records")
        assert (done.rows, done.unmarkable, done.repeated) == (3, 1, 1)
        for row in rows:
            contents = [message["content"] for message in row["messages"]]
            assert sum(content.count("<image>") for content in contents) == len(row["images"])
            for image in row["images"]:
                data = (
                    image["bytes"]
                    if images_as == "embed"
                    else Path(image["image"].removeprefix("file://")).read_bytes()
                )
                assert Image.open(io.BytesIO(data)).size == (20, 20)
        assert [list(row["trained"]) for row in rows] == [[1, 3], [3], [2, 4]]
        assert rows[0]["messages"][0]["content"] == "<image>look" and rows[0]["data_source"] == "toy"


def test_each_reply_weighs_once_in_the_messages(run: RunReader, tmp_path: Path) -> None:
    rows, done = exported(run, "messages", tmp_path)
    assert done.rows == len(rows) == 4
    lines = [json.loads(line) for line in (tmp_path / "messages.jsonl").read_text().splitlines()]
    weights = [[m["weight"] for m in line["messages"] if m["role"] == "assistant"] for line in lines]
    assert weights == [[1, 1], [0, 1], [1, 1], [1]]
    trained: Counter[tuple[str, int]] = Counter()
    for line in lines:
        trained.update((line["metadata"]["episode"], call) for call in line["metadata"]["calls"])
    assert set(trained.values()) == {1} and len(trained) == 6
    url = lines[0]["messages"][0]["content"][0]["image_url"]["url"]
    assert url.startswith("data:image/png;base64,")
    assert lines[2]["tools"] == [CLICK, WAIT] and "tools" not in lines[0]


@pytest.mark.parametrize("format", FORMATS)
def test_only_what_was_solved_where_that_is_asked_for(run: RunReader, tmp_path: Path, format: Format) -> None:
    rows, done = exported(run, format, tmp_path, passed=True)
    assert (done.episodes, done.unsolved, done.unrewarded) == (2, 2, 2)
    statuses = {row["metadata"]["status"] if format == "messages" else row["status"] for row in rows}
    assert statuses == {"solved"}


def test_a_lost_image_stops_the_export_and_leaves_the_former_file(run: RunReader, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    export_run(run, "trl", out, Options())
    before = out.read_bytes()
    next((run.path / "images").rglob("*.png")).unlink()
    with pytest.raises(Damaged):
        export_run(run, "trl", out, Options())
    assert out.read_bytes() == before and list(tmp_path.glob(".out*")) == []


def test_the_log_probabilities_keep_every_bit(run: RunReader, tmp_path: Path) -> None:
    export_run(run, "parquet", tmp_path / "s.parquet", Options(images=ToyImages()))
    (first, *_) = pq.read_table(tmp_path / "s.parquet").to_pylist()
    tokens = run.calls(key(0))[0].tokens
    assert tokens is not None and tokens.logprobs is not None
    kept = np.array(first["logprobs"])[np.array(first["mask"])]
    assert kept[: len(tokens.logprobs)].tolist() == list(tokens.logprobs)
