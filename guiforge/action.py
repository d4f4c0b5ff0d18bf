"""Action: what an agent does, in integer pixels of the screen; one frozen type a kind.

Invariant: an Action that exists is well formed (keys canonical, counts in range); whether it lies on the screen is
the env's to say, and it says so in an observation. Each type's docstring and field descriptions are its only
documentation: prompts and command-line help are made from them by `describe`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator, model_validator

from guiforge import keys

Button = Literal["left", "middle", "right", "back", "forward"]
Point = tuple[int, int]


class BaseAction(BaseModel):
    """What all actions share: frozen, no unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def is_end(self) -> bool:
        """Whether this action ends the episode."""
        return isinstance(self, (Answer, Done, Infeasible))


def _canonical_keys(value: Any) -> Any:
    if isinstance(value, str):
        return keys.canonical(value)
    if isinstance(value, (list, tuple)):
        return tuple(keys.canonical(v) if isinstance(v, str) else v for v in value)
    return value


class _At(BaseAction):
    x: int | None = Field(None, description="pixels from the left edge; absent: where the pointer is")
    y: int | None = Field(None, description="pixels from the top edge; absent: where the pointer is")

    @model_validator(mode="after")
    def _both_or_none(self) -> _At:
        if (self.x is None) != (self.y is None):
            raise ValueError("give both x and y, or neither")
        return self

    @property
    def point(self) -> Point | None:
        """(x, y) in screen pixels, or None for the pointer's present position."""
        return None if self.x is None or self.y is None else (self.x, self.y)


class Click(_At):
    """Press and release a mouse button, once to three times."""

    kind: Literal["click"] = "click"
    button: Button = Field("left", description="which button")
    count: int = Field(1, ge=1, le=3, description="1 single, 2 double, 3 triple")
    modifiers: tuple[str, ...] = Field((), description="keys held meanwhile")
    _keys = field_validator("modifiers", mode="before")(_canonical_keys)


class Move(BaseAction):
    """Move the pointer."""

    kind: Literal["move"] = "move"
    x: int = Field(description="pixels from the left edge")
    y: int = Field(description="pixels from the top edge")


class MouseDown(_At):
    """Press a mouse button and hold it."""

    kind: Literal["mouse_down"] = "mouse_down"
    button: Button = Field("left", description="which button")


class MouseUp(_At):
    """Release a mouse button."""

    kind: Literal["mouse_up"] = "mouse_up"
    button: Button = Field("left", description="which button")


class Drag(BaseAction):
    """Drag along a path with a button held; intermediate moves are interpolated."""

    kind: Literal["drag"] = "drag"
    path: tuple[Point, ...] = Field(min_length=1, description="points; a single one is dragged to from the pointer")
    button: Button = Field("left", description="which button")
    modifiers: tuple[str, ...] = Field((), description="keys held meanwhile")
    duration_s: float = Field(0.0, ge=0, le=30, description="seconds from the first point to the last")
    _keys = field_validator("modifiers", mode="before")(_canonical_keys)


class Scroll(_At):
    """Turn the wheel; positive is down and right."""

    kind: Literal["scroll"] = "scroll"
    dx: int = Field(0, description="to the right")
    dy: int = Field(0, description="downwards")
    unit: Literal["notch", "pixel"] = Field("notch", description="wheel clicks or pixels")
    modifiers: tuple[str, ...] = Field((), description="keys held meanwhile")
    _keys = field_validator("modifiers", mode="before")(_canonical_keys)


class TypeText(BaseAction):
    """Type text with the keyboard, any Unicode; a newline is the Return key, a tab the Tab key."""

    kind: Literal["type"] = "type"
    text: str = Field(description="what is typed")


class Press(BaseAction):
    """Press keys together and release them in reverse order (a chord)."""

    kind: Literal["press"] = "press"
    keys: tuple[str, ...] = Field(min_length=1, description="e.g. ctrl, s")
    hold_s: float = Field(0.0, ge=0, le=100, description="seconds held")
    _keys = field_validator("keys", mode="before")(_canonical_keys)


class KeyDown(BaseAction):
    """Press a key and hold it."""

    kind: Literal["key_down"] = "key_down"
    key: str = Field(description="key name")
    _keys = field_validator("key", mode="before")(_canonical_keys)


class KeyUp(BaseAction):
    """Release a key."""

    kind: Literal["key_up"] = "key_up"
    key: str = Field(description="key name")
    _keys = field_validator("key", mode="before")(_canonical_keys)


