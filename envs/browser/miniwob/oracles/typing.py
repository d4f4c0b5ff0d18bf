"""Solutions of pages where text is typed, copied or marked."""

from __future__ import annotations

import re
from functools import partial

from envs.browser.miniwob.oracles.common import Oracle, Steps, asked, at, click, drag, filled, point, press, texts
from envs.browser.miniwob.view import MiniWobView
from envs.browser.view import OracleStuck
from guiforge.action import Scroll, TypeText

SUBMIT = "#subbtn"
_LEFT = 10  # pixels from the left edge of a date's field to its first part


def _fields(pattern: str, fields: tuple[str, ...], view: MiniWobView) -> Steps:
    """Type what the page's words name into fields, one each or the same in all, and submit."""
    said = asked(view, pattern)
    for number, css in enumerate(fields):
        yield filled(view, css, said[min(number, len(said) - 1)])
    yield [click(view, SUBMIT)]


def _cased(view: MiniWobView) -> Steps:
    text, case = asked(view, r'Type "(.*)" in all (upper|lower) case letters in the text input and press Submit\.')
    yield filled(view, "#tt", text.upper() if case == "upper" else text.lower())
    yield [click(view, SUBMIT)]


def _popup_login(view: MiniWobView) -> Steps:
    """A login where a window may come up in between, which is closed."""
    said = asked(view, r'Enter the username "(.*)" and the password "(.*)" into the text fields and press login\.')
    for css, text in zip(("#username", "#password"), said, strict=True):
        yield [click(view, css)]
        if view.find("#popup"):
            yield [click(view, "#popup-cancel")]
        yield filled(view, css, text)
    yield [click(view, SUBMIT)]


def _timed(pattern: str, view: MiniWobView) -> Steps:
    """A native date or time: its parts are typed one after the other."""
    (text,) = asked(view, pattern)
    hour = re.fullmatch(r"(\d+):(\d+)\s(.)M", text)
    keys = f"{int(hour[1]):02}{hour[2]}{hour[3]}" if hour else text.replace("/", "")
    box = view.wait_for("#tt")
    yield [at((box.x + _LEFT, box.center[1])), TypeText(text=keys)]
    yield [click(view, SUBMIT)]


def _answered(css: str, answer: str, view: MiniWobView) -> Steps:
    yield filled(view, css, answer)
    yield [click(view, SUBMIT)]


def _arithmetic(view: MiniWobView) -> Steps:
    one, sign, two, _ = texts(view, "#math-problem")[0].split()
    a, b = int(one), int(two)
    yield from _answered("#math-answer", str({"+": a + b, "-": a - b, "x": a * b}[sign]), view)


def _algebra(view: MiniWobView) -> Steps:
    one, sign, two, _, right = texts(view, "#math-problem")[0].split()
    total = int(right)
    if one == "x":
        answer = total - int(two) if sign == "+" else total + int(two)
    else:
        answer = total - int(one) if sign == "+" else int(one) - total
    yield from _answered("#math-answer", str(answer), view)


def _blocks(view: MiniWobView) -> Steps:
    yield from _answered("#math-answer", str(len(texts(view, "#math-problem .addition-block"))), view)


def _word(view: MiniWobView) -> Steps:
    (number,) = asked(view, r"Find the (\d+).. word in the paragraph, .*")
    word = texts(view, "#area p")[0].split()[int(number) - 1]
    yield from _answered("#answer-input", re.sub("[^a-zA-Z]", "", word), view)


def _last_word(view: MiniWobView) -> Steps:
    yield from _answered("#answer-input", texts(view, "#text-area")[0].split()[-1].rstrip("."), view)


def _captcha(view: MiniWobView) -> Steps:
    yield from _answered("#tt", "".join(texts(view, "#captcha span")), view)


def _table(view: MiniWobView) -> Steps:
    (name,) = asked(view, r"Enter the value of (.*) into the text field and press Submit\.")
    cells = texts(view, "#tab td")
    yield from _answered("#tt", cells[cells.index(name) + 1], view)


def _labelled_table(view: MiniWobView) -> Steps:
    cells = texts(view, "#tab td")
    for number, label in enumerate(texts(view, "#form label, #area label")[:2]):
        yield filled(view, "#area input", cells[cells.index(label.rstrip(": ")) + 1], number)
    yield [click(view, SUBMIT)]


def _films(view: MiniWobView) -> Steps:
    """A form whose fields stand in any order, below, above or beside their labels."""
    genre, director, year = asked(view, r"Search for (.*) movies directed by (.*) from year (.*)\.")
    words = {"genre": genre, "director": director, "year": year, "date": year}
    around = "e.closest('p, .row, tr, .field, .ui-entry').textContent"
    labels = view.evaluate(f"[...document.querySelectorAll('#area input')].map((e) => {around})")
    for number, label in enumerate(labels):
        yield filled(view, "#area input", next(t for w, t in words.items() if w in label.lower()), number)
    yield [click(view, "#area button, #area .final, #area .ui-submit")]


