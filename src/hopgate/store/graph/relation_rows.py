"""Relations: as extractors wrote them, the canonical one of each, and which of them are single-valued."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection


RelationKey = tuple[str, str]
"""A scope, and a relation as an extractor wrote it there."""


def ensure_relations(connection: Connection[Any], relations: Iterable[RelationKey]) -> None:
    """Make raw relations known; each is its own canonical one until relations are canonicalised."""
    wanted = sorted(set(relations))
    connection.execute(
        "INSERT INTO relations (scope, raw, canonical, single_valued) SELECT s, r, r, "
        "EXISTS (SELECT 1 FROM single_valued_relations d WHERE d.raw = r) "
        "FROM unnest(%s::text[], %s::text[]) AS n (s, r) ON CONFLICT DO NOTHING",
        ([scope for scope, _ in wanted], [raw for _, raw in wanted]),
    )


def are_single_valued(connection: Connection[Any], relations: Iterable[str]) -> bool:
    """Whether all of these were declared, so that to declare them again would change nothing."""
    raw = set(relations)
    # As one text: to write some hundred as an array takes psycopg two milliseconds, at every addition.
    row = connection.execute(
        "SELECT count(*) FROM single_valued_relations "
        "WHERE raw = ANY(ARRAY(SELECT jsonb_array_elements_text(%s::jsonb)))",
        (json.dumps(sorted(raw)),),
    ).fetchone()
    return row is not None and int(row[0]) == len(raw)


def declare_single_valued(connection: Connection[Any], relations: Iterable[str]) -> list[RelationKey]:
    """Declare relations of which a source has one at a time, in every scope; give those that were not so before."""
    rows = connection.execute(
        "INSERT INTO single_valued_relations (raw) SELECT * FROM unnest(%s::text[]) ON CONFLICT DO NOTHING "
        "RETURNING raw",
        (sorted(set(relations)),),
    )
    if not (declared := [row[0] for row in rows]):
        return []
    rows = connection.execute(
        "UPDATE relations SET single_valued = true WHERE raw = ANY(%s) AND NOT single_valued RETURNING scope, raw",
        (declared,),
    )
    return [(row[0], row[1]) for row in rows] + _share_single_valued(connection)


def declare_several_valued(connection: Connection[Any], relations: Iterable[str]) -> list[RelationKey]:
    """Take the declaration back, with all relations that mean the same; give those that it held for."""
    wanted = sorted(set(relations))
    rows = connection.execute(
        "UPDATE relations SET single_valued = false WHERE single_valued AND (scope, canonical) IN "
        "(SELECT scope, canonical FROM relations WHERE raw = ANY(%s)) RETURNING scope, raw",
        (wanted,),
    )
    changed = [(row[0], row[1]) for row in rows]
    connection.execute(
        "DELETE FROM single_valued_relations WHERE raw = ANY(%s)", ([*wanted, *(raw for _, raw in changed)],)
    )
    return changed


def _share_single_valued(connection: Connection[Any]) -> list[RelationKey]:
    """Relations that mean the same in a scope are single-valued together."""
    rows = connection.execute(
        "UPDATE relations r SET single_valued = true FROM relations d WHERE d.single_valued "
        "AND d.scope = r.scope AND d.canonical = r.canonical AND NOT r.single_valued RETURNING r.scope, r.raw"
    )
    return [(row[0], row[1]) for row in rows]


def unused(connection: Connection[Any], relations: Sequence[RelationKey]) -> list[RelationKey]:
    """Those of the relations that no fact of their scope has."""
    rows = connection.execute(
        f"SELECT r.scope, r.raw FROM relations r JOIN {_THESE} ON g.scope = r.scope AND g.raw = r.raw WHERE NOT EXISTS "
        "(SELECT 1 FROM facts f WHERE f.scope = r.scope AND f.relation = r.raw) ORDER BY 1, 2",
        _columns(relations),
    )
    return [(row[0], row[1]) for row in rows]


def called_by(connection: Connection[Any], relations: Sequence[RelationKey]) -> list[RelationKey]:
    """The other relations whose canonical one is among these."""
    rows = connection.execute(
        f"SELECT r.scope, r.raw FROM relations r JOIN {_THESE} ON g.scope = r.scope AND g.raw = r.canonical "
        f"WHERE (r.scope, r.raw) NOT IN (SELECT * FROM {_THESE}) ORDER BY 1, 2",
        _columns(relations),
    )
    return [(row[0], row[1]) for row in rows]


def remove(connection: Connection[Any], relations: Sequence[RelationKey]) -> None:
    """Forget relations that no fact has; others that they were canonical for are called by the most used of these."""
    connection.execute(
        "WITH orphans AS (SELECT r.scope, r.canonical, r.raw, (SELECT count(*) FROM facts f "
        "WHERE f.scope = r.scope AND f.relation = r.raw) AS uses FROM relations r "
        f"JOIN {_THESE} ON g.scope = r.scope AND g.raw = r.canonical AND g.raw <> r.raw), "
        "heirs AS (SELECT DISTINCT ON (scope, canonical) scope, canonical, raw FROM orphans "
        "ORDER BY scope, canonical, uses DESC, raw) "
        "UPDATE relations r SET canonical = h.raw FROM heirs h WHERE r.scope = h.scope AND r.canonical = h.canonical",
        _columns(relations),
    )
    connection.execute(
        f"DELETE FROM relations r USING {_THESE} WHERE r.scope = g.scope AND r.raw = g.raw", _columns(relations)
    )


_THESE = "unnest(%(scopes)s::text[], %(raw)s::text[]) AS g (scope, raw)"


def _columns(relations: Sequence[RelationKey]) -> dict[str, list[str]]:
    return {"scopes": [scope for scope, _ in relations], "raw": [raw for _, raw in relations]}


def raw_relations(connection: Connection[Any]) -> dict[str, dict[str, int]]:
    """Relations as they were extracted, and how often, by scope."""
    counts: dict[str, dict[str, int]] = {}
    rows = connection.execute(
        "SELECT scope, relation, count(*) FROM facts WHERE read_with IS NULL GROUP BY 1, 2 ORDER BY 1, 2"
    )
    for scope, relation, count in rows:
        counts.setdefault(scope, {})[relation] = count
    return counts


def set_canonical(
    connection: Connection[Any], scope: str, canonical: Mapping[str, str], scores: Mapping[str, float]
) -> None:
    """Set the canonical relation of a scope's raw ones; edges change at the next derivation."""
    raw = list(canonical)
    connection.execute(
        "UPDATE relations r SET canonical = c.canonical, score = c.score, single_valued = EXISTS "
        "(SELECT 1 FROM single_valued_relations d WHERE d.raw = r.raw) "
        "FROM unnest(%s::text[], %s::text[], %s::real[]) AS c (raw, canonical, score) "
        "WHERE r.scope = %s AND r.raw = c.raw",
        (raw, [canonical[name] for name in raw], [scores[name] for name in raw], scope),
    )
    _share_single_valued(connection)
