"""The action space of a suite: a sample is a dict of fields, and means one Action.

Invariant: every sample of an action space is a well-formed Action, and an Action that no sample means is refused.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from guiforge import keys
from guiforge.action import DESKTOP_KINDS, Action, Button, parse
from guiforge.frame import Size

Sample = dict[str, Any]

BUTTONS: tuple[Button, ...] = ("left", "middle", "right", "back", "forward")
KEYS: tuple[str, ...] = (*keys.names(), *(c for c in string.printable if c.isprintable() and c != " "))
MAX_SCROLL, MAX_WAIT_S, MAX_TAB = 10, 5, 31
CHARSET = "".join(c for c in string.printable if c.isprintable()) + "\n\t"

# kind -> the entries of a sample that it reads; every other entry is ignored
USES: dict[str, tuple[str, ...]] = {
    "click": ("x", "y", "button", "count", "modifiers"),
    "move": ("x", "y"),
    "mouse_down": ("x", "y", "button"),
    "mouse_up": ("x", "y", "button"),
    "drag": ("x", "y", "to_x", "to_y", "button", "modifiers"),
    "scroll": ("x", "y", "dx", "dy", "modifiers"),
    "type": ("text",),
    "press": ("modifiers", "key"),
    "key_down": ("key",),
    "key_up": ("key",),
    "wait": ("seconds",),
    "goto": ("text",),
    "back": (),
    "forward": (),
    "reload": (),
    "new_tab": ("text",),
    "switch_tab": ("tab",),
    "close_tab": (),
    "answer_dialog": ("accept", "text"),
    "choose_files": ("text",),
    "answer": ("text",),
    "done": (),
    "infeasible": ("text",),
}

_TEXTS = {"infeasible": "reason", "goto": "url", "new_tab": "url", "choose_files": "paths"}  # `text`, if not its name


def action_space(
    size: Size, kinds: Sequence[str] = DESKTOP_KINDS, *, charset: str = CHARSET, max_text: int = 64
) -> spaces.Dict:
    """One entry a field that one of the kinds reads (`USES`). Points are screen pixels of (width, height) `size`.

    kind: index into `kinds`.  button: into BUTTONS.  key: into KEYS.  modifiers: which of keys.MODIFIERS are held.
    dx, dy: wheel notches, positive right and down.  tab: from 0.  accept: 1 is a dialog's OK.  text: what is typed, an
    address, an answer, a reason, or the paths of files, a line each; at most `max_text` of `charset` (Gymnasium's Text
    must list its characters: pass your own for other scripts).
    """
    width, height = size
    entries: dict[str, spaces.Space[Any]] = {
        "x": spaces.Discrete(width),
        "y": spaces.Discrete(height),
        "to_x": spaces.Discrete(width),
        "to_y": spaces.Discrete(height),
        "button": spaces.Discrete(len(BUTTONS)),
        "count": spaces.Discrete(3, start=1),
        "modifiers": spaces.MultiBinary(len(keys.MODIFIERS)),
        "key": spaces.Discrete(len(KEYS)),
        "dx": spaces.Discrete(2 * MAX_SCROLL + 1, start=-MAX_SCROLL),
        "dy": spaces.Discrete(2 * MAX_SCROLL + 1, start=-MAX_SCROLL),
        "seconds": spaces.Discrete(MAX_WAIT_S + 1),
        "tab": spaces.Discrete(MAX_TAB + 1),
        "accept": spaces.Discrete(2),
        "text": spaces.Text(max_text, min_length=0, charset=charset),
    }
    read = {name for kind in kinds for name in USES[kind]}
    kept = {name: space for name, space in entries.items() if name in read}
    return spaces.Dict({"kind": spaces.Discrete(len(kinds)), **kept})


def to_action(sample: Sample, kinds: Sequence[str] = DESKTOP_KINDS) -> Action:
    """The Action that a sample of an `action_space` of these kinds means."""
    kind = kinds[sample["kind"]]
    used = {name: sample[name] for name in USES[kind]}
    fields: dict[str, Any] = {
        name: int(used[name]) for name in ("x", "y", "count", "dx", "dy", "seconds") if name in used
    }
    if "button" in used:
        fields["button"] = BUTTONS[used["button"]]
    if "modifiers" in used:
        fields["modifiers"] = tuple(m for m, held in zip(keys.MODIFIERS, used["modifiers"], strict=True) if held)
    if "text" in used:
        fields[_TEXTS.get(kind, "text")] = used["text"]
    if kind == "answer_dialog":
        fields |= {"accept": bool(used["accept"]), "text": used["text"] or None}
    if kind == "choose_files":
        fields["paths"] = tuple(filter(None, fields["paths"].split("\n")))
    if "tab" in used:
        fields["index"] = int(used["tab"])
    if kind == "drag":
        fields["path"] = ((fields.pop("x"), fields.pop("y")), (int(used["to_x"]), int(used["to_y"])))
    if kind == "press":
        fields["keys"] = (*fields.pop("modifiers"), KEYS[used["key"]])
    elif "key" in used:
        fields["key"] = KEYS[used["key"]]
    return parse({"kind": kind, **fields})


def to_sample(action: Action, space: spaces.Dict, kinds: Sequence[str] = DESKTOP_KINDS) -> Sample:
    """The sample that means an Action, e.g. of a demonstration; unread entries hold their least value.

    Raises ValueError for an Action that no sample means: of another kind, without a point, with keys that are held for
    a time or that are no modifiers and one key, a path of more or less than two points, a tab counted from the last,
    or outside the bounds of `space`.
    """
    if action.kind not in kinds:
        raise ValueError(f"no sample of this action space means {action!r}; its kinds are {', '.join(kinds)}")
    fields = action.model_dump(exclude={"kind"})
    sample: Sample = {name: getattr(s, "start", 0) for name, s in space.spaces.items()}
    sample |= {
        "kind": kinds.index(action.kind),
        "text": "",
        "modifiers": np.zeros(len(keys.MODIFIERS), np.int8),
    }
    held = fields.pop("modifiers", ())
    if "path" in fields and len(fields["path"]) == 2:
        (fields["x"], fields["y"]), (fields["to_x"], fields["to_y"]) = fields["path"]
    if "keys" in fields:
        *held, fields["key"] = fields["keys"]
    if fields.get("seconds", 0.5).is_integer():
        fields["seconds"] = int(fields["seconds"])
    if (text := _TEXTS.get(action.kind)) is not None:
        fields["text"] = "\n".join(fields[text]) if text == "paths" else fields[text]
    if action.kind == "answer_dialog":
        fields["accept"] = int(fields["accept"])
    if "index" in fields:
        fields["tab"] = fields["index"]
    sample |= {name: fields[name] for name in USES[action.kind] if fields.get(name) is not None}
    if fields.get("button"):
        sample["button"] = BUTTONS.index(fields["button"])
    if "key" in fields and fields["key"] in KEYS:
        sample["key"] = KEYS.index(fields["key"])
    for name in held:
        if name in keys.MODIFIERS:
            sample["modifiers"][keys.MODIFIERS.index(name)] = 1
    if not space.contains(sample) or to_action(sample, kinds) != action:
        raise ValueError(f"no sample of this action space means {action!r}")
    return sample