def _copied(source: str, view: MiniWobView) -> Steps:
    match = re.search(r"the (\d).. text area", view.utterance)
    yield [click(view, source.format(match[1] if match else "")), press("ctrl+a"), press("ctrl+c")]
    yield [click(view, "#answer-input"), press("ctrl+v")]
    yield [click(view, SUBMIT)]


def _completed(view: MiniWobView) -> Steps:
    """Of what is offered for a beginning, the one with the right end."""
    match = re.fullmatch(r'Enter an item that starts with "(.*?)"(?: and ends with "(.*)")?\.', view.utterance)
    if match is None:
        raise OracleStuck(f"the page says {view.utterance!r}")
    start, end = match[1], match[2] or ""
    item = next(i for i in view.evaluate("ITEMS") if i.startswith(start) and i.endswith(end))
    yield filled(view, "#tags", start)
    offers = texts(view, ".ui-menu-item")
    yield [press("Down")] * (offers.index(item) + 1) + [press("Return")]
    yield [click(view, SUBMIT)]


def _spun(view: MiniWobView) -> Steps:
    (value,) = asked(view, r"Select (-?\d+) with the spinner and hit Submit\.")
    yield [click(view, "#spinner"), *[press("Up" if int(value) > 0 else "Down")] * abs(int(value))]
    yield [click(view, SUBMIT)]


def _guessed(view: MiniWobView) -> Steps:
    """Halving what is left of 0 to 9."""
    low, high = 0, 9
    while low <= high:
        guess = (low + high) // 2
        yield [*filled(view, "#tt", str(guess)), click(view, SUBMIT)]
        if view.find("#higher"):
            low = guess + 1
        else:
            high = guess - 1


def _terminal(view: MiniWobView) -> Steps:
    match = re.search(r"ending with the extension (\.[\w.]+)", view.utterance)
    yield [click(view, "#terminal"), TypeText(text="ls\n")]
    names = texts(view, "#terminal .output")[-1].split()
    wanted = next(n for n in names if (n.endswith(match[1]) if match else "." not in n))
    yield [TypeText(text=f"rm {wanted}\n")]


_ENDS = """(css) => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector(css));
  const boxes = [...range.getClientRects()], first = boxes[0], last = boxes.at(-1);
  return [[first.left, (first.top + first.bottom) / 2], [last.right + 3, (last.top + last.bottom) / 2]];
}"""


def _marked(css: str, view: MiniWobView) -> Steps:
    match = re.search(r"the (\d).. paragraph", view.utterance)
    start, end = view.evaluate(f"({_ENDS})({css.format(match[1] if match else '')!r})")
    yield [drag((round(start[0]), round(start[1])), (round(end[0]), round(end[1])))]
    yield [click(view, SUBMIT)]


def _agreement(view: MiniWobView) -> Steps:
    match = re.search(r'enter the name "(.*)" then press "(.*)"', view.utterance)
    if match is None:
        yield [click(view, "#cancel")]
        return
    x, y = point(view, "#text-area")
    yield [Scroll(x=x, y=y, dy=100)]
    yield filled(view, "#name", match[1])
    yield [click(view, f"#{match[2].lower()}")]


_LOGIN = r'Enter the username "(.*)" and the password "(.*)" into the text fields and press login\.'
_ENTER = r'Enter "(.*)" into the text field and press Submit\.'
TYPING: dict[str, Oracle] = {
    "enter-text": partial(_fields, _ENTER, ("#tt",)),
    "enter-text-dynamic": partial(_fields, _ENTER, ("#tt",)),
    "enter-text-2": _cased,
    "enter-password": partial(
        _fields, r'Enter the password "(.*)" into both text fields and press submit\.', ("#password", "#verify")
    ),
    "login-user": partial(_fields, _LOGIN, ("#username", "#password")),
    "login-user-popup": _popup_login,
    "enter-date": partial(_timed, r"Enter (.*) as the date and hit submit\."),
    "enter-time": partial(_timed, r"Enter (.*) as the time and press submit\."),
    "simple-arithmetic": _arithmetic,
    "simple-algebra": _algebra,
    "visual-addition": _blocks,
    "find-word": _word,
    "scroll-text": _last_word,
    "text-transform": _captcha,
    "read-table": _table,
    "read-table-2": _labelled_table,
    "multi-layouts": _films,
    "multi-orderings": _films,
    "copy-paste": partial(_copied, "#to-copy"),
    "copy-paste-2": partial(_copied, "#text-{}"),
    "use-autocomplete": _completed,
    "use-autocomplete-nodelay": _completed,
    "use-spinner": _spun,
    "guess-number": _guessed,
    "terminal": _terminal,
    "highlight-text": partial(_marked, "#randomText"),
    "highlight-text-2": partial(_marked, "#randomText p:nth-of-type({})"),
    "sign-agreement": _agreement,
}
