"""The site `wiki`: DokuWiki, whose pages, users and rights are plain files.

Invariant: of a page its present text and the summary of its last edition count; older editions, drafts, locks, the
search index and the cache are no state. Everybody who comes is signed in as `wiki_data.ADMIN`, its superuser.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote

from envs.browser.sites import wiki_data
from envs.browser.sites.site import Row, Site, SiteBroken, Tables, run
from envs.browser.sites.wiki_data import ADMIN, Edition

PASSWORD = "birch-and-tar"  # everybody's
_PREPEND, _INDEX = (
    Path(__file__).parents[3] / "images" / "sites" / f"wiki.{name}.php" for name in ("prepend", "index")
)
_PROGRAM = Path("/usr/share/dokuwiki")
_DIRS = (
    "pages",
    "attic",
    "media",
    "media_attic",
    "media_meta",
    "meta",
    "cache",
    "index",
    "locks",
    "tmp",
    "log",
    "conf",
)
_PLUGINS = "<?php\n$plugins['testing'] = 0;\n"  # which complains of itself on each page
_LOCAL = """<?php
$conf['title'] = 'Halvard Bay Handbook';
$conf['license'] = '';
$conf['useacl'] = 1;
$conf['superuser'] = '@admin';
$conf['passcrypt'] = 'sha1';
$conf['disableactions'] = 'register,resendpwd';
$conf['recent_days'] = 4000;
$conf['showuseras'] = 'username';
$conf['useheading'] = 1;
"""
_PROTECTED = """<?php
$conf['savedir'] = getenv('WIKI_DATA');
$conf['dnslookups'] = 0;
"""
_ACL = ("*\t@ALL\t1", "*\t@user\t8")
_SETTINGS_KEPT_ELSEWHERE = ("users.auth.php", "acl.auth.php", "local.protected.php")
_WARM_S = 20.0
_PLACES = (("pages", ".txt"), ("meta", ".changes"), ("attic", ""))


class Wiki(Site):
    """See Site. records: `{"editions": [...]}` as `wiki_data.edition` makes them, in the order of time."""

    name = "wiki"
    restart = False
    ready = "/lib/images/blank.gif"
    programs: ClassVar[dict[str, str]] = {"php": "php-cli"}

    def install(self, root: Path) -> None:
        """See Site. DokuWiki is a package of the system. Raises SiteBroken."""
        if not _PROGRAM.is_dir():
            raise SiteBroken("lacks DokuWiki; run: apt-get install dokuwiki")
        shutil.copy(_PREPEND, root)

    def build(self, root: Path, data: Path) -> None:
        """See Site."""
        for name in _DIRS:
            (data / name).mkdir()
        conf = data / "conf"
        conf.joinpath("local.php").write_text(_LOCAL)
        conf.joinpath("plugins.local.php").write_text(_PLUGINS)
        conf.joinpath("local.protected.php").write_text(_PROTECTED)
        conf.joinpath("acl.auth.php").write_text("\n".join(_ACL) + "\n")
        conf.joinpath("users.auth.php").write_text("".join(map(_user_line, wiki_data.PEOPLE)))
        _write(data, wiki_data.base())
        self._warm(root, data)

    def argv(self, root: Path, data: Path, port: int) -> list[str]:
        """See Site."""
        settings = ("date.timezone=UTC", f"session.save_path={data}/tmp", "display_errors=stderr", "log_errors=Off",
                    f"auto_prepend_file={root / _PREPEND.name}")  # fmt: skip
        return ["php", *(word for s in settings for word in ("-d", s)), "-S", f"127.0.0.1:{port}", "-t", str(_PROGRAM)]

    def environ(self, root: Path, data: Path) -> dict[str, str]:
        """See Site."""
        return {"WIKI_DATA": str(data), "WIKI_USER": f"{ADMIN}:{PASSWORD}"}

    def seed(self, data: Path, records: Any) -> None:
        """See Site."""
        if records:
            _write(data, records["editions"])

    def dump(self, data: Path) -> Tables:
        """See Site. Pages by name, media by name, users by login, rights by `PAGE WHO`, settings by file."""
        return {
            "pages": {page: _page(data, page, text) for page, text in _files(data / "pages", ".txt")},
            "media": {name: {"sha1": hashlib.sha1(body).hexdigest()} for name, body in _files(data / "media", "")},
            "users": dict(map(_user, _lines(data / "conf/users.auth.php"))),
            "rights": dict(map(_right, _lines(data / "conf/acl.auth.php"))),
            "settings": {p.name: {"text": p.read_text()} for p in sorted((data / "conf").iterdir())
                         if p.is_file() and p.name not in _SETTINGS_KEPT_ELSEWHERE},
        }  # fmt: skip

    def _warm(self, root: Path, data: Path) -> None:
        """Ask for style sheets and scripts, which DokuWiki puts together once and keeps. Raises SiteBroken."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        environ = {**os.environ, **self.environ(root, data)}
        server = subprocess.Popen(self.argv(root, data, port), env=environ, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + _WARM_S
            while not (page := _get(port, "/doku.php?id=start")):
                if time.monotonic() > deadline or server.poll() is not None:
                    raise SiteBroken(f"the server did not answer within {_WARM_S:g} s")
                time.sleep(0.05)
            for link in re.findall(r'(?:href|src)="(/lib/exe/(?:css|js|jquery)\.php[^"]*)"', page):
                _get(port, html.unescape(link))
        finally:
            server.kill()
            server.wait()
        for path in (data / "cache").rglob("*"):
            if path.suffix in (".i", ".metadata", ".xhtml"):  # of pages: known by where the page lies
                path.unlink()


SITE = Wiki()


def _get(port: int, path: str) -> str:
    """What the server says to a browser, or nothing where it isn't up yet."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Host": "wiki.test"})
    with suppress(OSError), urllib.request.urlopen(request, timeout=_WARM_S) as reply:
        text: str = reply.read().decode()
        return text
    return ""


# -- pages: `pages/a/b.txt` is page a:b, its editions are in attic/, who made them in meta/ ---------------------------


def _write(data: Path, editions: Iterable[Edition]) -> None:
    """Put editions of pages on top, as if somebody had saved them at their time."""
    changed = []
    with (data / "meta/_dokuwiki.changes").open("a") as log:
        for edition in editions:
            page, stamp = edition["page"], int(datetime.fromisoformat(edition["date"]).replace(tzinfo=UTC).timestamp())
            path = page.replace(":", "/")
            text, changes, attic = (data / d / f"{path}{end}" for d, end in _PLACES)
            for file in (text, changes, attic):
                file.parent.mkdir(parents=True, exist_ok=True)
            kind, size = ("E", text.stat().st_size) if text.exists() else ("C", 0)
            body = edition["text"].encode()
            text.write_bytes(body)
            os.utime(text, (stamp, stamp))
            kept = attic.with_name(f"{attic.name}.{stamp}.txt.gz")
            kept.write_bytes(gzip.compress(body, 1, mtime=stamp))
            os.utime(kept, (stamp, stamp))
            fields = (stamp, "10.0.0.7", kind, page, edition["user"], edition["summary"], "", len(body) - size)
            line = "\t".join(map(str, fields)) + "\n"
            log.write(line)
            with changes.open("a") as own:
                own.write(line)
            changes.with_suffix(".meta").unlink(missing_ok=True)
            changed.append(page)
    argv = ["php", "-d", f"auto_prepend_file={_PREPEND}", str(_INDEX)]
    run(argv, input="\n".join(changed), env={"WIKI_DATA": str(data)})


def _page(data: Path, page: str, text: bytes) -> Row:
    """A page's row; without a summary where nobody made it through the wiki."""
    changes = _lines(data / "meta" / f"{page.replace(':', '/')}.changes")
    last = changes[-1].split("\t") if changes else [""] * 6
    return {"page": page, "text": text.decode(errors="replace"), "summary": last[5]}


def _files(directory: Path, end: str) -> Iterable[tuple[str, bytes]]:
    """The files under a directory as DokuWiki names them: `a:b`."""
    for path in sorted(directory.rglob(f"*{end}")):
        if path.is_file():
            yield unquote(str(path.relative_to(directory)).removesuffix(end)).replace("/", ":"), path.read_bytes()


# -- users and rights --------------------------------------------------------------------------------------------------


def hashed(password: str) -> str:
    """A password as the table of users has it."""
    return hashlib.sha1(password.encode()).hexdigest()


def _user_line(person: wiki_data.Person) -> str:
    groups = "admin,user" if person.id == ADMIN else f"user,{person.team}"
    return f"{person.id}:{hashed(PASSWORD)}:{person.name}:{person.id}@halvard.example:{groups}\n"


def _user(line: str) -> tuple[str, Row]:
    login, password, name, mail, groups = re.split(r"(?<!\\):", line)[:5]
    return login, {
        "login": login,
        "name": name,
        "mail": mail,
        "groups": sorted(filter(None, groups.split(","))),
        "password": password,
    }


def _right(line: str) -> tuple[str, Row]:
    page, who, level = line.split()
    return f"{page} {unquote(who)}", {"page": page, "who": unquote(who), "level": int(level)}


def _lines(path: Path) -> list[str]:
    """A file's lines that aren't empty or comments; none where there is no such file."""
    text = path.read_text(errors="replace") if path.exists() else ""
    return [line for line in text.splitlines() if line.strip() and not line.startswith(("#", "<?php"))]
