"""What web task families share: seeded randomness, the Task's frame, and the gestures oracles are written in.

Invariant: a gesture looks at the page through its view, and acts by yielding Actions on screen pixels alone.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

from envs.browser.cdp import CdpError, Late
from envs.browser.sites import DOMAIN
from envs.browser.view import Box, BrowserView, OracleStuck
from guiforge.action import Action, Answer, Click, Done, Press, Scroll, TypeText
from guiforge.task import Limits, OpenPage, StartSite, Task

SUITE = "webvoyager-like"
SCREEN = (1280, 720)
DONE = Done()
_NOTCH_PX = 53
_NOTCHES, _MOST_TURNS = 5, 60

Oracle = Iterator[Sequence[Action]]


def rng(family: str, seed: int) -> random.Random:
    """The family's random numbers for a seed: the same in any process."""
    return random.Random(f"{family}:{seed}")


def make_task(
    family: str, seed: int, instruction: str, *, site: str | Sequence[str], tags: tuple[str, ...], records: Any = None,
    start: str = "/", steps: int = 30, **fields: Any,
) -> Task:  # fmt: skip
    """A Task of this suite on one site, opened at the path `start`, or on several, each in a tab at its front page.

    tags: (site, easy|medium|hard, ...).  records: what the site's seeder adds; for several sites, those of each by
    name.  steps: the limit.
    """
    sites = (site,) if isinstance(site, str) else tuple(site)
    seeds = {sites[0]: records} if len(sites) == 1 else (records or {})
    return Task(
        suite=SUITE, id=family, seed=seed, instruction=instruction, tags=tags, screen=SCREEN,
        hosts=tuple(f"{name}.{DOMAIN}" for name in sites),
        setup=(
            *(StartSite(site=name, records=seeds.get(name)) for name in sites),
            *(OpenPage(url=url(name, start if len(sites) == 1 else "/")) for name in sites),
        ),
        limits=Limits(steps=steps), **fields,
    )  # fmt: skip


def url(site: str, path: str = "/") -> str:
    """The address of a site's page."""
    return f"http://{site}.{DOMAIN}{path}"


def table(site: str, name: str) -> str:
    """The path of a site's table in a state, as `Task.writable` and edits name it."""
    return f"sites/{site}/{name}.json"


def click(box: Box, button: Any = "left", count: int = 1) -> Click:
    """A click in the middle of something."""
    x, y = box.center
    return Click(x=x, y=y, button=button, count=count)


def press(chord: str) -> Press:
    """`press("ctrl+a")`, `press("Return")`."""
    return Press(keys=tuple(chord.split("+")) if len(chord) > 1 else (chord,))


def typed(text: str) -> TypeText:
    """Type text."""
    return TypeText(text=text)


def answer(text: str) -> list[Action]:
    """The step that ends an episode with an answer."""
    return [Answer(text=text)]


def exactly(text: str) -> str:
    """The regular expression of `find` and `wait_for` for just this text."""
    return re.sub(r"[\\^$.*+?()\[\]{}|/]", r"\\\g<0>", text)  # re.escape escapes what a browser refuses to


def texts(view: BrowserView, css: str) -> list[str]:
    """The text of each element that the selector matches, whether or not it shows without scrolling."""
    every = f"[...document.querySelectorAll({json.dumps(css)})]"
    found: list[str] = view.evaluate(f"{every}.map((element) => element.innerText.trim())")
    return found


def follow(view: BrowserView, css: str = "a", text: str | None = None) -> Oracle:
    """Click something, scrolled into view first, that leads to another page; returns once that is there."""
    box = yield from reach(view, css, text)
    yield from leave(view, [click(box)])


def back(view: BrowserView) -> Oracle:
    """Go back to the page before, by the keys, for not every harness has an action for that."""
    yield from leave(view, [press("alt+Left")])


def leave(view: BrowserView, actions: Sequence[Action]) -> Oracle:
    """Actions that lead to another page (or the same anew); returns once its document is there and complete."""
    before = view.evaluate("performance.timeOrigin")
    yield actions
    view.wait_until(
        lambda: _quietly(view, f"performance.timeOrigin !== {before} && document.readyState === 'complete'"),
        f"the page did not change after {actions}",
    )