class Wait(BaseAction):
    """Do nothing for a while; zero seconds only looks again."""

    kind: Literal["wait"] = "wait"
    seconds: float = Field(1.0, ge=0, le=100, description="seconds")


class Goto(BaseAction):
    """Open a URL in the active tab."""

    kind: Literal["goto"] = "goto"
    url: str = Field(description="the address")


class Back(BaseAction):
    """Go back in the tab's history."""

    kind: Literal["back"] = "back"


class Forward(BaseAction):
    """Go forward in the tab's history."""

    kind: Literal["forward"] = "forward"


class Reload(BaseAction):
    """Load the page again."""

    kind: Literal["reload"] = "reload"


class NewTab(BaseAction):
    """Open a new tab and switch to it."""

    kind: Literal["new_tab"] = "new_tab"
    url: str = Field("", description="the address; empty: a blank page")


class SwitchTab(BaseAction):
    """Switch to a tab."""

    kind: Literal["switch_tab"] = "switch_tab"
    index: int = Field(description="from 0; negative counts from the last")


class CloseTab(BaseAction):
    """Close the active tab."""

    kind: Literal["close_tab"] = "close_tab"


class AnswerDialog(BaseAction):
    """Answer the page's open dialog (alert, confirm, prompt, leave page)."""

    kind: Literal["answer_dialog"] = "answer_dialog"
    accept: bool = Field(True, description="true for OK, false for Cancel")
    text: str | None = Field(None, description="what a prompt is answered with")


class ChooseFiles(BaseAction):
    """Give files to the open file chooser."""

    kind: Literal["choose_files"] = "choose_files"
    paths: tuple[str, ...] = Field(description="paths of the task's files")


class Answer(BaseAction):
    """End the episode with an answer to the user."""

    kind: Literal["answer"] = "answer"
    text: str = Field(description="the answer")


class Done(BaseAction):
    """End the episode: the task is done."""

    kind: Literal["done"] = "done"


class Infeasible(BaseAction):
    """End the episode: the task can't be done."""

    kind: Literal["infeasible"] = "infeasible"
    reason: str = Field("", description="why it can't be done")


Action = Annotated[
    Union[
        Click, Move, MouseDown, MouseUp, Drag, Scroll, TypeText, Press, KeyDown, KeyUp, Wait,
        Goto, Back, Forward, Reload, NewTab, SwitchTab, CloseTab, AnswerDialog, ChooseFiles,
        Answer, Done, Infeasible,
    ],
    Field(discriminator="kind"),
]  # fmt: skip

ActionAdapter: TypeAdapter[Action] = TypeAdapter(Action)
ActionsAdapter: TypeAdapter[tuple[Action, ...]] = TypeAdapter(tuple[Action, ...])

KINDS: dict[str, type[BaseAction]] = {t.model_fields["kind"].default: t for t in get_args(get_args(Action)[0])}
ENDS = ("answer", "done", "infeasible")
BROWSER_ONLY = (
    "goto", "back", "forward", "reload", "new_tab", "switch_tab", "close_tab", "answer_dialog", "choose_files",
)  # fmt: skip
DESKTOP_KINDS = tuple(k for k in KINDS if k not in BROWSER_ONLY)


def parse(data: str | bytes | dict[str, Any]) -> Action:
    """An Action from its JSON text or dict. Raises pydantic.ValidationError (a ValueError) naming the field."""
    if isinstance(data, (str, bytes)):
        return ActionAdapter.validate_json(data)
    return ActionAdapter.validate_python(data)


def asked_s(action: Action) -> float:
    """Seconds that an action takes because it asks for them: the policy's own time, wherever it is spent."""
    if isinstance(action, Wait):
        return action.seconds
    if isinstance(action, Press):
        return action.hold_s
    return action.duration_s if isinstance(action, Drag) else 0.0


def describe(kinds: tuple[str, ...] = tuple(KINDS)) -> str:
    """One line an action: `kind(fields): what it does`, then a line a field. Made from the types themselves."""
    lines = []
    for kind in kinds:
        cls = KINDS[kind]
        fields = [(n, f) for n, f in cls.model_fields.items() if n != "kind"]
        signature = ", ".join(n if f.is_required() else f"{n}={f.default!r}" for n, f in fields)
        doc = (cls.__doc__ or "").strip().splitlines()[0]
        lines.append(f"{kind}({signature}): {doc}")
        lines += [f"    {n}: {f.description}" for n, f in fields]
    return "\n".join(lines)
