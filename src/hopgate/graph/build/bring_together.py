"""All names and relations of a store brought together, and everything derived from them, while others write."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from hopgate.errors import WithdrawnError
from hopgate.extract.progress import Progress
from hopgate.graph.build import backfill
from hopgate.graph.build.follow import follow_all
from hopgate.sending import guarded
from hopgate.store.graph import name_rows

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.graph.canonicalise import Canonicaliser
    from hopgate.graph.canonicalise.parallel import ParallelTasks
    from hopgate.store.store import Store

# So often a graph may change while all its names are compared before they are compared under its lock.
ATTEMPTS = 3


def bring_together(
    store: Store,
    canonicaliser: Canonicaliser | None,
    embed: backfill.Embed | None,
    tasks: ParallelTasks | None,
    show: Callable[[Progress], object],
) -> None:
    """Cluster all names and relations, and derive everything from them.

    The graph's lock is for the write alone; where the graph changed while its names were compared, once more.
    """

    def write(clusters: backfill.Clusters, connection: Connection[Any]) -> bool:
        if not backfill.canonicalise(connection, clusters):
            return False
        show(Progress(stage="deriving edges"))
        follow_all(connection)
        return True

    def at_once(connection: Connection[Any]) -> None:
        name_rows.lock(connection)
        write(backfill.clustered(backfill.material(connection), canonicaliser, embed, tasks), connection)

    show(Progress(stage="bringing names together"))
    for _ in range(ATTEMPTS):
        read = store.run(backfill.material)
        # A hosted embedder takes minutes over all names: before each request it is looked whether one went.
        with suppress(WithdrawnError), guarded(name_rows.graph_guard(store, read.version)):
            clusters = backfill.clustered(read, canonicaliser, embed, tasks)
            if store.run(partial(write, clusters)):
                return
    store.run(at_once)
