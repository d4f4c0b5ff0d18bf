"""Calls form a tree by token prefix, whatever the order of their arrival, and each branch has its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guiforge.samples import Reason, Tree, message_tree, token_tree
from guiforge.samples.conversation import asked
from guiforge.samples.sample import EpisodeSamples
from guiforge.trace import Call
from tests.samples.toy import Episode, ToyImages, said, size_of, user

SYSTEM = {"role": "system", "content": "be good"}


def reasons(tree: Tree) -> dict[int, Reason | None]:
    return {index: link.reason for index, link in tree.links.items() if link.kind in ("branched", "realigned")}


def kinds(tree: Tree) -> list[str]:
    return [link.kind for link in tree.links.values()]


def played(turns: int, episode: Episode, thinking: str = "") -> list[dict[str, Any]]:
    """A conversation of some turns, recorded; the history with its last reply."""
    history: list[dict[str, Any]] = [SYSTEM]
    for turn in range(turns):
        history.append(user(f"screen {turn}", f"20x20-{turn}"))
        call = episode.ask(history, f"click {turn}", thinking)
        history.append(dict(call.message or {}))
    return history


def test_a_conversation_that_only_grows_is_one_branch() -> None:
    episode = Episode()
    played(4, episode)
    tree = token_tree(episode.calls)
    assert kinds(tree) == ["first", "extended", "extended", "extended"]
    (branch,) = tree.branches
    assert [call.index for call in branch.path] == [0, 1, 2, 3] and branch.shared == 0


def test_a_reply_in_other_tokens_than_were_sampled_is_realigned_as_retokenised() -> None:
    episode = Episode(exact=False)
    history = [SYSTEM, user("go")]
    episode.ask(history, "grab it")  # sampled letter by letter; the tokenizer writes `ab` as one token
    episode.ask([*history, said("grab it"), user("next")], "ok")
    tree = token_tree(episode.calls)
    assert kinds(tree) == ["first", "realigned"] and reasons(tree) == {1: Reason.RETOKENISED}
    assert episode.samples().fidelity.retokenised == 1


def test_a_template_that_writes_the_prompt_otherwise_is_realigned_as_rerendered() -> None:
    episode = Episode()
    first = episode.ask([user("go")], "ok")
    assert first.tokens is not None
    other = [99, *first.tokens.prompt_ids[1:], *first.tokens.sampled_ids, 7, 8]
    episode.ask([user("go"), said("ok"), user("next")], "ok", prompt=other)
    assert reasons(token_tree(episode.calls)) == {1: Reason.RERENDERED}


def test_thinking_that_the_template_strips_is_told_from_retokenising() -> None:
    episode = Episode(exact=False)
    first = episode.ask([user("go")], "cde", "hmm")
    assert first.tokens is not None
    without = [*first.tokens.prompt_ids, *first.tokens.sampled_ids[3:], 7, 8]
    history = [user("go"), said("cde", "hmm"), user("next")]
    episode.ask(history, "ok", prompt=without)
    assert reasons(token_tree(episode.calls)) == {1: Reason.THINKING_STRIPPED}


def without_images(message: dict[str, Any], instead: str = "") -> dict[str, Any]:
    texts = [part for part in message["content"] if part["type"] == "text"]
    return {**message, "content": [*([{"type": "text", "text": instead}] if instead else []), *texts]}


def swapped(message: dict[str, Any], turn: int) -> dict[str, Any]:
    """A user's message with other images of the same sizes."""
    hashes = [p["image_url"]["url"].removeprefix("image:") for p in message["content"] if p["type"] == "image_url"]
    return user(message["content"][-1]["text"], *(f"{hash.partition('-')[0]}-new{turn}" for hash in hashes))


