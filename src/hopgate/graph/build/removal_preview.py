"""What would go from the graph with some memories, found by doing it and taking it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopgate.graph.build.revoke import revoke
from hopgate.graph.walk.scope_graph import scope_graph
from hopgate.store import memories
from hopgate.store.graph import concept_rows, scope_rows, support_rows

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True, slots=True)
class RemovalPreview:
    """What goes with memories: concepts that only they name, edges that only they support; and how many edges stay."""

    memories: int
    concepts: tuple[str, ...]
    edges: tuple[str, ...]
    edges_kept: int


def scope_removal(connection: Connection[Any], scopes: Sequence[str], external_ids: Sequence[str]) -> RemovalPreview:
    """Say what some scopes' own graph would lose with memories, whatever others say; unknown ids are refused."""
    gone = set(memories.require(connection, external_ids))
    ids = scope_rows.memories_of_scopes(connection, scopes, None)
    before, after = (scope_graph(connection, part) for part in (ids, [key for key in ids if key not in gone]))
    names = {key: aliases[0] for key, aliases in before.aliases.items()}
    # What a concept of before is now: its names may be others' by then, and its id that of another of them.
    home = {name.id: name.concept_id for name in after.names}
    now = {name.concept_id: home[name.id] for name in reversed(before.names) if name.id in home}
    supported = {
        (edge.row.src_id, edge.relation, edge.row.dst_id) for edge in before.edges if gone & {*edge.row.evidence}
    }
    left = {(edge.row.src_id, edge.relation, edge.row.dst_id) for edge in after.edges}
    kept = {
        (one, relation, other) for one, relation, other in supported if (now.get(one), relation, now.get(other)) in left
    }
    return RemovalPreview(
        len(gone),
        tuple(sorted(name for key, name in names.items() if key not in now)),
        tuple(sorted(f"{names[one]} — {relation} → {names[other]}" for one, relation, other in supported - kept)),
        len(kept),
    )


def removal_preview(connection: Connection[Any], external_ids: Sequence[str]) -> RemovalPreview:
    """Take memories out of the graph, look what is missing, and roll the transaction back; unknown ids are refused."""
    ids = memories.require(connection, external_ids)
    names, edges = support_rows.concepts(connection, ids), support_rows.edges(connection, ids)
    revoke(connection, ids)
    left = concept_rows.names(connection, list(names))
    kept = support_rows.known(connection, list(edges))
    connection.rollback()
    return RemovalPreview(
        len(ids),
        tuple(sorted(name for key, name in names.items() if key not in left)),
        tuple(sorted(words for key, words in edges.items() if key not in kept)),
        len(kept),
    )
