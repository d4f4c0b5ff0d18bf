"""The Writer families, graded on documents edited by code."""

from __future__ import annotations

import pytest

from envs.desktop.suites.writer import FAMILIES
from envs.desktop.suites.writer.texts import NOTICES, Notice, opening
from guiforge.task import Family
from tests.suites.families import SEEDS, check_damaged, check_family, check_variety


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)
@pytest.mark.parametrize("seed", SEEDS)
def test_solutions_pass_and_near_misses_do_not(family: Family, seed: int) -> None:
    check_family(family, seed)


@pytest.mark.parametrize("notice", NOTICES, ids=lambda n: n.file)
def test_a_section_title_stands_nowhere_else_and_first_words_begin_one_sentence(notice: Notice) -> None:
    sentences = [s.format(who="Zed").casefold() for part in notice.sections.values() for s in part]
    for title in notice.sections:
        others = [notice.title, *(t for t in notice.sections if t != title), *sentences]
        assert not [other for other in others if title.casefold() in other.casefold()]
    assert len({opening(sentence) for sentence in sentences}) == len(sentences)


def test_seeds_make_different_tasks() -> None:
    check_variety(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)
@pytest.mark.parametrize("content", [None, b"", b"not a document"], ids=["removed", "empty", "rubbish"])
def test_a_missing_or_damaged_document_scores_nothing(family: Family, content: bytes | None) -> None:
    check_damaged(family, content)
