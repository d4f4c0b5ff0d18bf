"""Task families of LibreOffice Impress."""

from __future__ import annotations

from envs.desktop.suites.impress.slides import ADD, DELETE, DUPLICATE, NOTES, TITLE

FAMILIES = (TITLE, NOTES, ADD, DELETE, DUPLICATE)
