"""Task families across two applications: what one shows or says goes into what the other writes."""

from __future__ import annotations

from envs.desktop.suites.across import sheets, texts

FAMILIES = (*sheets.FAMILIES, *texts.FAMILIES)
