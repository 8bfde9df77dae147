"""Vectors of memories: one embedding space a store, named after the embedder that made it."""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from psycopg import errors

from hopgate.errors import HopgateError
from hopgate.passages import LONG_BYTES, Extent, passage_text, passages
from hopgate.store.memories import lock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection, Cursor

    from hopgate.embed import Identity
    from hopgate.memory import Cleared


# Below this many memories a full scan is as quick as the index and exact (spec §5, issue 3).
EXACT_BELOW = 50_000
# Likewise within a scope, of which an index over all scopes finds few; on a busy machine 12,500 took 110 ms.
EXACT_WITHIN = 20_000
INDEX = "memories_embedding"
PASSAGE_INDEX = "passages_embedding"
# Tables whose rows carry a vector of this space: those of texts, and those that `hopgate build` makes anew.
TEXT_TABLES = ("memories", "passages")
GRAPH_TABLES = ("concepts", "concept_edges", "statements")
# An index that is being built, or whose build was interrupted, is there and not valid.
_INDEXED = "coalesce((SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%(index)s)), false)"
_PASSAGES = "EXISTS (SELECT 1 FROM passages)"


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """Who made a store's vectors, who is making the next ones while it is being changed, and what there is to search.

    Attributes
    ----------
    indexed : bool
        Whether the HNSW index is there.
    passages : bool
        Whether any memory is so long that its passages have vectors of their own.
    """

    identity: Identity
    next_identity: Identity | None = None
    indexed: bool = False
    passages: bool = False


def space(connection: Connection[Any]) -> EmbeddingSpace | None:
    """The store's embedding space, or none while nothing is embedded."""
    row = connection.execute(
        f"SELECT identity, next_identity, {_INDEXED}, {_PASSAGES} FROM embedding_space", {"index": INDEX}
    ).fetchone()
    # Late: with it comes numpy, which a lexical recall does without.
    from hopgate.embed.embedder import Identity

    if row is None:
        return None
    return EmbeddingSpace(Identity(**row[0]), Identity(**row[1]) if row[1] else None, row[2], row[3])


def has_space(connection: Connection[Any]) -> bool:
    """Whether anything is embedded: all that most writers of the graph need to know of the space."""
    return connection.execute("SELECT 1 FROM embedding_space").fetchone() is not None


def claim(connection: Connection[Any], identity: Identity) -> None:
    """Make the store this embedder's, or refuse by name when it is another's."""
    found = space(connection)
    if found is None:
        # Two processes may claim at once: the second waits here, and then finds the first one's claim.
        lock_for_columns(connection, (*TEXT_TABLES, *GRAPH_TABLES))
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
        for table in (*TEXT_TABLES, *GRAPH_TABLES):
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
    key = "memory_id" if column == "embedding" else "m.id"
    rows = connection.execute(
        f"SELECT m.id FROM {_waiting(connection, column)} AND {key} > %s ORDER BY {key} LIMIT %s", (after, limit)
    )
    return [row[0] for row in rows]


def pending_names(connection: Connection[Any], among: Sequence[str] | None = None) -> list[str]:
    """The external ids of those of the memories (by default of all) that still need a vector."""
    listed = _waiting(connection, "embedding", named=among is not None)
    these = "" if among is None else "AND external_id = ANY(%(among)s)"
    rows = connection.execute(f"SELECT external_id FROM {listed} {these} ORDER BY id", {"among": among})
    return [row[0] for row in rows]


def count_pending(connection: Connection[Any], *, scopes: Sequence[str] | None = None, embedded: bool = False) -> int:
    """How many memories, of any scope or of some, still need a vector.

    Parameters
    ----------
    embedded : bool
        Whether it is known that the store has vectors: it is not asked then.
    """
    row = connection.execute(
        f"SELECT count(*) FROM {_waiting(connection, 'embedding', embedded)} "
        "AND (%(scopes)s::text[] IS NULL OR scope = ANY(%(scopes)s))",
        {"scopes": None if scopes is None else list(scopes)},
    ).fetchone()
    assert row is not None
    return int(row[0])


def _waiting(connection: Connection[Any], column: str, embedded: bool = False, named: bool = False) -> str:
    """The memories that lack a vector, or whose passages do, as a FROM clause with its condition.

    Who lacks the store's own vector is on a list, which is not gone through for memories that are named; who lacks the
    next embedder's nearly all do. Before the first vector there is no column; who knows that there is one says so.
    `octet_length` does not read a text outside its row.
    """
    on_list = "memories m JOIN waiting_vectors ON memory_id = m.id" if named else waiting("waiting_vectors")
    listed = on_list if column == "embedding" else "memories m"
    if not (embedded or has_space(connection)):
        return f"{listed} WHERE NOT is_sensitive"
    return (
        f"{listed} WHERE NOT is_sensitive AND (m.{column} IS NULL OR octet_length(content) > {LONG_BYTES} "
        f"AND NOT EXISTS (SELECT 1 FROM passages WHERE passages.memory_id = m.id "
        f"AND passages.{column} IS NOT NULL))"
    )


