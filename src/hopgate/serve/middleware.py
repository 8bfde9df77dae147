"""Around every request: headers and no traceback, the token and the server's name, limits; errors as problem+json."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from hopgate.errors import ConflictError, HopgateError, TakenError, UnknownError, UnreachableError
from hopgate.redact import redacted
from hopgate.serve.settings import Bearer, ServeSettings

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOG = logging.getLogger("hopgate.serve")
# What a user can meet -> its status; of every other such error 422.
STATUSES = {UnknownError: 404, TakenError: 409, ConflictError: 409, UnreachableError: 503}
MEDIA_TYPE = "application/problem+json"
# Of many mistakes in a request the first few say enough.
NAMED_MISTAKES = 3
_SENTENCES = {
    400: "the body of the request is not JSON in UTF-8",
    404: "there is nothing at this address: /api/v1/openapi.json lists what there is",
    405: "this address takes other methods: /api/v1/openapi.json lists them",
}
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
NO_TOKEN = "this needs the token that hopgate serve printed: open its URL, or send it in the header Authorization"
# Where a request's scope holds whose token it carries.
BEARER = "hopgate.bearer"
# What is about the whole store, whatever a token is bound to.
FOR_OWN_TOKEN = ("/mcp",)
API = "/api/"
PREFIX = "/api/v1"
_SAFE = ("GET", "HEAD")


class Guard:
    """Stands around every request.

    It lets in who carries the token, calls the server by its name and was not sent by another page. It refuses a
    request that comes while too many are at work, and one that takes too long. It adds the headers that a response
    lacks, and turns what nobody caught into a plain problem.

    Work that takes too long is answered and goes on to its end in its thread, which nothing can interrupt: it counts as
    at work until then.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self.app = app
        self._settings = settings
        self._bearers = settings.everybody()
        self._allowances = {bearer.token: Allowance(bearer.rate) for bearer in self._bearers if bearer.rate}
        self._at_work = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it through."""
        if scope["type"] != "http":
            # No page and no endpoint speaks over a web socket.
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": 1008})
            return
        status = 0

        async def hardened(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            answer = refusal(scope, self._settings, self._bearers) or self._too_much(scope)
            await (answer or self._in_time)(scope, receive, hardened)
        except Exception as error:
            # Its text may hold a memory's: the class and the path are enough to look for it.
            # Shown as it is written: an address may hold what a terminal obeys.
            LOG.error("%s %r failed: %s", scope["method"], scope["path"], type(error).__qualname__)
            LOG.debug("", exc_info=error)
            if not status:
                answer = problem(500, "hopgate made a mistake here: please report what was asked")
                await answer(scope, receive, hardened)

    def _too_much(self, scope: Scope) -> Response | None:
        """Say that a request comes too soon, for its token or for the server."""
        allowance = self._allowances.get(scope[BEARER].token)
        if allowance is not None and (seconds := allowance.wait(time.monotonic())):
            sentence = f"this token may ask {allowance.rate} times a minute: wait {seconds} seconds"
            return problem(429, sentence, {"Retry-After": str(seconds)})
        if self._at_work >= self._settings.concurrent:
            return problem(503, "too many requests are at work: ask again in a moment", {"Retry-After": "1"})
        return None

    async def _in_time(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, over = False, False

        async def passed_on(message: Message) -> None:
            nonlocal started
            if not over:
                started = True
                await send(message)

        self._at_work += 1
        work = asyncio.ensure_future(self.app(scope, receive, passed_on))
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


class Allowance:
    """How many requests are left of so many a minute, which come back evenly."""

    def __init__(self, rate: int) -> None:
        self.rate, self._left, self._at = rate, float(rate), 0.0

    def wait(self, now: float) -> int:
        """Take one, and give 0; where none is left, the seconds until there is one.

        Examples
        --------
        >>> two = Allowance(2)
        >>> [two.wait(now) for now in (100.0, 100.0, 100.0, 131.0)]
        [0, 0, 30, 0]
        """
        self._left, self._at = min(self.rate, self._left + (now - self._at) * self.rate / 60), now
        if self._left < 1:
            return max(1, math.ceil((1 - self._left) * 60 / self.rate))
        self._left -= 1
        return 0


def refusal(scope: Scope, settings: ServeSettings, bearers: Sequence[Bearer]) -> Response | None:
    """Say what a request is answered that is not let in, or that is led on; None where it may go on.

    Then the scope holds who it is, under `BEARER`.
    """
    headers = Headers(scope=scope)
    is_page = scope["method"] in _SAFE and not scope["path"].startswith(API)
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    in_address = [value for name, value in pairs if name == "token" and is_page][:1]
    tokens = in_address or [*_bearers(headers), *_cookies(headers, settings.cookie)]
    known = [bearer for bearer in bearers if any(_same(bearer.token, token) for token in tokens)]
    if not known:
        return problem(401, NO_TOKEN, {"WWW-Authenticate": "Bearer"})
    scope[BEARER] = bearer = known[0]
    host = _only(headers, "host")
    if host is None or not settings.knows_host(host):
        return problem(421, "this server does not go by that name: open it by the address that hopgate serve said")
    if sentence := _foreign(headers, host, is_page):
        return problem(403, sentence)
    if bearer.token != settings.token and scope["path"].startswith(FOR_OWN_TOKEN):
        return problem(403, "this is for the server's own token: ask whoever runs the server")
    if not in_address:
        return None
    # The token is kept in a cookie, and the same page opened without it in the address.
    rest = urlencode([pair for pair in pairs if pair[0] != "token"])
    # One slash alone: two would begin the name of another host.
    where = "/" + quote(scope["path"].lstrip("/\\"), safe="/") + (f"?{rest}" if rest else "")
    answer = RedirectResponse(where, 303)
    answer.set_cookie(settings.cookie, bearer.token, httponly=True, samesite="strict", path="/")
    return answer


def _same(token: str, other: str) -> bool:
    return hmac.compare_digest(other.encode("utf-8", "replace"), token.encode())


def _only(headers: Headers, name: str) -> str | None:
    """A header that came once; of two nobody can say which one counts."""
    values = headers.getlist(name)
    return values[0] if len(values) == 1 else None


def _bearers(headers: Headers) -> Iterator[str]:
    for value in headers.getlist("authorization"):
        scheme, _, token = value.partition(" ")
        if scheme.lower() == "bearer":
            yield token.strip()


def _cookies(headers: Headers, name: str) -> Iterator[str]:
    """The values of a cookie; a token may come back in quotes, and holds nothing that would be escaped in them.

    By hand, since strangers send it: the standard library takes the square of the time over backslashes.
    """
    for part in ";".join(headers.getlist("cookie")).split(";"):
        key, _, value = part.partition("=")
        if key.strip() == name:
            yield value.strip().removeprefix('"').removesuffix('"')


def _foreign(headers: Headers, host: str, is_page: bool) -> str | None:
    """Say that another page made a request; None where this server's own did, a person or a program."""
    own = (f"http://{host}".lower(), f"https://{host}".lower())
    if any(origin.lower() not in own for origin in headers.getlist("origin")):
        return "this request comes from a page of another origin: only this server's own pages may send it"
    # What a browser says of a request that this server's own pages made, or that a person typed.
    if _only(headers, "sec-fetch-site") in (None, "same-origin", "none"):
        return None
    # Somebody followed a link to a page.
    if is_page and (_only(headers, "sec-fetch-mode"), _only(headers, "sec-fetch-dest")) == ("navigate", "document"):
        return None
    return "this request comes from another site: only this server's own pages may send it"


