"""Whether the packages that Python finds are guiforge's own: `envs` and `verifiers` are names others use too.

Invariant: looks only, imports nothing.
"""

from __future__ import annotations

import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import guiforge

OURS = ("guiforge", "envs", "verifiers", "vlm")


def shadowed() -> str | None:
    """What to tell a person when another distribution's package hides one of ours; None when none does."""
    home = Path(guiforge.__file__).resolve().parents[1]
    for name in OURS:
        found = importlib.util.find_spec(name)
        places = _places(found) if found is not None else []
        if places and home / name not in places:
            return (
                f"another package named {name!r} hides guiforge's own: Python finds {places[0]}, guiforge's is "
                f"{home / name}. Uninstall the other distribution, or install guiforge in an environment of its own"
            )
    return None


def _places(spec: ModuleSpec) -> list[Path]:
    folders = spec.submodule_search_locations or ([spec.origin] if spec.origin else [])
    return [Path(place).resolve() for place in folders]
