"""Matrices by graph version: in memory for this process, on disk for the next one, each loaded once."""

from __future__ import annotations

import hashlib
import threading
import warnings
from collections import OrderedDict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopgate.graph.walk.graph_rows import read_changes, read_rows
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.matrix_config import MatrixConfig
from hopgate.graph.walk.matrix_file import read_matrix, write_matrix
from hopgate.store.graph import arrays, change_rows
from hopgate.store.graph.arrays import Stamp
from hopgate.user_folders import cache_folder

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.graph.walk.matrix_patch import Patchable
    from hopgate.store.store import Store

# The usual view, and a few as of other times. One of the prototype's size takes 6 MB, one of a million nodes 200 MB.
KEPT = 4
# Where more memories, concepts and edges than this changed, all are read again.
MOST_CHANGED = 1000
# On disk, of all stores together: throw-away stores leave theirs behind.
MOST_FILES = 64


class MatrixCache:
    """The matrix of a store's graph as it is now, without loading it twice.

    A matrix is asked for by configuration and is made anew when the graph's version has changed, from one snapshot of
    the database: a process that has read the graph once reads what changed since, and only after a large change all of
    it. Matrices are frozen, so that readers in other threads go on with the one they have; one thread at a time loads,
    and those who need the same wait for it.

    Parameters
    ----------
    store : Store
        Whose graph.
    directory : Path, optional
        Where matrices are kept between processes; by default nowhere. They hold ids and weights, no text. A file that
        is damaged, or another version's, is as good as none.
    kept : int
        How many matrices are kept, in memory and on disk.
    """

    def __init__(self, store: Store, directory: Path | None = None, *, kept: int = KEPT) -> None:
        self.directory = directory
        self._store = store
        self._kept = max(1, kept)
        self._matrices: OrderedDict[tuple[Stamp, MatrixConfig], GraphMatrix] = OrderedDict()
        self._patchable: OrderedDict[MatrixConfig, Patchable] = OrderedDict()
        self._touching = threading.Lock()
        self._loading = threading.Lock()

    def get(self, config: MatrixConfig | None = None, connection: Connection[Any] | None = None) -> GraphMatrix:
        """Give the matrix of the graph's present version.

        Parameters
        ----------
        connection : psycopg.Connection, optional
            Where to look up the version; by default a connection of the store. It spares a query in a transaction one
            round trip to the pool.
        """
        config = config or MatrixConfig()
        if connection is None:
            with self._store.transaction() as borrowed:
                stamp = arrays.stamp(borrowed)
        else:
            stamp = arrays.stamp(connection)
        found = self._remembered(stamp, config)
        if found is not None:
            return found
        with self._loading, arrays.snapshot(self._store) as snapshot:
            # While this thread waited, another may have loaded it, or the graph may have gone on to a newer version.
            stamp = arrays.stamp(snapshot)
            found = self._remembered(stamp, config)
            if found is None:
                found = (
                    self._follow(snapshot, stamp, config)
                    or self._read(snapshot, stamp, config)
                    or self._load(snapshot, stamp, config)
                )
                self._remember(found)
            return found

    def _remembered(self, stamp: Stamp, config: MatrixConfig) -> GraphMatrix | None:
        with self._touching:
            found = self._matrices.get((stamp, config))
            if found is not None:
                self._matrices.move_to_end((stamp, config))
            return found

    def _remember(self, matrix: GraphMatrix) -> None:
        with self._touching:
            # Versions only go forward: what is another's will not be asked for again.
            for key in [key for key in self._matrices if key[0] != matrix.stamp]:
                del self._matrices[key]
            self._matrices[matrix.stamp, matrix.config] = matrix
            while len(self._matrices) > self._kept:
                self._matrices.popitem(last=False)

    def _path(self, stamp: Stamp, config: MatrixConfig) -> Path | None:
        if self.directory is None:
            return None
        view = f"{stamp.changed_at} {config!r}".encode()
        return self.directory / f"{stamp.database}-{stamp.version}-{hashlib.sha256(view).hexdigest()[:16]}.npz"

    def _read(self, snapshot: Connection[Any], stamp: Stamp, config: MatrixConfig) -> GraphMatrix | None:
        path = self._path(stamp, config)
        if path is None:
            return None
        relations = partial(arrays.edge_relations, snapshot, as_of=config.as_of, known_at=config.known_at)
        return read_matrix(path, stamp, config, relations)

    def _follow(self, snapshot: Connection[Any], stamp: Stamp, config: MatrixConfig) -> GraphMatrix | None:
        """Patch the matrix of an earlier version with what changed; none where there is none, or too much did."""
        base = self._patchable.get(config)
        if base is None or base.position is None:
            return None
        before = base.matrix.stamp
        # Before the first graph nothing was recorded.
        if before.database != stamp.database or before.version == 0:
            return None
        changed = change_rows.since(snapshot, base.position, limit=MOST_CHANGED)
        if changed is None:
            return None
        from hopgate.graph.walk.matrix_patch import patched

        made = patched(base, read_changes(snapshot, base.arcs, changed, config), stamp)
        return None if made is None else self._kept_for_changes(made)

    def _kept_for_changes(self, made: Patchable) -> GraphMatrix:
        """Keep a matrix for the next change."""
        from hopgate.graph.walk.matrix_patch import follows

        config = made.matrix.config
        if follows(config):
            self._patchable[config] = made
            self._patchable.move_to_end(config)
            while len(self._patchable) > self._kept:
                self._patchable.popitem(last=False)
        return made.matrix

    def _load(self, snapshot: Connection[Any], stamp: Stamp, config: MatrixConfig) -> GraphMatrix:
        # Late: a process that finds the matrix in a file does without.
        from hopgate.graph.walk.matrix_patch import patchable

        matrix = self._kept_for_changes(patchable(read_rows(snapshot, config), stamp, config))
        path = self._path(matrix.stamp, config)
        if path is not None:
            try:
                write_matrix(path, matrix)
                self._prune(path, matrix.stamp)
            except OSError as error:
                # A recall does not fail because its next one will be slower.
                warnings.warn(f"the matrix cannot be kept in {self.directory} ({error.strerror})", stacklevel=3)
        return matrix

    def _prune(self, newest: Path, stamp: Stamp) -> None:
        """Remove what other versions of this graph left, and the oldest of this version's above the number kept."""
        files = list(newest.parent.glob(f"{stamp.database}-*.npz"))
        same = [path for path in files if path.name.startswith(f"{stamp.database}-{stamp.version}-") and path != newest]
        same.sort(key=_age)
        for path in {*files} - {newest, *same[: self._kept - 1]}:
            path.unlink(missing_ok=True)
        # Those of stores that are gone are nobody's to prune: of all there are only so many, the last used.
        for path in sorted(newest.parent.glob("*.npz"), key=_age)[MOST_FILES:]:
            path.unlink(missing_ok=True)


def matrix_directory() -> Path:
    """Where matrices are kept between processes."""
    return cache_folder() / "matrices"


def kept_files(directory: Path) -> list[Path]:
    """The matrices that are kept in a folder, whatever store's they are."""
    return sorted(directory.glob("*.npz"))


def _age(path: Path) -> float:
    try:
        return -path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
