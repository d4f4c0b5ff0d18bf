"""Task families of the viewers: reading a PDF (evince), saving a copy of one, finding a picture (ristretto)."""

from __future__ import annotations

import io
import re

from PIL import Image
from pypdf import PdfWriter

from envs.desktop.suites import materials
from envs.desktop.suites.common import DONE, make_task, press, rng, typed
from envs.desktop.suites.gestures import Oracle, editor, focus, name_of, save_as, viewer, wait_solved
from envs.desktop.suites.materials import put
from envs.desktop.view import DesktopView
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Edits, Family, Task
from verifiers.files import check_lines, check_tree, checked, put_files
from verifiers.package import opening
from verifiers.pdf import check_same_pdf

# -- a value on a page of a PDF ----------------------------------------------------------------------------------------


def _make_value(seed: int) -> Task:
    random_ = rng("viewers_pdf_value", seed)
    places = random_.sample(materials.PLACES, 5)
    goods = random_.sample(materials.GOODS, 6)
    serial = {place: {good: materials.code(random_, 3) for good in goods} for place in places}
    pages = [(f"Depot {place}", [f"{good.capitalize()}\t{serial[place][good]}" for good in goods]) for place in places]
    contents = ("Contents", [f"Depot {place}\tpage {n}" for n, place in enumerate(places, 2)])
    page, good = random_.randrange(1, 5), random_.choice(goods)
    place = places[page]
    path, answer = "~/Documents/depots.pdf", f"~/Documents/{random_.choice(('serial', 'answer', 'lot'))}.txt"
    where = random_.choice((f"for the depot {place}", f"on page {page + 2}"))
    instruction = random_.choice(
        (
            f"The PDF that is open lists lot numbers of goods. Which lot number has the entry {good.capitalize()} "
            f"{where}? Write only that number into a new text file {answer.removeprefix('~/')}.",
            f"Look up the lot number of {good} {where} in depots.pdf and save it, alone, as "
            f"{answer.removeprefix('~/')}.",
        )
    )
    return make_task(
        "viewers_pdf_value",
        seed,
        instruction,
        tags=("pdf", "editor"),
        params={
            "answer": answer,
            "value": serial[place][good],
            "page": page + 2,
            "wrong": [serial[places[page - 1]][good], serial[place][goods[goods.index(good) - 1]]],
        },
        setup=(
            *put({path: materials.pdf([contents, *pages], "Depots")}),
            editor(),
            viewer("pdf", path, title="Depots"),
        ),
        writable=(answer,),
    )


def _verify_value(task: Task, final: Final) -> Verdict:
    return Verdict.of(check_lines("value", final.state, task.params["answer"], [task.params["value"]]))


def _play_value(task: Task, view: DesktopView) -> Oracle:
    for _ in range(task.params["page"] - 1):
        yield [press("ctrl+Page_Down")]
    yield from focus(view, "Mousepad")
    yield [typed(task.params["value"])]
    yield from save_as(view, task.params["answer"])
    wait_solved(view, task, _verify_value)
    yield [DONE]


def _answer(task: Task, text: str) -> Edits:
    return {task.params["answer"]: text.encode()}


# -- a copy of a PDF under the name that it states ---------------------------------------------------------------------


def _make_copy(seed: int) -> Task:
    random_ = rng("viewers_pdf_save_copy", seed)
    number, year = materials.code(random_), random_.randint(2018, 2025)
    customers = random_.sample(materials.NAMES, 2)
    files = {}
    for index, customer in enumerate(customers):
        lines = [f"Customer\t{customer}", f"Year\t{year}"]
        lines += [f"{g.capitalize()}\t{random_.randint(3, 90)} pieces" for g in random_.sample(materials.GOODS, 4)]
        first = number if index == 0 else materials.code(random_)
        pages = [
            ("Delivery note", [f"Number\t{first}", *lines]),
            ("Conditions", materials.prose(random_, 4).splitlines()),
        ]
        files[f"~/Downloads/document{index + 1}.pdf"] = materials.pdf(pages, f"document{index + 1}")
    folder = random_.choice(("Delivery", "Notes", "Archive"))
    files[f"~/Documents/{folder}/readme.txt"] = b"One file a delivery.\n"
    copy = f"~/Documents/{folder}/{number}.pdf"
    instruction = random_.choice(
        (
            f"Save a copy of the open PDF in the folder Documents/{folder}. Its name should be the number of the "
            "delivery note, as it stands on the first page, with the ending .pdf",
            f"Keep the open delivery note: save a copy to Documents/{folder}/NUMBER.pdf, with the note's own number "
            "for NUMBER. The download stays where it is.",
        )
    )
    return make_task(
        "viewers_pdf_save_copy",
        seed,
        instruction,
        tags=("pdf",),
        params={"copy": copy, "original": "~/Downloads/document1.pdf", "other": "~/Downloads/document2.pdf"},
        setup=(*put(files), viewer("pdf", "~/Downloads/document1.pdf", title="document1")),
        writable=(copy,),
    )


def _verify_copy(task: Task, final: Final) -> Verdict:
    p, downloads = task.params, put_files(task, "~/Downloads/")
    return Verdict.of(
        check_same_pdf("copy", final.state, p["copy"], downloads[p["original"]]),
        check_tree("downloads", final.state, "~/Downloads/", downloads),
    )


def _play_copy(task: Task, view: DesktopView) -> Oracle:
    yield [press("ctrl+Home")]
    yield from save_as(view, task.params["copy"], chord="ctrl+s")
    wait_solved(view, task, _verify_copy)
    yield [DONE]


