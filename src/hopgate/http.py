"""One polite request to somebody's server: time limits, retries, Retry-After; an answer or the reason for none."""

from __future__ import annotations

import email.utils
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError

if TYPE_CHECKING:
    import httpx

_PASSING = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 529))
_MOST_BYTES = 8 << 20
"""No answer about one memory is this long; a server that keeps sending is stopped here."""


@dataclass(frozen=True)
class Patience:
    """How long and how often to try.

    Parameters
    ----------
    stall : float
        Seconds without a byte after which a reply counts as stalled.
    total : float
        Seconds one attempt may take in all, so that a server that trickles is stopped too.
    retries : int
        Attempts after the first.
    backoff : float
        Seconds before the first retry; doubled each time. A server's Retry-After goes before it, up to `longest`.

    Examples
    --------
    >>> [Patience().pause(attempt) for attempt in range(4)], Patience().pause(0, retry_after=7.0)
    ([0.5, 1.0, 2.0, 4.0], 7.0)
    """

    stall: float = 60.0
    total: float = 300.0
    retries: int = 4
    backoff: float = 0.5
    longest: float = 60.0

    def pause(self, attempt: int, retry_after: float | None = None) -> float:
        """Return how long to wait after a failed attempt."""
        wanted = self.backoff * 2**attempt if retry_after is None else retry_after
        return min(max(wanted, 0.0), self.longest)


@dataclass(frozen=True)
class Reply:
    """What came back: a status and a decoded body, or, with status 0, the reason why nothing did."""

    status: int
    body: Any
    reason: str = ""


def post(client: httpx.Client, path: str, body: dict[str, Any], patience: Patience) -> Reply:
    """Send JSON and read JSON, trying again where that can help; never raises for what the server does."""
    import httpx

    reply = Reply(0, None, "no attempt was made")
    for attempt in range(patience.retries + 1):
        retry_after = None
        try:
            reply, retry_after = _once(client, path, body, patience)
        except httpx.TimeoutException:
            reply = Reply(0, None, "the server stalled")
        except (httpx.HTTPError, httpx.StreamError) as error:
            reply = Reply(0, None, f"the connection failed: {type(error).__name__}")
        except httpx.InvalidURL as error:
            raise HopgateError(
                f"the server's address is wrong ({error}): give one like http://localhost:8000/v1"
            ) from error
        if reply.status not in _PASSING and reply.status != 0:
            return reply
        if attempt < patience.retries:
            time.sleep(patience.pause(attempt, retry_after))
    return reply


def _once(client: httpx.Client, path: str, body: dict[str, Any], patience: Patience) -> tuple[Reply, float | None]:
    import httpx

    deadline = time.monotonic() + patience.total
    with client.stream("POST", path, json=body, timeout=patience.stall) as response:
        raw = bytearray()
        for chunk in response.iter_bytes():
            raw += chunk
            if time.monotonic() > deadline:
                raise httpx.ReadTimeout("the reply took too long")
            if len(raw) > _MOST_BYTES:
                return Reply(response.status_code, None, "the reply is endless"), None
        text = raw.decode("utf-8", "replace")
        retry_after = seconds_of(response.headers.get("retry-after"))
        try:
            decoded = json.loads(text)
        except ValueError:
            return Reply(response.status_code, text, f"HTTP {response.status_code}: the reply is not JSON"), retry_after
        return Reply(response.status_code, decoded, f"HTTP {response.status_code}"), retry_after


def seconds_of(header: str | None) -> float | None:
    """Read Retry-After: seconds, or a date; None where it says neither.

    Examples
    --------
    >>> seconds_of("2"), seconds_of("soon"), seconds_of("Thu, 01 Jan 1970 00:00:00 GMT")
    (2.0, None, 0.0)
    """
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, TypeError):
        return None