def write(
    connection: Connection[Any],
    ids: Sequence[int],
    contents: Sequence[str],
    vectors: NDArray[np.float32],
    *,
    column: str = "embedding",
    dimension: int | None = None,
) -> set[int]:
    """Store vectors of memories, except of those that changed or turned sensitive while they were embedded.

    Returns the memories that have theirs now.

    Parameters
    ----------
    dimension : int, optional
        That of the space, where the caller has just claimed it.
    """
    lock(connection, ids)
    check_rows(connection, vectors, column=column, dimension=dimension)
    hashes = [hashlib.md5(content.encode()).hexdigest() for content in contents]
    done = run_with(
        connection,
        f"UPDATE memories m SET {column} = v.vector FROM copied_vectors v WHERE m.id = v.id "
        "AND md5(m.content) = v.hash AND NOT m.is_sensitive RETURNING m.id",
        ids,
        vectors,
        hashes=hashes,
    )
    written = {row[0] for row in done}
    if column == "embedding":
        connection.execute("DELETE FROM waiting_vectors WHERE memory_id = ANY(%s)", (list(written),))
    return written


def check_rows(
    connection: Connection[Any], vectors: NDArray[np.float32], *, column: str, dimension: int | None = None
) -> None:
    """Refuse vectors that cannot be stored, or that are not of this store's space, whose dimension may be known."""
    import numpy as np

    if not np.isfinite(vectors).all():
        raise HopgateError("the embedder returned a vector that is not a number: nothing of this batch was written")
    # A half is zero below 6e-8: such a vector has no direction, and its cosine is not a number.
    if not vectors.astype(np.float16).any(axis=1).all():
        raise HopgateError("the embedder returned a vector of zeros: nothing of this batch was written")
    if dimension is None and (found := space(connection)) is not None:
        expected = found.identity if column == "embedding" else found.next_identity
        dimension = expected.dimension if expected else None
    if dimension != vectors.shape[1]:
        raise HopgateError(
            f"the embedder returned vectors of {vectors.shape[1]} dimensions, and this store's have "
            f"{dimension or 'no room yet'}: nothing of this batch was written"
        )


def from_sql(texts: Sequence[str]) -> NDArray[np.float32]:
    """Read `embedding::text` of some rows as the rows of an array.

    Examples
    --------
    >>> from_sql(["[0.5,-0.75]", "[1,0]"]).tolist()
    [[0.5, -0.75], [1.0, 0.0]]
    """
    import numpy as np
    from pgvector import HalfVector

    return np.array([HalfVector.from_text(text).to_list() for text in texts], np.float32)


def nearest_older(connection: Connection[Any], ids: Sequence[int], *, limit: int) -> list[tuple[int, int]]:
    """Pairs of a memory and an older one of its scope, the nearest first; none for a memory without a vector.

    Neither is sensitive or superseded. Every vector is compared: of many memories each takes some milliseconds.
    """
    if not has_space(connection):
        return []
    current = "embedding IS NOT NULL AND NOT {0}.is_sensitive AND {0}.superseded_at IS NULL"
    rows = connection.execute(
        "SELECT m.id, near.id FROM memories m CROSS JOIN LATERAL ("
        f"SELECT o.id, o.embedding <=> m.embedding AS distance FROM memories o WHERE o.{current.format('o')} "
        "AND o.scope IS NOT DISTINCT FROM m.scope AND (o.created_at, o.id) < (m.created_at, m.id) "
        # A second key keeps the planner off the HNSW index, which is not exact.
        "ORDER BY distance, o.created_at, o.id LIMIT %(limit)s) AS near "
        f"WHERE m.id = ANY(%(ids)s) AND m.{current.format('m')} ORDER BY m.created_at, m.id, near.distance, near.id",
        {"ids": list(ids), "limit": limit},
    )
    return rows.fetchall()


def drop(connection: Connection[Any], ids: Sequence[int]) -> None:
    """Forget the vectors of memories, and their passages."""
    found = space(connection)
    if found is None or not ids:
        return
    lock(connection, ids)
    also = ", next_embedding = NULL" if found.next_identity else ""
    connection.execute(f"UPDATE memories SET embedding = NULL{also} WHERE id = ANY(%s)", (list(ids),))
    connection.execute("DELETE FROM passages WHERE memory_id = ANY(%s)", (list(ids),))
    connection.execute(
        "INSERT INTO waiting_vectors SELECT id FROM memories WHERE id = ANY(%s) AND NOT is_sensitive "
        "ON CONFLICT DO NOTHING",
        (list(ids),),
    )


