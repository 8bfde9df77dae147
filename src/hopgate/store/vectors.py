"""Vectors of memories and passages, and tokens of memories: who makes them, and their indexes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.errors import HopgateError
from hopgate.memory import Cleared
from hopgate.passages import passages
from hopgate.store import memories
from hopgate.store.memories import lock, waiting
from hopgate.store.rows import Connection, columns_of, fetch, insert, value, values

if TYPE_CHECKING:
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from hopgate.embed import Identity
    from hopgate.embed.late import Tokens

# Below this many memories a full scan is as quick as the index and exact (spec §5, issue 3).
EXACT_BELOW = 50_000
# Likewise within a scope, of which an index over all scopes finds few; on a busy machine 12,500 took 110 ms.
EXACT_WITHIN = 20_000
# pgvector's default; a narrower search than that saves nothing worth having.
LEAST_EF_SEARCH, MOST_EF_SEARCH = 40, 1000
# An index that is being built, or whose build was interrupted, is there and not valid.
_INDEXED = "coalesce((SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('memories_embedding')), false)"


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """Who made a store's vectors, and what there is to search."""

    identity: Identity
    indexed: bool = False  # whether the HNSW index is there
    passages: bool = False  # whether any memory is so long that its passages have vectors of their own
    late: Identity | None = None  # who makes the tokens of late interaction, if the store keeps any


def space(connection: Connection) -> EmbeddingSpace | None:
    """The store's embedding space, or none while nothing is embedded."""
    # Late: with it comes numpy, which a lexical recall does without.
    from hopgate.embed.embedder import Identity

    def made(identity: dict[str, Any], late: dict[str, Any] | None, **there: bool) -> EmbeddingSpace:
        return EmbeddingSpace(Identity(**identity), late=Identity(**late) if late else None, **there)

    there = f"{_INDEXED} AS indexed, EXISTS (SELECT FROM passages) AS passages"
    return next(iter(fetch(connection, made, f"SELECT identity, late, {there} FROM embedding_space")), None)


def embedded(connection: Connection, ids: Sequence[int]) -> set[int]:
    """Those of the memories that have a vector."""
    return set(values(connection, "SELECT id FROM memories WHERE id = ANY(%s) AND embedding IS NOT NULL", (list(ids),)))


def has_space(connection: Connection) -> bool:
    """Whether anything is embedded: all that most writers of the graph need to know of the space."""
    return value(connection, "SELECT 1 FROM embedding_space") is not None


def claim(connection: Connection, identity: Identity, late: Identity | None = None) -> None:
    """Make the store these models', or refuse by name when it is others'; without `late` it keeps no tokens."""
    current = space(connection)
    if current is None:
        # Two processes may claim at once: the second waits here, and then finds the first one's claim.
        _lock_columns(connection)
        current = space(connection)
    if current is None:
        connection.execute("SELECT hopgate_set_dimension(%s)", (identity.dimension,))
        connection.execute(
            "INSERT INTO embedding_space (identity, late) VALUES (%s, %s)",
            (json.dumps(identity.to_dict()), late and json.dumps(late.to_dict())),
        )
        return
    check(current, identity, late)


def check(current: EmbeddingSpace, identity: Identity | None = None, late: Identity | None = None) -> None:
    """Refuse an embedder, or a late-interaction model, other than those that made the space."""
    if identity is not None and current.identity.key != identity.key:
        detail = ", with other prompts or weights" if str(current.identity) == str(identity) else ""
        raise HopgateError(
            f"this store was embedded by {current.identity}, not by {identity}{detail}: "
            "use that embedder, or run hopgate embed --change to change it"
        )
    if late is not None and (current.late is None or current.late.key != late.key):
        made = f"made by {current.late}" if current.late else "switched off"
        raise HopgateError(
            f"late interaction in this store is {made}, not {late}: use a new store for that, and ingest there"
        )


def pending(connection: Connection, *, limit: int, after: int = 0) -> list[int]:
    """Memories that still need a vector, in order; a sensitive one never does."""
    return values(
        connection,
        f"SELECT m.id FROM {waiting('waiting_vectors')} WHERE NOT is_sensitive AND memory_id > %s "
        "ORDER BY memory_id LIMIT %s",
        (after, limit),
    )


