"""Tables of figures: the same ones on a terminal, in Markdown and on a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from guiforge.report.page import render, write


@dataclass(frozen=True)
class Table:
    """A titled table. A column whose name ends in `>` is aligned to the right; every cell is text."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """The table in Markdown."""
        names = [name.removesuffix(">") for name in self.columns]
        rules = ["---:" if name.endswith(">") else "---" for name in self.columns]
        lines = [f"| {' | '.join(map(_cell, row))} |" for row in (names, rules, *self.rows)]
        return f"## {self.title}\n\n" + "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def markdown(title: str, facts: Mapping[str, str], tables: Sequence[Table], notes: Sequence[str]) -> str:
    """A document of facts, tables and notes."""
    told = "\n".join(f"- {name}: {value}" for name, value in facts.items())
    said = "\n".join(f"- {note}" for note in notes)
    return "\n".join([f"# {title}\n", told, "", *(table.markdown() for table in tables), said, ""])


def write_tables(
    path: Path, title: str, facts: Mapping[str, str], tables: Sequence[Table], notes: Sequence[str]
) -> Path:
    """Write a page of facts, tables and notes beside a run's pages (`report/`). Raises StoreFull."""
    write(path, render("tables.html", title=title, facts=facts, tables=tables, notes=notes))
    return path
