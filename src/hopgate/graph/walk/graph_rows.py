"""The rows that a matrix is made of, by the store's ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopgate.store.graph import arc_rows, arrays
from hopgate.store.graph.arc_rows import Arcs
from hopgate.store.graph.arrays import Edges, Mentions, Numbered

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
    arcs : Arcs
        Those between memories that the view does not show among them, and pairs that are joined twice.
    """

    memories: Numbered
    concepts: Numbered
    mentions: Mentions
    edges: Edges
    arcs: Arcs


def read_rows(connection: Connection[Any], config: MatrixConfig) -> GraphRows:
    """Read everything; the transaction should be a snapshot (`hopgate.store.graph.arrays.snapshot`)."""
    return GraphRows(
        arrays.memory_scopes(connection, known_at=config.known_at, superseded=config.superseded),
        arrays.concept_kinds(connection),
        arrays.mentions(connection),
        arrays.edges(connection, as_of=config.as_of, known_at=config.known_at),
        arc_rows.arcs(connection),
    )
