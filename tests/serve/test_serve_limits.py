"""The limits of a request, and that nobody sees a traceback."""

import contextlib
import itertools
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from patience import PATIENCE
from psycopg.conninfo import make_conninfo
from serving import TOKEN, serving

from hopgate.serve.launch import TOLD_AFTER_S


def test_a_body_that_is_too_large_is_refused_whether_it_says_so_or_not(shared_kb):
    with serving(shared_kb, max_body=1000) as running:
        assert running.post("recall", {"query": "x" * 2000}).status_code == 413

        def pieces() -> Iterator[bytes]:
            yield b'{"query": "'
            for _ in range(20):
                yield b"x" * 100
            yield b'"}'

        streamed = running.client.post("/api/v1/recall", content=pieces(), headers={"Content-Type": "application/json"})
        assert streamed.status_code == 413
        assert streamed.headers["content-type"] == "application/problem+json"
        assert "1,000 bytes" in streamed.json()["detail"]
        assert running.post("recall", {"query": "x", "legs": ["lexical"]}).status_code == 200


def test_what_takes_too_long_is_answered_and_counts_until_it_has_ended(shared_kb, monkeypatch):
    go = threading.Event()

    def slow(*_: object, **__: object) -> list[Any]:
        assert go.wait(PATIENCE)
        return []

    monkeypatch.setattr(shared_kb, "recall", slow)
    with serving(shared_kb, request_seconds=0.2, concurrent=1) as running:
        late = running.post("recall", {"query": "x"})
        assert (late.status_code, late.headers["content-type"]) == (504, "application/problem+json")
        assert "0.2 seconds" in late.json()["detail"]
        # It is still at work in its thread.
        busy = running.post("recall", {"query": "x"})
        assert (busy.status_code, busy.headers["retry-after"]) == (503, "1")
        go.set()
        # An address that asks nothing of the store, so that a busy machine does not make this one slow, too.
        for _ in range(1000):
            if running.get("nothing").status_code == 404:
                break
            time.sleep(0.01)
        else:
            pytest.fail("what had ended still counts as at work")


def test_a_mistake_of_ours_is_a_plain_problem_without_what_went_wrong(shared_kb, monkeypatch, caplog):
    def broken(*_: object) -> None:
        raise RuntimeError("a text of somebody's")

    monkeypatch.setattr(shared_kb, "get", broken)
    with serving(shared_kb) as running:
        answer = running.get("memories/%1b[2J%0a")
        assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
        assert "somebody" not in answer.text and "Traceback" not in answer.text
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert running.get("health").status_code == 200
    # An address that a terminal would obey is logged as it is written.
    (record,) = (record.getMessage() for record in caplog.records if record.name == "hopgate.serve")
    assert "failed: RuntimeError" in record and "somebody" not in record and not {"\x1b", "\n"} & set(record)


NO_REQUESTS = {
    "recall": [
        *(b"\xff\xfe", b"{", b"[" * 100_000, b'{"query": "\\ud800"}', b'{"query": "x", "k": NaN}'),
        b'{"query": "x", "k": ' + b"9" * 5000 + b"}",
        b'{"query": "x", "as_of": "0001-01-01T00:00:00+14:00"}',
        b'{"query": "x", "as_of": "9999-12-31T23:59:59-14:00"}',
        b'{"query": "x", "scope": "a\\u0000b"}',
        b'{"query": "", "legs": []}',
    ],
    "memories": [
        b'{"text": "a\\u0000b"}',
        b'{"text": "a\\ud800b", "link": false}',
        b'{"text": "x", "title": "a\\udfffb", "link": false}',
        b'{"text": "x", "scope": "a\\ud800b", "link": false}',
        b'{"text": "x", "language": "nothing; drop"}',
    ],
    "explain": [b'{"query": "x"}'],
}


def test_what_is_no_request_is_refused_with_a_sentence(shared_kb):
    with serving(shared_kb) as running:
        for path, bodies in NO_REQUESTS.items():
            for body in bodies:
                kind = {"Content-Type": "application/json"}
                answer = running.client.post(f"/api/v1/{path}", content=body, headers=kind)
                assert answer.status_code in (400, 422), answer.text
                assert answer.headers["content-type"] == "application/problem+json" and answer.json()["detail"]


def test_limits_of_the_server_are_said(shared_kb):
    with serving(shared_kb, max_k=5) as running:
        assert "k is at most 5" in running.post("recall", {"query": "x", "k": 6}).json()["detail"]
        assert "limit is at most 5" in running.get("memories?limit=6").json()["detail"]


HALF_OPEN = {
    "nothing": b"",
    "half a head": b"POST /x HTTP/1.1\r\nHost: a\r\n",
    "half a body": b"POST /api/v1/recall HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n{",
}


@pytest.mark.parametrize("descriptors", [4096, 200])
def test_half_open_sockets_are_closed_shut_nobody_out_and_make_one_line(filled, dsn, descriptors):
    """300 strangers, who send a part of a request or nothing; where a process may open few files they are too many."""
    store = make_conninfo(dsn, dbname=filled)
    with (
        served(store, descriptors) as (process, url),
        httpx.Client(base_url=url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE) as client,
        contextlib.ExitStack() as stack,
    ):
        where = ("127.0.0.1", int(url.rpartition(":")[2]))
        assert client.get("/api/v1/health").status_code == 200
        strangers = [stack.enter_context(socket.create_connection(where, PATIENCE)) for _ in range(300)]
        for stranger, part in zip(strangers, itertools.cycle(HALF_OPEN.values())):
            with contextlib.suppress(OSError):
                stranger.sendall(part)
        assert client.get("/api/v1/health").status_code == 200
        for stranger in strangers:
            with contextlib.suppress(ConnectionError):
                while stranger.recv(4096):
                    pass
        with httpx.Client(base_url=url, headers=dict(client.headers), timeout=PATIENCE) as later:
            assert later.get("/api/v1/health").status_code == 200
        time.sleep(1.5 * TOLD_AFTER_S)
        process.terminate()
        _, log = process.communicate(timeout=PATIENCE)
    assert re.fullmatch(r"closed or turned away \d{2,3} connections that asked for nothing\n", log), log[:500]


@contextlib.contextmanager
def served(store: str, descriptors: int) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that serves a store, may open so many files, and waits for a second for the head of a request."""
    program = (
        "import sys, hopgate; from hopgate.serve import ServeSettings; from hopgate.serve.launch import *\n"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, ({descriptors}, {descriptors}))\n"
        f"settings = ServeSettings({TOKEN!r}, port=0, header_seconds=1.0)\n"
        "with hopgate.open(sys.argv[1]) as kb, bound_socket(settings) as listening:\n"
        "    print(listening.getsockname()[1], flush=True)\n"
        "    serve(kb, settings, listening)\n"
    )
    command, pipe = [sys.executable, "-c", program, store], subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.kill()


def test_a_body_that_never_ends_is_given_up(shared_kb):
    with serving(shared_kb, request_seconds=0.5, header_seconds=0.5) as running:
        where = ("127.0.0.1", int(running.url.rpartition(":")[2]))
        for token, status in ((TOKEN, b"504"), ("none", b"401")):
            with socket.create_connection(where) as one:
                one.settimeout(PATIENCE)
                one.sendall(
                    b"POST /api/v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    b"Authorization: Bearer " + token.encode() + b"\r\nContent-Length: 1000\r\n\r\n{"
                )
                answer = b""
                with contextlib.suppress(ConnectionError):
                    while part := one.recv(4096):
                        answer += part
                assert status in answer.split(b"\r\n")[0]
