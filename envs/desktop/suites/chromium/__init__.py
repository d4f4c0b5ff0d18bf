"""Task families of Chromium: bookmarks, settings, search shortcuts, and what it saves of pages."""

from __future__ import annotations

from envs.desktop.suites.chromium import bookmarks, saving, search, settings

FAMILIES = (*bookmarks.FAMILIES, *settings.FAMILIES, *search.FAMILIES, *saving.FAMILIES)
