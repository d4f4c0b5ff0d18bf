"""Tasks that can't be done: what is asked the application does not do, or is about something that is not there.

Invariant: each is plausible at a glance, and none can be done with the application that it names; it is solved by
looking and then saying so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import openpyxl

from envs.desktop.suites import materials
from envs.desktop.suites.common import make_task, press, rng
from envs.desktop.suites.gestures import Oracle, absolute, editor, manager, viewer
from envs.desktop.suites.materials import put
from envs.desktop.suites.office import saved
from envs.desktop.view import DesktopView
from guiforge.action import Action, Infeasible
from guiforge.task import Family, Launch, Task

_DOCS = "~/Documents/"


def _impossible(family: str, seed: int, instruction: str, why: str, *, tags: tuple[str, ...], **fields: Any) -> Task:
    return make_task(family, seed, instruction, tags=tags, feasible=False, params={"why": why}, **fields)


def _family(name: str, make: Callable[[int], Task], *look: Sequence[Action]) -> Family:
    """A family whose oracle takes a look around (steps that change nothing) and then says that it can't be done."""

    def play(task: Task, view: DesktopView) -> Oracle:
        yield from look
        yield [Infeasible(reason=task.params["why"])]

    return Family(name, make, None, play)


def _make_editor(seed: int) -> Task:
    random_ = rng("infeasible_editor_layout", seed)
    path = f"{_DOCS}{random_.choice(('invitation', 'notice', 'poster'))}.txt"
    wish, why = random_.choice(
        (
            ("make the first line bold and red in this file", "a plain text file has no bold or coloured letters"),
            ("insert the picture Pictures/logo.png below the first line", "a plain text file holds no pictures"),
            ("set the first line in 24 points and the rest in 12 points", "a plain text has one size of letters"),
            ("save it as a Word document (.docx) with the first line as its title", "Mousepad writes plain text only"),
        )
    )
    files: dict[str, str | bytes] = {
        path: materials.prose(random_, 5),
        "~/Pictures/logo.png": materials.shape_picture("star", "blue"),
    }
    instruction = random_.choice(
        (
            f"With Mousepad, {wish}, and save it.",
            f"The text is open in Mousepad. There, please {wish}; save when it is done. Use no other program.",
        )
    )
    return _impossible(
        "infeasible_editor_layout",
        seed,
        instruction,
        why,
        tags=("editor", "infeasible"),
        setup=(*put(files), editor(path)),
    )


def _make_pdf(seed: int) -> Task:
    random_ = rng("infeasible_pdf_edit", seed)
    path, firm, total = "~/Downloads/offer.pdf", random_.choice(materials.NAMES), random_.randint(2000, 90000) / 100
    goods = [f"{g.capitalize()}\t{random_.randint(2, 40)} pieces" for g in random_.sample(materials.GOODS, 4)]
    lines = [f"For {firm} & Co", *goods, f"Total\t{total:.2f}"]
    wish = random_.choice(
        (
            f"correct the total of {total:.2f} to {total + 10:.2f} in the text of the page",
            f'change the name "{firm}" in the first line of the page to "{random_.choice(materials.NAMES)}"',
            f"delete the line about {goods[0].split()[0].lower()} from the page so that the lines below move up",
        )
    )
    return _impossible(
        "infeasible_pdf_edit",
        seed,
        f"Using the document viewer that is open, {wish}, and save the PDF under its name.",
        "the document viewer shows and annotates PDFs, it can't edit their text",
        tags=("pdf", "infeasible"),
        setup=(*put({path: materials.pdf([("Offer", lines)], "offer")}), viewer("pdf", path, title="offer")),
    )


def _make_images(seed: int) -> Task:
    random_ = rng("infeasible_images_paint", seed)
    shape, colour = random_.choice(materials.SHAPES), random_.choice(list(materials.COLOURS))
    other = random_.choice([c for c in materials.COLOURS if c != colour])
    wish = random_.choice(
        (
            f"paint the {shape} {other} and save the picture",
            f"write the word SAMPLE across the {shape} and save the picture",
            "turn the picture into a drawing of outlines with a filter and save it",
            f"cut the {shape} out and save it on a transparent background",
        )
    )
    return _impossible(
        "infeasible_images_paint",
        seed,
        f"In Ristretto, the image viewer that is open, {wish}. Do it with Ristretto's own tools.",
        "Ristretto shows pictures and has no tools to paint, write, filter or cut",
        tags=("images", "infeasible"),
        setup=(
            *put({"~/Pictures/sign.png": materials.shape_picture(shape, colour)}),
            viewer("images", "~/Pictures/sign.png"),
        ),
    )


