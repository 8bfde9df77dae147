"""What follows from a change of names, mentions or facts: called names, linked memories, derived edges, a new version.

Whoever changes what the graph is made of (ingest, revoke, merge, split, a relation declared single-valued, a backfill)
ends here, in the same transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from hopgate.graph.build.derive import derive
from hopgate.graph.links import link_all, link_memories, relink
from hopgate.store.graph import edge_rows, fact_rows, graph_vectors, name_rows, plain_edges, version

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.graph.fact_rows import FactGroup
    from hopgate.store.graph.name_rows import NameRow

# Groups of facts derived in one statement, so that a backfill never holds all facts.
GROUPS = 5000


def follow_change(
    connection: Connection[Any],
    *,
    concept_ids: Sequence[int] = (),
    memory_ids: Sequence[int] = (),
    groups: Sequence[FactGroup] = (),
    names: Sequence[NameRow] = (),
    leaving_out: Sequence[int] = (),
    scopes: Collection[str] | None = None,
) -> None:
    """Bring the graph into line with a change, at the cost of what it touches.

    Parameters
    ----------
    concept_ids : sequence of int
        Concepts whose names changed: those without a name go, the others are called by their most used one.
    memory_ids : sequence of int
        Memories whose mentions, or whose mentions' concepts, changed.
    groups : sequence of FactGroup
        Groups that gained or lost a fact.
    names : sequence of NameRow
        Names that were added, removed or moved to another concept: other memories may have them as titles, and other
        names may contain them.
    leaving_out : sequence of int
        Memories that are not to be linked, even where a title says so: those that are being revoked.
    scopes : collection of str, optional
        The scopes that all this is of; by default it may be any.
    """
    with connection.pipeline():
        name_rows.drop_nameless(connection, concept_ids)
        renamed = name_rows.rename(connection, concept_ids)
    graph_vectors.forget(connection, renamed)
    link_memories(connection, memory_ids)
    derive(connection, groups)
    relink(connection, names, leaving_out=[*memory_ids, *leaving_out])
    version.bump(connection, scopes)


def follow_all(connection: Connection[Any], *, analysed: bool = False) -> None:
    """Derive every name, every memory's concepts and every edge anew from mentions and facts.

    `analysed` says that the planner has looked at these since they came in.
    """
    name_rows.lock(connection)
    edge_rows.sort_in_memory(connection)
    if not analysed:
        # The rows came in since the planner last looked, and its plans for an empty table are quadratic.
        fact_rows.analyse(connection)
    name_rows.refresh(connection)
    # One that is called otherwise loses the vectors of its old name.
    graph_vectors.forget(connection, name_rows.rename(connection))
    link_all(connection)
    groups = plain_edges.derive_plain(connection)
    for start in range(0, len(groups), GROUPS):
        derive(connection, groups[start : start + GROUPS])
    plain_edges.restore_vectors(connection)
    edge_rows.analyse(connection)
    version.set_derived(connection, True)
    version.bump(connection)
