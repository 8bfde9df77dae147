"""Relations: as extractors wrote them, the canonical one of each, and which of them are single-valued."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection


def ensure_relations(connection: Connection[Any], raw: Iterable[str]) -> None:
    """Make raw relations known; each is its own canonical one until relations are canonicalised."""
    connection.execute(
        "INSERT INTO relations (raw, canonical) SELECT r, r FROM unnest(%s::text[]) AS r ON CONFLICT DO NOTHING",
        (sorted(set(raw)),),
    )


def declare_single_valued(connection: Connection[Any], relations: Iterable[str]) -> list[str]:
    """Declare relations of which a source has one at a time; give the raw ones that were not so before."""
    rows = connection.execute(
        "INSERT INTO relations AS r (raw, canonical, single_valued) SELECT d, d, true FROM unnest(%s::text[]) AS d "
        "ON CONFLICT (raw) DO UPDATE SET single_valued = true WHERE NOT r.single_valued RETURNING raw",
        (sorted(set(relations)),),
    ).fetchall()
    # Where nothing is declared anew, those that mean the same are so already.
    return [row[0] for row in rows] + (_share_single_valued(connection) if rows else [])


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


def raw_relations(connection: Connection[Any]) -> dict[str, int]:
    """Relations as they were extracted, and how often."""
    return dict(
        connection.execute("SELECT relation, count(*) FROM facts GROUP BY relation ORDER BY relation").fetchall()
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
