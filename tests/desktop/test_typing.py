"""Text typed into real programs arrives exactly."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envs.desktop import clipboard
from envs.desktop.desktop import Desktop
from tests.desktop.rig import Rig

pytestmark = pytest.mark.desktop

ASCII = "".join(map(chr, range(0x20, 0x7F)))
TEXT = (
    f"{ASCII} | <b>&amp;</b> >< ñÑ éÉ äÄ öÖ üÜ ß çÇ åÅ øØ łŁ žŽ ğĞ ıİ ½ € ＠ ﹐ ﻵ “quoted” „so“ «si» – — … "
    "Съешь ещё этих мягких французских булок | Ξεσκεπάζω την ψυχοφθόρα βδελυγμία | "
    "いろはにほへと ちりぬるを | 漢字仮名交じり文 | 다람쥐 헌 쳇바퀴에 타고파 | 天地玄黃宇宙洪荒 | "
    "שלום עולם | مرحبا | สวัสดี | हिन्दी | ∀x∈ℝ: x²≥0 ⇒ √x ≤ ∞ | 😀🎉🚀 👩‍💻 🏳️‍🌈 e\u0301 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠀋 | "
) * 2
# what LibreOffice changes on its own while one types is turned off: it is not the keyboard's doing
CORRECTIONS = {
    "org.openoffice.Office.Common/AutoCorrect": (
        "CapitalAtStartSentence", "TwoCapitalsAtStart", "UseReplacementTable", "ReplaceSingleQuote",
        "ReplaceDoubleQuote", "ChangeDash", "ChangeUnderlineWeight", "ChangeOrdinalNumber", "SetInetAttribute",
        "SetDOIAttribute", "AddNonBreakingSpace", "RemoveDoubleSpaces", "CorrectAccidentalCapsLock",
    ),
    "org.openoffice.Office.Writer/AutoFunction/Completion": ("Enable",),
    "org.openoffice.Office.Writer/AutoFunction/Format/ByInput": ("Enable",),
}  # fmt: skip


@pytest.fixture
def rig() -> Iterator[Rig]:
    rig = Rig(Desktop.start((1280, 720)))
    yield rig
    assert rig.input.keyboard.held() == []
    rig.close()


def copied(rig: Rig, expected: str) -> str:
    """All of the focused text through the clipboard, once it is the expected one or it is late."""
    text, deadline = "", time.monotonic() + 90  # LibreOffice looks for fonts for seconds before it shows a script
    while text != expected and time.monotonic() < deadline:
        rig.act("press", keys=["ctrl", "a"])
        rig.act("press", keys=["ctrl", "c"])
        rig.screen.settle(0.3)
        text = clipboard.read(rig.display, timeout_s=30)
    return text


def test_the_text_is_long_and_mixed() -> None:
    assert len(TEXT) > 500
    assert len({c for c in TEXT if ord(c) > 127}) > 150, "more than there are spare keycodes"


def test_gtk(rig: Rig) -> None:
    rig.launch("editor", window="(?i)mousepad")
    rig.act("type", text=TEXT)
    assert copied(rig, TEXT) == TEXT


def test_tk(rig: Rig) -> None:
    rig.tk("""
        text = tkinter.Text(root, width=80, height=20); text.pack(); text.focus_force()
        def watch(before):
            now = text.get('1.0', 'end-1c')
            if now != before: tell(now)
            root.after(20, watch, now)
        watch('')
    """)
    rig.act("type", text=TEXT)
    rig.until(lambda: rig.told() and len(rig.told()[-1][0]) >= len(TEXT), "all characters")
    assert rig.told()[-1] == [TEXT]


def test_chromium(rig: Rig) -> None:
    page = "<title>typing</title><textarea autofocus style='width: 90vw; height: 80vh'></textarea>"
    rig.launch("chromium", rig.file("page.html", page.encode()), window="typing")
    rig.until(lambda: [n for n in rig.accessibility.find("entry") if "focused" in n.states], "the page's field")
    rig.act("type", text=TEXT)
    assert copied(rig, TEXT) == TEXT


def test_libreoffice(rig: Rig) -> None:
    (profile,) = rig.desktop.home.glob(".config/libreoffice/4/user/registrymodifications.xcu")
    off = "".join(
        f'<item oor:path="/{path}"><prop oor:name="{name}" oor:op="fuse"><value>false</value></prop></item>'
        for path, names in CORRECTIONS.items()
        for name in names
    )
    profile.write_text(profile.read_text().replace("</oor:items>", f"{off}</oor:items>"))
    rig.launch("writer", window="(?i)writer")
    rig.until(lambda: [n for n in rig.accessibility.find("paragraph") if "focused" in n.states], "the empty document")
    rig.act("type", text=TEXT)
    assert copied(rig, TEXT) == TEXT


def test_a_terminal(rig: Rig) -> None:
    """xterm's font lacks most of the world; what its program reads is exact all the same."""
    line = "".join(c for c in TEXT[: len(TEXT) // 2] if c.isascii() or 0xA0 < ord(c) < 0x2000)
    rig.launch(
        "terminal", "-e", "sh", "-c", 'IFS= read -r line; printf %s "$line" > /home/user/line', window="sh|xterm"
    )
    rig.act("type", text=line + "\n")
    path = rig.desktop.home / "line"
    rig.until(lambda: path.exists() and path.stat().st_size, "the line")
    assert path.read_text() == line


PRINTABLE = st.characters(exclude_categories=("Cc", "Cs", "Cn", "Co", "Zl", "Zp"))


@pytest.fixture(scope="module")
def editor() -> Iterator[Rig]:
    rig = Rig(Desktop.start((1280, 720)))
    rig.launch("editor", window="(?i)mousepad")
    yield rig
    rig.close()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(PRINTABLE, min_size=1, max_size=60))
def test_any_printable_characters(editor: Rig, text: str) -> None:
    editor.act("press", keys=["ctrl", "a"])
    editor.act("press", keys=["Delete"])
    editor.act("type", text=text)
    (shown,) = editor.accessibility.find("text")
    assert shown.text == text
