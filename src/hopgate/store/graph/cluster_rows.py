"""Clusters of concepts as they were last found, under ids that stay; of the whole store, or of some scopes alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from psycopg import Connection

# Each resolution that was asked for is kept apart; of more than these the one that was found first is forgotten.
MOST_RESOLUTIONS = 4
# And each set of scopes: whoever reads may ask for any.
MOST_SCOPES = 1000
# An entry of the index holds about 2,700 bytes.
MOST_KEY_BYTES = 2000


class PartitionRow(NamedTuple):
    """One level of clusters: at which version of the graph it was found, and its modularity."""

    level: int
    version: int
    modularity: float


class ClusterRow(NamedTuple):
    """One cluster: its id, its level, the cluster above it, and its concepts, the most central first."""

    id: int
    level: int
    parent: int | None
    concept_ids: tuple[int, ...]


def read(
    connection: Connection[Any], scopes: Sequence[str], resolution: float
) -> tuple[list[PartitionRow], list[ClusterRow]]:
    """What was found last of these scopes, at this resolution: nothing, or every level of it."""
    key = {"scopes": list(scopes), "resolution": resolution}
    partitions = connection.execute(
        "SELECT level, graph_version, modularity FROM cluster_partitions "
        "WHERE scopes = %(scopes)s::text[] AND resolution = %(resolution)s ORDER BY level",
        key,
    )
    levels = [PartitionRow(*row) for row in partitions]
    rows = connection.execute(
        "SELECT id, level, parent, concept_ids FROM concept_clusters "
        "WHERE scopes = %(scopes)s::text[] AND resolution = %(resolution)s "
        "ORDER BY level, cardinality(concept_ids) DESC, id",
        key,
    )
    return levels, [ClusterRow(row[0], row[1], row[2], tuple(row[3])) for row in rows]


def concepts_of(connection: Connection[Any], scopes: Sequence[str], cluster: int) -> tuple[int, ...] | None:
    """The concepts of one of these scopes' clusters, of whichever level; none where they have no such cluster."""
    row = connection.execute(
        "SELECT concept_ids FROM concept_clusters WHERE scopes = %s::text[] AND id = %s", (list(scopes), cluster)
    ).fetchone()
    return None if row is None else tuple(row[0])


def may_write(connection: Connection[Any]) -> bool:
    """Whether this transaction could keep what is found: not on a standby, nor for a role that only reads."""
    row = connection.execute(
        "SELECT current_setting('transaction_read_only') = 'off' "
        "AND has_table_privilege('concept_clusters', 'INSERT, DELETE')"
    ).fetchone()
    return bool(row and row[0])


def fits(scopes: Sequence[str]) -> bool:
    """Whether rows can be kept under these scopes.

    Examples
    --------
    >>> fits(["home", "work"]), fits(["x" * 1000] * 3)
    (True, False)
    """
    return sum(len(scope.encode()) for scope in scopes) <= MOST_KEY_BYTES


def lock(connection: Connection[Any]) -> None:
    """Let one writer at a time compare with what is there and replace it."""
    connection.execute("SELECT pg_advisory_xact_lock(hashtext('hopgate clusters'))")


def last_id(connection: Connection[Any], scopes: Sequence[str]) -> int:
    """The last id that these scopes' clusters were given."""
    row = connection.execute(
        "SELECT last_id FROM cluster_numbers WHERE scopes = %s::text[]", (list(scopes),)
    ).fetchone()
    return int(row[0]) if row else 0


def replace(
    connection: Connection[Any],
    scopes: Sequence[str],
    resolution: float,
    partitions: Sequence[PartitionRow],
    clusters: Sequence[ClusterRow],
) -> None:
    """Put newly found levels in the place of the last ones, and note which ids were given."""
    _forget(connection, scopes, [resolution])
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO cluster_partitions (scopes, resolution, level, graph_version, modularity) "
            "VALUES (%s, %s, %s, %s, %s)",
            [(list(scopes), resolution, *row) for row in partitions],
        )
        cursor.executemany(
            "INSERT INTO concept_clusters (scopes, resolution, id, level, parent, concept_ids) "
            "VALUES (%s, %s, %s, %s, %s, %s)",
            [(list(scopes), resolution, row.id, row.level, row.parent, list(row.concept_ids)) for row in clusters],
        )
    connection.execute(
        "INSERT INTO cluster_numbers VALUES (%s, %s) "
        "ON CONFLICT (scopes) DO UPDATE SET last_id = greatest(cluster_numbers.last_id, excluded.last_id)",
        (list(scopes), max((row.id for row in clusters), default=0)),
    )
    rows = connection.execute(
        "SELECT resolution FROM cluster_partitions WHERE scopes = %s::text[] AND level = 0 "
        "ORDER BY made_at DESC, resolution OFFSET %s",
        (list(scopes), MOST_RESOLUTIONS),
    )
    _forget(connection, scopes, [row[0] for row in rows])
    if scopes:
        _forget_scopes(connection)


def _forget_scopes(connection: Connection[Any]) -> None:
    """Keep what was found of so many sets of scopes, the last ones; their numbers stay, so that none is given again."""
    connection.execute(
        "WITH old AS (SELECT scopes FROM cluster_partitions WHERE scopes <> '{}' GROUP BY scopes "
        "ORDER BY max(made_at) DESC, scopes OFFSET %s), "
        "gone AS (DELETE FROM cluster_partitions p USING old WHERE p.scopes = old.scopes) "
        "DELETE FROM concept_clusters c USING old WHERE c.scopes = old.scopes",
        (MOST_SCOPES,),
    )


def _forget(connection: Connection[Any], scopes: Sequence[str], resolutions: Sequence[float]) -> None:
    for table in ("cluster_partitions", "concept_clusters"):
        connection.execute(
            f"DELETE FROM {table} WHERE scopes = %s::text[] AND resolution = ANY(%s::float8[])",
            (list(scopes), list(resolutions)),
        )
