"""Solutions of pages where things are dragged, drawn or pointed at."""

from __future__ import annotations

import math
import re

from envs.browser.miniwob.oracles.clicking import shapes
from envs.browser.miniwob.oracles.common import Oracle, Point, Steps, asked, at, click, drag, index_of, point, texts
from envs.browser.miniwob.view import MiniWobView
from envs.browser.view import OracleStuck
from guiforge.action import Move, Scroll

SUBMIT = "#subbtn"
_WAYS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
_GRID = {"top": 0, "center": 1, "bottom": 2}


def _box(view: MiniWobView, css: str, index: int = 0) -> tuple[float, float, float, float]:
    """(left, top, width, height) of an element in screen pixels."""
    script = f"(() => {{ const b = document.querySelectorAll({css!r})[{index}].getBoundingClientRect();"
    left, top, width, height = view.evaluate(f"{script} return [b.left, b.top, b.width, b.height]; }})()")
    return left, top, width, height


def _middle(view: MiniWobView, css: str, index: int = 0) -> Point:
    left, top, width, height = _box(view, css, index)
    return round(left + width / 2), round(top + height / 2)


def _into_box(view: MiniWobView) -> Steps:
    """The small box is above or below the large one, so whichever lies on top at a point is dragged by it."""
    left, top, width, height = _box(view, "#draggableLarge")
    x, y, small, _ = _box(view, "#draggableSmall")
    grab = point(view, "#draggableSmall")
    target = (round(left + (width - small) / 2 + grab[0] - x), round(top + (height - small) / 2 + grab[1] - y))
    yield [drag(grab, target)]
    yield [click(view, SUBMIT)]


def _one_way(view: MiniWobView) -> Steps:
    (way,) = asked(view, r"Drag the (?:circle|item) (\w+) then press Submit\.")
    x, y = _middle(view, "#area svg > *")
    dx, dy = _WAYS[way]
    yield [drag((x, y), (x + 30 * dx, y + 30 * dy))]
    yield [click(view, SUBMIT)]


def _place(view: MiniWobView, css: str, index: int, target: Point) -> Steps:
    """Drag a shape until its middle is within a few pixels of a point: while dragged it keeps its own distance."""
    for _ in range(4):
        x, y = _middle(view, css, index)
        if math.dist((x, y), target) < 4:
            return
        yield [drag((x, y), (min(target[0], 159), target[1]))]
    raise OracleStuck(f"shape {index} does not go to {target}")


def _into_containers(view: MiniWobView) -> Steps:
    """Shapes into the one box, or into two."""
    words = view.utterance
    kinds, wanted = shapes(view), re.search(r"Drag all (\w+?)(?:s into| shapes into)", words)
    if wanted is None:
        raise OracleStuck(f"the page says {words!r}")
    boxes = [i for i, shape in enumerate(kinds) if shape.color == "none"]
    filled = [0] * len(boxes)
    for number, shape in enumerate(kinds):
        chosen = wanted[1] in (shape.text, shape.color)
        if number in boxes or not (chosen or len(boxes) == 2):
            continue
        box = 0 if chosen else 1
        left, top, _, _ = _box(view, "#area_svg > *", boxes[box])
        row, column = divmod(filled[box], 3)
        filled[box] += 1
        yield from _place(view, "#area_svg > *", number, (round(left + 14 + 20 * column), round(top + 14 + 20 * row)))
    yield [click(view, SUBMIT)]


def _sorted_to(view: MiniWobView, source: int, target: int) -> Steps:
    """Drag an item of a list, or of a grid, to where another is; it comes in before that one where it last went up."""
    items = "#sortable li"
    start, end = _middle(view, items, source), _middle(view, items, target)
    further = 5 if target > source else -5
    yield [drag(start, end, (end[0] + further, end[1] + further))]


