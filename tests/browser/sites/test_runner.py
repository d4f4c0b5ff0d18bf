"""A site's life: what its server can see, how it ends, what it says when it does not come up."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from envs.browser.env import BrowserEnv
from envs.browser.place import claim_directory, remove_directory
from envs.browser.sites import cache
from envs.browser.sites.live import LiveSites
from envs.browser.sites.runner import Runner
from envs.browser.sites.site import Site, SiteBroken
from envs.desktop.sandbox import isolation
from guiforge.action import Goto
from guiforge.env import EnvError, EnvTimeout
from guiforge.task import StartSite
from tests.browser.sites.rig import Probe, closing, processes_of, task
from tests.browser.test_lifecycle import eventually

Serve = Callable[..., Site]
PYTHON = str(Path(sys._base_executable).resolve())  # type: ignore[attr-defined]
in_sandbox = pytest.mark.skipif(not isolation().sandbox, reason="no namespaces on this machine")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="takes root to have a user of its own")


@pytest.fixture
def env() -> Iterator[BrowserEnv]:
    env = BrowserEnv()
    yield env
    env.close()


def runner(env: BrowserEnv, name: str = "probe") -> Runner:
    return env._sites._runners[name]


def looked(env: BrowserEnv, *paths: object) -> dict[str, object]:
    env.step(Goto(url=f"http://probe.test/look?{','.join(map(str, paths))}"))
    said: dict[str, object] = json.loads(env.oracle_view().evaluate("document.body.innerText"))
    return said


@in_sandbox
@as_root
def test_a_server_sees_its_application_and_data_and_nothing_else(env: BrowserEnv, served: Serve) -> None:
    served(Probe())
    served(Probe("other"))
    env.reset(task("probe", "other"))
    checkout, episodes = Path(__file__).parents[3], runner(env, "other").data
    base = cache.prepared(runner(env).site).data
    with socket.create_server(("127.0.0.1", 0)) as outside:
        other = runner(env, "other").address.rpartition(":")[2]
        said = looked(env, checkout / "guiforge", episodes, base, Path.home() / ".ssh", outside.getsockname()[1], other)
    assert set(said["read"].values()) == {"FileNotFoundError"}  # type: ignore[attr-defined]
    assert said["connect"] == ["ConnectionRefusedError"] * 2
    assert said["root"] in ("PermissionError", "OSError") and said["data"] == said["tmp"] == "1"
    assert said["uid"] == runner(env)._uid > 16_000_000 and said["host"] == "probe.test"
    assert len(said["processes"]) <= 3  # type: ignore[arg-type]
    assert not Path("/tmp/guiforge-probe").exists()


@as_root
def test_users_and_data_of_two_sites_are_apart_and_base_data_is_its_owner_s(env: BrowserEnv, served: Serve) -> None:
    site = served(Probe())
    served(Probe("other"))
    env.reset(task("probe", "other"))
    one, other = runner(env), runner(env, "other")
    assert len({one._uid, other._uid, os.geteuid(), env._pool.browser.place.uid}) == 4  # type: ignore[union-attr]
    assert one._home.stat().st_mode & 0o777 == 0o700 and one._home.stat().st_uid == one._uid
    assert cache.prepared(site).data.parent.stat().st_mode & 0o777 == 0o700


def test_no_other_name_leads_to_a_site(env: BrowserEnv, served: Serve) -> None:
    served(Probe())
    served(Probe("other"))
    env.reset(task("probe", "other"))
    env.reset(task())
    for address in (runner(env).address, f"localhost:{runner(env).address.rpartition(':')[2]}", "other.test"):
        error = env.step(Goto(url=f"http://{address}/")).error
        assert error is not None and "hosts of this task: probe.test" in error
    assert env.step(Goto(url="http://probe.test:80/")).error is None


def test_each_episode_has_a_fresh_copy_with_its_own_records(env: BrowserEnv, served: Serve) -> None:
    served(Probe())
    for records in (None, {"5": {"text": "seeded"}}):
        env.reset(task(records=records))
        state = env.oracle_view().state
        assert json.loads(state.read("sites/probe/notes.json")) == (records or {})
        env.step(Goto(url="http://probe.test/note?left"))
        assert json.loads(state.read("sites/probe/notes.json")) == {"1": {"text": "left"}}
        assert json.loads(state.read_before("sites/probe/notes.json")) == (records or {})


def test_a_server_that_does_not_mind_stays_and_one_that_does_is_started_anew(env: BrowserEnv, served: Serve) -> None:
    pids: dict[str, list[int]] = {}
    for name, restart in (("stays", False), ("minds", True)):
        site = served(Probe(name))
        site.restart = restart
        pids[name] = []
        for _ in range(2):
            env.reset(task(name))
            pids[name].append(runner(env, name)._process.pid)  # type: ignore[union-attr]
    assert pids["stays"][0] == pids["stays"][1] and pids["minds"][0] != pids["minds"][1]


def test_a_server_still_busy_with_the_episode_before_is_replaced(env: BrowserEnv, served: Serve) -> None:
    served(Probe())
    env.reset(task())
    env.oracle_view().evaluate("void fetch('/slow?30')")
    busy = runner(env)._process.pid  # type: ignore[union-attr]
    assert eventually(lambda: runner(env).waiting() > 0)
    env.reset(task())
    assert runner(env)._process.pid != busy  # type: ignore[union-attr]


def test_the_final_state_waits_for_what_the_site_was_asked(env: BrowserEnv, served: Serve) -> None:
    served(Probe())
    env.reset(task())
    env.oracle_view().evaluate("void fetch('/slow')")
    snapshot, blobs = env.snapshot()
    path = "sites/probe/notes.json"
    assert json.loads(blobs[snapshot.after[path].hash]) == {"1": {"text": "late"}}
    assert json.loads(blobs[snapshot.before[path].hash]) == {}


def test_a_server_that_ends_is_a_fault_with_its_log_and_the_next_episode_has_a_new_one(
    env: BrowserEnv, served: Serve
) -> None:
    served(Probe())
    env.reset(task())
    for pid in processes_of(runner(env)._uid):
        if "server.py" in Path(f"/proc/{pid}/cmdline").read_text():
            os.kill(pid, 9)
    assert eventually(lambda: runner(env)._process.poll() is not None)  # type: ignore[union-attr]
    with pytest.raises(EnvError, match=r"site probe: its server has ended; its log: the server ended with status -9"):
        env.step()
    assert env.reset(task()).info["title"] == "Probe"


def test_a_site_that_does_not_come_up_says_what_its_log_says(env: BrowserEnv, served: Serve) -> None:
    served(Probe(command=(PYTHON, "-c", "print('no luck today', flush=True); raise SystemExit(3)")))
    start = time.monotonic()
    with pytest.raises(EnvError, match=r"(?s)site probe: its server has ended; its log: no luck today.*status 3"):
        env.reset(task())
    assert time.monotonic() - start < 20  # no wait for an answer that nobody is left to give


def test_a_site_that_never_answers_passes_its_deadline(env: BrowserEnv, served: Serve) -> None:
    served(Probe(command=(PYTHON, "-c", "import time; print('thinking', flush=True); time.sleep(60)")))
    start = time.monotonic()
    with pytest.raises(EnvTimeout, match=r"(?s)site probe: / was not ready in time .*; its log: thinking"):
        env.reset(task(limits={"reset_s": 2}))
    assert time.monotonic() - start < 20
    assert processes_of(runner(env)._uid) == []


def test_a_site_that_is_not_set_up_names_the_command(env: BrowserEnv, served: Serve) -> None:
    served(Probe(), prepare=False)
    with pytest.raises(EnvError, match=r"site probe: is not set up; run: guiforge sites probe"):
        env.reset(task())


def test_no_more_servers_are_kept_than_said_and_a_port_stays(served: Serve) -> None:
    for name in ("one", "two", "three"):
        served(Probe(name))
    with closing(LiveSites(most=2)) as sites:
        addresses: list[str] = []
        for name in ("one", "two", "three", "one"):
            steps = [StartSite(site=name)]
            addresses += sites.hosts((f"{name}.test", "else.test"), steps)
            sites.start(steps, time.monotonic() + 30)
            running = [n for n, r in sites._runners.items() if r._process is not None]
            assert len(running) <= 2 and name in running
        assert addresses[0] == addresses[-2] and addresses[0].startswith("one.test=127.0.0.1:")
        assert addresses[1::2] == ["else.test"] * 4


def test_close_ends_every_server_and_removes_every_file_and_may_come_twice(served: Serve) -> None:
    served(Probe())
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    sites = LiveSites()
    sites.hosts(("probe.test",), [StartSite(site="probe")])
    sites.start([StartSite(site="probe")], time.monotonic() + 30)
    uid, home = sites._runners["probe"]._uid, sites._runners["probe"]._home
    assert processes_of(uid) and home.is_dir()
    sites.close()
    sites.close()
    if uid != os.geteuid():
        assert processes_of(uid) == []
    assert not home.parent.exists()
    assert len(list(Path("/proc/self/fd").iterdir())) <= descriptors


@as_root
def test_a_killed_worker_leaves_no_server_and_its_files_are_swept(served: Serve) -> None:
    site = served(Probe())
    script = """
        import time
        from envs.browser.sites import live
        from guiforge.task import StartSite
        from tests.browser.sites.rig import Probe
        live.load = lambda name: Probe()
        sites = live.LiveSites()
        sites.hosts(("probe.test",), [StartSite(site="probe")])
        sites.start([StartSite(site="probe")], time.monotonic() + 30)
        print(sites._runners["probe"]._uid, sites._place[0], sites._runners["probe"]._process.pid, flush=True)
        time.sleep(60)
    """
    assert site.name == "probe"
    worker = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    try:
        assert worker.stdout is not None
        uid, root, pid = worker.stdout.readline().split()
        assert processes_of(int(uid))
    finally:
        worker.kill()
        worker.communicate()
    assert eventually(lambda: not processes_of(int(uid)) and not Path(f"/proc/{pid}").exists())
    remove_directory(*claim_directory("sites"))
    assert not Path(root).exists()


def test_without_a_sandbox_a_site_is_served_too(
    env: BrowserEnv, served: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    served(Probe())
    monkeypatch.setattr("envs.browser.sites.runner.isolation", lambda: type("Bare", (), {"sandbox": False}))
    # as ourselves: this Python may be in reach of nobody else
    monkeypatch.setattr("envs.browser.sites.live._FIRST_UID", -64 * os.getpid())
    assert env.reset(task()).info["title"] == "Probe"
    commands = [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(runner(env).data) in path.read_text()]
    env.close()
    assert len(commands) >= 2 and eventually(lambda: not any(path.exists() for path in commands))


def test_what_is_made_by_halves_is_made_again_and_two_makers_make_it_once(served: Serve) -> None:
    class Fails(Probe):
        broken = True

        def build(self, root: Path, data: Path) -> None:
            (data / "half").touch()
            if self.broken:
                raise SiteBroken("out of luck")
            time.sleep(0.2)
            super().build(root, data)

    site = Fails("fails")
    with pytest.raises(SiteBroken, match="out of luck"):
        cache.prepare(site)
    assert not cache.prepared(site).whole
    site.broken = False
    threads = [threading.Thread(target=cache.prepare, args=(site,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert site.built == 1 and cache.prepared(site).whole


def test_a_site_whose_programs_are_missing_names_the_package(served: Serve) -> None:
    site = Probe()
    site.programs = {"no-such-program": "no-such-package"}  # type: ignore[misc]
    with pytest.raises(SiteBroken, match="lacks no-such-program; run: apt-get install no-such-package"):
        cache.prepare(site)
