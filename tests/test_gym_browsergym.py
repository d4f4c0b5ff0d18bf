"""An agent written for BrowserGym runs on our pages: it sees BrowserGym's keys, and says BrowserGym's calls."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from envs.browser.env import BrowserEnv
from envs.browser.view import BrowserView
from guiforge import gym, registry
from guiforge.action import Answer
from guiforge.env import EnvError
from guiforge.task import Family, PutFile, Suite, Variant
from tests.browser import rig

pytestmark = pytest.mark.browser

KEYS = {
    "goal", "goal_object", "chat_messages", "screenshot", "url", "open_pages_urls", "open_pages_titles",
    "active_page_index", "dom_object", "axtree_object", "extra_element_properties", "focused_element_bid",
    "last_action", "last_action_error", "elapsed_time",
}  # fmt: skip
Seen = dict[str, Any]


def elements(seen: Seen) -> list[tuple[str, str, str]]:
    """(bid, role, name) of the tree's nodes, found from its root as BrowserGym's own flattening does."""
    nodes = {node["nodeId"]: node for node in seen["axtree_object"]["nodes"]}
    found = []

    def visit(node: Seen) -> None:
        if "browsergym_id" in node and "name" in node:
            found.append((node["browsergym_id"], node["role"]["value"], node["name"]["value"]))
        for child in node["childIds"]:
            if child in nodes:
                visit(nodes[child])

    visit(seen["axtree_object"]["nodes"][0])
    return found


def bid(seen: Seen, role: str, name: str | None = None) -> str:
    """The first element of a role, by its name where one is given."""
    return next(b for b, r, n in elements(seen) if r == role and name in (None, n))


def attributes(seen: Seen, id: str) -> dict[str, str]:
    """The attributes of the element with an `id`, as the document says them."""
    dom = seen["dom_object"]
    for document in dom["documents"]:
        for numbers in document["nodes"]["attributes"]:
            said = [dom["strings"][number] for number in numbers]
            pairs = dict(zip(said[0::2], said[1::2], strict=True))
            if pairs.get("id") == id:
                return pairs
    raise AssertionError(f"no element {id}")


def by_id(seen: Seen, id: str) -> str:
    """The bid of the element with an `id`."""
    return attributes(seen, id)["bid"]


# -- a page of fields --------------------------------------------------------------------------------------------------


class Forms:
    """An env on the fixture site's form, and what its page says of itself."""

    def __init__(self, env: gym.BrowserGymEnv, seen: Seen) -> None:
        self.env, self.seen = env, seen

    def say(self, text: str) -> str:
        """Say calls; what was wrong with them."""
        self.seen, *_ = self.env.step(text)
        return str(self.seen["last_action_error"])

    def value(self, expression: str) -> Any:
        view = self.env._env.oracle_view()
        assert isinstance(view, BrowserView)
        return view.evaluate(expression)


@pytest.fixture(scope="module")
def site() -> Iterator[rig.Site]:
    with rig.site() as server:
        yield server


@pytest.fixture(scope="module")
def env(site: rig.Site) -> Iterator[gym.BrowserGymEnv]:
    task = site.task("form.html", setup=(PutFile(path="~/a.txt", data=b"hello"),))
    made = gym.BrowserGymEnv(Suite("t", "browser", {"form": Family("form", lambda seed: task, None, None)}))
    yield made
    made.close()


@pytest.fixture
def form(env: gym.BrowserGymEnv) -> Forms:
    return Forms(env, env.reset(seed=1)[0])


def test_fields_are_filled_and_cleared_by_bid(form: Forms) -> None:
    text, area, edit, date, inner, shadow = (
        by_id(form.seen, id) for id in ("text", "area", "edit", "date", "inner", "shadow")
    )
    said = f"fill('{text}', 'old')\nfill('{text}', 'n“é漢')\nfill('{area}', 'a\\nb')\nfill('{edit}', 'rich')"
    assert form.say(f"{said}\nfill('{date}', '2026-03-21')\nfill('{inner}', 'in')\nfill('{shadow}', 's')") == ""
    assert form.seen["focused_element_bid"] == shadow
    held = [attributes(form.seen, id).get("value") for id in ("text", "area", "inner", "date")]
    assert held == ["n“é漢", "a\nb", "in", "2026-03-21"]
    read = "[...['text', 'area', 'date'].map((id) => document.getElementById(id).value), edit.innerText.trim(), "
    read += "frame.contentDocument.getElementById('inner').value, host.shadowRoot.getElementById('shadow').value]"
    assert form.value(read) == ["n“é漢", "a\nb", "2026-03-21", "rich", "in", "s"]
    assert form.say(f"clear('{text}')\npress('{area}', 'Control+a')\nkeyboard_press('Backspace')") == ""
    assert form.value("[text.value, area.value]") == ["", ""]
    assert "a file that can't be filled" in form.say(f"fill('{by_id(form.seen, 'file')}', 'x')")
    assert "no checkbox" in form.say(f"check('{text}')")


