"""Task families of what Chromium saves of local pages: a linked file, the page as PDF, the receipt of a form."""

from __future__ import annotations

import csv
import gzip
import io
import json
from random import Random

from pypdf import PdfReader
from reportlab.lib.pagesizes import A4, landscape
from reportlab.pdfgen.canvas import Canvas

from envs.desktop.suites import materials
from envs.desktop.suites.chromium.browser import SITE, browser, enabled, page, table
from envs.desktop.suites.common import DONE, click, make_task, press, rng, typed
from envs.desktop.suites.gestures import Oracle, absolute, name_of, wait_file, wait_solved
from envs.desktop.suites.materials import put
from envs.desktop.view import DesktopView
from guiforge.action import Wait
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Edits, Family, Task
from verifiers.compare import Check
from verifiers.files import check_tree, checked, put_files
from verifiers.package import judge, opening
from verifiers.pdf import page_texts

_DOWNLOADS = "~/Downloads/"
_KINDS = {"csv": "Table", "json.gz": "Archive"}
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August")

# -- download a linked file --------------------------------------------------------------------------------------------


def _report(random_: Random, ending: str) -> bytes:
    rows = [(good, random_.randint(5, 400)) for good in random_.sample(materials.GOODS, 6)]
    if ending == "json.gz":
        return gzip.compress(json.dumps(dict(rows)).encode(), mtime=0)
    out = io.StringIO()
    csv.writer(out).writerows([("article", "pieces"), *rows])
    return out.getvalue().encode()


def _make_download(seed: int) -> Task:
    random_ = rng("chromium_download", seed)
    place, year, months = random_.choice(materials.PLACES), random_.randint(2015, 2025), random_.sample(_MONTHS, 5)
    months.sort(key=_MONTHS.index)
    names = {(month, kind): f"{place.lower()}-{year}-{month.lower()[:3]}.{kind}" for month in months for kind in _KINDS}
    files: dict[str, str | bytes] = {f"{SITE}/{name}": _report(random_, kind) for (_, kind), name in names.items()}
    rows = [
        (month, *(f'<a href="{names[month, kind]}">{words} of {month}</a>' for kind, words in _KINDS.items()))
        for month in months
    ]
    path, title = f"{SITE}/reports.html", f"Reports of {place} {year}"
    month, kind = random_.choice(months), random_.choice(list(_KINDS))
    files[path] = page(title, table(("Month", "CSV", "Packed"), rows))
    what = {"csv": "the table (CSV)", "json.gz": "the archive"}[kind]
    instruction = random_.choice(
        (
            f"Download {what} of {month} from the open page into the Downloads folder.",
            f"From this page I need only {what} for {month} {year}. Download it.",
        )
    )
    return make_task(
        "chromium_download",
        seed,
        instruction,
        tags=("chromium",),
        params={"name": names[month, kind], "link": f"{_KINDS[kind]} of {month}"},
        setup=(*put(files), browser(path, title)),
        writable=(f"{_DOWNLOADS}*",),
    )


def _verify_download(task: Task, final: Final) -> Verdict:
    name = task.params["name"]
    want = {f"{_DOWNLOADS}{name}": put_files(task)[f"{SITE}/{name}"]}
    return Verdict.of(check_tree("downloads", final.state, _DOWNLOADS, want))


def _play_download(task: Task, view: DesktopView) -> Oracle:
    yield [click(view.wait_for("link", task.params["link"]))]
    wait_solved(view, task, _verify_download)
    yield [DONE]


def _downloaded(task: Task, *, other: bool = False) -> Edits:
    name = task.params["name"]
    source = next(p for p in put_files(task, f"{SITE}/") if (p == f"{SITE}/{name}") != other and not p.endswith("html"))
    return {f"{_DOWNLOADS}{name_of(source)}": put_files(task)[source]}


# -- the page as PDF ---------------------------------------------------------------------------------------------------


