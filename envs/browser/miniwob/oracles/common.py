"""What the solutions of MiniWoB pages are written in.

Invariant: a solution acts by Actions on screen pixels alone; `find` and `evaluate` of its view only look.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from envs.browser.miniwob.view import MiniWobView
from envs.browser.pointer import PIXELS_PER_NOTCH
from envs.browser.view import Box, OracleStuck
from guiforge.action import Action, Click, Drag, Press, Scroll, TypeText
from guiforge.task import Task

Steps = Iterator[Sequence[Action]]
Oracle = Callable[[MiniWobView], Steps]
Point = tuple[int, int]

# Where an element shows for a click: the first point of a grid over it that is not covered by another.
_POINT = """(css, index) => {
  const node = [...document.querySelectorAll(css)][index];
  if (!node) return null;
  for (const box of node.getClientRects())
    for (const [u, v] of [[.5, .5], [.2, .2], [.8, .8], [.2, .8], [.8, .2], [.5, .1], [.5, .9], [.05, .5], [.95, .5]]) {
      const x = Math.round(box.left + u * (box.width - 1)), y = Math.round(box.top + v * (box.height - 1));
      const top = document.elementFromPoint(x, y);
      if (top && (node === top || node.contains(top))) return [x, y];
    }
  return null;
}"""


def point(view: MiniWobView, css: str, index: int = 0) -> Point:
    """Where the index-th element of a selector can be clicked. Raises OracleStuck where it does not show."""
    found = view.evaluate(f"({_POINT})({json.dumps(css)}, {index})")
    if found is None:
        raise OracleStuck(f"element {index} of {css!r} does not show")
    return int(found[0]), int(found[1])


def click(view: MiniWobView, css: str, index: int = 0) -> Click:
    """A click on the index-th element of a selector."""
    x, y = point(view, css, index)
    return Click(x=x, y=y)


def at(where: Point | Box, **fields: Any) -> Click:
    """A click on a point, or in the middle of a box."""
    x, y = where.center if isinstance(where, Box) else where
    return Click(x=x, y=y, **fields)


def texts(view: MiniWobView, css: str) -> list[str]:
    """The texts of a selector's elements, showing or not."""
    found: list[str] = view.evaluate(f"[...document.querySelectorAll({json.dumps(css)})].map((e) => e.textContent)")
    return [text.strip() for text in found]


def attributes(view: MiniWobView, css: str, name: str) -> list[str]:
    """An attribute of each of a selector's elements."""
    script = f"[...document.querySelectorAll({json.dumps(css)})].map((e) => e.getAttribute({json.dumps(name)}))"
    found: list[str] = view.evaluate(script)
    return found


def index_of(view: MiniWobView, css: str, text: str) -> int:
    """Which of a selector's elements has this text. Raises OracleStuck."""
    found = texts(view, css)
    if text not in found:
        raise OracleStuck(f"no {css!r} says {text!r}; they say {found}")
    return found.index(text)


def asked(view: MiniWobView, pattern: str) -> tuple[str, ...]:
    """The groups of a regular expression that the page's words match whole. Raises OracleStuck."""
    match = re.fullmatch(pattern, view.utterance)
    if match is None:
        raise OracleStuck(f"the page says {view.utterance!r}, which is not {pattern!r}")
    return match.groups()


def filled(view: MiniWobView, css: str, text: str, index: int = 0) -> list[Action]:
    """Replace what a field holds."""
    return [click(view, css, index), Press(keys=("ctrl", "a")), TypeText(text=text)]


def drag(*path: Point) -> Drag:
    """A drag along points."""
    return Drag(path=path)


def press(chord: str) -> Press:
    """`press("ctrl+a")`, `press("Return")`."""
    return Press(keys=tuple(chord.split("+")))


def scrolled_to(view: MiniWobView, css: str, index: int, area: str) -> Iterator[list[Action]]:
    """Turn the wheel over an area until the middle of an element of it shows in it."""
    script = f"""(() => {{
      const box = document.querySelectorAll({json.dumps(css)})[{index}].getBoundingClientRect();
      const area = document.querySelector({json.dumps(area)}).getBoundingClientRect();
      const middle = (box.top + box.bottom) / 2;
      const low = Math.min(area.bottom, innerHeight) - 6, high = Math.max(0, area.top) + 6;
      const away = middle < high ? middle - high : middle > low ? middle - low : 0;
      return [area.left + area.width / 2, (high + low) / 2, away];
    }})()"""
    for _ in range(20):
        x, y, distance = view.evaluate(script)
        if not distance:
            return
        notches = math.ceil(abs(distance) / PIXELS_PER_NOTCH)
        yield [Scroll(x=round(x), y=round(y), dy=notches if distance > 0 else -notches)]
    raise OracleStuck(f"element {index} of {css!r} does not scroll into {area!r}")


def by_page(oracle: Oracle) -> Callable[[Task, Any], Steps]:
    """A Family's oracle of a page's solution; the page itself ends the episode, so nothing comes after it."""

    def play(task: Task, view: MiniWobView) -> Steps:
        yield from oracle(view)

    return play
