"""Dialogs of a headless page: drawn on the frame, and answered there by the mouse and keys alone."""

from __future__ import annotations

import base64
import json

import pytest
from PIL import Image

from envs.browser.dialogs import Dialog, drawn, lay_out
from envs.browser.env import BrowserEnv
from guiforge.action import Action, AnswerDialog, BaseAction, Click, Done, Move, Press, Reload, Scroll, TypeText
from guiforge.dialects.kimi import Kimi
from guiforge.env import Observation
from guiforge.frame import Frame, Size
from guiforge.harness import EpisodeOver
from guiforge.harness.kimi import KimiHarness
from guiforge.task import Task
from tests.browser.rig import Site, at, log
from tests.endpoint import Endpoint, says
from tests.played import TASK, Session

SIZE: Size = (800, 600)
LONG = "All of these links will be removed: " + ", ".join(f"number {i}" for i in range(200))


def opened(env: BrowserEnv, site: Site, kind: str, said: str | None = None) -> Frame:
    """The frame with a dialog of the kind open."""
    env.reset(site.task("dialogs.html"))
    if said is not None:
        env.oracle_view().evaluate(f"document.getElementById('{kind}').onclick = () => log({kind}({json.dumps(said)}))")
    if kind == "beforeunload":
        env.step(Click(**at(env, "#guard")))
        return env.step(Click(**at(env, "#leave"))).frame
    return env.step(Click(**at(env, f"#{kind}"))).frame


def open_dialog(env: BrowserEnv) -> Dialog | None:
    return env._playing().tabs.active.dialog


