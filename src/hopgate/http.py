"""One client for JSON over HTTP: time limits, retries and Retry-After; it gives a reply or the reason for none."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.guard import check_sending
from hopgate.redact import redacted, without_credentials

if TYPE_CHECKING:
    import httpx

KEY_VARIABLE = "OPENAI_API_KEY"
"""The environment variable that holds the key of an OpenAI-compatible server, where no other is named."""

# Statuses that another attempt may change: time-outs, conflicts, too many requests, a server or proxy in trouble.
RETRIED = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 529))
# 128 vectors of 4,096 numbers with all their digits are 12 MiB; a server that sends more than this does not stop.
MAX_REPLY_BYTES = 64 << 20
_SECONDS = re.compile(r"\d+(?:\.\d+)?", re.ASCII)


@dataclass(frozen=True)
class RetryPolicy:
    """How long to wait for a reply, and how often to try; times are seconds."""

    timeout: float = 60.0  # for connecting, and the longest pause within a reply
    total: float = 300.0  # for one attempt, so that a server that sends a byte now and then is given up too
    retries: int = 4  # attempts after the first
    backoff: float = 0.5  # before the first retry; doubled each time, without jitter: one process asks one server
    longest_wait: float = 60.0  # a server whose Retry-After asks for more is not asked again


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int = 0  # of HTTP; 0 where no whole reply arrived
    body: Any = None  # the decoded JSON, or the text where it is none
    reason: str = ""  # why it cannot be used, to be read after the server's name: "answered 500"; empty where it can
    message: str = ""  # what the server wrote about its refusal, cut short and without the key
    attempts: int = 1  # how often the request was sent
    retry_after: float = 0.0  # seconds that the server asked to wait
    unreachable: bool = False  # no connection could be made at all

    @property
    def ok(self) -> bool:
        """Whether it is JSON with a status of success."""
        return not self.reason

    @property
    def transient(self) -> bool:
        """Whether another attempt may end otherwise."""
        return self.status == 0 or self.status in RETRIED


class JsonClient:
    """Posts JSON to one server. What the server does is never raised; it is in the reply. Safe to use from threads.

    Parameters
    ----------
    base_url : str
        The address that paths are added to.
    key : str
        Sent as a bearer token; never in a message, an error or the `repr`.
    retry : RetryPolicy

    Examples
    --------
    >>> JsonClient("http://localhost:8000/v1/", key="secret")
    JsonClient('http://localhost:8000/v1')
    """

    def __init__(self, base_url: str, *, key: str = "", retry: RetryPolicy | None = None) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise HopgateError(
                f"{redacted(base_url)!r} is not an http or https URL: give one like http://localhost:8000/v1"
            )
        if {"?", "#"} & set(base_url):
            raise HopgateError(
                "an endpoint's address ends before ? and #: a key is given by a variable, OPENAI_API_KEY"
            )
        # User and password, where the URL has them, are sent and stand nowhere else.
        self._address = base_url.rstrip("/")
        self.base_url = without_credentials(self._address)
        userinfo, _, _ = self._address.partition("://")[2].partition("/")[0].rpartition("@")
        self._password = userinfo.partition(":")[2] or userinfo
        self.retry = retry or RetryPolicy()
        self._has_answered = False
        self._key = key.strip()
        if not (self._key.isascii() and self._key.isprintable()):
            raise HopgateError(f"the key for {self.base_url} holds characters that an HTTP header cannot carry")

    def __repr__(self) -> str:
        return f"JsonClient({self.base_url!r})"

    def post(self, path: str, body: dict[str, Any]) -> Reply:
        """Send a request until it is answered, is refused for good, or has been sent often enough.

        A server that never answered is plainly down when it refuses two connections.
        """
        content = json.dumps(body).encode()
        attempt = 0
        while True:
            # A retry comes up to a minute later: what it is about may have turned sensitive meanwhile.
            check_sending()
            reply = replace(self._attempt(path, content), attempts=attempt + 1)
            self._has_answered |= not reply.unreachable
            is_down = reply.unreachable and attempt and not self._has_answered
            if not reply.transient or attempt == self.retry.retries or is_down:
                return reply
            if reply.retry_after > self.retry.longest_wait:
                return replace(reply, reason=f"{reply.reason} and asks to wait {reply.retry_after:.0f} s")
            time.sleep(min(max(self.retry.backoff * 2**attempt, reply.retry_after), self.retry.longest_wait))
            attempt += 1

    def _attempt(self, path: str, content: bytes) -> Reply:
        client = self._client
        import httpx

        deadline = time.monotonic() + self.retry.total
        raw = bytearray()
        try:
            with client.stream("POST", f"{self._address}/{path}", content=content) as response:
                for chunk in response.iter_bytes():
                    raw += chunk
                    if time.monotonic() > deadline:
                        return Reply(reason=f"did not finish its reply within {self.retry.total:g} s")
                    if len(raw) > MAX_REPLY_BYTES:
                        return Reply(response.status_code, reason=f"sent more than {MAX_REPLY_BYTES:,} bytes")
        except httpx.TimeoutException:
            return Reply(reason=f"did not answer within {self.retry.timeout:g} s")
        except (httpx.HTTPError, httpx.StreamError) as error:
            reason = f"cannot be reached ({self._without_key(str(error)) or type(error).__name__})"
            return Reply(reason=reason, unreachable=isinstance(error, httpx.ConnectError))
        except httpx.InvalidURL as error:
            raise HopgateError(
                f"{self.base_url} is not a URL that can be used ({self._without_key(str(error))})"
            ) from None
        return self._read(response, raw.decode("utf-8", "replace"))

    def _read(self, response: httpx.Response, text: str) -> Reply:
        status, asked = response.status_code, response.headers.get("retry-after", "").strip()
        try:
            body, is_json = json.loads(text), True
        except (ValueError, RecursionError):
            body, is_json = text, False
        if not response.is_success:
            # A server may repeat a key that it refuses, or a part of it.
            message = "" if status in (401, 403) else self._without_key(_error_message(body))[:160]
            wait = float(asked) if _SECONDS.fullmatch(asked) else 0.0
            return Reply(status, body, f"answered {status}", message, retry_after=wait)
        return Reply(status, body, "" if is_json else "did not answer in JSON")

    def _without_key(self, text: str) -> str:
        return redacted(text, self._key, self._password)

    @cached_property
    def _client(self) -> httpx.Client:
        try:
            import httpx
        except ImportError:
            raise HopgateError("httpx is not installed: pip install 'hopgate[hosted]'") from None
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        try:
            return httpx.Client(headers=headers, timeout=self.retry.timeout)
        except (ValueError, ImportError, httpx.InvalidURL) as error:  # a proxy in the environment that it cannot use
            raise HopgateError(
                f"the HTTP client cannot be set up ({redacted(str(error))}): check the proxy settings"
            ) from None


def _error_message(body: Any) -> str:
    """Return what a server wrote under `error`, on one line."""
    error = body.get("error") if isinstance(body, dict) else None
    text = error.get("message") if isinstance(error, dict) else error
    return " ".join(str(text).split()) if text else ""
