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

ANSWERS: dict[str, str] = {
    "good": GOOD_TEXT,
    "blank": "",
    "nothing": "{}",
    "prose": "I am sorry, but I cannot do that.",
    "cut": GOOD_TEXT[:-25],
    "schema": json.dumps({"type": "object", "properties": {"mentions": {"type": "array"}}, "required": ["mentions"]}),
    "repeats": json.dumps({"mentions": [], "facts": [GOOD_FACT] * 500}),
    "thought": f"<think>Who owns {{what}}? Ada, I think.</think>\n```json\n{GOOD_TEXT}\n```",
    "only-thought": "<think>hm, let me see",
    "no-subject": json.dumps({"mentions": [], "facts": [{**GOOD_FACT, "subject": " "}, GOOD_FACT]}),
    "long-relation": json.dumps({"mentions": [], "facts": [{**GOOD_FACT, "relation": "owns " * 2000}, GOOD_FACT]}),
    "ungrounded": json.dumps({"mentions": [], "facts": [{**GOOD_FACT, "object": "Titanic"}]}),
}


class Server(ThreadingHTTPServer):
    """Counts what it was asked; `formats` are the response formats it accepts."""

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
        if len(rows) > 1:
            self.several(rows, body)
            return
        text = rows[0]["text"]
        found = re.search(r"case:([\w-]+)", text)
        case = found[1] if found else "good"
        wanted = body.get("response_format", {"type": "none"})["type"]
        with self.server.lock:
            self.server.asked[case] += 1
            self.server.requests.append(body)
            count = self.server.asked[case]
        if wanted not in self.server.formats:
            self.reply(400, {"error": {"message": f"response_format {wanted} is not supported"}})
        elif case == "busy" and count == 1:
            self.server.waits.append(time.monotonic())
            self.reply(429, {"error": "slow down"}, {"Retry-After": "0.2"})
        elif case == "error" or (case == "once" and count == 1):
            self.reply(500, {"error": "out of order"})
        elif case == "key":
            self.reply(401, {"error": "who are you"})
        elif case == "not-json":
            self.send(200, b"<html>gateway</html>")
        elif case == "no-choice":
            self.reply(200, {"choices": []})
        elif case == "bad-bytes":
            self.send(200, json.dumps(self.completion(GOOD_TEXT)).encode().replace(b"Ada", b"A\xff\xfeda"))
        elif case == "stall":
            self.stall()
        else:
            if case == "busy":
                self.server.waits.append(time.monotonic())
            self.reply(200, self.completion(ANSWERS.get(case, GOOD_TEXT)))

    def several(self, rows: list[dict[str, str]], body: dict[str, Any]) -> None:
        """Answer about several memories at once, each as its text asks."""
        entries = []
        for row in rows:
            case = (re.search(r"case:([\w-]+)", row["text"]) or ["", "good"])[1]
            with self.server.lock:
                self.server.asked["several"] += 1
            if case in ANSWERS and case not in ("blank", "prose", "cut", "schema", "thought", "only-thought"):
                entries += [{"id": row["id"], **json.loads(ANSWERS[case])}] * (2 if "twice" in row["text"] else 1)
        with self.server.lock:
            self.server.requests.append(body)
        whole = json.dumps({"memories": entries})
        if "too large" in rows[0]["text"] or len(rows) > self.server.most:
            self.reply(413, {"error": "too large"})
        elif "out of order" in rows[0]["text"]:
            self.reply(500, {"error": "out of order"})
        elif "breaks off" in rows[0]["text"]:
            self.reply(200, self.completion(whole[:-40], "length"))
        elif "in pieces" in rows[0]["text"]:
            self.pieces(json.dumps(self.completion(whole)).encode())
        else:
            self.reply(200, self.completion(whole))

    def pieces(self, raw: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        for at in range(0, len(raw), 50):
            self.wfile.write(raw[at : at + 50])
            self.wfile.flush()

    def completion(self, text: str, finish: str = "stop") -> dict[str, Any]:
        return {
            "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20},
        }

    def reply(self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        self.send(status, json.dumps(body).encode(), headers)

    def send(self, status: int, raw: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(raw)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def stall(self) -> None:
        """Promise a body, send half of it, and keep the line open."""
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'{"choices": [')
        self.wfile.flush()
        self.server.release.wait(PATIENCE)

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
