"""What a desktop's session can't reach: gold data and verifiers, other desktops, this machine and the network."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

import envs.desktop
import guiforge
import verifiers
from envs.desktop import sandbox
from envs.desktop.desktop import Desktop

pytestmark = [
    pytest.mark.desktop,
    pytest.mark.skipif(not sandbox.isolation().sandbox, reason="; ".join(sandbox.isolation().missing)),
]
SMALL = (640, 480)


@pytest.fixture(scope="module")
def desktop() -> Iterator[Desktop]:
    with Desktop.start(SMALL, warmed=False) as desktop:
        yield desktop


def python(desktop: Desktop, script: str, *args: str) -> tuple[int, str]:
    """Exit status and output of a script that the session's user runs."""
    result = desktop.run(["/usr/bin/python3", "-c", script, *args])
    return result.code, result.stdout


@pytest.mark.parametrize("package", [guiforge, verifiers, envs.desktop])
def test_our_own_source_is_not_there(desktop: Desktop, package: object) -> None:
    source = str(getattr(package, "__file__", None))
    assert Path(source).is_file()
    code, output = python(desktop, "import sys; print(open(sys.argv[1]).read())", source)
    assert code != 0 and "Error" in output


FIND = "find {place} -mindepth 1 -exec cat {{}} + 2>/dev/null; find {place} -mindepth 1 2>/dev/null"


@pytest.mark.skipif(not os.access("/opt", os.W_OK), reason="needs to write to a directory of the system")
@pytest.mark.parametrize("checkout", [True, False])
def test_what_is_ours_below_a_directory_of_the_system_is_not_there(
    monkeypatch: pytest.MonkeyPatch, checkout: bool
) -> None:
    with tempfile.TemporaryDirectory(prefix="guiforge-test-", dir="/opt") as name:
        root = Path(name)
        root.chmod(0o755)
        files = ["verifiers/gold.py", "runs/one/run.sqlite", *(["pyproject.toml", "tests/gold.py"] if checkout else [])]
        for file in files:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text("the gold answer")
        spec = ModuleSpec("verifiers", None, is_package=True)
        spec.submodule_search_locations = [f"{root}/verifiers"]
        monkeypatch.setattr(sandbox, "find_spec", lambda name: spec if name == "verifiers" else None)
        monkeypatch.chdir(root)
        assert subprocess.run(["sh", "-c", FIND.format(place=root)], capture_output=True, check=False).stdout
        with Desktop.start(SMALL, warmed=False) as desktop:
            found = desktop.run(["sh", "-c", FIND.format(place=root)]).stdout.split()
        assert sorted(found) == ([] if checkout else [f"{root}/runs", f"{root}/verifiers"])


@pytest.mark.skipif(sys.base_prefix.startswith("/usr"), reason="the session runs the system's own Python")
def test_what_is_installed_into_our_python_is_not_there(desktop: Desktop) -> None:
    assert next(Path(sys.base_prefix).glob("lib/python*/site-packages/*"), None)
    listed = desktop.run(["sh", "-c", "find /run/guiforge/python -path '*-packages*' 2>/dev/null"]).stdout.split()
    assert [Path(path).name for path in listed] == ["site-packages"]


@pytest.mark.parametrize("place", ["/root", "/tmp/guiforge-0", "/var/lib/dpkg", str(Path.cwd())])
def test_places_of_this_machine_are_not_there(desktop: Desktop, place: str) -> None:
    code, output = python(desktop, "import os, sys; print(os.listdir(sys.argv[1]))", place)
    assert code != 0 and "Error" in output


def test_another_desktop_s_home_screen_and_processes_are_out_of_reach(desktop: Desktop) -> None:
    with Desktop.start(SMALL, warmed=False) as other:
        for path in (other.home, other.framebuffer, Path(f"/tmp/.X11-unix/X{other.display[1:]}")):
            code, _ = python(desktop, "import os, sys; os.stat(sys.argv[1])", str(path))
            assert code != 0, path
        program = other.spawn(["sleep", "123456"])
        assert program.pid
        _, output = python(
            desktop,
            "import pathlib; print([p.read_bytes() for p in pathlib.Path('/proc').glob('[0-9]*/cmdline')])",
        )
        assert "123456" not in output and "python3" in output


