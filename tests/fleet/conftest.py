"""The fault world of tests/plugins, found by entry points in this process and in the workers it starts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from guiforge.trace import EpisodeKey, EpisodeSpec

PLUGINS = Path(__file__).parents[1] / "plugins"

MakeSpec = Callable[..., EpisodeSpec]


@pytest.fixture
def spec(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> MakeSpec:
    """Makes specs of the fault world: spec("press", seed=0, policy="oracle", ...)."""
    monkeypatch.syspath_prepend(str(PLUGINS))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(PLUGINS), os.environ.get("PYTHONPATH")))))

    def make(
        family: str, seed: int = 0, attempt: int = 0, policy: str = "oracle", harness: str = "kimi", **fields: object
    ) -> EpisodeSpec:
        key = EpisodeKey(task=f"faultworld/{family}", seed=seed, attempt=attempt, harness=harness, policy=policy)
        env_options = {"marks": str(tmp_path)}
        return EpisodeSpec(key=key, suite="faultworld", family=family, env_options=env_options, **fields)

    return make
