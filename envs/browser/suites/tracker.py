"""Task families of the issue tracker."""

from __future__ import annotations

from envs.browser.suites import tracker_ask, tracker_plans, tracker_tickets

FAMILIES = (*tracker_ask.FAMILIES, *tracker_tickets.FAMILIES, *tracker_plans.FAMILIES)
