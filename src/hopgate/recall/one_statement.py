"""All of weighted RRF in one SQL statement: `RRF.fuse` and the importance prior, the same to the last bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.recall.filters import Filters
from hopgate.recall.fuse import RRF, STANDARD, Fused, active
from hopgate.recall.legs.dense import as_text, search_wide, with_dense
from hopgate.recall.legs.lexical import MIN_RANK, WITH_LEXICAL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

    from hopgate.recall.settings import Settings

_WITH_GRAPH = """
graph AS MATERIALIZED (
  SELECT id, score, rank FROM unnest(%(graph_ids)s::bigint[], %(graph_scores)s::float8[])
  WITH ORDINALITY AS given (id, score, rank)
)
"""
# Contributions are added smallest first, as `fuse.total` does; a leg alone keeps its own order (`fuse.ranked`).
# An owner's importance may be of type real: the cast to text first gives the decimal number that Python reads too.
_FUSE = """
listed AS MATERIALIZED ({listed}),
fused AS (
  SELECT id, sum(part ORDER BY part) AS score, min(rank) AS first, array_agg(leg ORDER BY leg) AS legs,
    array_agg(rank ORDER BY leg) AS ranks, array_agg(part ORDER BY leg) AS parts,
    array_agg(score ORDER BY leg) AS scores
  FROM listed GROUP BY id
),
weighed AS (
  SELECT fused.*, %(floor)s::float8 + (1 - %(floor)s::float8) * coalesce(m.importance::text::float8, 0.5) AS prior
  FROM fused JOIN memories AS m USING (id)
)
SELECT id, score * prior, prior, legs, ranks, parts, scores FROM weighed
ORDER BY score * prior DESC, CASE WHEN (SELECT count(DISTINCT leg) FROM listed) = 1 THEN first ELSE id END
LIMIT %(k)s
"""


class SqlFused(NamedTuple):
    """A candidate as fusion in Python would give it, and the legs' scores of it, for explanations."""

    hit: Fused[int]
    scores: dict[str, float]


def can_fuse(settings: Settings) -> bool:
    """Tell whether these settings ask for nothing but RRF over the standard legs and the importance prior."""
    return (
        isinstance(settings.fuser, RRF)
        and set(active(settings.fuser)) <= set(STANDARD)
        and settings.sort_by == "relevance"
        and not settings.exact_match
        and not settings.rerank
    )


def sql_fused(
    connection: Connection[Any],
    fuser: RRF,
    *,
    query: str,
    filters: Filters,
    vector: NDArray[np.float32] | None = None,
    graph: Sequence[tuple[int, float]] = (),
    exact: bool = True,
    passages: bool = False,
    depth: int = 50,
    k: int = 10,
    floor: float = 0.7,
    min_rank: float = MIN_RANK,
) -> list[SqlFused]:
    """Run the lexical and the dense leg, fuse them and a given graph leg, weigh by importance and cut, in the database.

    Parameters
    ----------
    vector : array, optional
        The query's vector; without one there is no dense leg.
    graph : sequence of (id, score)
        The graph leg, best first.
    exact : bool
        Whether the dense leg compares every vector.
    passages : bool
        Whether the store has passages of long memories.
    floor : float
        What a memory of importance 0 keeps of its score.
    """
    condition, parameters = filters.sql()
    values: dict[str, Any] = {**parameters, "k_rrf": fuser.k, "depth": depth, "k": k, "floor": floor}
    tables: list[str] = []
    listed: list[str] = []

    def add_leg(leg: str, table: str) -> None:
        place = STANDARD.index(leg) + 1
        values[f"w_{leg}"] = fuser.weights[leg]
        tables.append(table)
        listed.append(
            f"SELECT {place} AS leg, id, score, rank, "
            f"%(w_{leg})s::float8 / (%(k_rrf)s::float8 + rank) AS part FROM {leg}"
        )

    wanted = active(fuser)
    if "lexical" in wanted:
        add_leg("lexical", WITH_LEXICAL.format(filters=condition))
        values |= {"query": query, "min_rank": min_rank}
    if "dense" in wanted and vector is not None:
        if not exact:
            search_wide(connection, depth)
        add_leg("dense", with_dense(condition, exact=exact, passages=passages))
        values["vector"] = as_text(vector)
    if "graph" in wanted and graph:
        add_leg("graph", _WITH_GRAPH)
        values |= {"graph_ids": [key for key, _ in graph], "graph_scores": [score for _, score in graph]}
    if not listed:
        return []
    fusion = _FUSE.format(listed=" UNION ALL ".join(listed))
    rows = connection.execute(f"WITH {', '.join(tables)}, {fusion}", values)
    return [_candidate(*row) for row in rows]


def _candidate(
    key: int, score: float, prior: float, legs: list[int], ranks: list[int], parts: list[float], scores: list[float]
) -> SqlFused:
    names = [STANDARD[leg - 1] for leg in legs]
    hit = Fused(key, score, dict(zip(names, parts, strict=True)), dict(zip(names, ranks, strict=True)), prior=prior)
    return SqlFused(hit, dict(zip(names, scores, strict=True)))
