"""Solutions of pages where something that shows is clicked: buttons, links, tabs, shapes, menus."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from functools import partial

from envs.browser.miniwob.oracles.common import Oracle, Steps, asked, attributes, click, index_of, point, texts
from envs.browser.miniwob.view import MiniWobView
from guiforge.action import Action, Move

LINK = r'.*"(.*)"\.?'


def _all(*selectors: str) -> Oracle:
    """Click one after the other."""

    def play(view: MiniWobView) -> Steps:
        for css in selectors:
            yield [click(view, css)]

    return play


def _said(pattern: str, css: str, view: MiniWobView) -> Steps:
    """Click the element that has the text which the page's words name."""
    (text,) = asked(view, pattern)
    yield [click(view, css, index_of(view, css, text))]


def _formatted(pattern: str, css: str, view: MiniWobView) -> Steps:
    """Click what a selector matches, made from what the page's words name."""
    yield [click(view, css.format(*asked(view, pattern)))]


def _dialog(view: MiniWobView) -> Steps:
    (text,) = asked(view, LINK)
    css = ".ui-dialog-titlebar-close" if text == "x" else ".ui-dialog-buttonset button"
    yield [click(view, css, 0 if text == "x" else index_of(view, css, text))]


def _tabs(view: MiniWobView) -> Steps:
    """A link that is on one of the tabs; where no tab has it, the page wants the second opened."""
    (text,) = asked(view, LINK)
    if text not in texts(view, ".alink"):
        yield [click(view, "#area ul a", 1)]
        return
    number = index_of(view, ".alink", text)
    script = f"document.querySelectorAll('.alink')[{number}].closest('[id^=tabs-]').id"
    yield [click(view, f'a[href="#{view.evaluate(script)}"]')]
    yield [click(view, ".alink", number)]


def _sections(view: MiniWobView) -> Steps:
    """A link that is in one of the closed sections."""
    (text,) = asked(view, LINK)
    number = index_of(view, ".alink", text)
    section = f"document.querySelectorAll('.alink')[{number}].closest('.ui-accordion-content')"
    header = view.evaluate(f"{section}.getAttribute('aria-labelledby')")
    yield [click(view, f"#{header}")]
    yield [click(view, ".alink", number)]


def _shades(view: MiniWobView) -> Steps:
    (color,) = asked(view, r"Select all the shades of (\w+) and press Submit\.")
    css = f'#area span[data-color="{color}"]'
    yield [click(view, css, i) for i in range(len(texts(view, css)))]
    yield [click(view, "#submit")]


def _tree(view: MiniWobView) -> Steps:
    """A folder or file of a tree whose folders are closed."""
    (name,) = asked(view, LINK)
    script = f"""(() => {{
      const spans = [...document.querySelectorAll('#tree span')];
      const paths = spans.filter((s) => s.textContent === {name!r}).map((s) => {{
        const path = [];
        for (let li = s.closest('li'); li; li = li.parentElement.closest('li'))
          path.unshift(spans.indexOf(li.querySelector('span')));
        return path;
      }});
      return paths.sort((a, b) => a.length - b.length)[0];
    }})()"""
    for number in view.evaluate(script):
        yield [click(view, "#tree span", number)]


def _menu(view: MiniWobView) -> Steps:
    """An item below others, which open when the pointer is on them."""
    (path,) = asked(view, r"Select (.*)")
    *parents, leaf = path.split(">")
    css = "#menu div"
    for parent in parents:
        x, y = point(view, css, index_of(view, css, parent))
        yield [Move(x=x, y=y)]
    yield [click(view, css, index_of(view, css, leaf))]


def _icon_menu(view: MiniWobView) -> Steps:
    icons = attributes(view, "#query .ui-icon", "class")
    yield [click(view, "#open-menu")]
    if icons:
        item = f"#menu .{icons[0].split()[1]}"
        text = view.evaluate(f"document.querySelector({item!r}).parentElement.textContent")
    else:
        (text,) = asked(view, LINK)
    css = "#menu div"
    if text in ("Prev", "Stop", "Play", "Next"):
        x, y = point(view, css, index_of(view, css, "Playback"))
        yield [Move(x=x, y=y)]
    yield [click(view, css, index_of(view, css, text))]


def _ordinal(view: MiniWobView) -> Steps:
    (number,) = asked(view, r"Focus into the (\d).. input textbox\.")
    yield [click(view, f"#tt{number}")]


@dataclass(frozen=True)
class Shape:
    """One of the shapes, digits and letters of a drawing."""

    size: str
    color: str
    type: str
    text: str

    def is_a(self, description: str) -> bool:
        """Whether a description such as `small red digit`, `K` or `large item` is of it."""
        return all(word in (self.size, self.color, self.type, self.text, "item") for word in description.split())


_SHAPES = """[...document.querySelectorAll('#area_svg > *')].map((s) => ({
  tag: s.tagName, color: s.getAttribute('fill'),
  text: s.textContent, font: s.getAttribute('font-size'), box: s.getBBox().width,
}))"""