def test_the_network_is_closed_and_loopback_is_its_own(desktop: Desktop) -> None:
    connect = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 3)"
    with socket.create_server(("127.0.0.1", 0)) as server:
        code, output = python(desktop, connect, "127.0.0.1", str(server.getsockname()[1]))
        assert code != 0 and "refused" in output
    code, output = python(desktop, connect, "192.0.2.1", "80")
    assert code != 0 and "unreachable" in output
    own = "import socket; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname())"
    assert python(desktop, own) == (0, "")


def test_the_system_can_not_be_written(desktop: Desktop) -> None:
    for place in ("/usr", "/etc", "/usr/local/bin", "/"):
        code, output = python(desktop, "import sys; open(sys.argv[1] + '/x', 'w')", place)
        assert code != 0 and "Error" in output


def test_no_variable_of_this_process_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUIFORGE_TEST_SECRET", "s3cret")
    with Desktop.start(SMALL, warmed=False) as desktop:
        output = desktop.run(["sh", "-c", "env; cat /proc/*/environ 2>/dev/null"]).stdout
    assert "HOME=/home/user" in output and "s3cret" not in output


def test_privileges_can_not_be_gained(desktop: Desktop) -> None:
    status = desktop.run(["cat", "/proc/self/status"]).stdout
    assert "NoNewPrivs:\t1" in status
    assert f"Uid:\t{desktop.uid}\t{desktop.uid}" in status
    assert "CapEff:\t0000000000000000" in status


@pytest.mark.skipif(not sandbox.isolation().own_uids, reason="needs root")
def test_the_session_can_not_stop_or_read_its_display_server(desktop: Desktop) -> None:
    code, output = python(desktop, "import os; os.kill(2, 9)")
    assert code != 0 and "PermissionError" in output
    code, output = python(desktop, "import os; os.listdir('/run/guiforge/screen')")
    assert code != 0 and "PermissionError" in output
    desktop.check()


@pytest.mark.skipif(not sandbox.isolation().own_uids, reason="needs root")
def test_another_user_of_this_machine_can_not_read_the_screen(desktop: Desktop) -> None:
    look = "import Xlib.display, sys; Xlib.display.Display(sys.argv[1])"
    paths = [path for path in sys.path if path.endswith("site-packages")]
    for user in (65534, desktop.uid):  # not even the same one
        done = subprocess.run(
            ["/usr/bin/python3", "-c", f"import sys; sys.path += {paths}; {look}", desktop.display],
            user=user, group=user, extra_groups=(), env={"XAUTHORITY": "/dev/null"}, cwd="/", capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert done.returncode != 0 and "uthoriz" in done.stderr, done.stderr
    for path in (desktop.framebuffer, desktop.home, desktop.home.parent / "run" / "xauthority"):
        assert subprocess.call(["ls", str(path)], user=65534, group=65534, stderr=subprocess.DEVNULL) != 0


def test_what_is_not_isolated_is_stated_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    sandbox.isolation.cache_clear()
    try:
        found = sandbox.isolation()
    finally:
        sandbox.isolation.cache_clear()
    assert not found.sandbox
    assert all("bubblewrap is not installed" in line for line in found.missing if not line.startswith("uid"))
    assert {line.split(":")[0].split()[0] for line in found.missing} >= {"processes", "files", "network"}


def test_what_a_session_keeps_in_memory_and_a_file_on_disk_have_a_bound(desktop: Desktop) -> None:
    sizes = desktop.run(["df", "--output=size", "-B1", "/tmp", "/var/tmp", "/dev/shm", "/run", "/var"]).stdout
    assert [int(size) for size in sizes.split()[1:]] == [512 << 20] * 5
    code, output = python(desktop, "open('huge', 'wb').truncate((1 << 30) + 1)")
    assert code == -signal.SIGXFSZ or "File too large" in output
    desktop.check()
