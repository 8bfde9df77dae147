"""Clusters of concepts as they were last found, under ids that stay; of the whole store, or of some scopes alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

from psycopg.rows import class_row

if TYPE_CHECKING:
    from psycopg import Connection

# Each resolution that was asked for is kept apart, and so is each set of scopes, for whoever reads may ask for any: of
# more than these those that were found first are forgotten.
MOST_RESOLUTIONS, MOST_SCOPES = 4, 1000


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """One cluster: its concepts, the most central first, the cluster above it, and in what its level was found."""

    id: int
    level: int
    parent: int | None
    concept_ids: list[int]
    graph_version: int
    modularity: float


def read(connection: Connection[Any], scopes: Sequence[str], resolution: float) -> list[ClusterRow]:
    """What was found last of these scopes at this resolution, level by level, the largest first."""
    with connection.cursor(row_factory=class_row(ClusterRow)) as cursor:
        return cursor.execute(
            "SELECT id, level, parent, concept_ids, graph_version, modularity FROM clusters "
            "WHERE scopes = %s AND resolution = %s ORDER BY level, cardinality(concept_ids) DESC, id",
            (_key(scopes), resolution),
        ).fetchall()


def concepts_of(connection: Connection[Any], scopes: Sequence[str], cluster: int) -> tuple[int, ...] | None:
    """The concepts of one of these scopes' clusters, of whichever level; none where they have no such cluster."""
    row = connection.execute(
        "SELECT concept_ids FROM clusters WHERE scopes = %s AND id = %s", (_key(scopes), cluster)
    ).fetchone()
    return None if row is None else tuple(row[0])


def lock(connection: Connection[Any]) -> bool:
    """Let one writer at a time replace clusters; false on a standby, or for a role that only reads."""
    row = connection.execute(
        "SELECT current_setting('transaction_read_only') = 'off' AND has_table_privilege('clusters', 'INSERT, DELETE')"
    ).fetchone()
    if row is None or not row[0]:
        return False
    connection.execute("SELECT pg_advisory_xact_lock(hashtext('hopgate clusters'))")
    return True


def last_id(connection: Connection[Any], scopes: Sequence[str]) -> int:
    """The last id that was given to one of these scopes' clusters."""
    row = connection.execute("SELECT max(last_id) FROM clusters WHERE scopes = %s", (_key(scopes),)).fetchone()
    return int(row[0] or 0) if row else 0


def replace(connection: Connection[Any], scopes: Sequence[str], resolution: float, rows: Sequence[ClusterRow]) -> None:
    """Put newly found clusters in the place of the last ones, and note which ids were given."""
    key, last = _key(scopes), max([last_id(connection, scopes), *(row.id for row in rows)])
    connection.execute("DELETE FROM clusters WHERE scopes = %s AND resolution = %s", (key, resolution))
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO clusters (scopes, resolution, id, level, parent, concept_ids, graph_version, modularity, "
            "last_id) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [(key, resolution, *astuple(row), last) for row in rows],
        )
    connection.execute(
        "DELETE FROM clusters WHERE scopes = %(key)s AND resolution NOT IN (SELECT resolution FROM clusters "
        "WHERE scopes = %(key)s GROUP BY 1 ORDER BY max(made_at) DESC, 1 LIMIT %(most)s)",
        {"key": key, "most": MOST_RESOLUTIONS},
    )
    connection.execute(
        "DELETE FROM clusters WHERE scopes <> '' AND scopes NOT IN (SELECT scopes FROM clusters WHERE scopes <> '' "
        "GROUP BY 1 ORDER BY max(made_at) DESC, 1 LIMIT %s)",
        (MOST_SCOPES,),
    )


def _key(scopes: Sequence[str]) -> str:
    """What some scopes' clusters are kept under: a digest, since an entry of an index holds 2,700 bytes."""
    return hashlib.sha256(json.dumps(sorted(scopes)).encode()).hexdigest() if scopes else ""
