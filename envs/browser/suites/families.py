"""The two kinds of families of one site: it is asked for something, or something of it is changed.

Invariant: asked, the answer is compared by type and the site must be as it was; changed, just the expected changes
came about. A question's params have `right` (texts that answer) and `wrong` (one text a near miss).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from envs.browser.suites.common import DONE, Oracle, answer, table
from envs.browser.view import BrowserView
from guiforge.action import Answer, Infeasible
from guiforge.env import Final, StateReader
from guiforge.outcome import Verdict
from guiforge.task import Edit, Family, Task, Variant
from verifiers.answers import Want, check_answer
from verifiers.sites import Expected, Rows, check_only, edit_rows, unchanged

Verify = Callable[[Task, Final], Verdict]
Step = Callable[[Rows], None]
Way = Callable[[Task], Variant]
Play = Callable[[Task, BrowserView], Oracle]


def question(
    site: str,
    name: str,
    make: Callable[[int], Task],
    want: Callable[[Task], Want],
    look: Play,
    *,
    wrong: Sequence[str],
    meddled: Mapping[str, Edit],
) -> Family:
    """A family of questions.

    want: what answers.  look: the oracle's way to it.  wrong: names of the near misses, in the order of the texts in
    `params["wrong"]`.  meddled: edits of the site that no question asks for.
    """

    def play(task: Task, view: BrowserView) -> Oracle:
        yield from look(task, view)
        yield answer(task.params["right"][0])

    def said(kind: str, number: int) -> Way:
        return lambda task: Variant(end=Answer(text=task.params[kind][number]))

    return Family(
        name,
        make,
        asks(site, want),
        play,
        solutions={"short": said("right", 0), "in a sentence": said("right", 1)},
        near_misses={
            **{why: said("wrong", number) for number, why in enumerate(wrong)},
            "right and wrong": says(lambda task: _besides(task, "; ")),
            "right, then wrong": says(lambda task: _besides(task, " ")),
            "and it changed something": lambda task: Variant(meddled, Answer(text=task.params["right"][0])),
        },
    )


def _besides(task: Task, between: str) -> str:
    """The right answer and a wrong one that says something else; where none does, the first of them alone."""
    right, wrong = task.params["right"][0], task.params["wrong"]
    other = next((text for text in wrong if not set(text.split()) <= set(right.split())), None)
    return str(wrong[0] if other is None else f"{right}{between}{other}")


def changing(
    site: str,
    name: str,
    make: Callable[[int], Task],
    expected: Callable[[Task, StateReader], Sequence[Expected]],
    play: Play,
    solutions: Mapping[str, Way],
    near_misses: Mapping[str, Way],
) -> Family:
    """A family that is done by just these changes, whatever the episode ended with."""

    return Family(name, make, changes(site, expected), _then_done(play), solutions=solutions, near_misses=near_misses)


def _then_done(play: Play) -> Play:
    def oracle(task: Task, view: BrowserView) -> Oracle:
        yield from play(task, view)
        yield [DONE]

    return oracle


def impossible(name: str, make: Callable[[int], Task], look: Play) -> Family:
    """A family of what the site can't do; `look`: where one sees that."""

    def oracle(task: Task, view: BrowserView) -> Oracle:
        yield from look(task, view)
        yield [Infeasible(reason="the site has no such thing")]

    return Family(name, make, None, oracle)


# -- grading -----------------------------------------------------------------------------------------------------------


def asks(site: str, want: Callable[[Task], Want]) -> Verify:
    """The verifier of a question: the answer, and that nothing of the site changed."""

    def verify(task: Task, final: Final) -> Verdict:
        return Verdict.of(
            check_answer("answer", final.end, want(task), given=task.instruction), unchanged("site", final.state, site)
        )

    return verify


def changes(site: str, expected: Callable[[Task, StateReader], Sequence[Expected]]) -> Verify:
    """The verifier of a change: just these changes of the site."""
    return lambda task, final: Verdict.of(check_only("data", final.state, site, expected(task, final.state)))


# -- how ways are written ----------------------------------------------------------------------------------------------


def says(text: Callable[[Task], object]) -> Way:
    """The end of an episode with this answer."""
    return lambda task: Variant(end=Answer(text=str(text(task))))


def edited(site: str, **steps: Sequence[Step]) -> Variant:
    """The end of an episode that changed rows of these tables."""
    return Variant({table(site, name): edit_rows(*made) for name, made in steps.items() if made})


def key_of(rows: Rows, **columns: object) -> str:
    """The key of the first row with these values. Raises KeyError where there is none."""
    for key, row in rows.items():
        if columns.items() <= row.items():
            return key
    raise KeyError(f"no row has {columns}")


def change(having: Mapping[str, object], **columns: object) -> Step:
    """Give the row that has the values in `having` new ones."""
    return lambda rows: rows[key_of(rows, **having)].update(columns)


def drop(having: Mapping[str, object]) -> Step:
    """Remove the row that has these values."""

    def step(rows: Rows) -> None:
        del rows[key_of(rows, **having)]

    return step