class Problem(BaseModel):
    """What went wrong, and what to do."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str


class RefusedError(HopgateError):
    """A request that is refused with a status of its own."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def problem(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    """Make the response."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": redacted(sentence)}
    # Half of a surrogate pair, repeated from a request, is no text.
    content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, status, dict(headers or {}), MEDIA_TYPE)


def responses() -> dict[int | str, dict[str, Any]]:
    """What the OpenAPI document says of every endpoint's errors."""
    schema = {"$ref": f"#/components/schemas/{Problem.__name__}"}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {"schema": schema}}}
        for status in (400, 401, 403, 404, 405, 409, 413, 421, 422, 429, 503, 504)
    }


def handle_errors(app: FastAPI, max_body: int) -> None:
    """Let an application answer every error with a problem, a body that is larger than this among them."""
    sentences = _SENTENCES | {413: f"the body of a request has at most {max_body:,} bytes: send less at once"}

    async def refused(_: Request, error: Exception) -> Response:
        statuses = (status for kind, status in STATUSES.items() if isinstance(error, kind))
        return problem(error.status if isinstance(error, RefusedError) else next(statuses, 422), str(error))

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return problem(422, mistakes(error.errors()))

    async def failed(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return problem(error.status_code, sentences.get(error.status_code, str(error.detail)), error.headers)

    app.add_exception_handler(HopgateError, refused)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, failed)


def mistakes(found: Any) -> str:
    """Say in one sentence which fields of a request are wrong and how; what they held is not repeated."""
    texts = []
    for mistake in found[:NAMED_MISTAKES]:
        where, what = ".".join(map(str, mistake["loc"])), str(mistake["msg"])
        texts.append(f"{where}: {what[:1].lower()}{what[1:]}")
    more = len(found) - NAMED_MISTAKES
    return "; ".join(texts) + (f"; and {more} more" if more > 0 else "")
