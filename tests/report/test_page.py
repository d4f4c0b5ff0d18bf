"""The pages of a run, opened from disk in a real Chromium."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from playwright.sync_api import Browser, Page, sync_playwright

from guiforge.action import Click, Done, Drag, TypeText
from guiforge.env import state_of_files
from guiforge.outcome import Outcome, Status
from guiforge.report import write_page
from guiforge.store import Store
from guiforge.task import Task
from guiforge.trace import Call, EpisodeKey, Step

EVIL = (
    "</pre></script><script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">"
    "<a href=\"javascript:document.title='ran'\">x</a>{{ 7 * 7 }}{% raw %} \ud800 漢字"
)
OURS = EVIL.replace(" \ud800", "")  # a task is made by code, and is valid text
SHOWN = EVIL.replace("\ud800", "\\ud800")
SIZE = (1600, 900)


def png(colour: str) -> bytes:
    """A screen of one colour with a cross on it."""
    image = Image.new("RGB", SIZE, colour)
    ImageDraw.Draw(image).line((0, 0, *SIZE), fill="black", width=3)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def key(seed: int) -> EpisodeKey:
    return EpisodeKey(task=f"suite/{OURS}", seed=seed, attempt=0, harness="kimi", policy="oracle")


def record(store: Store, seed: int, application: str, outcome: Outcome | None) -> None:
    """An episode of two steps whose every text is hostile."""
    store.begin(key(seed), Task(suite="suite", id=OURS, seed=seed, instruction=OURS, tags=(application,)))
    frames = [store.image(png(colour), "image/png") for colour in ("white", "lightblue")]
    request = {"model": EVIL, "messages": [{"role": "user", "content": [{"type": "text", "text": EVIL}]}]}
    for i, actions in enumerate(
        [(Click(x=400, y=225), TypeText(text=EVIL)), (Drag(path=((0, 0), (800, 450))), Done())]
    ):
        call = Call(
            index=i, step=i, request=request, message={"role": EVIL, "content": EVIL}, error=EVIL, unread=EVIL,
            usage={EVIL: 3}, queued=0, last_byte=1,
        )  # fmt: skip
        store.call(key(seed), call)
        step = Step(index=i, frame=frames[i], cursor=(9, 9), text=EVIL, actions=actions, error=EVIL, started=0)
        store.step(key(seed), step)
    if outcome is not None:
        snapshot, blobs = state_of_files({f"~/{EVIL}": b"new"})
        store.state(key(seed), snapshot.model_copy(update={"before": {}}), blobs)
        store.finish(key(seed), outcome, frames[1], {"reset": 0.5, EVIL: 1.0, "env.settle": 0.2})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four episodes, one unfinished, with its pages."""
    path = tmp_path_factory.mktemp("pages") / "run"
    with Store(path, parameters={"suite": OURS, "seeds": [0, 1]}) as store:
        record(store, 0, "calc", Outcome(status=Status.SOLVED, reward=1, components={EVIL: 1.0, "half": 0.5}))
        record(store, 1, "gimp", Outcome(status=Status.FAILED, reward=0.25, reasons=(EVIL,)))
        record(store, 2, "gimp", Outcome.fault(Status.ENV_ERROR, EVIL))
        record(store, 3, OURS, None)
        assert write_page(path) == path / "report" / "index.html"
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium-headless-shell", args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A tab that fails the test when a page asks for anything but itself, or has an error."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    asked: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    assert all(url.startswith("data:image/webp") or url.endswith(".html") for url in asked), asked
    assert not errors
    page.close()


def episode_page(run: Path, seed: int) -> str:
    return (run / "report" / f"{key(seed).id}.html").as_uri()


def test_what_a_model_wrote_is_shown_and_never_runs(run: Path, page: Page) -> None:
    for url in [(run / "report" / "index.html").as_uri(), *(episode_page(run, seed) for seed in range(4))]:
        page.goto(url)
        assert page.title() != "ran" and page.title().endswith("guiforge")
        assert page.locator("img[src=x], a[href^=javascript]").count() == 0
        assert page.locator("script").count() == (1 if "index" in url else 0)
    page.goto(episode_page(run, 1))
    assert page.locator(".call pre").first.inner_text() == SHOWN
    assert page.locator(".error").first.inner_text() == SHOWN
    assert page.locator("h1").inner_text() == OURS
    assert SHOWN in page.locator(".reasons").inner_text()
    assert page.locator(".chip q").first.inner_text().strip('“”"') == SHOWN


