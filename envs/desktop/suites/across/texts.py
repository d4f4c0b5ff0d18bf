"""Across two applications: a picture's code as a name, a checksum into a document, a web page into a text."""

from __future__ import annotations

import hashlib
import io
import re

import docx

from envs.desktop.suites import materials
from envs.desktop.suites.common import DONE, click, make_task, press, rng, typed
from envs.desktop.suites.gestures import (
    Oracle,
    absolute,
    editor,
    focus,
    manager,
    name_of,
    office,
    rename_selected,
    save_as,
    select_icons,
    terminal,
    viewer,
    wait_solved,
)  # fmt: skip
from envs.desktop.suites.materials import put
from envs.desktop.suites.office import save, saved
from envs.desktop.view import DesktopView
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Edits, Family, Launch, Task
from verifiers.compare import Check, check, sequence_difference
from verifiers.document import Document, Paragraph, read_docx
from verifiers.files import check_lines, check_tree, put_files
from verifiers.package import judge

_DOCS = "~/Documents/"


# -- a code in a picture becomes a file's name -------------------------------------------------------------------------


def _make_picture(seed: int) -> Task:
    random_ = rng("across_picture_to_name", seed)
    right, wrong = materials.code(random_), materials.code(random_)
    folder = f"{_DOCS}{random_.choice(('Parcels', 'Deliveries', 'Claims'))}/"
    names = random_.sample(materials.PLACES, 4)
    place = names[0]
    files: dict[str, str | bytes] = {f"{folder}{n.lower()}.txt": materials.prose(random_) for n in sorted(names)}
    files["~/Pictures/label.png"] = materials.text_picture(["Parcel to", place, right, f"was {wrong}"])
    old, new = f"{folder}{place.lower()}.txt", f"{folder}{right}.txt"
    instruction = random_.choice(
        (
            f"The picture shows a parcel's label. In {folder.removeprefix('~/').rstrip('/')}, rename the file of the "
            "place on the label so that its name is the label's code (the new one, not the old one) with the ending "
            ".txt",
            f"Rename {name_of(old)} in {folder.removeprefix('~/').rstrip('/')} to the code that stands right below the "
            "place on the label in the open picture, keeping the ending .txt. Leave the other files as they are.",
        )
    )
    return make_task(
        "across_picture_to_name",
        seed,
        instruction,
        tags=("across", "images", "files"),
        params={"folder": folder, "old": old, "new": new, "wrong": f"{folder}{wrong}.txt"},
        setup=(*put(files), viewer("images", "~/Pictures/label.png"), manager(folder, maximize=False)),
        writable=(old, new),
    )


def _verify_picture(task: Task, final: Final) -> Verdict:
    p, files = task.params, put_files(task, task.params["folder"])
    want = {p["new"] if path == p["old"] else path: data for path, data in files.items()}
    return Verdict.of(check_tree("files", final.state, p["folder"], want))


def _play_picture(task: Task, view: DesktopView) -> Oracle:
    yield from focus(view, name_of(task.params["folder"]))
    yield from select_icons(view, [name_of(task.params["old"])])
    yield from rename_selected(view, name_of(task.params["new"]))
    wait_solved(view, task, _verify_picture)
    yield [DONE]


def _renamed(task: Task, old: str, new: str) -> Edits:
    return {old: None, new: put_files(task)[old]}


def _renamed_another(task: Task) -> Edits:
    other = next(p for p in put_files(task, task.params["folder"]) if p != task.params["old"])
    return _renamed(task, other, task.params["new"])


# -- what the terminal says into a document ----------------------------------------------------------------------------


def _make_checksum(seed: int) -> Task:
    random_ = rng("across_terminal_to_writer", seed)
    names = sorted(p.lower() for p in random_.sample(materials.PLACES, 4))
    files: dict[str, str | bytes] = {f"~/Downloads/{n}.dat": materials.prose(random_, 6) for n in names}
    chosen = random_.choice(names)
    sums = {n: hashlib.sha256(str(files[f"~/Downloads/{n}.dat"]).encode()).hexdigest()[:8] for n in names}
    document = docx.Document()
    texts = ["Delivery of data", *random_.sample(materials.NOTES, 3), f"File: {chosen}.dat", "Checksum: PENDING"]
    document.add_heading(texts[0], 1)
    for text in texts[1:]:
        document.add_paragraph(text)
    path = f"{_DOCS}delivery.docx"
    instruction = random_.choice(
        (
            f"Find the SHA-256 checksum of Downloads/{chosen}.dat in the terminal and put its first eight characters "
            "in the place of the word PENDING in the open document. Save the document.",
            f"The document delivery.docx still says PENDING. Replace that word by the first eight characters that "
            f"sha256sum prints for {chosen}.dat in Downloads, and save.",
        )
    )
    return make_task(
        "across_terminal_to_writer",
        seed,
        instruction,
        tags=("across", "terminal", "writer"),
        params={
            "document": path,
            "file": f"~/Downloads/{chosen}.dat",
            "texts": [*texts[:-1], f"Checksum: {sums[chosen]}"],
            "wrong": sums[next(n for n in names if n != chosen)],
        },
        setup=(*put({**files, path: saved(document)}), terminal(), office("writer", path)),
        writable=(path,),
    )


