"""Task families of GIMP: pictures, preferences."""

from __future__ import annotations

from envs.desktop.suites.gimp import pictures, preferences

FAMILIES = (*pictures.FAMILIES, *preferences.FAMILIES)
