"""Where what set-up makes once a machine is kept: warmed profiles, sites."""

from __future__ import annotations

import os
from pathlib import Path


def cache_root() -> Path:
    """$GUIFORGE_CACHE, or ~/.cache/guiforge."""
    root = os.environ.get("GUIFORGE_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "guiforge"
    return Path(root).expanduser()
