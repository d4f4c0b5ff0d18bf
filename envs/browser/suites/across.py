"""Task families across two sites: what is found on one is entered on the other, or both are read for one answer."""

from __future__ import annotations

from envs.browser.suites import across_budget, across_text

FAMILIES = (*across_budget.FAMILIES, *across_text.FAMILIES)
