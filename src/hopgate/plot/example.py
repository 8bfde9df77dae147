"""A store to look at: the user's, or one with the synthetic corpus."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase

# Another name whenever the corpus or its graph changes: what an earlier version kept is not what is shown now.
KEPT = "example-2"


def open_or_example(where: str | Path | None = None) -> KnowledgeBase:
    """Open a store; without one, the synthetic corpus with its graph, made on first use and kept in the user's cache.

    Parameters
    ----------
    where : str or Path, optional
        As for `hopgate.open`; by default what `HOPGATE_STORE` says.
    """
    import hopgate
    from hopgate.store.address import ENVIRONMENT
    from hopgate.user_folders import cache_folder

    if where is not None or os.environ.get(ENVIRONMENT):
        return hopgate.open(where)
    kb = hopgate.open(cache_folder() / KEPT)
    if not len(kb):
        fill(kb)
    return kb


def fill(kb: KnowledgeBase) -> None:
    """Put the synthetic corpus into a store, as `hopgate demo` does: memories, vectors, and the graph read by rules."""
    from hopgate.demo import corpus

    # One person's memory.
    kb.store_settings.set({"scopes": "shared"})
    kb.add(*corpus().memories)
    kb.embed()
    kb.build()
