"""A store served on a real port, in a thread of this process, and a client that carries its token."""

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import httpx
from patience import PATIENCE

from hopgate.kb import KnowledgeBase
from hopgate.serve import ServeSettings, create_app
from hopgate.serve.launch import bound_socket, server_of

TOKEN = "a-token-for-the-tests"


@dataclass(frozen=True)
class Running:
    """Where it is served, a client with its token, and a stranger without."""

    url: str
    client: httpx.Client
    stranger: httpx.Client
    app: Any

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.client.get(f"/api/v1/{path}", **options)

    def post(self, path: str, body: Any = None, **options: Any) -> httpx.Response:
        return self.client.post(f"/api/v1/{path}", json=body, **options)

    def patch(self, path: str, body: Any) -> httpx.Response:
        return self.client.patch(f"/api/v1/{path}", json=body)


@contextlib.contextmanager
def serving(kb: KnowledgeBase, **settings: Any) -> Iterator[Running]:
    """Serve until the block ends."""
    made = replace(ServeSettings(TOKEN, port=0), **settings)
    app = create_app(kb, made)
    server = server_of(app, made, lifespan="on" if made.mcp else "off")
    with bound_socket(made) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        try:
            let_in = {"Authorization": f"Bearer {TOKEN}"}
            with (
                httpx.Client(base_url=url, headers=let_in, timeout=PATIENCE) as client,
                httpx.Client(base_url=url, timeout=PATIENCE) as stranger,
            ):
                yield Running(url, client, stranger, app)
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
