"""Office files as packages: zip archives of XML that an agent may have written, so bounded and checked before parsing.

Invariant: what is wrong with a file the agent left is `Unreadable` (a reason to score 0); anything else that is
raised while grading is a fault of the grader.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar
from xml.sax import ContentHandler, SAXParseException

from defusedxml import DefusedXmlException
from defusedxml.sax import parseString

from guiforge.env import Final, StateMissing
from guiforge.outcome import Verdict
from verifiers.compare import Check

T = TypeVar("T")

MAX_BYTES = 48 << 20  # of all parts unpacked
MAX_PARTS = 2000


class Unreadable(Exception):
    """A file that is not what its name says, or is damaged, or too large to look at."""


def check_package(data: bytes) -> None:
    """Look a zip package over before a parser does: its unpacked size, its checksums, no document types in its XML.

    Raises Unreadable. The sizes that the archive declares are the most that zipfile ever unpacks.
    """
    with opening("zip package"), zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = archive.infolist()
        if len(parts) > MAX_PARTS or sum(p.file_size for p in parts) > MAX_BYTES:
            raise Unreadable(f"the file unpacks to more than {MAX_BYTES >> 20} MiB or {MAX_PARTS} parts")
        for part in parts:
            content = archive.read(part)
            if part.filename.endswith((".xml", ".rels")):
                try:
                    parseString(content, ContentHandler(), forbid_dtd=True)
                except (SAXParseException, DefusedXmlException) as error:
                    raise Unreadable(f"{part.filename} is no sound XML: {error}") from error


@contextmanager
def opening(what: str) -> Iterator[None]:
    """Around a library's loading of an untrusted file, not around reading what it gave: all it raises is Unreadable."""
    try:
        yield
    except (Unreadable, MemoryError):
        raise
    except Exception as error:
        raise Unreadable(f"not a readable {what}: {type(error).__name__}: {error}") from error


def judge(final: Final, path: str, read: Callable[[bytes], T], checks: Callable[[T], Iterable[Check]]) -> Verdict:
    """The verdict on one file of a final state: that it is there and readable, then `checks` of what `read` gives."""
    try:
        found = read(final.state.read(path))
    except (StateMissing, Unreadable) as why:
        return Verdict.of(("file", False, str(why)))
    return Verdict.of(("file", True, ""), *checks(found))
