"""Rendering: later prompts go on from former ones, text stays text, images fit their placeholders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guiforge.wire import text_part
from tests.vlm.pictures import Album, picture
from vlm import tiny
from vlm.images import BadImage, Images, read_data_url, read_image
from vlm.loading import ImageTextProcessor, Model
from vlm.render import BadMessages, Renderer, UnfitTemplate

ALBUM = Album()
HASHES = [ALBUM.add(picture(seed, size)) for seed, size in enumerate([(160, 210), (64, 64), (320, 100)])]
TOOLS = [{"type": "function", "function": {"name": "click", "parameters": {}}}]


def showing(hash: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"image:{hash}"}}


nasty = st.sampled_from([*tiny.SPECIAL, *tiny.PHRASES, "\n", " ", "\ue000", "<think>x</think>", "é🎉", "click"])
words = st.lists(nasty | st.text(max_size=8), max_size=4).map("".join)
shown = st.sampled_from(HASHES).map(showing)
contents = words | st.lists(words.map(text_part) | shown, max_size=4)
messages = st.builds(
    lambda role, content: {"role": role, "content": content}, st.sampled_from(["system", "user", "tool"]), contents
)


def texts(message: dict[str, Any]) -> list[str]:
    content = message["content"]
    return [content] if isinstance(content, str) else [part["text"] for part in content if "text" in part]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_each_turns_prompt_goes_on_from_the_former_prompt_and_reply(model: Model, data: st.DataObject) -> None:
    renderer, tokenizer = Renderer(model.processor), model.processor.tokenizer
    allowed = sorted(set(range(len(tokenizer))) - set(model.barred) - model.ends)
    history, former, images = list[Any](), list[int](), tuple[str, ...]()
    tools = data.draw(st.sampled_from([None, TOOLS]))
    for turn in range(data.draw(st.integers(1, 4))):
        history += data.draw(st.lists(messages, min_size=1, max_size=2))
        rendered = renderer.render(history, ALBUM.fetch, tools)
        assert rendered.ids[: len(former)] == former and rendered.images[: len(images)] == images
        assert len(rendered.replies) == rendered.recalled == turn
        assert renderer.inputs(rendered.ids, rendered.images, ALBUM.fetch)["input_ids"].shape == (1, len(rendered.ids))
        sampled = data.draw(st.lists(st.sampled_from(allowed), max_size=6))
        sampled += data.draw(st.sampled_from([[], [tokenizer.eos_token_id]]))
        reply = {"role": "assistant", "content": tokenizer.decode(sampled, skip_special_tokens=True)}
        renderer.remember(history, reply, sampled, tools)
        history = [*history, reply]
        former, images = rendered.ids + sampled, rendered.images


@settings(max_examples=60, deadline=None)
@given(st.lists(messages, min_size=1, max_size=4))
def test_no_text_of_a_message_becomes_a_control_token(model: Model, conversation: list[dict[str, Any]]) -> None:
    rendered = Renderer(model.processor).render(conversation, ALBUM.fetch)
    tokenizer = model.processor.tokenizer
    starts = rendered.ids.count(tokenizer.convert_tokens_to_ids("<|im_start|>"))
    ends = rendered.ids.count(tokenizer.eos_token_id)
    assert (starts, ends) == (len(conversation) + 1, len(conversation))
    text = tokenizer.decode([id for id in rendered.ids if id != model.processor.image_token_id])
    assert all(part in text for message in conversation for part in texts(message))


def test_it_renders_what_the_processor_itself_would(model: Model) -> None:
    conversation: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [{"type": "image_url", "image_url": {"url": f"image:{HASHES[0]}"}}, text_part("a")],
        },
        {"role": "assistant", "content": "click(3.1)"},
        {
            "role": "tool",
            "content": [text_part("b"), {"type": "image_url", "image_url": {"url": f"image:{HASHES[2]}"}}],
        },
    ]
    renderer = Renderer(model.processor)
    rendered = renderer.render(conversation, ALBUM.fetch)
    mine = renderer.inputs(rendered.ids, rendered.images, ALBUM.fetch)
    images = [read_image(ALBUM.images[hash]) for hash in (HASHES[0], HASHES[2])]
    as_theirs = [
        {**message, "content": [{"type": "image"} if part["type"] != "text" else part for part in message["content"]]}
        if isinstance(message["content"], list) else message
        for message in conversation
    ]  # fmt: skip
    text = model.processor.apply_chat_template(as_theirs, add_generation_prompt=True)
    theirs = model.processor(text=[text], images=images, return_tensors="np")
    for name in ("input_ids", "mm_token_type_ids", "pixel_values", "image_grid_thw"):
        assert np.array_equal(mine[name], theirs[name]), name
    start, end = rendered.replies[0]
    assert model.processor.tokenizer.decode(rendered.ids[start:end]) == "click(3.1)<|im_end|>"


def test_a_reply_whose_text_was_changed_is_encoded_anew(model: Model) -> None:
    renderer = Renderer(model.processor)
    asked = [{"role": "user", "content": "go"}]
    spelled = [model.processor.tokenizer.convert_tokens_to_ids(letter) for letter in "click"]  # not as it is encoded
    renderer.remember(asked, {"role": "assistant", "content": "click"}, spelled)
    known, changed = (
        renderer.render([*asked, {"role": "assistant", "content": text}], ALBUM.fetch) for text in ("click", "click ")
    )
    assert (known.recalled, changed.recalled) == (1, 0)
    assert known.ids[slice(*known.replies[0])] == [*spelled, model.processor.tokenizer.eos_token_id]


def test_conversations_that_read_the_same_are_told_apart_by_their_salt(model: Model) -> None:
    renderer, asked = Renderer(model.processor), [{"role": "user", "content": "go"}]
    reply = {"role": "assistant", "content": "click"}
    ways = {"a": [model.processor.tokenizer.convert_tokens_to_ids(letter) for letter in "click"], "b": None}
    ways["b"] = model.processor.tokenizer.encode("click")
    for salt, ids in ways.items():
        renderer.remember(asked, reply, ids or [], salt=salt)
    for salt, ids in ways.items():
        rendered = renderer.render([*asked, reply], ALBUM.fetch, salt=salt)
        assert rendered.ids[slice(*rendered.replies[0])][:-1] == ids


def test_tool_calls_come_back_as_they_were_sampled_whatever_their_ids_and_spacing(model: Model) -> None:
    renderer, tokenizer = Renderer(model.processor), model.processor.tokenizer
    asked = [{"role": "user", "content": "go"}]
    sampled = tokenizer.encode('ok<tool_call>\n{"name":"click","arguments":{"x": 1,"y":2}}\n</tool_call><|im_end|>')

    def calling(id: str, arguments: Any) -> dict[str, Any]:
        call = {"id": id, "type": "function", "function": {"name": "click", "arguments": arguments}}
        return {"role": "assistant", "content": "ok", "tool_calls": [call]}

    rendered = renderer.render([*asked, calling("1", '{"x": 1, "y": 2}')], ALBUM.fetch, TOOLS)
    assert rendered.recalled == 0
    assert tokenizer.decode(rendered.ids[slice(*rendered.replies[0])]) == (
        'ok<tool_call>\n{"name": "click", "arguments": {"x": 1, "y": 2}}\n</tool_call><|im_end|>'
    )
    renderer.remember(asked, calling("1", '{"x": 1,"y":2}'), sampled, TOOLS)
    rendered = renderer.render([*asked, calling("2", {"y": 2, "x": 1})], ALBUM.fetch, TOOLS)
    assert rendered.recalled == 1 and rendered.ids[slice(*rendered.replies[0])] == sampled


def test_a_sampled_placeholder_is_refused(model: Model) -> None:
    with pytest.raises(ValueError, match="placeholder"):
        Renderer(model.processor).remember([], {"role": "assistant"}, [model.processor.image_token_id])


def test_an_image_is_processed_once_however_often_it_is_shown(model: Model) -> None:
    album = Album()
    hash = album.add(picture(7))
    renderer = Renderer(model.processor)
    show = {"role": "user", "content": [showing(hash)] * 3}
    for _ in range(2):
        rendered = renderer.render([show, show], album.fetch)
        renderer.inputs(rendered.ids, rendered.images, album.fetch)
    assert len(rendered.images) == 6 and len(album.asked) == 1


@given(st.tuples(st.integers(1, 600), st.integers(1, 600)))
@settings(max_examples=40, deadline=None)
def test_the_tokens_of_a_size_are_those_of_its_image(model: Model, size: tuple[int, int]) -> None:
    images, album = Images(model.processor), Album()
    if max(size) / min(size) > 200:
        with pytest.raises(BadImage):
            images.tokens_of(size)
    else:
        pixels = images.get(album.add(picture(0, size)), album.fetch)
        assert pixels.tokens == images.tokens_of(size) == len(pixels.patches) <= 256


def test_placeholders_that_do_not_fit_their_images_are_refused(model: Model) -> None:
    renderer = Renderer(model.processor)
    show = {"role": "user", "content": [showing(HASHES[0])]}
    rendered = renderer.render([show], ALBUM.fetch)
    token = model.processor.image_token_id
    for ids, images in [
        ([*rendered.ids, token], rendered.images),
        ([id for id in rendered.ids if id != token], rendered.images),
        (rendered.ids, (HASHES[1],)),
        (rendered.ids, ()),
    ]:
        with pytest.raises(BadMessages, match="do not fit"):
            renderer.inputs(ids, images, ALBUM.fetch)


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("{% for m in messages %}{{ m.content if m.content is string else '' }}{% endfor %}", "shows 0 of 1 images"),
        ("{% for m in messages %}{{ m.content if m.role != 'assistant' else '' }}{% endfor %}", "drops"),
        ("{{ messages[9].content }}", "refuses"),
    ],
)
def test_a_template_that_drops_what_it_is_given_is_said(model: Model, template: str, problem: str) -> None:
    processor = ImageTextProcessor(model.processor.image_processor, model.processor.tokenizer, chat_template=template)
    show = {"role": "user", "content": [showing(HASHES[0])]}
    with pytest.raises((UnfitTemplate, BadMessages), match=problem):
        Renderer(processor).render([show, {"role": "assistant", "content": "a"}], ALBUM.fetch)


@pytest.mark.parametrize("part", [{"type": "video_url"}, {"type": "image_url", "image_url": {"url": "http://x/"}}, {}])
def test_a_part_that_can_not_be_shown_is_said(model: Model, part: dict[str, Any]) -> None:
    with pytest.raises(BadMessages, match="can't be shown"):
        Renderer(model.processor).render([{"role": "user", "content": [part]}], ALBUM.fetch)


@pytest.mark.parametrize("data", [b"", b"no image", picture()[:-200], picture(format="GIF")])
def test_a_broken_or_unknown_image_is_said(data: bytes) -> None:
    with pytest.raises(BadImage, match="can't be read"):
        read_image(data)


@pytest.mark.parametrize("url", ["http://x/a.png", "data:image/png;base64,!!", "data:text/plain;base64,AA==", ""])
def test_what_is_no_data_url_of_an_image_is_said(url: str) -> None:
    with pytest.raises(BadImage):
        read_data_url(url)
