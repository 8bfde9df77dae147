"""The limits of a request: how large its body is, how long it takes, and how many are at work at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from fastapi import HTTPException

from hopgate.serve.problems import problem
from hopgate.serve.serve_settings import ServeSettings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Limits:
    """Refuses a body that is too large, a request that comes while too many are at work, and one that takes too long.

    Work that takes too long is answered and goes on to its end in its thread, which nothing can interrupt: it counts as
    at work until then.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self.app = app
        self._settings = settings
        self._at_work = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it through."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if _declared_size(scope) > self._settings.max_body:
            await problem(413, self._too_large())(scope, receive, send)
            return
        if self._at_work >= self._settings.concurrent:
            refusal = problem(503, "too many requests are at work: ask again in a moment", {"Retry-After": "1"})
            await refusal(scope, receive, send)
            return
        await self._run(scope, receive, send)

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = over = False

        async def passed_on(message: Message) -> None:
            nonlocal started
            if not over:
                started = True
                await send(message)

        self._at_work += 1
        work = asyncio.ensure_future(self.app(scope, self._counted(receive), passed_on))
        work.add_done_callback(self._ended)
        try:
            await asyncio.wait({work}, timeout=self._settings.request_seconds)
        except asyncio.CancelledError:
            work.cancel()
            raise
        if not work.done() and not started:
            over = True
            seconds = self._settings.request_seconds
            await problem(504, f"this took longer than {seconds:g} seconds: ask for less at once")(scope, receive, send)
            return
        # What has begun to answer, such as a stream, may go on.
        await work

    def _ended(self, work: asyncio.Future[None]) -> None:
        self._at_work -= 1
        if not work.cancelled():
            # Whoever waits for it gets it; of work that nobody waits for any more it would be reported as lost.
            work.exception()

    def _counted(self, receive: Receive) -> Receive:
        """Pass a body on until it is too large."""
        size = 0

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self._settings.max_body:
                raise HTTPException(413, self._too_large())
            return message

        return counted

    def _too_large(self) -> str:
        return f"the body of a request has at most {self._settings.max_body:,} bytes: send less at once"


def _declared_size(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value[:18])
    return 0
