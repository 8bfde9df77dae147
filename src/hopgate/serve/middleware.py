"""Around every request: headers and no traceback for anybody, the token and the server's name, and its limits."""

from __future__ import annotations

import asyncio
import hmac
import time
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode

from fastapi import HTTPException
from prometheus_client import CollectorRegistry, Histogram
from starlette.datastructures import MutableHeaders
from starlette.responses import RedirectResponse, Response

from hopgate.serve.problems import LOG, problem
from hopgate.serve.settings import ServeSettings

if TYPE_CHECKING:
    from starlette.applications import Starlette
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
COOKIE = "hopgate_token"
API = "/api/"
PREFIX = "/api/v1"
_SAFE = ("GET", "HEAD")
_METHODS = (*_SAFE, "DELETE", "PATCH", "POST", "PUT")
# What a browser says of a request that this server's own pages made, or that a person typed.
_OWN_SITE = ("same-origin", "none")


def guard(app: Starlette, settings: ServeSettings) -> None:
    """Put around an application what stands around every request; what is added last is outermost."""
    app.add_middleware(Limits, settings=settings)
    app.add_middleware(Access, settings=settings)
    app.add_middleware(Hardening)


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


class Access:
    """Lets a request in that carries the token, calls the server by its name and was not made by another page."""

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self.app = app
        self._settings = settings
        self._token = settings.token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it through."""
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        await (refusal or self.app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        """What is answered instead; None where the request may go on."""
        headers = _Headers(scope)
        given, rest = _token_of_query(scope)
        by_query = given is not None and scope["method"] in _SAFE and not scope["path"].startswith(API)
        if not (self._is_token(given) if by_query else self._carries_token(headers)):
            return problem(
                401,
                "this needs the token that hopgate serve printed: open its URL, or send it in the header Authorization",
                {"WWW-Authenticate": "Bearer"},
            )
        host = headers.one("host")
        if host is None or not self._settings.knows_host(_without_port(host)):
            return problem(421, "this server does not go by that name: open it by the address that hopgate serve said")
        if sentence := _foreign(scope, headers, host):
            return problem(403, sentence)
        if by_query:
            return self._let_in(host, scope["path"], rest)
        return None

    def _let_in(self, host: str, path: str, rest: str) -> Response:
        """Keep the token in a cookie, and lead to the same page without it in the address."""
        # One slash alone: two would begin the name of another host.
        where = "/" + quote(path.lstrip("/\\"), safe="/") + (f"?{rest}" if rest else "")
        answer = RedirectResponse(where, 303)
        answer.set_cookie(cookie_of(host), self._settings.token, httponly=True, samesite="strict", path="/")
        return answer

    def _carries_token(self, headers: _Headers) -> bool:
        for value in headers.all("authorization"):
            scheme, _, given = value.partition(" ")
            if scheme.lower() == "bearer" and self._is_token(given.strip()):
                return True
        name = cookie_of(headers.one("host") or "")
        return any(self._is_token(given) for value in headers.all("cookie") for given in _cookies(value, name))

    def _is_token(self, given: str | None) -> bool:
        return given is not None and hmac.compare_digest(given.encode("utf-8", "replace"), self._token)


class _Headers:
    """A request's headers as text."""

    def __init__(self, scope: Scope) -> None:
        self._found = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]

    def all(self, name: str) -> list[str]:
        return [value for known, value in self._found if known == name]

    def one(self, name: str) -> str | None:
        found = self.all(name)
        return found[0] if len(found) == 1 else None


def cookie_of(host: str) -> str:
    """Name the cookie by the port, which cookies do not know: two servers of one machine keep one each.

    Examples
    --------
    >>> cookie_of("localhost:8377"), cookie_of("[::1]:80"), cookie_of("localhost"), cookie_of("[::1]")
    ('hopgate_token_8377', 'hopgate_token_80', 'hopgate_token', 'hopgate_token')
    """
    port = host.removeprefix(_without_port(host)).removeprefix(":")
    return f"{COOKIE}_{port}" if port.isascii() and port.isdigit() else COOKIE


def _cookies(value: str, name: str) -> list[str]:
    """The values of a cookie; a token may come back in quotes, and holds nothing that would be escaped in them.

    By hand, since strangers send it: the standard library takes the square of the time over backslashes.

    Examples
    --------
    >>> _cookies('a=1; hopgate_token="x/y="; b', "hopgate_token")
    ['x/y=']
    """
    parts = (part.strip().partition("=") for part in value.split(";"))
    return [given.strip().removeprefix('"').removesuffix('"') for known, _, given in parts if known.strip() == name]


def _token_of_query(scope: Scope) -> tuple[str | None, str]:
    """The token in the address, and the rest of its query."""
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    given = [value for name, value in pairs if name == "token"]
    return (given[0] if given else None), urlencode([pair for pair in pairs if pair[0] != "token"])


def _without_port(host: str) -> str:
    """The name in a Host header.

    Examples
    --------
    >>> _without_port("localhost:8377"), _without_port("[::1]:8377"), _without_port("[::1]")
    ('localhost', '[::1]', '[::1]')
    """
    return host if host.endswith("]") else host.rpartition(":")[0] or host


def _foreign(scope: Scope, headers: _Headers, host: str) -> str | None:
    """Say that another page made a request; None where this server's own did, a person or a program."""
    origins = headers.all("origin")
    for origin in origins:
        if origin.lower() not in (f"http://{host}".lower(), f"https://{host}".lower()):
            return "this request comes from a page of another origin: only this server's own pages may send it"
    site = headers.one("sec-fetch-site")
    if site is None or site in _OWN_SITE:
        return None
    visit = scope["method"] in _SAFE and headers.one("sec-fetch-mode") == "navigate"
    if visit and headers.one("sec-fetch-dest") == "document" and not scope["path"].startswith(API):
        # Somebody followed a link to a page.
        return None
    return "this request comes from another site: only this server's own pages may send it"


class Metrics:
    """Counts requests and their seconds, by method, address as it was declared, and status."""

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        self.app = app
        self._seconds = Histogram(
            "hopgate_request_seconds", "Seconds of a request", ("method", "route", "status"), registry=registry
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, and note what became of it."""
        begun, status = time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            if scope["type"] == "http":
                route = getattr(scope.get("route"), "path", "")
                # Anybody may make up a method.
                method = scope["method"] if scope["method"] in _METHODS else "other"
                self._seconds.labels(method, route, status).observe(time.perf_counter() - begun)


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
