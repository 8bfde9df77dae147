"""A real server that speaks chat completions and misbehaves as the memory's text asks it to."""

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from answering import answering
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


def refused(status: int, why: str, headers: dict[str, str] | None = None) -> tuple[Any, ...]:
    return status, {"error": {"message": why}}, headers or {}


@dataclass
class ChatServer:
    """Counts what it was asked; `formats` are the response formats it accepts, `most` the memories of a call."""

    url: str = ""
    formats: set[str] = field(default_factory=lambda: {"json_schema", "json_object", "none"})
    asked: Counter[str] = field(default_factory=Counter)
    requests: list[dict[str, Any]] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    most: int = 1000
    lock: Any = field(default_factory=threading.Lock)
    release: threading.Event = field(default_factory=threading.Event)

    def __call__(self, _: BaseHTTPRequestHandler, raw: str) -> tuple[Any, ...]:
        body = json.loads(raw)
        rows = json.loads(body["messages"][-1]["content"])
        case = case_of(rows[0]["text"]) if len(rows) == 1 else "several"
        with self.lock:
            self.requests.append(body)
            self.asked[case] += len(rows)
            count = self.asked[case]
            if case == "busy":
                self.waits.append(time.monotonic())
        wanted = body.get("response_format", {"type": "none"})["type"]
        if len(rows) > 1:
            return self.several(rows)
        if wanted not in self.formats:
            return refused(400, f"response_format {wanted} is not supported")
        if case == "busy" and count == 1:
            return refused(429, "slow down", {"Retry-After": "0.2"})
        if case == "error" or (case == "once" and count == 1):
            return refused(500, "out of order")
        if case == "key":
            return refused(401, "who are you")
        odd = {"not-json": b"<html>gateway</html>", "no-choice": b'{"choices": []}', "stall": self.stall()}
        odd["bad-bytes"] = completion(GOOD_TEXT).replace(b"Ada", b"A\xff\xfeda")
        return 200, odd.get(case) or completion(ANSWERS.get(case, GOOD_TEXT))

    def stall(self) -> Iterator[bytes]:
        """Some of a body, and the line stays open."""
        yield b'{"choices": ['
        self.release.wait(PATIENCE)

    def several(self, rows: list[dict[str, str]]) -> tuple[Any, ...]:
        """Answer about several memories at once, each as its text asks."""
        entries = []
        for row in rows:
            if case := TOLD.get(case_of(row["text"])):
                entries += [{"id": row["id"], **json.loads(case)}] * (2 if "twice" in row["text"] else 1)
        whole, first = json.dumps({"memories": entries}), rows[0]["text"]
        if "too large" in first or len(rows) > self.most:
            return refused(413, "too large")
        if "out of order" in first:
            return refused(500, "out of order")
        if "breaks off" in first:
            return 200, completion(whole[:-40], "length")
        answer = completion(whole)
        return 200, iter(answer[at : at + 50] for at in range(0, len(answer), 50)) if "in pieces" in first else answer


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    server = ChatServer()
    with answering(server) as server.url:
        yield server
        server.release.set()
