"""A scripted upstream and a proxy before it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.proxy.world import Upstream, World, upstream, world


@pytest.fixture
def up() -> Iterator[Upstream]:
    with upstream() as made:
        yield made


@pytest.fixture
def w(up: Upstream, tmp_path: Path) -> Iterator[World]:
    with world(tmp_path / "run", up.url) as made:
        yield made


@pytest.fixture
def exact(up: Upstream, tmp_path: Path) -> Iterator[World]:
    """A proxy whose upstream gives tokens."""
    up.models = {"data": [{"id": "m", "owned_by": "vllm"}]}
    with world(tmp_path / "run", up.url) as made:
        yield made