def test_an_option_is_selected_by_value_or_label_with_its_events_once(form: Forms) -> None:
    fruit, long, inner = (by_id(form.seen, id) for id in ("fruit", "long", "innerselect"))
    assert form.say(f"select_option('{fruit}', 'l')\nselect_option('{long}', ['Choice 42'])") == ""
    assert form.say(f"select_option('{inner}', 'Two')") == ""
    assert form.value("frame.contentDocument.getElementById('innerselect').value") == "Two"
    logged = form.value("document.getElementById('log').textContent").split("\n")
    assert [line for line in logged if line and not line.startswith("key")] == [
        "fruit input l", "fruit change l", "long input Choice 42", "long change Choice 42",
    ]  # fmt: skip
    wrong = form.say(f"select_option('{fruit}', 'Banana')")
    assert "has no option 'Banana'; valid are: Apple, Lemon, Orange" in wrong


def test_a_file_of_the_task_is_uploaded(form: Forms) -> None:
    assert form.say(f"upload_file('{by_id(form.seen, 'file')}', '~/a.txt')") == ""
    assert form.say("noop(100)") == ""
    assert "file a.txt hello" in form.value("document.getElementById('log').textContent")


def test_what_is_off_the_screen_is_scrolled_to(site: rig.Site) -> None:
    family = Family("form", lambda seed: site.task("form.html"), None, None)
    env = gym.BrowserGymEnv(Suite("t", "browser", {"form": family}), size=(300, 150))
    try:
        small = Forms(env, env.reset(seed=1)[0])
        low = by_id(small.seen, "edit")
        assert small.seen["extra_element_properties"][low]["visibility"] == 0
        assert small.say(f"click('{low}')\nkeyboard_type('here')") == ""
        assert small.value("scrollY") > 0 and small.value("edit.innerText.trim()") == "here"
        assert small.seen["extra_element_properties"][low]["visibility"] > 0, "and its number is still its own"
    finally:
        env.close()


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("click('9999')", "no element '9999' on this page"),
        ("click('a12')", "no element 'a12' on this page"),
        ("tap('1')", "unknown call 'tap'; valid are: mouse_click"),
        ("click(", "not valid Python"),
        ("__import__('os').system('true')", "unknown call"),
        ("mouse_click(5000, 1)", "5000"),
        ("keyboard_press('Hyper')", "unknown key 'Hyper'"),
        ("tab_focus(7)", "there is no tab 7; valid are"),
        ("goto('http://elsewhere.test/')", "elsewhere.test"),
        ("goto('nonsense')", "nonsense"),
        ("check('0')", "'0' is no element"),
    ],
)
def test_what_does_not_exist_is_told_to_the_agent_and_the_episode_goes_on(form: Forms, said: str, wrong: str) -> None:
    assert wrong in form.say(said)
    assert form.seen["last_action"] == said
    assert form.say("noop(0)") == ""


def test_calls_after_a_wrong_one_are_not_carried_out(form: Forms) -> None:
    text = by_id(form.seen, "text")
    assert "9999" in form.say(f"fill('{text}', 'one')\nclick('9999')\nfill('{text}', 'two')")
    assert form.value("text.value") == "one"


@pytest.mark.parametrize("said", ["click('{text}')", "mouse_click(5, 5)", "frob()"])
def test_a_browser_that_is_killed_is_a_fault_and_the_next_episode_has_a_new_one(
    env: gym.BrowserGymEnv, form: Forms, said: str
) -> None:
    world = env._env
    assert isinstance(world, BrowserEnv) and world._pool.browser is not None
    os.kill(world._pool.browser.pid, signal.SIGKILL)
    with pytest.raises(EnvError, match="browser: the browser closed its pipe"):
        env.step(said.format(text=by_id(form.seen, "text")))
    assert "screenshot" in env.reset(seed=1)[0]


# -- suites ------------------------------------------------------------------------------------------------------------