def changed_by(reason: Reason, history: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A history [system, user, assistant, ...] changed as a harness might, and fields of the request with it."""
    if reason is Reason.IMAGES_DROPPED:
        return [history[0], without_images(history[1]), *history[2:]], {}
    if reason is Reason.THINKING_STRIPPED:
        return [{k: v for k, v in message.items() if k != "reasoning_content"} for message in history], {}
    if reason is Reason.HISTORY_TRUNCATED:
        return [history[0], *history[3:]], {}
    if reason is Reason.TEXT_REWRITTEN:
        return [*history[:2], said("I clicked"), *history[3:]], {}
    if reason is Reason.OTHER_SYSTEM:
        return [{"role": "system", "content": "be bad"}, *history[1:]], {}
    if reason is Reason.WRITTEN_ANEW:
        return [SYSTEM], {}
    assert reason is Reason.OTHER_TOOLS
    return history, {"tools": [{"type": "function", "function": {"name": "wait", "parameters": {}}}]}


@pytest.mark.parametrize(
    "reason",
    [
        Reason.IMAGES_DROPPED, Reason.THINKING_STRIPPED, Reason.HISTORY_TRUNCATED, Reason.TEXT_REWRITTEN,
        Reason.OTHER_SYSTEM, Reason.OTHER_TOOLS, Reason.WRITTEN_ANEW,
    ],
)  # fmt: skip
def test_what_a_harness_changes_in_its_history_is_the_reason_of_the_branch(reason: Reason) -> None:
    episode = Episode()
    history, fields = changed_by(reason, played(2, episode, thinking="hmm"))
    messages = [*history, user("screen 2", "20x20-2")]
    # other tools are other tokens at the start of a prompt
    prompt = [50, *episode.prompt_of(messages)] if fields else None
    episode.ask(messages, "ok", prompt=prompt, request={"messages": messages, **fields})
    tree = token_tree(episode.calls)
    assert kinds(tree) == ["first", "extended", "branched"]
    assert reasons(tree) == {2: reason}


def test_images_replaced_by_a_text_are_images_dropped() -> None:
    episode = Episode()
    history = played(2, episode)
    history[1] = without_images(history[1], "[image removed]")
    episode.ask([*history, user("more")], "ok")
    assert reasons(token_tree(episode.calls)) == {2: Reason.IMAGES_DROPPED}


def test_another_image_of_the_same_size_is_another_prompt_though_its_placeholders_are_alike() -> None:
    episode = Episode()
    history = played(2, episode)
    history[1] = user("screen 0", "20x20-now")
    episode.ask(history, "ok", prompt=episode.prompt_of(played(2, Episode()))[:-1])
    first = episode.calls[1].tokens
    last = episode.calls[2].tokens
    assert first and last and last.prompt_ids[: len(first.prompt_ids)] == first.prompt_ids
    tree = token_tree(episode.calls)
    assert kinds(tree) == ["first", "extended", "branched"] and reasons(tree) == {2: Reason.IMAGES_REPLACED}


def test_a_prompt_sent_anew_and_a_fork_are_told_apart() -> None:
    episode = Episode()
    history = played(2, episode)
    episode.ask(history[:-1], "again")
    episode.ask([*history[:3], user("another way")], "ok")
    tree = token_tree(episode.calls)
    assert reasons(tree) == {2: Reason.ASKED_AGAIN, 3: Reason.FORKED}
    assert [([call.index for call in b.path], b.shared) for b in tree.branches] == [
        ([0, 1], 0),
        ([0, 2], 1),
        ([0, 3], 1),
    ]


def test_the_three_wires_that_say_the_same_make_one_text_branch() -> None:
    image = "image:20x20-0"
    shown = [{"type": "input_image", "image_url": image}, {"type": "input_text", "text": "go"}]
    used = {"type": "tool_use", "id": "t", "name": "click", "input": {"y": 2, "x": 1}}
    tool = {"name": "click", "description": "Click.", "parameters": {"type": "object"}}
    arguments = '{"x": 1, "y": 2}'
    use = {"id": "call_1", "type": "function", "function": {"name": "click", "arguments": arguments}}
    reply = {"role": "assistant", "content": None, "tool_calls": [use]}
    common: dict[str, Any] = {"step": 0, "queued": 0, "last_byte": 1}
    first = Call(
        index=0, wire="chat", message=reply, **common,
        request={"messages": [SYSTEM, user("go", "20x20-0")], "tools": [{"type": "function", "function": tool}]},
    )  # fmt: skip
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": image}}
    second = Call(
        index=1, wire="messages", message=said("one more"), **common,
        request={
            "system": [{"type": "text", "text": "be good"}],
            "tools": [{"name": "click", "description": "Click.", "input_schema": {"type": "object"}}],
            "messages": [
                {"role": "user", "content": [block, {"type": "text", "text": "go"}]},
                {"role": "assistant", "content": [used]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "done"}]},
            ],
        },
    )  # fmt: skip
    third = Call(
        index=2, wire="responses", message=said("bye"), **common,
        request={
            "instructions": "be good",
            "tools": [{"type": "function", **tool}],
            "input": [
                {"role": "user", "content": shown},
                {"type": "function_call", "call_id": "c", "name": "click", "arguments": arguments},
                {"type": "function_call_output", "call_id": "c", "output": "done"},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "one more"}]},
                {"role": "user", "content": "and"},
            ],
        },
    )  # fmt: skip
    tree = message_tree([first, second, third])
    assert kinds(tree) == ["first", "extended", "extended"]


OPERATIONS = (
    "continue",
    "continue",
    "continue",
    "again",
    "fork",
    "drop",
    "swap",
    "truncate",
    "rewrite",
    "twin",
    "silent",
)


@st.composite
def conversations(draw: st.DrawFn) -> Episode:
    """An episode in which a harness does at each call one of the things that harnesses do to their history."""
    episode = Episode(exact=draw(st.booleans()))
    for turn in range(draw(st.integers(1, 12))):
        base = draw(st.sampled_from(episode.calls)) if episode.calls else None
        history = [SYSTEM] if base is None else [*base.request["messages"], base.message or said("")]
        what = draw(st.sampled_from(OPERATIONS)) if base is not None else "continue"
        size = draw(st.sampled_from(("10x10", "20x10", "20x30")))
        images = [f"{size}-{turn}"] if draw(st.booleans()) else []
        reply = draw(st.text("abc", min_size=1, max_size=4))
        if what == "drop":
            history = [without_images(m) if isinstance(m.get("content"), list) else m for m in history]
        elif what == "swap":
            history = [swapped(m, turn) if isinstance(m.get("content"), list) else m for m in history]
        elif what == "truncate":
            history = [history[0], *history[3:]]
        elif what == "rewrite":
            history = [*history[:2], said("c"), *history[3:]]
        if what in ("again", "twin") and base is not None and base.tokens is not None:
            twin = what == "twin"  # a greedy policy asked again says the same
            sampled = list(base.tokens.sampled_ids) if twin else None
            text = str((base.message or {}).get("content")) if twin else reply
            prompt = list(base.tokens.prompt_ids)
            episode.ask(base.request["messages"], text, prompt=prompt, sampled=sampled)
        elif what == "silent":
            episode.ask([*history, user("x", *images)], "", message=None, tokens=None, error="gone")
        else:
            episode.ask([*history, user(draw(st.sampled_from("xyz")), *images)], reply)
    return episode


def shown(call: Call, with_reply: bool) -> tuple[int | str, ...]:
    """A prompt's tokens with each image's placeholders as its hash and its place in it, and those of the reply."""
    assert call.tokens is not None
    sizes = [(hash, ToyImages().tokens_of(size_of(hash))) for hash in asked(call).images]
    placeholders = iter([f"{hash} {at}" for hash, count in sizes for at in range(count)])
    ids = [next(placeholders) if id == ToyImages.token_id else id for id in call.tokens.prompt_ids]
    return (*ids, *(call.tokens.sampled_ids if with_reply else ()))


def by_hand(calls: Sequence[Call]) -> dict[int, tuple[int | str, ...] | None]:
    """What was shown and said up to each call's parent: of all calls that its prompt starts with, the longest."""
    told = [call for call in calls if call.tokens]
    ends, prompts = [shown(c, True) for c in told], [shown(c, False) for c in told]
    return {
        call.index: max((end for end in ends if prompt[: len(end)] == end), key=len, default=None)
        for call, prompt in zip(told, prompts, strict=True)
    }


@settings(max_examples=200, deadline=None)
@given(conversations())
def test_parents_are_the_longest_prefixes_and_each_call_is_one_branchs_own(episode: Episode) -> None:
    tree = token_tree(episode.calls)
    ends = {call.index: shown(call, True) for call in episode.calls if call.tokens}
    found = {index: None if parent is None else ends[parent] for index, parent in tree.parents.items()}
    assert found == by_hand(episode.calls)
    assert sorted(call.index for branch in tree.branches for call in branch.own) == sorted(ends)
    counts = episode.samples().fidelity
    assert counts.calls == counts.silent + counts.first + counts.extended + counts.branched + counts.realigned
    assert counts.branches == counts.samples == counts.first + counts.branched + counts.realigned
    assert sum(counts.reasons.values()) == counts.branched + counts.realigned
    if episode.exact:
        assert counts.retokenised == 0


@settings(max_examples=200, deadline=None)
@given(conversations(), st.data())
def test_the_order_of_arrival_changes_no_branch(episode: Episode, data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(episode.calls))
    renumbered = [call.model_copy(update={"index": at}) for at, call in enumerate(shuffled)]
    before, listed = episode.samples(), Episode(calls=list(shuffled)).samples()
    assert sequences(listed) == sequences(before) and listed.fidelity == before.fidelity
    after = Episode(calls=renumbered).samples()
    assert Counter(ids for ids, _ in sequences(after)) == Counter(ids for ids, _ in sequences(before))
    assert (after.fidelity.extended, after.fidelity.branches) == (before.fidelity.extended, before.fidelity.branches)
    assert after.fidelity.trained_tokens == before.fidelity.trained_tokens == before.fidelity.sampled_tokens


def sequences(made: EpisodeSamples) -> list[tuple[tuple[int, ...], tuple[bool, ...]]]:
    return [(tuple(sample.token_ids.tolist()), tuple(sample.mask.tolist())) for sample in made.samples]


@settings(max_examples=200, deadline=None)
@given(conversations())
def test_each_sampled_token_is_trained_once_after_what_it_was_sampled_after(episode: Episode) -> None:
    made = episode.samples()
    by_index = {call.index: call.tokens for call in episode.calls}
    trained: Counter[tuple[int, int]] = Counter()
    for sample in made.samples:
        covered = 0
        for turn in sample.turns:
            tokens = by_index[turn.call]
            assert tokens is not None and tokens.logprobs is not None
            assert tuple(sample.token_ids[: turn.stop].tolist()) == tokens.prompt_ids + tokens.sampled_ids
            assert turn.start == len(tokens.prompt_ids)
            assert sample.mask[turn.start : turn.stop].tolist() == [turn.trained] * len(tokens.sampled_ids)
            if turn.trained:
                assert tuple(sample.logprobs[turn.start : turn.stop].tolist()) == tokens.logprobs
                trained.update((turn.call, at) for at in range(len(tokens.sampled_ids)))
                covered += len(tokens.sampled_ids)
        assert int(sample.mask.sum()) == covered
        for image in sample.images:
            assert set(sample.token_ids[image.start : image.stop].tolist()) == {ToyImages.token_id}
            assert image.stop - image.start == ToyImages().tokens_of(size_of(image.hash))
        placeholders = int((sample.token_ids == ToyImages.token_id).sum())
        assert placeholders == sum(image.stop - image.start for image in sample.images)
    assert set(trained.values()) <= {1}
    assert len(trained) == sum(len(tokens.sampled_ids) for tokens in by_index.values() if tokens)
    assert made.fidelity.trained_twice == 0 and made.fidelity.image_parity_failures == 0
    assert sum(sample.weight * int(sample.mask.sum()) for sample in made.samples) == pytest.approx(float(bool(trained)))
