"""Sites: real web applications with a state of their own, by name; each is the `SITE` of the sibling module."""

from __future__ import annotations

import importlib
from pathlib import Path

from envs.browser.sites.site import Site, SiteBroken

__all__ = ["DOMAIN", "Site", "SiteBroken", "load", "names"]

DOMAIN = "test"  # a site is served at http://NAME.test/
_PARTS = ("__init__", "site", "cache", "runner", "live", "init")  # modules that are no site


def names() -> list[str]:
    """Every site's name."""
    modules = {path.stem for path in Path(__file__).parent.glob("[a-z]*.py")}
    return sorted(name for name in modules - {*_PARTS} if "_" not in name)  # wiki_data.py is a part of wiki.py


def load(name: str) -> Site:
    """A site by name. Raises LookupError naming the valid ones."""
    if name not in names():
        raise LookupError(f"no site {name!r}; valid are: {', '.join(names())}")
    site: Site = importlib.import_module(f"{__name__}.{name}").SITE
    return site
