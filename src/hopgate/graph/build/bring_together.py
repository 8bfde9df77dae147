"""All names and relations of a store brought together, and everything derived from them, while others write."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from hopgate.errors import WithdrawnError
from hopgate.extract.progress import Progress
from hopgate.graph.build import backfill
from hopgate.graph.build.follow import follow_all
from hopgate.sending import guarded
from hopgate.store.graph import fact_rows, name_rows

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.graph.canonicalise import Canonicaliser
    from hopgate.store.store import Store

# So often a graph may change while all its names are compared before they are compared under its lock.
ATTEMPTS = 3
# Between two looks for circles of objects that nobody holds, so many are made at least.
MADE_BETWEEN = 200_000


@contextmanager
def _few_collections() -> Iterator[None]:
    """Let Python seldom look for circles of objects: all names are some million small ones, and no circle."""
    before = gc.get_threshold()
    if before[0]:
        gc.set_threshold(max(before[0], MADE_BETWEEN), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@_few_collections()
def bring_together(
    store: Store,
    canonicaliser: Canonicaliser | None,
    embed: backfill.Embed | None,
    show: Callable[[Progress], object],
) -> None:
    """Cluster all names and relations, and derive everything from them.

    The graph's lock is for the write alone; where the graph changed while its names were compared, once more.
    """

    def write(clusters: backfill.Clusters, analysed: bool, connection: Connection[Any]) -> bool:
        if not backfill.canonicalise(connection, clusters):
            return False
        show(Progress(stage="deriving edges"))
        follow_all(connection, analysed=analysed)
        return True

    def at_once(connection: Connection[Any]) -> None:
        name_rows.lock(connection)
        write(backfill.clustered(backfill.material(connection), canonicaliser, embed), False, connection)

    show(Progress(stage="bringing names together"))
    for _ in range(ATTEMPTS):
        read = store.run(backfill.material)
        # A hosted embedder takes minutes over all names: before each request it is looked whether one went.
        with suppress(WithdrawnError), guarded(name_rows.graph_guard(store, read.version)):
            # The server has nothing else to do while this process compares names.
            with ThreadPoolExecutor(1, thread_name_prefix="hopgate-analyse") as beside:
                analysed = beside.submit(store.run, _analyse)
                clusters = backfill.clustered(read, canonicaliser, embed)
            analysed.result()
            if store.run(partial(write, clusters, True)):
                return
    store.run(at_once)


def _analyse(connection: Connection[Any]) -> None:
    """Let the planner look at what came in: under the graph's lock, for its samples are texts, and who marks one waits.

    Else it might see a memory that is being marked, and keep a text of it when its marker has looked for such already.
    """
    name_rows.lock(connection)
    fact_rows.analyse(connection)
