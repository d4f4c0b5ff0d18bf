"""Impress tasks about slides: a title, speaker's notes, a new slide, a slide removed or doubled."""

from __future__ import annotations

import copy
from typing import Any

from envs.desktop.suites.common import DONE, press, rng
from envs.desktop.suites.impress.decks import (
    Edit,
    add_slide,
    deck,
    drop,
    edited,
    fill_first,
    place,
    slide_of,
    to_slide,
    verify_as,
)
from envs.desktop.suites.office import Steps, document_task, menu, opened, save, saved
from guiforge.task import Family, Task

# --- impress_title: what a slide is called


def make_title(seed: int) -> Task:
    """Give a slide another title."""
    random = rng("impress_title", seed)
    file, titles, presentation = deck(random)
    old, new = random.choice(titles), random.choice(("At a glance", "In short", "Looking back", "What comes now"))
    instruction = random.choice(
        (
            f"Change the title of the slide “{old}” to “{new}” and save the presentation.",
            f"The slide called “{old}” should be called “{new}” instead. Edit its title and save the file as it is "
            "(PowerPoint format).",
        )
    )
    return document_task(
        "impress_title", seed, instruction, app="impress", name=file, data=saved(presentation),
        params={"index": titles.index(old), "old": old, "new": new},
    )  # fmt: skip


def _titled(text: str = "{new}", shift: int = 0) -> Edit:
    def edit(presentation: Any, task: Task) -> None:
        index = (task.params["index"] + shift) % len(presentation.slides)
        presentation.slides[index].shapes.title.text = text.format(**task.params)

    return edit


def _everywhere(presentation: Any, task: Task) -> None:
    for slide in presentation.slides:
        slide.shapes.title.text = task.params["new"]


def _in_the_text(presentation: Any, task: Task) -> None:
    slide_of(presentation, task.params["old"]).placeholders[1].text = task.params["new"]


def oracle_title(task: Task, view: Any) -> Steps:
    """Page down to the slide; Tab selects its title, F2 edits it."""
    opened(view)
    yield from to_slide(task.params["index"])
    yield from fill_first(task.params["new"])
    yield from save(view, task.params["file"])
    yield [DONE]


TITLE = Family(
    "impress_title", make_title, verify_as(_titled()), oracle_title,
    solutions={"retitled": edited(_titled())},
    near_misses={
        "another slide": edited(_titled(shift=1)), "appended": edited(_titled("{old} {new}")),
        "every slide": edited(_everywhere), "in the text": edited(_in_the_text),
    },
)  # fmt: skip


# --- impress_notes: speaker's notes for a slide


def make_notes(seed: int) -> Task:
    """Write speaker's notes for one slide."""
    random = rng("impress_notes", seed)
    file, titles, presentation = deck(random)
    title = random.choice(titles)
    notes = random.choice(
        (
            "Pause here and take questions.", "Mention the sponsors by name.", "Show the photo album first.",
            "Skip this slide if time is short.", "Tell the story of the first winter.",
        )
    )  # fmt: skip
    instruction = random.choice(
        (
            f"Add the speaker note “{notes}” to the slide “{title}” and save the presentation.",
            f"I must remember something while I present “{title}”. Write into that slide's notes: {notes} Then save.",
        )
    )
    return document_task(
        "impress_notes", seed, instruction, app="impress", name=file, data=saved(presentation),
        params={"index": titles.index(title), "title": title, "notes": notes},
    )  # fmt: skip


def _noted(text: str = "{notes}", shift: int = 0) -> Edit:
    def edit(presentation: Any, task: Task) -> None:
        slide = presentation.slides[(task.params["index"] + shift) % len(presentation.slides)]
        slide.notes_slide.notes_text_frame.text = text.format(**task.params)

    return edit


def _on_the_slide(presentation: Any, task: Task) -> None:
    slide_of(presentation, task.params["title"]).placeholders[1].text_frame.add_paragraph().text = task.params["notes"]


def oracle_notes(task: Task, view: Any) -> Steps:
    """The Notes view of the slide; the second object there is the notes' text."""
    opened(view)
    yield from to_slide(task.params["index"])
    yield from menu(view, "alt+v", "Notes", role="radio menu item")
    yield [press("Tab")]
    yield from fill_first(task.params["notes"])
    yield from save(view, task.params["file"])
    yield [DONE]


NOTES = Family(
    "impress_notes", make_notes, verify_as(_noted()), oracle_notes,
    solutions={"noted": edited(_noted())},
    near_misses={
        "another slide": edited(_noted(shift=1)), "on the slide": edited(_on_the_slide),
        "cut short": edited(_noted("{notes:.12}")),
    },
)  # fmt: skip


# --- impress_add_slide: a new slide with a title at a given place


def make_add(seed: int) -> Task:
    """Insert a slide with a title after a given one."""
    random = rng("impress_add_slide", seed)
    file, titles, presentation = deck(random)
    title = random.choice(titles)
    new = random.choice(("Sources", "Open points", "A short break", "Who helped", "Numbers"))
    instruction = random.choice(
        (
            f"Insert a new slide right after “{title}”. Its title is “{new}”, and it has no other text. Save.",
            f"Between “{title}” and whatever follows it, add a slide titled “{new}” with nothing else on it, then save "
            "the presentation.",
        )
    )
    return document_task(
        "impress_add_slide", seed, instruction, app="impress", name=file, data=saved(presentation),
        params={"index": titles.index(title), "new": new},
    )  # fmt: skip


