"""How a store is served: where, with which token, what may be seen and done, and the limits of a request."""

from __future__ import annotations

import ipaddress
import re
import secrets
import socket
from dataclasses import dataclass, field
from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.recall.filters import MAX_QUERY_CHARACTERS

PORT = 8377
MCP_PORT = 8378
# What a cookie and a header both carry unquoted; shorter ones could be guessed.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{16,512}")


def new_token() -> str:
    """Make a token that nobody guesses.

    Examples
    --------
    >>> len(new_token()) > 40
    True
    """
    return secrets.token_urlsafe(32)


@dataclass(frozen=True)
class ServeSettings:
    """How a store is served.

    Parameters
    ----------
    token : str
        What every request carries; at least 16 letters, digits or signs of `._~+/=-`.
    host, port : str and int
        Where the server listens; port 0 takes any that is free.
    show_sensitive : bool
        Whether texts of sensitive memories are shown; by default nobody gets to see them.
    read_only : bool
        Whether everything that would change the store is refused.
    scopes : tuple of str, optional
        The scopes that requests are bound to: nothing of another is seen or changed.
    questions : tuple of Path
        Folders with queries and judgements about this store's memories, that a gate may be run on.
    mcp : bool
        Whether assistants are served, too, under /mcp, within the same bounds.
    gates : Path, optional
        Where gates are kept; by default in the store's own folder, or in the user's data directory.
    max_body : int
        The largest body of a request, in bytes.
    max_query : int
        The longest query, in characters.
    max_k : int
        The most hits of one recall, and the most rows of one list.
    request_seconds : float
        How long a request may take.
    concurrent : int
        How many requests may be at work at once; more are refused at once and may come again.

    Examples
    --------
    >>> ServeSettings("sixteen-letters-x", read_only=True).read_only
    True
    >>> ServeSettings("short")
    Traceback (most recent call last):
    hopgate.errors.HopgateError: a token has 16 to 512 letters, digits or signs of ._~+/=-, and this has 5
    """

    token: str = field(repr=False)
    host: str = "127.0.0.1"
    port: int = PORT
    show_sensitive: bool = False
    read_only: bool = False
    scopes: tuple[str, ...] | None = None
    questions: tuple[Path, ...] = ()
    mcp: bool = False
    gates: Path | None = None
    max_body: int = 1 << 20
    max_query: int = MAX_QUERY_CHARACTERS
    max_k: int = 200
    request_seconds: float = 60.0
    concurrent: int = 16

    def __post_init__(self) -> None:
        if not _TOKEN.fullmatch(self.token):
            raise HopgateError(
                f"a token has 16 to 512 letters, digits or signs of ._~+/=-, and this has {len(self.token)}"
            )
        if not 0 <= self.port <= 65535:
            raise HopgateError(f"a port is a number from 0 to 65535, not {self.port}")
        if self.scopes is not None and not self.scopes:
            raise HopgateError("name at least one scope to bind requests to, or none to bind them to none")
        for name in ("max_body", "max_query", "max_k", "request_seconds", "concurrent"):
            if not getattr(self, name) > 0:
                raise HopgateError(f"{name} must be more than 0, not {getattr(self, name)}")

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.host)

    def knows_host(self, name: str) -> bool:
        """Tell whether a request may call this server by a name: a page of another name must not pose as this one.

        A name that leads here by a trick of the name service (DNS rebinding) is refused; an address cannot be such a
        name.

        Examples
        --------
        >>> served = ServeSettings("sixteen-letters-x")
        >>> [served.knows_host(name) for name in ("127.0.0.1", "localhost", "[::1]", "evil.example", "192.0.2.7")]
        [True, True, True, False, False]
        """
        name = name.lower().rstrip(".").removeprefix("[").removesuffix("]")
        if is_loopback(name):
            return True
        if self.loopback:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in {self.host.lower(), socket.gethostname().lower(), socket.getfqdn().lower()}
        return True


def is_loopback(host: str) -> bool:
    """Tell whether an address or a name is this machine's own alone.

    Examples
    --------
    >>> is_loopback("localhost"), is_loopback("127.1.2.3"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
