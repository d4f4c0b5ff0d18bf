"""Keyboard: every key and every printable character, through XTEST.

Invariant: what one call pressed, that call releases, on every path; only `down` leaves keys held, until `up` or
`release_all`. A character that the layout lacks is bound to a spare keycode, on all its levels, so that no modifier
or lock can change it. It stays bound: a busy program looks a key up when it gets to the event, and would find nothing
if it had been unbound by then. After a binding, and before a bound keycode gets another meaning, the active window
says that it has caught up (`_NET_WM_PING`, answered in the order of events) or, where it can't, its program rests.
"""

from __future__ import annotations

import itertools
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from Xlib import XK, X
from Xlib.display import Display
from Xlib.ext import xtest

from envs.desktop.windows import Windows
from guiforge.keys import canonical

# How long the active window may take to catch up; and where it can't say that it has (Tk, xterm), what it is given at
# the least to read a new keymap, and to handle all keys so far.
CAUGHT_UP_S = 30.0
READ_KEYMAP_S = 0.05
HANDLE_KEYS_S = 0.5

# A keycode is spare when its symbols are none or those of a multimedia keyboard (XF86*), which have no name here.
# Not these: Chromium knows them by their place, whatever they are bound to (evdev: copy, paste, cut, favourites, back,
# forward, home page, refresh, search; see KEY_* in linux/input-event-codes.h, 8 less).
_XF86 = (0x1005, 0x1008)
_KNOWN_BY_PLACE = frozenset({141, 143, 145, 164, 166, 167, 180, 181, 225})

_LOCKS = {"Caps_Lock": X.LockMask, "Num_Lock": X.Mod2Mask}
_NUMBER_PAD = range(0xFF80, 0xFFBE)  # KP_Space to KP_Equal
_AS_KEYS = {"\n": "Return", "\t": "Tab"}


def keysym(key: str) -> int:
    """The X keysym of a canonical key: a keysym's name, or a character. Source: X11 protocol, appendix A."""
    if len(key) > 1:
        return int(XK.string_to_keysym(key))
    code = ord(key)
    return code if 0x20 <= code < 0x7F or 0xA0 <= code < 0x100 else 0x01000000 | code