def _make_missing(seed: int) -> Task:
    random_ = rng("infeasible_files_missing", seed)
    places = [p.lower() for p in random_.sample(materials.PLACES, 7)]
    folder = f"{_DOCS}{random_.choice(materials.TOPICS)}/"
    files: dict[str, str | bytes] = {f"{folder}{p}.txt": materials.prose(random_) for p in sorted(places[:6])}
    files[f"{folder}Archive/index.txt"] = "Nothing else is kept here.\n"
    shown, gone = folder.removeprefix("~/").rstrip("/"), f"{places[6]}.txt"
    wish, why = random_.choice(
        (
            (f'Move {gone} from {shown} into its subfolder "Archive".', f"there is no {gone} in {shown}"),
            (f"Rename {gone} in {shown} to {places[6]}-2.txt.", f"there is no {gone} in {shown}"),
            (
                f"Put back the file {gone} that I deleted from {shown} last week: it is still in the trash.",
                f"the trash is empty, there is no {gone}",
            ),
        )
    )
    return _impossible(
        "infeasible_files_missing", seed, wish, why, tags=("files", "infeasible"), setup=(*put(files), manager(folder))
    )


def _make_sheet(seed: int) -> Task:
    random_ = rng("infeasible_calc_missing_sheet", seed)
    book = openpyxl.Workbook()
    names = random_.sample(("Sales", "Stock", "Staff", "Costs", "Returns"), 3)
    book.active.title = names[0]
    book.create_sheet(names[1])
    for sheet in book.worksheets:
        sheet.append(["Place", "January", "February"])
        for place in random_.sample(materials.PLACES, 6):
            sheet.append([place, random_.randint(10, 900), random_.randint(10, 900)])
    path = f"{_DOCS}year.xlsx"
    wish = random_.choice(
        (
            f'Sort the list on the sheet "{names[2]}" by February, highest first.',
            f'Delete the sheet "{names[2]}".',
            f'Copy the February numbers of the sheet "{names[2]}" to column E of the sheet "{names[0]}".',
        )
    )
    return _impossible(
        "infeasible_calc_missing_sheet",
        seed,
        f"In the open workbook: {wish[0].lower()}{wish[1:]} Save it afterwards.",
        f'the workbook has no sheet "{names[2]}"',
        tags=("calc", "infeasible"),
        setup=(*put({path: saved(book)}), Launch(app="calc", args=(absolute(path),), window=r"year\.xlsx")),
    )


def _make_calculator(seed: int) -> Task:
    random_ = rng("infeasible_calculator_plot", seed)
    a, b = random_.randint(2, 9), random_.randint(2, 9)
    wish = random_.choice(
        (
            f"draw the graph of y = {a}x² - {b} for x from -5 to 5",
            f"convert {a * 100} euros to dollars at today's rate",
            f"solve the equation {a}x² - {b}x = 0 symbolically and show both solutions",
        )
    )
    return _impossible(
        "infeasible_calculator_plot",
        seed,
        f"Use the calculator (galculator) that is open to {wish}.",
        "the calculator computes numbers; it has no graphs, exchange rates or symbolic algebra",
        tags=("calculator", "infeasible"),
        setup=(Launch(app="calculator", window="galculator"),),
    )


_MENU = ([press("F10")], [press("Right")], [press("Escape")])

FAMILIES = (
    _family("infeasible_editor_layout", _make_editor, *_MENU),
    _family("infeasible_pdf_edit", _make_pdf, *_MENU),
    _family("infeasible_images_paint", _make_images, *_MENU),
    _family("infeasible_files_missing", _make_missing, *_MENU),
    _family("infeasible_calc_missing_sheet", _make_sheet, [press("ctrl+Page_Down")], [press("ctrl+Page_Down")]),
    _family("infeasible_calculator_plot", _make_calculator, *_MENU),
)
