"""A real embeddings server on this machine, quick and readable: a text's vector counts its words in 64 buckets."""

from __future__ import annotations

import contextlib
import json
import re
import threading
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

DIMENSION = 64


def embed(text: str) -> list[float]:
    vector = np.full(DIMENSION, 0.01)
    for word in re.findall(r"\w+", text.lower()):
        vector[zlib.crc32(word.encode()) % DIMENSION] += 1
    return [float(value) for value in vector]


class WordEndpoint:
    """What it was asked is in `bodies`; `spec` makes an embedder of it."""

    def __init__(self, server: ThreadingHTTPServer, model: str) -> None:
        self.bodies: list[str] = []
        self.vector = embed
        self.spec = f"openai:{model}@http://127.0.0.1:{server.server_port}/v1#dimension={DIMENSION}"

    @property
    def texts(self) -> list[str]:
        return [text for body in self.bodies for text in json.loads(body)["input"]]


@contextlib.contextmanager
def serving(model: str = "words") -> Iterator[WordEndpoint]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            endpoint.bodies.append(body)
            texts = json.loads(body)["input"]
            rows = [{"index": at, "embedding": endpoint.vector(text)} for at, text in enumerate(texts)]
            data = json.dumps({"data": rows}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    endpoint = WordEndpoint(server, model)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
