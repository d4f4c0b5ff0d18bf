"""MiniWoB++: its 130 pages, the env that plays them, and scripted solutions."""

from __future__ import annotations

from guiforge.task import Suite


def miniwob() -> Suite:
    """Suite `miniwob`: small pages of one task each, graded by the page itself."""
    from envs.browser.miniwob.families import FAMILIES, SUITE

    return Suite(SUITE, "miniwob", FAMILIES)
