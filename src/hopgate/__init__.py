"""Does a concept graph make recall better on my data, and can I trust the answer: a library to find out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hopgate.errors import HopgateError
from hopgate.memory import Memory

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase

__version__ = "0.1.0"
__all__ = ["HopgateError", "Memory", "open"]


def open(where: str | Path | None = None, *, upgrade: bool | None = None) -> KnowledgeBase:
    """Open a knowledge base.

    Parameters
    ----------
    where : str or Path, optional
        `postgresql://…` for a server, a directory for an embedded one. By default what the environment variable
        `HOPGATE_STORE` says, or the user's data directory.
    upgrade : bool, optional
        Whether to migrate a database whose schema is behind. By default an embedded store and an empty database are
        migrated; a server's database that holds memories waits for `hopgate db upgrade`.

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

    return KnowledgeBase(open_store(where, upgrade=upgrade))