def count_pending(connection: Connection, *, scopes: Sequence[str] | None = None) -> int:
    """How many memories, of any scope or of some, still need a vector."""
    source = f"{waiting('waiting_vectors')} WHERE NOT is_sensitive{memories.in_scopes(scopes)}"
    return int(value(connection, f"SELECT count(*) FROM {source}", {"scopes": list(scopes or ())}))


# ---- Writing ---------------------------------------------------------------------------------------------------------


class Embedded(NamedTuple):
    """A memory's content, its vectors (its own, and those of its passages after it) and its tokens."""

    memory_id: int
    content: Cleared
    rows: NDArray[np.float32] | None
    tokens: Tokens | None = None


class _Passage(NamedTuple):
    memory_id: int
    number: int
    starts: int
    ends: int
    embedding: str


def write(
    connection: Connection, batch: Sequence[Embedded], identity: Identity, late: Identity | None = None
) -> set[int]:
    """Store what was made of memories, except of those that changed or turned sensitive meanwhile.

    Returns the memories that have theirs now. The first ones make the store their models'.
    """
    if not batch:
        return set()
    claim(connection, identity, late)
    lock(connection, [memory.memory_id for memory in batch])
    written = set(
        values(
            connection,
            "SELECT id FROM memories JOIN unnest(%s::bigint[], %s::text[]) AS given (id, text) USING (id) "
            "WHERE content = given.text AND NOT is_sensitive",
            ([memory.memory_id for memory in batch], [memory.content for memory in batch]),
        )
    )
    kept = [memory for memory in batch if memory.memory_id in written]
    embedded = [(memory, memory.rows) for memory in kept if memory.rows is not None]
    set_vectors(connection, "memories", [memory.memory_id for memory, _ in embedded], [rows[0] for _, rows in embedded])
    parts = (
        _Passage(memory.memory_id, number, span.start, span.end, to_sql(rows[1 + number]))
        for memory, rows in embedded
        for number, span in enumerate(passages(memory.content))
    )
    insert(connection, "passages", parts, key="memory_id, number")
    tokens = [(memory.memory_id, len(rows), rows.tobytes()) for memory in kept if (rows := memory.tokens) is not None]
    connection.execute(
        "INSERT INTO memory_tokens SELECT * FROM unnest(%s::bigint[], %s::integer[], %b::bytea[]) "
        "ON CONFLICT (memory_id) DO UPDATE SET count = excluded.count, tokens = excluded.tokens",
        columns_of(tokens, 3),
    )
    connection.execute("DELETE FROM waiting_vectors WHERE memory_id = ANY(%s)", (list(written),))
    return written


def set_vectors(connection: Connection, table: str, ids: Sequence[int], vectors: Iterable[NDArray[np.float32]]) -> None:
    """Store the vectors of rows of a table."""
    if ids:
        connection.execute(
            f"UPDATE {table} t SET embedding = v.vector::halfvec "
            "FROM unnest(%s::bigint[], %s::text[]) AS v (id, vector) WHERE t.id = v.id",
            (list(ids), [to_sql(vector) for vector in vectors]),
        )


class MemoryTokens(NamedTuple):
    """A memory's tokens, and when it was made, if it says so."""

    rows: Tokens
    made_at: datetime | None = None


def tokens_of(connection: Connection, memory_ids: Sequence[int]) -> dict[int, MemoryTokens]:
    """Read the tokens of those of the memories that have some and are not sensitive."""
    # Late: a lexical recall does without.
    import numpy as np

    rows = connection.cursor(binary=True).execute(
        "SELECT memory_id, count, tokens, CASE WHEN dated THEN created_at END FROM memory_tokens "
        "JOIN memories ON id = memory_id WHERE memory_id = ANY(%s) AND NOT is_sensitive",
        (list(memory_ids),),
    )
    return {
        key: MemoryTokens(np.frombuffer(tokens, np.int8).reshape(count, -1), made_at)
        for key, count, tokens, made_at in rows
    }


def drop(connection: Connection, ids: Sequence[int]) -> None:
    """Forget the vectors of memories, their passages and their tokens."""
    lock(connection, ids)
    connection.execute("SELECT hopgate_forget_vectors(%s)", (list(ids),))


def to_sql(vector: NDArray[np.float32]) -> str:
    """A vector as `halfvec` reads it: five digits tell each half from the next."""
    halves = vector.astype("float16").tolist()
    return f"[{','.join(['%.5g'] * len(halves))}]" % tuple(halves)