def _copied(task: Task) -> Edits:
    return {task.params["copy"]: put_files(task)[task.params["original"]]}


def _rewritten(task: Task) -> Edits:
    """The same pages as another program writes them."""
    buffer = io.BytesIO()
    PdfWriter(clone_from=io.BytesIO(put_files(task)[task.params["original"]])).write(buffer)
    return {task.params["copy"]: buffer.getvalue()}


def _copied_other(task: Task) -> Edits:
    """The other document under the right name."""
    return {task.params["copy"]: put_files(task)[task.params["other"]]}


def _copy_as_text(task: Task) -> Edits:
    """No PDF at all."""
    return {task.params["copy"]: b"Delivery note\n"}


def _copy_moved(task: Task) -> Edits:
    """The download is gone."""
    return {**_copied(task), task.params["original"]: None}


# -- the picture that shows something ---------------------------------------------------------------------------------


def _make_picture(seed: int) -> Task:
    random_ = rng("viewers_find_picture", seed)
    kinds = [(shape, colour) for shape in materials.SHAPES for colour in materials.COLOURS]
    shape, colour = random_.choice(kinds)
    others = [k for k in kinds if k != (shape, colour)]
    near = [k for k in others if (k[0] == shape) != (k[1] == colour)]
    chosen = [(shape, colour), *random_.sample(near, 4)]
    random_.shuffle(chosen)
    names = [f"~/Pictures/card{n}.png" for n in range(1, 6)]
    files = {name: materials.shape_picture(*kind) for name, kind in zip(names, chosen, strict=True)}
    colour_a = f"{'an' if colour == 'orange' else 'a'} {colour}"
    copy = f"~/Documents/{random_.choice(('chosen', 'card', 'cover', 'logo'))}.png"
    instruction = random_.choice(
        (
            f"Find the picture in the folder Pictures that shows {colour_a} {shape} and save a copy of it as "
            f"{copy.removeprefix('~/')}.",
            f"One of the cards in Pictures has {colour_a} {shape} on it. Save a copy of that picture as "
            f"{copy.removeprefix('~/')} and leave the pictures themselves alone.",
        )
    )
    return make_task(
        "viewers_find_picture",
        seed,
        instruction,
        tags=("images",),
        params={"copy": copy, "picture": names[chosen.index((shape, colour))], "names": names},
        setup=(
            *put({**files, "~/Documents/readme.txt": b"Papers.\n"}),
            viewer("images", names[0]),
        ),
        writable=(copy,),
    )


def _pixels(data: bytes, name: str) -> Image.Image:
    with opening(f"picture ({name})"):
        return Image.open(io.BytesIO(data)).convert("RGB")


def _verify_picture(task: Task, final: Final) -> Verdict:
    p, pictures = task.params, put_files(task, "~/Pictures/")

    def fault() -> str | None:
        got, want = _pixels(final.state.read(p["copy"]), p["copy"]), _pixels(pictures[p["picture"]], p["picture"])
        return None if got.size == want.size and got.tobytes() == want.tobytes() else f"{p['copy']} is another picture"

    return Verdict.of(checked("picture", fault), check_tree("originals", final.state, "~/Pictures/", pictures))


def _play_picture(task: Task, view: DesktopView) -> Oracle:
    for _ in range(task.params["names"].index(task.params["picture"])):
        yield [press("Page_Down")]
    view.wait_window(re.escape(name_of(task.params["picture"])))
    yield from save_as(view, task.params["copy"], chord="ctrl+s")
    wait_solved(view, task, _verify_picture)
    yield [DONE]


def _picked(task: Task) -> Edits:
    return {task.params["copy"]: put_files(task)[task.params["picture"]]}


def _picked_again(task: Task) -> Edits:
    """The same pixels, compressed anew."""
    buffer = io.BytesIO()
    _pixels(put_files(task)[task.params["picture"]], "").save(buffer, "PNG", compress_level=1)
    return {task.params["copy"]: buffer.getvalue()}


def _picked_other(task: Task) -> Edits:
    """A picture beside it."""
    other = next(n for n in task.params["names"] if n != task.params["picture"])
    return {task.params["copy"]: put_files(task)[other]}


def _picked_moved(task: Task) -> Edits:
    """The original is gone."""
    return {**_picked(task), task.params["picture"]: None}


FAMILIES = (
    Family(
        "viewers_pdf_value",
        _make_value,
        _verify_value,
        _play_value,
        solutions={
            "written": lambda task: _answer(task, f"{task.params['value']}\n"),
            "bare": lambda task: _answer(task, task.params["value"]),
        },
        near_misses={
            "another page": lambda task: _answer(task, task.params["wrong"][0]),
            "another line": lambda task: _answer(task, task.params["wrong"][1]),
            "with words": lambda task: _answer(task, f"The number is {task.params['value']}"),
        },
    ),
    Family(
        "viewers_pdf_save_copy",
        _make_copy,
        _verify_copy,
        _play_copy,
        solutions={"copied": _copied, "written anew": _rewritten},
        near_misses={"the other": _copied_other, "a text": _copy_as_text, "moved": _copy_moved},
    ),
    Family(
        "viewers_find_picture",
        _make_picture,
        _verify_picture,
        _play_picture,
        solutions={"copied": _picked, "written anew": _picked_again},
        near_misses={"another": _picked_other, "moved": _picked_moved},
    ),
)
