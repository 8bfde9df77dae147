"""A real model's server on this machine, quick and readable: a text's vector counts its words in 64 buckets."""

import contextlib
import json
import re
import time
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import numpy as np
from answering import answering

DIMENSION = 64


def embed(text: str) -> list[float]:
    vector = np.full(DIMENSION, 0.01)
    for word in re.findall(r"\w+", text.lower()):
        vector[zlib.crc32(word.encode()) % DIMENSION] += 1
    return [float(value) for value in vector]


class WordEndpoint:
    """What it was asked is in `bodies`; `spec` makes an embedder of it; a chat is told the words with a capital.

    `meanwhile` runs after a request has come in, and gives the status with which it is answered; what `script` has is
    answered first. Vectors come last text first, as their numbers say.
    """

    def __init__(self) -> None:
        self.bodies: list[str] = []
        self.times: list[float] = []
        self.keys: list[str | None] = []
        self.script: list[tuple[Any, ...]] = []
        self.vector = embed
        self.url = self.spec = ""
        self.meanwhile: Callable[[str], int] = lambda _: 200

    @property
    def texts(self) -> list[str]:
        return [text for body in self.bodies for text in json.loads(body)["input"]]

    def answer(self, request: BaseHTTPRequestHandler, body: str) -> tuple[Any, ...]:
        self.bodies.append(body)
        self.times.append(time.monotonic())
        self.keys.append(request.headers["Authorization"])
        if self.script:
            return self.script.pop(0)
        if (status := self.meanwhile(body)) != 200:
            return status, {}
        asked = json.loads(body)
        if request.path.endswith("/embeddings"):
            return 200, {
                "data": [{"index": n, "embedding": self.vector(text)} for n, text in enumerate(asked["input"])]
            }
        said: dict[str, Any] = {"action": "NOOP", "older": 1, "answer": "same"}
        if isinstance(rows := json.loads(asked["messages"][-1]["content"]), list):
            said["memories"] = [{"id": row["id"], "mentions": mentions(row["text"]), "facts": []} for row in rows]
        return 200, {"choices": [{"message": {"content": json.dumps(said)}, "finish_reason": "stop"}]}


def mentions(text: str) -> list[dict[str, str]]:
    """The words with a capital."""
    names = sorted({word.strip(".,:;\"'") for word in text.split() if word[:1].isupper()} - {""})
    return [{"name": name, "kind": "thing"} for name in names]


@contextlib.contextmanager
def serving(model: str = "words") -> Iterator[WordEndpoint]:
    endpoint = WordEndpoint()
    with answering(endpoint.answer) as endpoint.url:
        endpoint.spec = f"openai:{model}@{endpoint.url}#dimension={DIMENSION}&key=none"
        yield endpoint
