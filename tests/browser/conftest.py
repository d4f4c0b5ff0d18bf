"""One site and one browser for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from envs.browser.env import BrowserEnv
from tests.browser import rig

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package")
def site() -> Iterator[rig.Site]:
    with rig.site() as server:
        yield server


@pytest.fixture(scope="module")
def env() -> Iterator[BrowserEnv]:
    env = BrowserEnv()
    yield env
    env.close()
