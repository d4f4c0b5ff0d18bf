"""Reading gimprc: as GIMP 2.10 writes it, and as nobody should."""

from __future__ import annotations

import pytest

from verifiers.gimp import read_rc, setting
from verifiers.package import Unreadable

WRITTEN = b"""\
# GIMP gimprc
#
# This is your personal gimprc file.  Any variable defined in this file takes
# precedence over the value defined in the system-wide gimprc:
# /etc/gimp/2.0/gimprc
# Most values can be set within GIMP by changing some options in the
# Preferences dialog.

(default-image
    (width 1234)
    (height 567)
    (unit pixels)
    (xresolution 300)
    (color-profile NULL)
    (fill-type background)
    (comment "Created with GIMP"))
(undo-levels 37)
(import-raw-plug-in "${gimp_plug_in_dir}/plug-ins/file-raw-placeholder/file-raw-placeholder")
(theme "Light")
(fill-options
    (style solid)
    (feather-radius 10))


# end of gimprc
"""


def test_settings_are_read_as_gimp_wrote_them() -> None:
    settings = read_rc(WRITTEN)
    assert setting(settings, "undo-levels") == "37"
    assert setting(settings, "theme") == "Light"
    assert setting(settings, "default-image", "width") == "1234"
    assert setting(settings, "default-image", "comment") == "Created with GIMP"


def test_what_is_not_set_has_no_value() -> None:
    settings = read_rc(WRITTEN)
    assert setting(settings, "icon-theme") is None
    assert setting(settings, "default-image", "precision") is None
    assert setting(settings, "default-image") is None  # many values are no single one
    assert read_rc(b"") == {}


def test_the_last_of_two_settings_holds() -> None:
    assert setting(read_rc(b"(undo-levels 5)\n(undo-levels 9)"), "undo-levels") == "9"
    assert setting(read_rc(b"(a (w 1) (w 2))"), "a", "w") == "2"


def test_quotes_parentheses_and_comment_signs_inside_texts_are_text() -> None:
    settings = read_rc(rb'(theme "a \"b\" (c) # d \\ e")')
    assert setting(settings, "theme") == r'a "b" (c) # d \ e'


@pytest.mark.parametrize(
    "data", [b"(undo-levels 37", b"undo-levels 37)", b'(theme "Light)', b"(" * 50 + b")" * 50], ids=repr
)
def test_a_damaged_file_is_unreadable(data: bytes) -> None:
    with pytest.raises(Unreadable):
        read_rc(data)


def test_bytes_that_are_no_text_do_not_crash() -> None:
    assert read_rc(b"\xff\xfe\x00(a 1)") != {}
