"""What extractors found in many memories, laid into temporary tables and from there into the graph's by few statements.

Each function works on what `stage` laid down in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.extract.extractor import ExtractorIdentity
from hopgate.store import setting_rows
from hopgate.store.graph import change_rows, stated_rows
from hopgate.store.graph.known_keys import keys_known
from hopgate.store.memory_ranges import DIGEST

if TYPE_CHECKING:
    from psycopg import Connection

_TABLES = """
CREATE TEMP TABLE extracted_memories (memory_id bigint, state text, reason text, digest text, may_change boolean)
  ON COMMIT DROP;
CREATE TEMP TABLE extracted_mentions (memory_id bigint, place integer, normal text, spelling text, kind text,
  initials text) ON COMMIT DROP;
CREATE TEMP TABLE extracted_facts (memory_id bigint, place integer, subject integer, relation text, object integer,
  weight real, valid_from timestamptz, valid_to timestamptz) ON COMMIT DROP;
CREATE TEMP TABLE extracted_turns (memory_id bigint, scope text, thread text, digest text) ON COMMIT DROP;
CREATE TEMP TABLE extracted_stated (LIKE stated_values) ON COMMIT DROP;
CREATE TEMP TABLE extracted_normals (scope text, normal text, name_id bigint, new_concept_id bigint) ON COMMIT DROP;
"""
NULL = r"\N"
"""How COPY reads that there is no value."""
_NAMES = ("extracted_memories", "extracted_mentions", "extracted_facts", "extracted_turns", "extracted_stated")


class ExtractedRows(NamedTuple):
    """Rows of the temporary tables as COPY reads them: few bytes to hand from one process to another.

    `memories` have the digest of what was read of each and whether it may tell of a change, and `turns` the digests of
    the turns that each was read with.
    `stated` is what they state in any words.
    """

    memories: bytes
    mentions: bytes
    facts: bytes
    turns: bytes = b""
    stated: bytes = b""


def copy_lines(rows: Iterable[Sequence[str | int | float | datetime | None]]) -> bytes:
    r"""Write rows as COPY reads them.

    Examples
    --------
    >>> copy_lines([(7, "a\tb", None), (8, "back\\slash", 0.5)])
    b'7\ta\\tb\t\\N\n8\tback\\\\slash\t0.5\n'
    """
    return "".join("\t".join(map(field, row)) + "\n" for row in rows).encode("utf-8", "surrogatepass")


def field(value: str | int | float | datetime | None) -> str:
    """Write one value as COPY reads it."""
    if value is None:
        return NULL
    if not isinstance(value, str):
        return str(value)
    if "\\" in value:
        value = value.replace("\\", r"\\")
    return value if value.isprintable() else value.replace("\t", r"\t").replace("\n", r"\n").replace("\r", r"\r")


def stage(connection: Connection[Any], rows: ExtractedRows) -> None:
    """Lay rows into temporary tables, which last as long as the transaction."""
    connection.execute(_TABLES)
    for table, lines in zip(_NAMES, rows, strict=True):
        with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:
            copy.write(lines)
    # Of one column each: that tells how many rows there are, and to sort every text would take as long as to copy it.
    connection.execute("ANALYZE " + ", ".join(f"{table} (memory_id)" for table in _NAMES))


def keep_readable(connection: Connection[Any]) -> None:
    """Keep what may be written about, and lock it.

    What turned sensitive, changed or was deleted while it was read is left out, and so is a failure after an earlier
    success.
    """
    rows = connection.execute(
        "SELECT m.id, EXISTS (SELECT 1 FROM extractions x WHERE x.memory_id = m.id), s.state = 'failed' "
        "FROM extracted_memories s JOIN memories m ON m.id = s.memory_id WHERE NOT m.is_sensitive "
        f"AND {DIGEST} = s.digest ORDER BY m.id FOR NO KEY UPDATE OF m"
    ).fetchall()
    kept = {key for key, before, failed in rows if not (before and failed)}
    if gone := {row[0] for row in connection.execute("SELECT memory_id FROM extracted_memories")} - kept:
        _drop(connection, sorted(gone))


def drop_by_turns(connection: Connection[Any]) -> None:
    """Drop memories that were read with a turn which no open memory says any more.

    Under the graph's lock: whoever marks a turn takes it to remove what was made with its help.
    """
    gone = connection.execute(
        "WITH said AS MATERIALIZED (SELECT DISTINCT m.scope, m.thread, md5(coalesce(m.content, '')) AS digest "
        "FROM memories m WHERE m.thread IN (SELECT thread FROM extracted_turns) AND NOT m.is_sensitive) "
        "SELECT DISTINCT t.memory_id FROM extracted_turns t WHERE NOT EXISTS (SELECT 1 FROM said s "
        "WHERE s.thread = t.thread AND s.digest = t.digest AND s.scope IS NOT DISTINCT FROM t.scope)"
    ).fetchall()
    if not gone:
        return
    _drop(connection, [row[0] for row in gone])


def _drop(connection: Connection[Any], memory_ids: Sequence[int]) -> None:
    for table in _NAMES:
        connection.execute(f"DELETE FROM {table} WHERE memory_id = ANY(%s)", (list(memory_ids),))


def extracted_before(connection: Connection[Any]) -> list[int]:
    """The memories that were extracted from before, or of which something is left of one that was."""
    # By the range: the planner, which knows nothing yet of tables that are being filled, then reads no more than that.
    within = "SELECT memory_id FROM {} WHERE memory_id BETWEEN (SELECT first FROM ends) AND (SELECT last FROM ends)"
    tables = " UNION ALL ".join(within.format(table) for table in ("extractions", "mentions", "facts", "stated_values"))
    rows = connection.execute(
        "WITH ends AS (SELECT min(memory_id) AS first, max(memory_id) AS last FROM extracted_memories) "
        f"SELECT DISTINCT memory_id FROM extracted_memories JOIN ({tables}) AS known USING (memory_id) ORDER BY 1"
    )
    return [row[0] for row in rows]


# Each name of a range once: counted where it is known, and made where it is new. One statement for all of it: one for
# each step would look for the same names among all of the store's, three times for every range.
_NAMED = """
WITH found AS MATERIALIZED (
  SELECT CASE WHEN %(shared)s THEN '' ELSE coalesce(m.scope, '') END AS scope,
    normal, (array_agg(spelling ORDER BY memory_id, place))[1] AS name, min(initials) AS initials,
    (array_agg(kind ORDER BY memory_id, place) FILTER (WHERE kind IS NOT NULL))[1] AS kind,
    min(memory_id) AS first_memory, (array_agg(place ORDER BY memory_id, place))[1] AS place, count(*) AS uses
  FROM extracted_mentions JOIN memories m ON m.id = memory_id GROUP BY 1, normal),
