"""Vectors of memories: one embedding space a store, named after the embedder that made it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

    from hopgate.embed import Identity

# Below this many memories a full scan is as quick as the index and exact (spec §5, issue 3).
EXACT_BELOW = 50_000
INDEX = "memories_embedding"
# Tables whose rows carry a vector of this space.
TABLES = ("memories", "concepts", "concept_edges")
# An index that is being built, or whose build was interrupted, is there and not valid.
_INDEXED = "coalesce((SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%(index)s)), false)"


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """Who made a store's vectors, who is making the next ones while it is being changed, and whether HNSW is there."""

    identity: Identity
    next_identity: Identity | None = None
    indexed: bool = False


def space(connection: Connection[Any]) -> EmbeddingSpace | None:
    """The store's embedding space, or none while nothing is embedded."""
    row = connection.execute(
        f"SELECT identity, next_identity, {_INDEXED} FROM embedding_space", {"index": INDEX}
    ).fetchone()
    # Late: with it comes numpy, which a lexical recall does without.
    from hopgate.embed.embedder import Identity

    return EmbeddingSpace(Identity(**row[0]), Identity(**row[1]) if row[1] else None, row[2]) if row else None


def claim(connection: Connection[Any], identity: Identity) -> None:
    """Make the store this embedder's, or refuse by name when it is another's."""
    found = space(connection)
    if found is None:
        # Of two that come first at once, one waits here and finds the other's claim.
        connection.execute("LOCK TABLE embedding_space IN EXCLUSIVE MODE")
        found = space(connection)
    if found is None:
        taken = connection.execute(
            "SELECT 1 FROM pg_attribute WHERE attrelid = 'memories'::regclass AND attname = 'embedding' "
            "AND NOT attisdropped"
        ).fetchone()
        if taken:
            raise HopgateError(
                "memories.embedding exists and hopgate did not make it, so nobody knows by which embedder: "
                "rename that column, then embed again"
            )
        for table in TABLES:
            connection.execute(f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS embedding halfvec({identity.dimension})")
        connection.execute(
            "INSERT INTO embedding_space (name, dimension, identity) VALUES (%s, %s, %s)",
            (identity.name, identity.dimension, json.dumps(identity.to_dict())),
        )
        return
    check(found, identity)


def check(found: EmbeddingSpace, identity: Identity) -> None:
    """Refuse an embedder other than the one that made the space."""
    if found.identity.key == identity.key:
        return
    detail = ", with other prompts or weights" if str(found.identity) == str(identity) else ""
    raise HopgateError(
        f"this store was embedded by {found.identity}, not by {identity}{detail}: "
        "use that embedder, or run hopgate reembed to change"
    )


def pending(connection: Connection[Any], *, limit: int, after: int = 0, column: str = "embedding") -> list[int]:
    """Memories that still need a vector, in order; a sensitive one never does."""
    rows = connection.execute(
        f"SELECT id FROM memories WHERE {_missing(connection, column)} AND NOT is_sensitive AND id > %s "
        "ORDER BY id LIMIT %s",
        (after, limit),
    )
    return [row[0] for row in rows]


def count_pending(connection: Connection[Any], *, column: str = "embedding") -> int:
    """How many memories still need a vector."""
    row = connection.execute(
        f"SELECT count(*) FROM memories WHERE {_missing(connection, column)} AND NOT is_sensitive"
    ).fetchone()
    assert row is not None
    return int(row[0])


def _missing(connection: Connection[Any], column: str) -> str:
    """The condition that a memory has no vector; before the first one there is no column."""
    return "true" if space(connection) is None else f"{column} IS NULL"


def write(
    connection: Connection[Any],
    ids: Sequence[int],
    contents: Sequence[str],
    vectors: NDArray[np.float32],
    *,
    column: str = "embedding",
) -> set[int]:
    """Store vectors of memories, except of those that changed or turned sensitive while they were embedded.

    Returns the memories that have theirs now.
    """
    import numpy as np
    from pgvector import HalfVector
    from pgvector.psycopg import register_vector

    if not np.isfinite(vectors).all():
        raise HopgateError("the embedder returned a vector that is not a number: nothing of this batch was written")
    # A half is zero below 6e-8: such a vector has no direction, and its cosine is not a number.
    if not vectors.astype(np.float16).any(axis=1).all():
        raise HopgateError("the embedder returned a vector of zeros: nothing of this batch was written")
    found = space(connection)
    expected = found and (found.identity if column == "embedding" else found.next_identity)
    if not expected or expected.dimension != vectors.shape[1]:
        raise HopgateError(
            f"the embedder returned vectors of {vectors.shape[1]} dimensions, and this store's have "
            f"{expected.dimension if expected else 'no room yet'}: nothing of this batch was written"
        )
    register_vector(connection)
    dimension = vectors.shape[1]
    connection.execute(
        f"CREATE TEMP TABLE made (id bigint, hash text, vector halfvec({dimension})) ON COMMIT DROP",
    )
    with (
        connection.cursor() as cursor,
        cursor.copy("COPY made (id, hash, vector) FROM STDIN WITH (FORMAT BINARY)") as copy,
    ):
        copy.set_types(["int8", "text", "halfvec"])
        for key, content, vector in zip(ids, contents, vectors, strict=True):
            copy.write_row((key, hashlib.md5(content.encode()).hexdigest(), HalfVector(vector)))
    done = connection.execute(
        f"UPDATE memories m SET {column} = made.vector FROM made "
        "WHERE m.id = made.id AND md5(coalesce(m.content, '')) = made.hash AND NOT m.is_sensitive RETURNING m.id"
    ).fetchall()
    connection.execute("DROP TABLE made")
    return {row[0] for row in done}


def drop(connection: Connection[Any], ids: Sequence[int]) -> None:
    """Forget the vectors of memories."""
    found = space(connection)
    if found is None or not ids:
        return
    also = ", next_embedding = NULL" if found.next_identity else ""
    connection.execute(f"UPDATE memories SET embedding = NULL{also} WHERE id = ANY(%s)", (list(ids),))


def begin_next(connection: Connection[Any], identity: Identity) -> None:
    """Lay a second column beside the vectors, to be filled while recall goes on with the first."""
    connection.execute("LOCK TABLE embedding_space IN EXCLUSIVE MODE")
    found = space(connection)
    if found is None or (found.next_identity and found.next_identity.key == identity.key):
        return
    connection.execute("ALTER TABLE memories DROP COLUMN IF EXISTS next_embedding")
    connection.execute(f"ALTER TABLE memories ADD COLUMN next_embedding halfvec({identity.dimension})")
    connection.execute("UPDATE embedding_space SET next_identity = %s", (json.dumps(identity.to_dict()),))


def finish_next(connection: Connection[Any], identity: Identity) -> None:
    """Put the second column in the first one's place; concepts' and edges' vectors are made anew by `hopgate build`."""
    connection.execute("LOCK TABLE embedding_space IN EXCLUSIVE MODE")
    found = space(connection)
    if found is None or found.next_identity is None or found.next_identity.key != identity.key:
        raise HopgateError("another process changed this store's embedder meanwhile: run hopgate reembed again")
    connection.execute(f"DROP INDEX IF EXISTS {INDEX}")
    connection.execute("ALTER TABLE memories DROP COLUMN embedding")
    connection.execute("ALTER TABLE memories RENAME COLUMN next_embedding TO embedding")
    for table in TABLES[1:]:
        connection.execute(f"ALTER TABLE {table} DROP COLUMN IF EXISTS embedding")
        connection.execute(f"ALTER TABLE {table} ADD COLUMN embedding halfvec({identity.dimension})")
    connection.execute(
        "UPDATE embedding_space SET name = %s, dimension = %s, identity = %s, next_identity = NULL, created_at = now()",
        (identity.name, identity.dimension, json.dumps(identity.to_dict())),
    )


def has_index(connection: Connection[Any]) -> bool:
    """Tell whether the HNSW index is there and whole."""
    row = connection.execute(f"SELECT {_INDEXED}", {"index": INDEX}).fetchone()
    return bool(row and row[0])


def build_index(connection: Connection[Any]) -> None:
    """Build the HNSW index beside running writers; the connection must be in autocommit mode."""
    # Tried, not waited for: who waits holds a snapshot, and a concurrent build waits for every snapshot.
    row = connection.execute("SELECT pg_try_advisory_lock(hashtext('hopgate hnsw'))").fetchone()
    if not (row and row[0]):
        return
    connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {INDEX}")
    # The build is several times slower once the graph no longer fits; 200,000 vectors of 384 halves take about 300 MB.
    connection.execute("SET maintenance_work_mem = '1GB'")
    connection.execute(
        f"CREATE INDEX CONCURRENTLY {INDEX} ON memories USING hnsw (embedding halfvec_cosine_ops) "
        "WITH (m = 16, ef_construction = 64)"
    )
    connection.execute("RESET maintenance_work_mem")
    connection.execute("SELECT pg_advisory_unlock(hashtext('hopgate hnsw'))")
