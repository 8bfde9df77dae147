"""The guard's second look, at the moment that counts: right before a model reads a text, and while the answer is kept.

`memory.cleared` decides when a text is read from the store. Minutes may pass until a slow server is asked, or asked
again: whoever reads texts from a store names here how to look again, and every model and cache does so.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Protocol


class SendingGuard(Protocol):
    """Knows whether the texts on their way may still be read; raises `WithdrawnError` where one may not."""

    def check(self) -> None:
        """Look now."""
        ...

    def holding(self) -> AbstractContextManager[None]:
        """Look now, and let nothing of it change until the block ends."""
        ...


_GUARD: ContextVar[SendingGuard | None] = ContextVar("hopgate_sending_guard", default=None)


@contextmanager
def guarded(guard: SendingGuard) -> Iterator[None]:
    """Let the models and caches that are used inside the block ask this guard."""
    token = _GUARD.set(guard)
    try:
        yield
    finally:
        _GUARD.reset(token)


def check_sending() -> None:
    """Look again; every model calls this right before it reads or sends, each time it tries.

    Examples
    --------
    >>> class Closed:
    ...     def check(self):
    ...         raise PermissionError("it turned sensitive")
    >>> check_sending()
    >>> with guarded(Closed()):
    ...     check_sending()
    Traceback (most recent call last):
    PermissionError: it turned sensitive
    """
    guard = _GUARD.get()
    if guard is not None:
        guard.check()


@contextmanager
def kept_safely() -> Iterator[None]:
    """Keep what a model answered inside the block: what turns sensitive waits for its end, and then removes it."""
    guard = _GUARD.get()
    if guard is None:
        yield
        return
    with guard.holding():
        yield
