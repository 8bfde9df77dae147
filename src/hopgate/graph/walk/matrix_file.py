"""A matrix in a file: written whole or not at all, and read back only when it is intact and the one asked for."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.matrix_config import MatrixConfig
from hopgate.graph.walk.walk_graph import WalkGraph
from hopgate.private_files import private_folder
from hopgate.store.graph.arrays import Stamp

# Changes when what the arrays mean changes; a file of another format is loaded anew from the database.
FORMAT = 5
_ARRAYS = (
    "memory_ids",
    "concept_ids",
    "title_memory",
    "title_concept",
    "edge_source",
    "edge_target",
    "edge_relation",
    "edge_weight",
    "edge_id",
    "memory_scope",
    "arc_source",
    "arc_target",
    "arc_weight",
    "arc_kind",
)


def write_matrix(path: Path, matrix: GraphMatrix) -> None:
    """Write a matrix beside its place and move it there, so that nobody ever reads half of it."""
    private_folder(path.parent)
    arrays = {name: getattr(matrix, name) for name in _ARRAYS}
    graph = matrix.graph
    arrays |= {"indptr": graph.indptr, "indices": graph.indices, "weights": graph.weights}
    about = {
        "identity": _identity(matrix.stamp, matrix.config),
        "memories": graph.memories,
        # How many, and not which: they were read in texts, and a file outlives what turns sensitive.
        "relations": len(matrix.relations),
    }
    handle, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            np.savez(out, about=np.frombuffer(json.dumps(about).encode(), np.uint8), **arrays)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_matrix(
    path: Path, stamp: Stamp, config: MatrixConfig, relations: Callable[[], tuple[str, ...]]
) -> GraphMatrix | None:
    """Read a matrix; none when there is no file, when it is damaged, or when it is another one's.

    Parameters
    ----------
    relations : callable
        Gives the relations of the edges that this view has, in ascending order: the file holds their numbers alone.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            # Each array carries a checksum, which is compared when it is read.
            about = json.loads(file["about"].tobytes())
            if about["identity"] != _identity(stamp, config):
                return None
            graph = WalkGraph(file["indptr"], file["indices"], file["weights"], about["memories"])
            arrays = {name: file[name] for name in _ARRAYS}
        named = relations()
        if len(named) != about["relations"]:
            return None
    # All that a damaged or half-written archive was seen to raise; the matrix is then loaded from the database again.
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError):
        return None
    return GraphMatrix(stamp=stamp, config=config, graph=graph, relations=named, **arrays)


def _identity(stamp: Stamp, config: MatrixConfig) -> str:
    return f"{FORMAT} {stamp.database} {stamp.version} {stamp.changed_at} {config!r}"
