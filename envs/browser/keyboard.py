"""Keyboard: canonical keys as the DevTools protocol's key events; a US layout, anything else inserted as text.

Invariant: what one call presses, that call releases; only `down` leaves keys held, until `up`.
Source: UI Events `code` and `key` values; Windows virtual key codes (winuser.h).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from envs.browser.cdp import Message

ALT, CONTROL, META, SHIFT = 1, 2, 4, 8


@dataclass(frozen=True)
class Key:
    """A key: what events call it. text: what it types, without Shift and with it."""

    code: str
    key: str
    vk: int
    text: str = ""
    shifted: str = ""
    location: int = 0
    modifier: int = 0


def _characters() -> dict[str, Key]:
    keys = [Key(f"Key{chr(c)}", chr(c + 32), c, chr(c + 32), chr(c)) for c in range(ord("A"), ord("Z") + 1)]
    keys += [Key(f"Digit{d}", d, ord(d), d, s) for d, s in zip("0123456789", ")!@#$%^&*(", strict=True)]
    for code, vk, pair in (
        ("Minus", 189, "-_"), ("Equal", 187, "=+"), ("BracketLeft", 219, "[{"), ("BracketRight", 221, "]}"),
        ("Backslash", 220, "\\|"), ("Semicolon", 186, ";:"), ("Quote", 222, "'\""), ("Backquote", 192, "`~"),
        ("Comma", 188, ",<"), ("Period", 190, ".>"), ("Slash", 191, "/?"), ("Space", 32, "  "),
    ):  # fmt: skip
        keys.append(Key(code, pair[0], vk, pair[0], pair[1]))
    return {character: key for key in keys for character in (key.shifted, key.text)}


CHARACTERS = _characters()
NAMED = {
    "Control_L": Key("ControlLeft", "Control", 17, location=1, modifier=CONTROL),
    "Control_R": Key("ControlRight", "Control", 17, location=2, modifier=CONTROL),
    "Shift_L": Key("ShiftLeft", "Shift", 16, location=1, modifier=SHIFT),
    "Shift_R": Key("ShiftRight", "Shift", 16, location=2, modifier=SHIFT),
    "Alt_L": Key("AltLeft", "Alt", 18, location=1, modifier=ALT),
    "Alt_R": Key("AltRight", "AltGraph", 18, location=2, modifier=ALT),
    "Super_L": Key("MetaLeft", "Meta", 91, location=1, modifier=META),
    "Super_R": Key("MetaRight", "Meta", 92, location=2, modifier=META),
    "Return": Key("Enter", "Enter", 13, "\r", "\r"),
    "KP_Enter": Key("NumpadEnter", "Enter", 13, "\r", "\r", location=3),
    "Tab": Key("Tab", "Tab", 9),
    "Escape": Key("Escape", "Escape", 27),
    "BackSpace": Key("Backspace", "Backspace", 8),
    "Delete": Key("Delete", "Delete", 46),
    "Insert": Key("Insert", "Insert", 45),
    "Home": Key("Home", "Home", 36),
    "End": Key("End", "End", 35),
    "Page_Up": Key("PageUp", "PageUp", 33),
    "Page_Down": Key("PageDown", "PageDown", 34),
    "Up": Key("ArrowUp", "ArrowUp", 38),
    "Down": Key("ArrowDown", "ArrowDown", 40),
    "Left": Key("ArrowLeft", "ArrowLeft", 37),
    "Right": Key("ArrowRight", "ArrowRight", 39),
    "space": CHARACTERS[" "],
    "Caps_Lock": Key("CapsLock", "CapsLock", 20),
    "Num_Lock": Key("NumLock", "NumLock", 144),
    "Scroll_Lock": Key("ScrollLock", "ScrollLock", 145),
    "Print": Key("PrintScreen", "PrintScreen", 44),
    "Pause": Key("Pause", "Pause", 19),
    "Menu": Key("ContextMenu", "ContextMenu", 93),
    "KP_Add": Key("NumpadAdd", "+", 107, "+", "+", location=3),
    "KP_Subtract": Key("NumpadSubtract", "-", 109, "-", "-", location=3),
    "KP_Multiply": Key("NumpadMultiply", "*", 106, "*", "*", location=3),
    "KP_Divide": Key("NumpadDivide", "/", 111, "/", "/", location=3),
    "KP_Decimal": Key("NumpadDecimal", ".", 110, ".", ".", location=3),
    **{f"KP_{n}": Key(f"Numpad{n}", str(n), 96 + n, str(n), str(n), location=3) for n in range(10)},
    **{f"F{n}": Key(f"F{n}", f"F{n}", 111 + n) for n in range(1, 25)},
}
_AS_KEYS = {"\n": "Return", "\t": "Tab"}

Command = tuple[str, Message]


class Keyboard:
    """The keys of one browser: which are held, and the commands that press and release them."""

    def __init__(self) -> None:
        self._held: dict[str, Key] = {}

    @property
    def held(self) -> tuple[str, ...]:
        """The keys held, in the order in which they were pressed."""
        return tuple(self._held)

    @property
    def modifiers(self) -> int:
        """The modifiers held, as the protocol's bits."""
        mask = 0
        for key in self._held.values():
            mask |= key.modifier
        return mask

    def type(self, text: str) -> list[Command]:
        """The commands that type text. Raises ValueError for a control character, before anything is typed."""
        commands: list[Command] = []
        for character in text.replace("\r\n", "\n").replace("\r", "\n"):
            name = _AS_KEYS.get(character, character)
            if len(name) == 1 and unicodedata.category(name) in ("Cc", "Cs"):
                raise ValueError(f"{character!r} can't be typed; valid are printable characters, newline and tab")
            key = NAMED.get(name) or CHARACTERS.get(name)
            if key is None:
                commands.append(("Input.insertText", {"text": character}))
                continue
            shift = SHIFT if key.text != key.shifted and character == key.shifted else 0
            commands += [self._event("keyDown", key, name, shift), self._event("keyUp", key, name, shift)]
        return commands

    def down(self, name: str) -> list[Command]:
        """The command that presses a canonical key and holds it."""
        key = self._find(name)
        self._held[name] = key
        return [self._event("keyDown", key, name)]

    def up(self, name: str) -> list[Command]:
        """The command that releases a canonical key."""
        key = self._held.pop(name, None) or self._find(name)
        return [self._event("keyUp", key, name)]

    @contextmanager
    def holding(self, names: Sequence[str]) -> Iterator[tuple[list[Command], list[Command]]]:
        """Keys held for the block: the commands that press them, and those that release them in reverse order."""
        before = dict(self._held)
        try:
            pressing = [command for name in names for command in self.down(name)]
            held = dict(self._held)
            releasing = [command for name in reversed(names) for command in self.up(name)]
            self._held = held
            yield pressing, releasing
        finally:
            self._held = before

    def release_all(self) -> list[Command]:
        """The commands that release every held key."""
        return [command for name in list(self._held) for command in self.up(name)]

    def _find(self, name: str) -> Key:
        return NAMED.get(name) or CHARACTERS.get(name) or Key("", name, 0, name, name)

    def _event(self, kind: str, key: Key, name: str, extra: int = 0) -> Command:
        modifiers = self.modifiers | extra
        shifted = bool(modifiers & SHIFT) or (key.text != key.shifted and name == key.shifted)
        text = key.shifted if shifted else key.text
        event: Message = {
            "type": kind, "code": key.code, "windowsVirtualKeyCode": key.vk, "location": key.location,
            "key": text if len(text) == 1 and text.isprintable() else key.key, "modifiers": modifiers,
        }  # fmt: skip
        if kind == "keyDown":
            types = text and not modifiers & (CONTROL | ALT | META)
            event |= {"text": text, "unmodifiedText": text} if types else {"type": "rawKeyDown"}
        return "Input.dispatchKeyEvent", event
