"""Hypothesis strategies: screens, pixels of them, texts that break careless parsers, and Actions of every kind."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from guiforge import keys
from guiforge.action import (
    Action,
    Answer,
    Click,
    Done,
    Drag,
    Infeasible,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseUp,
    Move,
    Press,
    Scroll,
    TypeText,
    Wait,
)
from guiforge.frame import Size

SCREENS: SearchStrategy[Size] = st.one_of(
    st.sampled_from([(1920, 1080), (1280, 720), (7680, 4320)]),
    st.tuples(st.integers(1, 7680), st.integers(1, 4320)),
)
TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(
        st.sampled_from(
            ["'", '"', ")", "(", "\\", "\n", "```", "## Code:", "computer.wait()", "é", "漢", "😀", "{", "\t"]
        )
    ).map("".join),
)
CHARACTERS = st.characters(exclude_categories=["C"])
KEYS = st.one_of(st.sampled_from(keys.names()), CHARACTERS).map(keys.canonical)
MODIFIERS = st.lists(st.sampled_from(keys.MODIFIERS), max_size=3, unique=True).map(tuple)
BUTTONS = st.sampled_from(["left", "middle", "right"])
SECONDS = st.one_of(st.integers(0, 30), st.floats(0, 30, allow_subnormal=False))


def points(screen: Size) -> SearchStrategy[tuple[int, int]]:
    """Pixels of a screen, its corners and edges often."""
    return st.tuples(*(st.one_of(st.integers(0, side - 1), st.sampled_from([0, side - 1])) for side in screen))


def places(screen: Size) -> SearchStrategy[dict[str, int]]:
    """{x, y}, or {} for the pointer's place."""
    return st.one_of(st.just({}), points(screen).map(lambda p: {"x": p[0], "y": p[1]}))


@st.composite
def clicks(draw: st.DrawFn, screen: Size) -> Click:
    """Clicks of every button that pyautogui knows."""
    return Click(**draw(places(screen)), button=draw(BUTTONS), count=draw(st.integers(1, 3)), modifiers=draw(MODIFIERS))


@st.composite
def drags(draw: st.DrawFn, screen: Size) -> Drag:
    """Drags; those of at most two points may have a duration."""
    path = tuple(draw(st.lists(points(screen), min_size=1, max_size=5)))
    duration = draw(SECONDS) if len(path) <= 2 else 0
    return Drag(path=path, button=draw(BUTTONS), modifiers=draw(MODIFIERS), duration_s=duration)


@st.composite
def scrolls(draw: st.DrawFn, screen: Size) -> Scroll:
    """Scrolls in notches."""
    dx, dy = draw(st.integers(-50, 50)), draw(st.integers(-50, 50))
    return Scroll(**draw(places(screen)), dx=dx, dy=dy, modifiers=draw(MODIFIERS))


def acts(screen: Size) -> SearchStrategy[Action]:
    """Actions of every kind of a desktop that does not end the episode."""
    chord = st.lists(KEYS, min_size=1, max_size=4).map(tuple)
    return st.one_of(
        clicks(screen),
        drags(screen),
        scrolls(screen),
        points(screen).map(lambda p: Move(x=p[0], y=p[1])),
        st.builds(lambda at, b: MouseDown(**at, button=b), places(screen), BUTTONS),
        st.builds(lambda at, b: MouseUp(**at, button=b), places(screen), BUTTONS),
        TEXTS.map(lambda t: TypeText(text=t)),
        st.builds(lambda k, s: Press(keys=k, hold_s=s), chord, st.one_of(st.just(0), SECONDS)),
        KEYS.map(lambda k: KeyDown(key=k)),
        KEYS.map(lambda k: KeyUp(key=k)),
        SECONDS.map(lambda s: Wait(seconds=s)),
    )


ENDS: SearchStrategy[Action] = st.one_of(
    TEXTS.map(lambda t: Answer(text=t)), st.just(Done()), TEXTS.map(lambda t: Infeasible(reason=t))
)


@st.composite
def replies(draw: st.DrawFn, ends: SearchStrategy[Action] = ENDS) -> tuple[Size, tuple[Action, ...]]:
    """A screen, and the actions of one reply on it."""
    screen = draw(SCREENS)
    actions = draw(st.lists(acts(screen), min_size=1, max_size=4))
    return screen, (*actions, *draw(st.one_of(st.just([]), ends.map(lambda end: [end]))))
