"""Chat: one model call over HTTP to an OpenAI-compatible endpoint, with retries inside one deadline.

Invariant: `complete` returns a completion, or raises PolicyFailed, whose text names the URL, or PolicyTimedOut; it
never outlives its timeout by more than one read. No text holds the key.
"""

from __future__ import annotations

import json
import re
import time
from types import TracebackType
from typing import Any

import httpx
from pydantic import ValidationError

from guiforge.harness import PolicyFailed, PolicyTimedOut
from guiforge.wire import ChatResponse, ErrorBody

TRIES = 6
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 8.0
MAX_REPLY_BYTES = 32 * 2**20
REACH_S = 10.0  # for a connection and a first answer, before anything is asked
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class _Retry(Exception):
    """A fault that may pass: what it was, and how long the endpoint asks to be left alone."""

    def __init__(self, what: str, pause_s: float | None = None) -> None:
        super().__init__(what)
        self.pause_s = pause_s


class Chat:
    """A connection to `{base_url}/chat/completions` with a bearer key. A context manager.

    Raises PolicyFailed for a URL that is none, and for a key that no HTTP header can carry.
    """

    def __init__(self, base_url: str, api_key: str) -> None:
        self._base_url = base_url.rstrip("/")
        self._url = f"{self._base_url}/chat/completions"
        try:
            url = httpx.URL(self._url)
        except httpx.InvalidURL as error:
            raise PolicyFailed(f"endpoint {base_url!r} is no URL: {error}") from None
        if not re.fullmatch(r"[!-~]*", api_key):
            raise PolicyFailed(
                f"the key for {base_url} can't be sent: it holds a line break, a space or another character that a "
                "bearer key can't have (it is not shown here)"
            )
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            verify=url.scheme == "https",  # loading certificates takes longer than a call on loopback
            trust_env=url.host not in _LOOPBACK,
        )

    def __enter__(self) -> Chat:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._client.close()

    def reach(self) -> None:
        """Ask for `{base_url}/models`: any answer but 401 and 403, a 404 too, says that the endpoint is up.

        One that takes the connection and is slow to answer is up as well. Raises PolicyFailed where there is none.
        """
        url = f"{self._base_url}/models"
        try:
            status = self._client.get(url, timeout=REACH_S).status_code
        except (httpx.ReadTimeout, httpx.DecodingError):
            return
        except (httpx.TransportError, httpx.InvalidURL, UnicodeError) as error:
            raise PolicyFailed(f"endpoint {url} can't be reached: {type(error).__name__}: {error}") from None
        if status in (401, 403):
            raise PolicyFailed(f"endpoint {url} refuses the key: it answers {status}")

    def complete(self, body: dict[str, Any], timeout_s: float) -> ChatResponse:
        """The endpoint's completion of a request body.

        429, 5xx and connection faults are tried again, TRIES times in all, with growing pauses (or the endpoint's own
        `Retry-After`), except where it says `x-should-retry: false`. Raises PolicyFailed when the endpoint refuses,
        keeps failing or answers what is no completion, and PolicyTimedOut when it has not answered in time.
        """
        try:
            return self._complete(json.dumps(body).encode(), timeout_s)
        except PolicyFailed as error:
            raise PolicyFailed(f"{error} ({self._url})") from None

    def _complete(self, content: bytes, timeout_s: float) -> ChatResponse:
        deadline = time.monotonic() + timeout_s
        pause_s = FIRST_PAUSE_S
        for attempt in range(1, TRIES + 1):
            try:
                return self._once(content, deadline, timeout_s)
            except _Retry as fault:
                wait_s = pause_s if fault.pause_s is None else fault.pause_s
                if attempt == TRIES or time.monotonic() + wait_s >= deadline:
                    raise PolicyFailed(f"endpoint failed {attempt} times, at last: {fault}") from None
                time.sleep(wait_s)
                pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
        raise AssertionError("unreachable")

    def _once(self, content: bytes, deadline: float, timeout_s: float) -> ChatResponse:
        late = PolicyTimedOut(f"endpoint did not answer within {timeout_s:.1f} s")
        left_s = max(deadline - time.monotonic(), 0.001)
        data = bytearray()
        try:
            with self._client.stream(
                "POST", self._url, content=content, headers=_headers(left_s), timeout=left_s
            ) as response:
                for chunk in response.iter_bytes():
                    data += chunk
                    if time.monotonic() >= deadline:
                        raise late
                    if len(data) > MAX_REPLY_BYTES:
                        raise PolicyFailed(f"endpoint answered rubbish: more than {MAX_REPLY_BYTES} bytes")
        except httpx.ConnectTimeout as error:
            raise _Retry(f"no connection: {error}") from None
        except httpx.TimeoutException:
            raise late from None
        except (httpx.LocalProtocolError, httpx.UnsupportedProtocol, UnicodeError) as error:  # no other try mends it
            raise PolicyFailed(f"endpoint can't be asked: {type(error).__name__}") from None
        except httpx.TransportError as error:
            raise _Retry(f"{type(error).__name__}: {error}") from None
        except (httpx.DecodingError, httpx.InvalidURL) as error:
            raise PolicyFailed(f"endpoint answered rubbish: {error}") from None
        return _read(response, bytes(data))


def _headers(timeout_s: float) -> dict[str, str]:
    """Those of a request. How long it is waited for is said as the SDKs say it; the proxy retries no longer."""
    return {"Content-Type": "application/json", "x-stainless-timeout": f"{timeout_s:.3f}"}


def _read(response: httpx.Response, data: bytes) -> ChatResponse:
    """The completion in a response; its refusal, fault or rubbish as an exception."""
    status = response.status_code
    if status != 200:
        what = f"{status} {_complaint(data)}"
        if (status == 429 or status >= 500) and response.headers.get("x-should-retry") != "false":
            raise _Retry(what, _seconds(response.headers.get("retry-after")))
        raise PolicyFailed(f"endpoint refused: {what}")
    try:
        return ChatResponse.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise PolicyFailed(f"endpoint answered rubbish: {where}{': ' if where else ''}{first['msg']}") from None


def _complaint(data: bytes) -> str:
    """The message of an error body, or the beginning of whatever else came."""
    try:
        error = ErrorBody.model_validate_json(data).error
    except ValidationError:
        return data[:200].decode("utf-8", "replace").strip()
    return f"{error.type}: {error.message}" if error.type else error.message


def _seconds(retry_after: str | None) -> float | None:
    """A Retry-After header in seconds; None for none or a date."""
    return float(retry_after) if retry_after is not None and retry_after.isdecimal() else None
