"""Embedded policies, reached over HTTP as any endpoint is."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import httpx
import pytest

from guiforge.action import Action, Answer, Click, Done, Press, TypeText, Wait
from guiforge.dialects.kimi import Kimi
from guiforge.dialects.molmoweb import MolmoWeb
from guiforge.dialects.tools import Tools
from guiforge.policies import Endpoint, policy_endpoint, resolve, serve_policy
from guiforge.wire import ChatMessage, ChatRequest, ChatResponse

SCREEN = (1280, 720)
BODY = {"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "What now?"}]}]}


def ask(endpoint: Endpoint, body: Any = BODY, *, key: bytes | None = None, timeout_s: float = 20) -> httpx.Response:
    bearer = endpoint.api_key.encode() if key is None else key
    headers = [(b"Authorization", b"Bearer " + bearer)] if bearer else []
    url = f"{endpoint.base_url}/chat/completions"
    return httpx.post(url, json=body, headers=headers, trust_env=False, timeout=timeout_s)


def said(response: httpx.Response) -> str:
    assert response.status_code == 200, response.text
    return ChatResponse.model_validate_json(response.content).choices[0].message.text


def acts(response: httpx.Response) -> tuple[Action, ...]:
    return Kimi().parse(said(response), SCREEN).actions


def embedded(policy: str, *, seed: int = 0, oracle: Any = lambda: iter(()), **options: Any) -> Any:
    return policy_endpoint(policy, seed=seed, options=options, render=Kimi().render, screen=SCREEN, oracle=oracle)


def test_a_served_function_answers_the_chat_protocol() -> None:
    def echo(request: ChatRequest) -> str:
        return f"{request.model}: {request.messages[-1].text}"

    with serve_policy(echo, model="echo") as endpoint:
        assert endpoint.base_url.startswith("http://127.0.0.1:")
        answer = ask(endpoint)
    assert said(answer) == "m: What now?"
    assert answer.json()["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize("key", [b"", b"wrong", b"\xff"])
def test_only_its_own_key_opens_an_endpoint(key: bytes) -> None:
    with serve_policy(lambda request: pytest.fail("asked"), model="x") as endpoint:
        answer = ask(endpoint, key=key)
    assert answer.status_code == 401
    assert answer.json()["error"]["type"] == "authentication_error"


def test_two_endpoints_have_different_keys() -> None:
    with serve_policy(lambda request: "a") as one, serve_policy(lambda request: "b") as two:
        assert ask(two, key=one.api_key.encode()).status_code == 401


@pytest.mark.parametrize("body", [{}, {"model": "m", "messages": []}, [], "x"])
def test_a_request_that_is_none_is_refused(body: Any) -> None:
    with serve_policy(lambda request: "a") as endpoint:
        answer = ask(endpoint, body)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"


def test_another_path_is_refused_naming_the_valid_one() -> None:
    with serve_policy(lambda request: "a") as endpoint:
        answer = httpx.post(
            f"{endpoint.base_url}/embeddings", json=BODY, headers={"Authorization": f"Bearer {endpoint.api_key}"}
        )
    assert answer.status_code == 404
    assert "/v1/chat/completions" in answer.json()["error"]["message"]


def test_when_the_context_ends_nothing_listens_and_no_thread_is_left() -> None:
    before = threading.active_count()
    with serve_policy(lambda request: "a") as endpoint:
        said(ask(endpoint))
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
    with pytest.raises(httpx.ConnectError):
        ask(endpoint)


def test_a_client_that_goes_away_does_not_end_the_endpoint() -> None:
    asked, go = threading.Event(), threading.Event()

    def slow(request: ChatRequest) -> str:
        asked.set()
        go.wait(20)
        return "late"

    with serve_policy(slow) as endpoint:
        with pytest.raises(httpx.ReadTimeout):
            ask(endpoint, timeout_s=0.1)
        assert asked.wait(20)
        go.set()
        assert said(ask(endpoint)) == "late"


def test_the_oracle_is_resumed_within_each_request_and_then_is_done() -> None:
    reached: list[int] = []

    def oracle() -> Iterator[Sequence[Action]]:
        reached.append(1)
        yield [Click(x=3, y=4), TypeText(text="ü")]
        reached.append(2)
        yield []
        reached.append(3)

    with embedded("oracle", oracle=oracle) as endpoint:
        assert reached == []
        assert acts(ask(endpoint)) == (Click(x=3, y=4), TypeText(text="ü"))
        assert reached == [1]
        assert acts(ask(endpoint)) == (Wait(seconds=0),)
        assert reached == [1, 2]
        assert acts(ask(endpoint)) == acts(ask(endpoint)) == (Done(),)


def test_an_oracle_that_is_stuck_is_an_error_that_no_retry_mends() -> None:
    def oracle() -> Iterator[Sequence[Action]]:
        yield [Press(keys=("a",))]
        raise LookupError("no window 'Save'")

    with embedded("oracle", oracle=oracle) as endpoint:
        said(ask(endpoint))
        first, second = ask(endpoint), ask(endpoint)
    assert first.status_code == second.status_code == 500
    assert first.headers["x-should-retry"] == "false"
    assert first.json() == second.json()
    assert first.json()["error"] == {
        "type": "oracle_error",
        "message": "the oracle is stuck: LookupError: no window 'Save'",
    }


def test_an_oracle_whose_actions_the_format_lacks_is_stuck_naming_them() -> None:
    with embedded("oracle", oracle=lambda: iter([[Click(x=5000, y=1)]])) as endpoint:
        assert "can't say click: (5000, 1) is off the screen" in ask(endpoint).json()["error"]["message"]


def _molmoweb(policy: str, **options: Any) -> Any:
    return policy_endpoint(policy, render=MolmoWeb().render, screen=SCREEN, **{"seed": 0, "options": {}, **options})


def test_where_a_format_says_one_action_a_reply_the_oracle_takes_a_reply_for_each() -> None:
    asked: list[int] = []

    def oracle() -> Iterator[Sequence[Action]]:
        asked.append(1)
        yield [Press(keys=("Return",)), Wait(seconds=2), TypeText(text="ü")]
        asked.append(2)
        yield [Answer(text="x")]

    with _molmoweb("oracle", oracle=oracle) as endpoint:
        said_ = [(MolmoWeb().parse(said(ask(endpoint)), SCREEN).actions, list(asked)) for _ in range(6)]
    wait = (Wait(seconds=1),)
    assert [actions for actions, _ in said_] == [
        (Press(keys=("Return",)),), wait, wait, (TypeText(text="ü"),), (Answer(text="x"),), (Done(),),
    ]  # fmt: skip
    assert [seen for _, seen in said_] == [[1]] * 4 + [[1, 2]] * 2


def test_the_random_policy_passes_over_what_the_format_lacks() -> None:
    with _molmoweb("random", seed=1, options={"steps": 60}, oracle=lambda: iter(())) as endpoint:
        kinds = {MolmoWeb().parse(said(ask(endpoint)), SCREEN).actions[0].kind for _ in range(60)}
    assert {"click", "type", "press", "move", "drag"} <= kinds and "scroll" not in kinds


def test_a_reply_may_be_a_whole_message_with_tool_calls() -> None:
    reply = ChatMessage.model_validate(Tools().render((Click(x=3, y=4),), SCREEN))
    with serve_policy(lambda request: reply) as endpoint:
        choice = ask(endpoint).json()["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert Tools().parse(choice["message"], SCREEN).actions == (Click(x=3, y=4),)


def test_the_null_policy_is_done_at_once() -> None:
    with embedded("null") as endpoint:
        assert acts(ask(endpoint)) == (Done(),)


def _play(seed: int, turns: int, steps: int = 10) -> list[tuple[Action, ...]]:
    with embedded("random", seed=seed, steps=steps) as endpoint:
        return [acts(ask(endpoint)) for _ in range(turns)]


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
    with embedded("http://a/v1") as endpoint:
        assert endpoint == Endpoint("http://a/v1", "one", "default")
    with embedded("http://a/v1", model="kimi", api_key_env="MY_KEY") as endpoint:
        assert endpoint == Endpoint("http://a/v1", "two", "kimi")


def test_an_unknown_option_is_refused_naming_the_valid_ones() -> None:
    with (
        pytest.raises(ValueError, match="unknown policy option 'modle'; valid are: model"),
        embedded("null", modle="x"),
    ):
        pass
