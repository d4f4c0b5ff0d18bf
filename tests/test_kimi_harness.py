"""KimiHarness against a real HTTP server: its prompts byte by byte, and what it makes of endpoints that fail."""

from __future__ import annotations

import base64
import json
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from guiforge.action import Action, Click, Done, Move, Press, TypeText
from guiforge.env import Observation
from guiforge.frame import Frame
from guiforge.harness import EpisodeOver, PolicyFailed, PolicyTimedOut, ReplyRejected
from guiforge.harness.chat import Chat
from guiforge.harness.kimi import KimiHarness, system_prompt
from tests import played
from tests.endpoint import Answer, Endpoint, fails, says
from tests.played import KEY, SIZE, TASK, Session, frame, url


def code(text: str, thought: str = "t", action: str = "a") -> str:
    return f"## Thought\n{thought}\n## Action:\n{action}\n## Code:\n```python\n{text}\n```"


def play(*answers: Answer, harness: KimiHarness | None = None) -> tuple[Session, Endpoint]:
    return played.play(harness or KimiHarness(), *answers)


def failing(kind: type[Exception], said: str, *answers: Answer, timeout_s: float = 20) -> tuple[Session, Endpoint]:
    return played.failing(KimiHarness(), kind, said, *answers, timeout_s=timeout_s)


def image(number: int) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url(number)}}


def user(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


ASK = {
    "type": "text",
    "text": "# Task Instruction:\nSave the file as “a.txt”.\n\nGive the next move for what the screen shows now.\n",
}


def test_the_prompt_of_each_of_five_steps_is_exactly_the_formats() -> None:
    replies = [says(code(f"pyautogui.press('{n}')", f"t{n}", f"a{n}")) for n in range(1, 5)]
    _, endpoint = play(*replies, says(code("computer.terminate(status='success')")))
    system = {"role": "system", "content": system_prompt("password", thinking=False)}
    past = [f"# Step {n}:\n## Thought:\nt{n}\n\n## Action:\na{n}\n" for n in range(1, 5)]
    assert [request["messages"] for request in endpoint.requests] == [
        [system, user(image(0), ASK)],
        [system, user(image(0)), assistant(past[0]), user(image(1), ASK)],
        [
            system,
            user(image(0)), assistant(past[0]), user(image(1)), assistant(past[1]),
            user(image(2), ASK),
        ],
        [
            system,
            assistant(past[0]),
            user(image(1)), assistant(past[1]), user(image(2)), assistant(past[2]),
            user(image(3), ASK),
        ],
        [
            system,
            assistant(f"{past[0]}\n{past[1]}"),
            user(image(2)), assistant(past[2]), user(image(3)), assistant(past[3]),
            user(image(4), ASK),
        ],
    ]  # fmt: skip


def test_in_thinking_mode_the_history_holds_the_thought_between_its_marks() -> None:
    bare = "## Action:\na{n}\n## Code:\n```python\npyautogui.press('a')\n```"
    _, endpoint = play(
        says(bare.replace("{n}", "1"), reasoning_content="t1"),
        says("t2\n" + bare.replace("{n}", "2")),
        says("◁think▷t3◁/think▷" + bare.replace("{n}", "3")),
        says("## Code:\n```python\ncomputer.terminate(status='success')\n```"),
        harness=KimiHarness(thinking=True),
    )
    last = endpoint.requests[-1]["messages"]
    assert last[0]["content"] == system_prompt("password", thinking=True)
    assert [m["content"] for m in last if m["role"] == "assistant"] == [
        f"# Step {n}:\n◁think▷t{n}◁/think▷## Action:\na{n}\n" for n in (1, 2, 3)
    ]


def test_the_system_prompt_gives_the_password_and_fixes_the_form() -> None:
    plain, thinking = (system_prompt("s3cret", thinking) for thinking in (False, True))
    assert "s3cret" in plain and "GUI agent" in plain
    assert plain.index("## Thought\n") < plain.index("## Action:\n") < plain.index("## Code:\n```python\n")
    assert "## Thought" not in thinking and "## Action:\n" in thinking


def test_the_request_carries_model_key_and_sampling() -> None:
    _, endpoint = play(says(code("computer.terminate(status='success')")))
    request = endpoint.requests[0]
    del request["messages"]
    assert request == {
        "path": "/v1/chat/completions", "model": "m", "temperature": 1.0, "top_p": 0.95, "max_tokens": 4096,
    }  # fmt: skip
    assert endpoint.keys == [f"Bearer {KEY}"]


def test_each_call_says_how_long_it_is_waited_for() -> None:
    session, endpoint = play(says(code("pyautogui.click(1, 1)")), says(code("computer.terminate(status='success')")))
    assert session.steps == [(Click(x=63, y=35),), (Done(),)] and session.problems == []
    assert all(0 < float(headers["x-stainless-timeout"]) <= 20 for headers in endpoint.headers)


def test_relative_moves_count_from_the_frames_pointer() -> None:
    with Endpoint(says(code("pyautogui.moveRel(2, 3)")), says(code("computer.terminate('success')"))).serve() as at:
        session = Session(at.url)
        session.observation = Observation(Frame(frame(0).image.tobytes(), SIZE, cursor=(10, 10)))
        with pytest.raises(EpisodeOver):
            KimiHarness().run(TASK, session)
    assert session.steps[0] == (Move(x=12, y=13),)


def test_a_reply_out_of_form_is_asked_for_anew_with_the_same_prompt() -> None:
    session, endpoint = play(
        says("Hm."), says(code("os.system('x')")), says(code("pyautogui.press('a')")),
        says(code("computer.terminate(status='success')")),
    )  # fmt: skip
    assert session.steps == [(Press(keys=("a",)),), (Done(),)]
    assert endpoint.requests[0] == endpoint.requests[1] == endpoint.requests[2]
    assert len(session.problems) == 2
    assert "no finished code block" in session.problems[0] and "unknown call 'os.system'" in session.problems[1]


def test_after_four_replies_out_of_form_the_episode_is_given_up() -> None:
    session, endpoint = failing(ReplyRejected, "4 tries.*no finished code block", says("Hm."))
    assert len(endpoint.requests) == len(session.problems) == 4
    assert session.steps == []


def test_a_reply_without_text_is_the_policys_mistake() -> None:
    failing(ReplyRejected, "no finished code block", says(None))


def test_an_error_of_the_world_does_not_reach_the_prompt() -> None:
    _, endpoint = play(says(code("pyautogui.press('a')")), says(code("computer.terminate(status='success')")))
    assert "the world's error" not in json.dumps(endpoint.requests)


def test_rate_limits_and_faults_are_tried_again() -> None:
    _, endpoint = play(
        fails(429, "slow down", Retry_After="0"),
        fails(503, "overloaded", Retry_After="0"),
        says(code("computer.terminate(status='success')")),
    )
    assert len(endpoint.requests) == 3


def test_an_endpoint_that_keeps_failing_is_a_policy_failure() -> None:
    _, endpoint = failing(
        PolicyFailed, r"failed 6 times, at last: 500 server_error: boom \(http.*/chat/completions\)",
        fails(500, "boom", Retry_After="0"),
    )  # fmt: skip
    assert len(endpoint.requests) == 6


def test_no_retry_begins_that_could_not_end_in_time() -> None:
    _, endpoint = failing(PolicyFailed, "failed 1 times.*429", fails(429, "later", Retry_After="60"), timeout_s=5)
    assert len(endpoint.requests) == 1


def test_an_endpoint_that_says_not_to_retry_is_not_asked_again() -> None:
    _, endpoint = failing(
        PolicyFailed, "500 oracle_error: stuck", fails(500, "stuck", "oracle_error", x_should_retry="false")
    )
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_refusal_is_a_policy_failure_at_once(status: int) -> None:
    _, endpoint = failing(PolicyFailed, f"refused: {status} bad: no such key", fails(status, "no such key", "bad"))
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        "<html>hello</html>",
        "",
        "[]",
        "{}",
        '{"choices": []}',
        '{"choices": [{"text": "old api"}]}',
        '{"choices": [{"message": {"role": "assistant", "content": 5}}]}',
        b"\xff\xfe\x00",
    ],
)
def test_what_is_no_completion_is_rubbish(body: str | bytes) -> None:
    _, endpoint = failing(PolicyFailed, "endpoint answered rubbish: ", Answer(body))
    assert len(endpoint.requests) == 1


