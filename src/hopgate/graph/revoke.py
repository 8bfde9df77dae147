"""Take back what memories supported in the graph: exactly that, in one transaction, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopgate.graph.derive import derive
from hopgate.graph.linking import relink
from hopgate.graph.naming import rename
from hopgate.store import edges, names, said, version

if TYPE_CHECKING:
    from psycopg import Connection


def revoke(connection: Connection[Any], memory_ids: Sequence[int]) -> None:
    """Remove memories' mentions and facts, and what no other memory supports.

    Edges are derived again from the facts that remain, so that an interval which one of the memories had closed opens
    again. Names that nobody mentions any more go, and concepts without a name.
    """
    names.lock(connection)
    touched = said.names_of_memories(connection, memory_ids)
    groups = said.groups_of_memories(connection, memory_ids)
    said.remove(connection, memory_ids)
    linked = edges.unlink_memories(connection, memory_ids)
    if not touched and not linked:
        return
    derive(connection, groups)
    concepts = sorted({row.concept_id for row in names.by_id(connection, touched)})
    gone = names.drop_unused(connection, touched)
    names.refresh(connection, touched)
    names.drop_nameless(connection, concepts)
    rename(connection, concepts)
    relink(connection, gone, leaving_out=memory_ids)
    version.bump(connection)
