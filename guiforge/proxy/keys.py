"""Keys: who may ask what. They are stateless: an episode, a deadline and a MAC under the run's own secret.

Invariant: a key opens one episode until its deadline and nothing else; a completions key can't say how an episode
went, and a worker's key can't ask for completions. Compared in constant time; no text or repr holds one.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

SECRET_FILE, ADMIN_FILE = "proxy.secret", "proxy.admin"
Kind = Literal["c", "w"]
"""What a key is for: completions, or the worker's own records."""


@dataclass(frozen=True)
class Claim:
    """What a valid key says: its kind, the episode's id, and until when (Unix seconds) it is good."""

    kind: Kind
    episode: str
    deadline: float


class Keys:
    """Mints and reads the keys of one run folder; its secrets are made there once, readable by their owner alone."""

    def __init__(self, run: Path) -> None:
        self._secret = _kept(run / SECRET_FILE).encode()
        self._admin = _kept(run / ADMIN_FILE)

    def __repr__(self) -> str:
        return "Keys(...)"

    def mint(self, kind: Kind, episode: str, deadline: float) -> str:
        """A key for an episode (by its id) until a deadline, in Unix seconds, kept to the millisecond."""
        body = f"{kind}-{episode}-{round(deadline * 1000):x}"
        return f"gf-{body}-{self._mac(body)}"

    def read(self, key: str) -> Claim | None:
        """What a key says, expired or not; None for one that this run did not mint."""
        prefix, _, rest = key.partition("-")
        body, _, mac = rest.rpartition("-")
        if prefix != "gf" or not hmac.compare_digest(mac.encode(), self._mac(body).encode()):
            return None
        kind, episode, deadline = body.split("-")
        return Claim("w" if kind == "w" else "c", episode, int(deadline, 16) / 1000)

    def is_admin(self, key: str) -> bool:
        """Whether this is the run's admin key."""
        return hmac.compare_digest(key.encode(), self._admin.encode())

    def _mac(self, body: str) -> str:
        return hmac.digest(self._secret, body.encode("utf-8", "surrogatepass"), hashlib.sha256)[:16].hex()


def admin_key(run: Path) -> str:
    """The admin key of a run folder. Raises OSError where there is none, or it is not this user's to read."""
    return (run / ADMIN_FILE).read_text().strip()


def _kept(path: Path) -> str:
    """The secret in a file, made where there is none; whole at once, so that no killed process leaves half of one."""
    if not path.exists():
        temp = path.with_name(f".{path.name}.tmp")
        fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(fd, "w") as file:
            file.write(f"gf-a-{secrets.token_hex(24)}\n")
        temp.rename(path)
    return path.read_text().strip()
