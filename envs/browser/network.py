"""Network: what a page may reach: the hosts that its task names and nothing else.

Invariant: the rules are the browser's own, below every page, worker and redirect: a name or address that the task
does not name has no address. A host of a task is one of
    example.com             the name as the machine resolves it, any port (`*.example.com` its subdomains)
    127.0.0.1:8123          an address and port
    shop.test=127.0.0.1:8123    the name, any port, served from that address (a name below `.localhost` counts as a
                            secure context, as https does)
    *                       the whole network
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

EVERYTHING = "*"
SCHEMES = ("http", "https", "data")
AGENTS_SCHEMES = ("http", "https")  # a page that an agent writes itself shows nothing of the task's
BLANK = "about:blank"
_HOST = re.compile(r"(\*\.)?[A-Za-z0-9_.-]+(:\d{1,5})?")


def resolver_rules(hosts: Sequence[str]) -> str:
    """Chromium's `--host-resolver-rules` for a task's hosts; the first that matches counts. Raises ValueError."""
    if EVERYTHING in hosts:
        return ""
    rules = []
    for host in hosts:
        name, _, address = host.partition("=")
        if not _HOST.fullmatch(name) or ("=" in host and not _HOST.fullmatch(address)):
            raise ValueError(f"host {host!r}; valid are name, *.name, address:port, name=address:port and *")
        if name.startswith("*."):
            rules.append(f"EXCLUDE {name}")
        else:
            rules.append(f"MAP {name} {address or name}")
    return ", ".join([*rules, "MAP * ~NOTFOUND"])


def names(hosts: Sequence[str]) -> str:
    """The hosts as an agent may know them."""
    return ", ".join(host.partition("=")[0] for host in hosts) or "none"


def checked_url(url: str, schemes: Sequence[str] = SCHEMES) -> str:
    """An address that may be opened, `http://` put before one that has no scheme. Raises ValueError."""
    url = url.strip()
    if url == BLANK:
        return url
    if re.match(r"[\w.-]+(:\d+)?(/|$|\?|#)", url):
        url = f"http://{url}"
    try:
        parts = urlsplit(url)
        known = parts.scheme in schemes and (parts.scheme == "data" or bool(parts.hostname))
    except ValueError:
        known = False
    if not known:
        raise ValueError(f"{url!r} can't be opened; valid are addresses of {', '.join(schemes)}, and {BLANK}")
    return url
