"""What a person sees of recorded calls, in the terminal and on the page: recorded by a real proxy, in all protocols."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import sync_playwright

from guiforge.frame import content_hash
from guiforge.outcome import Outcome, Status
from guiforge.report import write_page
from guiforge.report.calls import branches, tokenizer, trees_of, views
from guiforge.store import RunReader
from tests.commands import guiforge
from tests.proxy.world import KEY, chunk, data_url, event, png, streamed, upstream, whole, with_tokens, world
from vlm import tiny

PICTURE = png(3, (64, 48))
EVIL = "</pre><script>document.title='ran'</script>[red]x[/red]"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Calls 0 and 1 of one branch, 2 and 3 of others, 4 cut."""
    where = tmp_path_factory.mktemp("calls") / "run"
    with upstream() as up:
        up.models = {"data": [{"id": "m", "owned_by": "vllm"}]}
        with world(where, up.url) as w:
            shown: dict[str, Any] = {"type": "image_url", "image_url": {"url": data_url(PICTURE)}}
            first = {"role": "user", "content": [{"type": "text", "text": f"look {EVIL}"}, shown]}
            up.script = whole(with_tokens([1, 2, 9, 9, 9, 3], [4, 5], "I see it"))
            w.ask({"model": "m", "messages": [first]})
            up.script = whole(with_tokens([1, 2, 9, 9, 9, 3, 4, 5, 6], [7, 8], "and now?"))
            said = {"role": "assistant", "content": "I see it"}
            w.ask({"model": "m", "messages": [first, said, {"role": "user", "content": "go on"}]})
            up.script = whole(with_tokens([1, 6], [7], EVIL))
            image = {"type": "input_image", "image_url": data_url(PICTURE)}
            parts = [{"type": "input_text", "text": "by responses"}, image]
            body: dict[str, Any] = {"model": "m", "input": [{"role": "user", "content": parts}]}
            assert w.client.post(f"{w.url}/responses", json=body, headers=w.headers()).status_code == 200
            body = {"model": "m", "max_tokens": 5, "system": "by messages"}
            body["messages"] = [{"role": "user", "content": "hi"}]
            assert w.client.post(f"{w.url}/messages", json=body, headers=w.headers()).status_code == 200
            held = threading.Event()
            up.script = streamed(event(chunk("half a")), held)
            with w.stream() as reply:
                next(reply.iter_raw())
            held.set()
            w.running.seal(KEY)
            w.store.finish(KEY, Outcome(status=Status.FAILED, reward=0.0), None, {})
    return where


@pytest.fixture
def reader(run: Path) -> Iterator[RunReader]:
    with RunReader(run) as found:
        yield found


def test_tokens_are_told_apart_by_what_is_trained(reader: RunReader) -> None:
    calls = reader.calls(KEY)
    trees = trees_of(calls)
    shown = views(calls, trees)
    assert [(run.mask, run.count, run.text) for run in shown[1].runs] == [
        ("prompt", 6, "1 2 9×3 3"), ("before", 2, "4 5"), ("prompt", 1, "6"), ("sampled", 2, ""),
    ]  # fmt: skip
    assert [(t.id, t.logprob, t.text) for t in shown[0].runs[-1].tokens] == [(4, -0.625, None), (5, -0.75, None)]
    assert shown[1].began == "goes on from call 0" and shown[1].fresh == 2 and len(shown[1].messages) == 3
    assert shown[2].messages[0].images == (content_hash(PICTURE),) and shown[3].messages[0].text == "by messages"
    assert shown[4].call.cut and shown[4].said is not None and shown[4].said.text == "half a"
    assert next(branch.calls for branch in branches(trees)) == (0, 1)


def test_a_tokenizer_says_what_the_tokens_are(reader: RunReader, tmp_path: Path) -> None:
    tiny.make(tmp_path / "tiny")
    decode = tokenizer(tmp_path / "tiny")
    calls = reader.calls(KEY)
    sampled = views(calls, trees_of(calls), decode)[0].runs[-1].tokens
    assert [token.text for token in sampled] == [decode([4]), decode([5])] and all(token.text for token in sampled)


def test_the_terminal_shows_calls_and_says_what_there_is(run: Path, tmp_path: Path) -> None:
    listed = guiforge(tmp_path, "calls", str(run)).stdout
    assert KEY.id in listed and "chat, messages, responses" in listed
    shown = guiforge(tmp_path, "calls", str(run), KEY.id[:6], "--logprobs")
    assert shown.returncode == 0, shown.stderr
    for part in ("0 → 1", "goes on from call 0", f"[image {content_hash(PICTURE)[:8]} 64x48]", EVIL, "half a", "cut",
                 "{-0.62}", "by messages"):  # fmt: skip
        assert part in shown.stdout, part
    one = guiforge(tmp_path, "calls", str(run), KEY.id, "--call", "2", "--no-tokens").stdout
    assert "by responses" in one and "by messages" not in one
    for asked, said in (
        (("nobody",), f"the run has no such episode; it has 1, such as {KEY.id}"),
        ((KEY.id, "--call", "9"), "the episode has 5 calls, from 0"),
        ((KEY.id, "--model", str(tmp_path)), "has no tokenizer.json"),
    ):
        wrong = guiforge(tmp_path, "calls", str(run), *asked)
        assert wrong.returncode == 2 and said in wrong.stderr


def test_the_page_shows_messages_images_tokens_and_branches(run: Path) -> None:
    page_file = write_page(run).with_name(f"{KEY.id}.html")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium-headless-shell", args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(page_file.as_uri())
        assert page.locator("svg.branches circle").count() == 4  # what was cut is in no branch
        assert (
            page.title() != "ran"
            and EVIL in page.locator("#call-0").inner_text() + page.locator("#call-2").inner_text()
        )
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        images = page.locator(f"#image-{content_hash(PICTURE)} img")
        assert images.count() == 1 and images.evaluate("image => image.complete && image.naturalWidth") == 64
        assert page.locator("#call-2 a.chip").inner_text().endswith("shown before")
        tokens = page.locator("#call-1 .tokens .t")
        assert tokens.all_inner_texts() == ["7 ", "8 "]
        assert tokens.first.get_attribute("title") == "token 7, log-probability -1.0000"
        assert page.locator("#call-1 .tokens .before").inner_text() == "4 5"
        assert "cut" in page.locator("#call-4 > .label").inner_text()
        browser.close()
