"""The texts that the Writer tasks are about: four notices, cut and shuffled by the seed.

Invariant: a section's title stands nowhere else in its text, and the first words of a paragraph begin no other.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import docx

from envs.desktop.suites.common import press, typed
from envs.desktop.suites.office import Steps, first_bytes, saved
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Edits, Task
from verifiers.compare import Check, check
from verifiers.document import Document, document_difference, read_docx
from verifiers.package import judge


@dataclass(frozen=True)
class Notice:
    """A text: `{who}` stands for a name that recurs. sections: title -> sentences to choose from."""

    file: str
    title: str
    names: tuple[str, ...]
    sections: dict[str, tuple[str, ...]] = field(hash=False)


NOTICES = (
    Notice(
        "garden_rules", "Rules of the shared garden", ("Wexford", "Tilbury", "Marlow"),
        {
            "Opening hours": (
                "{who} unlocks the gate at seven in the morning and locks it again at dusk.",
                "In winter the upper beds stay closed, because the path to them freezes over.",
                "Anyone who needs the key on another day asks {who} one day ahead.",
                "The tool shed opens with the same key and closes half an hour earlier.",
            ),
            "Watering": (
                "Rain water from the barrels is used first, and the tap only when they are empty.",
                "Each bed has its own can, and cans are left upside down at the pump.",
                "During a dry spell {who} draws up a list, so that every bed has its turn.",
                "Hoses may not lie across the main path at any time.",
            ),
            "Compost": (
                "Leaves and cut grass go into the left bin, kitchen scraps into the right one.",
                "Meat, bread and cooked food attract rats and do not belong on the heap.",
                "Ripe soil is shared out in April, when {who} turns the bins.",
                "Branches thicker than a thumb are stacked behind the shed.",
            ),
            "Visitors": (
                "Guests are welcome in the company of a member.",
                "Groups of more than six people announce themselves to {who} by letter.",
                "Dogs wait on the bench outside the fence.",
                "Children may pick berries along the south wall as long as they leave some.",
            ),
        },
    ),
    Notice(
        "office_move", "Moving to the new office", ("Sorensen", "Castellan", "Bryce"),
        {
            "Packing": (
                "Every desk receives four boxes and a roll of labels on Monday.",
                "{who} collects the keys of all cabinets before the movers arrive.",
                "Plants travel separately and should be watered the evening before.",
                "Private belongings go home with their owners during the last week.",
            ),
            "Computers": (
                "Screens are unplugged on Thursday at noon and wrapped by the movers.",
                "Laptops stay with the people who use them.",
                "{who} keeps a list of all cables and adapters that are handed in.",
                "The printers of the second floor are not moved at all, they are replaced.",
            ),
            "First day": (
                "Doors open at eight, and breakfast is served in the large meeting room.",
                "A map of the building lies on each table, drawn by {who}.",
                "New badges are handed out at the reception against the old ones.",
                "Questions about parking are answered by the caretaker in the courtyard.",
            ),
            "Old rooms": (
                "Until the end of the month the whole floor remains accessible for leftovers.",
                "Whatever is still there on the last day will be given away.",
                "{who} reads the meters and returns the building to its owner.",
                "Holes in the walls are filled by the painters and need no attention.",
            ),
        },
    ),
    Notice(
        "night_walk", "A night walk along the river", ("Ferreira", "Holloway", "Lindgren"),
        {
            "Meeting point": (
                "We meet under the railway bridge at nine, whatever the weather.",
                "{who} carries a green lantern and waits until everybody is there.",
                "Bicycles can be locked to the railing beside the stairs.",
                "The last tram back leaves shortly after midnight.",
            ),
            "What to bring": (
                "Solid shoes are needed, since the bank is muddy after the floods.",
                "A torch with a red filter keeps everybody's eyes used to the dark.",
                "{who} brings tea for all, but not the cups.",
                "Dogs and radios stay at home for the sake of the herons.",
            ),
            "The route": (
                "The first half follows the towpath as far as the old mill.",
                "Behind the weir we cross the meadow, where {who} explains the stars.",
                "There is no light for about two kilometres.",
                "The walk ends at the boathouse, twelve minutes from the station.",
            ),
            "Safety": (
                "Nobody walks alone, and each pair counts the pair behind it.",
                "{who} carries a first aid bag and the telephone number of the lock keeper.",
                "The steps at the weir are slippery and are taken one at a time.",
                "In a thunderstorm the group turns back at once.",
            ),
        },
    ),
    Notice(
        "kiln_manual", "Using the pottery kiln", ("Ashdown", "Mercier", "Quillan"),
        {
            "Loading": (
                "Pieces must be bone dry before they enter the kiln.",
                "{who} decides which shelves are used and how far apart they stand.",
                "Glazed ware may never touch its neighbour.",
                "Props of equal height stand in three corners below each shelf.",
            ),
            "Firing": (
                "The first hour runs with the lid open by the width of a hand.",
                "Nobody but {who} changes the program once it has started.",
                "A second person checks the room every ninety minutes.",
                "The fan stays on until the display falls below two hundred degrees.",
            ),
            "Emptying": (
                "The lid remains shut for a whole night after the last stage.",
                "Gloves hang on the left of the door and go back there.",
                "{who} notes each cracked piece in the blue book.",
                "Finished ware is kept on the trolley for two weeks.",
            ),
            "Costs": (
                "A half shelf is four coins, a full one seven.",
                "Money goes into the tin, and {who} empties it on Fridays.",
                "Test tiles are free for members.",
                "Broken shelves are paid for by whoever overloaded them.",
            ),
        },
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Text:
    """A notice as written down: its sections' titles and, under each, its paragraphs."""

    notice: Notice
    who: str
    sections: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def titles(self) -> list[str]:
        """The sections' titles, in order."""
        return [title for title, _ in self.sections]

    @property
    def paragraphs(self) -> list[str]:
        """All paragraphs of all sections, in order."""
        return [paragraph for _, paragraphs in self.sections for paragraph in paragraphs]

    def document(self, *, heading: str | None = "Heading 1") -> Any:
        """A python-docx document of it; heading: the style of the sections' titles, None for plain body text."""
        document = docx.Document()
        document.add_paragraph(self.notice.title, style="Title")
        for title, paragraphs in self.sections:
            document.add_paragraph(title, style=heading)
            for paragraph in paragraphs:
                document.add_paragraph(paragraph)
        return document

    @property
    def file(self) -> str:
        """The document's file name."""
        return f"{self.notice.file}.docx"


