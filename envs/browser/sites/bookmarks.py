"""The site `bookmarks`: Shaarli, a link collection that is kept in one file.

Invariant: whoever comes is signed in as its keeper (he has the cookie of one who stays signed in), and all that it
writes lies in its data. Of a bookmark no time counts, and a note has no address: both are made by the clock.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from envs.browser.sites.bookmarks_data import base
from envs.browser.sites.site import Site, SiteBroken, Tables, run

_FILES = Path(__file__).parents[3] / "images" / "sites"
_PACKAGE = Path("/usr/share/shaarli")
_STORE = _FILES / "bookmarks.store.php"
_HEAD, _TAIL = "<?php /*", "*/ ?>"  # around the JSON of its settings
PASSWORD, _SALT = "linden-and-chalk", "bookmarks"
_HASH = hashlib.sha1(f"{PASSWORD}keeper{_SALT}".encode()).hexdigest()
# everything that its pages of settings, plugins and tags can change, as it begins
SETTINGS: dict[str, Any] = {
    "general.title": "Hollin Street Links", "general.header_link": "/", "general.timezone": "UTC",
    "general.retrieve_description": False, "general.enabled_plugins": [], "general.tags_separator": " ",
    "resource.theme": "default", "formatter": "default", "translation.language": "en", "thumbnails.mode": "none",
    "feed.rss_permalinks": True, "updates.check_updates": False, "privacy.default_private_links": False,
    "privacy.hide_public_links": False, "api.enabled": False, "api.secret": "", "plugins": {},
    "security.open_shaarli": False, "security.session_protection_disabled": True,
    "credentials.login": "keeper", "credentials.hash": _HASH, "credentials.salt": _SALT,
}  # fmt: skip
_UPDATES = "updateMethodRelativeHomeLink;updateMethodMigrateExistingNotesUrl"  # which a new collection doesn't need
_PAGES = (
    "/", "/shaare/none", "/login", "/tags/cloud", "/tags/list", "/daily", "/admin/tools", "/admin/add-shaare",
    "/admin/shaare", "/admin/tags", "/admin/configure", "/admin/plugins", "/admin/export", "/admin/import",
)  # fmt: skip
_WARM_S = 20.0


class Bookmarks(Site):
    """See Site. records: bookmarks as `bookmarks_data.Bookmark.record` gives them; one replaces that of the same id."""

    name = "bookmarks"
    restart = False
    programs: ClassVar[dict[str, str]] = {"php": "php-cli"}

    def install(self, root: Path) -> None:
        """See Site. Shaarli is a package of the system."""
        source = _PACKAGE / "application/config/ConfigManager.php"
        if not source.is_file():
            raise SiteBroken("lacks Shaarli; run: apt-get install shaarli fonts-fork-awesome")
        places = (("'/var/cache/shaarli/", "DATA . '/cache/"), ("'/var/lib/shaarli/data", "DATA . '"))
        text = source.read_text()
        for theirs, ours in places:
            text = text.replace(theirs, ours)
        (root / "ConfigManager.php").write_text(text)
        shutil.copy(_FILES / "bookmarks.router.php", root)

    def build(self, root: Path, data: Path) -> None:
        """See Site. Its pages are asked for once: their templates are compiled, and that is kept."""
        for name in ("sessions", "cache/tmp", "cache/pagecache"):
            (data / name).mkdir(parents=True)
        (data / "config.json.php").write_text(f"{_HEAD}{json.dumps(_nested(SETTINGS))}{_TAIL}")
        (data / "updates.txt").write_text(_UPDATES)
        self.seed(data, [])
        self._warm(root, data)
        shutil.rmtree(data / "sessions")
        (data / "sessions").mkdir()

    def argv(self, root: Path, data: Path, port: int) -> list[str]:
        """See Site."""
        settings = ("display_errors=0", "opcache.enable_cli=1", f"session.save_path={data}/sessions")
        options = [word for setting in settings for word in ("-d", setting)]
        return ["php", *options, "-S", f"127.0.0.1:{port}", "-t", str(_PACKAGE), str(root / "bookmarks.router.php")]

    def environ(self, root: Path, data: Path) -> dict[str, str]:
        """See Site. The proxy that there isn't keeps it from asking a new link's address for a title."""
        nowhere, token = "http://127.0.0.1:9", hashlib.sha1(f"{_HASH}{_SALT}".encode()).hexdigest()
        return {"SHAARLI_DATA": str(data), "SHAARLI_TOKEN": token, "http_proxy": nowhere, "https_proxy": nowhere}

    def seed(self, data: Path, records: Any) -> None:
        """See Site."""
        rows = {row["id"]: row for row in ([b.record() for b in base()] + (records or []))}
        run(["php", "-n", _STORE, "save", data / "datastore.php"], input=json.dumps(list(rows.values())))

    def dump(self, data: Path) -> Tables:
        """See Site. Bookmarks by id, with their tags in alphabetical order; settings by name."""
        stored = json.loads(run(["php", "-n", _STORE, "load", data / "datastore.php"]))
        settings = json.loads((data / "config.json.php").read_text().strip().removeprefix(_HEAD).removesuffix(_TAIL))
        return {
            "bookmarks": {str(row.pop("id")): {**row, "tags": sorted(row["tags"])} for row in stored},
            "settings": {name: {"value": _at(settings, name)} for name in SETTINGS},
        }

    def _warm(self, root: Path, data: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        environ = {**os.environ, **self.environ(root, data)}
        server = subprocess.Popen(self.argv(root, data, port), env=environ, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + _WARM_S
            while not _answers(port, self.ready):
                if time.monotonic() > deadline or server.poll() is not None:
                    raise SiteBroken(f"the server did not answer within {_WARM_S:g} s")
                time.sleep(0.05)
            for page in _PAGES:
                _answers(port, page)
        finally:
            server.kill()
            server.wait()


SITE = Bookmarks()


def _answers(port: int, path: str) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=_WARM_S) as reply:
        reply.read()
        return True
    return False


def _nested(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings by dotted name as the tree that they are stored as."""
    tree: dict[str, Any] = {}
    for name, value in settings.items():
        *path, last = name.split(".")
        branch = tree
        for part in path:
            branch = branch.setdefault(part, {})
        branch[last] = value
    return tree


def _at(tree: Any, name: str) -> Any:
    for part in name.split("."):
        tree = tree[part]
    return tree or None if isinstance(tree, (list, dict)) else tree  # PHP writes an empty one as either
