"""Take back what memories supported in the graph: exactly that, in one transaction, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopgate.graph.derive import derive
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
    if not touched:
        return
    edges.unlink_memories(connection, memory_ids)
    derive(connection, groups)
    poorer = names.drop_unused(connection, touched)
    names.drop_nameless(connection, poorer)
    names.rename(connection, poorer)
    version.bump(connection)
