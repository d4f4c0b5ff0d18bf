from __future__ import annotations

import base64
import gzip
import io
import json
import socket
import struct
import zlib
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from PIL import Image

from guiforge.proxy import Limits
from tests.proxy.world import HELLO, Upstream, World, data_url, eventually, png, showing, whole, with_tokens

ERRORS = {"chat/completions": "chat", "responses": "responses", "messages": "messages"}


def refused(reply: httpx.Response) -> tuple[int, str]:
    assert reply.headers["x-should-retry"] == "false"
    return reply.status_code, reply.json()["error"]["type"]


def limited(w: World, **limits: int) -> str:
    return w.open(limits=Limits(**limits))[1].completions_key


def test_a_body_past_its_limit_is_refused_before_it_is_read(w: World, up: Upstream) -> None:
    key = limited(w, body_bytes=1000)
    body = HELLO | {"padding": "x" * 2000}
    assert refused(w.ask(body, key=key)) == (413, "limit_body_bytes")
    chunks = iter([b'{"model": "m", "padding": "', *[b"x" * 500] * 4, b'"}'])
    reply = w.client.post(f"{w.url}/chat/completions", content=chunks, headers=w.headers(key))
    assert refused(reply) == (413, "limit_body_bytes")
    assert up.asked == []


def packed(w: World, body: bytes, encoding: str) -> httpx.Response:
    headers = w.headers() | {"Content-Encoding": encoding}
    return w.client.post(f"{w.url}/chat/completions", content=body, headers=headers)


def test_a_packed_body_is_unpacked_within_its_limit(w: World) -> None:
    text = json.dumps(HELLO).encode()
    assert packed(w, zlib.compress(text), "deflate").status_code == 200
    assert packed(w, gzip.compress(text), "gzip").status_code == 200
    assert refused(packed(w, gzip.compress(bytes(50 << 20)), "gzip")) == (413, "limit_body_bytes")
    assert refused(packed(w, gzip.compress(text)[:-9], "gzip"))[0] == 400
    assert refused(packed(w, b"garbage", "deflate"))[0] == 400
    assert refused(packed(w, text, "br"))[0] == 415


def test_a_body_that_breaks_off_leaves_nothing(w: World, up: Upstream) -> None:
    where = urlsplit(w.url)
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nx-api-key: {w.opened.completions_key}\r\n"
    for rest in ("Content-Length: 1000\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\nzz\r\nabc"):
        with socket.create_connection((where.hostname, where.port)) as connection:
            connection.sendall((head + rest).encode())
    eventually(lambda: w.client.get(f"{w.root}/healthz").json()["in_flight"] == 0)
    assert w.ask().status_code == 200
    assert len(up.asked) == len(w.calls()) == 1


def test_the_number_of_calls_is_limited(w: World) -> None:
    key = limited(w, calls=2)
    assert [w.ask(key=key).status_code for _ in range(2)] == [200, 200]
    assert refused(w.ask(key=key)) == (429, "limit_calls")


def test_the_number_of_sampled_tokens_is_limited(exact: World, up: Upstream) -> None:
    up.script = whole(with_tokens([1], [2, 3, 4]))
    key = limited(exact, tokens=5)
    assert [exact.ask(key=key).status_code for _ in range(2)] == [200, 200]
    assert refused(exact.ask(key=key)) == (429, "limit_tokens")


def test_the_number_of_different_images_is_limited(w: World) -> None:
    key = limited(w, images=2)
    first, second, third = png(1), png(2), png(3)
    assert w.ask(showing(first, second, first), key=key).status_code == 200
    assert w.ask(showing(second), key=key).status_code == 200
    assert refused(w.ask(showing(first, third), key=key)) == (429, "limit_images")


def test_the_size_of_an_image_is_limited(w: World) -> None:
    key = limited(w, image_bytes=5000)
    assert refused(w.ask(showing(png(1)), key=key)) == (413, "limit_image_bytes")


