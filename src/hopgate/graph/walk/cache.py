"""The matrices of a store's graph, by view: kept while the graph's version stands, read again beside it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.graph.walk.matrix import WHOLE, GraphMatrix, load_matrix
from hopgate.store.graph import arrays, version
from hopgate.store.graph.visible import View

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.store import Store

# One of 20,000 memories takes 20 MB, and is read in 65 ms; one of 200,000 takes 200 MB and 0.8 s.
MOST_BYTES = 256_000_000
# So long a recall waits for what this process itself wrote.
PATIENCE_S = 1.0
# Matrices that are read at once.
READERS = 2


class Key(NamedTuple):
    """Which matrix: what of the graph is walked, and whether superseded memories are."""

    view: View
    superseded: bool


class MatrixCache:
    """Gives a matrix at once where there is one, also where it is a little old.

    A matrix is current while the stamp of its scopes' version stands. One that another process's write made old is
    given all the same, and read again by a thread meanwhile: memories that it does not have are blind to the graph leg,
    which fusion knows. What this process itself wrote is waited for, for `PATIENCE_S` at most. Matrices are frozen, so
    that readers in other threads go on with the one they have.

    Parameters
    ----------
    store : Store
        Whose graph.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[Key, GraphMatrix] = OrderedDict()
        self._loading: dict[Key, Future[GraphMatrix]] = {}
        self._touching = threading.Lock()
        self._readers: ThreadPoolExecutor | None = None

    def get(
        self, connection: Connection[Any], view: View = WHOLE, *, superseded: bool = False, fresh: bool = False
    ) -> GraphMatrix:
        """Give a matrix.

        Parameters
        ----------
        connection : psycopg.Connection
            Where to look up the graph's version.
        view, superseded
            As for `load_matrix`.
        fresh : bool
            Whether it must be of the present version, as in an evaluation.
        """
        key = Key(view, superseded)
        stamp = arrays.stamp(connection, view.scopes)
        with self._touching:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
        if kept is not None and kept.stamp.is_current(stamp):
            return kept
        needed = fresh or kept is None or kept.stamp.database != stamp.database or kept.stamp.version >= stamp.version
        since = () if kept is None else range(kept.stamp.version + 1, stamp.version + 1)
        own = any(written in since for written in version.written_here(connection))
        loading = self._reload(key, anew=needed or own)
        if needed or kept is None:
            return loading.result()
        if own:
            wait([loading], PATIENCE_S)
            with self._touching:
                return self._kept.get(key, kept)
        return kept

    def close(self) -> None:
        """Wait for what is being read; nothing more is."""
        with self._touching:
            readers, self._readers = self._readers, None
        if readers is not None:
            readers.shutdown()

    def _reload(self, key: Key, *, anew: bool) -> Future[GraphMatrix]:
        """Have a matrix read, by a reading that has not begun yet where it must see what is there now."""
        with self._touching:
            last = self._loading.get(key)
            if last is not None and not last.done() and not (anew and last.running()):
                return last
            if self._readers is None:
                self._readers = ThreadPoolExecutor(READERS, "hopgate-matrix")
            self._loading[key] = made = self._readers.submit(self._read, key)
            return made

    def _read(self, key: Key) -> GraphMatrix:
        with self._store.snapshot() as snapshot:
            stamp = arrays.stamp(snapshot, key.view.scopes)
            with self._touching:
                kept = self._kept.get(key)
            if kept is not None and kept.stamp.is_current(stamp):
                # While this one was asked for, another reading ended.
                return kept
            matrix = load_matrix(snapshot, key.view, superseded=key.superseded)
        with self._touching:
            later = self._kept.get(key)
            if later is not kept and later is not None and later.stamp.is_current(stamp):
                return later
            self._kept[key] = matrix
            self._kept.move_to_end(key)
            while len(self._kept) > 1 and sum(each.bytes for each in self._kept.values()) > MOST_BYTES:
                self._kept.popitem(last=False)
        return matrix
