"""Take back what memories supported in the graph: exactly that, in one transaction, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopgate.graph.build.follow import follow_change
from hopgate.store.graph import fact_rows, link_rows, merge_rows, name_rows, relation_rows, version

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.graph.fact_rows import FactGroup
    from hopgate.store.graph.name_rows import NameRow
    from hopgate.store.graph.relation_rows import RelationKey


def revoke(connection: Connection[Any], memory_ids: Sequence[int]) -> None:
    """Remove memories' mentions and facts, and what no other memory supports.

    Edges are derived again from the facts that remain, so that an interval which one of the memories had closed opens
    again. Names that nobody mentions any more go, and concepts without a name.
    """
    name_rows.lock(connection)
    name_ids = fact_rows.names_of_memories(connection, memory_ids)
    names = name_rows.by_id(connection, name_ids)
    scopes = _scopes(connection, memory_ids, names)
    groups = fact_rows.groups_of_memories(connection, memory_ids)
    relations = fact_rows.relations_of_memories(connection, memory_ids)
    fact_rows.remove(connection, memory_ids)
    was_linked = link_rows.unlink(connection, memory_ids)
    if not name_ids and not was_linked:
        # Nothing was made of them, but they may have been neighbours of others.
        version.touch(connection, scopes)
        return
    concept_ids = sorted({row.concept_id for row in names})
    dropped = name_rows.drop_unused(connection, name_ids)
    name_rows.refresh(connection, name_ids)
    merge_rows.forget_names(connection, name_ids)
    groups += _without_unused(connection, relations)
    follow_change(
        connection,
        concept_ids=concept_ids,
        groups=groups,
        names=dropped,
        leaving_out=memory_ids,
        scopes=scopes,
    )


def _scopes(connection: Connection[Any], memory_ids: Sequence[int], names: Sequence[NameRow]) -> set[str] | None:
    """The scopes of memories, and of the names that were read in them; None where one of them is not there any more."""
    own = name_rows.scopes_of(connection, memory_ids)
    return {*own.values(), *(name.scope for name in names)} if len(own) == len({*memory_ids}) else None


def _without_unused(connection: Connection[Any], relations: Sequence[RelationKey]) -> list[FactGroup]:
    """Remove relations that no fact has any more; give the groups of those that were called by one of them."""
    unused = relation_rows.unused(connection, relations)
    if not unused:
        return []
    heirs = relation_rows.called_by(connection, unused)
    groups = fact_rows.groups_of_relations(connection, heirs)
    relation_rows.remove(connection, unused)
    return [*groups, *fact_rows.groups_of_relations(connection, heirs)]
