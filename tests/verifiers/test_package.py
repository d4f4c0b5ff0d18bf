"""Office files that an agent could have written: damaged, hostile or missing ones score 0, our own faults raise."""

from __future__ import annotations

import io
import zipfile

import docx
import openpyxl
import pptx
import pytest

from guiforge.action import Done
from guiforge.env import Final, edited, state_of_files
from verifiers.document import read_docx
from verifiers.package import Unreadable, judge
from verifiers.presentation import read_pptx
from verifiers.spreadsheet import Book, read_csv, read_xlsx


def _bytes(document: object) -> bytes:
    out = io.BytesIO()
    document.save(out)  # type: ignore[attr-defined]
    return out.getvalue()


FILES = {
    "xlsx": (read_xlsx, _bytes(openpyxl.Workbook()), "xl/workbook.xml"),
    "docx": (read_docx, _bytes(docx.Document()), "word/document.xml"),
    "pptx": (read_pptx, _bytes(pptx.Presentation()), "ppt/presentation.xml"),
}


def _with_part(package: bytes, name: str, data: bytes | None) -> bytes:
    """The package with a part replaced, or left out."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for part in source.namelist():
            if part != name:
                target.writestr(part, source.read(part))
        if data is not None:
            target.writestr(name, data)
    return out.getvalue()


@pytest.mark.parametrize("kind", FILES)
def test_a_sound_file_is_read(kind: str) -> None:
    read, data, _ = FILES[kind]
    assert read(data)


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("cut", [0, 1, 100, -1, -30])
def test_a_cut_file_is_unreadable(kind: str, cut: int) -> None:
    read, data, _ = FILES[kind]
    with pytest.raises(Unreadable):
        read(data[:cut])


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize(
    "part",
    [
        None,
        b"",
        b"<unclosed>",
        b"<other/>",
        b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>',
        b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]><x>&a;</x>',
    ],
    ids=["missing", "empty", "unclosed", "another", "entities", "external entity"],
)
def test_a_damaged_or_hostile_part_is_unreadable(kind: str, part: bytes | None) -> None:
    read, data, name = FILES[kind]
    with pytest.raises(Unreadable):
        read(_with_part(data, name, part))


@pytest.mark.parametrize("kind", FILES)
def test_a_zip_bomb_is_refused_unopened(kind: str) -> None:
    read, data, _ = FILES[kind]
    bomb = _with_part(data, "media/bomb.bin", bytes(64 << 20))
    assert len(bomb) < 1 << 20
    with pytest.raises(Unreadable, match="unpacks to more"):
        read(bomb)


def test_a_sheet_merged_into_one_cell_is_refused_before_it_is_unfolded() -> None:
    book = openpyxl.Workbook()
    book.active.merge_cells("A1:B2")
    data = _bytes(book)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml")
    assert b"A1:B2" in sheet
    with pytest.raises(Unreadable, match="merges more"):
        read_xlsx(_with_part(data, "xl/worksheets/sheet1.xml", sheet.replace(b"A1:B2", b"A1:XFD1048576")))


def test_text_that_is_not_utf8_is_no_csv() -> None:
    with pytest.raises(Unreadable):
        read_csv(b"\xff\xfe\x00a,b")


def test_a_missing_or_unreadable_file_scores_nothing_and_a_fault_of_the_verifier_raises() -> None:
    data = FILES["xlsx"][1]
    snapshot, blobs = state_of_files({"~/a.xlsx": data})

    def verdict(**content: bytes | None) -> float:
        final = Final(edited(snapshot, blobs, {"~/a.xlsx": content.get("a", data)}), Done())
        return judge(final, "~/a.xlsx", read_xlsx, lambda book: [("sheets", len(book.sheets) == 1, "")]).score

    assert verdict() == 1
    assert verdict(a=None) == 0
    assert verdict(a=b"rubbish") == 0

    def faulty(book: Book) -> list[tuple[str, bool, str]]:
        raise KeyError("a fault of ours")

    with pytest.raises(KeyError):
        judge(Final(edited(snapshot, blobs, {}), Done()), "~/a.xlsx", read_xlsx, faulty)
