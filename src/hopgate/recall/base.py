"""The base: what the lexical and the dense leg found, as one ranking that the graph leg starts from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hopgate.recall.legs.dense import as_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

Leg = list[tuple[int, float]]
# Measured on dev of musique, 2wiki and locomo (docs/research/neighbours.md): 0.25 to 0.35 are alike.
WEIGHTS = {"lexical": 0.3, "dense": 0.7}

_ANY = "replace(plainto_tsquery('english', %(query)s)::text, ' & ', ' | ')::tsquery"
_REAL_SCORES = {
    "lexical": f"SELECT id, ts_rank(search_vector, {_ANY})::float8 FROM memories WHERE id = ANY(%(ids)s)",
    "dense": "SELECT id, 1 - (embedding <=> %(vector)s::halfvec) FROM memories "
    "WHERE id = ANY(%(ids)s) AND embedding IS NOT NULL",
}


def complete(
    connection: Connection[Any], query: str, vector: NDArray[np.float32] | None, lists: Mapping[str, Leg]
) -> dict[str, Leg]:
    """Give every candidate of either base leg its real score in both; one without a vector has none in the dense."""
    pool = sorted({memory for name in WEIGHTS for memory, _ in lists.get(name, ())})
    values = {"query": query, "ids": pool, "vector": None if vector is None else as_text(vector)}
    found: dict[str, Leg] = {}
    for name, statement in _REAL_SCORES.items():
        if name == "lexical" or vector is not None:
            rows = connection.execute(statement, values).fetchall()
            found[name] = sorted(rows, key=lambda row: (-row[1], row[0]))
    return found


def fused_base(completed: Mapping[str, Sequence[tuple[int, float]]]) -> Leg:
    """Add up completed lists, each stretched to 0..1; a memory that a leg cannot see is judged by the other alone.

    Examples
    --------
    >>> fused_base({"lexical": [(1, 4.0), (2, 2.0), (3, 0.0)], "dense": [(3, 0.8), (1, 0.4)]})
    [(3, 0.7), (2, 0.5), (1, 0.3)]
    """
    total: dict[int, float] = {}
    seen: dict[int, float] = {}
    for name, scored in completed.items():
        if not scored:
            continue
        low, high = min(score for _, score in scored), max(score for _, score in scored)
        for memory, score in scored:
            part = (score - low) / (high - low) if high > low else 1.0
            total[memory] = total.get(memory, 0.0) + WEIGHTS[name] * part
            seen[memory] = seen.get(memory, 0.0) + WEIGHTS[name]
    whole = sum(WEIGHTS[name] for name, scored in completed.items() if scored)
    ranking = [(memory, score * whole / seen[memory]) for memory, score in total.items()]
    return sorted(ranking, key=lambda hit: (-hit[1], hit[0]))
