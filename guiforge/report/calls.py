"""Calls as a person looks at them: what the model was shown and said, its tokens by what is trained, the branches.

Invariant: tokens are shown as they were recorded; their text, where a tokenizer is at hand, is only beside them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from guiforge.samples import Branch, Link, Message, Reason, Tree, message_tree, token_tree
from guiforge.samples.conversation import answered, asked
from guiforge.trace import Call

Mask = Literal["prompt", "before", "sampled"]
"""Of a token: shown to the model, sampled by an earlier call of the branch, sampled by this one."""
MOST_PROMPT_IDS = 400  # of a run of prompt tokens, that are shown one by one where no tokenizer says what they are


class NoTokenizer(ValueError):
    """A folder holds no tokenizer that can be read; the text says why."""


class Decode(Protocol):
    """The text of token ids."""

    def __call__(self, ids: Sequence[int]) -> str:
        """Control tokens are shown by their names."""
        ...


@dataclass(frozen=True)
class Token:
    """A sampled token. text: None without a tokenizer.  logprob: None where the policy gave none."""

    id: int
    text: str | None
    logprob: float | None

    @property
    def chance(self) -> float:
        """Its probability, 1 where it is not known."""
        return 1.0 if self.logprob is None else math.exp(self.logprob)


@dataclass(frozen=True)
class Run:
    """Tokens in a row of one mask. text: of prompt tokens; of sampled ones each has its own in `tokens`."""

    mask: Mask
    count: int
    text: str
    tokens: tuple[Token, ...] = ()


@dataclass(frozen=True)
class CallView:
    """A call as it is shown. messages: what the model was shown.  fresh: how many of them, from the last, are new.

    said: its message.  link: how it hangs in its tree, None where it is in none.
    """

    call: Call
    messages: tuple[Message, ...]
    fresh: int
    said: Message | None
    link: Link | None
    runs: tuple[Run, ...]

    @property
    def began(self) -> str:
        """Why it begins a branch, or which call it goes on from."""
        link = self.link
        if link is None:
            return "in no branch"
        if link.kind == "extended":
            return f"goes on from call {link.other}"
        if link.reason is None:
            return link.kind
        return f"{link.kind}: {_worded(link.reason)} (call {link.other})"

    @property
    def new_messages(self) -> tuple[Message, ...]:
        """Those that the call before did not hold."""
        return self.messages[len(self.messages) - self.fresh :]


@dataclass(frozen=True)
class BranchView:
    """A branch: its own calls, and the call of another branch that it goes on from, or None."""

    calls: tuple[int, ...]
    parent: int | None
    began: str


def trees_of(calls: Sequence[Call]) -> tuple[Tree, Tree]:
    """The trees that an episode's calls form: of those with tokens, and of the others."""
    return token_tree(calls), message_tree([call for call in calls if call.tokens is None])


def views(calls: Sequence[Call], trees: Sequence[Tree], decode: Decode | None = None) -> list[CallView]:
    """An episode's calls, in their order. trees: theirs."""
    links = {index: link for tree in trees for index, link in tree.links.items()}
    earlier: dict[int, tuple[Call, ...]] = {}  # the calls of its branch before each, by its index
    for branch in (branch for tree in trees for branch in tree.branches):
        for at, call in enumerate(branch.own, branch.shared):
            earlier[call.index] = branch.path[:at]
    found: list[CallView] = []
    before: tuple[Message, ...] = ()
    for call in calls:
        messages = asked(call).messages
        shared = 0
        while shared < min(len(before), len(messages)) and before[shared].digest == messages[shared].digest:
            shared += 1
        before = messages
        runs = tuple(_runs(call, earlier.get(call.index, ()), decode))
        found.append(CallView(call, messages, len(messages) - shared, answered(call), links.get(call.index), runs))
    return found


def branches(trees: Sequence[Tree]) -> list[BranchView]:
    """The branches of an episode's trees."""
    return [_branch(branch, tree) for tree in trees for branch in tree.branches]


def tokenizer(folder: Path) -> Decode:
    """What the tokens of a model's folder say. Raises NoTokenizer."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise NoTokenizer("the text of tokens takes the package tokenizers: pip install 'guiforge[train]'") from None
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise NoTokenizer(f"{folder} has no tokenizer.json")
    try:
        loaded = Tokenizer.from_file(str(path))
    except Exception as error:  # the package raises no type of its own
        raise NoTokenizer(f"{path} can't be read: {error}") from None

    def decode(ids: Sequence[int]) -> str:
        return str(loaded.decode(list(ids), skip_special_tokens=False))

    return decode


def _branch(branch: Branch, tree: Tree) -> BranchView:
    own = tuple(call.index for call in branch.own)
    parent = branch.path[branch.shared - 1].index if branch.shared else None
    link = tree.links[own[0]]
    return BranchView(own, parent, "first" if link.reason is None else _worded(link.reason))


def _worded(reason: Reason) -> str:
    return reason.replace("_", " ")


def _runs(call: Call, ancestors: Sequence[Call], decode: Decode | None) -> Iterator[Run]:
    """The tokens of a call: its prompt, with what earlier calls of the branch sampled, and what it sampled itself."""
    if call.tokens is None:
        return
    prompt, at = call.tokens.prompt_ids, 0
    for earlier in ancestors:
        if earlier.tokens is not None:
            start = len(earlier.tokens.prompt_ids)
            stop = start + len(earlier.tokens.sampled_ids)
            yield from _run("prompt", prompt[at:start], decode)
            yield from _run("before", prompt[start:stop], decode)
            at = stop
    yield from _run("prompt", prompt[at:], decode)
    sampled = call.tokens.sampled_ids
    logprobs: Sequence[float | None] = call.tokens.logprobs or [None] * len(sampled)
    tokens = tuple(Token(id, decode([id]) if decode else None, p) for id, p in zip(sampled, logprobs, strict=True))
    yield Run("sampled", len(tokens), "", tokens)


def _run(mask: Mask, ids: Sequence[int], decode: Decode | None) -> Iterator[Run]:
    if ids:
        yield Run(mask, len(ids), decode(ids) if decode else _told(ids))


def _told(ids: Sequence[int]) -> str:
    """Ids as text, equal ones in a row (an image's) once with their count."""
    told: list[str] = []
    at = 0
    while at < len(ids) and len(told) < MOST_PROMPT_IDS:
        end = at + 1
        while end < len(ids) and ids[end] == ids[at]:
            end += 1
        told.append(str(ids[at]) if end - at == 1 else f"{ids[at]}×{end - at}")
        at = end
    return " ".join(told) + (f" … {len(ids) - at} more" if at < len(ids) else "")


Pictured = Callable[[str], str]
"""Names an image by its content hash, for a person."""


def message_text(message: Message, pictured: Pictured) -> str:
    """A message as plain text, images by name."""
    parts = [part.value if part.kind == "text" else pictured(part.value) for part in message.parts]
    if message.thinking:
        parts.insert(0, f"(thinking) {message.thinking}")
    parts += [f"(calls {use.name}) {use.arguments}" for use in message.uses]
    if message.answers:
        parts.insert(0, f"(answers {message.answers})")
    return "\n".join(parts)
