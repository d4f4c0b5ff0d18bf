"""Solutions of pages where something is chosen: boxes, lists, sliders, and forms of several of these."""

from __future__ import annotations

from itertools import chain

from envs.browser.miniwob.oracles.common import (
    Oracle,
    Steps,
    asked,
    at,
    click,
    filled,
    index_of,
    point,
    press,
    scrolled_to,
    texts,
)
from envs.browser.miniwob.view import MiniWobView
from envs.browser.view import OracleStuck
from guiforge.action import Action

SUBMIT = "#subbtn"
_PATTERNS = "[...document.querySelectorAll('#area input')].map((e, i) => PATTERNS[{}][Math.floor(i / 4)][i % 4])"


def _boxes(view: MiniWobView) -> Steps:
    (names,) = asked(view, r"Select (.*) and click Submit\.")
    labels = texts(view, "#area label")
    if names != "nothing":
        yield [click(view, "#area input", labels.index(name)) for name in names.split(", ")]
    yield [click(view, SUBMIT)]


def _synonyms(view: MiniWobView) -> Steps:
    (names,) = asked(view, r"Select words similar to (.*) and click Submit\.")
    alike: list[list[str]] = view.evaluate("SYNONYMS")
    wanted = set(chain.from_iterable(words for words in alike if set(words) & set(names.split(", "))))
    yield [click(view, "#area input", i) for i, word in enumerate(texts(view, "#area label")) if word in wanted]
    yield [click(view, SUBMIT)]


def _option(view: MiniWobView) -> Steps:
    (name,) = asked(view, r"Select (.*) and click Submit\.")
    yield [click(view, "#area input", index_of(view, "#area label", name))]
    yield [click(view, SUBMIT)]


def _list(view: MiniWobView) -> Steps:
    """A native list, opened with the mouse and gone through with the keyboard."""
    (name,) = asked(view, r"Select (.*) from the list and click Submit\.")
    number = index_of(view, "#options option", name)
    yield [click(view, "#options")]
    yield [press("Home"), *[press("Down")] * number, press("Return")]
    yield [click(view, "#area button")]


def _scroll_list(view: MiniWobView) -> Steps:
    (names,) = asked(view, r"Select (.*) from the scroll list and click Submit\.")
    modifiers: tuple[str, ...] = ()
    for name in names.split(", "):
        number = index_of(view, "#options option", name)
        yield from scrolled_to(view, "#options option", number, "#options")
        yield [at(point(view, "#options option", number), modifiers=modifiers)]
        modifiers = ("ctrl",)
    yield [click(view, "#area button")]


def _digit(view: MiniWobView) -> Steps:
    (digit,) = asked(view, r'Draw the number "(\d)" in the checkboxes using .*')
    yield [click(view, "#area input", i) for i, on in enumerate(view.evaluate(_PATTERNS.format(digit))) if on]
    yield [click(view, SUBMIT)]


def slide(view: MiniWobView, css: str, value: int) -> list[Action]:
    """Set a slider: its handle is clicked, and moved with the keys, a fifth of the range or a step at a time."""
    script = f"(() => {{ const s = $('{css}'); return ['value', 'min', 'max'].map((o) => s.slider('option', o)); }})()"
    now, low, high = view.evaluate(script)
    page = (high - low) // 5
    pages, steps = divmod(abs(value - now), page)
    keys = ("Page_Up", "Right") if value > now else ("Page_Down", "Left")
    return [click(view, f"{css} .ui-slider-handle"), *[press(keys[0])] * pages, *[press(keys[1])] * steps]


def _slider(view: MiniWobView) -> Steps:
    (value,) = asked(view, r"Select (-?\d+) with the slider and hit Submit\.")
    yield slide(view, "#slider", int(value))
    yield [click(view, SUBMIT)]


def _sliders(view: MiniWobView) -> Steps:
    (values,) = asked(view, r"Set the sliders to the combination \[(.*)\] and submit\.")
    for number, value in enumerate(values.split(","), 1):
        yield slide(view, f"#slider-{number}", int(value))
    yield [click(view, SUBMIT)]


def _slider_and_box(view: MiniWobView) -> Steps:
    value, number = asked(view, r"Select (-?\d+) with the slider, click the (\d).. checkbox, then hit Submit\.")
    yield slide(view, "#slider", int(value))
    yield [click(view, f"#checkbox-{number}")]
    yield [click(view, SUBMIT)]


def _radio_and_text(view: MiniWobView) -> Steps:
    pattern = r'Check the (\d).. radio button and enter the number "(.*)" into the (\d).. textbox\.'
    radio, text, field = asked(view, pattern)
    yield [click(view, f'input[value="{radio}"]'), *filled(view, f"#input-{field}", text)]
    yield [click(view, SUBMIT)]


def _dropdown_and_button(view: MiniWobView) -> Steps:
    """A list that the page draws itself."""
    text, button = asked(view, r'Choose (.*) from the dropdown, then click the button labeled "(.*)"\.')
    yield [click(view, ".selectric")]
    items = ".selectric-items li"
    number = index_of(view, items, text)
    yield from scrolled_to(view, items, number, ".selectric-scroll")
    yield [click(view, items, number)]
    yield [click(view, "#buttons button", index_of(view, "#buttons button", button))]


def _generated(view: MiniWobView) -> Steps:
    """A number that is drawn anew until it fits."""
    words = view.utterance
    bound = int(words.split("than ")[1].partition(",")[0]) if "than" in words else 0
    for _ in range(25):
        yield [click(view, "#generate")]
        number = int(texts(view, "#display-number")[0])
        fits = {"less": number < bound, "greater": number > bound, "odd": number % 2 == 1, "even": number % 2 == 0}
        if next(fit for word, fit in fits.items() if word in words):
            yield [click(view, "#submit")]
            return
    raise OracleStuck("no number came that fits")


CHOOSING: dict[str, Oracle] = {
    "click-checkboxes": _boxes,
    "click-checkboxes-large": _boxes,
    "click-checkboxes-transfer": _boxes,
    "click-checkboxes-soft": _synonyms,
    "click-option": _option,
    "choose-list": _list,
    "click-scroll-list": _scroll_list,
    "number-checkboxes": _digit,
    "use-slider": _slider,
    "use-slider-2": _sliders,
    "form-sequence": _slider_and_box,
    "form-sequence-2": _radio_and_text,
    "form-sequence-3": _dropdown_and_button,
    "generate-number": _generated,
}
