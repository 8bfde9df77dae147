"""The one HTTP client against a real server: when it tries again, when it stops, and what it never says."""

import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from answering import answering

from hopgate import http
from hopgate.errors import HopgateError
from hopgate.http import RETRIED, JsonClient, RetryPolicy

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

    def asked(self, *script: tuple[Any, ...], retry: RetryPolicy = QUICK) -> http.Reply:
        """What comes of a request that is answered so."""
        self.script, self.requests = list(script), []
        return JsonClient(self.url, key=KEY, retry=retry).post("x", {"a": 1})


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    with answering(running.answer) as running.url:
        yield running


def test_what_may_pass_is_tried_again_and_counted(server):
    for status in sorted(RETRIED):
        reply = server.asked((status, b""))
        assert reply.ok and reply.body == {} and reply.attempts == 2
        assert [body for _, body in server.requests] == [{"a": 1}] * 2


def test_what_is_refused_for_good_is_sent_once(server):
    for status in (302, 400, 401, 403, 404, 413, 422, 501):
        reply = server.asked((status, {"error": "no"}, {"Location": "/elsewhere"}))
        assert (reply.ok, reply.transient, reply.attempts, reply.reason) == (False, False, 1, f"answered {status}")
        assert reply.body == {"error": "no"} and len(server.requests) == 1


def test_retry_after_is_obeyed_where_it_names_seconds_and_not_for_ever(server):
    assert server.asked((429, b"", {"Retry-After": "0.3"}), (429, b"", {"Retry-After": "soon"})).ok
    first, second, third = (when for when, _ in server.requests)
    assert second - first >= 0.3 and third - second < 0.3
    reply = server.asked((429, b"", {"Retry-After": "3600"}))
    assert reply.reason == "answered 429 and asks to wait 3600 s"
    assert reply.transient and len(server.requests) == 1
    for odd in ("", "-5", "nan", "inf", "1e3", "²", "Wed, 1 Jan 2020 00:00:00 GMT"):
        assert server.asked((429, b"", {"Retry-After": odd})).ok


def trickle() -> Iterator[bytes]:
    for _ in range(40):
        yield b" "
        time.sleep(0.05)


def test_a_reply_that_trickles_or_has_no_end_is_given_up(server, monkeypatch):
    short = RetryPolicy(timeout=1, total=0.2, retries=1, backoff=0.01)
    reply = server.asked((200, trickle()), (200, trickle()), retry=short)
    assert (reply.status, reply.attempts, reply.reason) == (0, 2, "did not finish its reply within 0.2 s")
    monkeypatch.setattr(http, "MAX_REPLY_BYTES", 1000)
    reply = server.asked((200, b" " * 100_000))
    assert reply.reason == "sent more than 1,000 bytes" and not reply.ok
    assert len(server.requests) == 1


@pytest.mark.parametrize("body", [b"<html>", b"", b"\xff\xfe\x00", b"[" * 100_000])
def test_what_is_not_json_is_said_to_be_so(server, body):
    assert server.asked((200, body)).reason == "did not answer in JSON"


def test_the_key_is_sent_and_never_shown_whole_or_in_part(server):
    echo = {"error": {"message": f"bad key {KEY}"}}
    refused, wrong = server.asked((401, echo)), server.asked((400, echo))
    assert (refused.reason, refused.message) == ("answered 401", "")
    assert (wrong.reason, wrong.message) == ("answered 400", "bad key …")
    assert KEY not in repr(JsonClient(server.url, key=KEY))
    # At the cut of a long message.
    message = server.asked((400, {"error": "x" * 152 + KEY})).message
    assert "sk-" not in message and len(message) <= 160


@pytest.mark.parametrize(
    ("url", "key", "reason"),
    [
        *((url, "", "is not an http or https URL") for url in ("localhost:8000", "ftp://x", "")),
        ("http://localhost/v1?key=sk-in-the-open", "", "a key is given by a variable"),
        *((f"http://{host}/v1", "", "not a URL|cannot be") for host in ("127.0.0.1:99999", "[::1", "exa mple")),
        *(("http://127.0.0.1:9", key, "cannot carry") for key in ("sk-\u00e9", "sk-a\nb", "sk-\x00")),
    ],
)
def test_what_is_no_address_or_no_key_is_refused_without_showing_it(url, key, reason):
    with pytest.raises(HopgateError, match=reason) as refused:
        reply = JsonClient(url, key=key, retry=RetryPolicy(retries=0)).post("x", {})
        raise HopgateError(reply.reason)
    assert "sk-" not in str(refused.value)
