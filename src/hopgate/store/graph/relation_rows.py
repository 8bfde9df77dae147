"""Relations: as extractors wrote them, the canonical one of each, and which of them are single-valued."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection


def ensure_relations(connection: Connection[Any], raw: Iterable[str]) -> None:
    """Make raw relations known; each is its own canonical one until relations are canonicalised."""
    connection.execute(
        "INSERT INTO relations (raw, canonical) SELECT r, r FROM unnest(%s::text[]) AS r ON CONFLICT DO NOTHING",
        (sorted(set(raw)),),
    )


def are_single_valued(connection: Connection[Any], relations: Iterable[str]) -> bool:
    """Whether all of these were declared, so that to declare them again would change nothing."""
    raw = set(relations)
    # As one text: to write some hundred as an array takes psycopg two milliseconds, at every addition.
    row = connection.execute(
        "SELECT count(*) FROM relations WHERE raw = ANY(ARRAY(SELECT jsonb_array_elements_text(%s::jsonb))) "
        "AND single_valued AND declared",
        (json.dumps(sorted(raw)),),
    ).fetchone()
    return row is not None and int(row[0]) == len(raw)


def declare_single_valued(connection: Connection[Any], relations: Iterable[str]) -> list[str]:
    """Declare relations of which a source has one at a time; give the raw ones that were not so before."""
    rows = connection.execute(
        "INSERT INTO relations AS r (raw, canonical, single_valued) SELECT d, d, true FROM unnest(%s::text[]) AS d "
        "ON CONFLICT (raw) DO UPDATE SET single_valued = true WHERE NOT r.single_valued RETURNING raw",
        (sorted(set(relations)),),
    ).fetchall()
    # Some are so already because they mean the same as others; scopes of their own go by what was declared itself.
    declared = connection.execute(
        "UPDATE relations SET declared = true WHERE raw = ANY(%s) AND NOT declared RETURNING raw", (list(relations),)
    ).fetchall()
    # Where nothing is declared anew, those that mean the same are so already.
    return sorted({row[0] for row in [*rows, *declared]}) + (_share_single_valued(connection) if rows else [])


def declare_several_valued(connection: Connection[Any], relations: Iterable[str]) -> list[str]:
    """Take the declaration back, with all relations that mean the same; give the raw ones that it held for."""
    rows = connection.execute(
        "UPDATE relations SET single_valued = false WHERE single_valued AND canonical IN "
        "(SELECT canonical FROM relations WHERE raw = ANY(%s)) RETURNING raw",
        (sorted(set(relations)),),
    )
    return [row[0] for row in rows]


def _share_single_valued(connection: Connection[Any]) -> list[str]:
    """Relations that mean the same are single-valued together."""
    rows = connection.execute(
        "UPDATE relations r SET single_valued = true FROM relations d "
        "WHERE d.single_valued AND d.canonical = r.canonical AND NOT r.single_valued RETURNING r.raw"
    )
    return [row[0] for row in rows]


def unused(connection: Connection[Any], raw: Sequence[str]) -> list[str]:
    """Those of the raw relations that no fact has; what somebody declared was not read in a text, and is kept."""
    rows = connection.execute(
        "SELECT raw FROM relations r WHERE raw = ANY(%s) AND NOT declared "
        "AND NOT EXISTS (SELECT 1 FROM facts f WHERE f.relation = r.raw) ORDER BY raw",
        (list(raw),),
    )
    return [row[0] for row in rows]


def called_by(connection: Connection[Any], raw: Sequence[str]) -> list[str]:
    """The other relations whose canonical one is among these."""
    rows = connection.execute(
        "SELECT raw FROM relations WHERE canonical = ANY(%(raw)s) AND raw <> ALL(%(raw)s) ORDER BY raw",
        {"raw": list(raw)},
    )
    return [row[0] for row in rows]


def call_otherwise(connection: Connection[Any], raw: Sequence[str]) -> None:
    """Give relations that are called by one outside this list the most used one in it that means the same."""
    connection.execute(
        "UPDATE relations r SET canonical = heir.raw FROM (SELECT DISTINCT ON (canonical) canonical, raw FROM "
        "(SELECT canonical, raw, (SELECT count(*) FROM facts f WHERE f.relation = o.raw) AS uses FROM relations o "
        "WHERE raw = ANY(%(raw)s)) AS counted ORDER BY canonical, uses DESC, raw) AS heir "
        "WHERE r.raw = ANY(%(raw)s) AND r.canonical = heir.canonical",
        {"raw": list(raw)},
    )


def remove(connection: Connection[Any], raw: Sequence[str]) -> None:
    """Forget relations that no fact has."""
    connection.execute("DELETE FROM relations WHERE raw = ANY(%s)", (list(raw),))


def raw_relations(connection: Connection[Any]) -> dict[str, int]:
    """Relations as they were extracted, and how often."""
    return dict(
        connection.execute(
            "SELECT relation, count(*) FROM facts WHERE weight > 0 AND NOT joint GROUP BY relation ORDER BY relation"
        ).fetchall()
    )


def set_canonical(connection: Connection[Any], canonical: Mapping[str, str], scores: Mapping[str, float]) -> None:
    """Set the canonical relation of raw ones; edges change at the next derivation."""
    raw = list(canonical)
    connection.execute(
        "UPDATE relations r SET canonical = c.canonical, score = c.score "
        "FROM unnest(%s::text[], %s::text[], %s::real[]) AS c (raw, canonical, score) WHERE r.raw = c.raw",
        (raw, [canonical[name] for name in raw], [scores[name] for name in raw]),
    )
    _share_single_valued(connection)