def _make_pdf(seed: int) -> Task:
    random_ = rng("chromium_save_pdf", seed)
    topic, place = random_.choice(materials.TOPICS), random_.choice(materials.PLACES)
    number = materials.code(random_)
    title = f"{topic} {place} notes"
    lines = [f"Notice {number}", *materials.prose(random_, 5).splitlines()]
    path, other = f"{SITE}/{topic.lower()}-{place.lower()}.html", f"{SITE}/other.html"
    target = f"~/Documents/{random_.choice(('notice', 'page', place.lower()))}-{number.lower()}.pdf"
    wide = random_.random() < 0.5
    instruction = f"Save the open page as a PDF named {name_of(target)} in the Documents folder, " + (
        "in landscape format." if wide else "in portrait format."
    )
    return make_task(
        "chromium_save_pdf",
        seed,
        instruction,
        tags=("chromium",),
        params={"target": target, "lines": [title, *lines], "wide": wide},
        setup=(
            *put({path: page(title, "".join(f"<p>{line}</p>" for line in lines)), other: page("Other", "<p>-</p>")}),
            browser(path, title),
        ),
        writable=(target,),
    )


def _verify_pdf(task: Task, final: Final) -> Verdict:
    def checks(found: tuple[str, list[bool]]) -> list[Check]:
        text, wide = found
        missing = [line for line in task.params["lines"] if line not in text]
        shape = "landscape" if task.params["wide"] else "portrait"
        return [
            ("text", not missing, f"it does not say {missing[:2]}"),
            ("format", all(w == task.params["wide"] for w in wide), f"its pages are not all {shape}"),
        ]

    return judge(final, task.params["target"], _read_pdf, checks)


def _read_pdf(data: bytes) -> tuple[str, list[bool]]:
    """(text of all pages, whether each is wider than high). Raises Unreadable."""
    texts = page_texts(data)
    with opening("PDF file"):
        pages = PdfReader(io.BytesIO(data)).pages
        wide = [(page.mediabox.width > page.mediabox.height) != (page.rotation % 180 == 90) for page in pages]
    return " ".join(texts), wide


def _play_pdf(task: Task, view: DesktopView) -> Oracle:
    yield [press("ctrl+p")]
    yield from _previewed(view)
    if task.params["wide"]:
        yield [click(view.wait_for("combo box", "Layout"))]
        yield [typed("L"), press("Return")]
        yield from _previewed(view)
    yield [click(view.wait_for("push button", "Save"))]
    view.wait_window("^Save File$")
    yield [press("ctrl+a"), typed(absolute(task.params["target"]))]
    yield [press("alt+s")]
    wait_file(view, task.params["target"])
    wait_solved(view, task, _verify_pdf)
    yield [DONE]


def _previewed(view: DesktopView) -> Oracle:
    """Wait for the preview, which may fail where it is asked for again before it is there; it moves until then."""
    enabled(view, "push button", "Save")
    yield [Wait(seconds=1)]
    view.wait_settled()
    enabled(view, "push button", "Save")


def _printed(task: Task, *, turned: bool = False, lines: int = 99) -> Edits:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=landscape(A4) if task.params["wide"] != turned else A4, invariant=1)
    for row, line in enumerate(task.params["lines"][:lines]):
        canvas.drawString(60, 500 - 24 * row, line)
    canvas.save()
    return {task.params["target"]: buffer.getvalue()}


# -- fill in a form ----------------------------------------------------------------------------------------------------

_SCRIPT = """\
<script>
document.querySelector("form").addEventListener("submit", function (event) {
  event.preventDefault();
  const data = Object.fromEntries(new FormData(event.target));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(data, null, 1)], {type: "application/octet-stream"}));
  link.download = "receipt.json";
  link.click();
  document.querySelector("output").textContent = "Sent. A receipt was saved.";
});
</script>"""
_ROOMS = ("Blue room", "Garden room", "Long hall", "Attic")


