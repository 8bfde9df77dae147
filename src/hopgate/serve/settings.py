"""What may be seen and done by whoever asks; and how a store is served: where, with which token and limits."""

import hashlib
import ipaddress
import os
import re
import secrets
import socket
import stat
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.options import check, setting

PORT = 8377
# What a cookie and a header both carry unquoted; shorter ones could be guessed.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{16,512}")


def new_token() -> str:
    """Make a token that nobody guesses."""
    return secrets.token_urlsafe(32)


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What whoever asks may see and do; nothing that is asked changes it.

    Examples
    --------
    >>> Bounds(scopes=("home",), read_only=True).scopes
    ('home',)
    """

    scopes: tuple[str, ...] | None = setting(None, "show and change only memories of this scope", called="scope")
    read_only: bool = setting(False, "refuse all that would change the store")
    show_sensitive: bool = setting(False, "show the texts of sensitive memories, too")

    def __post_init__(self) -> None:
        check(self)
        if self.scopes is not None and not self.scopes:
            raise HopgateError("name at least one scope to bind requests to, or none to bind them to none")


@dataclass(frozen=True, kw_only=True)
class Bearer(Bounds):
    """Whoever carries a token: what they may see and do, and how often they may ask."""

    token: str = field(repr=False)
    rate: int | None = setting(None, "requests a minute; without it as many as come", low=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _TOKEN.fullmatch(self.token):
            raise HopgateError(
                f"a token has 16 to 512 letters, digits or signs of ._~+/=-, and this has {len(self.token)}"
            )


def read_bearers(path: Path) -> tuple[Bearer, ...]:
    """Read further tokens from a TOML file that only its owner can read: a table for each, by any name.

    Each has a `token`, and may have `scopes`, `read_only` and `rate`, in requests a minute.
    """
    try:
        tables = tomllib.loads(own_text(path))
    except tomllib.TOMLDecodeError as error:
        raise HopgateError(f"{path} is not TOML: {error}") from None
    bearers = []
    for name, table in tables.items():
        where = f"{path}: [{name}]"
        if not isinstance(table, dict) or "token" not in table:
            raise HopgateError(f"{where} is to be a table with a token")
        if unknown := table.keys() - {"token", "scopes", "read_only", "rate"}:
            raise HopgateError(f"{where} has {min(unknown)!r}: it may have token, scopes, read_only and rate")
        scopes = table.get("scopes")
        if not isinstance(table["token"], str) or not (scopes is None or isinstance(scopes, list)):
            raise HopgateError(f"{where}: token is a text, and scopes a list of texts")
        try:
            bearers.append(Bearer(**{**table, "scopes": None if scopes is None else tuple(scopes)}))
        except HopgateError as error:
            raise HopgateError(f"{where}: {error}") from None
    if len({bearer.token for bearer in bearers}) < len(bearers):
        raise HopgateError(f"{path} has a token twice: give each its own")
    return tuple(bearers)


def own_text(path: Path) -> str:
    """Read a file with tokens, which only its owner may be able to read."""
    try:
        with path.open(encoding="utf-8") as file:
            found = os.fstat(file.fileno())
            if stat.S_IMODE(found.st_mode) & 0o077 or found.st_uid not in (os.geteuid(), 0):
                raise HopgateError(f"run chmod 600 {path} first, since others can read it and it holds the token")
            return file.read(1 << 20).strip()
    except UnicodeDecodeError:
        raise HopgateError(f"{path} holds no token: write one of letters and digits into it") from None
    except OSError as error:
        raise HopgateError(f"the token file {path} cannot be read: {error.strerror or error}") from None


@dataclass(frozen=True)
class ServeSettings(Bearer):
    """How a store is served.

    Examples
    --------
    >>> ServeSettings("sixteen-letters-x", read_only=True).read_only
    True
    >>> ServeSettings("short")
    Traceback (most recent call last):
    hopgate.errors.HopgateError: a token has 16 to 512 letters, digits or signs of ._~+/=-, and this has 5
    """

    token: str = field(repr=False, kw_only=False)
    bearers: tuple[Bearer, ...] = field(default=(), repr=False)
    host: str = setting("127.0.0.1", "the address to listen on; beyond this machine with --token-file")
    port: int = setting(PORT, "the port; 0 takes any that is free", low=0, high=65535)
    mcp: bool = setting(False, "serve assistants, too, under /mcp")
    max_k: int = setting(200, "the most hits of one recall, and the most rows of one list", low=1)
    max_body: int = setting(1 << 20, "the largest body of a request, in bytes", low=1)
    concurrent: int = setting(16, "requests at work at once; more are refused and may come again", low=1)
    connections: int = setting(256, "open connections; of more, those that ask for nothing are closed", low=1)
    header_seconds: float = setting(10.0, "how long the head of a request may take to arrive", above=0)
    request_seconds: float = setting(60.0, "how long a request may take, its body included", above=0)

    def everybody(self) -> tuple[Bearer, ...]:
        """Who may come, and what they may do here: nobody more than the server's own token."""
        return (self, *map(self._narrowed, self.bearers))

    def _narrowed(self, bearer: Bearer) -> Bearer:
        scopes = self.scopes if bearer.scopes is None else bearer.scopes
        if self.scopes is not None and scopes is not None and (outside := set(scopes) - set(self.scopes)):
            raise HopgateError(f"a token is for {min(outside)!r}, and this server is bound to other scopes")
        read_only = bearer.read_only or self.read_only
        return replace(bearer, scopes=scopes, read_only=read_only, show_sensitive=self.show_sensitive)

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.host)

    @property
    def cookie(self) -> str:
        """The name of the cookie that holds the token: another server of this machine has another one."""
        return f"hopgate_{hashlib.sha256(self.token.encode()).hexdigest()[:8]}"

    def knows_host(self, name: str) -> bool:
        """Tell whether a request may call this server by a name: a page of another name must not pose as this one.

        A name that leads here by a trick of the name service (DNS rebinding) is refused; an address cannot be such a
        name.

        Examples
        --------
        >>> served = ServeSettings("sixteen-letters-x")
        >>> [served.knows_host(name) for name in ("127.0.0.1", "localhost:80", "[::1]", "evil.example", "192.0.2.7")]
        [True, True, True, False, False]
        """
        if not name.endswith("]") and ":" in name:
            name = name.rpartition(":")[0]  # without its port
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
    """Tell whether an address or a name is this machine's own alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
