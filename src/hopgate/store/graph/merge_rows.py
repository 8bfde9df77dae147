"""The record of merges of concepts: who was merged into whom, by what method, and what people decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.graph.concept_rows import Concept


BY_HAND = "by hand"
# Who decided a merge that a model was asked about.
ASKED = "a model, asked"


@dataclass(frozen=True, slots=True)
class MergeRow:
    """A recorded merge: which names went where, by what method, with what score."""

    id: int
    kept_id: int
    merged_id: int
    merged_name: str
    merged_kind: str | None
    name_ids: tuple[int, ...]
    score: float | None
    method: str
    merged_at: datetime


@dataclass(frozen=True, slots=True)
class BulkMerge:
    """One of many merges of a backfill: these names leave `merged_id` for `kept_id`."""

    kept_id: int
    merged_id: int
    name_ids: tuple[int, ...]


def record_merge(
    connection: Connection[Any],
    kept_id: int,
    merged: Concept,
    name_ids: Sequence[int],
    *,
    method: str,
    score: float | None,
) -> None:
    """Note a merge, with what is needed to take it back."""
    connection.execute(
        "INSERT INTO concept_merges (scope, kept_id, merged_id, merged_name, merged_kind, name_ids, score, method) "
        "SELECT scope, %s, id, %s, %s, %s, %s, %s FROM concepts WHERE id = %s",
        (kept_id, merged.name, merged.kind, list(name_ids), score, method, merged.id),
    )


_MERGE = (
    "SELECT id, kept_id, merged_id, merged_name, merged_kind, name_ids, score, method, merged_at FROM concept_merges "
    "WHERE split_at IS NULL AND "
)


def merges_into(connection: Connection[Any], concept_id: int) -> list[MergeRow]:
    """The merges into a concept that were not undone, the last one first."""
    return [_merge(row) for row in connection.execute(f"{_MERGE} kept_id = %s ORDER BY id DESC", (concept_id,))]


def get(connection: Connection[Any], merge_id: int) -> MergeRow | None:
    """One merge, unless it was undone or forgotten."""
    row = connection.execute(f"{_MERGE} id = %s", (merge_id,)).fetchone()
    return _merge(row) if row else None


def _merge(row: Sequence[Any]) -> MergeRow:
    return MergeRow(row[0], row[1], row[2], row[3], row[4], tuple(row[5]), row[6], row[7], row[8])


def restore(connection: Connection[Any], merge: MergeRow) -> None:
    """Bring a merged concept back under its own id, and note that the merge was undone."""
    connection.execute(
        "INSERT INTO concepts (id, scope, canonical_name, aliases, kind) "
        "SELECT merged_id, scope, merged_name, '{}', merged_kind FROM concept_merges WHERE id = %s",
        (merge.id,),
    )
    connection.execute("UPDATE concept_merges SET split_at = now() WHERE id = %s", (merge.id,))


def merge_many(connection: Connection[Any], merges: Sequence[BulkMerge], *, method: str) -> None:
    """Record and carry out merges at once; what follows from them is the caller's to derive."""
    connection.execute("CREATE TEMP TABLE merging (kept bigint, merged bigint, names bigint[]) ON COMMIT DROP")
    with connection.cursor() as cursor, cursor.copy("COPY merging FROM STDIN") as copy:
        for merge in merges:
            copy.write_row((merge.kept_id, merge.merged_id, list(merge.name_ids)))
    connection.execute(
        "INSERT INTO concept_merges (scope, kept_id, merged_id, merged_name, merged_kind, name_ids, method) "
        "SELECT c.scope, kept, merged, canonical_name, kind, names, %s FROM merging JOIN concepts c ON c.id = merged",
        (method,),
    )
    connection.execute(
        "UPDATE concept_names n SET concept_id = kept FROM merging WHERE n.concept_id = merged AND n.id = ANY(names)"
    )
    connection.execute("DELETE FROM concepts WHERE id IN (SELECT merged FROM merging)")
    connection.execute("DROP TABLE merging")


def rulings(connection: Connection[Any]) -> list[tuple[list[int], int | None, bool]]:
    """What people decided: some names, a name they were merged with or split from (or none), and whether merged."""
    return connection.execute(
        "SELECT m.name_ids, (SELECT n.id FROM concept_names n WHERE n.id <> ALL(m.name_ids) AND n.concept_id = "
        "CASE WHEN m.split_at IS NULL THEN (SELECT concept_id FROM concept_names WHERE id = ANY(m.name_ids) LIMIT 1) "
        "ELSE m.kept_id END ORDER BY uses DESC, id LIMIT 1) AS partner, m.split_at IS NULL "
        "FROM concept_merges m WHERE (m.method = %s) = (m.split_at IS NULL) ORDER BY m.id",
        (BY_HAND,),
    ).fetchall()


def forget_names(connection: Connection[Any], name_ids: Sequence[int]) -> None:
    """Bring the record into line with names that went or are spelt otherwise now; a merge without names goes."""
    ids = list(name_ids)
    connection.execute(
        "DELETE FROM concept_merges m WHERE m.name_ids && %(ids)s::bigint[] "
        "AND NOT EXISTS (SELECT 1 FROM concept_names n WHERE n.id = ANY(m.name_ids))",
        {"ids": ids},
    )
    connection.execute(
        "UPDATE concept_merges m SET name_ids = now.ids, merged_name = now.name FROM (SELECT x.id, "
        "array_agg(n.id ORDER BY n.id) AS ids, CASE WHEN bool_or(n.name = x.merged_name) THEN x.merged_name "
        "ELSE (array_agg(n.name ORDER BY n.uses DESC, length(n.name) DESC, n.name))[1] END AS name "
        "FROM concept_merges x "
        "JOIN concept_names n ON n.id = ANY(x.name_ids) WHERE x.name_ids && %(ids)s::bigint[] "
        "GROUP BY x.id, x.merged_name) AS now WHERE now.id = m.id",
        {"ids": ids},
    )


def forget_merges(connection: Connection[Any]) -> None:
    """Forget the merges that were not undone: all names are about to be clustered anew. Undone ones stay known."""
    connection.execute("DELETE FROM concept_merges WHERE split_at IS NULL")
