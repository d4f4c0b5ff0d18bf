"""What the LibreOffice families share: a document in ~/Documents, opened; menus; saving, and knowing that it is saved.

Invariant: a document's bytes depend on its content alone, never on when they were made.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

from envs.desktop.suites.common import click, make_task, press, typed
from guiforge.action import Action
from guiforge.task import Launch, PutFile, Task

Steps = Iterator[Sequence[Action]]

DOCUMENTS = "~/Documents"
WRITABLE = (f"{DOCUMENTS}/.~lock.*",)  # settings are the audit's: what LibreOffice writes on its own is no damage
_EPOCH = (2024, 1, 1, 0, 0, 0)
_STAMP = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*(</dcterms:)")


def packed(package: bytes) -> bytes:
    """An office file with every date in it (of its parts, of its properties) made the same."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as source, zipfile.ZipFile(out, "w") as target:
        for part in source.infolist():
            data = source.read(part)
            if part.filename == "docProps/core.xml":
                data = _STAMP.sub(rb"\g<1>2024-01-01T00:00:00Z\g<2>", data)
            info = zipfile.ZipInfo(part.filename, _EPOCH)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            target.writestr(info, data)
    return out.getvalue()


def saved(document: Any) -> bytes:
    """The bytes of an openpyxl workbook, a python-docx document or a python-pptx presentation, dates made the same."""
    out = io.BytesIO()
    document.save(out)
    return packed(out.getvalue())


def document_task(
    family: str,
    seed: int,
    instruction: str,
    *,
    app: str,
    name: str,
    data: bytes,
    params: dict[str, Any],
    makes: Sequence[str] = (),
) -> Task:
    """A task on one document, open in its application. makes: names of further files that solving it writes."""
    return make_task(
        family,
        seed,
        instruction,
        tags=(app,),
        params={"file": f"{DOCUMENTS}/{name}", **params},
        setup=(
            PutFile(path=f"{DOCUMENTS}/{name}", data=data),
            Launch(app=app, args=(f"/home/user/Documents/{name}",), window=re.escape(name), maximize=True),
        ),
        writable=(*(f"{DOCUMENTS}/{n}" for n in (name, *makes)), *WRITABLE),
    )


def first_bytes(task: Task) -> bytes:
    """The document as the agent finds it."""
    return next(step.data for step in task.setup if isinstance(step, PutFile))


def opened(view: Any) -> None:
    """Wait until the application has drawn its tools: its window is there long before it answers keys."""
    view.wait_for("push button", "Save", timeout_s=30)
    view.wait_settled()


def menu(view: Any, chord: str, *items: str, role: str = "menu item") -> Steps:
    """Open a menu by its key and choose an item; names before the last are submenus. role: that of the last item."""
    yield [press(chord)]
    for n, item in enumerate(items, 1):
        yield [click(view.wait_for(role if n == len(items) else "menu", re.escape(item)))]


def beside(view: Any, label: str) -> Any:
    """The text field to the right of a label."""
    node = view.wait_for("label", re.escape(label))
    return next(n for n in view.find_all("text") if n.x > node.x and n.y <= node.center[1] <= n.y + n.height)


def replace_all(view: Any, old: str, new: str) -> Steps:
    """Find and Replace, Replace All: in the selection where there is one, else everywhere."""
    yield [press("ctrl+h")]
    view.wait_window("Find and Replace")
    yield [press("ctrl+a"), typed(old)]
    yield [click(beside(view, "Replace:")), press("ctrl+a"), typed(new)]
    yield [click(view.wait_for("push button", "Replace All"))]
    view.wait_settled()

    def dialogs() -> int:  # Calc lists what it replaced in a second one
        return sum(w.title in ("Search Results", "Find and Replace") for w in view.windows())

    while there := dialogs():
        yield [press("Escape")]
        view.wait_until(lambda n=there: dialogs() < n, "a dialog to close")


def save(view: Any, path: str) -> Steps:
    """Save in the format that the document has, and wait until the file is whole on the disk."""
    before = view.state.files(path)

    def on_disk() -> bool:
        return view.state.files(path) != before and zipfile.is_zipfile(io.BytesIO(view.state.read(path)))

    def asked() -> bool:
        return any("Confirm File Format" in window.title for window in view.windows())

    yield [press("ctrl+s")]
    view.wait_until(lambda: asked() or on_disk(), "the question about the file format, or the saved file")
    if asked():
        yield [press("Return")]
    view.wait_until(on_disk, f"{path} to be saved")
