"""Reading vlcrc and playlists: as VLC 3 writes them, and as other programs may."""

from __future__ import annotations

import pytest

from verifiers.package import Unreadable
from verifiers.vlc import folder, read_playlist, read_vlcrc

VLCRC = """\
\ufeff###
###  vlc 3.0.24
###

[qt] # Qt interface

# Pause the video playback when minimized (boolean)
qt-pause-minimized=1

[core] # core program

# Video snapshot directory (or filename) (string)
snapshot-path=/home/user/Pictures/My trip

# Video snapshot format (string)
#snapshot-format=png

# Preferred subtitle language (string)
sub-language=
""".encode()

XSPF = b"""\
<?xml version="1.0" encoding="UTF-8"?>
<playlist xmlns="http://xspf.org/ns/0/" xmlns:vlc="http://www.videolan.org/vlc/playlist/ns/0/" version="1">
	<title>Playlist</title>
	<trackList>
		<track>
			<location>file:///home/user/Music/01%20one.wav</location>
			<duration>60000</duration>
			<extension application="http://www.videolan.org/vlc/playlist/0"><vlc:id>0</vlc:id></extension>
		</track>
		<track><location>file:///home/user/Music/%C3%A9t%C3%A9.wav</location></track>
	</trackList>
</playlist>
"""


def test_settings_that_are_set_are_read_and_defaults_are_not() -> None:
    assert read_vlcrc(VLCRC) == {
        "qt-pause-minimized": "1",
        "snapshot-path": "/home/user/Pictures/My trip",
        "sub-language": "",
    }


@pytest.mark.parametrize(
    "value",
    [
        "/home/user/Pictures/My trip",
        "/home/user/Pictures/My trip/",
        "file:///home/user/Pictures/My%20trip",
        "~/Pictures/My trip",
    ],
)
def test_a_folder_is_the_same_however_it_is_written(value: str) -> None:
    assert folder(value) == "~/Pictures/My trip"


def test_no_folder_is_none_and_others_stay_absolute() -> None:
    assert folder("") == ""
    assert folder("/srv/films") == "/srv/films"
    assert folder("/home/username") == "/home/username"


def test_xspf_tracks_are_read_in_order() -> None:
    assert read_playlist(XSPF, "~/Music/a.xspf") == ["~/Music/01 one.wav", "~/Music/été.wav"]


@pytest.mark.parametrize(
    "data",
    [
        b"#EXTM3U\n#EXTINF:60,01 one.wav\n01%20one.wav\n#EXTVLCOPT:file-caching=1000\n%C3%A9t%C3%A9.wav\n",
        "01 one.wav\r\nété.wav\r\n".encode(),
        "\ufeff#EXTM3U\n/home/user/Music/01 one.wav\n./été.wav".encode(),
        b"file:///home/user/Music/01%20one.wav\nfile:///home/user/Music/%C3%A9t%C3%A9.wav\n",
        "../Music/01 one.wav\n~/Music/été.wav\n".encode(),
    ],
)
def test_m3u_tracks_are_read_however_they_are_written(data: bytes) -> None:
    assert read_playlist(data, "~/Music/a.m3u") == ["~/Music/01 one.wav", "~/Music/été.wav"]


def test_addresses_are_kept() -> None:
    assert read_playlist(b"http://radio.example/a%20b\n", "~/Music/a.m3u") == ["http://radio.example/a%20b"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.xspf", b"#EXTM3U\none.wav\n"),
        ("a.xspf", b"<html/>"),
        ("a.xspf", b'<!DOCTYPE a [<!ENTITY x "y">]><playlist xmlns="http://xspf.org/ns/0/">&x;</playlist>'),
        ("a.m3u", XSPF),
        ("a.m3u", b"\x00\x01"),
        ("a.m3u", b"\xff\xff"),
        ("a.m3u", b"a\n" * (3 << 20)),
    ],
)
def test_what_is_no_playlist_of_that_kind_is_unreadable(name: str, data: bytes) -> None:
    with pytest.raises(Unreadable):
        read_playlist(data, f"~/Music/{name}")
