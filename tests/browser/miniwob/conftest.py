"""One browser for the pages of a module, whatever was played in it before."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from envs.browser.miniwob.env import MiniWobEnv
from tests.suites.families import SEED


@pytest.fixture(scope="module")
def env() -> Iterator[MiniWobEnv]:
    env = MiniWobEnv()
    yield env
    env.close()


@pytest.fixture(scope="module")
def other() -> Iterator[MiniWobEnv]:
    """A second one, which has played nothing that the first did."""
    env = MiniWobEnv()
    yield env
    env.close()


@pytest.fixture(scope="session")
def seed() -> int:
    """The seed of the day in CI."""
    return SEED
