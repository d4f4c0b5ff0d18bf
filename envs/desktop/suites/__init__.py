"""Suites of the desktop. Each sibling module names its task families in `FAMILIES`."""

from __future__ import annotations

import importlib

from guiforge.task import Family, Suite

_MODULES = (
    "calc", "writer", "impress", "gimp", "vlc", "chromium", "files", "editor", "terminal", "viewers", "across",
    "infeasible",
)  # fmt: skip


def osworld_like() -> Suite:
    """Suite `osworld-like`: office, image, media, web, file, text and terminal work, graded by the final state."""
    families: dict[str, Family] = {}
    for module in _MODULES:
        for family in importlib.import_module(f"{__name__}.{module}").FAMILIES:
            if family.name in families:
                raise ValueError(f"two families are named {family.name}")
            families[family.name] = family
    return Suite("osworld-like", "desktop", families)
