"""Task families of the site `wiki` (DokuWiki): questions to it, and changes of its pages, users and rights."""

from __future__ import annotations

from envs.browser.suites import wiki_admin, wiki_ask, wiki_edit, wiki_pages, wiki_sums

FAMILIES = (
    *wiki_ask.FAMILIES,
    *wiki_sums.FAMILIES,
    *wiki_edit.FAMILIES,
    *wiki_pages.FAMILIES,
    *wiki_admin.FAMILIES,
)
