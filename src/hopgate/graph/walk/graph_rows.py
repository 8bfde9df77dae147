"""The rows that a matrix is made of, by the store's ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopgate.store.graph import arc_rows, arrays
from hopgate.store.graph.arc_rows import Arcs
from hopgate.store.graph.arrays import Edges, Mentions, Numbered
from hopgate.store.graph.visible import View

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.graph.walk.matrix_config import MatrixConfig


@dataclass(frozen=True, eq=False)
class GraphRows:
    """What of the graph a view shows, before anything is weighed.

    Parameters
    ----------
    memories, concepts : Numbered
        Ids with their scopes and kinds.
    mentions : Mentions
        Those of memories that the view does not show among them.
    namesakes : two arrays
        Concepts that are one node with another scope's, in the order of their ids, and that one.
    arcs : Arcs
        Those between memories that the view does not show among them, and pairs that are joined twice.
    """

    memories: Numbered
    concepts: Numbered
    mentions: Mentions
    edges: Edges
    arcs: Arcs
    namesakes: tuple[NDArray[np.int64], NDArray[np.int64]]


def read_rows(connection: Connection[Any], config: MatrixConfig, scopes: Sequence[str] | None = None) -> GraphRows:
    """Read everything, or what is of some scopes; the transaction should be a snapshot (`arrays.snapshot`)."""
    view = View(None if scopes is None else tuple(scopes), config.as_of, config.known_at)
    return GraphRows(
        arrays.memory_scopes(connection, view, superseded=config.superseded),
        arrays.concept_kinds(connection, view),
        arrays.mentions(connection, view),
        arrays.edges(connection, view),
        arc_rows.arcs(connection, scopes),
        arrays.namesakes(connection, view),
    )
