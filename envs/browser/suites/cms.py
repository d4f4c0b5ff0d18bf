"""Task families of the site `cms`: what its pages and its console say, and what an editor in chief changes."""

from __future__ import annotations

from envs.browser.suites import cms_ask, cms_change, cms_places, cms_publish, cms_staff

FAMILIES = (*cms_ask.FAMILIES, *cms_staff.FAMILIES, *cms_publish.FAMILIES, *cms_places.FAMILIES, *cms_change.FAMILIES)