def test_a_textual_agent_solves_a_miniwob_task_by_bids_and_by_coordinates() -> None:
    gym.register()
    env = gymnasium.make("guiforge/browsergym-v0", suite="miniwob", task="click-checkboxes")
    try:
        seen, _ = env.reset(seed=3)
        assert set(seen) == KEYS and seen in env.observation_space
        assert seen["goal"] == seen["goal_object"][0]["text"] == seen["chat_messages"][-1]["message"]
        assert seen["screenshot"].shape == (210, 332, 3) or seen["screenshot"].ndim == 3
        wanted = seen["goal"].removeprefix("Select ").removesuffix(" and click Submit.").split(", ")
        boxes = [(b, name) for b, role, name in elements(seen) if role == "checkbox"]
        for at, (number, name) in enumerate(boxes):
            assert "checked" not in attributes(seen, f"ch{at}")
            if name in wanted:
                seen, reward, terminated, _, _ = env.step(f"check('{number}')")
                assert (seen["last_action_error"], reward, terminated) == ("", 0.0, False)
                assert "checked" in attributes(seen, f"ch{at}")
        x, y, width, height = seen["extra_element_properties"][bid(seen, "button", "Submit")]["bbox"]
        seen, reward, terminated, _, info = env.step(f"mouse_click({x + width / 2}, {y + height / 2})")
        assert (reward, terminated, info["outcome"]["status"]) == (1.0, True, "solved"), seen["last_action_error"]
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step("noop()")
    finally:
        env.close()


def test_a_textual_agent_finds_its_way_on_a_site_and_answers() -> None:
    family = registry.suite("webvoyager-like").family("wiki_extension")
    env = gym.BrowserGymEnv("webvoyager-like", "wiki_extension")
    try:
        seen, info = env.reset(seed=1)
        gold = Variant.of(family.solutions["number"](family.make(info["seed"]))).end
        assert isinstance(gold, Answer)
        first = seen["url"]
        link = bid(seen, "link", "Sitemap")
        seen, *_ = env.step(f"click({link!r})")
        assert seen["last_action_error"] == "" and seen["url"] != first
        seen, *_ = env.step("go_back()")
        assert seen["url"] == first
        seen, reward, terminated, _, info = env.step(f"send_msg_to_user({gold.text!r})")
        assert (reward, terminated, info["outcome"]["status"]) == (1.0, True, "solved")
        assert seen["chat_messages"][-1]["role"] == "assistant" and seen["chat_messages"][-1]["message"] == gold.text
        seen, info = env.reset(seed=1)
        _, reward, *_ = env.step("report_infeasible('no')")
        assert reward == 0.0
    finally:
        env.close()


def test_a_dialog_is_an_empty_document_and_told_in_the_error_of_what_it_holds_back(site: rig.Site) -> None:
    task = site.task("dialogs.html")
    family = Family("d", lambda seed: task, None, None)
    env = gym.BrowserGymEnv(Suite("t", "browser", {"d": family}))
    try:
        seen, _ = env.reset(seed=1)
        button = next(b for b, role, name in elements(seen) if role == "button" and "alert" in name.lower())
        seen, *_ = env.step(f"click('{button}')")
        assert seen["axtree_object"] == {"nodes": []}
        seen, *_ = env.step("mouse_click(5, 5)")
        assert "dialog" in seen["last_action_error"]
        seen, *_ = env.step("keyboard_press('Enter')")
        assert (seen["last_action_error"], bool(elements(seen))) == ("", True)
    finally:
        env.close()


@pytest.mark.filterwarnings("error::UserWarning")
def test_the_checker_of_gymnasium_passes_with_no_check_turned_off() -> None:
    gym.register()
    env = gymnasium.make(
        "guiforge/browsergym-v0", suite="miniwob", task="click-t*", render_mode="rgb_array", clock=lambda: 0.0
    )
    try:
        check_env(env.unwrapped)
    finally:
        env.close()


def test_a_desktop_has_no_page_to_see() -> None:
    with pytest.raises(ValueError, match="suite 'osworld-like' has no pages"):
        gym.BrowserGymEnv("osworld-like")


def test_time_counts_from_the_episodes_start() -> None:
    ticks = itertools.count()
    env = gym.BrowserGymEnv("miniwob", "click-test", clock=lambda: float(next(ticks)))
    try:
        seen, _ = env.reset(seed=0)
        assert 0 < seen["elapsed_time"][0] < env.step("noop(0)")[0]["elapsed_time"][0]
        assert [np.ndim(m["timestamp"]) for m in seen["chat_messages"]] == [0, 0]
    finally:
        env.close()
