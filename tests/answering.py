"""A server on this machine, on a port of its own, that answers every POST as a function says."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# What was asked, with its path and headers, and its body, to a status, a value for JSON or bytes as they are, or pieces
# of them that are sent one by one, and, where there are some, headers.
Answer = Callable[[BaseHTTPRequestHandler, str], tuple[Any, ...]]


@contextlib.contextmanager
def answering(answer: Answer) -> Iterator[str]:
    """Give the server's address, and end it."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Headers and body in one packet: two wait for each other, 40 ms a request.
        wbufsize = -1

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            status, value, *more = answer(self, body)
            pieces = value if isinstance(value, Iterator) else None
            data = value if isinstance(value, bytes) else b"" if pieces else json.dumps(value).encode()
            self.send_response(status)
            length = ("Connection", "close") if pieces else ("Content-Length", str(len(data)))
            for header in (length, *(more[0] if more else {}).items()):
                self.send_header(*header)
            self.end_headers()
            for piece in pieces or (data,):
                self.wfile.write(piece)
                self.wfile.flush()

        def log_message(self, *_: Any) -> None:
            """Keep the tests' output quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    # A client that hangs up is what some tests are about.
    server.handle_error = lambda *_: None
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