def bomb(width: int, height: int) -> bytes:
    """A small PNG that says it is large, as whole as its kind can be."""

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    pixels = zlib.compress(bytes(1 + width // 8) * height, 9)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", pixels) + part(b"IEND", b"")


@pytest.mark.parametrize("size", [(8000, 8000), (20000, 20000)])
def test_an_image_that_is_small_and_decodes_to_much_is_refused_before_the_policy_sees_it(
    w: World, up: Upstream, size: tuple[int, int]
) -> None:
    assert refused(w.ask(showing(bomb(*size)))) == (400, "limit_image_pixels")
    assert up.asked == [] and w.calls() == []


def jpeg() -> bytes:
    made = io.BytesIO()
    Image.open(io.BytesIO(png(4))).convert("RGB").save(made, "JPEG")
    return made.getvalue()


def gif() -> bytes:
    made = io.BytesIO()
    Image.open(io.BytesIO(png(4))).save(made, "GIF")
    return made.getvalue()


@pytest.mark.parametrize(
    "url",
    [
        data_url(png(1)[:-200]),
        data_url(jpeg()[:200], "image/jpeg"),
        data_url(gif(), "image/gif"),
        data_url(b"GIF89a"),
        data_url(b""),
        "data:image/png;base64,%%%%",
        "data:image/png;base64,AAA",
        "data:image/svg+xml,<svg/>",
        "data:image/png",
    ],
)
def test_an_image_that_is_none_is_refused_and_leaves_no_call(w: World, url: str) -> None:
    body = showing(png(1))
    body["messages"][0]["content"][1]["image_url"]["url"] = url
    assert refused(w.ask(body))[0] == 400
    assert w.calls() == []
    assert w.ask(showing(png(1))).status_code == 200  # and is not remembered as one that is known


def test_an_image_at_an_address_is_refused(w: World, up: Upstream) -> None:
    body = showing(png(1))
    body["messages"][0]["content"][1]["image_url"]["url"] = "http://127.0.0.1:1/secret.png"
    reply = w.ask(body)
    assert refused(reply)[0] == 400 and "data" in reply.json()["error"]["message"]
    assert up.asked == []


def test_an_image_may_be_declared_as_another_format_and_is_stored_as_what_it_is(w: World) -> None:
    body = showing(png(1))
    body["messages"][0]["content"][1]["image_url"]["url"] = data_url(jpeg(), "image/png")
    assert w.ask(body).status_code == 200
    (image,) = (w.store.path / "images").glob("*/*")
    assert image.suffix == ".jpeg" and image.read_bytes() == jpeg()


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"a":' * 500])
def test_a_body_that_is_no_request_is_the_harnesss_mistake(w: World, body: bytes) -> None:
    reply = w.client.post(f"{w.url}/chat/completions", content=body, headers=w.headers())
    assert refused(reply)[0] == 400


def nested(levels: int) -> Any:
    body: Any = "x"
    for _ in range(levels):
        body = {"a": body}
    return body


def test_a_request_that_is_nested_too_deeply_is_refused(w: World) -> None:
    assert w.ask(HELLO | {"extra": nested(150)}).status_code == 200
    assert refused(w.ask(HELLO | {"extra": nested(500)}))[0] == 400


def test_what_json_can_say_is_recorded(w: World, up: Upstream) -> None:
    text = b'{"model": "m", "messages": [{"role": "user", "content": "\\ud800 \\u0000 \xc3\xa9"}], "n64": 99999999999}'
    reply = w.client.post(f"{w.url}/chat/completions", content=text, headers=w.headers())
    assert reply.status_code == 200
    assert w.calls()[0].request["messages"][0]["content"] == "\ud800 \x00 é"
    assert up.asked[0]["messages"][0]["content"] == "\ud800 \x00 é"


def test_errors_come_in_the_shape_of_the_wire_that_was_asked_in(w: World) -> None:
    for path in ("chat/completions", "responses", "messages"):
        reply = w.client.post(f"{w.url}/{path}", json={}, headers=w.headers("nobody"))
        body = reply.json()
        assert reply.status_code == 401
        if path == "messages":
            assert body["type"] == "error" and set(body["error"]) >= {"type", "message"}
        else:
            assert set(body["error"]) >= {"message", "type", "code", "param"}
    assert w.client.get(f"{w.root}/v2/nothing").status_code == 404


def test_base64_with_line_breaks_is_read(w: World) -> None:
    body = showing(png(1))
    broken = base64.encodebytes(png(1)).decode()
    body["messages"][0]["content"][1]["image_url"]["url"] = f"data:image/png;base64,{broken}"
    assert w.ask(body).status_code == 200
