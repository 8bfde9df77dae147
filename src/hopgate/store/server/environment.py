"""The PG* variables of the user's shell are about another server: they do not reach the embedded one or its clients."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import psycopg

DATABASE_USER = "hopgate"
_EMBEDDED = re.compile(rf"host='.*'(?: requirepeer=\S+)? user={DATABASE_USER} dbname=", re.DOTALL)


def clean_environment() -> dict[str, str]:
    """The environment for the server's programs, without what is meant for other servers."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")}


def is_embedded(dsn: str) -> bool:
    """Tell the embedded server's address, which this package writes, from those that people write."""
    return _EMBEDDED.match(dsn) is not None


class _Hiding:
    """How many are connecting, and the variables that are hidden meanwhile."""

    lock = threading.Lock()
    connecting = 0
    values: ClassVar[dict[str, str]] = {}


@contextlib.contextmanager
def hidden() -> Iterator[None]:
    """Hide the PG* variables from libpq, which reads them where a connection begins; some have no other remedy.

    The first to connect hides them and the last to have connected brings them back.
    """
    with _Hiding.lock:
        names = [name for name in os.environ if name.startswith("PG")]
        _Hiding.values.update({name: os.environ.pop(name) for name in names})
        _Hiding.connecting += 1
    try:
        yield
    finally:
        with _Hiding.lock:
            _Hiding.connecting -= 1
            if not _Hiding.connecting:
                os.environ.update(_Hiding.values)
                _Hiding.values.clear()


class EmbeddedConnection(psycopg.Connection[Any]):
    """A connection to the embedded server, whatever the shell says about others."""

    @classmethod
    def connect(cls, conninfo: str = "", **options: Any) -> Self:
        """Connect with the variables hidden."""
        with hidden():
            return super().connect(conninfo, **options)