def _added(after: int = 1, title: str = "{new}", lines: tuple[str, ...] = ()) -> Edit:
    def edit(presentation: Any, task: Task) -> None:
        add_slide(presentation, title.format(**task.params), lines)
        place(presentation, -1, task.params["index"] + after)

    return edit


def _title_only(presentation: Any, task: Task) -> None:
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = task.params["new"]
    place(presentation, -1, task.params["index"] + 1)


def oracle_add(task: Task, view: Any) -> Steps:
    """Ctrl+M adds a slide after the present one; its title is its first text."""
    opened(view)
    yield from to_slide(task.params["index"])
    yield [press("ctrl+m")]
    yield from fill_first(task.params["new"])
    yield from save(view, task.params["file"])
    yield [DONE]


ADD = Family(
    "impress_add_slide", make_add, verify_as(_added()), oracle_add,
    solutions={"title and text": edited(_added()), "title only": edited(_title_only)},
    near_misses={
        "before it": edited(_added(after=0)), "no title": edited(_added(title="")),
        "text too": edited(_added(lines=("More to come",))),
        "title as text": edited(_added(title="", lines=("{new}",))),
    },
)  # fmt: skip


# --- impress_delete_slide: one slide removed


def make_delete(seed: int) -> Task:
    """Remove one slide."""
    random = rng("impress_delete_slide", seed)
    file, titles, presentation = deck(random)
    title = random.choice(titles)
    instruction = random.choice(
        (
            f"Delete the slide “{title}” and save the presentation.",
            f"We no longer need the slide titled “{title}”. Remove it, keep the others in their order, and save.",
        )
    )
    return document_task(
        "impress_delete_slide", seed, instruction, app="impress", name=file, data=saved(presentation),
        params={"index": titles.index(title)},
    )  # fmt: skip


def _dropped(shift: int = 0, more: bool = False) -> Edit:
    def edit(presentation: Any, task: Task) -> None:
        drop(presentation, (task.params["index"] + shift) % len(presentation.slides))
        if more:
            drop(presentation, 0)

    return edit


def _emptied(presentation: Any, task: Task) -> None:
    for shape in presentation.slides[task.params["index"]].placeholders:
        shape.text = ""


def oracle_delete(task: Task, view: Any) -> Steps:
    """Page down to the slide; Slide > Delete Slide."""
    opened(view)
    yield from to_slide(task.params["index"])
    yield from menu(view, "alt+l", "Delete Slide")
    yield from save(view, task.params["file"])
    yield [DONE]


DELETE = Family(
    "impress_delete_slide", make_delete, verify_as(_dropped()), oracle_delete,
    solutions={"deleted": edited(_dropped())},
    near_misses={
        "another slide": edited(_dropped(shift=1)), "one more": edited(_dropped(more=True)),
        "only emptied": edited(_emptied),
    },
)  # fmt: skip


# --- impress_duplicate_slide: a copy of a slide behind it, under another title


def make_duplicate(seed: int) -> Task:
    """Duplicate one slide and give the copy another title."""
    random = rng("impress_duplicate_slide", seed)
    file, titles, presentation = deck(random)
    title = random.choice(titles)
    new = f"{title}, {random.choice(('continued', 'part two', 'once more'))}"
    instruction = random.choice(
        (
            f"Duplicate the slide “{title}”. The copy comes right after it and has the title “{new}”. Save.",
            f"Make a copy of the slide “{title}” directly behind it, rename the copy's title to “{new}”, and save the "
            "presentation.",
        )
    )
    return document_task(
        "impress_duplicate_slide", seed, instruction, app="impress", name=file, data=saved(presentation),
        params={"index": titles.index(title), "old": title, "new": new},
    )  # fmt: skip


def _doubled(original: str = "{old}", double: str = "{new}", text: bool = True) -> Edit:
    def edit(presentation: Any, task: Task) -> None:
        index = task.params["index"]
        source = presentation.slides[index]
        slide = add_slide(presentation, double.format(**task.params))
        if text:
            body = slide.placeholders[1].text_frame._txBody
            body.getparent().replace(body, copy.deepcopy(source.placeholders[1].text_frame._txBody))
        source.shapes.title.text = original.format(**task.params)
        place(presentation, -1, index + 1)

    return edit


def oracle_duplicate(task: Task, view: Any) -> Steps:
    """Slide > Duplicate Slide goes to the copy; then its title."""
    opened(view)
    yield from to_slide(task.params["index"])
    yield from menu(view, "alt+l", "Duplicate Slide")
    yield from fill_first(task.params["new"])
    yield from save(view, task.params["file"])
    yield [DONE]


DUPLICATE = Family(
    "impress_duplicate_slide", make_duplicate, verify_as(_doubled()), oracle_duplicate,
    solutions={"doubled": edited(_doubled())},
    near_misses={
        "not retitled": edited(_doubled(double="{old}")), "copy in front": edited(_doubled("{new}", "{old}")),
        "without its text": edited(_doubled(text=False)), "both retitled": edited(_doubled("{new}")),
    },
)  # fmt: skip