def has_column(connection: Connection[Any], column: str) -> bool:
    """Whether there is room for these vectors: for the next ones until somebody has changed over."""
    if column == "embedding":
        return True
    found = space(connection)
    return found is not None and found.next_identity is not None


def begin_next(connection: Connection[Any], identity: Identity) -> None:
    """Add a second column of vectors, to be filled while recall goes on with the first."""
    lock_for_columns(connection, TEXT_TABLES)
    found = space(connection)
    if found is None or (found.next_identity and found.next_identity.key == identity.key):
        return
    for table in TEXT_TABLES:
        connection.execute(f"ALTER TABLE {table} DROP COLUMN IF EXISTS next_embedding")
        connection.execute(f"ALTER TABLE {table} ADD COLUMN next_embedding halfvec({identity.dimension})")
    connection.execute("UPDATE embedding_space SET next_identity = %s", (json.dumps(identity.to_dict()),))


def finish_next(connection: Connection[Any], identity: Identity) -> None:
    """Put the second column in the first one's place; concepts' and edges' vectors are made anew by `hopgate build`."""
    lock_for_columns(connection, (*TEXT_TABLES, *GRAPH_TABLES))
    found = space(connection)
    if found is not None and found.next_identity is None and found.identity.key == identity.key:
        return  # another process changed over to the same one
    if found is None or found.next_identity is None or found.next_identity.key != identity.key:
        raise HopgateError("another process changed this store's embedder meanwhile: run hopgate reembed again")
    connection.execute(f"DROP INDEX IF EXISTS {INDEX}, {PASSAGE_INDEX}")
    for table in TEXT_TABLES:
        connection.execute(f"ALTER TABLE {table} DROP COLUMN embedding")
        connection.execute(f"ALTER TABLE {table} RENAME COLUMN next_embedding TO embedding")
    for table in GRAPH_TABLES:
        connection.execute(f"ALTER TABLE {table} DROP COLUMN IF EXISTS embedding")
        connection.execute(f"ALTER TABLE {table} ADD COLUMN embedding halfvec({identity.dimension})")
    # Who came after the last look may have got the old embedder's vector.
    connection.execute(
        "INSERT INTO waiting_vectors SELECT id FROM memories WHERE embedding IS NULL AND NOT is_sensitive "
        "ON CONFLICT DO NOTHING"
    )
    connection.execute(
        "UPDATE embedding_space SET name = %s, dimension = %s, identity = %s, next_identity = NULL, created_at = now()",
        (identity.name, identity.dimension, json.dumps(identity.to_dict())),
    )


def has_index(connection: Connection[Any]) -> bool:
    """Whether the HNSW index is there and valid."""
    row = connection.execute(f"SELECT {_INDEXED}", {"index": INDEX}).fetchone()
    return bool(row and row[0])


def has_passages(connection: Connection[Any]) -> bool:
    """Whether any memory is long, so that a search has passages to look at."""
    row = connection.execute(f"SELECT {_PASSAGES}").fetchone()
    return bool(row and row[0])


def search_exactly(where: Connection[Any] | EmbeddingSpace | None, exact: bool | None = None) -> bool:
    """Decide whether a search compares every vector or asks the HNSW index: as asked, or else by whether there is one.

    Parameters
    ----------
    where : Connection or EmbeddingSpace, optional
        The store's space where the caller has just read it, or a connection to ask; none for a store without vectors.
    exact : bool, optional
        What the caller wants; none leaves it to the store.

    Examples
    --------
    >>> search_exactly(None), search_exactly(None, False)
    (True, False)
    """
    if exact is not None or where is None:
        return True if exact is None else exact
    return not (where.indexed if isinstance(where, EmbeddingSpace) else has_index(where))


def waiting(table: Literal["waiting_vectors", "waiting_links"]) -> str:
    """The memories `m` of a list, as a FROM clause: each looked up by its key.

    The planner does not know how short the list is: for a join it would read all memories. `OFFSET 0` keeps it from
    making one of this.
    """
    return f"{table} CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = memory_id OFFSET 0) AS m"


# So many vectors at most are sent as text within their statement.
FEW = 64
_GIVEN = (
    "WITH copied_vectors AS MATERIALIZED (SELECT id, hash, vector::halfvec AS vector FROM "
    "unnest(%(ids_)s::bigint[], %(hashes_)s::text[], %(vectors_)s::text[]) AS given (id, hash, vector)) "
)