known AS (UPDATE concept_names n SET uses = n.uses + f.uses FROM found f
  WHERE n.scope = f.scope AND n.normal_name = f.normal RETURNING n.id, n.scope, n.normal_name),
new AS MATERIALIZED (
  SELECT nextval((SELECT pg_get_serial_sequence('concepts', 'id'))::regclass) AS concept_id, * FROM (
    SELECT * FROM found f WHERE NOT EXISTS (SELECT 1 FROM known k WHERE k.scope = f.scope AND k.normal_name = f.normal)
    ORDER BY first_memory, place) AS ordered),
made AS (INSERT INTO concepts (id, scope, canonical_name, aliases, kind)
  SELECT concept_id, scope, name, ARRAY[name], kind FROM new),
named AS (INSERT INTO concept_names (scope, name, normal_name, kind, concept_id, initials, uses)
  SELECT scope, name, normal, kind, concept_id, initials, uses FROM new ORDER BY concept_id
  RETURNING id, scope, normal_name, concept_id)
INSERT INTO extracted_normals
SELECT scope, normal_name, id, NULL FROM known UNION ALL SELECT scope, normal_name, id, concept_id FROM named
"""


def add_names(connection: Connection[Any]) -> None:
    """Count the mentions at their names, and give every name that is new a concept of its own, in the order found."""
    shared = setting_rows.scopes(connection) == setting_rows.SHARED
    with keys_known(connection) as unrecorded:
        connection.execute(_NAMED, {"shared": shared})
    if unrecorded:
        change_rows.record_concepts(
            connection, "SELECT new_concept_id FROM extracted_normals WHERE new_concept_id IS NOT NULL"
        )
    connection.execute(
        "CREATE TEMP TABLE extracted_names ON COMMIT DROP AS SELECT s.memory_id, s.place, n.name_id, s.spelling, "
        "s.kind, n.scope FROM extracted_mentions s JOIN memories m ON m.id = s.memory_id JOIN extracted_normals n "
        "ON n.normal = s.normal AND n.scope = CASE WHEN %s THEN '' ELSE coalesce(m.scope, '') END",
        (shared,),
    )
    connection.execute("ANALYZE extracted_names (place)")


def add_mentions_and_facts(connection: Connection[Any]) -> None:
    """Record the mentions and the facts, and make their relations known.

    None of them is there: `extracted_before` says of which memories something was, and the rows name each thing once.
    """
    connection.execute(
        "INSERT INTO relations (scope, raw, canonical, single_valued) SELECT DISTINCT s.scope, f.relation, f.relation, "
        "EXISTS (SELECT 1 FROM single_valued_relations d WHERE d.raw = f.relation) "
        "FROM extracted_facts f JOIN extracted_names s ON s.place = f.subject ON CONFLICT DO NOTHING"
    )
    with keys_known(connection) as unrecorded:
        connection.execute(
            "INSERT INTO mentions (memory_id, name_id, spelling, kind) "
            "SELECT memory_id, name_id, spelling, kind FROM extracted_names"
        )
        connection.execute(
            "INSERT INTO facts (scope, memory_id, subject_id, relation, object_id, weight, valid_from, valid_to, "
            "recorded_at) SELECT s.scope, f.memory_id, s.name_id, f.relation, o.name_id, f.weight, f.valid_from, "
            "f.valid_to, coalesce(m.created_at, now()) "
            "FROM extracted_facts f JOIN extracted_names s ON s.place = f.subject "
            "JOIN extracted_names o ON o.place = f.object JOIN memories m ON m.id = f.memory_id "
            # Said once more, so that no more than the range is read of the memories.
            "AND m.id BETWEEN (SELECT min(memory_id) FROM extracted_memories) "
            "AND (SELECT max(memory_id) FROM extracted_memories) "
            "ORDER BY f.memory_id, f.place"
        )
        connection.execute(
            f"INSERT INTO stated_values ({stated_rows.COLUMNS}) SELECT {stated_rows.COLUMNS} FROM extracted_stated"
        )
    if unrecorded:
        change_rows.record_memories(connection, "SELECT memory_id FROM extracted_memories")


def add_endings(connection: Connection[Any], identity: ExtractorIdentity) -> None:
    """Note how each memory's extraction ended; it waits for none any more. `keep_readable` has locked the memories."""
    with keys_known(connection) as unlisted:
        connection.execute(
            "INSERT INTO extractions (memory_id, extractor, extractor_hash, state, reason) "
            "SELECT memory_id, %s, %s, state, reason FROM extracted_memories "
            "ON CONFLICT (memory_id) DO UPDATE SET extractor = excluded.extractor, extracted_at = now(), "
            "extractor_hash = excluded.extractor_hash, state = excluded.state, reason = excluded.reason",
            (identity.extractor, identity.hash),
        )
    connection.execute(
        "INSERT INTO waiting_changes SELECT memory_id FROM extracted_memories WHERE may_change ON CONFLICT DO NOTHING"
    )
    if unlisted:
        connection.execute("DELETE FROM waiting_links w USING extracted_memories e WHERE w.memory_id = e.memory_id")
