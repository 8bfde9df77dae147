"""Memories into the store and out of it, each with everything that was made of its text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from hopgate.store import memories, vectors
from hopgate.store.graph import statement_rows, version

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.memory import Memory
    from hopgate.store.fill import Embedding
    from hopgate.store.memories import Written
    from hopgate.store.store import Store

# After a load of this size the planner's statistics and the index's pending list are worth a pass of their own.
TIDY_ABOVE = 1000


class MemoryWriter:
    """Writes, deletes and marks memories; what no longer holds of them goes in the same transaction."""

    def __init__(self, store: Store, embedding: Embedding) -> None:
        self._store = store
        self._embedding = embedding

    def write(self, new: Iterable[Memory]) -> Written:
        """Add memories, or bring those with the same external id up to date, all or none.

        Where a text changed, its vector, mentions and facts go, and are made anew by the next `embed` and `build`.
        """
        from hopgate.graph.build.revoke import revoke

        with self._store.transaction() as connection:
            written = memories.upsert(connection, new)
            # A text that was replaced may be what turns sensitive later: the caches keep none that a store gave up.
            self._embedding.forget(written.replaced)
            if written.changed:
                revoke(connection, written.changed)
                vectors.drop(connection, written.changed)
                # They were about the old text.
                statement_rows.remove(connection, written.changed)
            if written.now_sensitive:
                self._forget(connection, written.now_sensitive)
            if written.rows > written.added:
                # A known memory's scope, thread or date may be another now.
                version.touch(connection)
        return written

    def load(self, new: Iterable[Memory]) -> Written:
        """Write many memories at once, and tidy the tables after a large load."""
        written = self.write(new)
        if written.rows >= TIDY_ABOVE:
            with self._store.transaction() as connection:
                memories.tidy(connection)
        return written

    def delete(self, external_ids: Sequence[str]) -> int:
        """Delete memories and exactly what only they supported in the graph; unknown ids are refused."""
        from hopgate.graph.build.revoke import revoke

        with self._store.transaction() as connection:
            ids = memories.require(connection, external_ids)
            revoke(connection, ids)
            memories.remove(connection, ids)
        return len(ids)

    def mark_sensitive(self, external_ids: Sequence[str]) -> int:
        """Mark memories as sensitive and remove all that was ever made of their text; unknown ids are refused."""
        with self._store.transaction() as connection:
            ids = memories.require(connection, external_ids)
            memories.set_sensitive(connection, ids)
            self._forget(connection, ids)
        return len(ids)

    def _forget(self, connection: Connection[Any], ids: Sequence[int]) -> None:
        """Remove all that was made of memories' texts; the caches on disk first, so that no failure can leave them."""
        from hopgate.graph.build.revoke import revoke
        from hopgate.store import extractions
        from hopgate.store.graph import fact_rows

        texts = [memory.content for memory in memories.fetch_by_id(connection, ids).values()]
        stated = statement_rows.texts_of_memories(connection, ids)
        self._embedding.forget([*texts, *stated, *fact_rows.texts_of_memories(connection, ids)])
        statement_rows.remove(connection, ids)
        revoke(connection, ids)
        vectors.drop(connection, ids)
        extractions.forget(connection, ids)