def _make_form(seed: int) -> Task:
    random_ = rng("chromium_form", seed)
    people = random_.sample(materials.NAMES, 4)
    orders = {
        name: {
            "name": name,
            "guests": str(random_.randint(3, 60)),
            "room": room,
            "reference": materials.code(random_),
        }
        for name, room in zip(people, random_.sample(_ROOMS, 4), strict=True)
    }
    who = random_.choice(people)
    rows = [[o["name"], o["guests"], o["room"], o["reference"]] for o in orders.values()]
    options = "".join(f"<option>{room}</option>" for room in ("", *_ROOMS))
    form = (
        '<form><label>Name <input name="name" required></label><label>Guests <input name="guests" required></label>'
        f'<label>Room <select name="room" required>{options}</select></label>'
        '<label>Reference <input name="reference" required></label><button>Send</button></form><p><output></output></p>'
    )
    requests, booking = f"{SITE}/requests.html", f"{SITE}/booking.html"
    instruction = random_.choice(
        (
            f"Look up what {who} asked for on the open page, fill the booking form behind the link with it, and send "
            "it once. The receipt goes to Downloads by itself.",
            f"Book the request of {who}: enter all four values of that line into the booking form that this page links "
            "to and press Send, once.",
        )
    )
    link = f'<p><a href="{name_of(booking)}">Booking form</a></p>'
    return make_task(
        "chromium_form",
        seed,
        instruction,
        tags=("chromium",),
        params={"order": orders[who], "other": orders[next(n for n in people if n != who)]},
        setup=(
            *put({
                requests: page("Requests", table(("Name", "Guests", "Room", "Reference"), rows) + link),
                booking: page("Booking", form + _SCRIPT),
            }),
            browser(requests, "Requests"),
        ),
        writable=(f"{_DOWNLOADS}*",),
    )  # fmt: skip


def _verify_form(task: Task, final: Final) -> Verdict:
    def fault() -> str | None:
        receipts = list(final.state.files(f"{_DOWNLOADS}*"))
        if len(receipts) != 1:
            return f"there are {len(receipts)} files in Downloads, wanted the receipt alone"
        with opening("receipt"):
            found = json.loads(final.state.read(receipts[0]))
        return None if found == task.params["order"] else f"the receipt says {found}, wanted {task.params['order']}"

    return Verdict.of(checked("receipt", fault))


def _play_form(task: Task, view: DesktopView) -> Oracle:
    order = task.params["order"]
    yield [click(view.wait_for("link", "Booking form"))]
    view.wait_window("Booking")
    yield [click(view.wait_for("entry", "Name.*")), typed(order["name"]), press("Tab"), typed(order["guests"])]
    yield [press("Tab"), typed(order["room"]), press("Tab"), typed(order["reference"])]
    yield [click(view.wait_for("push button", "Send"))]
    wait_solved(view, task, _verify_form)
    yield [DONE]


def _receipt(order: dict[str, str], name: str = "receipt.json") -> Edits:
    return {f"{_DOWNLOADS}{name}": json.dumps(order).encode()}


FAMILIES = (
    Family(
        "chromium_download", _make_download, _verify_download, _play_download,
        solutions={"downloaded": _downloaded},
        near_misses={
            "another_file": lambda task: _downloaded(task, other=True),
            "both": lambda task: {**_downloaded(task), **_downloaded(task, other=True)},
            "cut_short": lambda task: {path: (data or b"")[:-3] for path, data in _downloaded(task).items()},
        },
    ),
    Family(
        "chromium_save_pdf", _make_pdf, _verify_pdf, _play_pdf,
        solutions={"printed": _printed},
        near_misses={
            "turned": lambda task: _printed(task, turned=True),
            "part": lambda task: _printed(task, lines=2),
            "page_renamed": lambda task: {task.params["target"]: b"<html></html>"},
        },
    ),
    Family(
        "chromium_form", _make_form, _verify_form, _play_form,
        solutions={"sent": lambda task: _receipt(task.params["order"])},
        near_misses={
            "someone_else": lambda task: _receipt(task.params["other"]),
            "one_field_wrong": lambda task: _receipt({**task.params["order"], "room": task.params["other"]["room"]}),
            "sent_twice": lambda task: {
                **_receipt(task.params["order"]), **_receipt(task.params["order"], "receipt (1).json")
            },
        },
    ),
)  # fmt: skip
