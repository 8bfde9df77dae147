"""The one HTTP client against a real server: when it tries again, when it stops, and what it never says."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from hopgate import http
from hopgate.errors import HopgateError
from hopgate.http import RETRIED, JsonClient, RetryPolicy

KEY = "sk-very-secret"
QUICK = RetryPolicy(timeout=2.0, total=3.0, retries=2, backoff=0.01, longest_wait=1.0)


@pytest.fixture
def ask(endpoint):
    """What comes of a request that is answered so, one time after the other, and then with `{}`."""

    def ask(*script: tuple[Any, ...], retry: RetryPolicy = QUICK) -> http.Reply:
        endpoint.script = [*script, (200, {})]
        endpoint.bodies.clear()
        endpoint.times.clear()
        return JsonClient(endpoint.url, key=KEY, retry=retry).post("x", {"a": 1})

    return ask


def test_what_may_pass_is_tried_again_and_counted(ask, endpoint):
    for status in sorted(RETRIED):
        reply = ask((status, b""))
        assert reply.ok and reply.body == {} and reply.attempts == 2
        assert list(map(json.loads, endpoint.bodies)) == [{"a": 1}] * 2


def test_what_is_refused_for_good_is_sent_once(ask, endpoint):
    for status in (302, 400, 401, 403, 404, 413, 422, 501):
        reply = ask((status, {"error": "no"}, {"Location": "/elsewhere"}))
        assert (reply.ok, reply.transient, reply.attempts, reply.reason) == (False, False, 1, f"answered {status}")
        assert reply.body == {"error": "no"} and len(endpoint.bodies) == 1


def test_retry_after_is_obeyed_where_it_names_seconds_and_not_for_ever(ask, endpoint):
    assert ask((429, b"", {"Retry-After": "0.3"}), (429, b"", {"Retry-After": "soon"})).ok
    first, second, _ = endpoint.times
    assert second - first >= 0.3
    reply = ask((429, b"", {"Retry-After": "3600"}))
    assert reply.reason == "answered 429 and asks to wait 3600 s"
    assert reply.transient and len(endpoint.bodies) == 1
    for odd in ("", "-5", "nan", "inf", "1e3", "²", "Wed, 1 Jan 2020 00:00:00 GMT"):
        assert ask((429, b"", {"Retry-After": odd})).ok


def trickle() -> Iterator[bytes]:
    for _ in range(40):
        yield b" "
        time.sleep(0.05)


def test_a_reply_that_trickles_or_has_no_end_is_given_up(ask, endpoint, monkeypatch):
    short = RetryPolicy(timeout=1, total=0.2, retries=1, backoff=0.01)
    reply = ask((200, trickle()), (200, trickle()), retry=short)
    assert (reply.status, reply.attempts, reply.reason) == (0, 2, "did not finish its reply within 0.2 s")
    monkeypatch.setattr(http, "MAX_REPLY_BYTES", 1000)
    reply = ask((200, b" " * 100_000))
    assert reply.reason == "sent more than 1,000 bytes" and not reply.ok
    assert len(endpoint.bodies) == 1


@pytest.mark.parametrize("body", [b"<html>", b"", b"\xff\xfe\x00", b"[" * 100_000])
def test_what_is_not_json_is_said_to_be_so(ask, endpoint, body):
    assert ask((200, body)).reason == "did not answer in JSON"


def test_the_key_is_sent_and_never_shown_whole_or_in_part(ask, endpoint):
    echo = {"error": {"message": f"bad key {KEY}"}}
    refused, wrong = ask((401, echo)), ask((400, echo))
    assert (refused.reason, refused.message) == ("answered 401", "")
    assert (wrong.reason, wrong.message) == ("answered 400", "bad key …")
    assert KEY not in repr(JsonClient(endpoint.url, key=KEY))
    # At the cut of a long message.
    message = ask((400, {"error": "x" * 152 + KEY})).message
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
