"""Task families of LibreOffice Calc."""

from __future__ import annotations

from envs.desktop.suites.calc.books import CSV, FREEZE, SHEETS
from envs.desktop.suites.calc.cells import FILL, FORMAT, REPLACE, SUMMARY
from envs.desktop.suites.calc.rows import DELETE, SORT

FAMILIES = (SUMMARY, FILL, REPLACE, FORMAT, SORT, DELETE, SHEETS, FREEZE, CSV)
