"""Does a concept graph make recall better on my data, and can I trust the answer: a library to find out.

The names below are the public ones. All but `Memory` and `HopgateError` are imported when they are first used, so that
`import hopgate` costs next to nothing.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.memory import Memory

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

    from hopgate.eval.data.dataset import read_dataset
    from hopgate.eval.gate import run_gate
    from hopgate.kb import KnowledgeBase
    from hopgate.recall.fusers import RRF, TM2C2
    from hopgate.recall.hit import Hit
    from hopgate.recall.settings import Settings
    from hopgate.store.owners_table import OwnersTable

__version__ = "0.1.0"
__all__ = [
    "RRF",
    "TM2C2",
    "Hit",
    "HopgateError",
    "KnowledgeBase",
    "Memory",
    "Settings",
    "open",
    "read_dataset",
    "run_gate",
]

_MODULES = {
    "Hit": "hopgate.recall.hit",
    "KnowledgeBase": "hopgate.kb",
    "RRF": "hopgate.recall.fusers",
    "Settings": "hopgate.recall.settings",
    "TM2C2": "hopgate.recall.fusers",
    "read_dataset": "hopgate.eval.data.dataset",
    "run_gate": "hopgate.eval.gate",
}


# Hidden from type checkers, which would take every misspelt name for one that is imported late.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})


def open(
    where: str | Path | None = None,
    *,
    upgrade: bool | None = None,
    memories: str | OwnersTable | None = None,
    pool: ConnectionPool[Any] | None = None,
    linger: float | None = None,
) -> KnowledgeBase:
    """Open a knowledge base.

    Parameters
    ----------
    where : str or Path, optional
        `postgresql://…` for a server, a directory for an embedded one. By default what the environment variable
        `HOPGATE_STORE` says, or the user's data directory.
    upgrade : bool, optional
        Whether to make the schema in a database that has none. By default in an embedded store; in a server's database
        nothing is made but by `hopgate db upgrade`.
    memories : str or OwnersTable, optional
        With `upgrade`, a table of yours whose rows are memories, such as "public.notes"; by default hopgate has a table
        of its own.
    pool : psycopg_pool.ConnectionPool, optional
        The program's own pool of connections, instead of `where`; it stays open when the knowledge base is closed.
    linger : float, optional
        Seconds that an embedded server stays up after its last user, so that the next need not wait for it. By default
        what the environment variable `HOPGATE_LINGER` says, or none; the commands leave it up for five minutes.

    Examples
    --------
    >>> import tempfile, hopgate
    >>> with tempfile.TemporaryDirectory() as folder, hopgate.open(folder) as kb:
    ...     _ = kb.add(hopgate.Memory("m1", "The backup job moved from atlas to borealis."))
    ...     kb.recall("where does the backup job run", legs=("lexical",))[0].external_id
    'm1'
    """
    from hopgate.kb import KnowledgeBase
    from hopgate.store.store import open_store

    return KnowledgeBase(open_store(where, upgrade=upgrade, memories=memories, pool=pool, linger=linger))
