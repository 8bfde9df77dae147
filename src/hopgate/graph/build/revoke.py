"""Take back what memories supported in the graph: exactly that, in one transaction, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopgate.graph.build.derive import derive
from hopgate.graph.build.naming import rename
from hopgate.graph.names.links import relink
from hopgate.store.graph import edge_rows, fact_rows, name_rows, version

if TYPE_CHECKING:
    from psycopg import Connection


def revoke(connection: Connection[Any], memory_ids: Sequence[int]) -> None:
    """Remove memories' mentions and facts, and what no other memory supports.

    Edges are derived again from the facts that remain, so that an interval which one of the memories had closed opens
    again. Names that nobody mentions any more go, and concepts without a name.
    """
    name_rows.lock(connection)
    touched = fact_rows.names_of_memories(connection, memory_ids)
    groups = fact_rows.groups_of_memories(connection, memory_ids)
    fact_rows.remove(connection, memory_ids)
    linked = edge_rows.unlink_memories(connection, memory_ids)
    if not touched and not linked:
        return
    derive(connection, groups)
    concepts = sorted({row.concept_id for row in name_rows.by_id(connection, touched)})
    gone = name_rows.drop_unused(connection, touched)
    name_rows.refresh(connection, touched)
    name_rows.drop_nameless(connection, concepts)
    rename(connection, concepts)
    relink(connection, gone, leaving_out=memory_ids)
    version.bump(connection)
