"""Writer tasks about words and characters: a name replaced, a phrase set off."""

from __future__ import annotations

from typing import Any

from envs.desktop.suites.common import DONE, press, rng
from envs.desktop.suites.office import Steps, document_task, opened, replace_all, save, saved
from envs.desktop.suites.writer.texts import Edit, edited, paragraph_of, select, text, verify_as
from guiforge.task import Family, Task

# --- writer_replace: every occurrence of a name


def make_replace(seed: int) -> Task:
    """Replace a person's name wherever it stands."""
    random = rng("writer_replace", seed)
    data = text(random)
    new = random.choice(("Okonkwo", "Petersen", "Valdez", "Whitby", "Zielinski"))
    instruction = random.choice(
        (
            f"Replace every {data.who!r} in the open document by {new!r} and save it.",
            f"{data.who} has been succeeded by {new}. Change the name wherever it appears in this text, then save the "
            "document in its present format.",
        )
    )
    return document_task(
        "writer_replace", seed, instruction, app="writer", name=data.file, data=saved(data.document()),
        params={"old": data.who, "new": new},
    )  # fmt: skip


def _replaced(old: str = "{old}", new: str = "{new}", count: int | None = None) -> Edit:
    def edit(document: Any, task: Task) -> None:
        before, after = old.format(**task.params), new.format(**task.params)
        for paragraph in [p for p in document.paragraphs if before in p.text][:count]:
            first, *parts = paragraph.text.split(before)
            paragraph.text = first
            for part in parts:  # runs of their own, as a word processor leaves them
                paragraph.add_run(after)
                paragraph.add_run(part)

    return edit


def oracle_replace(task: Task, view: Any) -> Steps:
    """Find and Replace, Replace All."""
    opened(view)
    yield from replace_all(view, task.params["old"], task.params["new"])
    yield from save(view, task.params["file"])
    yield [DONE]


REPLACE = Family(
    "writer_replace", make_replace, verify_as(_replaced()), oracle_replace,
    solutions={"replaced": edited(_replaced())},
    near_misses={
        "first paragraph only": edited(_replaced(count=1)), "misspelt": edited(_replaced(new="{new}e")),
        "beside the old name": edited(_replaced(new="{old} {new}")),
        "a blank eaten": edited(_replaced(old=" {old}")),
    },
)  # fmt: skip


# --- writer_emphasis: a phrase made bold, italic or underlined

CHORDS = {"bold": "ctrl+b", "italic": "ctrl+i", "underline": "ctrl+u"}


def make_emphasis(seed: int) -> Task:
    """Give one phrase inside a paragraph a character effect."""
    random = rng("writer_emphasis", seed)
    data = text(random)
    everything = " ".join((data.notice.title, *data.titles, *data.paragraphs)).casefold()
    paragraph = random.choice(data.paragraphs)
    words = paragraph.split()
    phrases = [" ".join(words[n : n + size]) for size in (3, 4) for n in range(1, len(words) - size)]
    phrase = random.choice([p for p in phrases if everything.count(p.casefold()) == 1 and not {",", "."} & set(p)])
    effect = random.choice(tuple(CHORDS))
    wish = {"bold": "bold", "italic": "italic", "underline": "underlined"}[effect]
    instruction = random.choice(
        (
            f"Make the words “{phrase}” {wish} (nothing else) and save the document.",
            f"Somewhere in the open text it says “{phrase}”. Those words should be {wish}; change that and save.",
        )
    )
    return document_task(
        "writer_emphasis", seed, instruction, app="writer", name=data.file, data=saved(data.document()),
        params={"phrase": phrase, "effect": effect, "paragraph": paragraph},
    )  # fmt: skip


def _set_off(before: str = "", after: str = "", drop: int = 0, effect: str | None = None) -> Edit:
    """The phrase set off, with these neighbours too, or without its last characters, or by another effect."""

    def edit(document: Any, task: Task) -> None:
        paragraph = paragraph_of(document, task.params["paragraph"])
        phrase = task.params["phrase"]
        start = paragraph.text.index(phrase)
        end = start + len(phrase) - drop
        start, end = max(0, start - len(before)), end + len(after)
        whole, paragraph.text = paragraph.text, paragraph.text[:start]
        run = paragraph.add_run(whole[start:end])
        setattr(run, effect or task.params["effect"], True)
        paragraph.add_run(whole[end:])

    return edit


def _other_effect(document: Any, task: Task) -> None:
    effect = next(e for e in CHORDS if e != task.params["effect"])
    _set_off(effect=effect)(document, task)


def _whole_paragraph(document: Any, task: Task) -> None:
    for run in paragraph_of(document, task.params["paragraph"]).runs:
        setattr(run, task.params["effect"], True)


def oracle_emphasis(task: Task, view: Any) -> Steps:
    """Find the phrase, which selects it; then the effect's chord."""
    opened(view)
    yield from select(task.params["phrase"])
    yield [press(CHORDS[task.params["effect"]])]
    yield from save(view, task.params["file"])
    yield [DONE]


EMPHASIS = Family(
    "writer_emphasis", make_emphasis, verify_as(_set_off()), oracle_emphasis,
    solutions={"the phrase": edited(_set_off()), "a blank more": edited(_set_off(after=" "))},
    near_misses={
        "a letter short": edited(_set_off(drop=1)), "too much": edited(_set_off(before="abc")),
        "another effect": edited(_other_effect), "whole paragraph": edited(_whole_paragraph),
    },
)  # fmt: skip
