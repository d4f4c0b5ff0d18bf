"""What a page can't reach, whatever it tries; and what an agent can't open."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest

from envs.browser.env import BrowserEnv
from envs.browser.network import resolver_rules
from guiforge.action import Click, Goto, NewTab
from guiforge.env import EnvError
from tests.browser import rig
from tests.browser.rig import Site, at

# each asks for the address in its own way and tells how it went
WAYS = {
    "fetch": "fetch(URL, {mode: 'no-cors'}).then(() => 'reached', () => 'refused')",
    "image": "new Promise((done) => Object.assign(new Image(), {onload: done, onerror: done, src: URL}))",
    "socket": "new Promise((done) => { new WebSocket(URL.replace('http', 'ws')).onclose = done })",
    "beacon": "(navigator.sendBeacon(URL, 'x'), new Promise((done) => setTimeout(done, 300)))",
    "worker": """new Promise((done) => {
        const worker = new Worker('worker.js'); worker.onmessage = (e) => done(e.data); worker.postMessage(URL) })""",
    "service worker": """navigator.serviceWorker.register('worker.js').then(() => navigator.serviceWorker.ready).then(
        (ready) => new Promise((done) => {
            navigator.serviceWorker.onmessage = (e) => done(e.data); ready.active.postMessage(URL) }))""",
    "redirect": "fetch('/to?' + URL, {mode: 'no-cors'}).then(() => 'reached', () => 'refused')",
    "frame": """new Promise((done) => {
        document.body.append(Object.assign(document.createElement('iframe'), {onload: done, src: URL})) })""",
}  # fmt: skip


@pytest.fixture
def outside() -> Iterator[Site]:
    with rig.site() as server:
        yield server


@pytest.mark.parametrize("way", WAYS)
def test_a_page_reaches_no_host_that_the_task_does_not_name(
    env: BrowserEnv, site: Site, outside: Site, way: str
) -> None:
    for address in (outside.host, f"localhost:{outside.server_address[1]}"):
        env.reset(site.task("late.html"))
        ask = WAYS[way].replace("URL", json.dumps(f"http://{address}/probe"))
        env.oracle_view().evaluate(f"Promise.resolve({ask}).then((said) => String(said))")
    assert outside.asked == [] and outside.connections == 0


@pytest.mark.parametrize("way", WAYS)
def test_a_host_that_the_task_names_is_reached(env: BrowserEnv, site: Site, outside: Site, way: str) -> None:
    env.reset(site.task("late.html", hosts=(f"site.localhost={site.host}", outside.host)))
    ask = WAYS[way].replace("URL", json.dumps(f"http://{outside.host}/probe"))
    env.oracle_view().evaluate(f"Promise.resolve({ask}).then((said) => String(said))")
    assert outside.connections > 0


def test_webrtc_sends_nothing_past_the_rules(env: BrowserEnv, site: Site) -> None:
    env.reset(site.task("late.html"))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener, socket.socket() as server:
        listener.bind(("127.0.0.1", 0))
        server.bind(listener.getsockname())
        server.listen()
        listener.settimeout(0.5)
        server.settimeout(0.5)
        env.oracle_view().evaluate(
            """(async () => {
                const stun = {urls: 'stun:127.0.0.1:PORT'};
                const turn = {urls: 'turn:127.0.0.1:PORT?transport=tcp', username: 'a', credential: 'b'};
                const peer = new RTCPeerConnection({iceServers: [stun, turn]});
                peer.createDataChannel('x');
                await peer.setLocalDescription(await peer.createOffer());
                await new Promise((done) => setTimeout(done, 300));
            })()""".replace("PORT", str(listener.getsockname()[1]))
        )
        with pytest.raises(TimeoutError):
            listener.recv(100)
        with pytest.raises(TimeoutError):
            server.accept()


def test_an_address_out_of_reach_is_an_error_that_names_the_hosts(env: BrowserEnv, site: Site, outside: Site) -> None:
    env.reset(site.task("buttons.html"))
    for url in (f"http://{outside.host}/", "https://example.com/", site.url(f"to?http://{outside.host}/")):
        observation = env.step(Goto(url=url))
        assert observation.error is not None and "net::ERR_NAME_NOT_RESOLVED" in observation.error
        assert "hosts of this task: site.localhost" in observation.error and site.host not in observation.error
    assert outside.connections == 0
    assert env.step(Goto(url=site.url("next.html"))).info["title"] == "Next"


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "chrome://version", "view-source:http://site.localhost/", "devtools:x", "data:,x",
     "javascript:alert(1)", "about:version", "chrome-untrusted://x", "http://", "nonsense://x", "", "http://[", "a b"],
)  # fmt: skip
def test_an_address_of_another_kind_is_refused(env: BrowserEnv, site: Site, url: str) -> None:
    env.reset(site.task("buttons.html"))
    for action in (Goto(url=url), NewTab(url=url or " ")):
        observation = env.step(action)
        assert (
            observation.error is not None and "valid are addresses of http, https, and about:blank" in observation.error
        )
        assert [tab["title"] for tab in observation.info["tabs"]] == ["Buttons"]


@pytest.mark.parametrize("url", ["file:///etc/passwd", "chrome://version", "view-source:http://site.localhost/"])
def test_a_page_can_t_go_there_either(env: BrowserEnv, site: Site, url: str) -> None:
    env.reset(site.task("buttons.html"))
    view = env.oracle_view()
    for go in ("location = URL", "open(URL)", "location = '/to?' + URL"):
        view.evaluate(f"document.getElementById('one').onclick = () => {{ {go.replace('URL', json.dumps(url))} }}")
        observation = env.step(Click(**at(env, "#one")))
        shown = [tab["url"] for tab in observation.info["tabs"]]
        assert not any(tab.startswith(("file:", "chrome:", "view-source:")) for tab in shown), (go, shown)
        assert "root:" not in str(env.oracle_view().evaluate("document.documentElement.innerText"))
        env.reset(site.task("buttons.html"))
        view = env.oracle_view()


def test_set_up_that_is_out_of_reach_or_no_browser_s_is_a_fault(env: BrowserEnv, site: Site) -> None:
    with pytest.raises(EnvError, match=r"setup: http://site\.localhost/next\.html can't be opened"):
        env.reset(site.task("next.html", hosts=()))
    with pytest.raises(ValueError, match="host 'a b'; valid are"):
        env.reset(site.task("next.html", hosts=("a b",)))


def test_rules_name_each_host_and_end_with_nothing_else() -> None:
    hosts = ("example.com", "*.example.org", "127.0.0.1:81", "shop.test=127.0.0.1:82")
    assert resolver_rules(hosts) == (
        "MAP example.com example.com, EXCLUDE *.example.org, MAP 127.0.0.1:81 127.0.0.1:81, "
        "MAP shop.test 127.0.0.1:82, MAP * ~NOTFOUND"
    )
    assert resolver_rules(("*",)) == ""
