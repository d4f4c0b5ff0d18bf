"""The one table of key names: canonical names are X keysym names, aliases are those of pyautogui, X and the web.

Invariant: every key in an Action is canonical (`canonical(canonical(k)) == canonical(k)`), so an env never guesses.
Sources: X11 keysymdef.h, pyautogui KEYBOARD_KEYS, UI Events KeyboardEvent.key values.
"""

from __future__ import annotations

import unicodedata

MODIFIERS: tuple[str, ...] = ("Control_L", "Shift_L", "Alt_L", "Super_L")

# canonical X keysym name -> its other names, lower-cased (pyautogui's, the web's, vendors')
_NAMED: dict[str, tuple[str, ...]] = {
    "Control_L": ("ctrl", "control", "ctrlleft", "controlleft", "controlormeta"),
    "Control_R": ("ctrlright", "controlright"),
    "Shift_L": ("shift", "shiftleft"),
    "Shift_R": ("shiftright",),
    "Alt_L": ("alt", "altleft", "option", "optionleft"),
    "Alt_R": ("altright", "altgraph", "altgr", "optionright", "iso_level3_shift"),
    "Super_L": ("super", "win", "winleft", "cmd", "command", "meta", "meta_l", "metaleft", "os", "windows"),
    "Super_R": ("winright", "metaright", "meta_r"),
    "Return": ("enter", "\n", "\r"),
    "KP_Enter": ("numpadenter",),
    "Tab": ("\t",),
    "Escape": ("esc",),
    "BackSpace": ("backspace", "back_space"),
    "Delete": ("del",),
    "Insert": ("ins",),
    "Home": (),
    "End": (),
    "Page_Up": ("pageup", "pgup", "prior"),
    "Page_Down": ("pagedown", "pgdn", "next"),
    "Up": ("arrowup", "uparrow"),
    "Down": ("arrowdown", "downarrow"),
    "Left": ("arrowleft", "leftarrow"),
    "Right": ("arrowright", "rightarrow"),
    "space": (" ", "spacebar"),
    "Caps_Lock": ("capslock",),
    "Num_Lock": ("numlock",),
    "Scroll_Lock": ("scrolllock",),
    "Print": ("printscreen", "prtsc", "prtscr", "prntscrn", "print_screen"),
    "Pause": ("break",),
    "Menu": ("apps", "contextmenu"),
    "KP_Add": ("add", "numpadadd"),
    "KP_Subtract": ("subtract", "numpadsubtract"),
    "KP_Multiply": ("multiply", "numpadmultiply"),
    "KP_Divide": ("divide", "numpaddivide"),
    "KP_Decimal": ("decimal", "numpaddecimal"),
    **{f"KP_{n}": (f"num{n}", f"numpad{n}") for n in range(10)},
    **{f"F{n}": () for n in range(1, 25)},
}

# printable ASCII punctuation has keysym names too (`less`, `minus`, ...): accepted, and made the character itself
_PUNCTUATION: dict[str, str] = {
    "exclam": "!", "quotedbl": '"', "numbersign": "#", "dollar": "$", "percent": "%", "ampersand": "&",
    "apostrophe": "'", "quoteright": "'", "parenleft": "(", "parenright": ")", "asterisk": "*", "plus": "+",
    "comma": ",", "minus": "-", "period": ".", "slash": "/", "colon": ":", "semicolon": ";", "less": "<",
    "equal": "=", "greater": ">", "question": "?", "at": "@", "bracketleft": "[", "backslash": "\\",
    "bracketright": "]", "asciicircum": "^", "underscore": "_", "grave": "`", "quoteleft": "`",
    "braceleft": "{", "bar": "|", "braceright": "}", "asciitilde": "~",
}  # fmt: skip

_ALIASES: dict[str, str] = {
    **{name.lower(): name for name in _NAMED},
    **{alias: name for name, aliases in _NAMED.items() for alias in aliases},
    **_PUNCTUATION,
}


class UnknownKey(ValueError):
    """A key name that no table knows; the text names the valid ones."""


def canonical(name: str) -> str:
    """The canonical name of a key: an X keysym name, or the character itself for a printable one.

    Accepts pyautogui's, X's and the web's names in any case. A single character stands for itself, so `"A"` is
    the capital letter. Raises UnknownKey naming the valid choices.
    """
    if name in _NAMED:
        return name
    found = _ALIASES.get(name.lower())
    if found is not None:
        return found
    if len(name) == 1 and not unicodedata.category(name).startswith("C"):
        return name
    raise UnknownKey(f"unknown key {name!r}; valid are single characters and: {', '.join(names())}")


def names() -> list[str]:
    """All canonical named keys, without the single characters."""
    return list(_NAMED)


def aliases(name: str) -> tuple[str, ...]:
    """The other names of a canonical key (lower case), for dialects that render theirs."""
    return _NAMED.get(name, ())
