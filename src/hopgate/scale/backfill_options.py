"""What `KnowledgeBase.backfill` takes beside its engine, as types."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from hopgate.extract.extractor import Extractor
    from hopgate.extract.progress import Progress
    from hopgate.sources.source import ReadOptions


class BackfillOptions(TypedDict, total=False):
    """How a backfill runs.

    Parameters
    ----------
    engine : {"local", "ray"}
        This process, which is the default, or the workers of a Ray cluster.
    address : str
        The cluster's, such as "auto" or "ray://head:10001"; by default one of this machine's own, for the run.
    workers : int
        How many; by default one a core of the cluster, and as many as the store has connections for.
    gpus_per_worker : float
        What of a GPU each worker holds.
    show : callable
        Called with the count after every batch and stage.
    extractor : str or Extractor
        What mentions and facts are read with; by default the rules.
    embedder : str
        By default the one that made the store's vectors, or `HOPGATE_EMBEDDER`, or the bundled bge-small-en-v1.5.
    form : str
        The source's name, such as "parquet", where it is not to be recognised.
    options : ReadOptions
        A field map, a query, and how else the source is read.
    batch : int
        Memories that one worker embeds at a time and that become visible together.
    build : bool
        Whether the graph follows; rows and vectors alone otherwise.
    rebuild : bool
        Bring all names together anew where there is a graph already.
    """

    engine: str
    address: str | None
    workers: int | None
    gpus_per_worker: float
    show: Callable[[Progress], object]
    extractor: str | Extractor
    embedder: str | None
    form: str | None
    options: ReadOptions | None
    batch: int
    build: bool
    rebuild: bool
