"""The one HTTP client against a real server: when it tries again, when it stops, and what it never says."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from answering import answering

from hopgate import http
from hopgate.errors import HopgateError
from hopgate.http import RETRIED, JsonClient, RetryPolicy, retry_after

KEY = "sk-very-secret"
QUICK = RetryPolicy(timeout=2.0, total=3.0, retries=2, backoff=0.01, longest_wait=1.0)


class Server:
    """Answers the requests one after the other as `script` says, then with `{}`; notes when each came."""

    def __init__(self) -> None:
        self.script: list[tuple[Any, ...]] = []
        self.requests: list[tuple[float, Any]] = []
        self.url = ""

    def answer(self, _: BaseHTTPRequestHandler, body: str) -> tuple[Any, ...]:
        self.requests.append((time.monotonic(), json.loads(body)))
        return self.script.pop(0) if self.script else (200, {})


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    with answering(running.answer) as running.url:
        yield running


def trickle() -> Iterator[bytes]:
    for _ in range(40):
        yield b" "
        time.sleep(0.05)


def client(server: Server, retry: RetryPolicy = QUICK) -> JsonClient:
    return JsonClient(server.url, key=KEY, retry=retry)


@pytest.mark.parametrize("status", sorted(RETRIED))
def test_what_may_pass_is_tried_again_and_counted(server: Server, status: int) -> None:
    server.script = [(status, b"")]
    reply = client(server).post("x", {"a": 1})
    assert reply.ok and reply.body == {} and reply.attempts == 2
    assert [body for _, body in server.requests] == [{"a": 1}] * 2


@pytest.mark.parametrize("status", [302, 400, 401, 403, 404, 413, 422, 501])
def test_what_is_refused_for_good_is_sent_once(server: Server, status: int) -> None:
    server.script = [(status, {"error": "no"}, {"Location": "/elsewhere"})]
    reply = client(server).post("x", {})
    assert (reply.ok, reply.transient, reply.attempts, reply.reason) == (False, False, 1, f"answered {status}")
    assert reply.body == {"error": "no"}
    assert len(server.requests) == 1


def test_retry_after_is_obeyed_as_seconds_and_as_a_date(server: Server) -> None:
    past = "Thu, 01 Jan 1970 00:00:00 GMT"
    server.script = [(429, b"", {"Retry-After": "0.3"}), (429, b"", {"Retry-After": past})]
    assert client(server).post("x", {}).ok
    first, second, third = (when for when, _ in server.requests)
    assert second - first >= 0.3 and third - second < 0.3


def test_a_wait_beyond_the_longest_ends_it_at_once(server: Server) -> None:
    server.script = [(429, b"", {"Retry-After": "3600"})]
    reply = client(server).post("x", {})
    assert reply.reason == "answered 429 and asks to wait 3600 s"
    assert reply.transient and len(server.requests) == 1


@pytest.mark.parametrize("header", [None, "", "soon", "-5", "nan", "inf", "1e3", "²", "Wed, 1 Jan 2020 00:00:00 +9e99"])
def test_an_unreadable_retry_after_says_nothing(header: str | None) -> None:
    assert retry_after(header) == 0


def test_a_reply_that_trickles_is_given_up(server: Server) -> None:
    server.script = [(200, trickle()), (200, trickle())]
    reply = client(server, RetryPolicy(timeout=1, total=0.2, retries=1, backoff=0.01)).post("x", {})
    assert reply.reason == "did not finish its reply within 0.2 s"
    assert (reply.status, reply.attempts) == (0, 2)


def test_a_reply_without_end_is_cut(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_REPLY_BYTES", 1000)
    server.script = [(200, b" " * 100_000)]
    reply = client(server).post("x", {})
    assert reply.reason == "sent more than 1,000 bytes" and not reply.ok
    assert len(server.requests) == 1


@pytest.mark.parametrize("body", [b"<html>", b"", b"\xff\xfe\x00", b"[" * 100_000])
def test_what_is_not_json_is_said_to_be_so(server: Server, body: bytes) -> None:
    server.script = [(200, body)]
    assert client(server).post("x", {}).reason == "did not answer in JSON"


def test_the_key_is_sent_and_never_shown(server: Server) -> None:
    echo = {"error": {"message": f"bad key {KEY}"}}
    server.script = [(401, echo), (400, echo)]
    refused, wrong = (client(server).post("x", {}) for _ in range(2))
    assert (refused.reason, refused.message) == ("answered 401", "")
    assert (wrong.reason, wrong.message) == ("answered 400", "bad key …")
    assert KEY not in repr(client(server)) + repr(vars(refused)["message"])


def test_a_key_at_the_cut_of_a_long_message_is_not_shown_in_part(server: Server) -> None:
    server.script = [(400, {"error": "x" * 152 + KEY})]
    message = client(server).post("x", {}).message
    assert "sk-" not in message and len(message) <= 160


@pytest.mark.parametrize("key", ["sk-\u00e9", "sk-a\nb", "sk-\x00"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(HopgateError, match="cannot carry") as refused:
        JsonClient("http://127.0.0.1:9", key=key)
    assert "sk-" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        *((url, "is not an http or https URL") for url in ("localhost:8000", "ftp://x", "")),
        ("http://localhost/v1?key=sk-in-the-open", "a key is given by a variable"),
        *(
            (url, "not a URL|cannot be")
            for url in ("http://127.0.0.1:99999/v1", "http://[::1/v1", "http://exa mple/v1")
        ),
    ],
)
def test_what_is_no_address_is_refused_without_a_key_in_it(url: str, reason: str) -> None:
    with pytest.raises(HopgateError, match=reason) as refused:
        reply = JsonClient(url, retry=RetryPolicy(retries=0)).post("x", {})
        raise HopgateError(reply.reason)
    assert "sk-" not in str(refused.value)


def test_nobody_there_is_a_reply_with_a_reason() -> None:
    reply = JsonClient("http://127.0.0.1:9", retry=RetryPolicy(retries=1, backoff=0.01)).post("x", {})
    assert reply.reason.startswith("cannot be reached (") and reply.attempts == 2