def _verify_checksum(task: Task, final: Final) -> Verdict:
    def checks(found: Document) -> list[Check]:
        texts = [block.text if isinstance(block, Paragraph) else "(a table)" for block in found.content]
        return [check("text", sequence_difference(texts, task.params["texts"], "paragraph"))]

    return judge(final, task.params["document"], read_docx, checks)


def _play_checksum(task: Task, view: DesktopView) -> Oracle:
    yield from focus(view, "xterm")
    yield [typed(f"sha256sum {task.params['file']} | cut -c1-8\n")]
    yield from focus(view, re.escape(name_of(task.params["document"])))
    yield [press("ctrl+End")]
    yield [press("ctrl+shift+Left"), typed(task.params["texts"][-1].split()[-1])]
    yield from save(view, task.params["document"])
    wait_solved(view, task, _verify_checksum)
    yield [DONE]


def _last_line(task: Task, text: str) -> Edits:
    """The document with another last paragraph."""
    document = docx.Document(io.BytesIO(put_files(task)[task.params["document"]]))
    document.paragraphs[-1].text = text
    return {task.params["document"]: saved(document)}


# -- a value of a web page into a text ---------------------------------------------------------------------------------


_PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Ferry times</title><style>
body {{ font: 18px sans-serif; margin: 40px }}
table {{ border-collapse: collapse }}
td, th {{ padding: 8px 24px; border: 1px solid #888 }}
</style></head><body>
<h1>Ferry times</h1>
<p>First ferry of the day, by harbour.</p>
<table><tr><th>Harbour</th>{days}</tr>
{rows}</table>
</body></html>
"""


def _make_page(seed: int) -> Task:
    random_ = rng("across_web_to_text", seed)
    places = random_.sample(materials.PLACES, 10)
    days = ("Monday", "Wednesday", "Saturday")
    hours = {p: [f"{random_.randint(6, 11)}:{random_.choice(('00', '15', '30', '45'))}" for _ in days] for p in places}
    place, day = random_.choice(places), random_.randrange(3)
    hours[place] = [f"{6 + n}:{m}" for n, m in zip(random_.sample(range(6), 3), ("05", "10", "20"), strict=True)]
    page = _PAGE.format(
        days="".join(f"<th>{d}</th>" for d in days),
        rows="".join(f"<tr><td>{p}</td>{''.join(f'<td>{h}</td>' for h in hours[p])}</tr>\n" for p in places),
    )
    path, answer = f"{_DOCS}ferries.html", f"{_DOCS}{random_.choice(('ferry', 'time', 'trip'))}.txt"
    instruction = random_.choice(
        (
            f"When does the first ferry leave {place} on a {days[day]}, by the page that is open in the browser? Write "
            f"only the time into a new text file {answer.removeprefix('~/')}.",
            f"Look up the first {days[day]} ferry of {place} on the open web page and save its time, as it stands "
            f"there and nothing else, in {answer.removeprefix('~/')}.",
        )
    )
    return make_task(
        "across_web_to_text",
        seed,
        instruction,
        tags=("across", "chromium", "editor"),
        params={"answer": answer, "time": hours[place][day], "wrong": hours[place][day - 1], "place": place},
        setup=(
            *put({path: page}),
            Launch(app="chromium", args=(f"file://{absolute(path)}",), window="Ferry times"),
            editor(),
        ),
        writable=(answer,),
    )


def _verify_page(task: Task, final: Final) -> Verdict:
    time = task.params["time"]
    plain = check_lines("time", final.state, task.params["answer"], [time])
    padded = check_lines("time", final.state, task.params["answer"], [time.rjust(5, "0")])
    return Verdict.of(padded if padded[1] else plain)


def _play_page(task: Task, view: DesktopView) -> Oracle:
    yield from focus(view, "Ferry times")
    cell = view.wait_for(name=re.escape(task.params["place"]))
    yield [click(cell)]
    yield from focus(view, "Mousepad")
    yield [typed(f"{task.params['time']}\n")]
    yield from save_as(view, task.params["answer"])
    wait_solved(view, task, _verify_page)
    yield [DONE]


FAMILIES = (
    Family(
        "across_picture_to_name",
        _make_picture,
        _verify_picture,
        _play_picture,
        solutions={"renamed": lambda task: _renamed(task, task.params["old"], task.params["new"])},
        near_misses={
            "old code": lambda task: _renamed(task, task.params["old"], task.params["wrong"]),
            "another file": _renamed_another,
        },
    ),
    Family(
        "across_terminal_to_writer",
        _make_checksum,
        _verify_checksum,
        _play_checksum,
        solutions={"replaced": lambda task: _last_line(task, task.params["texts"][-1])},
        near_misses={
            "another file": lambda task: _last_line(task, f"Checksum: {task.params['wrong']}"),
            "beside it": lambda task: _last_line(task, f"Checksum: PENDING {task.params['texts'][-1].split()[-1]}"),
        },
    ),
    Family(
        "across_web_to_text",
        _make_page,
        _verify_page,
        _play_page,
        solutions={
            "written": lambda task: {task.params["answer"]: f"{task.params['time']}\n".encode()},
            "padded": lambda task: {task.params["answer"]: task.params["time"].rjust(5, "0").encode()},
        },
        near_misses={
            "another day": lambda task: {task.params["answer"]: task.params["wrong"].encode()},
            "with words": lambda task: {task.params["answer"]: f"The ferry leaves at {task.params['time']}".encode()},
        },
    ),
)
