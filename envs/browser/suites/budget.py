"""Task families of the site `budget`: what its groups spent and owe, and bills and members set right."""

from __future__ import annotations

from envs.browser.suites import budget_ask, budget_change, budget_people

FAMILIES = (*budget_ask.FAMILIES, *budget_change.FAMILIES, *budget_people.FAMILIES)