def reach(view: BrowserView, css: str = "*", text: str | None = None, *, at: tuple[int, int] | None = None) -> Any:
    """The first box of what `find` gives, scrolled by the wheel until its middle shows (`yield from`, gives a Box).

    at: where the pointer is for the wheel, for a part of the page that scrolls by itself; else the page's middle.
    """
    x, y = at or (view.size[0] // 2, view.size[1] // 2)
    view.wait_until(lambda: _where(view, css, text) is not None, f"no element {css!r} with text {text!r}")
    before: float | None = None
    for _ in range(_MOST_TURNS):
        off = _where(view, css, text)
        if off is None or off == 0:
            return view.wait_for(css, text)
        if off == before:
            raise OracleStuck(f"scrolling does not bring {css!r} with text {text!r} into view")
        before = off
        turns = max(1, min(_NOTCHES, round(abs(off) / _NOTCH_PX)))
        yield [Scroll(x=x, y=y, dy=turns if off > 0 else -turns)]
    raise OracleStuck(f"{css!r} with text {text!r} is too far away")


def fill(view: BrowserView, css: str, text: str) -> Oracle:
    """Replace what is in a field: click it, select all, type."""
    box = yield from reach(view, css)
    yield [click(box), press("ctrl+a"), typed(text) if text else press("Delete")]


def choose(view: BrowserView, css: str, option: str, *, leaves: bool = False, stays: bool = True) -> Oracle:
    """Choose an option (its text) of a <select> that shows one at a time.

    leaves: another page comes by that.  stays: the field then shows what was chosen.
    """
    box = yield from reach(view, css)
    yield [click(box)]
    # the list is drawn over the page and hidden from it: its keys are the way to a place in it that is known
    now, texts = view.evaluate(
        f"""(() => {{ const rows = [...document.querySelector({json.dumps(css)}).options];
        const shown = rows.filter((o) => !o.hidden && !o.disabled);
        return [shown.findIndex((o) => o.selected), shown.map((o) => o.text.trim())] }})()"""
    )
    if option not in texts:
        raise OracleStuck(f"{css!r} has no option {option!r}; it has {texts}")
    move = texts.index(option) - max(now, 0)
    keys = [*[press("Down" if move > 0 else "Up")] * abs(move), press("Return")]
    if leaves:
        yield from leave(view, keys)
        return
    yield keys
    if not stays:
        return
    chosen = f"document.querySelector({json.dumps(css)}).selectedOptions[0].text.trim() === {json.dumps(option)}"
    view.wait_until(lambda: _quietly(view, chosen), f"{css!r} was not set to {option!r}")


def _where(view: BrowserView, css: str, text: str | None) -> float | None:
    """How far below (above: negative) the view an element's middle is in pixels; 0 where it shows; None without one."""
    script = (
        """((css, text) => {
        const wanted = text === null ? null : new RegExp(`^(?:${text})$`, "su");
        const fits = [...document.querySelectorAll(css)].filter((node) => {
            const box = node.getBoundingClientRect();
            const label = (node.innerText ?? "").trim() || node.value || node.getAttribute("aria-label") || "";
            return box.width && box.height && (!wanted || wanted.test(String(label))) && node.checkVisibility();
        });
        const node = fits.find((one) => !wanted || !fits.some((two) => two !== one && one.contains(two)));
        if (!node) return null;
        const box = node.getBoundingClientRect(), middle = box.top + Math.min(box.height, innerHeight) / 2;
        let top = 0, bottom = innerHeight;  // of what shows of the parts of the page that scroll by themselves
        for (let part = node.parentElement; part && part !== document.body; part = part.parentElement)
            if (/auto|scroll/.test(getComputedStyle(part).overflowY)) {
                const place = part.getBoundingClientRect();
                [top, bottom] = [Math.max(top, place.top), Math.min(bottom, place.bottom)];
            }
        return middle < top ? middle - top - 60 : middle > bottom ? middle - bottom + 60 : 0;
    })"""
        + f"({json.dumps(css)}, {json.dumps(text)})"
    )
    found: float | None = _quietly(view, script)
    return found


def _quietly(view: BrowserView, script: str) -> Any:
    """The value of a script, None while the document is being replaced."""
    try:
        return view.evaluate(script)
    except (CdpError, Late):
        return None