def test_a_script_that_slipped_through_would_be_refused(run: Path, page: Page) -> None:
    page.goto((run / "report" / "index.html").as_uri())
    page.evaluate(
        "document.body.append(document.createRange().createContextualFragment('<script>document.title=1</script>'))"
    )
    assert page.title() != "1"


def test_actions_are_drawn_where_they_happened(run: Path, page: Page) -> None:
    page.goto(episode_page(run, 0))
    screen = page.locator(".screen").first
    image, ring = screen.locator("img").bounding_box(), screen.locator("circle.ink").bounding_box()
    assert image is not None and ring is not None
    assert (ring["x"] + ring["width"] / 2 - image["x"]) / image["width"] == pytest.approx(400 / 1600, abs=0.003)
    assert (ring["y"] + ring["height"] / 2 - image["y"]) / image["height"] == pytest.approx(225 / 900, abs=0.003)
    drag = page.locator(".screen").nth(1).locator("path.ink")
    assert drag.get_attribute("d") == "M 0 0 800 450"
    assert [t.strip() for t in page.locator("figcaption").nth(1).locator(".chip").all_inner_texts()] == [
        "1drag",
        "2done",
    ]


def test_screens_are_embedded_and_lead_to_the_full_ones(run: Path, page: Page) -> None:
    page.goto(episode_page(run, 0))
    images = page.locator(".screen img")
    assert images.count() == 3  # two steps and the last screen
    for i in range(3):
        images.nth(i).scroll_into_view_if_needed()
        images.nth(i).evaluate("image => image.decode()")
        assert images.nth(i).evaluate("image => image.naturalWidth") == 960
    link = page.locator(".screen a").first.evaluate("a => a.href")
    assert Path(link.removeprefix("file://")).read_bytes() == png("white")


def test_the_list_filters_and_sorts(run: Path, page: Page) -> None:
    page.goto((run / "report" / "index.html").as_uri())
    rows = page.locator("#episodes tbody tr:visible")
    assert rows.count() == 4 and page.locator("#shown").inner_text() == "4 of 4"
    page.select_option("#application", "gimp")
    assert rows.count() == 2
    page.select_option("#status", "env_error")
    assert rows.count() == 1 and page.locator("#shown").inner_text() == "1 of 4"
    page.select_option("#application", "")
    page.select_option("#status", "")
    page.fill("#text", "FAILED")
    assert rows.count() == 1
    page.fill("#text", "")
    for _ in range(2):
        page.get_by_role("button", name="reward").click()
    assert page.locator("#episodes tbody tr td:nth-child(2)").all_inner_texts() == ["1", "0.25", "–", "–"]
    page.locator("#episodes a").first.click()
    assert page.locator(".verdict .big").inner_text() == "solved"


def test_success_is_shown_with_its_interval(run: Path, page: Page) -> None:
    page.goto((run / "report" / "index.html").as_uri())
    assert page.locator(".cards .big").first.inner_text() == "50.0%"
    assert "1 of 2 graded; 95% interval 9.5 to 90.5%" in page.locator(".cards").inner_text()


def test_an_unfinished_episode_and_a_damaged_screen_have_their_page(run: Path, page: Page, tmp_path: Path) -> None:
    page.goto(episode_page(run, 3))
    assert page.locator(".verdict .big").inner_text() == "unfinished"
    with Store(tmp_path / "run") as store:
        record(store, 0, "calc", None)
        store.image_path(store.steps(key(0))[0].frame).write_bytes(b"half a png")
        write_page(tmp_path / "run")
    page.goto(episode_page(tmp_path / "run", 0))
    assert "damaged" in page.locator(".problem").inner_text()
    assert page.locator(".screen img").count() == 1


def test_a_run_without_episodes_has_a_page(tmp_path: Path, page: Page) -> None:
    Store(tmp_path / "run").close()
    page.goto(write_page(tmp_path / "run").as_uri())
    assert "no episode was graded" in page.locator(".cards").inner_text()