class Keyboard:
    """The keys of one display. The keymap is read anew for each call, so a change of layout is followed."""

    def __init__(self, display: Display, windows: Windows) -> None:
        self._display = display
        self._windows = windows
        self._bound: dict[int, int] = {}  # keycode -> keysym bound to it by us, least recently used first
        self._held: dict[str, list[int]] = {}  # by `down`

    def type(self, text: str) -> None:
        """Type text exactly: a newline is Return, a tab is Tab. Keys held by `down` stay held.

        Raises ValueError for a control character or half a surrogate pair, before anything is typed.
        """
        keys = [_AS_KEYS.get(c, c) for c in text.replace("\r\n", "\n").replace("\r", "\n")]
        for key in keys:
            if len(key) == 1 and unicodedata.category(key) in ("Cc", "Cs"):
                raise ValueError(f"{key!r} can't be typed; valid are printable characters, newline and tab")
        with self._without_caps_lock():
            for astral, run in itertools.groupby(keys, _is_astral):
                if astral:  # Writer collects what is typed fast, but puts characters past U+FFFF in at once
                    self._windows.caught_up(CAUGHT_UP_S, 0.0)
                self._type(list(run))

    def _type(self, keys: Sequence[str]) -> None:
        while keys:
            keymap = self._bind(keys)
            known = next((i for i, key in enumerate(keys) if keysym(key) not in keymap), len(keys))
            self._strike([keymap[keysym(key)] for key in keys[:known]])
            keys = keys[known:]

    def press(self, keys: Sequence[str], hold_s: float = 0.0) -> None:
        """Press canonical keys in order, hold them, and release them in reverse order."""
        with self.holding(keys):
            if hold_s:
                self._display.sync()
                time.sleep(hold_s)

    @contextmanager
    def holding(self, keys: Sequence[str]) -> Iterator[None]:
        """Canonical keys held meanwhile. A capital or shifted character brings Shift with it."""
        pressed: list[int] = []
        try:
            for code in self._codes(keys):
                pressed.append(code)
                self._fake(X.KeyPress, code)
            yield
        finally:
            for code in reversed(pressed):
                self._fake(X.KeyRelease, code)
            self._display.sync()

    def down(self, key: str) -> None:
        """Press a canonical key and leave it held."""
        if key not in self._held:
            self._held[key] = self._codes([key])
            for code in self._held[key]:
                self._fake(X.KeyPress, code)
        self._display.sync()

    def up(self, key: str) -> None:
        """Release a canonical key; one that isn't held stays so."""
        for code in reversed(self._held.pop(key, []) or self._codes([key])):
            self._fake(X.KeyRelease, code)
        self._display.sync()

    def held(self) -> list[int]:
        """The keycodes that are down, whoever pressed them."""
        bits = int.from_bytes(bytes(self._display.query_keymap()), "little")
        return [code for code in range(256) if bits >> code & 1]

    def release_all(self) -> None:
        """Release every key that is down."""
        self._held.clear()
        for code in self.held():
            self._fake(X.KeyRelease, code)
        self._display.sync()

    def unlock(self) -> None:
        """Turn Caps Lock and Num Lock off."""
        for key, mask in _LOCKS.items():
            if self._mask() & mask:
                self.press([key])

    def _strike(self, strokes: Sequence[tuple[int, bool]]) -> None:
        """Press and release (keycode, shifted) one after the other; Shift is held over a run that needs it."""
        (shift, _), shifted = self._keymap()[keysym("Shift_L")], False
        already = shift in self.held()
        try:
            for code, wants_shift in strokes:
                if wants_shift != shifted and not already:
                    shifted = wants_shift
                    self._fake(X.KeyPress if shifted else X.KeyRelease, shift)
                try:
                    self._fake(X.KeyPress, code)
                finally:
                    self._fake(X.KeyRelease, code)
        finally:
            if shifted:
                self._fake(X.KeyRelease, shift)
            self._display.sync()

    def _codes(self, keys: Sequence[str]) -> list[int]:
        """The keycodes to press for keys, in order, with Shift before the first that needs one and has none."""
        keymap = self._bind(keys)
        shift = keymap[keysym("Shift_L")][0]
        shifts = {shift, keymap[keysym("Shift_R")][0]}
        codes: list[int] = []
        for key in keys:
            code, shifted = keymap[keysym(canonical(key))]
            if shifted and not shifts & {*codes, *self.held()}:
                codes.append(shift)
            codes.append(code)
        return codes

    def _fake(self, kind: int, code: int) -> None:
        xtest.fake_input(self._display, kind, code)

    def _mask(self) -> int:
        return int(self._display.screen().root.query_pointer().mask)

    @contextmanager
    def _without_caps_lock(self) -> Iterator[None]:
        locked = self._mask() & X.LockMask
        if locked:
            self.press(["Caps_Lock"])
        try:
            yield
        finally:
            if locked:
                self.press(["Caps_Lock"])

    def _rows(self) -> dict[int, list[int]]:
        first = self._display.display.info.min_keycode
        count = self._display.display.info.max_keycode - first + 1
        return {first + i: list(row) for i, row in enumerate(self._display.get_keyboard_mapping(first, count))}

    def _keymap(self) -> dict[int, tuple[int, bool]]:
        """keysym -> (keycode, whether Shift is needed); the lowest keycode wins.

        Without the number pad's digits, which hang on Num Lock: they get a keycode of their own.
        """
        group = 2 if self._mask() >> 13 & 1 else 0  # the core keymap holds two groups of two levels
        keymap: dict[int, tuple[int, bool]] = {}
        for code, row in self._rows().items():
            levels = row[group : group + 2] if any(row[group : group + 2]) else row[:2]
            for level, symbol in enumerate(levels):
                if symbol and not (levels[0] != levels[1] and symbol in _NUMBER_PAD):
                    keymap.setdefault(symbol, (code, level == 1))
        return keymap

    def _bind(self, keys: Sequence[str]) -> dict[int, tuple[int, bool]]:
        """The keymap after binding what it lacks of the leading keys, as many as there are spare keycodes."""
        keymap, rows = self._keymap(), self._rows()
        self._bound = {code: symbol for code, symbol in self._bound.items() if rows[code][0] == symbol}
        modifiers = {code for codes in self._display.get_modifier_mapping() for code in codes}
        taken = modifiers | _KNOWN_BY_PLACE | set(self._bound)
        free = [code for code, row in rows.items() if code not in taken and _is_spare(row)]
        wanted = dict.fromkeys(s for s in map(keysym, keys) if keymap.get(s, (None,))[0] in (None, *self._bound))
        wanted = dict.fromkeys([*wanted][: len(free) + len(self._bound)])
        missing = [symbol for symbol in wanted if symbol not in keymap]
        idle = [code for code, symbol in self._bound.items() if symbol not in wanted]
        if len(missing) > len(free):
            self._windows.caught_up(CAUGHT_UP_S, HANDLE_KEYS_S)
        binding = dict(sorted(zip([*free, *idle], missing, strict=False)))
        for run in _runs([*binding]):  # one request a run: programs read the whole keymap anew after each
            self._display.change_keyboard_mapping(run[0], [[binding[code]] * 4 for code in run])
        self._bound |= binding
        for code in [code for code, symbol in self._bound.items() if symbol in wanted]:
            self._bound[code] = self._bound.pop(code)
        if missing:
            self._windows.caught_up(CAUGHT_UP_S, READ_KEYMAP_S)
            keymap = self._keymap()
        return keymap


def _is_astral(key: str) -> bool:
    return len(key) == 1 and ord(key) > 0xFFFF


def _is_spare(row: Sequence[int]) -> bool:
    return all(symbol == 0 or symbol >> 16 in _XF86 for symbol in row)


def _runs(codes: Sequence[int]) -> list[list[int]]:
    """Ascending numbers as runs without a gap."""
    runs: list[list[int]] = []
    for code in codes:
        if runs and code == runs[-1][-1] + 1:
            runs[-1].append(code)
        else:
            runs.append([code])
    return runs
