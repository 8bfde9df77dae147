"""A model's server on this machine that lets a test act between two requests, as a slow one gives time to."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from word_endpoint import DIMENSION, embed


class ModelServer:
    """Answers chats and embeddings; `meanwhile` runs after a request has come in and before it is answered."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"
        self.embedder = f"openai:words@{self.url}#dimension={DIMENSION}"
        self.bodies: list[str] = []
        self.meanwhile: Callable[[str], int] = lambda _: 200

    def answer(self, path: str, body: str) -> dict[str, Any]:
        asked = json.loads(body)
        if path.endswith("/embeddings"):
            return {"data": [{"index": at, "embedding": embed(text)} for at, text in enumerate(asked["input"])]}
        text = asked["messages"][-1]["content"]
        names = sorted({word.strip(".,:;\"'") for word in text.split() if word[:1].isupper()} - {""})
        mentions = [{"name": name, "kind": "thing"} for name in names]
        said = {"mentions": mentions, "facts": [], "action": "NOOP", "older": 1, "reason": text, "answer": "same"}
        return {"choices": [{"message": {"content": json.dumps(said)}, "finish_reason": "stop"}]}


@contextlib.contextmanager
def model_server() -> Iterator[ModelServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            running.bodies.append(body)
            status = running.meanwhile(body)
            data = json.dumps(running.answer(self.path, body) if status == 200 else {}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    running = ModelServer(server.server_port)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
