"""`guiforge export` writes a run's training data, says how exactly, and refuses what can't be before it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import guiforge
from tests.samples.recorded import record_run
from tests.samples.toy import IMAGE, VIDEO


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    record_run(tmp_path / "run")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text(json.dumps({"image_token_id": IMAGE, "video_token_id": VIDEO}))
    return tmp_path


def test_messages_need_nothing_but_the_run(folder: Path) -> None:
    done = guiforge(folder, "export", "run", "--format", "messages", "--images", "path")
    assert done.returncode == 0, done.stderr
    path = folder / "run" / "export" / "messages.jsonl"
    assert f"4 rows of 3 episodes  {path.relative_to(folder)}" in done.stdout
    assert "2 episodes without a reward, left out" in done.stdout
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    url = lines[0]["messages"][0]["content"][0]["image_url"]["url"]
    assert Path(url.removeprefix("file://")).read_bytes().startswith(b"\x89PNG")


def test_the_counts_of_what_became_of_the_tokens_are_told(folder: Path) -> None:
    done = guiforge(folder, "export", "run", "--format", "parquet", "--model", "model", "--out", "out/samples.parquet")
    assert done.returncode == 0, done.stderr
    assert "4 rows of 3 episodes  out/samples.parquet" in done.stdout and (folder / "out/samples.parquet").is_file()
    assert "branches start since: forked 1" in done.stdout
    assert "re-tokenised calls 0, image parity failures 0, sampled image tokens 0" in done.stdout
    assert "trained twice 0.00%" in done.stdout


def test_images_without_a_model_to_tell_their_tokens_are_refused(folder: Path) -> None:
    done = guiforge(folder, "export", "run", "--format", "parquet")
    assert done.returncode == 2 and "needs --model DIR" in done.stderr
    assert list((folder / "run" / "export").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--format", "csv"), "valid are parquet, trl, verl, messages"),
        (("--format", "messages", "--images", "no"), "valid are embed, path"),
        (("--format", "messages", "--model", "nowhere"), "--model nowhere"),
    ],
)
def test_what_can_not_be_is_said_with_what_can(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    done = guiforge(folder, "export", "run", *arguments)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr
    assert not (folder / "run" / "export").exists()


def test_a_run_with_nothing_to_learn_from_ends_in_three(tmp_path: Path) -> None:
    from guiforge.store import Store

    Store(tmp_path / "run").close()
    done = guiforge(tmp_path, "export", "run", "--format", "messages")
    assert done.returncode == 3 and "0 rows of 0 episodes" in done.stdout