def text(source: random.Random) -> Text:
    """A notice with three or four of its sections, each of one or two paragraphs that all name the person once."""
    notice = source.choice(NOTICES)
    who = source.choice(notice.names)
    titles = source.sample(sorted(notice.sections), source.choice((3, 4)))
    sections = []
    for title in titles:
        sentences = [s.format(who=who) for s in source.sample(notice.sections[title], 4)]
        cut = source.choice((2, 4))
        parts = (sentences[:cut], sentences[cut:])
        sections.append((title, tuple(" ".join(part) for part in parts if part)))
    return Text(notice, who, tuple(sections))


def opening(paragraph: str, words: int = 4) -> str:
    """The first words of a paragraph."""
    return " ".join(paragraph.split()[:words])


Edit = Callable[[Any, Task], None]  # of a python-docx document


def edited(edit: Edit) -> Callable[[Task], Edits]:
    """The task's file after a python-docx edit of its document."""

    def edits(task: Task) -> Edits:
        document = docx.Document(io.BytesIO(first_bytes(task)))
        edit(document, task)
        return {task.params["file"]: saved(document)}

    return edits


def verify_as(edit: Edit) -> Callable[[Task, Final], Verdict]:
    """A verifier: the document reads and looks as it did at first, but for what this edit makes of it."""

    def verify(task: Task, final: Final) -> Verdict:
        wanted = read_docx(edited(edit)(task)[task.params["file"]] or b"")

        def checks(found: Document) -> list[Check]:
            return [check("document", document_difference(found, wanted))]

        return judge(final, task.params["file"], read_docx, checks)

    return verify


def paragraph_of(document: Any, content: str) -> Any:
    """The python-docx paragraph with exactly this text."""
    return next(p for p in document.paragraphs if p.text == content)


def select(phrase: str) -> Steps:
    """Select the first occurrence of a phrase with the Find bar."""
    yield [press("ctrl+Home")]
    yield [press("ctrl+f")]
    yield [press("ctrl+a"), typed(phrase + "\n")]
    yield [press("Escape")]
