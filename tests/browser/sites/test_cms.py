"""What the dump of envs/browser/sites/cms says of a fee, however it was typed."""

from __future__ import annotations

from envs.browser.suites.common import make_task
from guiforge.env import SnapshotState
from tests.suites.families import first_state
from verifiers.sites import rows


def test_a_fee_typed_with_one_decimal_is_no_draft() -> None:
    records = {"pages": {"Night Organ": {"fee": "44.5"}}}
    task = make_task("cms_new_fee", 0, "", site="cms", tags=("cms", "easy"), records=records)
    pages = rows(SnapshotState(*first_state(task)), "cms", "pages")
    (row,) = (row for row in pages.values() if row["title"] == "Night Organ")
    assert (row["fee"], row["draft"]) == ("44.50", {})