def search_wide(connection: Connection, depth: int) -> None:
    """Let HNSW return `depth` rows after filtering: it returns fewer, silently, when `ef_search` is smaller.

    Local to the transaction, for the sake of a pooler in between.
    """
    connection.execute(
        "SELECT set_config('hnsw.ef_search', %s, true), set_config('hnsw.iterative_scan', 'strict_order', true)",
        (str(min(max(depth, LEAST_EF_SEARCH), MOST_EF_SEARCH)),),
    )


# ---- Changing the embedder -------------------------------------------------------------------------------------------


def change_over(connection: Connection, before: Identity, identity: Identity) -> None:
    """Make the store another embedder's: vectors go, and memories wait for new ones; others are `hopgate build`'s."""
    _lock_columns(connection)
    current = space(connection)
    if current is not None and current.identity.key == identity.key:
        return  # another process changed over to the same one
    if current is None or current.identity.key != before.key:
        raise HopgateError("another process changed this store's embedder meanwhile: run hopgate embed --change again")
    connection.execute("SELECT hopgate_set_dimension(%s)", (identity.dimension,))
    connection.execute(
        "DELETE FROM passages; "
        "INSERT INTO waiting_vectors SELECT id FROM memories WHERE NOT is_sensitive ON CONFLICT DO NOTHING"
    )
    connection.execute("UPDATE embedding_space SET identity = %s", (json.dumps(identity.to_dict()),))


def _lock_columns(connection: Connection) -> None:
    """Lock what a change of the vectors' columns rewrites, in the order of docs/reliability.md."""
    connection.execute("LOCK TABLE embedding_space IN EXCLUSIVE MODE")
    connection.execute("LOCK TABLE memories IN ACCESS EXCLUSIVE MODE")
    connection.execute("SELECT pg_advisory_xact_lock(hashtext('hopgate graph'))")
    connection.execute("LOCK TABLE passages, concepts, concept_edges, statements IN ACCESS EXCLUSIVE MODE")


# ---- Indexes ---------------------------------------------------------------------------------------------------------

MOST_MEMORY = 1 << 30


def build_index(connection: Connection, path: str = "") -> None:
    """Build the HNSW indexes beside running writers; the connection must be in autocommit mode.

    By `path`, a search_path, the tables are found; it is empty where the session's own is right.
    """
    # Try the lock instead of waiting for it: a waiting process holds a snapshot, and a concurrent build waits for every
    # snapshot to end.
    if not value(connection, "SELECT pg_try_advisory_lock(hashtext('hopgate hnsw'))"):
        return
    if path:
        connection.execute(f"SET search_path = {path}")
    # The passages' first: whether there is an index is asked of the memories'.
    for table in ("passages", "memories"):
        connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {table}_embedding")
        create_index(connection, table, "CONCURRENTLY")
    connection.execute("RESET search_path")
    connection.execute("SELECT pg_advisory_unlock(hashtext('hopgate hnsw'))")


def create_index(connection: Connection, table: str, how: str = "") -> None:
    """Index a table's vectors."""
    method = "hnsw (embedding halfvec_cosine_ops) WITH (m = 16, ef_construction = 64)"
    build_over(connection, f"CREATE INDEX {how} IF NOT EXISTS {table}_embedding ON {table} USING {method}")


def build_over(connection: Connection, statement: str) -> None:
    """Run a statement that builds an index over vectors, with as much memory as that takes.

    Without workers: before pgvector 0.8.2 they are unsafe, and in a container they find no shared memory.
    """
    # It takes no more than it needs: a quarter of this machine's memory at most, where the server is on it.
    here = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4 if connection.info.host.startswith("/") else 0
    # In autocommit mode the settings are the session's.
    local = not connection.autocommit
    connection.execute(
        "SELECT set_config('maintenance_work_mem', greatest(%s, pg_size_bytes(current_setting("
        "'maintenance_work_mem')) / 1024) || 'kB', %s), set_config('max_parallel_maintenance_workers', '0', %s)",
        (max(MOST_MEMORY, here) >> 10, local, local),
    )
    connection.execute(statement.encode())
    if not local:
        connection.execute("RESET maintenance_work_mem; RESET max_parallel_maintenance_workers")
