"""Outcomes and verdicts: a reward exactly where the status carries one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from guiforge.outcome import PASSED, REWARDED, Outcome, Status, TimeoutOwner, Verdict

SCORES = st.floats(0, 1)
OWNERS = st.sampled_from(["policy", "env", "grader"])
VERDICTS = st.builds(
    Verdict,
    score=SCORES,
    components=st.dictionaries(st.text(max_size=5), SCORES, max_size=3),
    reasons=st.lists(st.text(max_size=5), max_size=3).map(tuple),
)
CHECKS = st.lists(st.tuples(st.text(max_size=5), st.booleans(), st.text(max_size=5)), min_size=1, max_size=5)


def _valid(status: Status, reward: float | None, owner: TimeoutOwner | None) -> bool:
    carries = status in (Status.SOLVED, Status.FAILED, Status.INFEASIBLE_OK, Status.TRUNCATED) or owner == "policy"
    return (reward is not None) == carries and (owner is not None) == (status == Status.TIMEOUT)


@given(st.sampled_from(Status), st.none() | SCORES, st.none() | OWNERS)
def test_a_reward_is_there_exactly_where_the_status_carries_one(
    status: Status, reward: float | None, owner: TimeoutOwner | None
) -> None:
    if _valid(status, reward, owner):
        outcome = Outcome(status=status, reward=reward, owner=owner)
        assert Outcome.model_validate_json(outcome.model_dump_json()) == outcome
        assert outcome.passed == (status in PASSED)
        assert outcome.final == (status is not Status.CANCELLED)
    else:
        with pytest.raises(ValidationError, match=r"reward|owner"):
            Outcome(status=status, reward=reward, owner=owner)


@pytest.mark.parametrize("reward", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_reward_lies_between_zero_and_one(reward: float) -> None:
    with pytest.raises(ValidationError, match=r"0\.\.1"):
        Outcome(status=Status.SOLVED, reward=reward)


@pytest.mark.parametrize("status", [s for s in Status if s not in REWARDED and s is not Status.TIMEOUT])
def test_a_fault_carries_no_reward_and_says_its_cause(status: Status) -> None:
    outcome = Outcome.fault(status, "Xvfb: died")
    assert (outcome.reward, outcome.cause, outcome.passed) == (None, "Xvfb: died", False)


@given(OWNERS, st.none() | VERDICTS)
def test_a_timeout_is_rewarded_only_when_it_is_the_policys(owner: TimeoutOwner, verdict: Verdict | None) -> None:
    outcome = Outcome.timed_out(owner, "late", verdict)
    assert (outcome.status, outcome.owner, outcome.cause) == (Status.TIMEOUT, owner, "late")
    wanted = None if owner != "policy" else verdict.score if verdict else 0
    assert outcome.reward == wanted


@given(CHECKS)
def test_a_verdict_of_checks_passes_just_when_all_do(checks: list[tuple[str, bool, str]]) -> None:
    verdict = Verdict.of(*checks)
    assert verdict.passed == all(ok for _, ok, _ in checks)
    assert verdict.score in (0, 1)
    assert verdict.reasons == tuple(f"{name}: {reason}" for name, ok, reason in checks if not ok)


def test_a_verdict_without_a_check_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one check"):
        Verdict.of()


@given(VERDICTS, VERDICTS)
def test_both_verdicts_must_hold(one: Verdict, other: Verdict) -> None:
    both = one.also(other)
    assert both.passed == (one.passed and other.passed)
    assert both.score <= min(one.score, other.score)
    assert both.reasons == one.reasons + other.reasons
    assert set(both.components) == {*one.components, *other.components}


@given(SCORES)
def test_nothing_less_than_one_is_a_pass(score: float) -> None:
    assert Verdict(score=score).passed == (score == 1)
