"""Writer tasks about paragraphs and pages: heading styles, alignment and spacing, a page break, a table."""

from __future__ import annotations

from typing import Any

from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_BREAK
from docx.shared import Pt

from envs.desktop.suites.common import DONE, press, rng, typed
from envs.desktop.suites.office import Steps, document_task, menu, opened, save, saved
from envs.desktop.suites.writer.texts import Edit, edited, opening, paragraph_of, select, text, verify_as
from guiforge.task import Family, Task

# --- writer_headings: plain lines made headings


def make_headings(seed: int) -> Task:
    """Give the section titles, which are plain text so far, a heading style."""
    random = rng("writer_headings", seed)
    data = text(random)
    level = random.choice((1, 2, 3))
    listed = ", ".join(f"“{title}”" for title in data.titles[:-1]) + f" and “{data.titles[-1]}”"
    instruction = random.choice(
        (
            f"Apply the paragraph style Heading {level} to the section titles {listed}, and save the document.",
            f"The lines {listed} are plain text. Turn each of them into a heading of level {level} (style "
            f"“Heading {level}”) and save.",
        )
    )
    return document_task(
        "writer_headings", seed, instruction, app="writer", name=data.file, data=saved(data.document(heading=None)),
        params={"titles": data.titles, "level": level},
    )  # fmt: skip


def _headed(skip: int = 0, offset: int = 0) -> Edit:
    def edit(document: Any, task: Task) -> None:
        for title in task.params["titles"][skip:]:
            style = f"Heading {(task.params['level'] + offset - 1) % 3 + 1}"
            paragraph_of(document, title).style = document.styles[style]

    return edit


def _by_hand(document: Any, task: Task) -> None:
    for title in task.params["titles"]:
        run = paragraph_of(document, title).runs[0]
        run.bold, run.font.size = True, Pt(14)


def _and_below(document: Any, task: Task) -> None:
    _headed()(document, task)
    document.paragraphs[-1].style = document.styles[f"Heading {task.params['level']}"]


def oracle_headings(task: Task, view: Any) -> Steps:
    """Find each title; Ctrl and the level's figure is that heading style."""
    opened(view)
    for title in task.params["titles"]:
        yield from select(title)
        yield [press(f"ctrl+{task.params['level']}")]
    yield from save(view, task.params["file"])
    yield [DONE]


HEADINGS = Family(
    "writer_headings", make_headings, verify_as(_headed()), oracle_headings,
    solutions={"styled": edited(_headed())},
    near_misses={
        "one left": edited(_headed(skip=1)), "another level": edited(_headed(offset=1)),
        "large and bold by hand": edited(_by_hand), "the text below too": edited(_and_below),
    },
)  # fmt: skip


# --- writer_paragraph: one paragraph's alignment and line spacing

ALIGNMENTS = {
    "centred": (WD_ALIGN_PARAGRAPH.CENTER, "ctrl+e"),
    "aligned to the right": (WD_ALIGN_PARAGRAPH.RIGHT, "ctrl+r"),
    "justified": (WD_ALIGN_PARAGRAPH.JUSTIFY, "ctrl+j"),
}
SPACINGS = {1.5: "Line Spacing: 1.5", 2.0: "Line Spacing: 2"}


def make_paragraph(seed: int) -> Task:
    """Align one paragraph and set its line spacing."""
    random = rng("writer_paragraph", seed)
    data = text(random)
    paragraph, alignment = random.choice(data.paragraphs), random.choice(tuple(ALIGNMENTS))
    spacing = random.choice(tuple(SPACINGS))
    lines = {1.5: "one and a half lines", 2.0: "two lines (double)"}[spacing]
    start = opening(paragraph)
    instruction = random.choice(
        (
            f"The paragraph that begins “{start}…” should be {alignment}, with a line spacing of {lines}. Save the "
            "document afterwards.",
            f"Find the paragraph starting with “{start}”. Make it {alignment} and set its line spacing to {lines}; "
            "leave all others as they are, and save.",
        )
    )
    return document_task(
        "writer_paragraph", seed, instruction, app="writer", name=data.file, data=saved(data.document()),
        params={"paragraph": paragraph, "start": start, "alignment": alignment, "spacing": spacing},
    )  # fmt: skip


def _laid_out(*, align: bool = True, space: bool = True, everything: bool = False, shift: int = 0) -> Edit:
    def edit(document: Any, task: Task) -> None:
        bodies = [p for p in document.paragraphs if p.style.name == "Normal"]
        number = next(n for n, p in enumerate(bodies) if p.text == task.params["paragraph"])
        for paragraph in bodies if everything else [bodies[(number + shift) % len(bodies)]]:
            if align:
                paragraph.alignment = ALIGNMENTS[task.params["alignment"]][0]
            if space:
                paragraph.paragraph_format.line_spacing = task.params["spacing"]

    return edit


def oracle_paragraph(task: Task, view: Any) -> Steps:
    """Find its first words; the alignment's chord; Format > Spacing."""
    opened(view)
    yield from select(task.params["start"])
    yield [press(ALIGNMENTS[task.params["alignment"]][1])]
    yield from menu(view, "alt+o", "Spacing", SPACINGS[task.params["spacing"]], role="check menu item")
    yield from save(view, task.params["file"])
    yield [DONE]


PARAGRAPH = Family(
    "writer_paragraph", make_paragraph, verify_as(_laid_out()), oracle_paragraph,
    solutions={"laid out": edited(_laid_out())},
    near_misses={
        "alignment only": edited(_laid_out(space=False)), "spacing only": edited(_laid_out(align=False)),
        "every paragraph": edited(_laid_out(everything=True)), "the next paragraph": edited(_laid_out(shift=1)),
    },
)  # fmt: skip


