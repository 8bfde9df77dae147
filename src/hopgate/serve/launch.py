"""A server on a socket: bound first, so that its port is known, and run until it is told to end."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import uvicorn

from hopgate.errors import HopgateError
from hopgate.serve.app import create_app
from hopgate.serve.settings import ServeSettings

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from hopgate.kb import KnowledgeBase

# What is at work when the server is told to end may take so long.
GRACE_S = 3


def serve(kb: KnowledgeBase, settings: ServeSettings, listening: socket.socket) -> None:
    """Serve a store until the process is told to end."""
    app = create_app(kb, settings)
    try:
        server_of(app, lifespan="on" if settings.mcp else "off").run(sockets=[listening])
    finally:
        app.state.service.gates.close()


def server_of(app: Starlette, lifespan: Literal["on", "off"] = "off") -> uvicorn.Server:
    """Make the server of an application; one that has to begin and to end something has a lifespan."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            lifespan=lifespan,
            log_level="warning",
            # An address may hold what somebody asked for.
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE_S,
        )
    )


def bound_socket(settings: ServeSettings) -> socket.socket:
    """Listen where the settings say."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listening = socket.create_server((settings.host, settings.port), family=family, backlog=128)
    except OSError as error:
        raise HopgateError(
            f"cannot listen on {settings.host} port {settings.port} ({_reason(error)}): choose another --port"
        ) from None
    # What is accepted inherits it. Without, an answer's body waits 40 ms for the client to acknowledge its headers:
    # asyncio sets it only where the socket's protocol was named.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _reason(error: OSError) -> str:
    # Without the address, which Python adds to it.
    return os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)


def url_of(settings: ServeSettings, listening: socket.socket, token: str | None) -> str:
    """Give the address to open, with the token where it is to be shown."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    query = f"?token={token}" if token else ""
    return f"http://{host}:{listening.getsockname()[1]}/{query}"


def read_token(path: Path) -> str:
    r"""Read a token from a file that only its owner can read.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "token"
    >>> path.touch(0o600)
    >>> _ = path.write_text("a-token-of-my-own\n")
    >>> read_token(path)
    'a-token-of-my-own'
    """
    try:
        with path.open(encoding="ascii") as file:
            found = os.fstat(file.fileno())
            if stat.S_IMODE(found.st_mode) & 0o077 or found.st_uid not in (os.geteuid(), 0):
                raise HopgateError(f"run chmod 600 {path} first, since others can read it and it holds the token")
            return file.read(4096).strip()
    except UnicodeDecodeError:
        raise HopgateError(f"{path} holds no token: write one of letters and digits into it") from None
    except OSError as error:
        raise HopgateError(f"the token file {path} cannot be read: {error.strerror or error}") from None
