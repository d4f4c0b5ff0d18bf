"""What the benchmarks' figures are written with: on what machine, and as Markdown."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

import psutil

Figures = dict[str, Any]


def machine() -> Figures:
    """What was measured on, in general terms."""
    release = platform.freedesktop_os_release()
    return {
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30),
        "system": f"{release['NAME']} {release.get('VERSION_ID', '')}",
        "python": platform.python_version(),
        "load_before": round(os.getloadavg()[0], 1),
    }


def headline(figures: Figures) -> str:
    """The machine in a sentence."""
    return "Measured on {cores} cores, {memory_gb} GB, {system}, load {load_before} before.\n".format(**figures)


def table(head: list[str], rows: list[list[Any]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def write(folder: Path, name: str, figures: Figures, markdown: str) -> None:
    """Both forms of the figures into the folder, and the Markdown on standard output."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(figures, indent=1, ensure_ascii=False))
    (folder / f"{name}.md").write_text(markdown)
    print(markdown)
