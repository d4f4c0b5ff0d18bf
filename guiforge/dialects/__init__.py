"""Dialect: a vocabulary of actions in text or JSON; parses to Actions and renders from them.

Invariant: see `base`. Facts of the vocabularies: the documentation of pyautogui, OSWorld, MolmoWeb and
BrowserGym, OpenAI's and Anthropic's computer-use references.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from guiforge.dialects.anthropic import Anthropic
from guiforge.dialects.base import Dialect, DialectError, OneAtATime, Parsed
from guiforge.dialects.browsergym import BrowserGym
from guiforge.dialects.computer_13 import Computer13
from guiforge.dialects.kimi import Kimi
from guiforge.dialects.molmoweb import MolmoWeb
from guiforge.dialects.openai import OpenAI
from guiforge.dialects.pyautogui import Pyautogui
from guiforge.dialects.tools import Tools

__all__ = ["DIALECTS", "Dialect", "DialectError", "OneAtATime", "Parsed", "dialect"]

DIALECTS: dict[str, Callable[..., Dialect]] = {
    Kimi.name: Kimi,
    Pyautogui.name: Pyautogui,
    Computer13.name: Computer13,
    OpenAI.name: OpenAI,
    Anthropic.name: Anthropic,
    MolmoWeb.name: MolmoWeb,
    BrowserGym.name: BrowserGym,
    Tools.name: Tools,
}


def dialect(name: str, **options: Any) -> Dialect:
    """A dialect by name, with its options. Raises ValueError naming the valid ones."""
    if name not in DIALECTS:
        raise ValueError(f"unknown dialect {name!r}; valid are: {', '.join(DIALECTS)}")
    return DIALECTS[name](**options)
