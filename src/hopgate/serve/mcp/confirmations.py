"""Tokens of a second step: a deletion that the client cannot ask its user about is repeated with one."""

from __future__ import annotations

import hmac
import secrets
import threading
import time

# A person answers within minutes; more than these wait for an answer only where somebody plays.
SECONDS = 300.0
MOST = 100


class Confirmations:
    """Which deletions were announced, each by a token that is good once, for one memory, and for a while.

    Examples
    --------
    >>> waiting = Confirmations()
    >>> token = waiting.announce("m1")
    >>> waiting.confirm("m2", token), waiting.confirm("m1", "guessed"), waiting.confirm("m1", token)
    (False, False, True)
    >>> waiting.confirm("m1", token)
    False
    """

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[str, float]] = {}
        self._lock = threading.Lock()

    def announce(self, memory: str) -> str:
        """Give the token that confirms the deletion of a memory; an earlier one for it is no longer good."""
        token = secrets.token_urlsafe(16)
        with self._lock:
            now = time.monotonic()
            self._waiting = {key: kept for key, kept in self._waiting.items() if kept[1] > now and key != memory}
            while len(self._waiting) >= MOST:
                del self._waiting[next(iter(self._waiting))]
            self._waiting[memory] = (token, now + SECONDS)
        return token

    def confirm(self, memory: str, token: str) -> bool:
        """Tell whether a token confirms this deletion; it is used up then."""
        with self._lock:
            kept = self._waiting.get(memory)
            good = (
                kept is not None
                and kept[1] > time.monotonic()
                and hmac.compare_digest(kept[0].encode(), token.encode("utf-8", "replace"))
            )
            if good:
                del self._waiting[memory]
            return good
