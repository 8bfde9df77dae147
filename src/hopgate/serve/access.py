"""Who may ask: the token on every request, the server's own name in it, and no request that another page made."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode

from starlette.responses import RedirectResponse, Response

from hopgate.serve.problems import problem
from hopgate.serve.serve_settings import ServeSettings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

COOKIE = "hopgate_token"
API = "/api/"
PREFIX = "/api/v1"
_SAFE = ("GET", "HEAD")
# What a browser says of a request that this server's own pages made, or that a person typed.
_OWN_SITE = ("same-origin", "none")


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
