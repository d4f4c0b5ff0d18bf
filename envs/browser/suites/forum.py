"""Task families of the site `forum` (Spirit): questions to it, what a member does, what a moderator does."""

from __future__ import annotations

from envs.browser.suites import forum_ask, forum_edit, forum_moderate, forum_offers

FAMILIES = (*forum_ask.FAMILIES, *forum_offers.FAMILIES, *forum_edit.FAMILIES, *forum_moderate.FAMILIES)