def button(env: BrowserEnv, accept: bool) -> Click:
    """A click into the middle of a button of the open dialog."""
    dialog = open_dialog(env)
    assert dialog is not None
    left, top, right, bottom = lay_out(dialog, SIZE).buttons[accept]
    return Click(x=(left + right) // 2, y=(top + bottom) // 2)


def field(env: BrowserEnv, count: int = 1) -> Click:
    dialog = open_dialog(env)
    assert dialog is not None
    rect = lay_out(dialog, SIZE).field
    assert rect is not None
    return Click(x=rect[0] + 5, y=rect[1] + 5, count=count)


@pytest.mark.parametrize("kind", ["alert", "confirm", "prompt", "beforeunload"])
def test_a_dialog_shows_on_the_frame_and_goes_with_its_answer(env: BrowserEnv, site: Site, kind: str) -> None:
    frame = opened(env, site, kind)
    dialog = open_dialog(env)
    assert dialog is not None and dialog.kind == kind and frame.settled
    left, top, right, bottom = lay_out(dialog, SIZE).box
    below = frame.pixels[bottom + 1 :]
    assert opened(env, site, kind).same_pixels(frame)  # the same each time
    closed = env.step(AnswerDialog(accept=False)).frame
    inside = (slice(top, bottom + 1), slice(left, right + 1))
    assert (closed.pixels[inside] != frame.pixels[inside]).mean() > 0.02
    if kind == "beforeunload":  # nothing was logged
        assert (closed.pixels[bottom + 1 :] == below).all()


@pytest.mark.parametrize(
    ("kind", "accept", "logged"),
    [
        ("alert", True, "alerted"),
        ("confirm", True, "confirmed true"),
        ("confirm", False, "confirmed false"),
        ("prompt", True, "prompted Ada"),
        ("prompt", False, "prompted null"),
    ],
)
def test_a_click_on_a_button_answers(env: BrowserEnv, site: Site, kind: str, accept: bool, logged: str) -> None:
    opened(env, site, kind)
    done = env.step(button(env, accept))
    assert done.error is None and done.info["dialog"] is None and log(env) == [logged]


@pytest.mark.parametrize(("accept", "title"), [(True, "Next"), (False, "Dialogs")])
def test_a_click_on_a_button_leaves_a_page_or_stays(env: BrowserEnv, site: Site, accept: bool, title: str) -> None:
    opened(env, site, "beforeunload")
    assert env.step(button(env, accept)).info["title"] == title


def test_a_pointer_that_was_moved_to_a_button_clicks_it(env: BrowserEnv, site: Site) -> None:
    opened(env, site, "confirm")
    point = button(env, True)
    assert point.x is not None and point.y is not None
    done = env.step(Move(x=point.x, y=point.y), Click())
    assert done.error is None and log(env) == ["confirmed true"] and done.frame.cursor == point.point


@pytest.mark.parametrize(
    "action",
    [
        Click(x=5, y=595),
        Click(x=300, y=40, button="right"),
        Scroll(dy=1),
        TypeText(text="y"),
        Press(keys=("a",)),
        Reload(),
    ],
)
def test_what_is_no_answer_is_refused_and_said(env: BrowserEnv, site: Site, action: BaseAction) -> None:
    frame = opened(env, site, "confirm")
    refused = env.step(action)  # type: ignore[arg-type]
    assert refused.error is not None and "confirm dialog 'Sure?' is open" in refused.error
    assert refused.info["dialog"]["message"] == "Sure?" and refused.frame.same_pixels(frame)


@pytest.mark.parametrize(
    ("typed", "logged"),
    [
        ([TypeText(text="Grüße")], "Grüße"),
        ([Press(keys=("End",)), TypeText(text=" L")], "Ada L"),
        ([Press(keys=("ctrl", "a")), Press(keys=("BackSpace",)), TypeText(text="x")], "x"),
        ([TypeText(text="Bo"), Press(keys=("b",)), Press(keys=("space",)), Press(keys=("BackSpace",))], "Bob"),
        ([TypeText(text="Bob"), Press(keys=("ctrl", "a")), TypeText(text="Eve")], "Eve"),
        ([Press(keys=("Delete",))], ""),
    ],
)
def test_the_field_of_a_prompt_is_typed_into(
    env: BrowserEnv, site: Site, typed: list[TypeText | Press], logged: str
) -> None:
    frame = opened(env, site, "prompt")
    edited = env.step(*typed)
    assert edited.error is None and edited.info["dialog"]["text"] == logged and f"holds: {logged!r}" in edited.text
    assert edited.frame.settled and not edited.frame.same_pixels(frame)
    env.step(button(env, True))
    assert log(env) == [f"prompted {logged}".rstrip() if logged else "prompted "]


def test_the_field_of_a_prompt_is_clicked_and_a_new_line_answers(env: BrowserEnv, site: Site) -> None:
    opened(env, site, "prompt")
    assert env.step(field(env), TypeText(text=" L\n")).info["dialog"] is None
    assert log(env) == ["prompted Ada L"]
    opened(env, site, "prompt")
    env.step(field(env), field(env, count=2), TypeText(text="Bob"), Press(keys=("Return",)))
    assert log(env) == ["prompted Bob"]
    opened(env, site, "prompt")
    two = env.step(TypeText(text="a\nb"))
    assert two.error is not None and "a line of text" in two.error and two.info["dialog"]["text"] == "Ada"


@pytest.mark.parametrize("said", [LONG, "W" * 3000, "one\n\nthree\ttabbed", "Grüße aus Köln – 日本語", "", "\x00\x07"])
@pytest.mark.parametrize("size", [SIZE, (64, 64), (160, 210), (320, 90)])
def test_whatever_it_says_its_buttons_are_on_the_screen(said: str, size: Size) -> None:
    frame = Frame.from_image(Image.new("RGB", size, "green"))
    for kind in ("alert", "confirm", "prompt", "beforeunload"):
        dialog = Dialog(kind, said, said, said)
        for left, top, right, bottom in lay_out(dialog, size).buttons.values():
            assert 0 <= left < right < size[0] and 0 <= top < bottom < size[1]
        shown = drawn(frame, dialog)
        assert shown.size == size and not shown.same_pixels(frame) and shown.same_pixels(drawn(frame, dialog))


def test_an_alert_can_only_be_accepted() -> None:
    assert set(lay_out(Dialog("alert", "Hello"), SIZE).buttons) == {True}


def test_what_a_page_says_is_drawn_and_two_messages_differ(env: BrowserEnv, site: Site) -> None:
    assert not opened(env, site, "confirm", "Delete 3 links?").same_pixels(opened(env, site, "confirm", "Delete 4?"))


class _OnPages(Session):
    """A harness's session on real pages."""

    def __init__(self, env: BrowserEnv, task: Task, base_url: str) -> None:
        super().__init__(base_url, show=lambda number: env.reset(task))
        self._env = env

    def step(self, *actions: Action) -> Observation:
        self.steps.append(actions)
        if actions[-1].is_end:
            raise EpisodeOver
        self.observation = self._env.step(*actions)
        return self.observation


def test_a_harness_that_is_told_nothing_but_the_frame_sees_a_confirm_and_clicks_ok(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("dialogs.html"))
    point = at(env, "#confirm")
    ok = lay_out(Dialog("confirm", "Sure?"), SIZE).buttons[True]
    click_ok = Click(x=(ok[0] + ok[2]) // 2, y=(ok[1] + ok[3]) // 2)
    replies = [says(Kimi().render(actions, SIZE)) for actions in ([Click(**point)], [click_ok], [Done()])]
    with Endpoint(*replies).serve() as endpoint, pytest.raises(EpisodeOver):
        session = _OnPages(env, site.task("dialogs.html"), endpoint.url)
        KimiHarness().run(TASK, session)
    assert log(env) == ["confirmed true"] and session.observation.info["dialog"] is None
    asked = [request["messages"][-1]["content"] for request in endpoint.requests]
    assert "Sure?" not in json.dumps([part for parts in asked for part in parts if part["type"] == "text"])
    images = [part["image_url"]["url"].partition(",")[2] for parts in asked for part in parts if "image_url" in part]
    before, dialog, after = (Frame.from_encoded(base64.b64decode(image)) for image in images)
    inside = slice(ok[1] + 5, ok[3] - 5), slice(ok[0] + 5, ok[0] + 15)
    assert (dialog.pixels[inside] == (0x19, 0x67, 0xD2)).all()  # the button
    assert (before.pixels[inside] == 255).all() and (after.pixels[inside] == 255).all()