def shapes(view: MiniWobView) -> list[Shape]:
    """The drawing's shapes, in the order of the document."""
    names = {"rect": "rectangle", "circle": "circle", "polygon": "triangle"}
    found = []
    for shape in view.evaluate(_SHAPES):
        text = shape["text"]
        kind = "shape" if shape["tag"] in names else "digit" if text.isdigit() else "letter"
        width = float(shape["font"].removesuffix("px")) if shape["font"] else shape["box"]
        size = "large" if width > 15 else "small"
        found.append(Shape(size, shape["color"], kind, names.get(shape["tag"], text)))
    return found


def _shape(view: MiniWobView) -> Steps:
    (description,) = asked(view, r"Click on a (.*)")
    number = next(i for i, shape in enumerate(shapes(view)) if shape.is_a(description))
    yield [click(view, "#area_svg > *", number)]


def _count(view: MiniWobView) -> Steps:
    (description,) = asked(view, r"How many (.*)s are there\?")
    count = sum(shape.is_a(description) for shape in shapes(view))
    css = "#count-buttons button"
    yield [click(view, css, index_of(view, css, str(count)))]


def _identify(view: MiniWobView) -> Steps:
    shape = shapes(view)[0]
    yield [click(view, f'[data-type="{shape.text if shape.type == "shape" else shape.type}"]')]


_OUTLINE = """(() => {
  const { width, height } = c, data = c.getContext('2d').getImageData(0, 0, width, height).data;
  return [...Array(360).keys()].map((degrees) => {
    for (let r = 45; r > 0; r -= .5) {
      const x = Math.round(width / 2 + r * Math.cos(degrees * Math.PI / 180));
      const y = Math.round(height / 2 + r * Math.sin(degrees * Math.PI / 180));
      if (data[(y * width + x) * 4 + 3] > 60) return r;
    }
    return 0;
  });
})()"""


def _sides(view: MiniWobView) -> Steps:
    """How often the outline's distance from its middle swings in a turn; it need not be closed for that."""
    radii: list[float] = view.evaluate(_OUTLINE)

    def swing(times: int) -> float:
        return abs(sum(r * cmath.exp(1j * times * math.radians(i)) for i, r in enumerate(radii)))

    yield [click(view, f'[data-sides="{max(range(3, 8), key=swing)}"]')]


def _greatest(view: MiniWobView) -> Steps:
    """Cards that show their number only while they are picked."""
    numbers = []
    for number in range(3):
        yield [click(view, ".card", number)]
        numbers.append(int(texts(view, ".card:not(.hidden)")[0]))
    yield [click(view, ".card", numbers.index(max(numbers)))]
    yield [click(view, "#submit")]


def _parity(view: MiniWobView) -> Steps:
    numbers = texts(view, ".display-number")
    actions: list[Action] = [
        click(view, ".row .odd" if int(number) % 2 else ".row .even", row) for row, number in enumerate(numbers)
    ]
    yield actions
    yield [click(view, "#submit")]


_BUTTON = partial(_said, LINK.replace(r"\.?", " button."), "#area button")
_TAB = r"Click on (Tab #\d)\."
CLICKING: dict[str, Oracle] = {
    "click-test": _all("#subbtn"),
    "click-test-2": _all("#subbtn"),
    "click-test-transfer": _all("#subbtn"),
    "click-button-sequence": _all("#subbtn", "#subbtn2"),
    "click-button": _BUTTON,
    "unicode-test": _BUTTON,
    "click-link": partial(_said, LINK, ".alink"),
    "click-color": partial(_formatted, r"Click on the (\w+) colored box\.", '#area [data-color="{}"]'),
    "click-dialog": _all(".ui-dialog-titlebar-close"),
    "click-dialog-2": _dialog,
    "click-tab": partial(_said, _TAB, "#area ul a"),
    "click-tab-2": _tabs,
    "click-tab-2-easy": _tabs,
    "click-tab-2-medium": _tabs,
    "click-tab-2-hard": _tabs,
    "click-collapsible": _all("h3", "#subbtn"),
    "click-collapsible-nodelay": _all("h3", "#subbtn"),
    "click-collapsible-2": _sections,
    "click-collapsible-2-nodelay": _sections,
    "click-widget": partial(_formatted, LINK.replace(r"\.?", r" widget\."), '[data-type="{}"]'),
    "click-shades": _shades,
    "click-menu": _menu,
    "click-menu-2": _icon_menu,
    "click-shape": _shape,
    "count-shape": _count,
    "count-sides": _sides,
    "identify-shape": _identify,
    "grid-coordinate": partial(_formatted, r"Click on the grid coordinate (.*)\.", 'circle[id="{}"]'),
    "focus-text": _all("#tt"),
    "focus-text-2": _ordinal,
    "navigate-tree": _tree,
    "find-greatest": _greatest,
    "odd-or-even": _parity,
}
