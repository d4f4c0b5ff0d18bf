"""VLC's files: its settings (vlcrc) and the playlists that it saves (M3U, XSPF).

Invariant: a setting that is absent or commented out has VLC's own default, which only VLC knows.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from defusedxml import ElementTree

from verifiers.package import Unreadable, opening

VLCRC = "~/.config/vlc/vlcrc"
_HOME = "/home/user"
_XSPF = "{http://xspf.org/ns/0/}"
_MAX_BYTES = 4 << 20


def read_vlcrc(data: bytes) -> Mapping[str, str]:
    """Setting -> value of the settings that are set; VLC's names are unique across its sections."""
    settings = {}
    for line in data.decode("utf-8-sig", "replace").splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.startswith(("#", "[")):
            settings[name.strip()] = value.strip()
    return settings


def folder(value: str) -> str:
    """A folder as a setting names it, as `~/...` path without a slash at its end."""
    path = unquote(urlsplit(value).path) if value.startswith("file:") else value
    return _home_path(posixpath.normpath(path)) if path else ""


def read_playlist(data: bytes, path: str) -> list[str]:
    """The tracks of the playlist at `path`, in order: `~/` paths, absolute ones elsewhere, or addresses.

    The file's ending says what it is: `.xspf`, else M3U. Relative tracks lie beside the playlist. Raises Unreadable.
    """
    if len(data) > _MAX_BYTES:
        raise Unreadable(f"{path} is too large for a playlist")
    tracks = _xspf(data) if path.endswith(".xspf") else _m3u(data)
    return [_resolve(track, posixpath.dirname(path)) for track in tracks]


def _xspf(data: bytes) -> list[str]:
    with opening("XSPF playlist"):
        root = ElementTree.fromstring(data)
    if root.tag != f"{_XSPF}playlist":
        raise Unreadable(f"not an XSPF playlist: its root is {root.tag}")
    return [(track.findtext(f"{_XSPF}location") or "").strip() for track in root.iter(f"{_XSPF}track")]


def _m3u(data: bytes) -> list[str]:
    with opening("M3U playlist"):
        lines = data.decode("utf-8-sig").splitlines()
    if any("\0" in line or line.lstrip().startswith("<") for line in lines):
        raise Unreadable("not an M3U playlist")
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def _resolve(track: str, beside: str) -> str:
    if "://" in track and not track.startswith("file:"):
        return track
    # VLC writes relative tracks of an M3U as parts of an address, escapes and all, and reads them so
    path = unquote(urlsplit(track).path if track.startswith("file:") else track)
    if not path.startswith(("/", "~/")):
        path = f"{beside}/{path}"
    return _home_path(posixpath.normpath(path))


def _home_path(path: str) -> str:
    return f"~{path[len(_HOME) :]}" if path == _HOME or path.startswith(f"{_HOME}/") else path
