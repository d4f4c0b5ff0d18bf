"""Task families of the site `library`: what its catalogue says, and marks, shelves and metadata set right."""

from __future__ import annotations

from envs.browser.suites import library_ask, library_edit, library_shelve

FAMILIES = (*library_ask.FAMILIES, *library_shelve.FAMILIES, *library_edit.FAMILIES)
