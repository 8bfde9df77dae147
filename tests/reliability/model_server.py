"""A model's server on this machine that lets a test act between two requests, as a slow one gives time to."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

from answering import answering
from word_endpoint import DIMENSION, embed


class ModelServer:
    """Answers chats and embeddings; `meanwhile` runs after a request has come in and before it is answered."""

    def __init__(self) -> None:
        self.url = self.embedder = ""
        self.bodies: list[str] = []
        self.meanwhile: Callable[[str], int] = lambda _: 200

    def answer(self, path: str, body: str) -> dict[str, Any]:
        asked = json.loads(body)
        if path.endswith("/embeddings"):
            return {"data": [{"index": at, "embedding": embed(text)} for at, text in enumerate(asked["input"])]}
        text = asked["messages"][-1]["content"]
        said: dict[str, Any] = {"action": "NOOP", "older": 1, "reason": text, "answer": "same"}
        if isinstance(rows := json.loads(text), list):
            said["memories"] = [{"id": row["id"], "mentions": mentions(row["text"]), "facts": []} for row in rows]
        return {"choices": [{"message": {"content": json.dumps(said)}, "finish_reason": "stop"}]}


def mentions(text: str) -> list[dict[str, str]]:
    """The words with a capital."""
    names = sorted({word.strip(".,:;\"'") for word in text.split() if word[:1].isupper()} - {""})
    return [{"name": name, "kind": "thing"} for name in names]


@contextlib.contextmanager
def model_server() -> Iterator[ModelServer]:
    running = ModelServer()

    def answer(asked: BaseHTTPRequestHandler, body: str) -> tuple[int, Any]:
        running.bodies.append(body)
        status = running.meanwhile(body)
        return status, running.answer(asked.path, body) if status == 200 else {}

    with answering(answer) as running.url:
        running.embedder = f"openai:words@{running.url}#dimension={DIMENSION}"
        yield running