# --- writer_page_break: a section that starts a page


def make_break(seed: int) -> Task:
    """Make a section start on a new page."""
    random = rng("writer_page_break", seed)
    data = text(random)
    title = random.choice(data.titles[1:])
    instruction = random.choice(
        (
            f"Insert a page break so that the section “{title}” starts on a new page, and save the document.",
            f"The section “{title}” should begin at the top of a page of its own, however long the text before it is. "
            "Arrange that and save.",
        )
    )
    return document_task(
        "writer_page_break", seed, instruction, app="writer", name=data.file, data=saved(data.document()),
        params={"title": title, "titles": data.titles},
    )  # fmt: skip


def _property(document: Any, task: Task) -> None:
    paragraph_of(document, task.params["title"]).paragraph_format.page_break_before = True


def _paragraph_before(document: Any, task: Task) -> None:
    paragraph = paragraph_of(document, task.params["title"]).insert_paragraph_before()
    paragraph.add_run().add_break(WD_BREAK.PAGE)


def _inside_the_title(document: Any, task: Task) -> None:
    paragraph = paragraph_of(document, task.params["title"])
    paragraph.text = ""
    paragraph.add_run().add_break(WD_BREAK.PAGE)
    paragraph.add_run(task.params["title"])


def _after_the_title(document: Any, task: Task) -> None:
    paragraph_of(document, task.params["title"]).add_run().add_break(WD_BREAK.PAGE)


def _empty_lines(document: Any, task: Task) -> None:
    for _ in range(30):
        paragraph_of(document, task.params["title"]).insert_paragraph_before()


def _another_section(document: Any, task: Task) -> None:
    other = next(title for title in task.params["titles"][::-1] if title != task.params["title"])
    paragraph_of(document, other).paragraph_format.page_break_before = True


def oracle_break(task: Task, view: Any) -> Steps:
    """Find the title, go before it, Ctrl+Return."""
    opened(view)
    yield from select(task.params["title"])
    yield [press("Home")]
    yield [press("ctrl+Return")]
    yield from save(view, task.params["file"])
    yield [DONE]


BREAK = Family(
    "writer_page_break", make_break, verify_as(_property), oracle_break,
    solutions={
        "property": edited(_property), "paragraph before": edited(_paragraph_before),
        "inside the title": edited(_inside_the_title),
    },
    near_misses={
        "after the title": edited(_after_the_title), "empty lines": edited(_empty_lines),
        "another section": edited(_another_section),
    },
)  # fmt: skip


# --- writer_table: a table with given content at the end

TABLES = (
    (("Day", "Who", "Until"), ("Monday", "Tuesday", "Wednesday", "Thursday"), ("Abel", "Britta", "Cem", "Dana"),
     ("Noon", "Dusk", "Ten", "Six")),
    (("Item", "Amount", "Place"), ("Rope", "Gloves", "Buckets", "Tape"), ("12", "40", "7", "25"),
     ("Cellar", "Attic", "Van", "Shed")),
    (("Name", "Task", "Phone"), ("Farid", "Greta", "Hanna", "Ivan"), ("Keys", "Tea", "Notes", "Lights"),
     ("4711", "2085", "3390", "1264")),
)  # fmt: skip


def make_table(seed: int) -> Task:
    """Append a table with a header and two or three rows."""
    random = rng("writer_table", seed)
    data = text(random)
    header, *columns = random.choice(TABLES)
    count = random.choice((2, 3))
    rows = [list(header), *(list(row) for row in zip(*(random.sample(c, count) for c in columns), strict=True))]
    content = "; ".join(" | ".join(row) for row in rows)
    instruction = random.choice(
        (
            f"At the end of the document insert a table with {len(rows)} rows and {len(header)} columns and this "
            f"content, row by row: {content}. Save the document.",
            f"Add a table below the last paragraph. Its rows are: {content}. Then save.",
        )
    )
    return document_task(
        "writer_table", seed, instruction, app="writer", name=data.file, data=saved(data.document()),
        params={"rows": rows},
    )  # fmt: skip


def _tabled(rows: slice = slice(None), *, turned: bool = False, first: bool = False) -> Edit:
    def edit(document: Any, task: Task) -> None:
        content = task.params["rows"][rows]
        content = [list(column) for column in zip(*content, strict=True)] if turned else content
        table = document.add_table(len(content), len(content[0]))
        for row, texts in zip(table.rows, content, strict=True):
            for cell, value in zip(row.cells, texts, strict=True):
                cell.text = value
        if first:
            document.paragraphs[0]._p.addprevious(table._tbl)

    return edit


def _as_lines(document: Any, task: Task) -> None:
    for row in task.params["rows"]:
        document.add_paragraph("\t".join(row))


def oracle_table(task: Task, view: Any) -> Steps:
    """A new last line; the Insert Table dialog; the cells with Tab between them."""
    opened(view)
    rows = task.params["rows"]
    yield [press("ctrl+End")]
    yield [press("Return")]
    yield [press("ctrl+F12")]
    view.wait_window("Insert Table")
    yield [press("Tab"), typed(str(len(rows[0]))), press("Tab"), typed(str(len(rows))), press("Return")]
    view.wait_window("Insert Table", gone=True)
    yield [typed("\t".join(cell for row in rows for cell in row))]
    yield from save(view, task.params["file"])
    yield [DONE]


TABLE = Family(
    "writer_table", make_table, verify_as(_tabled()), oracle_table,
    solutions={"at the end": edited(_tabled())},
    near_misses={
        "a row short": edited(_tabled(slice(-1))), "rows for columns": edited(_tabled(turned=True)),
        "lines, no table": edited(_as_lines), "at the start": edited(_tabled(first=True)),
    },
)  # fmt: skip