def test_a_slow_endpoint_times_out() -> None:
    failing(PolicyTimedOut, "endpoint did not answer within 0.3 s", Answer("{}", delay_s=60), timeout_s=0.3)


def _raw_server(serve: Callable[[socket.socket], None]) -> tuple[str, threading.Thread]:
    listener = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        with listener:
            connection, _ = listener.accept()
            with connection:
                serve(connection)

    thread = threading.Thread(target=run)
    thread.start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}/v1", thread


def test_an_endpoint_that_drips_its_answer_times_out() -> None:
    gone = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not gone.wait(0.02):
            connection.sendall(b" ")

    base_url, thread = _raw_server(drip)
    with Chat(base_url, KEY) as chat, pytest.raises(PolicyTimedOut, match=r"within 0\.3 s"):
        chat.complete({}, 0.3)
    gone.set()
    thread.join()


def test_an_endpoint_that_is_down_is_a_policy_failure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        base_url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    session = Session(base_url, timeout_s=1)
    with pytest.raises(PolicyFailed, match=r"failed 2 times, at last: ConnectError: .*refused"):
        KimiHarness().run(TASK, session)


def test_a_base_url_that_is_none_is_a_policy_failure() -> None:
    with pytest.raises(PolicyFailed, match="no URL"):
        KimiHarness().run(TASK, Session("http://[::1"))


@pytest.mark.parametrize(
    "actions", [(Click(x=3, y=4),), (TypeText(text="a)```\nb"), Press(keys=("Return",))), (Done(),)]
)
def test_an_oracles_reply_is_parsed_to_its_actions(actions: Sequence[Action]) -> None:
    for harness in (KimiHarness(), KimiHarness(thinking=True)):
        session, _ = play(
            says(harness.render(tuple(actions), SIZE)), says(harness.render((Done(),), SIZE)), harness=harness
        )
        assert session.steps[0] == tuple(actions)


def test_screens_may_be_sent_as_jpeg() -> None:
    _, endpoint = play(says(code("computer.terminate('success')")), harness=KimiHarness(image_format="jpeg"))
    sent = endpoint.requests[0]["messages"][-1]["content"][0]["image_url"]["url"]
    assert base64.b64decode(sent.removeprefix("data:image/jpeg;base64,")) == frame(0).encode("jpeg").data


def test_an_unknown_image_format_is_refused_naming_the_valid_ones() -> None:
    with pytest.raises(ValueError, match="unknown image_format 'gif'; valid are: png, jpeg, webp"):
        KimiHarness(image_format="gif")  # type: ignore[arg-type]
