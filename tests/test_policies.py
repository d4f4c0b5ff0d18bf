"""Embedded policies, and where others are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from guiforge import action as actions
from guiforge import policies
from guiforge.action import Action, Click, Done, Press, TypeText, Wait
from guiforge.dialects.kimi import Kimi
from guiforge.dialects.molmoweb import MolmoWeb
from guiforge.policies import Answer, AnswerFailed, Endpoint, endpoint_at, resolve
from guiforge.wire import Reply

SCREEN = (1280, 720)


KIMI, MOLMOWEB = Kimi(), MolmoWeb()


def embedded(
    policy: str, dialect: Kimi | MolmoWeb = KIMI, *, seed: int = 0, oracle: Any = lambda: iter(()), **options: Any
) -> Answer:
    found = policies.embedded(
        policy, seed=seed, options=options, render=dialect.render, screen=SCREEN, oracle=oracle
    )  # fmt: skip
    assert found is not None
    return found


def acts(reply: Reply, dialect: Kimi | MolmoWeb = KIMI) -> tuple[Action, ...]:
    assert isinstance(reply, str)
    return dialect.parse(reply, SCREEN).actions


def test_the_oracle_is_resumed_within_each_request_and_then_is_done() -> None:
    reached: list[int] = []

    def oracle() -> Iterator[Sequence[Action]]:
        reached.append(1)
        yield [Click(x=3, y=4), TypeText(text="ü")]
        reached.append(2)
        yield []
        reached.append(3)

    answer = embedded("oracle", oracle=oracle)
    assert reached == []
    assert acts(answer()) == (Click(x=3, y=4), TypeText(text="ü"))
    assert reached == [1]
    assert acts(answer()) == (Wait(seconds=0),)
    assert reached == [1, 2]
    assert acts(answer()) == acts(answer()) == (Done(),)


def test_an_oracle_that_is_stuck_is_an_error_that_no_retry_mends() -> None:
    def oracle() -> Iterator[Sequence[Action]]:
        yield [Press(keys=("a",))]
        raise LookupError("no window 'Save'")

    answer = embedded("oracle", oracle=oracle)
    answer()
    for _ in range(2):
        with pytest.raises(AnswerFailed, match="the oracle is stuck: LookupError: no window 'Save'") as failed:
            answer()
        assert failed.value.type == "oracle_error"


def test_an_oracle_whose_actions_the_format_lacks_is_stuck_naming_them() -> None:
    with pytest.raises(AnswerFailed, match=r"can't say click: \(5000, 1\) is off the screen"):
        embedded("oracle", oracle=lambda: iter([[Click(x=5000, y=1)]]))()


def test_where_a_format_says_one_action_a_reply_the_oracle_takes_a_reply_for_each() -> None:
    asked: list[int] = []

    def oracle() -> Iterator[Sequence[Action]]:
        asked.append(1)
        yield [Press(keys=("Return",)), Wait(seconds=2), TypeText(text="ü")]
        asked.append(2)
        yield [actions.Answer(text="x")]

    answer = embedded("oracle", MOLMOWEB, oracle=oracle)
    said = [(acts(answer(), MOLMOWEB), list(asked)) for _ in range(6)]
    wait = (Wait(seconds=1),)
    assert [acted for acted, _ in said] == [
        (Press(keys=("Return",)),), wait, wait, (TypeText(text="ü"),), (actions.Answer(text="x"),), (Done(),),
    ]  # fmt: skip
    assert [seen for _, seen in said] == [[1]] * 4 + [[1, 2]] * 2


def test_the_random_policy_passes_over_what_the_format_lacks() -> None:
    answer = embedded("random", MOLMOWEB, seed=1, steps=60)
    kinds = {acts(answer(), MOLMOWEB)[0].kind for _ in range(60)}
    assert {"click", "type", "press", "move", "drag"} <= kinds and "scroll" not in kinds


def test_the_null_policy_is_done_at_once() -> None:
    assert acts(embedded("null")()) == (Done(),)


def _play(seed: int, turns: int, steps: int = 10) -> list[tuple[Action, ...]]:
    answer = embedded("random", seed=seed, steps=steps)
    return [acts(answer()) for _ in range(turns)]


def test_the_random_policy_is_the_same_for_the_same_seed_and_not_for_another() -> None:
    assert _play(1, 12) == _play(1, 12) != _play(2, 12)


def test_the_random_policy_acts_on_the_screen_and_does_not_end_before_its_steps() -> None:
    played = [action for turn in _play(3, 60, steps=60) for action in turn]
    assert not any(action.is_end for action in played)
    assert {"click", "type", "press", "scroll", "move", "drag"} <= {action.kind for action in played}
    points = [p for a in played if (p := getattr(a, "point", None))]
    assert points and all(0 <= x < SCREEN[0] and 0 <= y < SCREEN[1] for x, y in points)


def test_the_random_policy_ends_some_time_after_its_steps() -> None:
    assert any(turn[-1].is_end for turn in _play(3, 80, steps=1))


@pytest.mark.parametrize(
    "policy", ["oracle", "null", "random", "http://127.0.0.1:8000/v1", "https://api.example.org/v1"]
)
def test_a_policy_is_a_name_or_a_url(policy: str) -> None:
    assert resolve(policy) == policy


def test_a_final_slash_of_a_url_is_no_other_policy() -> None:
    assert resolve("http://a/v1/") == "http://a/v1"


NO_POLICIES = (
    "", "gpt", "Oracle", "ftp://a", "localhost:80",
)  # fmt: skip


@pytest.mark.parametrize("policy", NO_POLICIES)
def test_any_other_policy_is_refused_naming_the_valid_ones(policy: str) -> None:
    with pytest.raises(ValueError, match="valid are: oracle, null, random, or a base URL"):
        resolve(policy)


@pytest.mark.parametrize(
    "url", ["http://", "http:///v1", "http://a:x", "http://a:0/v1", "http://a:99999", "http://[::1"]
)
def test_a_bad_url_is_called_one(url: str) -> None:
    with pytest.raises(ValueError, match=r"is no base URL: .*; valid are such as http://localhost:8000/v1"):
        resolve(url)


@pytest.mark.parametrize(
    "policy", ["http://me:s3cret@a/v1", "https://s3cret@a", "ftp://me:s3cret@a", "http://s3cret@[a"]
)
def test_a_url_with_a_secret_is_refused_and_the_secret_not_repeated(policy: str) -> None:
    with pytest.raises(ValueError, match="--key-env") as refused:
        resolve(policy)
    assert "s3cret" not in str(refused.value)
    assert resolve("http://a/v1/@me") == "http://a/v1/@me"


def test_an_endpoint_is_given_by_url_with_its_key_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "one")
    monkeypatch.setenv("MY_KEY", "two")
    assert endpoint_at("http://a/v1", {}) == Endpoint("http://a/v1", "one", "default")
    other = endpoint_at("http://a/v1", {"model": "kimi", "api_key_env": "MY_KEY"})
    assert other == Endpoint("http://a/v1", "two", "kimi") and "two" not in repr(other)


def test_an_unknown_option_is_refused_naming_the_valid_ones() -> None:
    with pytest.raises(ValueError, match="unknown policy option 'modle'; valid are: model"):
        embedded("null", modle="x")
