"""Scripted solutions of MiniWoB pages, by page. Each module solves pages of one kind."""

from __future__ import annotations

from envs.browser.miniwob.oracles.apps import APPS
from envs.browser.miniwob.oracles.choosing import CHOOSING
from envs.browser.miniwob.oracles.clicking import CLICKING
from envs.browser.miniwob.oracles.common import by_page
from envs.browser.miniwob.oracles.dragging import DRAGGING
from envs.browser.miniwob.oracles.typing import TYPING

ORACLES = {name: by_page(oracle) for name, oracle in (CLICKING | CHOOSING | TYPING | DRAGGING | APPS).items()}
