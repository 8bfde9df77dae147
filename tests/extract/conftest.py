"""A real server that speaks chat completions and misbehaves as the memory's text asks it to."""

from __future__ import annotations

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from patience import PATIENCE

GOOD_FACT = {"subject": "Ada", "relation": "owns", "object": "NAS", "valid_from": "2024-03"}
GOOD = {"mentions": [{"name": "Ada", "kind": "person"}, {"name": "NAS", "kind": "device"}], "facts": [GOOD_FACT]}
GOOD_TEXT = json.dumps(GOOD)


def facts(*rows: dict[str, Any]) -> str:
    return json.dumps({"mentions": [], "facts": rows})


# What is answered about one memory; those of TOLD may stand among several, each by its entry.
TOLD = {
    "good": GOOD_TEXT,
    "nothing": "{}",
    "repeats": facts(*[GOOD_FACT] * 500),
    "no-subject": facts({**GOOD_FACT, "subject": " "}, GOOD_FACT),
    "long-relation": facts({**GOOD_FACT, "relation": "owns " * 2000}, GOOD_FACT),
    "ungrounded": facts({**GOOD_FACT, "object": "Titanic"}),
}
ANSWERS = TOLD | {
    "blank": "",
    "prose": "I am sorry, but I cannot do that.",
    "cut": GOOD_TEXT[:-25],
    "schema": json.dumps({"type": "object", "properties": {"mentions": {"type": "array"}}, "required": ["mentions"]}),
    "thought": f"<think>Who owns {{what}}? Ada, I think.</think>\n```json\n{GOOD_TEXT}\n```",
    "only-thought": "<think>hm, let me see",
}


def case_of(text: str) -> str:
    found = re.search(r"case:([\w-]+)", text)
    return found[1] if found else "good"


def completion(text: str, finish: str = "stop") -> bytes:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return json.dumps({"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 20}}).encode()


class Server(ThreadingHTTPServer):
    """Counts what it was asked; `formats` are the response formats it accepts, `most` the memories of a call."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.formats: set[str] = {"json_schema", "json_object", "none"}
        self.asked: Counter[str] = Counter()
        self.requests: list[dict[str, Any]] = []
        self.waits: list[float] = []
        self.most = 1000
        self.lock = threading.Lock()
        self.release = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up on a stalled reply is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        rows = json.loads(body["messages"][-1]["content"])
        case = case_of(rows[0]["text"]) if len(rows) == 1 else "several"
        with self.server.lock:
            self.server.requests.append(body)
            self.server.asked[case] += len(rows)
            count = self.server.asked[case]
        if len(rows) > 1:
            self.several(rows)
            return
        wanted = body.get("response_format", {"type": "none"})["type"]
        if wanted not in self.server.formats:
            self.refuse(400, f"response_format {wanted} is not supported")
        elif case == "busy" and count == 1:
            self.server.waits.append(time.monotonic())
            self.refuse(429, "slow down", {"Retry-After": "0.2"})
        elif case == "error" or (case == "once" and count == 1):
            self.refuse(500, "out of order")
        elif case == "key":
            self.refuse(401, "who are you")
        elif case == "not-json":
            self.send(200, b"<html>gateway</html>")
        elif case == "no-choice":
            self.send(200, b'{"choices": []}')
        elif case == "bad-bytes":
            self.send(200, completion(GOOD_TEXT).replace(b"Ada", b"A\xff\xfeda"))
        elif case == "stall":
            # Promise a body, send some of it, and keep the line open.
            self.send(200, b'{"choices": [', {"Content-Length": "1000"})
            self.server.release.wait(PATIENCE)
        else:
            if case == "busy":
                self.server.waits.append(time.monotonic())
            self.send(200, completion(ANSWERS.get(case, GOOD_TEXT)))

    def several(self, rows: list[dict[str, str]]) -> None:
        """Answer about several memories at once, each as its text asks."""
        entries = []
        for row in rows:
            if case := TOLD.get(case_of(row["text"])):
                entries += [{"id": row["id"], **json.loads(case)}] * (2 if "twice" in row["text"] else 1)
        whole, first = json.dumps({"memories": entries}), rows[0]["text"]
        if "too large" in first or len(rows) > self.server.most:
            self.refuse(413, "too large")
        elif "out of order" in first:
            self.refuse(500, "out of order")
        elif "breaks off" in first:
            self.send(200, completion(whole[:-40], "length"))
        else:
            self.send(200, completion(whole), pieces=50 if "in pieces" in first else 1 << 20)

    def refuse(self, status: int, why: str, headers: dict[str, str] | None = None) -> None:
        self.send(status, json.dumps({"error": {"message": why}}).encode(), headers)

    def send(self, status: int, raw: bytes, headers: dict[str, str] | None = None, pieces: int = 1 << 20) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(raw)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        for at in range(0, len(raw), pieces):
            self.wfile.write(raw[at : at + pieces])
            self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the tests' output quiet."""


@pytest.fixture
def chat_server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.release.set()
        running.shutdown()
        thread.join()
