"""The first query of a process: the model is loaded in a thread while the walk's libraries are imported here.

A model's session is made outside Python's lock, and imports inside it: on two cores one costs nothing beside the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopgate.recall.fuse import active
from hopgate.store import vectors
from hopgate.store.graph import version

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from hopgate.recall.settings import Settings
    from hopgate.store.fill import Embedding
    from hopgate.store.store import Store


def preload(store: Store, embedding: Embedding, workers: Executor, settings: Settings) -> None:
    """Load what a query over the graph needs, where that was not done; a query of words alone needs nothing."""
    if embedding.loaded or "graph" not in active(settings.fuser):
        return
    with store.transaction() as connection:
        space = vectors.space(connection) if version.current(connection) else None
    if space is None:
        return
    workers.submit(embedding.load, space)
    # What the graph leg imports when it first walks.
    from hopgate.recall.legs import graph_seeds

    assert graph_seeds