def _item(view: MiniWobView) -> Steps:
    name, where = asked(view, r"Drag (\S+) (.*)\.")
    count = len(texts(view, "#sortable li"))
    source = index_of(view, "#sortable li", name)
    if number := re.search(r"to the (\d)", where):
        target = int(number[1]) - 1
    else:
        target = {"to the top": 0, "to the bottom": count - 1}.get(where, source + (1 if "down" in where else -1))
    yield from _sorted_to(view, source, target)


def _grid_item(view: MiniWobView) -> Steps:
    name, where = asked(view, r"Drag (\S+) (.*)\.")
    source = index_of(view, "#sortable li", name)
    if step := re.fullmatch(r"(\w+) by one", where):
        dx, dy = _WAYS[step[1]]
        target = source + dx + 3 * dy
    else:
        row, _, column = where.removeprefix("to the ").partition(" ")
        target = 3 * _GRID[row] + {"left": 0, "center": 1, "right": 2, "": 1}[column]
    yield from _sorted_to(view, source, target)


def _numbers(view: MiniWobView) -> Steps:
    """The smallest that is left goes up, one after the other."""
    count = len(texts(view, "#sortable li"))
    for place in range(count):
        numbers = [int(text) for text in texts(view, "#sortable li")]
        smallest = min(range(place, count), key=numbers.__getitem__)
        if smallest != place:
            yield from _sorted_to(view, smallest, place)
    yield [click(view, SUBMIT)]


def _line(view: MiniWobView) -> Steps:
    (way,) = asked(view, r"Draw a (\w+) line that runs through the dot, then press submit\.")
    x, y = _middle(view, "#circ")
    dx, dy = (25, 0) if way == "horizontal" else (0, 25)
    yield [drag((x - dx, y - dy), (x + dx, y + dy))]
    yield [click(view, "#controls button")]


def _circle(view: MiniWobView) -> Steps:
    x, y = _middle(view, "#circ")
    turn = [math.radians(degrees) for degrees in range(0, 361, 12)]
    yield [drag(*((round(x + 20 * math.cos(a)), round(y + 20 * math.sin(a))) for a in turn))]
    yield [click(view, "#controls button")]


def _resized(view: MiniWobView) -> Steps:
    side, way = asked(view, r"Resize the textarea so that the (\w+) is (\w+) than its initial size then press Submit\.")
    left, top, width, height = _box(view, "#tt")
    corner = (round(left + width) - 4, round(top + height) - 4)
    by = 15 if way == "larger" else -15
    yield [drag(corner, (corner[0] + by * (side == "width"), corner[1] + by * (side == "height")))]
    yield [click(view, "#submit")]


def _turned(view: MiniWobView) -> Steps:
    """A text scrolled to its top or bottom."""
    (end,) = asked(view, r"Scroll the textarea to the (\w+) of the text hit submit\.")
    x, y = point(view, "#text-area")
    yield [Scroll(x=x, y=y, dy=100 if end == "bottom" else -100)]
    yield [click(view, SUBMIT)]


def _hot(view: MiniWobView) -> Steps:
    """The pointer goes over the area in a grid as fine as the hot spot is wide."""
    left, top, width, height = _box(view, "#touch-area")
    for y in range(round(top) + 6, round(top + height) - 2, 6):
        for x in range(round(left) + 6, round(left + width) - 2, 6):
            yield [Move(x=x, y=y)]
            if texts(view, "#signal") == ["HOT"]:
                yield [at((x, y))]
                return
    raise OracleStuck("nowhere is it hot")


DRAGGING: dict[str, Oracle] = {
    "drag-box": _into_box,
    "drag-circle": _one_way,
    "drag-single-shape": _one_way,
    "drag-shapes": _into_containers,
    "drag-shapes-2": _into_containers,
    "drag-items": _item,
    "drag-items-grid": _grid_item,
    "drag-sort-numbers": _numbers,
    "draw-line": _line,
    "draw-circle": _circle,
    "resize-textarea": _resized,
    "scroll-text-2": _turned,
}
