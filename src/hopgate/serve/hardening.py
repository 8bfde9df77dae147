"""Around every request: headers that shut a browser's doors, and no traceback for anybody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders

from hopgate.serve.problems import LOG, problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "frame-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Hardening:
    """Adds the headers that a response does not have itself, and turns what nobody caught into a plain problem."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it through."""
        if scope["type"] != "http":
            # No page and no endpoint speaks over a web socket.
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": 1008})
            return
        started = False

        async def hardened(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self.app(scope, receive, hardened)
        except Exception as error:
            # Its text may hold a memory's: the class and the path are enough to look for it.
            # Shown as it is written: an address may hold what a terminal obeys.
            LOG.error("%s %r failed: %s", scope["method"], scope["path"], type(error).__qualname__)
            LOG.debug("", exc_info=error)
            if not started:
                answer = problem(500, "hopgate made a mistake here: please report what was asked")
                await answer(scope, receive, hardened)
