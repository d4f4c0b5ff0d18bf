"""Suites of the browser. Each sibling module that `_MODULES` lists names its task families in `FAMILIES`."""

from __future__ import annotations

import importlib

from envs.browser.suites.common import SUITE
from guiforge.task import Family, Suite

_MODULES = ("tracker", "bookmarks", "budget", "library", "across", "forum", "wiki", "cms", "shop")


def webvoyager_like() -> Suite:
    """Suite `webvoyager-like`: questions and changes on real web applications, graded by answer and by their data."""
    families: dict[str, Family] = {}
    for module in _MODULES:
        for family in importlib.import_module(f"{__name__}.{module}").FAMILIES:
            if family.name in families:
                raise ValueError(f"two families are named {family.name}")
            families[family.name] = family
    return Suite(SUITE, "browser", families)
