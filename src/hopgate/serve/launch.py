"""A server on a socket: bound first, so that its port is known; run until it ends; open to those who ask."""

from __future__ import annotations

import asyncio
import errno
import functools
import logging
import math
import os
import resource
import socket
import time
from typing import TYPE_CHECKING, Any, Literal

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from hopgate.errors import HopgateError
from hopgate.serve.app import create_app
from hopgate.serve.settings import ServeSettings

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from hopgate.kb import KnowledgeBase

LOG = logging.getLogger("hopgate.serve")
# Connections that were closed or turned away are counted for a moment, and told of at most once in so many seconds.
TOLD_AFTER_S, TOLD_EVERY_S = 1.0, 60.0
# So many connections may wait in the kernel to be accepted. asyncio accepts so many in one go as it is told, before any
# of them can be closed again: more than there are files to spare would shut everybody out.
BACKLOG, ACCEPTED_AT_ONCE = 128, 16
# What is at work when the server is told to end may take so long.
GRACE_S = 3


def serve(kb: KnowledgeBase, settings: ServeSettings, listening: socket.socket) -> None:
    """Serve a store until the process is told to end."""
    app = create_app(kb, settings)
    server_of(app, settings, lifespan="on" if settings.mcp else "off").run(sockets=[listening])


def server_of(app: Starlette, settings: ServeSettings, lifespan: Literal["on", "off"] = "off") -> uvicorn.Server:
    """Make the server of an application; one that has to begin and to end something has a lifespan."""
    waiting = Waiting(settings)
    return PromptServer(
        waiting,
        uvicorn.Config(
            app,
            http=functools.partial(PromptConnection, waiting),  # type: ignore[arg-type]
            ws="none",
            lifespan=lifespan,
            backlog=ACCEPTED_AT_ONCE,
            # Of what is no request there is a count once a minute, and no line each.
            log_level="error",
            # An address may hold what somebody asked for.
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE_S,
        ),
    )


class PromptServer(uvicorn.Server):
    """A server that keeps files to spare, and a log to read, however many connect."""

    def __init__(self, waiting: Waiting, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.waiting = waiting

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(BACKLOG)
        asyncio.get_running_loop().set_exception_handler(self.failed)

    def failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Count what found no file left; asyncio would write pages of each."""
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            self.waiting.tell()
        else:
            loop.default_exception_handler(context)


class Waiting:
    """The connections that have sent no whole head of a request yet, in the order in which they began to wait."""

    def __init__(self, settings: ServeSettings) -> None:
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        # Of the files that this process may open half are left to the store and to answers.
        self.most = settings.connections if files < 0 else max(1, min(settings.connections, files // 2))
        self.seconds = settings.header_seconds
        self.since: dict[PromptConnection, asyncio.TimerHandle] = {}
        self._closed = 0
        self._telling: asyncio.TimerHandle | None = None
        self._told_at = -math.inf

    def begin(self, connection: PromptConnection) -> None:
        """Give a connection its time to send the head of a request."""
        self.end(connection)
        self.since[connection] = connection.loop.call_later(self.seconds, self.close, connection)

    def end(self, connection: PromptConnection) -> None:
        """A connection has sent one, or has gone."""
        if timer := self.since.pop(connection, None):
            timer.cancel()

    def close(self, connection: PromptConnection) -> None:
        """Close a connection that asks for nothing."""
        self.end(connection)
        connection.transport.abort()
        self.tell()

    def tell(self) -> None:
        """Count a connection that was closed or found no file, and log how many they were, once a minute."""
        self._closed += 1
        if self._telling is None:
            pause = max(TOLD_AFTER_S, self._told_at + TOLD_EVERY_S - time.monotonic())
            self._telling = asyncio.get_running_loop().call_later(pause, self._log)

    def _log(self) -> None:
        LOG.warning("closed or turned away %d connections that asked for nothing", self._closed)
        self._closed, self._telling, self._told_at = 0, None, time.monotonic()


class PromptConnection(H11Protocol):
    """A connection that is closed where it sends no whole request in time; of too many, the one that waits longest."""

    def __init__(self, waiting: Waiting, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.waiting = waiting

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self.waiting.begin(self)
        if len(self.connections) > self.waiting.most:
            self.waiting.close(next(iter(self.waiting.since)))

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self.waiting.end(self)

    def on_response_complete(self) -> None:
        """Wait for the next one."""
        super().on_response_complete()
        # One that was sent meanwhile is at work by now.
        if self.cycle.response_complete and not self.transport.is_closing():
            self.waiting.begin(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        super().connection_lost(exc)
        self.waiting.end(self)


def bound_socket(settings: ServeSettings) -> socket.socket:
    """Listen where the settings say."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listening = socket.create_server((settings.host, settings.port), family=family, backlog=128)
    except OSError as error:
        # Without the address, which Python adds to it.
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
        raise HopgateError(
            f"cannot listen on {settings.host} port {settings.port} ({reason}): choose another --port"
        ) from None
    # What is accepted inherits it. Without, an answer's body waits 40 ms for the client to acknowledge its headers:
    # asyncio sets it only where the socket's protocol was named.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def url_of(settings: ServeSettings, listening: socket.socket, token: str) -> str:
    """Give the address to open."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{listening.getsockname()[1]}/?token={token}"
