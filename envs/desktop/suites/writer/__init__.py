"""Task families of LibreOffice Writer."""

from __future__ import annotations

from envs.desktop.suites.writer.layout import BREAK, HEADINGS, PARAGRAPH, TABLE
from envs.desktop.suites.writer.wording import EMPHASIS, REPLACE

FAMILIES = (REPLACE, EMPHASIS, HEADINGS, PARAGRAPH, BREAK, TABLE)
