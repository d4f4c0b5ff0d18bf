"""What all tests of the desktop stand on: the applications' warmed profiles, made once."""

from __future__ import annotations

import pytest

from envs.desktop import warming


@pytest.fixture(scope="session", autouse=True)
def warmed() -> None:
    """A LibreOffice without one makes its profile, ends, and asks to be started again."""
    warming.warm_all()
