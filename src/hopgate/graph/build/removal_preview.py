"""What would go from the graph with some memories, found by doing it and taking it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopgate.graph.build.revoke import revoke
from hopgate.store import memories
from hopgate.store.graph import concept_rows, support_rows

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True, slots=True)
class RemovalPreview:
    """What goes with memories: concepts that only they name, edges that only they support; and how many edges stay."""

    memories: int
    concepts: tuple[str, ...]
    edges: tuple[str, ...]
    edges_kept: int


def removal_preview(
    connection: Connection[Any], external_ids: Sequence[str], scopes: Sequence[str] | None = None
) -> RemovalPreview:
    """Take memories out of the graph, look what is missing, and roll the transaction back; unknown ids are refused.

    Parameters
    ----------
    scopes : sequence of str, optional
        Only what memories of these scopes support counts.
    """
    asked = memories.require(connection, external_ids)
    known = memories.fetch_by_id(connection, asked)
    ids = [key for key in asked if scopes is None or known[key].scope in scopes]
    names, edges = support_rows.concepts(connection, ids), support_rows.edges(connection, ids)
    revoke(connection, ids)
    left = concept_rows.names(connection, list(names))
    kept = support_rows.known(connection, list(edges))
    connection.rollback()
    return RemovalPreview(
        len(asked),
        tuple(sorted(name for key, name in names.items() if key not in left)),
        tuple(sorted(words for key, words in edges.items() if key not in kept)),
        len(kept),
    )
