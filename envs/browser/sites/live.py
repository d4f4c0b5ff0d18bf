"""LiveSites: the sites of one env, and what verifiers read of them: a file `sites/NAME/TABLE.json` for each table.

Invariant: nothing of a site outlives `close`, nor its worker; no more than `most` servers are kept running, and only
those that the episode's set-up has started are read.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

from envs.browser.place import claim_directory, remove_directory
from envs.browser.sites import DOMAIN, cache, load
from envs.browser.sites.runner import Runner
from guiforge.env import EnvError
from guiforge.task import StartSite

MOST = 4
START_S = 60.0
QUIET_S = 5.0
_FIRST_UID = 16_000_000  # above those of browsers; and up by the worker's process id and the site's number
_SITES_OF_ONE = 64


class LiveSites:
    """The servers of an env. most: how many are kept."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._place: tuple[Path, int] | None = None
        self._runners: dict[str, Runner] = {}
        self._running: list[str] = []  # the one last used is last
        self._playing: tuple[str, ...] = ()

    def hosts(self, hosts: Sequence[str], steps: Sequence[StartSite]) -> tuple[str, ...]:
        """A task's hosts, those of the sites that it starts with the address that they are served from."""
        served = {f"{step.site}.{DOMAIN}": step.site for step in steps}
        return tuple(f"{host}={self._runner(served[host]).address}" if host in served else host for host in hosts)

    def start(self, steps: Sequence[StartSite], deadline: float) -> None:
        """Serve these sites, each on a fresh copy of its data; the episode before has ended. Raises EnvError."""
        self._playing = ()
        names = [step.site for step in steps]
        if len(set(names)) != len(names):
            raise EnvError("setup", f"a site is started twice: {', '.join(names)}")
        self._running = [name for name in self._running if name not in names] + names
        while len(self._running) > max(self._most, len(names)):
            self._runners[self._running.pop(0)].stop()
        try:
            for step in steps:
                self._runner(step.site).begin(step.records)
            for name in names:
                self._runners[name].wait_ready(min(deadline, time.monotonic() + START_S))
        except BaseException:
            for name in names:
                self._runner(name).stop()
            raise
        self._playing = tuple(names)

    def check(self) -> None:
        """Raises EnvError where a server of the episode has ended."""
        for name in self._playing:
            self._runners[name].check()

    @property
    def serving(self) -> bool:
        """Whether the episode has any."""
        return bool(self._playing)

    def settle(self) -> None:
        """Wait until every request has had its answer, for a while. Raises EnvError."""
        deadline = time.monotonic() + QUIET_S
        for name in self._playing:
            self._runners[name].settle(deadline)

    def files(self) -> dict[str, bytes]:
        """The tables as JSON, by path. Raises EnvError."""
        return {
            f"sites/{name}/{table}.json": json.dumps(rows, sort_keys=True, ensure_ascii=False, indent=1).encode()
            for name in self._playing
            for table, rows in sorted(self._runners[name].dump().items())
        }

    def close(self) -> None:
        """End every server and remove all data. Safe to call twice."""
        self._playing = ()
        for runner in self._runners.values():
            runner.close()
        self._runners.clear()
        self._running.clear()
        place, self._place = self._place, None
        if place is not None:
            remove_directory(*place)

    def _runner(self, name: str) -> Runner:
        if name not in self._runners:
            try:
                site = load(name)
            except LookupError as problem:
                raise EnvError("setup", str(problem)) from problem
            prepared = cache.prepared(site)
            if not prepared.whole:
                raise EnvError(f"site {name}", f"is not set up; run: guiforge sites {name}")
            if self._place is None:
                self._place = claim_directory("sites")
            number = len(self._runners)
            own = _FIRST_UID + os.getpid() * _SITES_OF_ONE + number
            uid = own if os.geteuid() == 0 else os.geteuid()
            self._runners[name] = Runner(site, prepared, self._place[0] / name, uid)
        return self._runners[name]
