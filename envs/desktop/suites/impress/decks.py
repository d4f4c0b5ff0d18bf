"""The presentations that the Impress tasks are about: four subjects, their slides drawn and shuffled by the seed.

Invariant: titles are distinct within a presentation, so a slide is known by its title.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from typing import Any

import pptx

from envs.desktop.suites.common import press, typed
from envs.desktop.suites.office import Steps, first_bytes, saved
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Edits, Task
from verifiers.compare import Check, check
from verifiers.package import judge
from verifiers.presentation import Deck, deck_difference, read_pptx

DECKS: dict[str, dict[str, tuple[str, ...]]] = {
    "harbour_tour": {
        "Welcome aboard": ("Length of the tour: ninety minutes", "Life vests lie under the benches"),
        "The old crane": ("Built by hand from oak", "Turned by two men in a wheel"),
        "Warehouses": ("Coffee on the lower floors", "Spices under the roof", "Fire doors since 1890"),
        "The lock": ("Two gates, four metres of difference", "Opens every half hour"),
        "Ferries": ("Red line to the islands", "Blue line along the quay"),
        "Questions": ("Ask the crew at any time",),
    },
    "bee_keeping": {
        "A year with bees": ("What happens month by month", "What the keeper does meanwhile"),
        "Early spring": ("Check the stores on a mild day", "Clean the floor of the hive"),
        "Swarming": ("Look for queen cells each week", "Have an empty hive ready"),
        "Honey harvest": ("Only capped combs", "Leave enough for rainy weeks"),
        "Autumn feeding": ("Sugar syrup until September", "Narrow the entrance against wasps"),
        "Winter rest": ("Listen, do not open", "Keep mice out"),
    },
    "library_plan": {
        "The new reading room": ("Forty seats by the window", "Quiet at all hours"),
        "Shelves": ("Lower ones for children", "Steel instead of beech"),
        "Lighting": ("Warm light on the tables", "Sensors in the aisles"),
        "Budget": ("Half of it from donations", "Lamps are the largest item"),
        "Timetable": ("Painting in March", "Moving the books in April"),
        "Volunteers": ("Two evenings a week", "Training by the staff"),
    },
    "cargo_bikes": {
        "Why cargo bikes": ("Shorter trips in town", "No search for parking"),
        "Models": ("Two wheels for speed", "Three wheels for weight"),
        "Running costs": ("Tyres and brakes once a year", "A battery every six years"),
        "Training": ("One hour on the yard", "Then with a full load"),
        "Parking": ("A rail and two locks", "Dry, because of the belt"),
        "Next steps": ("Borrow one for a week", "Count the trips"),
    },
}
TITLE_AND_TEXT = 1  # of python-pptx's layouts

Edit = Callable[[Any, Task], None]  # of a python-pptx presentation


def deck(source: random.Random) -> tuple[str, list[str], Any]:
    """A presentation of four to six slides in random order: its file name, the titles, and itself (python-pptx)."""
    name = source.choice(tuple(DECKS))
    titles = source.sample(tuple(DECKS[name]), source.choice((4, 5, 6)))
    presentation = pptx.Presentation()
    for title in titles:
        add_slide(presentation, title, DECKS[name][title])
    return f"{name}.pptx", titles, presentation


def add_slide(presentation: Any, title: str, lines: tuple[str, ...] = ()) -> Any:
    """Append a slide with a title and lines of text."""
    slide = presentation.slides.add_slide(presentation.slide_layouts[TITLE_AND_TEXT])
    slide.shapes.title.text = title
    slide.placeholders[1].text = "\n".join(lines)
    return slide


def slide_of(presentation: Any, title: str) -> Any:
    """The slide of a title."""
    return next(slide for slide in presentation.slides if slide.shapes.title.text == title)


def place(presentation: Any, old: int, new: int) -> None:
    """Move the slide at one index (from 0) to another."""
    slides = presentation.slides._sldIdLst
    slide = slides[old]
    slides.remove(slide)
    slides.insert(new, slide)


def drop(presentation: Any, index: int) -> None:
    """Remove the slide at an index (from 0)."""
    slides = presentation.slides._sldIdLst
    presentation.part.drop_rel(slides[index].rId)
    slides.remove(slides[index])


def edited(edit: Edit) -> Callable[[Task], Edits]:
    """The task's file after a python-pptx edit of its presentation."""

    def edits(task: Task) -> Edits:
        presentation = pptx.Presentation(io.BytesIO(first_bytes(task)))
        edit(presentation, task)
        return {task.params["file"]: saved(presentation)}

    return edits


def verify_as(edit: Edit) -> Callable[[Task, Final], Verdict]:
    """A verifier: the slides say what they said at first, but for what this edit makes of them."""

    def verify(task: Task, final: Final) -> Verdict:
        wanted = read_pptx(edited(edit)(task)[task.params["file"]] or b"")

        def checks(found: Deck) -> list[Check]:
            return [check("slides", deck_difference(found, wanted))]

        return judge(final, task.params["file"], read_pptx, checks)

    return verify


def to_slide(index: int) -> Steps:
    """From the first slide to the one at an index (from 0)."""
    if index:
        yield [press("Page_Down")] * index


def fill_first(text: str) -> Steps:
    """Select the first text of the page, replace what it says, and leave it."""
    yield [press("Tab")]
    yield [press("F2")]
    yield [press("ctrl+a")]  # apart from the typing, which would overtake it
    yield [typed(text)]
    yield [press("Escape"), press("Escape")]
