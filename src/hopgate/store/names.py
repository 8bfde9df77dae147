"""Names, and the concepts they belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True, slots=True)
class NameRow:
    """A name as the store knows it: `normal` is what it is compared by."""

    id: int
    concept_id: int
    normal: str
    name: str
    kind: str | None
    is_new: bool = False


def lock(connection: Connection[Any]) -> None:
    """Let one writer at a time change the graph: two that add the same concept then end with one."""
    connection.execute("SELECT pg_advisory_xact_lock(hashtext('hopgate graph'))")


def ensure(connection: Connection[Any], wanted: Mapping[str, tuple[str, str | None]]) -> dict[str, NameRow]:
    """Find names by their normal form, and give each that is new a concept of its own.

    Parameters
    ----------
    wanted : mapping from normal form to (name as written, kind)
    """
    known = {row.normal: row for row in by_normal(connection, list(wanted))}
    fresh = [(normal, *wanted[normal]) for normal in wanted if normal not in known]
    if fresh:
        normals, names, kinds = (list(column) for column in zip(*fresh, strict=True))
        # The concepts' ids are drawn first, so that each new name is paired with its own.
        rows = connection.execute(
            "WITH new AS (SELECT nextval(pg_get_serial_sequence('concepts', 'id')) AS concept_id, * "
            "FROM unnest(%s::text[], %s::text[], %s::text[]) AS n (normal, name, kind)), "
            "made AS (INSERT INTO concepts (id, canonical_name, aliases, kind) "
            "SELECT concept_id, name, ARRAY[name], kind FROM new) "
            "INSERT INTO concept_names (name, normal_name, kind, concept_id) "
            "SELECT name, normal, kind, concept_id FROM new RETURNING id, concept_id, normal_name, name, kind",
            (normals, names, kinds),
        )
        known |= {row[2]: NameRow(row[0], row[1], row[2], row[3], row[4], is_new=True) for row in rows}
    return known


def by_normal(connection: Connection[Any], normals: Sequence[str]) -> list[NameRow]:
    """Names by their normal forms; unknown ones are left out."""
    rows = connection.execute(
        "SELECT id, concept_id, normal_name, name, kind FROM concept_names WHERE normal_name = ANY(%s)",
        (list(normals),),
    )
    return [NameRow(*row) for row in rows]


def by_id(connection: Connection[Any], name_ids: Sequence[int]) -> list[NameRow]:
    """Names by their ids."""
    rows = connection.execute(
        "SELECT id, concept_id, normal_name, name, kind FROM concept_names WHERE id = ANY(%s) ORDER BY id",
        (list(name_ids),),
    )
    return [NameRow(*row) for row in rows]


def all_names(connection: Connection[Any]) -> list[NameRow]:
    """Every name, in the order of arrival."""
    rows = connection.execute("SELECT id, concept_id, normal_name, name, kind FROM concept_names ORDER BY id")
    return [NameRow(*row) for row in rows]


def of_concepts(connection: Connection[Any], concept_ids: Sequence[int]) -> list[NameRow]:
    """The names of concepts."""
    rows = connection.execute(
        "SELECT id, concept_id, normal_name, name, kind FROM concept_names WHERE concept_id = ANY(%s) ORDER BY id",
        (list(concept_ids),),
    )
    return [NameRow(*row) for row in rows]


def move(connection: Connection[Any], name_ids: Sequence[int], concept_id: int) -> None:
    """Make names belong to another concept."""
    connection.execute("UPDATE concept_names SET concept_id = %s WHERE id = ANY(%s)", (concept_id, list(name_ids)))


def rename(connection: Connection[Any], concept_ids: Sequence[int]) -> None:
    """Set concepts' canonical name, aliases and kind from their names: the name most memories use, then the oldest."""
    connection.execute(
        "UPDATE concepts c SET canonical_name = n.best, aliases = n.names, kind = n.kind "
        "FROM (SELECT concept_id, (array_agg(name ORDER BY uses DESC, id))[1] AS best, "
        "array_agg(name ORDER BY id) AS names, "
        "(array_agg(kind ORDER BY uses DESC, id) FILTER (WHERE kind IS NOT NULL))[1] AS kind FROM "
        "(SELECT n.*, (SELECT count(*) FROM mentions m WHERE m.name_id = n.id) AS uses FROM concept_names n "
        "WHERE concept_id = ANY(%s)) AS counted GROUP BY concept_id) AS n WHERE c.id = n.concept_id",
        (list(concept_ids),),
    )


def drop_unused(connection: Connection[Any], name_ids: Sequence[int]) -> list[int]:
    """Remove those of the names that nothing mentions any more; give the concepts that lost one."""
    rows = connection.execute(
        "DELETE FROM concept_names n WHERE id = ANY(%s) "
        "AND NOT EXISTS (SELECT 1 FROM mentions m WHERE m.name_id = n.id) "
        "AND NOT EXISTS (SELECT 1 FROM facts f WHERE f.subject_id = n.id OR f.object_id = n.id) RETURNING concept_id",
        (list(name_ids),),
    )
    return sorted({row[0] for row in rows})


def drop_nameless(connection: Connection[Any], concept_ids: Sequence[int]) -> None:
    """Remove those of the concepts that have no name left; their edges go by the foreign keys."""
    connection.execute(
        "DELETE FROM concepts c WHERE id = ANY(%s) "
        "AND NOT EXISTS (SELECT 1 FROM concept_names n WHERE n.concept_id = c.id)",
        (list(concept_ids),),
    )