def run_with(
    connection: Connection[Any],
    statement: str,
    ids: Sequence[int],
    vectors: NDArray[np.float32],
    *,
    hashes: Sequence[str] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> list[tuple[Any, ...]]:
    """Run a statement that reads `copied_vectors (id, hash, vector)`, and give the rows that it returns, if any.

    Few vectors go along with the statement as text; many by COPY into a temporary table, which the server takes some
    milliseconds to make and to drop.
    """
    marks = hashes or [""] * len(ids)
    if len(ids) <= FEW:
        given = {"ids_": list(ids), "hashes_": list(marks), "vectors_": [*map(to_sql, vectors)]}
        return _rows(connection.execute(_GIVEN + statement, {**given, **(parameters or {})}))
    from pgvector import HalfVector
    from pgvector.psycopg import register_vector

    register_vector(connection)
    connection.execute(
        f"CREATE TEMP TABLE copied_vectors (id bigint, hash text, vector halfvec({vectors.shape[1]})) ON COMMIT DROP"
    )
    with connection.cursor() as cursor, cursor.copy("COPY copied_vectors FROM STDIN WITH (FORMAT BINARY)") as copy:
        copy.set_types(["int8", "text", "halfvec"])
        for key, content_hash, vector in zip(ids, marks, vectors, strict=True):
            copy.write_row((key, content_hash, HalfVector(vector)))
    returned = _rows(connection.execute(statement, parameters))
    connection.execute("DROP TABLE copied_vectors")
    return returned


def to_sql(vector: NDArray[np.float32]) -> str:
    """A vector as `halfvec` reads it: five digits tell each half from the next.

    Examples
    --------
    >>> import numpy as np
    >>> to_sql(np.array([0.1, -0.75], dtype=np.float32))
    '[0.099976,-0.75]'
    """
    halves = vector.astype("float16").tolist()
    return f"[{','.join(['%.5g'] * len(halves))}]" % tuple(halves)


def _rows(cursor: Cursor[Any]) -> list[tuple[Any, ...]]:
    return cursor.fetchall() if cursor.description else []


# So often the tables are asked for in passing; after about ten seconds they are waited for.
ATTEMPTS = 100


def lock_for_columns(connection: Connection[Any], tables: Sequence[str]) -> None:
    """Lock what a change of the vectors' columns rewrites, in the order of docs/reliability.md.

    Whoever reads takes tables in any order. So this does not wait for one while it holds another, longer than the
    server waits before it looks for a deadlock: it lets go of all and asks again, and no reader is ended for it.
    """
    connection.execute("LOCK TABLE embedding_space IN EXCLUSIVE MODE")
    for _ in range(ATTEMPTS):
        try:
            with connection.transaction():
                connection.execute("SET LOCAL lock_timeout = '100ms'")
                _lock_all(connection, tables)
                connection.execute("SET LOCAL lock_timeout = DEFAULT")
        except errors.LockNotAvailable:
            time.sleep(random.uniform(0.01, 0.1))
        else:
            return
    _lock_all(connection, tables)


def _lock_all(connection: Connection[Any], tables: Sequence[str]) -> None:
    connection.execute("LOCK TABLE memories IN ACCESS EXCLUSIVE MODE")
    connection.execute("SELECT pg_advisory_xact_lock(hashtext('hopgate graph'))")
    connection.execute(f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE")


class PassageRow(NamedTuple):
    """A passage of a memory, by its number in it, and what an embedder reads of it."""

    memory_id: int
    number: int
    span: Extent
    text: Cleared


def passages_of(memory_id: int, content: Cleared) -> list[PassageRow]:
    """Give the passages of a memory's content; none where it is short."""
    spans = passages(content)
    return [PassageRow(memory_id, number, span, passage_text(content, span)) for number, span in enumerate(spans)]


def write_passages(
    connection: Connection[Any], rows: Sequence[PassageRow], made: NDArray[np.float32], *, column: str = "embedding"
) -> None:
    """Store passages with their vectors; their memories were written in the same transaction."""
    if not rows:
        return
    check_rows(connection, made, column=column)
    run_with(
        connection,
        f"INSERT INTO passages (memory_id, number, starts, ends, {column}) "
        "SELECT p.memory_id, p.number, p.starts, p.ends, v.vector "
        "FROM unnest(%(memories)s::bigint[], %(numbers)s::integer[], %(starts)s::integer[], %(ends)s::integer[]) "
        "WITH ORDINALITY AS p (memory_id, number, starts, ends, place) JOIN copied_vectors v ON v.id = p.place - 1 "
        "ON CONFLICT (memory_id, number) DO UPDATE "
        f"SET starts = excluded.starts, ends = excluded.ends, {column} = excluded.{column}",
        range(len(rows)),
        made,
        parameters={
            "memories": [row.memory_id for row in rows],
            "numbers": [row.number for row in rows],
            "starts": [row.span.start for row in rows],
            "ends": [row.span.end for row in rows],
        },
    )
