"""One tiny model for all tests of the local model."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
import torch

from vlm import tiny
from vlm.loading import Model, load
from vlm.serve import serving


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)  # of a model this small, two would only wait for each other
    made = tmp_path_factory.mktemp("models") / "small"
    tiny.make(made)
    return made


@pytest.fixture(scope="session")
def model(folder: Path) -> Model:
    return load(folder)


@pytest.fixture(scope="session")
def url(model: Model) -> Iterator[str]:
    """Base URL of a real server of the model."""
    loop, end, base = asyncio.new_event_loop(), asyncio.Event(), Future[str]()

    async def run() -> None:
        async with serving(model) as found:
            base.set_result(found)
            await end.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    try:
        yield base.result(timeout=30)
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join()
        loop.close()
